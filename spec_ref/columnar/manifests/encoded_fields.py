"""The fields of a manifest's entries as encoded columns, and the places of errors (Manifest Entry Fields)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from spec_ref.avro_mapping.stored_types import split_optional
from spec_ref.columnar.encodings.avro.columns import (
    DecodedColumn,
    RecordColumn,
    Rows,
    decode_lazy,
    split_nulls,
)
from spec_ref.columnar.manifests.nullable_arrays import Longs, Nullable, nullable_numbers
from spec_ref.core.errors import SpecError, spec_error
from spec_ref.core.records import field_rules
from spec_ref.encodings.avro.types import Record
from spec_ref.manifests.data_file import DataFile
from spec_ref.manifests.entry import ManifestEntry
from spec_ref.manifests.manifest import Manifest

ENTRY_RULES = field_rules(ManifestEntry)
"""The rules of the fields of an entry, by attribute."""

FILE_RULES = field_rules(DataFile)
"""The rules of the fields of a data file, by attribute."""


@attrs.frozen
class EntryRun:
    """Consecutive entries of one manifest."""

    manifest: Manifest
    first: int
    """The number of entries of the manifest before the run."""

    count: int
    row_id: int | None
    """The first row id that the entries inherit; None if there is none."""


class EncodedFields:
    """Finds the fields of entries in their columns: entries of a manifest, of a part of it, or of several manifests."""

    def __init__(self, runs: Sequence[EntryRun], batches: Iterable[DecodedColumn]) -> None:
        """Read the columns of some batches.

        Args:
            runs: the manifests, or the parts of manifests, with the entries. They have one Avro schema and one
                partition spec.
            batches: the batches, in order.
        """
        self._runs = tuple(runs)
        self._ends = np.cumsum([run.count for run in runs])
        self.manifest = runs[0].manifest
        """The first of the manifests."""

        self._batches: list[RecordColumn] = []
        for batch in batches:
            root = decode_lazy(batch)
            assert isinstance(root, RecordColumn)
            self._batches.append(root)
        self._length = sum(batch.length for batch in self._batches)
        record = self.manifest.record
        self._places = record.by_id()
        data_file = record.fields[self._places[2]].type
        self._file_record = split_optional(data_file)[0]
        assert isinstance(self._file_record, Record)
        self._file_places = self._file_record.by_id()

    def __len__(self) -> int:
        return self._length

    # Fields

    def _field(self, attribute: str) -> list[DecodedColumn | None]:
        """Find a field of the entries in each batch; None if the file does not have it."""
        place = self._places.get(ENTRY_RULES[attribute].id or 0)
        return [None if place is None else batch.fields[place] for batch in self._batches]

    @functools.cached_property
    def _files(self) -> list[RecordColumn]:
        made: list[RecordColumn] = []
        for column in self._field("data_file"):
            assert column is not None
            rows, files = split_nulls(column)
            if not isinstance(files, RecordColumn) or (rows is not None and len(rows) < column.length):
                first = 0 if rows is None else int(np.setdiff1d(np.arange(column.length), rows)[0])
                start = sum(files.length for files in made)
                raise self.with_location(
                    spec_error("MAN015", "data_file is null", path="/data_file", aspect="null"), start + first
                )
            made.append(files)
        return made

    def _file_field(self, attribute: str) -> list[DecodedColumn | None]:
        place = self._file_places.get(FILE_RULES[attribute].id or 0)
        return [None if place is None else files.fields[place] for files in self._files]

    def locate(self, row: int) -> tuple[Manifest, int]:
        """Find the manifest of an entry, and its number there.

        Args:
            row: the number of the entry in these columns.

        Returns:
            The manifest and the number of the entry in it.
        """
        run = int(np.searchsorted(self._ends, row, side="right"))
        found = self._runs[run]
        return found.manifest, found.first + row - (int(self._ends[run]) - found.count)

    def with_location(self, error: SpecError, row: int) -> SpecError:
        """Add the manifest and the number of an entry to an error.

        Args:
            error: the error.
            row: the number of the entry in these columns.

        Returns:
            The error with the place.
        """
        manifest, number = self.locate(row)
        problem = error.violation
        return SpecError(attrs.evolve(problem, path=f"/{number}{problem.path}", file=manifest.file))

    def _by_run(self, value: Callable[[EntryRun], Any]) -> npt.NDArray[Any]:
        """Repeat a value of each manifest, or of each part, for its entries."""
        return np.repeat([value(run) for run in self._runs], [run.count for run in self._runs])

    def _numbers(self, columns: Sequence[DecodedColumn | None]) -> Nullable:
        """Read a field of integers over all batches."""
        found = [nullable_numbers(column, batch.length) for column, batch in zip(columns, self._batches, strict=True)]
        if len(found) == 1:
            return found[0]
        none = np.zeros(0, np.int64), np.zeros(0, np.bool_)
        values = np.concatenate([none[0], *(one.values for one in found)])
        return Nullable(values, np.concatenate([none[1], *(one.valid for one in found)]))

    def _required(self, attribute: str) -> Longs:
        numbers = self._numbers(self._file_field(attribute))
        if not numbers.valid.all():
            name = FILE_RULES[attribute].name
            error = spec_error(
                FILE_RULES[attribute].requirement,
                f"{name} is null",
                expected=f"a {name}",
                path=f"/data_file/{name}",
                aspect="null",
            )
            raise self.with_location(error, int(np.argmin(numbers.valid)))
        return numbers.values

    def _values(self, columns: Sequence[DecodedColumn | None], rows: Rows | None) -> list[Any]:
        made: list[Any] = []
        for column, batch, chosen in zip(columns, self._batches, self._by_batch(rows), strict=True):
            if column is None:
                made += [None] * (batch.length if chosen is None else len(chosen))
            else:
                made += (column if chosen is None else column.take(chosen)).to_list()
        return made

    def _by_batch(self, rows: Rows | None) -> Iterator[Rows | None]:
        start = 0
        for batch in self._batches:
            end = start + batch.length
            yield None if rows is None else rows[(rows >= start) & (rows < end)] - start
            start = end
