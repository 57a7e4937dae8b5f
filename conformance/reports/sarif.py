"""The SARIF 2.1.0 report of findings, for code-scanning views (OASIS SARIF, sections 3.13 to 3.52)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from conformance.core.terminal_sanitizer import escape_for_file
from conformance.version import tool_version
from spec_ref.checks.findings import Finding, Severity
from spec_ref.core.errors import Violation
from spec_ref.requirements import register

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

_LEVELS = {
    Severity.ERROR: "error",
    Severity.TOLERATED: "warning",
    Severity.WARNING: "warning",
    Severity.INFO: "note",
}


def render(findings: Sequence[tuple[str, Finding]], unreadable: Sequence[tuple[str, str]] = ()) -> str:
    """Render the log.

    Args:
        findings: findings with the location of their table.
        unreadable: tables that could not be read, and why.
    """
    codes = list(dict.fromkeys(finding.requirement for _, finding in findings))
    run: dict[str, Any] = {
        "tool": sarif_tool(codes),
        "invocations": [
            {
                "executionSuccessful": not unreadable,
                "toolExecutionNotifications": [
                    {"level": "error", "message": text_message(f"{location}: {reason}")}
                    for location, reason in unreadable
                ],
            }
        ],
        "results": [_result(location, finding, codes.index(finding.requirement)) for location, finding in findings],
    }
    return make_log([run])


def make_log(runs: Sequence[dict[str, Any]]) -> str:
    """Return a log that has some runs, as JSON."""
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": runs}, indent=2, allow_nan=False) + "\n"


def sarif_tool(codes: Sequence[str]) -> dict[str, Any]:
    """Return the description of this tool, with the requirements that results name as its rules."""
    rules = [_rule(code) for code in codes]
    return {"driver": {"name": "iceberg-conformance", "version": tool_version(), "rules": rules}}


def _rule(code: str) -> dict[str, Any]:
    rule = register().get(code)
    if rule is None:  # a vector of the user
        return {"id": code}
    return {
        "id": code,
        "name": rule.slug,
        "shortDescription": {"text": rule.text},
        "help": {"text": f"{rule.section} ({rule.document}): {rule.text}"},
    }


def _result(location: str, finding: Finding, rule: int) -> dict[str, Any]:
    result = {
        "ruleId": finding.requirement,
        "ruleIndex": rule,
        "level": _LEVELS[finding.severity],
        "message": text_message(_message_text(finding)),
        "locations": [_location(place) for place in finding.places],
        "occurrenceCount": finding.count,
        "properties": {
            "table": location,
            "check": finding.check,
            "severity": finding.severity.value,
            "writer": finding.writer,
        },
    }
    if not any(place.file for place in finding.places):
        del result["locations"]
    return result


def text_message(text: str) -> dict[str, Any]:
    """Return a plain-text message, without links (section 3.11.6) or control characters."""
    return {"text": escape_for_file(text).replace("](", "] (")}


def artifact_location(file: str) -> dict[str, Any]:
    """Return the location of a file as a URI (section 3.4.3), whose scheme, if any, is followed by ``//``."""
    head, colon, rest = file.partition(":")
    if colon and not rest.startswith("//") and "/" not in head:
        head, colon = head + "%3A", ""
    return {"uri": quote(head + colon + rest, safe="/:%=+,@~!$&*;?", errors="replace")}


def _message_text(finding: Finding) -> str:
    place = finding.violation
    text = place.message
    if place.found is not None:
        text += f"; found {place.found}"
    if place.expected is not None:
        text += f"; expected {place.expected}"
    return text


def _location(place: Violation) -> dict[str, Any]:
    made: dict[str, Any] = {"physicalLocation": {"artifactLocation": artifact_location(place.file or "")}}
    if place.path:
        made["logicalLocations"] = [{"fullyQualifiedName": place.path}]
    return made
