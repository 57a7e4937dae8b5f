"""Rows of ORC files as Arrow batches (Appendix A, ORC; ORC001 to ORC008).

A stripe is decoded as a whole and returned in batches. pyarrow supports all types except timestamps outside of 1677 to
2262. A column that has them, also inside structs, is decoded by `spec_ref.data_files.orc_timestamps`; inside lists and
maps they are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import attrs
import pyarrow as pa
import pyarrow.orc as orc

from spec_ref.core.errors import Description, spec_error
from spec_ref.data_files.batches import empty_batches, slice_batch
from spec_ref.data_files.orc_footer import Stripe, check_types, read_stripes
from spec_ref.data_files.orc_metrics import count_orc_columns
from spec_ref.data_files.orc_schema import child_fields, columns_from_orc
from spec_ref.data_files.orc_timestamps import exceeds_nanoseconds, read_presence, read_timestamps
from spec_ref.data_types.types import StructType
from spec_ref.encodings.random_access_bytes import open_source
from spec_ref.schemas.column_projection import FileColumns
from spec_ref.schemas.name_mapping import MappedField


def open_orc(file: Any, mapping: Sequence[MappedField] | None) -> tuple[FileColumns, Any]:
    """Open an ORC file; see `spec_ref.data_files.reader.open_rows`.

    Args:
        file: a seekable file that is opened for reading.
        mapping: the table's name mapping; None if it has none.

    Returns:
        The columns of the file, and the function that reads its batches.

    Raises:
        SpecError: ORC008 if the file cannot be read; PRJ001 if several columns have the name of a requested one; ORC001
            if there are no ids.
    """
    check_types(file)
    try:
        opened = orc.ORCFile(file)
        schema = opened.schema
    except (pa.ArrowException, OSError) as error:
        raise spec_error("ORC008", f"the file cannot be read: {error}") from error
    written = columns_from_orc(schema, mapping)

    def batches(columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        try:
            if not columns:
                yield from empty_batches(opened.nrows, rows)
                return
            places: Any = [schema.get_field_index(name) for name in columns]
            if min(places) < 0:
                raise spec_error(
                    "PRJ001", "the file has several columns with the same name", found=Description(", ".join(columns))
                )
            # The library takes a name with dots for a path if the file has one; then all columns are read.
            is_path = any(name.startswith(f"{other}.") for name in columns for other in schema.names)
            for stripe in range(opened.nstripes):
                try:
                    batch = opened.read_stripe(stripe, columns=None if is_path else places)
                except pa.ArrowInvalid:  # a timestamp that pyarrow cannot represent, or a damaged file
                    batch = _read_out_of_range_stripe(file, opened, stripe, places, written.struct)
                yield from slice_batch(batch, rows)
        except (pa.ArrowException, OSError) as error:
            raise spec_error("ORC008", f"the file cannot be read: {error}") from error

    return written, batches


BEYOND_NANOSECONDS = "beyond-nanoseconds"
"""The aspect of an error that is a limit of pyarrow: it reads every ORC timestamp as 64 bits of nanoseconds."""


def _read_out_of_range_stripe(
    file: Any, opened: Any, stripe: int, places: list[int], struct: StructType
) -> pa.RecordBatch:
    """Read a stripe, decoding timestamps at the top level and in structs here, and everything else with pyarrow."""
    data = open_source(file)
    far = _OutOfRangeStripe(data, read_stripes(data)[stripe], lambda names: opened.read_stripe(stripe, columns=names))
    schema = opened.schema
    fields = list(schema)
    names = [fields[place].name for place in places]
    columns = {field.name: 1 + sum(map(count_orc_columns, fields[:place])) for place, field in enumerate(fields)}
    try:
        arrays = far.fields([fields[place] for place in places], columns, struct, (), None)
    except pa.ArrowInvalid as error:
        repeated = (one for name in names for one in _repeated_timestamps(schema.field(name).type, columns[name]))
        if any(exceeds_nanoseconds(data, far.stripe, column) for column in repeated):
            raise spec_error("ORC008", f"the file cannot be read: {error}", aspect=BEYOND_NANOSECONDS) from error
        raise
    return pa.RecordBatch.from_arrays([arrays[name] for name in names], names)


@attrs.frozen
class _OutOfRangeStripe:
    data: Any
    stripe: Stripe
    read: Callable[[list[str]], Any]
    """Reads columns with pyarrow, by their names, with dots for columns in structs."""

    def fields(
        self,
        fields: Sequence[Any],
        columns: Mapping[str, int],
        struct: StructType,
        path: tuple[str, ...],
        parent_valid: Any,
    ) -> dict[str, Any]:
        """Read the arrays of the columns, or of the fields of a struct, by their names.

        Args:
            fields: the fields in pyarrow's schema.
            columns: the ORC column id of each.
            struct: their types, as far as they are read.
            path: the names of the structs that contain them.
            parent_valid: which rows have the struct; None at the top level.

        Returns:
            The arrays by name.
        """
        types = {field.name: field.type for field in struct.fields}
        near = [field.name for field in fields if not _has_timestamps(field.type)]
        others = _columns_at(self.read([".".join((*path, name)) for name in near]), path) if near else {}
        made = {}
        for field in fields:
            column, type_ = columns[field.name], types[field.name]
            if field.name in others:
                made[field.name] = others[field.name]
            elif isinstance(type_, StructType):
                made[field.name] = self._struct(field, column, type_, (*path, field.name), parent_valid)
            else:
                made[field.name] = read_timestamps(self.data, self.stripe, column, type_, parent_valid)
        return made

    def _struct(self, field: Any, column: int, type_: StructType, path: tuple[str, ...], parent_valid: Any) -> Any:
        valid = read_presence(self.data, self.stripe, column, parent_valid)
        inner = child_fields(field.type)
        columns = {one.name: column + 1 + sum(map(count_orc_columns, inner[:place])) for place, one in enumerate(inner)}
        if len({one.name for one in inner}) < len(inner):
            raise spec_error("PRJ001", "the struct has several fields with the same name", found=field.name)
        known = {one.name for one in type_.fields}
        arrays = self.fields([one for one in inner if one.name in known], columns, type_, path, valid)
        made = [pa.field(name, array.type) for name, array in arrays.items()]
        return pa.StructArray.from_arrays(list(arrays.values()), fields=made, mask=pa.array(~valid))


def _repeated_timestamps(type_: Any, column: int, *, repeated: bool = False) -> Iterator[int]:
    """Yield the ORC column ids of the timestamps inside lists and maps.

    Args:
        type_: the Arrow type of a column.
        column: its ORC column id.
        repeated: whether it is inside a list or a map.
    """
    if isinstance(type_, pa.TimestampType) and repeated:
        yield column
    at = column + 1
    for field in child_fields(type_):
        yield from _repeated_timestamps(field.type, at, repeated=repeated or not isinstance(type_, pa.StructType))
        at += count_orc_columns(field)


def _has_timestamps(type_: Any) -> bool:
    """Decide whether a column is a timestamp, or a struct that contains one outside of lists and maps."""
    inner = child_fields(type_) if isinstance(type_, pa.StructType) else []
    return isinstance(type_, pa.TimestampType) or any(_has_timestamps(field.type) for field in inner)


def _columns_at(batch: pa.RecordBatch, path: Sequence[str]) -> dict[str, Any]:
    """Find the columns below a path, by their names."""
    found: Any = batch.to_struct_array()
    for name in path:
        place = found.type.get_field_index(name)
        if place < 0:
            raise spec_error("PRJ001", "the file does not have exactly one struct with the name", found=name)
        found = found.field(place)
    return dict(zip((field.name for field in found.type), found.flatten(), strict=True))
