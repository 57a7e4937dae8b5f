"""Vectors, files of vectors, and the format in which they are written to disk."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

_V3_WORDS = ("_ns", "unknown", "variant", "geometry", "geography")
_V3_CODES = (
    *(
        "HSH006",
        "HSH009",
        "SVB010",
        "SVB011",
        "SVB012",
        "SVJ005",
        "SVJ008",
        "SVJ010",
        "JSC008",
        "EVO004",
        "EVO005",
        "EVO006",
    ),
    *("NOT010", "TYP005", "TYP006", "TYP007", "TYP019", "TYP020", "TYP036"),
    *(f"TYP{number:03}" for number in range(25, 36)),
    *(f"BND{number:03}" for number in range(1, 12)),
    *(f"DEF{number:03}" for number in range(1, 12)),
)
INVALID = {"error": "invalid"}


@dataclass(frozen=True)
class Vector:
    """One case."""

    id: str
    requirements: tuple[str, ...]
    args: Mapping[str, Any]
    expect: Mapping[str, Any]
    origin: str
    note: str = ""
    contradiction: tuple[str, ...] = ()
    only: tuple[int, ...] = ()
    """The format versions that it applies to, if they do not follow from its type and requirements."""

    section: str = ""
    """The section of the spec, if it is not that of the file."""

    tags: tuple[str, ...] = ()

    def versions(self) -> list[int]:
        """Return the format versions that the vector applies to."""
        if self.only:
            return list(self.only)
        text = json.dumps([self.args.get("type"), *(code for code in self.requirements if code in _V3_CODES)])
        new = any(word in text for word in _V3_WORDS) or any(code in text for code in _V3_CODES)
        return [3] if new else [1, 2, 3]

    def to_json(self) -> dict[str, Any]:
        """Return the members of the vector in the order of the files."""
        row = {
            "id": self.id,
            "requirements": sorted(self.requirements),
            "versions": self.versions(),
            "args": self.args,
            "expect": self.expect,
            "origin": self.origin,
            "note": self.note,
            "contradiction": list(self.contradiction),
            "section": self.section,
            "tags": list(self.tags),
        }
        return {name: member for name, member in row.items() if member not in ("", [])}


@dataclass(frozen=True)
class VectorFile:
    """The vectors of one topic: they share an operation and, unless a vector names another one, a section of the spec.

    Derivations may return several files with the same path, which `combine` combines.
    """

    path: str
    operation: str
    section: str
    vectors: tuple[Vector, ...]

    def to_text(self) -> str:
        """Format the file in ASCII, one vector per line, so that a diff shows cases and no editor alters characters."""
        head = {"suite": self.path.split("/")[0], "operation": self.operation, "section": self.section}
        lines = [f"  {json.dumps(name)}: {json.dumps(member)}," for name, member in head.items()]
        rows = ",\n".join(f"    {json.dumps(vector.to_json())}" for vector in self.vectors)
        return "\n".join(["{", *lines, '  "vectors": [', rows, "  ]", "}", ""])


def combine(path: str, parts: Iterable[VectorFile]) -> VectorFile:
    """Combine the files of a topic. The section is the one that most vectors have; the others name theirs."""
    parts = list(parts)
    (operation,) = {part.operation for part in parts}
    counts: Counter[str] = Counter()
    for part in parts:
        counts[part.section] += len(part.vectors)
    section = counts.most_common(1)[0][0]
    vectors = (
        vector if part.section == section else replace(vector, section=part.section)
        for part in parts
        for vector in part.vectors
    )
    return VectorFile(path, operation, section, tuple(vectors))


def ok(value: Any) -> dict[str, Any]:
    """Return an outcome with one permitted answer."""
    return {"ok": value}


def any_of(*outcomes: Mapping[str, Any]) -> dict[str, Any]:
    """Return an outcome that permits several; equal ones are included once."""
    unique: list[Mapping[str, Any]] = []
    for outcome in outcomes:
        if not any(json.dumps(outcome) == json.dumps(known) for known in unique):
            unique.append(outcome)
    return dict(unique[0]) if len(unique) == 1 else {"any_of": unique}


def refusals(
    prefix: str, codes: tuple[str, ...], rows: Iterable[tuple[str, Mapping[str, Any], str]], origin: str
) -> list[Vector]:
    """Return vectors that expect a refusal, from rows of (name, args, broken rule)."""
    return [Vector(f"{prefix}-{name}", codes, args, INVALID, origin, note) for name, args, note in rows]
