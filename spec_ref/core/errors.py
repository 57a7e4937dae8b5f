"""Errors in an input, for the person who has to fix it.

A `Violation` is the record of one broken requirement. Readers raise it as a `SpecError` at the first problem that a
reader must refuse; checks collect all of them. Both come from the same rules. A bug of this project is never a
`SpecError`.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from typing import Any
from uuid import UUID

import attrs
from immutabledict import immutabledict

from spec_ref.core.versions import FormatVersion

MAX_REPR_LENGTH = 120
"""The maximum number of characters of a found value in a message; hostile files may have long values."""


MAX_REPR_ITEMS = 1000
"""The maximum number of items of a found value, at all levels, that are formatted; otherwise they are only counted."""


class Description(str):
    """A description of what was found, such as a size: text about a value, which is shown without quotes."""

    __slots__ = ()


def abbreviated_repr(value: Any) -> str:
    """Format a value for a message, cut to `MAX_REPR_LENGTH` characters.

    Args:
        value: any value. Null, true, false, lists and objects are written as in JSON, a member of an enumeration as its
            value in files, bytes in hexadecimal, and a string in single quotes. A `Description` is written as it is.

    Returns:
        The text.
    """
    if isinstance(value, enum.Enum) and not isinstance(value, enum.IntEnum):
        value = value.value
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 4 * MAX_REPR_LENGTH:
        return f"an integer of {value.bit_length()} bits"
    if isinstance(value, Description):
        return value if len(value) <= MAX_REPR_LENGTH else f"{value[:MAX_REPR_LENGTH]}... ({len(value)} characters)"
    if isinstance(value, str) and len(value) > MAX_REPR_LENGTH:
        return f"{value[:MAX_REPR_LENGTH]!r}... ({len(value)} characters)"
    if isinstance(value, bytes) and len(value) > MAX_REPR_LENGTH:
        return f"0x{value[: MAX_REPR_LENGTH // 2].hex()}... ({len(value)} bytes)"
    if not _is_brief(value):
        return f"{'an object' if isinstance(value, Mapping) else 'a list'} of {len(value)} items"
    try:
        text = format_value(value)
    except (RecursionError, ValueError):  # nested too deeply, or with an integer too long to be written in decimal
        return f"a {type(value).__name__}"
    return text if len(text) <= MAX_REPR_LENGTH else f"{text[:MAX_REPR_LENGTH]}... ({len(text)} characters)"


def format_value(value: Any) -> str:
    """Format a value for a message, whatever its length.

    Args:
        value: any value.

    Returns:
        The text, as for `abbreviated_repr`; two values of one type have the same text exactly if they are equal, where
        NaN equals NaN and -0.0 differs from 0.0.
    """
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case enum.IntEnum():
            return f"{value.value} {value.name}"
        case float():
            return "NaN" if value != value else repr(value)
        case Description() | Decimal() | UUID():
            return str(value)
        case bytes() | bytearray() | memoryview():
            data = bytes(value)
            if not data:
                return "no bytes"
            return f"0x{data.hex()} ({data.decode()!r})" if _PRINTABLE.fullmatch(data) else f"0x{data.hex()}"
        case list() | tuple() if type(value) in (list, tuple):
            return f"[{', '.join(map(format_value, value))}]"
        case dict() | immutabledict():
            return f"{{{', '.join(f'{format_value(name)}: {format_value(item)}' for name, item in value.items())}}}"
        case _:
            return repr(value)


_PRINTABLE = re.compile(rb"[ -~]{3,}")


def _is_brief(value: Any) -> bool:
    """Decide whether a value has so few items that its ``repr`` may be made before it is shortened."""
    pending, seen = [value], 0
    while pending:
        item = pending.pop()
        if isinstance(item, (list, tuple, Mapping)):
            seen += len(item)
            if seen > MAX_REPR_ITEMS:
                return False
            pending.extend(item.values() if isinstance(item, Mapping) else item)
    return True


@attrs.frozen(kw_only=True)
class Violation:
    """One broken requirement, at one place."""

    requirement: str
    """The code in the register, such as ``SVB002``."""

    message: str = attrs.field(eq=False)
    """What is wrong, in one sentence without the place: text for people, which nothing compares or parses."""

    aspect: str = ""
    """The part of the requirement that is broken, in lower-case words with hyphens, if it can be broken in several
    ways; with the requirement it identifies the check (`spec_ref.requirements.check_id`)."""

    path: str = ""
    """The place in the document: a JSON pointer (``/schemas/0/fields/2``), or an Avro or column path."""

    found: str | None = None
    """The value that was found, abbreviated."""

    expected: str | None = None
    """What the spec requires."""

    difference: int | None = None
    """The expected number minus the found one, if both are whole numbers: code calculates with it, not with texts."""

    file: str | None = None
    """The file, if there is one."""

    format_version: FormatVersion | None = None
    """The format version that has the rule, if the rule depends on it."""

    def __str__(self) -> str:
        place = ":".join(part for part in (self.file, self.path) if part)
        text = f"{self.requirement}: {self.message}"
        if self.found is not None:
            text += f"; found {self.found}"
        if self.expected is not None:
            text += f"; expected {self.expected}"
        if self.format_version is not None:
            text += f" (format version {self.format_version})"
        return f"{place}: {text}" if place else text


class SpecError(ValueError):
    """The input breaks a requirement, so that a reader or writer must refuse it."""

    def __init__(self, violation: Violation) -> None:
        super().__init__(violation)
        self.violation = violation

    def __str__(self) -> str:
        return str(self.violation)


NOT_GIVEN = object()


def spec_error(
    requirement: str,
    message: str,
    *,
    aspect: str = "",
    found: Any = NOT_GIVEN,
    expected: str | int | None = None,
    path: str = "",
    format_version: FormatVersion | None = None,
) -> SpecError:
    """Make the error for one broken requirement.

    Args:
        requirement: the code in the register.
        message: what is wrong, in words.
        aspect: the part of the requirement that is broken, if it can be broken in several ways.
        found: the value that was found, of any type; it is abbreviated.
        expected: what the spec requires: in words, or the right number.
        path: the place in the document.
        format_version: the version that has the rule, if it depends on it.

    Returns:
        The error, to be raised or collected.
    """
    return SpecError(
        Violation(
            requirement=requirement,
            message=message,
            aspect=aspect,
            path=path,
            found=None if found is NOT_GIVEN else abbreviated_repr(found),
            expected=None if expected is None else str(expected),
            difference=numeric_difference(found, expected),
            format_version=format_version,
        )
    )


def numeric_difference(found: object, expected: object) -> int | None:
    """Return the expected value minus the found one, if both are whole numbers.

    Args:
        found: the value that was found.
        expected: the right value, or words.

    Returns:
        The difference; None if one of them is not a whole number.
    """
    return expected - found if isinstance(found, int) and isinstance(expected, int) else None


@contextmanager
def error_path(path: str) -> Iterator[None]:
    """Prefix the path of an error that is raised inside the context.

    Args:
        path: a JSON pointer segment such as ``/fields/2``.

    Yields:
        Nothing.

    Raises:
        SpecError: the error with the longer path.
    """
    try:
        yield
    except SpecError as error:
        raise SpecError(attrs.evolve(error.violation, path=path + error.violation.path)) from error.__cause__
