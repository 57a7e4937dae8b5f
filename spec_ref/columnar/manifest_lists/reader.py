"""Read a manifest list into columns: the kernel for `spec_ref.manifest_lists.reader.read_manifest_list`.

Planning compares the specs, counts and field summaries of all manifests, and makes records of the selected ones only.
What the definition refuses is left to it, so that errors are the same.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from weakref import WeakKeyDictionary

import attrs
import numpy as np
import numpy.typing as npt

from spec_ref.avro_mapping.row_reader import RowReader
from spec_ref.avro_mapping.rows import RecordStruct
from spec_ref.avro_mapping.stored_types import split_optional
from spec_ref.columnar.avro_mapping.rows import read_records
from spec_ref.columnar.encodings.avro.batches import ColumnDecoder, DecompressedBlock, batches
from spec_ref.columnar.encodings.avro.columns import (
    BytesColumn,
    DecodedColumn,
    ListColumn,
    NumberColumn,
    RecordColumn,
    Rows,
    UnionColumn,
    split_nulls,
)
from spec_ref.columnar.manifests.nullable_arrays import Bounds, Longs, Mask, Nullable, nullable_numbers
from spec_ref.core.errors import SpecError, spec_error
from spec_ref.core.versions import NEWEST, FormatVersion
from spec_ref.encodings.avro.container import Data, open_container
from spec_ref.encodings.avro.types import Array, Record
from spec_ref.manifest_lists.manifest_file import FieldSummary, ManifestFile
from spec_ref.manifest_lists.reader import REQUIREMENT, ManifestListSchema, manifest_list_schema

FEW_MANIFESTS = 24
"""At most this many manifests are read one at a time, which is as fast."""


@attrs.frozen(eq=False)
class SummaryColumn:
    """The summaries of one partition field over the manifests of a list."""

    contains_null: Mask
    contains_nan: Nullable
    lower_bound: Bounds
    upper_bound: Bounds


@attrs.frozen
class _ListDecoder:
    """What is derived from the Avro schema once for all lists that share it."""

    manifests: RowReader
    summaries: RowReader | None
    """None if the list has no field summaries."""

    column_decoder: ColumnDecoder


_DECODERS: WeakKeyDictionary[ManifestListSchema, _ListDecoder] = WeakKeyDictionary()


def _decoder(list_schema: ManifestListSchema) -> _ListDecoder:
    found = _DECODERS.get(list_schema)
    if found is None:
        found = _DECODERS[list_schema] = _new_decoder(list_schema)
    return found


def _new_decoder(list_schema: ManifestListSchema) -> _ListDecoder:
    reader, summaries = list_schema.reader, None
    for field in reader.fields:
        if field.attribute == "partitions":
            array = split_optional(list_schema.record.fields[field.place].type)[0]
            assert isinstance(array, Array)
            element = split_optional(array.items)[0]
            assert isinstance(element, Record)
            summaries = RowReader(FieldSummary, element, reader.version)
    path = next(field.place for field in reader.fields if field.attribute == "manifest_path")
    return _ListDecoder(reader, summaries, ColumnDecoder(list_schema.record, (list_schema.record.fields[path].name,)))


def list_columns(data: Data, *, format_version: FormatVersion = NEWEST) -> list[ListColumns] | None:
    """Read a manifest list into columns, a batch of blocks at a time.

    Args:
        data: the content of the file.
        format_version: the format version of the table, as for `read_manifest_list`.

    Returns:
        The batches; None if the definition has to read the list, because it refuses it, or there are few manifests.
    """
    try:
        container = open_container(data, REQUIREMENT)
        if container.count <= FEW_MANIFESTS:
            return None
        list_decoder = _decoder(manifest_list_schema(container.metadata["avro.schema"], format_version))
        blocks = (DecompressedBlock(count, payload) for count, payload in container.payloads())
        made = [
            ListColumns(list_decoder, list_decoder.column_decoder.decode(batch, REQUIREMENT))
            for batch in batches(blocks)
        ]
        for columns in made:
            columns.check()
    except SpecError:
        return None
    return made


class ListColumns:
    """Manifests of a list, in columns. Every property is an array with an item per manifest, in their order."""

    def __init__(self, list_decoder: _ListDecoder, column: DecodedColumn) -> None:
        """Read the columns of a batch.

        Args:
            list_decoder: how lists of the Avro schema are read.
            column: the decoded batch.
        """
        self._list_decoder = list_decoder
        assert isinstance(column, RecordColumn)
        self._column = column
        self._places = {field.attribute: field.place for field in list_decoder.manifests.fields}

    def __len__(self) -> int:
        return self._column.length

    def check(self) -> None:
        """Check every value as `read_manifest_list` does.

        Raises:
            SpecError: the code of a required value that is null or of a number that is not allowed; MLS016 if a
                summary is null; AVR014 for text that is not UTF-8. The error does not state the place.
        """
        _check_text(self._column)
        _check_fields(self._list_decoder.manifests, self._column)
        if self._list_decoder.summaries is not None:
            for _, items in self._slots:
                _check_fields(self._list_decoder.summaries, _not_null(items))

    # Numbers

    def _numbers(self, attribute: str) -> Nullable:
        place = self._places.get(attribute)
        return nullable_numbers(None if place is None else self._column.fields[place], len(self))

    @property
    def content(self) -> Longs:
        """`ManifestContent` of each manifest; data in lists of v1."""
        found = self._numbers("content")
        return np.where(found.valid, found.values, int(self._list_decoder.manifests.missing.get("content", 0)))

    @property
    def partition_spec_id(self) -> Longs:
        return self._numbers("partition_spec_id").values

    @property
    def may_have_live_files(self) -> Mask:
        """Which manifests may list files that scans read, as `ManifestFile.may_have_live_files` does."""
        added, existing = self._numbers("added_files_count"), self._numbers("existing_files_count")
        live: Mask = ~added.valid | (added.values > 0) | ~existing.valid | (existing.values > 0)
        return live

    # Summaries

    @functools.cached_property
    def _summary_lists(self) -> tuple[Rows | None, DecodedColumn] | None:
        place = self._places.get("partitions")
        return None if place is None else split_nulls(self._column.fields[place])

    @property
    def _slots(self) -> Sequence[tuple[Rows | None, DecodedColumn]]:
        found = self._summary_lists
        return found[1].slots if found is not None and isinstance(found[1], ListColumn) else ()

    @functools.cached_property
    def _ordered_slots(self) -> list[tuple[Rows, Rows, DecodedColumn]]:
        """The manifests of each slot of field summaries, and the index of each summary in its manifest."""
        holders = None if self._summary_lists is None else self._summary_lists[0]
        before = np.zeros(len(self), np.intp)
        made = []
        for rows, items in self._slots:
            manifests = np.arange(items.length) if rows is None else rows
            manifests = manifests if holders is None else holders[manifests]
            repeated = np.arange(items.length) - np.searchsorted(manifests, manifests)
            made.append((manifests, before[manifests] + repeated, items))
            before += np.bincount(manifests, minlength=len(self))
        return made

    @functools.cached_property
    def summary_count(self) -> Nullable:
        """The number of field summaries of each manifest; null if they are missing."""
        counts, valid = np.zeros(len(self), np.int64), np.zeros(len(self), np.bool_)
        if self._summary_lists is not None:
            holders, lists = self._summary_lists
            if isinstance(lists, ListColumn):
                valid[slice(None) if holders is None else holders] = True
        for manifests, _, _ in self._ordered_slots:
            counts += np.bincount(manifests, minlength=len(self))
        return Nullable(counts, valid)

    def summaries(self, index: int) -> SummaryColumn:
        """Read the summaries of one partition field.

        Args:
            index: the index of the field in its partition spec.

        Returns:
            The summaries; those of manifests without a summary at the index have no meaning.

        Raises:
            SpecError: MLS016 where a summary is null.
        """
        assert self._list_decoder.summaries is not None
        of_field = {field.attribute: field.place for field in self._list_decoder.summaries.fields}
        parts = []
        for manifests, places, items in self._ordered_slots:
            chosen = np.nonzero(places == index)[0]
            everything = len(chosen) == items.length
            found = _not_null(items if everything else items.take(chosen))
            parts.append((manifests if everything else manifests[chosen], found))
        columns = {
            attribute: [(rows, record.fields[at]) for rows, record in parts] for attribute, at in of_field.items()
        }
        flags = {name: self._flags(columns.get(name, [])) for name in ("contains_null", "contains_nan")}
        bounds = {name: self._bounds(columns.get(name, [])) for name in ("lower_bound", "upper_bound")}
        return SummaryColumn(contains_null=flags["contains_null"].values, contains_nan=flags["contains_nan"], **bounds)

    def _flags(self, parts: Sequence[tuple[Rows, DecodedColumn]]) -> Nullable:
        values, valid = np.zeros(len(self), np.bool_), np.zeros(len(self), np.bool_)
        for rows, column in parts:
            found = nullable_numbers(column, len(rows))
            values[rows], valid[rows] = found.values != 0, found.valid
        return Nullable(values, valid)

    def _bounds(self, parts: Sequence[tuple[Rows, DecodedColumn]]) -> Bounds:
        part, offsets, lengths = (np.zeros(len(self), np.int64) for _ in range(3))
        valid = np.zeros(len(self), np.bool_)
        data: list[bytes] = []
        for rows, column in parts:
            known, values = split_nulls(column)
            if isinstance(values, BytesColumn):
                here = rows if known is None else rows[known]
                part[here], valid[here] = len(data), True
                offsets[here], lengths[here] = values.offsets, values.lengths
                data.append(values.data)
        return Bounds(tuple(data), part, offsets, lengths, valid)

    # Records

    def manifests(self, rows: npt.NDArray[np.intp]) -> list[ManifestFile]:
        """Make the records of some manifests.

        Args:
            rows: the numbers of the manifests, ascending.

        Returns:
            The records, as `read_manifest_list` makes them.
        """
        made = read_records(self._list_decoder.manifests, self._column.take(rows))
        assert made is not None  # every value was checked
        return made


def _not_null(items: DecodedColumn) -> RecordColumn:
    rows, records = split_nulls(items)
    if not isinstance(records, RecordColumn) or (rows is not None and len(rows) < items.length):
        raise spec_error("MLS016", "an element is null", aspect="null-inside")
    return records


def _check_fields(reader: RowReader, column: RecordColumn) -> None:
    """Refuse null where a field is required, and numbers that the definition refuses."""
    for field in reader.fields:
        rows, values = split_nulls(column.fields[field.place])
        if field.required and rows is not None and len(rows) < column.length:
            raise spec_error(field.rule.requirement, f"{field.rule.name} is null", aspect="null")
        if field.convert is None or isinstance(field.rule.type, RecordStruct):
            continue
        if isinstance(values, NumberColumn):
            for value in np.unique(values.values).tolist():
                field.convert(value)


def _check_text(column: DecodedColumn) -> None:
    """Refuse text that is not UTF-8, at any depth."""
    match column:
        case BytesColumn(text=True) if not b"".join(column.to_bytes()).isascii():
            column.to_list()
        case RecordColumn():
            for field in column.fields:
                _check_text(field)
        case UnionColumn():
            for _, branch in column.branches:
                _check_text(branch)
        case ListColumn():
            for _, items in column.slots:
                _check_text(items)
