"""Partition Transforms (Bucket Transform Details, Truncate Transform Details).

Each transform is a record that states its row of the table of transforms: the source types, the result type and the
function of a value. The text of a transform is that of Appendix C, Partition Specs.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, ClassVar, NoReturn, TypeAlias

from spec_ref.core.calendar import EPOCH, UNITS_PER_DAY, civil_from_days
from spec_ref.core.decimals import unscaled_value
from spec_ref.core.errors import Description, SpecError, spec_error
from spec_ref.core.records import record
from spec_ref.data_types.decimals import decimal_from_unscaled
from spec_ref.data_types.types import DATE, INT, PLAIN_PRIMITIVES, Type, kind
from spec_ref.data_types.values import check_value
from spec_ref.hashing import hash_value

MAX_PARAMETER = 2**31 - 1
"""The largest N of ``bucket[N]`` and W of ``truncate[W]``: the number of buckets and the width are ints."""

MONTHS_PER_YEAR = 12
HOURS_PER_DAY = 24

DATE_TYPES = frozenset(UNITS_PER_DAY)
TIMESTAMP_TYPES = DATE_TYPES - {"date"}


class _Transform:
    """The base class of the transforms; each subclass is a row of the table."""

    __slots__ = ()

    requirement: ClassVar[str]
    """The code of the row in the register."""

    sources: ClassVar[frozenset[str] | None]
    """The names of the source types; None for any type."""

    result: ClassVar[Type | None]
    """The result type; None for the source type."""

    def result_type(self, source: Type) -> Type:
        """Find the type of the transform's values.

        Args:
            source: the type of the source column.

        Returns:
            The result type.

        Raises:
            SpecError: the code of the transform, if it does not accept the source type.
        """
        if self.sources is not None and kind(source) not in self.sources:
            expected = ", ".join(sorted(self.sources))
            raise spec_error(
                self.requirement, f"{self} does not accept the type", found=Description(str(source)), expected=expected
            )
        return source if self.result is None else self.result

    def apply(self, source: Type, value: Any) -> Any:
        """Apply the transform to a value; null gives null (TRN001).

        Args:
            source: the type of the source column.
            value: a value of that type, or None.

        Returns:
            The partition value, of type ``result_type(source)``.

        Raises:
            SpecError: the code of the transform, if it does not accept the source type, or if the mathematical result
                does not fit the result type, which the spec does not mention (``truncate[10]`` of the least int,
                contradiction C6); the code of the source type, if ``value`` is not a value of it.
        """
        result_type = self.result_type(source)
        if value is None:
            return None
        check_value(source, value)
        try:
            result = self._compute(source, value)
            if result is not None:
                check_value(result_type, result)
        except SpecError as error:
            message = f"the result of {self} does not fit {result_type}"
            raise spec_error(self.requirement, message, found=value) from error
        return result

    def _compute(self, source: Type, value: Any) -> Any:
        """Compute the result for a value of the source type that is not null."""
        raise NotImplementedError


def _check_parameter(name: str, number: object) -> None:
    if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= MAX_PARAMETER:
        message = f"the parameter of {name} is not a positive int"
        raise spec_error("TRN017", message, found=number, expected=f"1 to {MAX_PARAMETER}")


@record
class Identity(_Transform):
    """The source value, unmodified."""

    requirement = "TRN002"
    sources = frozenset(PLAIN_PRIMITIVES) | {"decimal", "fixed"}
    result = None

    def _compute(self, source: Type, value: Any) -> Any:
        return value

    def __str__(self) -> str:
        return "identity"


@record
class Bucket(_Transform):
    """The hash of the value without its sign bit, modulo ``num_buckets`` (Bucket Transform Details; TRN004)."""

    requirement = "TRN003"
    sources = DATE_TYPES | {"int", "long", "decimal", "time", "string", "uuid", "fixed", "binary"}
    result = INT

    num_buckets: int

    def __attrs_post_init__(self) -> None:
        _check_parameter("bucket", self.num_buckets)

    def _compute(self, source: Type, value: Any) -> int:
        hashed = hash_value(source, value)
        assert hashed is not None
        return (hashed & 0x7FFF_FFFF) % self.num_buckets

    def __str__(self) -> str:
        return f"bucket[{self.num_buckets}]"


@record
class Truncate(_Transform):
    """The value cut to ``width`` (Truncate Transform Details).

    Numbers are rounded down to a multiple of the width (TRN006), decimals by their unscaled value (TRN007); strings
    keep at most that many code points (TRN008), binary values at most that many bytes (TRN009).
    """

    requirement = "TRN005"
    sources = frozenset({"int", "long", "decimal", "string", "binary"})
    result = None

    width: int

    def __attrs_post_init__(self) -> None:
        _check_parameter("truncate", self.width)

    def _compute(self, source: Any, value: Any) -> Any:
        match kind(source):
            case "int" | "long":
                return self._floor(value)
            case "decimal":
                return decimal_from_unscaled(source, self._floor(unscaled_value(value)))
            case _:
                return value[: self.width]

    def _floor(self, number: int) -> int:
        # Python's remainder has the sign of the width, not that of the number: it is positive or zero.
        return number - number % self.width

    def __str__(self) -> str:
        return f"truncate[{self.width}]"


def _months(source: Type, value: int) -> int:
    """Count the months from 1970-01 to that of a value. The division rounds down, before 1970 too (TRN018)."""
    year, month, _ = civil_from_days(value // UNITS_PER_DAY[kind(source)])
    return (year - EPOCH.year) * MONTHS_PER_YEAR + month - 1


@record
class Year(_Transform):
    """Years from 1970; negative before."""

    requirement = "TRN010"
    sources = DATE_TYPES
    result = INT

    def _compute(self, source: Type, value: Any) -> int:
        return _months(source, value) // MONTHS_PER_YEAR

    def __str__(self) -> str:
        return "year"


@record
class Month(_Transform):
    """Months from 1970-01; negative before."""

    requirement = "TRN011"
    sources = DATE_TYPES
    result = INT

    def _compute(self, source: Type, value: Any) -> int:
        return _months(source, value)

    def __str__(self) -> str:
        return "month"


@record
class Day(_Transform):
    """Days from 1970-01-01, as a date. The day of a timestamp is rounded down, before 1970 too (TRN018).

    A partition value that is stored as an int is read as the date (TRN013).
    """

    requirement = "TRN012"
    sources = DATE_TYPES
    result = DATE

    def _compute(self, source: Type, value: Any) -> int:
        return int(value // UNITS_PER_DAY[kind(source)])

    def __str__(self) -> str:
        return "day"


@record
class Hour(_Transform):
    """Hours from 1970-01-01 00:00; negative before."""

    requirement = "TRN014"
    sources = TIMESTAMP_TYPES
    result = INT

    def _compute(self, source: Type, value: Any) -> int:
        return int(value // (UNITS_PER_DAY[kind(source)] // HOURS_PER_DAY))

    def __str__(self) -> str:
        return "hour"


@record
class Void(_Transform):
    """Always null. It takes the place of the transform of a field that is dropped from a v1 spec (TRN016)."""

    requirement = "TRN015"
    sources = None
    result = None  # the table also allows int; with the source type, the partition type does not change

    def _compute(self, source: Type, value: Any) -> None:
        return None

    def __str__(self) -> str:
        return "void"


@record
class UnknownTransform(_Transform):
    """A transform of a later spec or of an engine, kept as its text.

    A table with an unknown transform is readable: partition fields with it are ignored when files are filtered (PAR005,
    PAR006). Its function is not known, so it has no result type and is not applied, and no data is written with it
    (PAR007).
    """

    requirement = "PAR007"
    sources = frozenset()
    result = None

    text: str

    def result_type(self, source: Type) -> NoReturn:
        raise spec_error(self.requirement, "the transform is unknown", found=self.text)

    def __str__(self) -> str:
        return self.text


Transform: TypeAlias = Identity | Bucket | Truncate | Year | Month | Day | Hour | Void | UnknownTransform

_PLAIN: dict[str, Transform] = {
    str(transform): transform for transform in (Identity(), Year(), Month(), Day(), Hour(), Void())
}

PARAMETERIZED: dict[str, Callable[[int], Transform]] = {"bucket": Bucket, "truncate": Truncate}
"""The transforms with a parameter, by name."""

_PARAMETER = re.compile(r"\[([1-9][0-9]{0,99})\]")


def parse_transform(text: str) -> Transform:
    """Parse the text of a transform (Appendix C, Partition Specs).

    The texts of the spec are exact: lower case, no whitespace, no leading zeros. The name before ``[`` decides. If it
    is the name of a transform of the spec, the rest has to be right: ``bucket[0]``, ``bucket[ 16 ]``, ``bucket`` and
    ``day[1]`` are refused. Any other text, ``Bucket[16]`` too, is an unknown transform: a table can be read without it,
    while mistaking it for another transform would lose rows.

    Args:
        text: the text of the transform.

    Returns:
        The transform; an `UnknownTransform` for a text that does not begin with the name of one.

    Raises:
        SpecError: PAR021 for an empty or a malformed text; TRN017 if the parameter is an integer that is out of range.
    """
    if not isinstance(text, str) or not text:
        raise spec_error("PAR021", "the transform is not a string", found=text, expected="a JSON string, not empty")
    name, bracket, _ = text.partition("[")
    if name in _PLAIN:
        if bracket:
            raise spec_error("PAR021", f"{name} does not take a parameter", found=text, expected=name)
        return _PLAIN[name]
    if name in PARAMETERIZED:
        parameter = _PARAMETER.fullmatch(text, len(name))
        if parameter is None:
            raise spec_error(
                "PAR021",
                f"the text is not a {name} transform",
                found=text,
                expected=f"{name}[N], N from 1 to {MAX_PARAMETER}",
            )
        return PARAMETERIZED[name](int(parameter[1]))
    return UnknownTransform(text)
