"""Compare answers that are single values, in binary or in JSON."""

from __future__ import annotations

from typing import Any

from conformance.operations.comparison import (
    Comparator,
    Differences,
    compare_hexadecimal,
    first_differences,
    json_differences,
    same_json,
    type_argument,
    typed_comparator,
)
from spec_ref.core.errors import SpecError
from spec_ref.data_types.types import BINARY, DOUBLE, FLOAT, FixedType, ListType, MapType, StructType, Type


def compare_json_values(args: dict[str, Any], expected: Any, got: Any) -> Differences:
    """Compare the JSON form of values, normalized where the type allows several spellings (`_normal`)."""
    if same_json(expected, got):
        return ()
    try:
        type_ = type_argument(args)
    except SpecError:  # the type is invalid: the vector lists the answers of implementations that accept it
        return first_differences(json_differences(expected, got))
    return first_differences(json_differences(_normal(type_, expected), _normal(type_, got)))


def _normal(type_: Type, value: Any) -> Any:
    """Return JSON with floats written as floats and hexadecimal digits in upper case, wherever the type has them."""
    match type_, value:
        case StructType(), dict():
            fields = {str(field.id): field.type for field in type_.fields}
            return {key: _normal(fields[key], item) if key in fields else item for key, item in value.items()}
        case ListType(), list():
            return [_normal(type_.element, item) for item in value]
        case MapType(), {"keys": list() as keys, "values": list() as values}:
            read = {
                "keys": [_normal(type_.key, key) for key in keys],
                "values": [_normal(type_.value, item) for item in values],
            }
            return {**value, **read}
        case FixedType(), str():
            return value.upper()
        case _, str() if type_ == BINARY:
            return value.upper()
        case _, int() if type_ in (FLOAT, DOUBLE) and not isinstance(value, bool) and abs(value) < 2**1000:
            return float(value)
        case _:
            return value


COMPARATORS: dict[str, Comparator] = {
    "single-value.encode": compare_hexadecimal,
    "single-value.decode": typed_comparator(type_argument),
    "json-value.encode": compare_json_values,
    "json-value.decode": compare_hexadecimal,
    "json-value.round-trip": compare_json_values,
}
"""The comparator of each operation."""
