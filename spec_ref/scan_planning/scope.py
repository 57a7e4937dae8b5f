"""Which deletes apply to which data files: the scope rules (Scan Planning).

A deletion vector or position delete file applies to data that is not newer than it is, in the same partition of the
same spec; an equality delete file to data that is older, in the same partition or, where its spec is unpartitioned, in
all. `DeleteIndex` finds them without looking at each delete for each data file.
"""

from __future__ import annotations

import bisect
import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import attrs

from spec_ref.errors import violation
from spec_ref.expressions.bound import BoundReference
from spec_ref.expressions.metrics import Metrics, column_facts
from spec_ref.expressions.outcomes import Facts, usable_bounds
from spec_ref.manifests.data_file import DataFile, FileContent
from spec_ref.partitioning.spec import PartitionSpec
from spec_ref.scan_planning.tasks import ScanDelete
from spec_ref.schemas.reserved_ids import BY_NAME
from spec_ref.schemas.types import Type, is_primitive

Partition: TypeAlias = tuple[int, tuple[Any, ...]]
"""The id of a spec and its values, such that equal partitions are equal tuples."""


FILE_PATH = BY_NAME["file_path"].id
"""The id of the column of position delete files that names the data files."""


def partition_of(data_file: DataFile, spec: PartitionSpec) -> Partition:
    """The partition of a file. The values of unknown transforms count like all others (SCN014)."""
    return spec.spec_id, tuple(_comparable(data_file.partition.get(field.field_id)) for field in spec.fields)


def _comparable(value: Any) -> Any:
    """A partition value as what is compared: a float as its bits, with one NaN for all of them (SCN013)."""
    if not isinstance(value, float):
        return value
    return "NaN" if value != value else struct.pack(">d", value)


def applies(
    delete: ScanDelete, data_file: DataFile, number: int, spec: PartitionSpec, delete_spec: PartitionSpec
) -> bool:
    """Whether a delete has to be applied to a data file, as far as the file's other deletes do not decide.

    Deletion vectors: SCN008; position deletes: SCN009, SCN012; equality deletes: SCN010, SCN011.

    Args:
        delete: the delete file or deletion vector.
        data_file: the data file.
        number: its data sequence number.
        spec: its partition spec.
        delete_spec: the partition spec of the delete.
    """
    found = delete.data_file
    same = partition_of(found, delete_spec) == partition_of(data_file, spec)
    if found.content is FileContent.EQUALITY_DELETES:
        return number < delete.data_sequence_number and (same or delete_spec.unpartitioned)
    if found.referenced_data_file not in (None, data_file.file_path):
        return False
    return number <= delete.data_sequence_number and same


@attrs.frozen
class _Indexed:
    """A delete, and what is told of it."""

    place: int
    """Its place among all deletes."""

    delete: ScanDelete
    told: ScanDelete


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


class DeleteIndex:
    """The deletes of a snapshot, by what they may apply to."""

    def __init__(
        self,
        specs: Mapping[int, PartitionSpec],
        types: Mapping[int, Type],
        told: Callable[[ScanDelete], ScanDelete] = lambda delete: delete,
    ) -> None:
        """Begin an empty index.

        Args:
            specs: the table's partition specs.
            types: the types of all columns that the table ever had, dropped ones too, by id.
            told: makes of a delete what `deletes_of` gives.
        """
        self._told = told
        self._specs = specs
        self._types = types
        self._vectors: dict[str, list[_Indexed]] = {}
        self._of_file: dict[str, _Queue] = {}
        self._of_partition: dict[Partition, _Queue] = {}
        self._equality: dict[Partition, _Queue] = {}
        self._everywhere = _Queue()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def has_equality_deletes(self) -> bool:
        """Whether bounds of data files can tell that a delete file has nothing for them."""
        return bool(self._equality or self._everywhere.deletes)

    def add(self, delete: ScanDelete) -> None:
        """Take up a delete file or deletion vector.

        Raises:
            SpecError: DFL023, for a deletion vector that does not say which data file it is for; DFL020, for equality
                deletes that do not say which columns they compare.
        """
        indexed = _Indexed(self._count, delete, self._told(delete))
        self._count += 1
        found, spec = delete.data_file, self._specs[delete.partition_spec_id]
        referenced = found.referenced_data_file
        if found.content is FileContent.EQUALITY_DELETES:
            if not found.equality_ids:
                raise violation("DFL020", "equality deletes without columns to compare", path="/data_file/equality_ids")
            queue = self._everywhere
            if not spec.unpartitioned:
                queue = self._equality.setdefault(partition_of(found, spec), _Queue())
            queue.add(indexed)
        elif found.is_deletion_vector:
            if referenced is None:
                raise violation(
                    "DFL023", "a deletion vector without its data file", path="/data_file/referenced_data_file"
                )
            self._vectors.setdefault(referenced, []).append(indexed)
        elif referenced is not None:
            self._of_file.setdefault(referenced, _Queue()).add(indexed)
        else:
            self._of_partition.setdefault(partition_of(found, spec), _Queue()).add(indexed)

    def deletes_of(self, data_file: DataFile, number: int, spec: PartitionSpec) -> tuple[ScanDelete, ...]:
        """The deletes that have to be applied to a data file, in the order in which they were added.

        Deletes that the bounds of both show to have nothing for the file are left out (SCN005).

        Args:
            data_file: the data file; with its counts and bounds, if there are equality deletes.
            number: its data sequence number.
            spec: its partition spec.

        Raises:
            SpecError: DEL003, if several deletion vectors apply.
        """
        if not self._count:
            return ()
        partition = partition_of(data_file, spec)
        found = [*self._positions(data_file, number, spec, partition), *self._equal(data_file, number, partition)]
        found.sort(key=lambda one: one.place)
        return tuple(one.told for one in found)

    def _positions(
        self, data_file: DataFile, number: int, spec: PartitionSpec, partition: Partition
    ) -> Iterator[_Indexed]:
        path = data_file.file_path
        vectors = [one for one in self._vectors.get(path, ()) if self._applies(one.delete, data_file, number, spec)]
        if len(vectors) > 1:
            found = [one.delete.data_file.file_path for one in vectors]
            raise violation("DEL003", "a data file has several deletion vectors", found=found, expected="one")
        if vectors:
            yield vectors[0]  # it has all deletes of the position delete files (DEL011)
            return
        if path in self._of_file:
            for one in self._of_file[path].at_least(number):
                if self._applies(one.delete, data_file, number, spec):
                    yield one
        if partition in self._of_partition:
            for one in self._of_partition[partition].at_least(number):
                if _may_name(one.delete.data_file, path):
                    yield one

    def _applies(self, delete: ScanDelete, data_file: DataFile, number: int, spec: PartitionSpec) -> bool:
        return applies(delete, data_file, number, spec, self._specs[delete.partition_spec_id])

    def _equal(self, data_file: DataFile, number: int, partition: Partition) -> Iterator[_Indexed]:
        own = self._equality.get(partition)
        for queue in (own, self._everywhere):
            if queue is not None:
                for one in queue.at_least(number + 1):
                    if self._may_equal(one.delete.data_file, data_file):
                        yield one

    def _may_equal(self, delete: DataFile, data: DataFile) -> bool:
        """Whether some row may have the values of some delete, by the counts and bounds of the compared columns."""
        left, right = metrics_of(delete), metrics_of(data)
        for field_id in delete.equality_ids or ():
            type_ = self._types.get(field_id)
            if type_ is None or not is_primitive(type_):
                continue
            column = BoundReference((field_id,), ("",), type_)
            if not _may_share(column_facts(column, left), column_facts(column, right)):
                return False
        return True


def _may_share(left: Facts, right: Facts) -> bool:
    """Whether two columns may have a value in common; null is a value here (DEL020)."""
    if (left.null and right.null) or (left.nan and right.nan):
        return True
    if not (left.ordinary and right.ordinary):
        return False
    left, right = usable_bounds(left), usable_bounds(right)
    below = left.upper is not None and right.lower is not None and left.upper < right.lower
    above = left.lower is not None and right.upper is not None and left.lower > right.upper
    return not (below or above)


def _may_name(delete: DataFile, path: str) -> bool:
    """Whether position deletes may be of a file, by the bounds of the paths that they name."""
    name = path.encode()
    lower = (delete.lower_bounds or {}).get(FILE_PATH)
    upper = (delete.upper_bounds or {}).get(FILE_PATH)
    if lower is not None and upper is not None and lower > upper:
        return True
    return (lower is None or lower <= name) and (upper is None or name <= upper)


def metrics_of(data_file: DataFile) -> Metrics:
    """The counts and bounds of a file."""
    return Metrics(
        record_count=data_file.record_count,
        value_counts=data_file.value_counts,
        null_value_counts=data_file.null_value_counts,
        nan_value_counts=data_file.nan_value_counts,
        lower_bounds=data_file.lower_bounds,
        upper_bounds=data_file.upper_bounds,
    )
