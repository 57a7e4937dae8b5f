"""Advice on findings (`advice.toml`): what to do, with which command and risk, and who is affected otherwise."""

from __future__ import annotations

import enum
import functools
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import attrs
import rtoml

from conformance.rules import find_checks
from spec_ref.checks.findings import Severity
from spec_ref.requirements import Requirement, check_id


class AdviceKind(enum.Enum):
    """The kind of action that advice recommends."""

    RESTORE = "restore"
    """Restore a file or an earlier state of the table, or register a corrected copy of its metadata."""

    REWRITE = "rewrite"
    """Write files again."""

    CONFIGURE = "configure"
    """Change metadata with an ordinary command."""

    NOTHING = "nothing"


@attrs.frozen
class Advice:
    """What a table owner can do about a finding."""

    kind: AdviceKind
    text: str
    spark: str | None = None
    """The command in Spark SQL, if one exists."""

    pyiceberg: str | None = None
    """The call of PyIceberg, if one exists."""

    risk: str | None = None
    otherwise: str | None = None
    """Who is affected if nothing is done."""

    def details(self) -> Iterator[tuple[str, str]]:
        """Yield the commands, the risk and who is affected if nothing is done, each with its label."""
        labels = (("Spark", self.spark), ("PyIceberg (tables of v1 and v2)", self.pyiceberg), ("risk", self.risk))
        for label, value in labels:
            if value is not None:
                yield label, value
        if self.otherwise is not None:
            yield "affected if nothing is done", self.otherwise

    def as_json(self) -> dict[str, str | None]:
        """Return the advice as a JSON object."""
        return {**attrs.asdict(self), "kind": self.kind.value}

    def __str__(self) -> str:
        return "\n".join([self.text, *(f"{label}: {value}" for label, value in self.details())])


@attrs.frozen
class AdviceRow:
    """The advice for all checks whose ids match a pattern."""

    patterns: tuple[str, ...]
    advice: Advice


@functools.cache
def advice_rows() -> tuple[AdviceRow, ...]:
    """Return all advice, in the order in which patterns are tried."""
    document = rtoml.loads(Path(__file__).with_name("advice.toml").read_text(encoding="utf-8"))
    remedies = {
        name: {key: " ".join(value.split()) for key, value in remedy.items()}
        for name, remedy in document["remedy"].items()
    }
    return tuple(
        AdviceRow(tuple(row["checks"]), _advice(remedies[row["remedy"]], row["text"], row["otherwise"]))
        for row in document["advice"]
    )


def _advice(remedy: dict[str, str], text: str, otherwise: str) -> Advice:
    commands = {name: remedy.get(name) for name in ("spark", "pyiceberg", "risk")}
    return Advice(AdviceKind(remedy["kind"]), text, **commands, otherwise=otherwise)


@functools.cache
def check_advice(check: str) -> Advice:
    """Look up the advice for a check by its id; ids that no row matches get the advice of the last row."""
    return next(row.advice for row in advice_rows() if any(fnmatchcase(check, pattern) for pattern in row.patterns))


def advice(code: str, aspect: str = "") -> Advice:
    """Look up the advice for a finding.

    Args:
        code: the requirement that is broken.
        aspect: the aspect of the requirement, which together with the code identifies the check.
    """
    return check_advice(check_id(code, aspect))


def requirement_advice(rule: Requirement) -> Advice | None:
    """Return the advice for the most severe check of a requirement; None if it has no check."""
    severities = list(Severity)
    checks = sorted(find_checks(rule), key=lambda check: severities.index(check.severity))
    return check_advice(checks[0].id) if checks else None
