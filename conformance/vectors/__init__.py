"""Golden vectors: load and select them.

Vectors are in JSON files ``<suite>/<topic>.json`` with the schema ``vectors.schema.json``
(`conformance.operations.schemas`). Every problem in a file is reported here with its place, so that later steps can
rely on the form of each vector.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import jsonschema_rs
from attrs import field, frozen

from conformance.core.failures import UsageError, suggest_names
from conformance.core.json_text import parse_json, shorten
from conformance.core.json_text import pointer_prefix as pointer_prefix
from conformance.core.lazy_imports import lazy_imports
from conformance.operations.protocol import Ok, Refused
from conformance.operations.registry import OPERATIONS, ProtocolOperation
from conformance.operations.schemas import vectors_schema
from conformance.vectors.golden_places import location_violation, named_location

with lazy_imports():
    from spec_ref import requirements

SCHEMA = "vectors.schema.json"

Alternative: TypeAlias = Ok | Refused

FORMER_SUITES = {"writing-more": ("writing", "thorough")}
"""Suites that were merged into another suite under a tag; their names remain selectable for one release."""


@frozen
class Vector:
    """A golden vector: one request with its permitted outcomes."""

    id: str
    suite: str
    operation: ProtocolOperation
    section: str
    requirements: tuple[str, ...]
    versions: tuple[int, ...]
    args: dict[str, Any] = field(hash=False)
    permitted: tuple[Alternative, ...] = field(hash=False)
    """The permitted outcomes; more than one if the spec leaves the outcome open."""

    expect: dict[str, Any] = field(hash=False)
    """The permitted outcomes as the file states them."""

    origin: str = ""
    note: str = ""
    contradiction: tuple[str, ...] = ()
    """The ids of the contradictions and gaps in the spec that affect the outcome."""

    tags: tuple[str, ...] = ()
    """Further names for selecting it: ``thorough`` marks additional, slow vectors."""

    file: str = ""


def shipped() -> Path:
    """Return the folder of the vectors that come with this version of the tool."""
    package = Path(__file__).parents[1]
    packaged = package / "_vectors"
    return packaged if packaged.is_dir() else package.parent / "vectors"


def vector_files(folder: Path) -> list[Path]:
    """Return the sorted vector files of a folder, without golden files and schemas."""
    return sorted(path for path in folder.glob("*/*.json") if not path.name.endswith(".schema.json"))


@cache
def _schema() -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(vectors_schema())


def load(folder: Path, mention: str = "") -> tuple[Vector, ...]:
    """Load the vectors of a folder, in file order.

    Args:
        folder: the folder.
        mention: the id of a vector, or the code of a requirement or contradiction: the vectors that do not name it
            are left out, and files without them are not parsed. Empty for all vectors.

    Raises:
        UsageError: the folder has no vectors, or a file is malformed; the message names the place.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder of vectors")
    paths = vector_files(folder)
    if not paths:
        raise UsageError(f"{folder}: no vectors in it (they are files SUITE/TOPIC.json)")
    golden = named_location(folder)
    vectors = tuple(vector for path in paths for vector in _load_file(path, golden, mention))
    twice = [id_ for id_, count in Counter(vector.id for vector in vectors).items() if count > 1]
    if twice:
        first, second = (vector.file for vector in vectors if vector.id == twice[0])
        raise UsageError(f"{second}: a vector in {first} already has the id {twice[0]}")
    return vectors


def count_on_disk(folder: Path) -> int:
    """Count the vectors in a folder from the files alone; the results of a run must add up to this number."""
    return sum(len(parse_json(path.read_bytes())["vectors"]) for path in vector_files(folder))


def _load_file(path: Path, golden: str, mention: str = "") -> Iterator[Vector]:
    try:
        data = path.read_bytes()
        if mention.encode() not in data:
            return
        content = parse_json(data)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{path}: broken vector file: {error}") from None
    wrong = next(iter(_schema().iter_errors(content)), None)
    if wrong is not None:
        raise UsageError(f"{path}: broken vector file: {pointer_prefix(wrong.instance_path)}{shorten(wrong.message)}")
    operation = OPERATIONS.get(content["operation"])
    if operation is None:
        raise UsageError(f"{path}: broken vector file: /operation: no operation {content['operation']!r}")
    for index, row in enumerate(content["vectors"]):
        if mention and mention not in (row["id"], *row["requirements"], *row.get("contradiction", ())):
            continue
        vector = _vector(path, content, operation, row)
        location = vector.args.get("table")
        complaint = location_violation(location, golden) if isinstance(location, str) else None
        if complaint is not None:
            where = f"/vectors/{index}/args/table"
            raise UsageError(f"{path}: broken vector file: {where}: {complaint} (vector {vector.id})")
        yield vector


def _vector(path: Path, content: dict[str, Any], operation: ProtocolOperation, row: dict[str, Any]) -> Vector:
    return Vector(
        id=row["id"],
        suite=content["suite"],
        operation=operation,
        section=row.get("section", content["section"]),
        requirements=tuple(row["requirements"]),
        versions=tuple(row["versions"]),
        args=row["args"],
        permitted=tuple(_alternative(one) for one in row["expect"].get("any_of", [row["expect"]])),
        expect=row["expect"],
        origin=row.get("origin", ""),
        note=row.get("note", ""),
        contradiction=tuple(row.get("contradiction", ())),
        tags=tuple(row.get("tags", ())),
        file=str(path),
    )


def _alternative(expect: dict[str, Any]) -> Alternative:
    return Ok(expect["ok"]) if "ok" in expect else Refused(expect["error"])


@frozen
class Selection:
    """A selection of vectors that meet every condition; an empty tuple or None selects all."""

    suites: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()
    """Substrings of section headings, ignoring case."""

    requirements: tuple[str, ...] = ()
    """Requirement codes, or their letters as a prefix of several codes."""

    format_version: int | None = None
    names: str | None = None
    """An expression over substrings of ids, suites, operations and codes, such as ``bucket and not uuid``."""

    ids: frozenset[str] | None = None

    def choose(self, vectors: Iterable[Vector]) -> tuple[Vector, ...]:
        """Return the selected vectors.

        Raises:
            UsageError: a suite, section or requirement does not exist or is empty, or the expression is malformed.
        """
        everything = tuple(vectors)
        self._check_names(everything)
        matches = name_expression(self.names) if self.names is not None else _always
        return tuple(vector for vector in everything if self._takes(vector) and matches(vector))

    def _takes(self, vector: Vector) -> bool:
        return (
            (not self.suites or any(_is_in(vector, suite) for suite in self.suites))
            and (not self.sections or any(part.lower() in vector.section.lower() for part in self.sections))
            and (not self.requirements or any(code.startswith(self.requirements) for code in vector.requirements))
            and (self.format_version is None or self.format_version in vector.versions)
            and (self.ids is None or vector.id in self.ids)
        )

    def _check_names(self, vectors: tuple[Vector, ...]) -> None:
        known = sorted({vector.suite for vector in vectors})
        for suite in self.suites:
            if FORMER_SUITES.get(suite, (suite,))[0] not in known:
                hint = suggest_names(suite, known) or "."
                raise UsageError(f"unknown suite {suite!r}{hint} The suites are {', '.join(known)}")
        if "" in (*self.sections, *self.requirements):
            raise UsageError("a section or requirement is empty; leave it out to select all")
        if self.requirements or self.sections:
            rules = requirements.register().values()
            headings = {vector.section for vector in vectors} | {rule.section for rule in rules}
            for part in self.sections:
                if not any(part.lower() in heading.lower() for heading in headings):
                    raise UsageError(f"unknown section {part!r}: no heading of the spec contains it")
            for code in self.requirements:
                if not any(rule.code.startswith(code) for rule in rules):
                    raise UsageError(f"unknown requirement {code!r}; see: iceberg-conformance list requirements")


def suite_deprecations(suites: Iterable[str]) -> Iterator[str]:
    """Yield a warning for each selected suite name that the next release will not accept.

    Args:
        suites: the selected names.
    """
    for suite in suites:
        if suite in FORMER_SUITES:
            now, tag = FORMER_SUITES[suite]
            yield f"the suite {suite} is deprecated; use --suite {now} -k {tag}"


def _is_in(vector: Vector, suite: str) -> bool:
    """Return whether the name of a suite selects a vector."""
    now, tag = FORMER_SUITES.get(suite, (suite, None))
    return vector.suite == now and (tag is None or tag in vector.tags)


def _always(_vector: Vector) -> bool:
    return True


Predicate: TypeAlias = Callable[[Vector], bool]


def name_expression(text: str) -> Predicate:
    """Parse a ``-k`` expression: words combined with ``and``, ``or``, ``not`` and parentheses.

    A word holds for a vector when its id, suite, operation, or one of its requirement codes or tags contains it, in any
    case.

    Raises:
        UsageError: the expression is malformed.
    """
    tokens = text.replace("(", " ( ").replace(")", " ) ").split()
    try:
        predicate, rest = _either(tokens, text)
    except RecursionError:
        raise UsageError(f"-k {shorten(repr(text))}: too many parentheses inside each other") from None
    if rest:
        raise UsageError(f"-k {text!r}: unexpected {rest[0]!r}")
    return lambda vector: predicate(_searched_text(vector))


_TextPredicate: TypeAlias = Callable[[str], bool]


def _either(tokens: list[str], text: str) -> tuple[_TextPredicate, list[str]]:
    part, tokens = _both(tokens, text)
    parts = [part]
    while tokens[:1] == ["or"]:
        part, tokens = _both(tokens[1:], text)
        parts.append(part)
    return _combine(parts, any), tokens


def _both(tokens: list[str], text: str) -> tuple[_TextPredicate, list[str]]:
    part, tokens = _term(tokens, text)
    parts = [part]
    while tokens[:1] == ["and"]:
        part, tokens = _term(tokens[1:], text)
        parts.append(part)
    return _combine(parts, all), tokens


def _combine(parts: list[_TextPredicate], how: Callable[[Iterable[bool]], bool]) -> _TextPredicate:
    return parts[0] if len(parts) == 1 else lambda searched: how(part(searched) for part in parts)


def _term(tokens: list[str], text: str) -> tuple[_TextPredicate, list[str]]:
    match tokens:
        case ["not", *rest]:
            negated, rest = _term(rest, text)
            return (lambda searched: not negated(searched)), rest
        case ["(", *rest]:
            inside, rest = _either(rest, text)
            if rest[:1] != [")"]:
                raise UsageError(f"-k {text!r}: a parenthesis is not closed")
            return inside, rest[1:]
        case [word, *rest] if word not in (")", "and", "or"):
            part = word.lower()
            return (lambda searched: part in searched), rest
        case _:
            raise UsageError(f"-k {text!r}: a word is missing{f' before {tokens[0]!r}' if tokens else ' at the end'}")


def _searched_text(vector: Vector) -> str:
    former = [name for name in FORMER_SUITES if _is_in(vector, name)]
    words = (vector.id, vector.suite, vector.operation.name, *vector.requirements, *vector.tags, *former)
    return " ".join(words).lower()
