"""The page of the checks: the problems that ``validate`` finds, and the checks whose severity is not the default."""

from __future__ import annotations

from collections import Counter

from conformance.rules import registry
from spec_ref.checks import LEVELS, Check, requirement_severity
from spec_ref.checks.findings import Severity
from spec_ref.requirements import register
from tools.docs.markdown import code, plain, table
from tools.docs.requirements import requirement_link


def page() -> str:
    """Return the page: first the checks whose severity does not follow from the requirement, then all by level."""
    checks = list(registry().values())
    counted = Counter(check.severity for check in checks)
    unlike = [check for check in checks if check.reason is not None]
    lines = [
        "# Checks",
        "",
        f"`validate` has {len(checks)} checks: {', '.join(f'{counted[one]} {one.value}' for one in Severity)}.",
        "",
        "The id of a check never changes its meaning. Reports, baselines, `--select`, `--ignore` and `explain`",
        "identify checks by these ids and by the codes of requirements. Messages may be reworded at any time.",
        "`iceberg-conformance list checks` prints all checks.",
        "",
        "The severity of a finding follows from the requirement: a broken must is an error, a broken should is",
        f"a warning. The {len(unlike)} checks of the first table have a different severity, with the reason.",
        "",
        "## Severities that do not follow from the requirement",
        "",
        *table(("Check", "Requirement", "Level of the requirement", "Severity", "Reason"), map(_unlike, unlike)),
        "",
    ]
    for level in LEVELS:
        found = [check for check in checks if check.level == level]
        lines += [f"## {_TITLES[level]}", ""]
        lines += [*table(("Check", "Requirement", "Looks at", "Severity"), map(_row, found)), ""]
    return "\n".join(lines)


_TITLES = {
    "metadata": "Table metadata",
    "manifests": "Manifest lists and manifests",
    "files": "Files",
    "rows": "Rows",
    "diff": "Two versions of one table",
}


def _codes(check: Check) -> str:
    return ", ".join(map(requirement_link, check.requirements))


def anchor(id_: str) -> str:
    """Return the anchor of a check on the page."""
    return f"check-{id_.lower()}"


def _row(check: Check) -> list[str]:
    return [f'<span id="{anchor(check.id)}"></span>{code(check.id)}', _codes(check), check.scope, check.severity.value]


def _unlike(check: Check) -> list[str]:
    level = register()[check.requirement].level.value
    instead = f"{check.severity.value}, not {requirement_severity(check.requirement).value}"
    return [code(check.id), _codes(check), level, instead, plain(check.reason or "")]
