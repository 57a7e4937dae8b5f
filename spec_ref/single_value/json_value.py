"""JSON single-value serialization (Appendix D).

Default values are stored in this form, and literals of expressions build on it. A `JsonCodec` is the table of the
appendix, so that another form of values in JSON is the same table with a few other rows.

Where the appendix shows only an example, values are written as in the example (lower-case hexadecimal, 6 or 9 digits of
a second; contradiction B34). Every ISO 8601 text with at most as many digits is read.
"""

from __future__ import annotations

import math
import re
import uuid
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from spec_ref.core.calendar import SECONDS_PER_DAY, civil_from_days, days_from_civil
from spec_ref.core.decimals import unscaled_value
from spec_ref.core.errors import Description, error_path, spec_error
from spec_ref.core.json_types import Json
from spec_ref.core.records import record
from spec_ref.data_types.decimals import decimal_from_unscaled
from spec_ref.data_types.types import DecimalType, ListType, MapType, StructType, Type, kind
from spec_ref.data_types.values import check_required, check_unique_keys, check_value, nearest_binary32
from spec_ref.encodings.geo.wkb import wkb_to_wkt, wkt_to_wkb


@record
class JsonForm:
    """The JSON form of the values of one type: a row of the table."""

    write: Callable[[Any, Any], Json]
    """Makes JSON from the type and a value of it."""

    read: Callable[[Any, Json], Any]
    """Reads a value from the type and JSON; whether it is a value of the type is checked afterwards."""


@record
class JsonCodec:
    """Writes values as JSON and reads them back, by the name of the type; nested types have one form in every codec."""

    forms: Mapping[str, JsonForm]

    def to_json(self, type_: Type, value: Any) -> Json:
        """Serialize a value as JSON.

        Args:
            type_: the type of the value.
            value: a value of the type, or None.

        Returns:
            The JSON of the value; None for null.

        Raises:
            SpecError: SVJ001 for NaN and the infinities, which JSON cannot represent; SVJ010 if the type has no JSON
                form (unknown, variant); the code of the type if ``value`` is not a value of it.
        """
        if value is None:
            return None
        check_value(type_, value)
        return self._write(type_, value)

    def from_json(self, type_: Type, json: Json) -> Any:
        """Deserialize a value from JSON.

        Args:
            type_: the type of the value.
            json: the parsed JSON.

        Returns:
            The value, as `spec_ref.data_types.values` represents it; None for null.

        Raises:
            SpecError: SVJ001 to SVJ009 if the JSON does not have the form of the type; SVJ010 if the type has no JSON
                form (unknown, variant); the code of the type if the JSON holds something that is not a value of it (an
                int beyond 32 bits).
        """
        if json is None:
            return None
        match type_:
            case StructType():
                return self._read_struct(type_, json)
            case ListType(_, element, required):
                return self._read_items(element, json, required=required, requirement="TYP003")
            case MapType():
                return self._read_map(type_, json)
            case _:
                value = self._form(type_).read(type_, json)
                check_value(type_, value)
                return value

    def with_forms(self, forms: Mapping[str, JsonForm]) -> JsonCodec:
        """Make a codec with added or replaced rows.

        Args:
            forms: the rows, by the name of the type.

        Returns:
            The new codec.
        """
        return JsonCodec({**self.forms, **forms})

    def _form(self, type_: Type) -> JsonForm:
        form = self.forms.get(kind(type_))
        if form is None:
            raise spec_error(
                "SVJ010", f"{kind(type_)} has no JSON single-value form", found=Description(str(type_)), expected="null"
            )
        return form

    def _write(self, type_: Type, value: Any) -> Json:
        if value is None:
            return None
        match type_:
            case StructType(fields):
                return {str(field.id): self._write(field.type, value.get(field.id)) for field in fields}
            case ListType(_, element):
                return [self._write(element, item) for item in value]
            case MapType():
                return {
                    "keys": [self._write(type_.key, key) for key, _ in value],
                    "values": [self._write(type_.value, item) for _, item in value],
                }
            case _:
                return self._form(type_).write(type_, value)

    def _read_struct(self, type_: StructType, json: Json) -> dict[int, Any]:
        if not isinstance(json, dict):
            raise spec_error("SVJ007", "the struct is not an object by field id", found=json)
        value = {}
        for field in type_.fields:
            with error_path(f"/{field.id}"):
                value[field.id] = self.from_json(field.type, json.get(str(field.id)))
                check_required(field.type, value[field.id], required=field.required, requirement="TYP002")
        unknown = json.keys() - {str(field.id) for field in type_.fields}
        if unknown:
            raise spec_error("SVJ007", "a member is not the id of a field of the struct", found=min(unknown))
        return value

    def _read_items(self, type_: Type, json: Json, *, required: bool, requirement: str) -> tuple[Any, ...]:
        if not isinstance(json, list):
            raise spec_error("SVJ007", "the values are not in an array", found=json)
        items = []
        for index, item in enumerate(json):
            with error_path(f"/{index}"):
                check_required(type_, item, required=required, requirement=requirement)
                items.append(self.from_json(type_, item))
        return tuple(items)

    def _read_map(self, type_: MapType, json: Json) -> tuple[tuple[Any, Any], ...]:
        if not isinstance(json, dict) or json.keys() != {"keys", "values"}:
            raise spec_error("SVJ007", "the map is not an object of two arrays", found=json, expected="keys and values")
        with error_path("/keys"):
            keys = self._read_items(type_.key, json["keys"], required=True, requirement="TYP004")
        with error_path("/values"):
            values = self._read_items(type_.value, json["values"], required=type_.value_required, requirement="TYP004")
        if len(keys) != len(values):
            found = Description(f"{len(keys)} keys, {len(values)} values")
            raise spec_error("SVJ007", "the map has different numbers of keys and values", found=found)
        check_unique_keys(type_, keys)
        return tuple(zip(keys, values, strict=True))


# Numbers


def _as_is(_: Type, value: Any) -> Any:
    return value


def _read_boolean(_: Type, json: Json) -> bool:
    if not isinstance(json, bool):
        raise spec_error("SVJ001", "the value is not a boolean", found=json, expected="true or false")
    return json


def read_integer(_: Type, json: Json) -> int:
    """Read a JSON number without fraction or exponent.

    Args:
        json: the parsed JSON.

    Returns:
        The number.

    Raises:
        SpecError: SVJ001 if it is not such a number.
    """
    if not isinstance(json, int) or isinstance(json, bool):
        raise spec_error(
            "SVJ001", "the value is not an integer", found=json, expected="a JSON number without fraction or exponent"
        )
    return json


def write_float(_: Type, value: float) -> float:
    """Write a float or double as a JSON number.

    Args:
        value: the number.

    Returns:
        The same number.

    Raises:
        SpecError: SVJ001 for NaN and the infinities, which JSON cannot represent.
    """
    if not math.isfinite(value):
        raise spec_error("SVJ001", "JSON has no number for the value", found=value, expected="a finite number")
    return value


def read_float(type_: Type, json: Json) -> float:
    """Read a JSON number as a float or double; ``1`` is accepted, like ``1.0`` (contradiction B33).

    Args:
        type_: float or double.
        json: the parsed JSON.

    Returns:
        The value of the type that is nearest to the number.

    Raises:
        SpecError: SVJ001 if it is not a number, or is beyond the range of the type.
    """
    if not isinstance(json, (int, float)) or isinstance(json, bool):
        raise spec_error("SVJ001", "the value is not a number", found=json, expected="a JSON number")
    try:
        number = float(json)
    except OverflowError:
        number = math.inf
    if kind(type_) == "float":
        number = nearest_binary32(number)
    if not math.isfinite(number):
        raise spec_error("SVJ001", f"the value is not a finite {type_}", found=json)
    return number


def _decimal_pattern(type_: DecimalType) -> str:
    """Make the pattern of the decimals of a type, with groups for sign, whole digits and fraction."""
    if type_.scale > 0:
        return rf"(-?)(0|[1-9][0-9]*)\.([0-9]{{{type_.scale}}})"
    exponent = rf"E\+{-type_.scale}" if type_.scale < 0 else ""
    return rf"(-?)(0|[1-9][0-9]*)(){exponent}"


def _write_decimal(type_: DecimalType, value: Decimal) -> str:
    number = unscaled_value(value)
    sign, digits = "-" if number < 0 else "", str(abs(number))
    if type_.scale < 0:
        return f"{sign}{digits}E+{-type_.scale}"
    if type_.scale == 0:
        return sign + digits
    digits = digits.rjust(type_.scale + 1, "0")
    return f"{sign}{digits[: -type_.scale]}.{digits[-type_.scale :]}"


def _read_decimal(type_: DecimalType, json: Json) -> Decimal:
    match = re.fullmatch(_decimal_pattern(type_), _text("SVJ002", json))
    if match is None:
        expected = f"{type_.scale} digits after the point" if type_.scale >= 0 else f"an integer and E+{-type_.scale}"
        raise spec_error("SVJ002", f"the value is not a valid {type_}", found=json, expected=expected)
    sign, whole, fraction = match.groups()
    digits = (whole + fraction).lstrip("0") or "0"
    if len(digits) > type_.precision:
        raise spec_error(
            "TYP013", f"the value is not a valid {type_}", found=json, expected=f"at most {type_.precision} digits"
        )
    return decimal_from_unscaled(type_, int(sign + digits))


# Dates and times

_DATE = r"([+-]?[0-9]{4,7})-([0-9]{2})-([0-9]{2})"


def _time(digits: int) -> str:
    return rf"([0-9]{{2}}):([0-9]{{2}}):([0-9]{{2}})(?:\.([0-9]{{1,{digits}}}))?"


def _year_text(year: int) -> str:
    """Format a year as ISO 8601: with a sign before years beyond 9999 and before negative ones; year 0 is 1 BC."""
    if year < 0:
        return f"-{-year:04}"
    return f"{year:04}" if year <= 9999 else f"+{year}"


def _write_days(days: int) -> str:
    year, month, day = civil_from_days(days)
    return f"{_year_text(year)}-{month:02}-{day:02}"


def _read_days(requirement: str, text: str, year: str, month: str, day: str) -> int:
    days = days_from_civil(int(year), int(month), int(day)) if _year_text(int(year)) == year else None
    if days is None:
        raise spec_error(requirement, "the date is not in the calendar", found=text)
    return days


def _write_clock(units: int, digits: int) -> str:
    seconds, fraction = divmod(units, 10**digits)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{fraction:0{digits}}"


def _read_clock(requirement: str, text: str, digits: int, clock: tuple[str, str, str, str | None]) -> int:
    hour, minute, second = map(int, clock[:3])
    if hour > 23 or minute > 59 or second > 59:
        # No 24:00 and no leap second: neither has a separate value in the type.
        raise spec_error(
            requirement, "the value is not a time of day", found=text, expected="00:00:00 to 23:59:59 and its fractions"
        )
    fraction = int((clock[3] or "").ljust(digits, "0"))
    per_second: int = 10**digits
    return (hour * 3600 + minute * 60 + second) * per_second + fraction


def _date_form(requirement: str) -> JsonForm:
    pattern = re.compile(_DATE)

    def read(_: Type, json: Json) -> int:
        text = _text(requirement, json)
        match = pattern.fullmatch(text)
        if match is None:
            raise spec_error(requirement, "the value is not a date", found=json, expected="2017-11-16")
        return _read_days(requirement, text, match[1], match[2], match[3])

    return JsonForm(lambda _, value: _write_days(value), read)


def _time_form(requirement: str, digits: int) -> JsonForm:
    pattern = re.compile(_time(digits))

    def read(_: Type, json: Json) -> int:
        text = _text(requirement, json)
        match = pattern.fullmatch(text)
        if match is None:
            expected = f"22:31:08 with at most {digits} digits of a second"
            raise spec_error(requirement, "the value is not a time of day", found=json, expected=expected)
        return _read_clock(requirement, text, digits, (match[1], match[2], match[3], match[4]))

    return JsonForm(lambda _, value: _write_clock(value, digits), read)


def _timestamp_form(requirement: str, digits: int, offset: str) -> JsonForm:
    pattern = re.compile(_DATE + "T" + _time(digits) + re.escape(offset))
    per_day: int = SECONDS_PER_DAY * 10**digits

    def write(_: Type, value: int) -> str:
        days, clock = divmod(value, per_day)
        return f"{_write_days(days)}T{_write_clock(clock, digits)}{offset}"

    def read(type_: Type, json: Json) -> int:
        text = _text(requirement, json)
        match = pattern.fullmatch(text)
        if match is None:
            expected = f"2017-11-16T22:31:08{offset} with at most {digits} digits of a second"
            raise spec_error(requirement, f"the value is not a {type_}", found=json, expected=expected)
        days = _read_days(requirement, text, match[1], match[2], match[3])
        return days * per_day + _read_clock(requirement, text, digits, (match[4], match[5], match[6], match[7]))

    return JsonForm(write, read)


# Texts and bytes


def _text(requirement: str, json: Json) -> str:
    if not isinstance(json, str):
        raise spec_error(requirement, "the value is not a JSON string", found=json, expected="a string")
    return json


def _read_string(_: Type, json: Json) -> str:
    return _text("SVJ009", json)


_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def _read_uuid(_: Type, json: Json) -> uuid.UUID:
    if not _UUID.fullmatch(_text("SVJ006", json)):
        raise spec_error(
            "SVJ006", "the value is not a UUID", found=json, expected="f79c3e09-677c-4bbd-a479-3f349cb785e7"
        )
    return uuid.UUID(json)


_HEX = re.compile(r"(?:[0-9a-fA-F]{2})*")


def read_hex(_: Type, json: Json) -> bytes:
    """Read a string of hexadecimal digits of either case, two for each byte.

    Args:
        json: the parsed JSON.

    Returns:
        The bytes.

    Raises:
        SpecError: SVJ006 if it is not such a string.
    """
    if not _HEX.fullmatch(_text("SVJ006", json)):
        raise spec_error("SVJ006", "the value is not hexadecimal", found=json, expected="two digits for each byte")
    return bytes.fromhex(json)


_NUMBER = JsonForm(_as_is, read_integer)
_FLOAT = JsonForm(write_float, read_float)
_BYTES = JsonForm(lambda _, value: value.hex(), read_hex)
_WKT = JsonForm(lambda _, value: wkb_to_wkt(value), lambda _, json: wkt_to_wkb(_text("SVJ008", json)))

APPENDIX_D = JsonCodec(
    {
        "boolean": JsonForm(_as_is, _read_boolean),
        "int": _NUMBER,
        "long": _NUMBER,
        "float": _FLOAT,
        "double": _FLOAT,
        "decimal": JsonForm(_write_decimal, _read_decimal),
        "date": _date_form("SVJ003"),
        "time": _time_form("SVJ003", digits=6),
        "timestamp": _timestamp_form("SVJ004", digits=6, offset=""),
        "timestamptz": _timestamp_form("SVJ004", digits=6, offset="+00:00"),
        "timestamp_ns": _timestamp_form("SVJ005", digits=9, offset=""),
        "timestamptz_ns": _timestamp_form("SVJ005", digits=9, offset="+00:00"),
        "string": JsonForm(_as_is, _read_string),
        "uuid": JsonForm(lambda _, value: str(value), _read_uuid),
        "fixed": _BYTES,
        "binary": _BYTES,
        "geometry": _WKT,
        "geography": _WKT,
    }
)
"""The table of JSON single-value serialization."""

to_json = APPENDIX_D.to_json
from_json = APPENDIX_D.from_json
