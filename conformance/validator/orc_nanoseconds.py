"""Nanoseconds that a writer of ORC left in timestamps of microseconds (ORC004).

Readers truncate them, so that they are not visible in the rows. Stripes with timestamps before 1677 or after 2262 are
not checked: `spec_ref.data_files.orc_timestamps` decodes them, and truncates nanoseconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from conformance.validator.values import MICROS
from spec_ref.core.calendar import NANOS_PER_MICRO
from spec_ref.data_types.types import ListType, MapType, StructType, Type, kind


def has_micros(type_: Type) -> bool:
    """Return whether the type of a column is a timestamp of microseconds, or contains one at any depth."""
    match type_:
        case StructType():
            return any(has_micros(field.type) for field in type_.fields)
        case ListType():
            return has_micros(type_.element)
        case MapType():
            return has_micros(type_.key) or has_micros(type_.value)
    return kind(type_) in MICROS


def find_nanoseconds(type_: Type, array: Any, path: str) -> Iterator[tuple[str, int]]:
    """Yield the path of each timestamp of microseconds that has a finer value, and the first such value.

    Args:
        type_: the type of the column.
        array: its values as pyarrow reads them from the file.
        path: the names that lead to the column.
    """
    match type_:
        case StructType():
            names = {array.type.field(place).name: place for place in range(array.type.num_fields)}
            parts = array.flatten()
            for field in type_.fields:
                if field.name in names and has_micros(field.type):
                    yield from find_nanoseconds(field.type, parts[names[field.name]], f"{path}/{field.name}")
        case ListType():
            if has_micros(type_.element):
                yield from find_nanoseconds(type_.element, array.flatten(), f"{path}/element")
        case MapType():
            first, last = array.offsets[0].as_py(), array.offsets[-1].as_py()
            for part, inner, name in ((array.keys, type_.key, "key"), (array.items, type_.value, "value")):
                if has_micros(inner):
                    yield from find_nanoseconds(inner, part[first:last], f"{path}/{name}")
        case _ if pa.types.is_timestamp(array.type) and array.type.unit == "ns":
            nanos = array.cast(pa.int64()).drop_null()
            micros = pc.multiply(pc.divide(nanos, NANOS_PER_MICRO), NANOS_PER_MICRO)
            finer = nanos.filter(pc.not_equal(nanos, micros))
            if len(finer):
                yield path, finer[0].as_py()
