"""Reading the delete files of a scan, each only once, however many data files it applies to."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from conformance.table_io.encryption import open_data_file
from conformance.table_io.file_access import s3_object
from conformance.table_io.reading import ReadPlan, name_file_in_errors, read_vector, slice_vector
from spec_ref.columnar.deletes.deletion_vector import PositionBitmap, decode_deletion_vector
from spec_ref.columnar.deletes.equality_deletes import EqualityDeleteSet, delete_column_array
from spec_ref.columnar.deletes.position_deletes import (
    DeletedPositions,
    DeletedRows,
    merge_deletes,
    read_position_deletes,
)
from spec_ref.columnar.schemas.column_projection import compile_projection
from spec_ref.core.errors import spec_error
from spec_ref.data_files.reader import open_rows
from spec_ref.deletes.equality_deletes import DeleteColumn, delete_column
from spec_ref.deletes.position_deletes import POSITION_DELETE_FIELDS
from spec_ref.manifests.data_file import DataFile, FileContent
from spec_ref.partitioning.spec import identity_values
from spec_ref.scan_planning.delete_scope import partition_key
from spec_ref.scan_planning.rows import check_cardinality, check_delete_columns, check_vector_entry
from spec_ref.scan_planning.tasks import FileScanTask, ScanDelete

MAX_CACHED_FILES = 256
"""The maximum number of cached delete files, and indexes; the least recently used are dropped."""

MAX_CACHED_PARTS = 16
"""The maximum number of cached parts of Puffin files."""

VECTORS_GAP = 1 << 16
"""The maximum number of bytes between two vectors of one Puffin file that one request reads."""

VECTORS_BYTES = 8 << 20
"""The maximum number of bytes of vectors that are read by one request, unless one vector has more."""

T = TypeVar("T")


def _span(file: DataFile) -> tuple[int, int] | None:
    """Return the start and end of a deletion vector in its file; None for other delete files and impossible values."""
    start, length = file.content_offset, file.content_size_in_bytes
    if not file.is_deletion_vector or file.key_metadata is not None or start is None or length is None:
        return None
    return (start, start + length) if start >= 0 and 0 < length < 1 << 40 and start < 1 << 50 else None


def _coalesce(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Merge spans that are near each other."""
    joined: list[tuple[int, int]] = []
    for start, stop in sorted(spans):
        if joined and start - joined[-1][1] <= VECTORS_GAP and stop - joined[-1][0] <= VECTORS_BYTES:
            joined[-1] = joined[-1][0], max(joined[-1][1], stop)
        else:
            joined.append((start, stop))
    return joined


class _Cache:
    """A cache of results by key; a result is never computed twice at the same time."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._results: OrderedDict[Any, tuple[threading.Lock, list[Any]]] = OrderedDict()

    def get(self, key: Any, compute: Callable[[], T]) -> T:
        with self._lock:
            lock, result = self._results.setdefault(key, (threading.Lock(), []))
            self._results.move_to_end(key)
            while len(self._results) > self._size:
                self._results.popitem(last=False)
        with lock:
            if not result:
                result.append(compute())
            made: T = result[0]
        return made


class DeleteFiles:
    """Reads and caches the delete files for one read of a table."""

    def __init__(self, read_plan: ReadPlan, tasks: Iterable[FileScanTask] = ()) -> None:
        """Prepare for a read.

        Args:
            read_plan: the columns to read.
            tasks: the tasks that will be read with this object, as far as they are known. Their equality deletes are
                indexed together, so that each is indexed once, although different ones apply to each data file.
        """
        self._read_plan = read_plan
        self._files = _Cache(MAX_CACHED_FILES)
        self._indexes = _Cache(MAX_CACHED_FILES)
        self._groups: dict[tuple[Any, ...], dict[str, ScanDelete]] = {}
        self._parts = _Cache(MAX_CACHED_PARTS)
        self._spans: dict[str, list[tuple[int, int]]] = {}
        for task in tasks:
            for delete in task.deletes:
                if span := _span(delete.data_file):
                    self._spans.setdefault(delete.data_file.file_path, []).append(span)
            for scope, deletes in self._scopes(task).items():
                self._groups.setdefault(scope, {}).update({d.data_file.file_path: d for d in deletes})
        self._spans = {path: _coalesce(spans) for path, spans in self._spans.items()}

    # Deletes by position

    def positions(self, task: FileScanTask) -> DeletedRows | None:
        """Return the deleted positions of the task's data file; None if no delete file may apply.

        Raises:
            SpecError: a delete file or deletion vector is damaged, or differs from its manifest entry.
            FileAccessError: a delete file cannot be read.
        """
        path = task.data_file.file_path
        by_position = [d.data_file for d in task.deletes if d.data_file.content is FileContent.POSITION_DELETES]
        vectors = [file for file in by_position if file.is_deletion_vector]
        if vectors:
            return self._vector(vectors[0], path)
        if not by_position:
            return None
        return merge_deletes([self._position_file(file) for file in by_position], path)

    def _position_file(self, file: DataFile) -> DeletedPositions:
        def read() -> DeletedPositions:
            with name_file_in_errors(file.file_path), open_data_file(file) as (opened, decryption):
                rows = open_rows(opened, file.file_format, decryption_properties=decryption)
                project = compile_projection(POSITION_DELETE_FIELDS, rows.columns, {})
                return read_position_deletes(map(project, rows.batches(project.columns)))

        return self._files.get(file.file_path, read)

    def _vector(self, file: DataFile, path: str) -> PositionBitmap:
        with name_file_in_errors(file.file_path):
            check_vector_entry(file, path)
            vector = decode_deletion_vector(self._vector_bytes(file))
            check_cardinality(file, vector)
        return PositionBitmap(vector)

    def _vector_bytes(self, file: DataFile) -> bytes:
        """Read a vector; on S3, with those of other tasks that are near it in the file."""
        span = _span(file)
        source = s3_object(file.file_path) if span is not None else None
        if span is None or source is None:
            return read_vector(file)
        around = (one for one in self._spans.get(file.file_path, ()) if one[0] <= span[0] and span[1] <= one[1])
        start, stop = next(around, span)
        return slice_vector(file, self._parts.get((file.file_path, start), lambda: source.read_range(start, stop)))

    # Deletes by equality

    def indexes(self, task: FileScanTask) -> list[tuple[tuple[DeleteColumn, ...], EqualityDeleteSet]]:
        """Return the equality deletes that may apply to the task's data file, by the columns that they compare.

        They delete rows of files with lower data sequence numbers, which `EqualityDeleteSet.deleted` checks.

        Raises:
            SpecError, FileAccessError: as `positions`.
        """
        made = []
        for scope, own in self._scopes(task).items():
            deletes = list(self._groups.get(scope, {d.data_file.file_path: d for d in own}).values())
            columns = tuple(delete_column(field_id, self._read_plan.schemas) for field_id in scope[0])
            paths = tuple(delete.data_file.file_path for delete in deletes)
            index = self._indexes.get((scope, paths), lambda c=columns, d=deletes: self._index(c, d))  # type: ignore[misc]
            made.append((columns, index))
        return made

    def _scopes(self, task: FileScanTask) -> dict[tuple[Any, ...], list[ScanDelete]]:
        """Group the task's equality deletes by the columns that they compare and the data files that they are for.

        Within a group, the deletes with a greater sequence number than the data file apply (SCN010). Thus one index
        serves data files of all sequence numbers.
        """
        scopes: dict[tuple[Any, ...], list[ScanDelete]] = {}
        for delete in task.deletes:
            file = delete.data_file
            if file.content is FileContent.EQUALITY_DELETES:
                ids = tuple(sorted(set(file.equality_ids or ())))
                if not ids:
                    with name_file_in_errors(file.file_path):
                        raise spec_error(
                            "DFL020", "an equality delete file must have equality_ids", found=file.equality_ids
                        )
                spec = self._read_plan.spec(delete.partition_spec_id)
                partition = () if spec.is_unpartitioned else partition_key(file, spec)
                scopes.setdefault((ids, partition), []).append(delete)
        return scopes

    def _index(self, columns: Sequence[DeleteColumn], deletes: Sequence[ScanDelete]) -> EqualityDeleteSet:
        parts: list[list[Any]] = [[] for _ in columns]
        numbers = []
        for delete in deletes:
            rows = 0
            for batch in self._equality_batches(columns, delete):
                rows += batch.num_rows
                for place, column in enumerate(columns):
                    parts[place].append(delete_column_array(column, batch, place))
            numbers.append(np.full(rows, delete.data_sequence_number, np.int64))
        keys = [pa.chunked_array(part) if part else pa.nulls(0) for part in parts]
        return EqualityDeleteSet([column.type for column in columns], keys, np.concatenate(numbers))

    def _equality_batches(self, columns: Sequence[DeleteColumn], delete: ScanDelete) -> list[pa.RecordBatch]:
        file = delete.data_file
        constants = identity_values(self._read_plan.spec(delete.partition_spec_id), file.partition)
        with name_file_in_errors(file.file_path), open_data_file(file) as (opened, decryption):
            rows = open_rows(opened, file.file_format, self._read_plan.mapping, decryption_properties=decryption)
            check_delete_columns(columns, rows.columns, constants)
            project = compile_projection([column.field for column in columns], rows.columns, constants)
            return [project(batch) for batch in rows.batches(project.columns)]
