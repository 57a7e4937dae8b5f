"""Scan tasks in columns, from which tasks are made when they are needed, also in another process (Scan Planning)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from spec_ref.columnar.avro_mapping.rows import make_records
from spec_ref.columnar.encodings.avro.columns import Rows
from spec_ref.columnar.manifests.data_file_columns import DataFileColumns
from spec_ref.expressions.bound import BoundPredicate
from spec_ref.manifests.data_file import DataFile
from spec_ref.scan_planning.tasks import FileScanTask, ScanDelete


@attrs.frozen(eq=False, kw_only=True)
class TaskBatch:
    """Scan tasks of data files of one partition spec, in the order of the manifests; pickled only when detached."""

    data_files: DataFileColumns | Sequence[DataFile]
    partition_spec_id: int
    data_sequence_numbers: npt.NDArray[np.int64]
    file_sequence_numbers: npt.NDArray[np.int64]
    residuals: Sequence[BoundPredicate]
    residual_of: Rows
    """The index of each task's residual filter."""

    deletes: Sequence[tuple[ScanDelete, ...]] | None
    """The deletes of each task; None if no task has any."""

    def __len__(self) -> int:
        return len(self.residual_of)

    def slice(self, start: int, stop: int) -> TaskBatch:
        """Select consecutive tasks.

        Args:
            start: the number of the first task.
            stop: the number after that of the last task.

        Returns:
            The selected tasks.
        """
        files = self.data_files
        here = slice(start, stop)
        return attrs.evolve(
            self,
            data_files=files.take(np.arange(start, stop)) if isinstance(files, DataFileColumns) else files[here],
            data_sequence_numbers=self.data_sequence_numbers[here],
            file_sequence_numbers=self.file_sequence_numbers[here],
            residual_of=self.residual_of[here],
            deletes=None if self.deletes is None else self.deletes[here],
        )

    def detach(self) -> TaskBatch:
        """Copy what the tasks refer to in the decompressed blocks of manifests.

        Returns:
            The same tasks, for keeping or pickling.
        """
        files = self.data_files
        return attrs.evolve(self, data_files=files.detach()) if isinstance(files, DataFileColumns) else self

    def with_records(self) -> TaskBatch:
        """Make the records of the data files now, which takes less time for many small slices.

        Returns:
            The same tasks.

        Raises:
            SpecError: as `tasks`.
        """
        files = self.data_files
        return attrs.evolve(self, data_files=files.records()) if isinstance(files, DataFileColumns) else self

    def tasks(self) -> list[FileScanTask]:
        """Make the tasks.

        Returns:
            The tasks.

        Raises:
            SpecError: the code of a malformed or missing value of a data file, with the manifest and the number of the
                entry.
        """
        files = self.with_records().data_files
        assert not isinstance(files, DataFileColumns)
        attributes: dict[str, Iterable[Any]] = {
            "data_file": files,
            "data_sequence_number": self.data_sequence_numbers.tolist(),
            "file_sequence_number": self.file_sequence_numbers.tolist(),
            "residual": map(self.residuals.__getitem__, self.residual_of.tolist()),
        }
        if self.deletes is not None:
            attributes["deletes"] = self.deletes
        return make_records(
            FileScanTask, len(self), attributes, {"partition_spec_id": self.partition_spec_id, "deletes": ()}
        )
