"""Rows of ORC files as Arrow batches (Appendix A, ORC; ORC001 to ORC008).

A stripe is decoded as a whole and given out in batches. pyarrow carries all types but timestamps outside of 1677 to
2262. A column that has them is decoded by `spec_ref.formats.orc_timestamps`; inside of other columns they are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.orc as orc

from spec_ref.errors import violation
from spec_ref.formats.data_files import counted, sliced
from spec_ref.formats.file_window import source_of
from spec_ref.formats.metrics_orc import width
from spec_ref.formats.orc_footer import check_types, read_stripes
from spec_ref.formats.orc_schema import columns_from_orc
from spec_ref.formats.orc_timestamps import read_timestamps
from spec_ref.schemas.name_mapping import MappedField
from spec_ref.schemas.projection import WrittenColumns
from spec_ref.schemas.types import StructType


def open_orc(file: Any, mapping: Sequence[MappedField] | None) -> tuple[WrittenColumns, Any]:
    """The columns of a file and what reads its batches; see `spec_ref.formats.data_files.open_rows`."""
    check_types(file)
    try:
        opened = orc.ORCFile(file)
        schema = opened.schema
    except (pa.ArrowException, OSError) as error:
        raise violation("ORC008", f"the file cannot be read: {error}") from error
    written = columns_from_orc(schema, mapping)

    def batches(columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        try:
            if not columns:
                yield from counted(opened.nrows, rows)
                return
            places: Any = [schema.get_field_index(name) for name in columns]
            if min(places) < 0:
                raise violation("PRJ001", "the file has several columns of one name", found=", ".join(columns))
            for stripe in range(opened.nstripes):
                try:
                    batch = opened.read_stripe(stripe, columns=places)
                except pa.ArrowInvalid:  # a timestamp that pyarrow has no number for, or a file that is damaged
                    batch = _far_stripe(file, opened, stripe, places, written.struct)
                yield from sliced(batch, rows)
        except (pa.ArrowException, OSError) as error:
            aspect = BEYOND_NANOSECONDS if _BEYOND in str(error) else ""
            raise violation("ORC008", f"the file cannot be read: {error}", aspect=aspect) from error

    return written, batches


BEYOND_NANOSECONDS = "beyond-nanoseconds"
"""The aspect of an error that is a limit of pyarrow: it reads every timestamp of ORC as 64 bits of nanoseconds."""

_BEYOND = "out of range for nanosecond resolution"
"""How pyarrow says so; its error has no other mark."""


def _far_stripe(file: Any, opened: Any, stripe: int, places: list[int], struct: StructType) -> pa.RecordBatch:
    """A stripe whose timestamps at the top level are decoded here, and everything else by pyarrow."""
    data = source_of(file)
    read = read_stripes(data)[stripe]
    fields = list(opened.schema)
    types = {field.name: field.type for field in struct.fields}
    near = [place for place in places if not isinstance(fields[place].type, pa.TimestampType)]
    others: Any = opened.read_stripe(stripe, columns=near) if near else None
    arrays = []
    for place in places:
        if place in near:
            arrays.append(others.column(others.schema.get_field_index(fields[place].name)))
        else:
            column = 1 + sum(map(width, fields[:place]))
            arrays.append(read_timestamps(data, read, column, types[fields[place].name]))
    return pa.RecordBatch.from_arrays(arrays, [fields[place].name for place in places])
