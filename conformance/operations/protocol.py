"""The adapter protocol: JSON lines over standard input and output (`schemas/protocol.json` is the authority).

Each request is one line and each answer is one line, in the same order. Every message is validated with the
published schema, and each failure has one cause: an invalid request is a fault of this tool (`HarnessFault`), an
invalid answer is a breach of the protocol by the adapter (`Breach`), and invalid arguments are a broken vector,
which the loader reports before any request is sent.

A request has the operation, its arguments and a counter: nothing that reveals to an adapter which vector is
running or what is expected.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, TypeAlias

import jsonschema_rs
from attrs import frozen

from conformance.core.failures import HarnessFault
from conformance.core.json_text import dump_json, parse_json, pointer_prefix, shorten
from conformance.operations.schemas import protocol_schema
from spec_ref.core.errors import abbreviated_repr

PROTOCOL = 1
MAX_LINE = 16 * 1024 * 1024
"""The maximum length of a line in bytes, including its end."""

MAX_NAME = 200
"""The maximum length of the name, version and language of an implementation; the rest would be repeated in reports."""


class Breach(Exception):
    """The adapter did not keep to the protocol; the message says how."""


@frozen
class Ok:
    """The implementation answered."""

    value: Any


@frozen
class Refused:
    """The implementation answered with an error."""

    kind: str
    """``invalid``, ``conflict`` or ``internal``."""

    message: str = ""


@frozen
class Unsupported:
    """The implementation does not support the request."""

    message: str


@frozen
class Crashed:
    """No answer: the process died, hung, or broke the protocol."""

    reason: str
    stderr: str = ""
    """The end of what the process wrote on standard error."""


Answer: TypeAlias = Ok | Refused | Unsupported | Crashed


@frozen
class StartAnswer:
    """The adapter's answer to ``start``: which implementation it runs."""

    implementation: str
    version: str
    operations: frozenset[str]
    language: str = ""
    format_versions: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"{self.implementation} {self.version}"


@cache
def validator(definition: str) -> jsonschema_rs.Validator:
    """Return the compiled validator of one definition of the protocol, such as ``answer`` or ``hash.args``."""
    schema = {"$ref": f"#/$defs/{definition}", "$defs": protocol_schema()["$defs"]}
    return jsonschema_rs.validator_for(schema)


def message_violation(definition: str, message: Any) -> str | None:
    """Describe what is wrong with a message and where, in one line; None if it is valid."""
    check = validator(definition)
    if check.is_valid(message):
        return None
    return _most_specific_error(check.iter_errors(message))


def _most_specific_error(errors: Iterable[jsonschema_rs.ValidationError]) -> str:
    """Describe the most deeply nested error; for alternatives, the error in the intended one."""
    error = max(errors, key=lambda error: len(error.instance_path))
    forms = list(_forms(error))
    # Alternatives differ in a constant member, such as ``op``: the intended one has the right value there.
    constant = jsonschema_rs.ValidationErrorKind.Constant
    marks = [[one for one in form if isinstance(one.kind, constant)] for form in forms]
    meant = [form for form, wrong in zip(forms, marks, strict=True) if not wrong]
    if len(meant) == 1:
        return _most_specific_error(meant[0])
    if forms and not meant:
        first = marks[0][0]
        values = sorted({str(one.kind.as_dict()["expected_value"]) for wrong in marks for one in wrong})
        return f"{pointer_prefix(first.instance_path)}{shorten(repr(first.instance))} is not one of {', '.join(values)}"
    return f"{pointer_prefix(error.instance_path)}{shorten(error.message)}"


def _forms(error: jsonschema_rs.ValidationError) -> Iterator[list[jsonschema_rs.ValidationError]]:
    """Yield the errors of each alternative, nested ones included; nothing if there are no alternatives."""
    for form in getattr(error.kind, "context", ()):
        inner = [one for alone in form if len(form) == 1 for one in _forms(alone)]
        yield from inner or [form]


def request_line(seq: int, op: str, args: dict[str, Any]) -> bytes:
    """Return the line that requests one operation."""
    return _line({"seq": seq, "op": op, "args": args}, f"{op}.request")


def start_line() -> bytes:
    """Return the line that starts the conversation."""
    return _line({"seq": 0, "op": "start", "args": {"protocol": PROTOCOL}}, "start")


def stop_line(seq: int) -> bytes:
    """Return the line that ends the conversation."""
    return _line({"seq": seq, "op": "stop"}, "stop")


def _line(message: dict[str, Any], definition: str) -> bytes:
    wrong = message_violation(definition, message)
    if wrong is not None:
        raise HarnessFault(f"this tool made an invalid request: {wrong}")
    line = dump_json(message).encode() + b"\n"
    if len(line) > MAX_LINE:
        raise HarnessFault(f"the request is {len(line)} bytes, more than the protocol's {MAX_LINE}")
    return line


def read_answer(line: bytes) -> tuple[int, Ok | Refused | Unsupported]:
    """Parse a line into its counter and the answer.

    Raises:
        Breach: the line is not a valid answer.
    """
    try:
        message = parse_json(line)
    except ValueError as error:
        raise Breach(f"wrote a line that is not JSON ({error}): {abbreviated_repr(line[:200])}") from None
    if _MAY_OVERFLOW.search(line) and not _is_finite(message):
        raise Breach(f"the answer has a number beyond the range of doubles: {abbreviated_repr(line[:200])}")
    if not validator("answer").is_valid(message):
        raise Breach(f"the answer is invalid: {_answer_complaint(message)}")
    seq = int(message["seq"])
    match message:
        case {"ok": value}:
            return seq, Ok(value)
        case {"error": error}:
            return seq, Refused(error["kind"], error.get("message", ""))
        case _:
            return seq, Unsupported(message["unsupported"])


_MAY_OVERFLOW = re.compile(rb"[0-9][eE]\+?[0-9]{2}|[0-9]{300}")
"""Matches every line with a number beyond the range of doubles, which the parser reads as infinity."""


def _is_finite(value: Any) -> bool:
    match value:
        case float():
            return math.isfinite(value)
        case list():
            return all(map(_is_finite, value))
        case dict():
            return all(map(_is_finite, value.values()))
    return True


def _answer_complaint(message: Any) -> str:
    """Return why a message is not an answer, by the form that its keys suggest."""
    if not isinstance(message, dict):
        return f"an answer is a JSON object, not {abbreviated_repr(message)}"
    forms = [form for form in ("ok", "error", "unsupported") if form in message]
    if len(forms) != 1:
        return f"an answer has one of ok, error and unsupported: {abbreviated_repr(message)}"
    return message_violation(forms[0], message) or abbreviated_repr(message)


def read_started(answer: Ok | Refused | Unsupported) -> StartAnswer:
    """Parse the answer to ``start``.

    Raises:
        Breach: it is not an answer to ``start``, or the adapter uses a different version of the protocol.
    """
    if not isinstance(answer, Ok):
        why = answer.message if isinstance(answer, Unsupported) else f"{answer.kind}: {answer.message}"
        raise Breach(f"it refused to start: {shorten(why)}")
    value = answer.value
    if isinstance(value, dict) and isinstance(value.get("protocol"), int) and value["protocol"] != PROTOCOL:
        raise Breach(f"it speaks protocol {value['protocol']}, this tool speaks {PROTOCOL}")
    wrong = message_violation("started", value)
    if wrong is not None:
        raise Breach(f"the answer to start is invalid: {wrong}")
    return StartAnswer(
        implementation=shorten(value["implementation"], MAX_NAME),
        version=shorten(value["version"], MAX_NAME),
        operations=frozenset(value["operations"]),
        language=shorten(value.get("language", ""), MAX_NAME),
        format_versions=tuple(int(version) for version in value.get("format_versions", ())),
    )
