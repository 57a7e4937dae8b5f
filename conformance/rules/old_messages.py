"""Checks for findings in reports of the previous version, which have no check id; to be removed after one release."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import attrs
import rtoml

from conformance.rules import registry
from spec_ref.requirements import check_id, register

ANY = "*"
"""Any requirement."""


@attrs.frozen
class _Row:
    code: str
    message: re.Pattern[str]
    aspect: str
    severity: str | None
    """The severity that the row applies to, where one message belonged to two checks."""


@functools.cache
def _rows() -> tuple[_Row, ...]:
    text = Path(__file__).with_name("messages.toml").read_text(encoding="utf-8")
    rows = rtoml.loads(text)["messages"]
    return tuple(
        _Row(row["code"], re.compile(row["message"], re.DOTALL), row["aspect"], row.get("severity")) for row in rows
    )


def check_by_message(code: str, message: str, severity: str | None = None) -> str:
    """Return the check id for a finding in a report of the previous version.

    Args:
        code: the requirement.
        message: the text of that version.
        severity: the severity of the finding, if it is known.

    Returns:
        The id of a check; the code if the requirement is unknown.
    """
    if code not in register():
        return code
    for row in _rows():
        fits = row.code in (code, ANY) and row.severity in (None, severity)
        if fits and row.message.fullmatch(message) and check_id(code, row.aspect) in registry():
            return check_id(code, row.aspect)
    return check_id(code)
