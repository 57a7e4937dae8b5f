"""The registry of checks: those of `spec_ref.checks`, and those of files, of rows and of versions of a table.

Each level has a TOML file, and each check has an id, requirements, a scope and a severity.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path

import rtoml

from spec_ref import checks
from spec_ref.checks import LEVELS, Check
from spec_ref.core.errors import Violation
from spec_ref.requirements import Requirement, check_id, register


@functools.cache
def registry() -> Mapping[str, Check]:
    """Return all checks by id, ordered by level."""
    theirs, ours = checks.registry(), checks.load_checks(Path(__file__).parent)
    if theirs.keys() & ours.keys():
        raise AssertionError(f"checks are in both registries: {', '.join(theirs.keys() & ours.keys())}")
    every = sorted((*theirs.values(), *ours.values()), key=lambda check: LEVELS.index(check.level))
    return {check.id: check for check in every}


@functools.cache
def retired_check_ids() -> Mapping[str, str]:
    """Return the ids of checks that were removed because they could never find anything, each with the reason."""
    text = Path(__file__).with_name("retired.toml").read_text(encoding="utf-8")
    return {check: row["reason"] for row in rtoml.loads(text)["retired"] for check in row["checks"]}


def find_check(violation: Violation) -> Check | None:
    """Return the check that found a violation; None for a violation that no check of a table finds."""
    return registry().get(check_id(violation.requirement, violation.aspect))


def with_former_codes(codes: Sequence[str]) -> tuple[str, ...]:
    """Add the former codes of requirements that were split: a former code selects its parts for one more release."""
    before = (register()[code].split_from for code in codes)
    return (*codes, *(code for code in before if code is not None))


def find_checks(rule: Requirement) -> tuple[Check, ...]:
    """Return the checks of a requirement."""
    return tuple(check for check in registry().values() if rule.code in check.requirements)
