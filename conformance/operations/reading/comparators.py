"""Compare answers about the rows and the files of a snapshot: multisets, whose order does not matter.

Variants are compared by value: 1 may be an int8 or an int64, and the dictionary may hold any names.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator
from decimal import Decimal
from itertools import islice
from typing import Any

from conformance.operations.comparison import (
    ABSENT,
    MAX_DIFFERENCES,
    Comparator,
    Difference,
    Differences,
    Undecodable,
    read_type,
)
from conformance.operations.wire import from_exchange, to_exchange
from spec_ref.core.errors import SpecError
from spec_ref.core.json_types import JsonObject
from spec_ref.data_types.types import ListType, MapType, StructType, Type, VariantType
from spec_ref.data_types.values import value_key
from spec_ref.encodings.variant.physical_types import DECIMAL_DIGITS, PhysicalType, VariantPrimitive, VariantValue
from spec_ref.encodings.variant.value import decode_variant
from spec_ref.encodings.variant.value_writer import encode_variant


def compare_rows(args: JsonObject, expected: JsonObject, got: JsonObject) -> Differences:
    """Compare rows as a multiset of values of the columns' types: each row must occur as often as expected.

    Unexpected rows are paired with the most similar missing rows, and reported column by column.
    """
    types = {name: read_type(json) for name, json in args["types"].items()}
    wanted = [_read(types, row, "expected") for row in expected["rows"]]
    found = [_read(types, row, "the answer's") for row in got["rows"]]
    missing, surplus = _find_unpaired(types, wanted, found)
    return tuple(islice(_row_differences(types, missing, surplus), MAX_DIFFERENCES))


def _read(types: dict[str, Type], row: JsonObject, whose: str) -> JsonObject:
    if row.keys() != types.keys():
        raise Undecodable(f"{whose} row has the columns {sorted(row)} instead of {sorted(types)}")
    values = {}
    for name, type_ in types.items():
        try:
            values[name] = _in_one_encoding(type_, from_exchange(type_, row[name]))
        except SpecError as error:
            raise Undecodable(f"{whose} column {name} is not of type {type_}: {error}") from None
    return values


def _in_one_encoding(type_: Type, value: Any) -> Any:
    """Return a value with its variants, at any depth, in one canonical encoding."""
    match type_:
        case _ if value is None:
            return None
        case VariantType():
            return encode_variant(_normal(decode_variant(value)))
        case StructType(fields):
            return {field.id: _in_one_encoding(field.type, value.get(field.id)) for field in fields}
        case ListType(_, element):
            return tuple(_in_one_encoding(element, item) for item in value)
        case MapType(_, key, _, inner):
            return tuple((_in_one_encoding(key, one), _in_one_encoding(inner, item)) for one, item in value)
        case _:
            return value


_NANOS = {
    PhysicalType.TIMESTAMP: PhysicalType.TIMESTAMP_NANOS,
    PhysicalType.TIMESTAMP_NTZ: PhysicalType.TIMESTAMP_NTZ_NANOS,
}
_INTEGERS = frozenset({PhysicalType.INT8, PhysicalType.INT16, PhysicalType.INT32, PhysicalType.INT64})


def _normal(node: VariantValue) -> VariantValue:
    """Return the representative of all variant values that are equal by the encoding's equivalence classes."""
    if isinstance(node, dict):
        return {name: _normal(child) for name, child in node.items()}
    if isinstance(node, tuple):
        return tuple(_normal(child) for child in node)
    physical, value = node.physical, node.value
    if physical in _INTEGERS or physical in DECIMAL_DIGITS:
        return _exact(Decimal(value))
    if physical in _NANOS and abs(value) < (1 << 63) // 1000:
        return VariantPrimitive(_NANOS[physical], value * 1000)
    return VariantPrimitive(physical, math.nan) if isinstance(value, float) and math.isnan(value) else node


def _exact(value: Decimal) -> VariantPrimitive:
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    number, scale = list(digits), -exponent
    while scale > 0 and number[-1:] == [0]:
        number, scale = number[:-1] or [0], scale - 1
    if scale == 0 and abs(whole := int(value)) < 1 << 63:
        return VariantPrimitive(PhysicalType.INT64, whole)
    return VariantPrimitive(PhysicalType.DECIMAL16, Decimal((sign, tuple(number), -scale)))


def _key(types: dict[str, Type], row: JsonObject) -> Hashable:
    return tuple(value_key(type_, row[name]) for name, type_ in types.items())


def _find_unpaired(
    types: dict[str, Type], wanted: list[JsonObject], found: list[JsonObject]
) -> tuple[list[tuple[int, JsonObject]], list[tuple[int, JsonObject]]]:
    """Return the rows, with their places, that have no equal row on the other side."""
    places: dict[Hashable, list[tuple[int, JsonObject]]] = defaultdict(list)
    for index, row in enumerate(found):
        places[_key(types, row)].append((index, row))
    missing = []
    for index, row in enumerate(wanted):
        equal = places[_key(types, row)]
        if equal:
            equal.pop(0)
        else:
            missing.append((index, row))
    return missing, sorted((one for rest in places.values() for one in rest), key=lambda one: one[0])


def _row_differences(
    types: dict[str, Type], missing: list[tuple[int, JsonObject]], surplus: list[tuple[int, JsonObject]]
) -> Iterator[Difference]:
    for index, row in missing:
        path = f"/rows/{index}"
        if not surplus:
            yield Difference(path, _exchange_row(types, row), ABSENT)
            continue
        unlike = [
            {name for name, type_ in types.items() if value_key(type_, row[name]) != value_key(type_, other[name])}
            for _, other in surplus
        ]
        nearest = min(range(len(surplus)), key=lambda at: len(unlike[at]))
        _, other = surplus.pop(nearest)
        if len(unlike[nearest]) == len(types) > 1:
            yield Difference(path, _exchange_row(types, row), _exchange_row(types, other))
            continue
        for name in (name for name in types if name in unlike[nearest]):
            sides = (to_exchange(types[name], side[name]) for side in (row, other))
            yield Difference(f"{path}/{name}", *sides)
    for index, row in surplus:
        yield Difference(f"/rows/{index}", ABSENT, _exchange_row(types, row))


def _exchange_row(types: dict[str, Type], row: JsonObject) -> JsonObject:
    return {name: to_exchange(type_, row[name]) for name, type_ in types.items()}


def compare_plans(_args: JsonObject, expected: JsonObject, got: JsonObject) -> Differences:
    """Compare the files of a scan, each with its deletes; files that ``expected`` marks as optional may be absent."""
    return tuple(islice(_plan_differences(expected["files"], got["files"]), MAX_DIFFERENCES))


def _plan_differences(expected: list[JsonObject], got: list[JsonObject]) -> Iterator[Difference]:
    twice = [path for path, count in Counter(file["data_file"] for file in got).items() if count > 1]
    for path in twice:
        yield Difference("/files", f"{path} once", f"{path} more than once")
    wanted = {file["data_file"]: file for file in expected}
    found = {file["data_file"]: file for file in got}
    for path, file in wanted.items():
        if path in found:
            yield from _delete_differences(file, found[path])
        elif not file.get("optional", False):
            yield Difference("/files", path, ABSENT)
    for path in found.keys() - wanted.keys():
        yield Difference("/files", ABSENT, path)


def _delete_differences(expected: JsonObject, got: JsonObject) -> Iterator[Difference]:
    required = _deletes(expected["delete_files"])
    allowed = required + _deletes(expected.get("optional_delete_files", ()))
    found = _deletes(got["delete_files"])
    if required - found or found - allowed:
        place = expected["data_file"].replace("~", "~0").replace("/", "~1")
        yield Difference(f"/files/{place}/delete_files", _describe_deletes(required), _describe_deletes(found))


def _deletes(files: Any) -> Counter[tuple[str, str | None]]:
    return Counter((file["path"], file.get("content_offset")) for file in files)


def _describe_deletes(deletes: Counter[tuple[str, str | None]]) -> list[str]:
    return sorted(path if offset is None else f"{path}#{offset}" for path, offset in deletes.elements())


COMPARATORS: dict[str, Comparator] = {
    "table.read": compare_rows,
    "scan.plan": compare_plans,
}
"""The comparator of each operation."""
