"""The register: every requirement of the spec, with a stable code.

The register is data, a TOML file for each area. A code is never renumbered and never reused.
"""

from __future__ import annotations

import enum
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from spec_ref.records import record
from spec_ref.versions import FormatVersion, Rule


class Level(enum.Enum):
    """How strong a requirement is."""

    MUST = "must"
    SHOULD = "should"
    MAY = "may"
    """An explicit permission: a conformant peer has to tolerate it."""


class Status(enum.Enum):
    """Where the requirement stands in the spec's life."""

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
    """The heading it stands under."""

    level: Level
    versions: tuple[FormatVersion, ...]
    binds: tuple[str, ...]
    """Who has to follow it: ``reader``, ``writer``, ``table`` (a state that must hold) or ``committer``."""

    observable: tuple[str, ...]
    """What shows whether it is followed: ``hash``, ``single-value``, ``metadata-json``, ``manifest``, ...; ``none``
    where nothing can."""

    text: str
    """The rule in our own words."""

    rules: dict[FormatVersion, Rule] | None = None
    """For a row of a field table: what a writer of each version does."""

    status: Status = Status.ADOPTED


def _requirement(row: dict[str, Any]) -> Requirement:
    rules = row.get("rules")
    return Requirement(
        code=row["code"],
        slug=row["slug"],
        document=row["document"],
        section=row["section"],
        level=Level(row["level"]),
        versions=tuple(FormatVersion(number) for number in row["versions"]),
        binds=tuple(row["binds"]),
        observable=tuple(row["observable"]),
        text=row["text"],
        rules=rules and {version: Rule(rules[f"v{version}"]) for version in FormatVersion},
        status=Status(row.get("status", "adopted")),
    )


@cache
def register() -> dict[str, Requirement]:
    """All requirements by code, in the order of the areas' files."""
    requirements: dict[str, Requirement] = {}
    for file in sorted(files(__package__).iterdir(), key=lambda entry: entry.name):
        if not file.name.endswith(".toml"):
            continue
        for row in tomllib.loads(file.read_text(encoding="utf-8"))["requirement"]:
            requirement = _requirement(row)
            if requirement.code in requirements:
                raise AssertionError(f"the register names {requirement.code} twice")
            requirements[requirement.code] = requirement
    return requirements
