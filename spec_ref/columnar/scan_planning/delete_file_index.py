"""The deletes of a snapshot, indexed by the data files that they may apply to: the kernel for `applicable_deletes`.

`spec_ref.scan_planning.delete_scope.applicable_deletes` compares every delete with every data file; the index compares
only those of one data file, partition or spec, and of these only the ones that are new enough.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterator, Mapping

import attrs

from spec_ref.data_types.types import Type
from spec_ref.manifests.data_file import DataFile, FileContent
from spec_ref.partitioning.spec import PartitionSpec
from spec_ref.scan_planning import delete_scope
from spec_ref.scan_planning.delete_scope import PartitionKey
from spec_ref.scan_planning.tasks import ScanDelete


@attrs.frozen
class _Indexed:
    """A delete in the index."""

    place: int
    """Its place among all deletes."""

    delete: ScanDelete
    result: ScanDelete
    """The form in which `DeleteFileIndex.deletes_for` returns it."""


@attrs.define
class _Queue:
    """Deletes of one scope, by their data sequence numbers."""

    numbers: list[int] = attrs.field(factory=list)
    deletes: list[_Indexed] = attrs.field(factory=list)

    def add(self, indexed: _Indexed) -> None:
        number = indexed.delete.data_sequence_number
        at = bisect.bisect_right(self.numbers, number)
        self.numbers.insert(at, number)
        self.deletes.insert(at, indexed)

    def at_least(self, number: int) -> list[_Indexed]:
        return self.deletes[bisect.bisect_left(self.numbers, number) :]


class DeleteFileIndex:
    """The deletes of a snapshot, indexed by data file, partition or spec; see `applicable_deletes`."""

    def __init__(
        self,
        specs: Mapping[int, PartitionSpec],
        types: Mapping[int, Type],
        result: Callable[[ScanDelete], ScanDelete] = lambda delete: delete,
    ) -> None:
        """Make an empty index.

        Args:
            specs: the table's partition specs, by id.
            types: the types that `column_types` returns.
            result: converts a delete to the form that `deletes_for` returns.
        """
        self._result = result
        self._specs = specs
        self._types = types
        self._vectors: dict[str, list[_Indexed]] = {}
        self._of_file: dict[str, _Queue] = {}
        self._of_partition: dict[PartitionKey, _Queue] = {}
        self._equality: dict[PartitionKey, _Queue] = {}
        self._everywhere = _Queue()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def has_equality_deletes(self) -> bool:
        """Whether there are equality deletes, so that bounds of data files can rule deletes out."""
        return bool(self._equality or self._everywhere.deletes)

    def add(self, delete: ScanDelete) -> None:
        """Add a delete file or deletion vector.

        Args:
            delete: the delete.

        Raises:
            SpecError: DFL020 or DFL023, as `check_delete`.
        """
        delete_scope.check_delete(delete.data_file)
        indexed = _Indexed(self._count, delete, self._result(delete))
        self._count += 1
        found, spec = delete.data_file, self._specs[delete.partition_spec_id]
        referenced = found.referenced_data_file
        if found.content is FileContent.EQUALITY_DELETES:
            queue = self._everywhere
            if not spec.is_unpartitioned:
                queue = self._equality.setdefault(delete_scope.partition_key(found, spec), _Queue())
            queue.add(indexed)
        elif found.is_deletion_vector:
            assert referenced is not None
            self._vectors.setdefault(referenced, []).append(indexed)
        elif referenced is not None:
            self._of_file.setdefault(referenced, _Queue()).add(indexed)
        else:
            self._of_partition.setdefault(delete_scope.partition_key(found, spec), _Queue()).add(indexed)

    def deletes_for(
        self, data_file: DataFile, data_sequence_number: int, spec: PartitionSpec
    ) -> tuple[ScanDelete, ...]:
        """Select the deletes that have to be applied to a data file.

        Deletes are left out if the bounds of both files show that they delete no row of the data file (SCN005).

        Args:
            data_file: the data file; with its counts and bounds, if there are equality deletes.
            data_sequence_number: its data sequence number.
            spec: its partition spec.

        Returns:
            The deletes, in the order in which they were added.

        Raises:
            SpecError: DEL003 if several deletion vectors apply.
        """
        if not self._count:
            return ()
        partition = delete_scope.partition_key(data_file, spec)
        found = [
            *self._positions(data_file, data_sequence_number, spec, partition),
            *self._equal(data_file, data_sequence_number, partition),
        ]
        found.sort(key=lambda one: one.place)
        return tuple(one.result for one in found)

    def _positions(
        self, data_file: DataFile, data_sequence_number: int, spec: PartitionSpec, partition: PartitionKey
    ) -> Iterator[_Indexed]:
        path = data_file.file_path
        vectors = [
            one
            for one in self._vectors.get(path, ())
            if self._applies(one.delete, data_file, data_sequence_number, spec)
        ]
        delete_scope.check_vectors([one.delete for one in vectors])
        if vectors:
            yield vectors[0]  # includes the deletes of position delete files (DEL011)
            return
        if path in self._of_file:
            for one in self._of_file[path].at_least(data_sequence_number):
                if self._applies(one.delete, data_file, data_sequence_number, spec):
                    yield one
        if partition in self._of_partition:
            for one in self._of_partition[partition].at_least(data_sequence_number):
                if delete_scope.may_name(one.delete.data_file, path):
                    yield one

    def _applies(self, delete: ScanDelete, data_file: DataFile, data_sequence_number: int, spec: PartitionSpec) -> bool:
        own = self._specs[delete.partition_spec_id]
        return delete_scope.may_apply(
            delete.data_file, delete.data_sequence_number, own, data_file, data_sequence_number, spec, self._types
        )

    def _equal(self, data_file: DataFile, data_sequence_number: int, partition: PartitionKey) -> Iterator[_Indexed]:
        own = self._equality.get(partition)
        for queue in (own, self._everywhere):
            if queue is not None:
                for one in queue.at_least(data_sequence_number + 1):
                    if delete_scope.may_share_rows(one.delete.data_file, data_file, self._types):
                        yield one
