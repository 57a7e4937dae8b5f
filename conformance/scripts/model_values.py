"""Values of the model of tables: their order, reading them after a promotion, and predicates of rows.

Values are the literals of scripts. Only the standard library is used, so that this module cannot share errors of the
reference implementation.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from conformance.scripts.errors import ForbiddenOperation, ScriptError
from spec_ref.core.json_types import Json

Fields = Sequence[Mapping[str, Json]]

_DATE = re.compile(r"([+-]?\d{4,})-(\d\d)-(\d\d)")
_TIME = re.compile(r"(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?")
_EPOCH = datetime.date(1970, 1, 1).toordinal()
_DAYS_OF_400_YEARS = 146_097
NANOS_PER_DAY = 86_400 * 10**9


def comparable_literal(type_: str, literal: Json) -> Any:
    """Convert to a Python value with the order and equality of the spec for a primitive type (EXP011, Appendix B).

    Args:
        type_: the name of a primitive type.
        literal: a literal of a script, or a constant in the JSON of the spec.

    Raises:
        ScriptError: it is not a value of the type.
    """
    if literal is None:
        return None
    try:
        return _comparable(type_, literal)
    except (ValueError, TypeError, AttributeError, InvalidOperation):
        raise ScriptError(f"{literal!r} is not a {type_}") from None


def _comparable(type_: str, literal: Json) -> Any:
    if type_ == "boolean" and isinstance(literal, bool):
        return literal
    if type_ in ("int", "long"):
        return int(literal)
    if type_ in ("float", "double"):
        return float(literal)
    if type_.startswith("decimal"):
        return Decimal(literal)
    if type_ == "date":
        return _days(literal)
    if type_ == "time":
        return _nanos(literal)
    if type_.startswith("timestamp"):
        day, _, time = literal.removesuffix("+00:00").partition("T")
        return _days(day) * NANOS_PER_DAY + _nanos(time)
    if type_ == "binary" or type_.startswith("fixed"):
        return bytes.fromhex(literal)
    if type_ == "uuid":
        return literal.lower()
    if type_ != "boolean" and isinstance(literal, (str, dict)):
        return literal
    raise TypeError(literal)


def _days(text: str) -> int:
    year, month, day = map(int, _match_groups(_DATE, text))
    cycles, within = divmod(year - 1, 400)  # Python only has the years 1 to 9999
    return datetime.date(within + 1, month, day).toordinal() - _EPOCH + cycles * _DAYS_OF_400_YEARS


def _nanos(text: str) -> int:
    hour, minute, second, fraction = _match_groups(_TIME, text)
    whole = int(hour) * 3600 + int(minute) * 60 + int(second or 0)
    return whole * 10**9 + int((fraction or "").ljust(9, "0"))


def _match_groups(pattern: re.Pattern[str], text: str) -> tuple[Any, ...]:
    found = pattern.fullmatch(text)
    if found is None:
        raise ValueError(text)
    return found.groups()


def default_literal(type_: Json, json: Json) -> Json:
    """Convert a default from the JSON of the spec to a literal: a long to a string, a struct to an object by names."""
    if json is None or not isinstance(type_, dict):
        return str(json) if type_ == "long" and json is not None else json
    match type_["type"]:
        case "struct":
            return {
                field["name"]: default_literal(field["type"], json.get(str(field["id"]), field.get("initial-default")))
                for field in type_["fields"]
            }
        case "list":
            return [default_literal(type_["element"], item) for item in json]
    return {f"{part}s": [default_literal(type_[part], item) for item in json[f"{part}s"]] for part in ("key", "value")}


def to_stored(type_: Json, literal: Json, *, required: bool = False, place: str = "", rule: str = "TYP002") -> Json:
    """Convert a literal to its stored form: structs by the ids of their fields.

    Raises:
        ScriptError: it is not a value of the type.
        ForbiddenOperation: it is null where a value is required.
    """
    if literal is None:
        if required:
            raise ForbiddenOperation(rule, f"null in the required column {place}")
        return None
    if not isinstance(type_, dict):
        comparable_literal(type_, literal)
        return literal
    try:
        match type_["type"]:
            case "struct":
                unknown = literal.keys() - {field["name"] for field in type_["fields"]}
                if unknown:
                    raise ForbiddenOperation("EXP003", f"{place} has no field {min(unknown)!r}")
                return {
                    field["id"]: to_stored(
                        field["type"],
                        literal.get(field["name"]),
                        required=field["required"],
                        place=f"{place}.{field['name']}",
                    )
                    for field in type_["fields"]
                }
            case "list":
                return [
                    to_stored(type_["element"], item, required=type_["element-required"], place=place, rule="TYP003")
                    for item in literal
                ]
        return {
            "keys": [
                to_stored(type_["key"], item, required=True, place=place, rule="TYP004") for item in literal["keys"]
            ],
            "values": [
                to_stored(type_["value"], item, required=type_["value-required"], place=place, rule="TYP004")
                for item in literal["values"]
            ],
        }
    except (AttributeError, KeyError, TypeError):
        raise ScriptError(f"{literal!r} is not a {type_['type']}") from None


def read_fields(fields: Fields, written: Fields, values: Mapping[int, Json]) -> dict[str, Json]:
    """Read the fields of a struct under a schema, as literals by name (PRJ001 to PRJ005).

    Args:
        fields: the fields of the schema for reading.
        written: the fields of the schema of the values; fields with the same id are the same.
        values: the values by field id; a missing field has its initial default.
    """
    before = {field["id"]: field["type"] for field in written}
    return {
        field["name"]: read_as(field["type"], before[field["id"]], values[field["id"]])
        if field["id"] in before
        else default_literal(field["type"], field.get("initial-default"))
        for field in fields
    }


def read_as(type_: Json, written: Json, value: Json) -> Json:
    """Read a value that was written with one type under the type that it was promoted to (EVO003, EVO005)."""
    if value is None:
        return None
    if not isinstance(type_, dict):
        return promote_literal(type_, written, value)
    match type_["type"]:
        case "struct":
            return read_fields(type_["fields"], written["fields"], value)
        case "list":
            return [read_as(type_["element"], written["element"], item) for item in value]
    return {
        f"{part}s": [read_as(type_[part], written[part], item) for item in value[f"{part}s"]]
        for part in ("key", "value")
    }


def promote_literal(type_: str, written: Json, value: Json) -> Json:
    """Convert a primitive value to a promoted type, as a literal."""
    if type_ == "long":
        return str(value)
    if written == "date" and type_ != "date":
        return f"{value}T00:00:00.{'0' * (9 if type_ == 'timestamp_ns' else 6)}"
    return value


# Predicates


def values_at(row: Json, path: Sequence[str]) -> list[Json]:
    """Return the values at a path that are not null: of a struct's field, or of all items of a list or map."""
    if row is None:
        return []
    if not path:
        return [row]
    first, *rest = path
    if isinstance(row, list):
        return [value for item in row for value in values_at(item, rest)]
    if first in ("key", "value") and row.keys() == {"keys", "values"}:
        return [value for item in row[f"{first}s"] for value in values_at(item, rest)]
    return values_at(row.get(first), rest)


def matches(predicate: Json, row: Mapping[str, Json], fields: Fields) -> bool:
    """Return whether a row matches; comparisons with null are false, and predicates true or false (EXP008, EXP012).

    Args:
        predicate: the predicate, in the form with terms.
        row: literals by name.
        fields: the columns of the row.

    Raises:
        ForbiddenOperation: the predicate names an unknown column.
        ScriptError: it is not a predicate, or a constant is not of the column's type.
    """
    if isinstance(predicate, bool):
        return predicate
    kind: str = predicate["type"]
    if kind in ("true", "false"):
        return bool(kind == "true")
    if kind == "not":
        return not matches(predicate["child"], row, fields)
    if kind in ("and", "or"):
        left, right = (matches(predicate[side], row, fields) for side in ("left", "right"))
        return left and right if kind == "and" else left or right
    type_, value = _column(predicate["term"], row, fields)
    if kind in ("is-null", "not-null"):
        return (value is None) == (kind == "is-null")
    if isinstance(type_, dict):
        raise ScriptError(f"{predicate['term']} is compared and is not primitive")
    own = comparable_literal(type_, value)
    is_nan = isinstance(own, float) and math.isnan(own)
    if kind in ("is-nan", "not-nan"):
        return is_nan == (kind == "is-nan")
    if kind in ("in", "not-in"):
        return _among(own, [comparable_literal(type_, one) for one in predicate["values"]]) == (kind == "in")
    operand = comparable_literal(type_, predicate["value"])
    match kind:
        case "eq" | "not-eq":
            return _among(own, [operand]) == (kind == "eq")
        case "starts-with" | "not-starts-with":
            return (own is not None and own.startswith(operand)) == (kind == "starts-with")
    if own is None or is_nan:
        return False
    orders = {"lt": own < operand, "lt-eq": own <= operand, "gt": own > operand, "gt-eq": own >= operand}
    if kind not in orders:
        raise ScriptError(f"there is no predicate {kind!r}")
    return bool(orders[kind])


def _among(own: Any, constants: Sequence[Any]) -> bool:
    return own is not None and any(own == one for one in constants)


def _column(name: str, row: Mapping[str, Json], fields: Fields) -> tuple[Json, Json]:
    """Return the type and the value of a column by its full name; null if an enclosing struct is null."""
    for field in fields:  # names may contain dots
        if field["name"] == name:
            return field["type"], row.get(name)
    for field in fields:
        own, inner = field["name"], field["type"]
        if name.startswith(f"{own}.") and isinstance(inner, dict) and inner["type"] == "struct":
            return _column(name[len(own) + 1 :], row.get(own) or {}, inner["fields"])
    raise ForbiddenOperation("EXP003", f"the table does not have the column {name!r}")
