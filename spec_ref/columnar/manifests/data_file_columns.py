"""Data files of manifest entries as columns, from which the records are made when they are needed (Data File Fields).

The columns have what files inherit, and no longer need their manifests. When detached, they can be pickled and made
into records in another process.
"""

from __future__ import annotations

import attrs
import numpy as np

from spec_ref.avro_mapping.row_reader import RowReader
from spec_ref.columnar.avro_mapping.rows import read_records
from spec_ref.columnar.encodings.avro.columns import RecordColumn, Rows, detach
from spec_ref.columnar.manifests.nullable_arrays import Nullable
from spec_ref.core.errors import SpecError, error_path
from spec_ref.core.records import evolve
from spec_ref.manifests.data_file import DataFile


@attrs.frozen(eq=False)
class Places:
    """The entries of some files, for errors."""

    files: tuple[str | None, ...]
    """The locations of manifests."""

    file_of: Rows
    """The index of the manifest of each file."""

    numbers: Rows
    """The number of each file's entry in its manifest."""

    def take(self, rows: Rows) -> Places:
        """Select the places of some files.

        Args:
            rows: the numbers of the files.

        Returns:
            Their places.
        """
        used, file_of = np.unique(self.file_of[rows], return_inverse=True)
        return Places(tuple(self.files[place] for place in used.tolist()), file_of, self.numbers[rows])

    def add_to(self, error: SpecError, row: int) -> SpecError:
        """Add the place of a file to an error.

        Args:
            error: the error.
            row: the number of the file.

        Returns:
            The error, with the manifest and the number of the entry.
        """
        problem = error.violation
        path = f"/{self.numbers[row]}{problem.path}"
        return SpecError(attrs.evolve(problem, path=path, file=self.files[self.file_of[row]]))


@attrs.frozen(eq=False)
class DataFileColumns:
    """Data files, a column for each field of their manifests' schema."""

    reader: RowReader
    """The definition, which makes the record of one file."""

    columns: RecordColumn
    first_row_ids: Nullable | None
    """The first row ids, with the inherited ones; None if no file has one."""

    places: Places

    def __len__(self) -> int:
        return self.columns.length

    def take(self, rows: Rows) -> DataFileColumns:
        """Select some files.

        Args:
            rows: their numbers, ascending.

        Returns:
            The selected files.
        """
        ids = None if self.first_row_ids is None else self.first_row_ids.take(rows)
        return DataFileColumns(self.reader, self.columns.take(rows), ids, self.places.take(rows))

    def detach(self) -> DataFileColumns:
        """Copy what the columns refer to in the decompressed blocks of manifests.

        Returns:
            The same files, for keeping or pickling.
        """
        columns = detach(self.columns)
        assert isinstance(columns, RecordColumn)
        return DataFileColumns(self.reader, columns, self.first_row_ids, self.places)

    def paths(self) -> list[str]:
        """List the paths.

        Returns:
            The paths, as stored.

        Raises:
            SpecError: AVR014 if one is not UTF-8.
        """
        place = next(field.place for field in self.reader.fields if field.attribute == "file_path")
        return self.columns.fields[place].to_list()

    def records(self) -> list[DataFile]:
        """Make the records.

        Returns:
            The data files.

        Raises:
            SpecError: the code of a malformed or missing value, with the manifest and the number of the entry.
        """
        ids = None if self.first_row_ids is None else self.first_row_ids.to_list()
        made = read_records(self.reader, self.columns, {} if ids is None else {"first_row_id": ids})
        if made is not None:
            return made
        found = [self._read(row) for row in range(len(self))]  # the definition finds the file that is wrong
        return found if ids is None else [evolve(one, first_row_id=id_) for one, id_ in zip(found, ids, strict=True)]

    def _read(self, row: int) -> DataFile:
        try:
            (values,) = self.columns.take(np.array([row])).to_list()
            with error_path("/data_file"):
                made: DataFile = self.reader(values)
        except SpecError as error:
            raise self.places.add_to(error, row) from error.__cause__
        return made
