"""Links to sections of the spec, and to the pages of requirements on the project's site."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import rtoml

from spec_ref import requirements
from spec_ref.requirements import CONTRADICTIONS, SOURCES, Requirement, sources

SITE = "ICEBERG_CONFORMANCE_SITE"
"""The environment variable with the site that ``make docs`` builds: a URL, or a path relative to a report."""


@cache
def areas() -> dict[str, tuple[str, ...]]:
    """Return the codes of each area of the register, by the name of the area's file."""
    folder = Path(requirements.__file__).parent
    found = {}
    for file in sorted(folder.glob("*.toml")):
        if file.name not in (CONTRADICTIONS, SOURCES):
            rows = rtoml.loads(file.read_text(encoding="utf-8"))["requirement"]
            found[file.name.removesuffix(".toml")] = tuple(row["code"] for row in rows)
    return found


@cache
def areas_by_code() -> dict[str, str]:
    """Return the area of each code."""
    return {code: area for area, codes in areas().items() for code in codes}


def rule_link(rule: Requirement) -> str:
    """Return a link to the page of a requirement on the site; to its section of the spec if the site is not known."""
    site = os.environ.get(SITE, "").rstrip("/")
    return f"{site}/requirements-{areas_by_code()[rule.code]}.html#{rule.code.lower()}" if site else section_link(rule)


def section_link(rule: Requirement) -> str:
    """Return a link to the section of a requirement, at the commit of the spec that the register is based on."""
    read = sources()
    place = read.documents[rule.document].path
    heading = "".join(one for one in rule.section.rpartition(" / ")[2].lower() if one.isalnum() or one in " -_")
    return f"{read.repository}/blob/{read.commit}/{place}#{heading.replace(' ', '-')}"
