"""The register: every requirement of the spec, with a stable code, and what is contradictory or open in the texts.

The register is data, a TOML file for each area; a code is never renumbered and never reused. Beside the areas there are
``contradictions.toml`` and ``sources.toml``, which names the texts that the register was derived from.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, overload

import rtoml

from spec_ref.core.records import record
from spec_ref.core.versions import FormatVersion, Presence

CONTRADICTIONS = "contradictions.toml"
REASONS = ("not observable", "not built", "out of scope")
"""Why a requirement may have no proof: no file, answer or order of events shows whether it is followed; this project
does not implement the feature yet; or the feature is out of its scope."""

NO_EXAMPLE = {
    "choice": "it leaves a choice, and whatever is chosen is right",
    "definition": "it defines terms or states where other rules hold, so that nothing is right or wrong by itself",
    "draft": "it is of the draft of version 4, which may still change",
    "out of scope": "it is out of the scope of this project",
}
"""Why a requirement may have no example. Its row names one of the first two reasons; the others follow from its status,
or from the reason why it has no proof."""

EXAMPLES = {
    "answers": "questions and answers",
    "avro-types": "what types in an Avro schema are",
    "column": "a column of a schema, or a list of them",
    "column-change": "a change of a table that is partitioned by the date column day",
    "comparisons": "comparisons of two values of a type",
    "deletion-vector": "the blob of a deletion vector",
    "listed-manifest": "fields of a manifest in a manifest list, bytes as hexadecimal",
    "manifest-entry": "fields of an entry of a manifest, bytes as hexadecimal",
    "manifest-header": "keys of a manifest's metadata",
    "metadata": "a fragment of table metadata",
    "name-mapping": "a name mapping",
    "partition-statistics": "fields of an entry of partition-statistics",
    "paths": "JSON paths",
    "predicate": "a predicate in JSON",
    "promotions": "type promotions",
    "puffin-bytes": "a Puffin file without blobs",
    "puffin-footer": "a fragment of a Puffin footer that describes a deletion vector",
    "schema": "a schema",
    "statistics": "fields of an entry of statistics",
    "types": "types in JSON",
}
"""The kinds of examples that the tests check with the reference, which accepts the right ones, and refuses the wrong
ones with the requirement's code. A fragment replaces a part of an otherwise valid document; null represents null."""

SOURCES = "sources.toml"


class RequirementLevel(enum.Enum):
    """How strong a requirement is."""

    MUST = "must"
    SHOULD = "should"
    MAY = "may"
    """An explicit permission: a conformant peer has to tolerate it."""


class Status(enum.Enum):
    """The status of the requirement in the spec."""

    ADOPTED = "adopted"
    V4_DRAFT = "v4-draft"
    """Part of the text for version 4, which is not adopted."""


@record
class Requirement:
    """One rule of the spec."""

    code: str
    """Three letters for the area and three digits: ``HSH002``."""

    slug: str
    """A short readable name, unique in the register."""

    document: str
    """The document of the Iceberg project: ``spec``, ``puffin-spec``, ``expressions-spec``, ..."""

    section: str
    """The heading of the requirement, as the document spells it."""

    level: RequirementLevel
    versions: tuple[FormatVersion, ...]
    """The adopted format versions it holds in; none for a requirement of the draft of version 4."""

    binds: tuple[str, ...]
    """Who has to follow it: ``reader``, ``writer``, ``table`` (a state that must hold) or ``committer``."""

    observable: tuple[str, ...]
    """What shows whether it is followed: ``hash``, ``single-value``, ``metadata-json``, ``manifest``, ...; ``none`` if
    nothing shows it."""

    text: str
    """The rule in our own words."""

    field: str | None = None
    """For a row of a field table: the field's name on the wire."""

    rules: Mapping[FormatVersion, Presence] | None = None
    """For a row of a field table: what a writer of each version does."""

    split_from: str | None = None
    """The code of the requirement that this one was a part of when its checks got their ids, which are stable."""

    status: Status = Status.ADOPTED

    why: str | None = None
    """What breaks in practice when it is not followed."""

    right: str | None = None
    """Short examples that follow the rule."""

    wrong: str | None = None
    """Short examples that break the rule."""

    judged: str | None = None
    """The kind of the examples, for those that the tests check with the reference: a key of `EXAMPLES`."""

    no_example: str | None = None
    """Why there is no example: a key of `NO_EXAMPLE`."""

    seen: tuple[str, ...] = ()
    """Where it was seen broken: the project whose tracker reports it, and the link. Most of these are fixed by now, and
    the writer at fault is sometimes another one."""

    unproven: str | None = None
    """Why no vector, check or test proves it, for a requirement without any: one of `REASONS`, a colon, and the
    reason in our own words."""


class Decision(enum.Enum):
    """Whether this project follows one interpretation of a contradictory text."""

    DECIDED = "decided"
    OPEN = "open"
    """The text permits several outcomes, and vectors accept all of them."""


@record
class Contradiction:
    """A place where texts contradict each other or themselves, or are silent, or where implementations differ."""

    id: str
    """A letter and a number. A: older texts against the current one; B: inside the current texts; C: the current text
    against Iceberg-Java; D: found in other engines; E: where the texts are silent, met while writing vectors."""

    title: str
    texts: str
    """What the texts say."""

    implementations: str
    """What implementations do, as far as it was read or measured."""

    decision: str
    """What this project does."""

    status: Decision
    requirements: tuple[str, ...]
    """The codes concerned."""

    links: tuple[str, ...] = ()
    """Evidence."""


@record
class SourceDocument:
    """One document that the register was read from."""

    document: str
    path: str
    """Its path in the repository."""

    sections: Mapping[str, str]
    """The SHA-256 of each section's words by heading, as ``tools/check_register.py`` computes it."""

    fields: Mapping[str, tuple[tuple[str, str], ...]]
    """The field tables by heading: each row's name and its rules for v1, v2 and v3, as in ``"-rr"``."""


@record
class Sources:
    """The state of the texts that the register was read from."""

    repository: str
    commit: str
    date: str
    documents: Mapping[str, SourceDocument]


@cache
def register() -> dict[str, Requirement]:
    """Return all requirements by code, in the order of the areas' files."""
    requirements: dict[str, Requirement] = {}
    for file in sorted(Path(__file__).parent.glob("*.toml")):
        if file.name in (CONTRADICTIONS, SOURCES):
            continue
        for row in rtoml.loads(file.read_text(encoding="utf-8"))["requirement"]:
            requirement = _requirement(row)
            if requirement.code in requirements:
                raise AssertionError(f"the register names {requirement.code} twice")
            requirements[requirement.code] = requirement
    return requirements


def check_id(requirement: str, aspect: str = "") -> str:
    """Build the id of a check: the slug of its requirement, followed by the aspect that is checked.

    If the requirement was split from another one, the slug is that of the other one, so that ids of checks do not
    change.

    Args:
        requirement: a code of the register.
        aspect: the part of the requirement that is checked, as in `spec_ref.core.errors.Violation`; empty for all of
            it.

    Returns:
        The id, such as ``slug-aspect``.

    Raises:
        KeyError: if the register has no such code.
    """
    slug = check_slug(requirement)
    return f"{slug}-{aspect}" if aspect else slug


def check_slug(requirement: str) -> str:
    """Return what the ids of a requirement's checks begin with.

    Args:
        requirement: a code of the register.

    Returns:
        The slug of the requirement, or of the one that it was split from.

    Raises:
        KeyError: if the register has no such code.
    """
    rule = register()[requirement]
    return rule.slug if rule.split_from is None else register()[rule.split_from].slug


@cache
def contradictions() -> dict[str, Contradiction]:
    """Return all contradictions by id, in the order of the file."""
    return {row["id"]: _contradiction(row) for row in _read(CONTRADICTIONS)["contradiction"]}


@cache
def sources() -> Sources:
    """Return the texts that the register was read from."""
    data = _read(SOURCES)
    documents = {
        row["document"]: SourceDocument(
            document=row["document"],
            path=row["path"],
            sections=row["sections"],
            fields={heading: tuple((name, rules) for name, rules in rows) for heading, rows in row["fields"].items()},
        )
        for row in data["source"]
    }
    return Sources(repository=data["repository"], commit=data["commit"], date=data["date"], documents=documents)


def _read(name: str) -> dict[str, Any]:
    return rtoml.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))


@overload
def _prose(text: str) -> str: ...
@overload
def _prose(text: None) -> None: ...
def _prose(text: str | None) -> str | None:
    """Undo the line breaks of the file."""
    return text and " ".join(text.split())


_VERSIONS = {int(version): version for version in FormatVersion}
_RULE_KEYS = tuple((version, f"v{int(version)}") for version in FormatVersion)
_RULES = {rule.value: rule for rule in Presence}
_LEVELS = {level.value: level for level in RequirementLevel}


def _requirement(row: dict[str, Any]) -> Requirement:
    rules = row.get("rules")
    written: str | None = row.get("unproven")
    unproven = _prose(written)
    if unproven is not None and not unproven.startswith(tuple(f"{reason}: " for reason in REASONS)):
        raise AssertionError(f"{row['code']} has no proof for a reason that is not known: {unproven}")
    return Requirement(
        code=row["code"],
        slug=row["slug"],
        document=row["document"],
        section=row["section"],
        level=_LEVELS[row["level"]],
        versions=tuple(_VERSIONS[number] for number in row["versions"]),
        binds=tuple(row["binds"]),
        observable=tuple(row["observable"]),
        text=_prose(row["text"]),
        field=row.get("field"),
        rules=rules and {version: _RULES[rules[key]] for version, key in _RULE_KEYS},
        split_from=row.get("split_from"),
        status=Status(row.get("status", "adopted")),
        why=_prose(row.get("why")),
        right=_prose(row.get("right")),
        wrong=_prose(row.get("wrong")),
        judged=row.get("judged"),
        no_example=_no_example(row),
        seen=tuple(row.get("seen", ())),
        unproven=unproven,
    )


def _no_example(row: dict[str, Any]) -> str | None:
    if "right" in row:
        return None
    if Status(row.get("status", "adopted")) is Status.V4_DRAFT:
        return "draft"
    if row.get("unproven", "").startswith("out of scope"):
        return "out of scope"
    reason: str | None = row.get("no_example")
    return reason


def _contradiction(row: dict[str, Any]) -> Contradiction:
    return Contradiction(
        id=row["id"],
        title=row["title"],
        texts=_prose(row["texts"]),
        implementations=_prose(row["implementations"]),
        decision=_prose(row["decision"]),
        status=Decision(row["status"]),
        requirements=tuple(row["requirements"]),
        links=tuple(row.get("links", ())),
    )
