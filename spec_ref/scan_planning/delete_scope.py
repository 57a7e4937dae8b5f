"""The scope rules: which deletes apply to which data files (Scan Planning).

A deletion vector or position delete file applies to data that is not newer than the deletes, in the same partition of
the same spec; an equality delete file to data that is older, in the same partition or, if its spec is unpartitioned, in
all partitions. `may_apply` is the rule for one delete and one data file: planning, the conflict checks of commits, the
invariants of the race explorer and the validator call it. `mismatches` is the same rule with the reasons, and
`applicable_deletes` selects the deletes of a snapshot for a data file. `spec_ref.columnar.scan_planning` gives the same
answers faster: `delete_file_index` for many data files, `delete_scope` for the entries of whole manifests.
"""

from __future__ import annotations

import enum
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from spec_ref.core.errors import spec_error
from spec_ref.data_types.types import Type, is_primitive
from spec_ref.expressions.bound import BoundReference
from spec_ref.expressions.metrics_evaluation import column_stats
from spec_ref.expressions.stats_evaluation import TermStats, usable_bounds
from spec_ref.manifests.data_file import DataFile, FileContent
from spec_ref.manifests.metrics import column_metrics
from spec_ref.partitioning.spec import PartitionSpec
from spec_ref.scan_planning.tasks import ScanDelete
from spec_ref.schemas.latest_columns import latest_columns
from spec_ref.schemas.reserved_field_ids import BY_NAME
from spec_ref.table_metadata.metadata import TableMetadata

PartitionKey: TypeAlias = tuple[int, tuple[Any, ...]]
"""The id of a spec and the partition values, in a form in which equal partitions are equal tuples."""

FILE_PATH = BY_NAME["file_path"].id
"""The id of the column of position delete files that names the data files."""


def partition_key(data_file: DataFile, spec: PartitionSpec) -> PartitionKey:
    """Make a key for the partition of a file. Values of unknown transforms count like all others (SCN014).

    Args:
        data_file: a data or delete file.
        spec: its partition spec.

    Returns:
        The key.
    """
    return spec.spec_id, tuple(comparable_value(data_file.partition.get(field.field_id)) for field in spec.fields)


def comparable_value(value: Any) -> Any:
    """Convert a partition value to a form that equal values share: a float to its bits, all NaNs to one (SCN013).

    Args:
        value: a partition value, or None.

    Returns:
        The comparable form.
    """
    if not isinstance(value, float):
        return value
    return "NaN" if value != value else struct.pack(">d", value)


def is_old_enough(data_sequence_number: int | None, content: FileContent, delete_sequence_number: int | None) -> bool:
    """Decide whether data is old enough for a delete to apply (SCN008 to SCN010).

    Args:
        data_sequence_number: the data sequence number of the data file; None if it is not known, so that it may be old
            enough.
        content: the kind of the delete file.
        delete_sequence_number: the data sequence number of the delete; None as above.

    Returns:
        Whether it is, or may be.
    """
    if data_sequence_number is None or delete_sequence_number is None:
        return True
    return (
        data_sequence_number < delete_sequence_number
        if content is FileContent.EQUALITY_DELETES
        else data_sequence_number <= delete_sequence_number
    )


class Mismatch(enum.Enum):
    """A reason why a delete does not apply to a data file."""

    SEQUENCE_NUMBER = "sequence-number"
    """The data is newer than the delete, or as new as an equality delete (SCN008 to SCN010)."""

    PARTITION = "partition"
    """The delete is for another partition, or for a partition of another spec (SCN008 to SCN011)."""

    DATA_FILE = "data-file"
    """The delete is for another data file (SCN008, SCN009)."""

    VALUES = "values"
    """No row of the data file has the values of the equality delete, by the counts and bounds of both (SCN005)."""


def may_apply(
    delete: DataFile,
    delete_sequence_number: int | None,
    delete_spec: PartitionSpec,
    data_file: DataFile,
    data_sequence_number: int | None,
    spec: PartitionSpec,
    types: Mapping[int, Type],
) -> bool:
    """Decide whether a delete may delete rows of a data file.

    Deletion vectors: SCN008; position deletes: SCN009, SCN012; equality deletes: SCN010, SCN011. Deletes whose counts
    and bounds exclude every row of the file do not apply (SCN005). That a deletion vector replaces the position delete
    files of its data file (DEL011) is not considered.

    Args:
        delete: the delete file or deletion vector.
        delete_sequence_number: its data sequence number; None if it is not known, so that it may apply.
        delete_spec: its partition spec.
        data_file: the data file.
        data_sequence_number: the data sequence number of the data file; None as above.
        spec: the partition spec of the data file.
        types: the types that `column_types` returns, to read the bounds of equality deletes.

    Returns:
        Whether it may.
    """
    return (
        next(
            mismatches(delete, delete_sequence_number, delete_spec, data_file, data_sequence_number, spec, types), None
        )
        is None
    )


def mismatches(
    delete: DataFile,
    delete_sequence_number: int | None,
    delete_spec: PartitionSpec,
    data_file: DataFile,
    data_sequence_number: int | None,
    spec: PartitionSpec,
    types: Mapping[int, Type],
) -> Iterator[Mismatch]:
    """Find all reasons why a delete does not apply to a data file, in the order of `Mismatch`.

    Args:
        delete: the delete file or deletion vector.
        delete_sequence_number: its data sequence number; None if it is not known, so that it may apply.
        delete_spec: its partition spec.
        data_file: the data file.
        data_sequence_number: the data sequence number of the data file; None as above.
        spec: the partition spec of the data file.
        types: the types that `column_types` returns, to read the bounds of equality deletes.

    Yields:
        The reasons; none if the delete may apply.
    """
    by_equality = delete.content is FileContent.EQUALITY_DELETES
    if not is_old_enough(data_sequence_number, delete.content, delete_sequence_number):
        yield Mismatch.SEQUENCE_NUMBER
    everywhere = by_equality and delete_spec.is_unpartitioned
    if not everywhere and partition_key(delete, delete_spec) != partition_key(data_file, spec):
        yield Mismatch.PARTITION
    if by_equality:
        if not may_share_rows(delete, data_file, types):
            yield Mismatch.VALUES
    elif not _may_reference(delete, data_file.file_path):
        yield Mismatch.DATA_FILE


def check_delete(delete: DataFile) -> None:
    """Check that a delete states what it applies to.

    Args:
        delete: a delete file or deletion vector.

    Raises:
        SpecError: DFL023 for a deletion vector without its data file; DFL020 for equality deletes without the columns
            that they compare.
    """
    if delete.content is FileContent.EQUALITY_DELETES and not delete.equality_ids:
        raise spec_error(
            "DFL020", "the equality ids of an equality delete file are missing", path="/data_file/equality_ids"
        )
    if delete.is_deletion_vector and delete.referenced_data_file is None:
        raise spec_error(
            "DFL023", "the referenced data file of a deletion vector is missing", path="/data_file/referenced_data_file"
        )


def applicable_deletes(
    deletes: Iterable[ScanDelete],
    data_file: DataFile,
    data_sequence_number: int,
    spec: PartitionSpec,
    specs: Mapping[int, PartitionSpec],
    types: Mapping[int, Type],
) -> tuple[ScanDelete, ...]:
    """Select the deletes of a snapshot that have to be applied to a data file.

    Args:
        deletes: deletes that passed `check_delete`.
        data_file: the data file.
        data_sequence_number: its data sequence number.
        spec: its partition spec.
        specs: the table's partition specs, by id.
        types: the types that `column_types` returns.

    Returns:
        The deletes that apply, in order. A deletion vector replaces the position delete files (DEL011).

    Raises:
        SpecError: DEL003 if several deletion vectors apply.
    """
    found = [
        one
        for one in deletes
        if may_apply(
            one.data_file,
            one.data_sequence_number,
            specs[one.partition_spec_id],
            data_file,
            data_sequence_number,
            spec,
            types,
        )
    ]
    vectors = [one for one in found if one.data_file.is_deletion_vector]
    check_vectors(vectors)
    if not vectors:
        return tuple(found)
    # The vector includes the deletes of all position delete files (DEL011).
    return tuple(one for one in found if one.data_file.content is FileContent.EQUALITY_DELETES or one is vectors[0])


def check_vectors(vectors: Sequence[ScanDelete]) -> None:
    """Check that at most one deletion vector applies to a data file.

    Args:
        vectors: the deletion vectors that apply.

    Raises:
        SpecError: DEL003 if there are several.
    """
    if len(vectors) > 1:
        found = [one.data_file.file_path for one in vectors]
        raise spec_error("DEL003", "a data file has several deletion vectors", found=found, expected="one")


def may_share_rows(delete: DataFile, data: DataFile, types: Mapping[int, Type]) -> bool:
    """Decide whether a row may have the values of an equality delete, by counts and bounds of the compared columns.

    Args:
        delete: the equality delete file.
        data: the data file.
        types: the types that `column_types` returns.

    Returns:
        Whether it may (SCN005).
    """
    left, right = column_metrics(delete), column_metrics(data)
    for field_id in delete.equality_ids or ():
        type_ = types.get(field_id)
        if type_ is None or not is_primitive(type_):
            continue
        column = BoundReference((field_id,), ("",), type_)
        if not _may_share(column_stats(column, left), column_stats(column, right)):
            return False
    return True


def _may_share(left: TermStats, right: TermStats) -> bool:
    """Decide whether two columns may have a value in common; null is a value here (DEL020)."""
    if (left.null and right.null) or (left.nan and right.nan):
        return True
    if not (left.ordinary and right.ordinary):
        return False
    left, right = usable_bounds(left), usable_bounds(right)
    below = left.upper is not None and right.lower is not None and left.upper < right.lower
    above = left.lower is not None and right.upper is not None and left.lower > right.upper
    return not (below or above)


def _may_reference(delete: DataFile, path: str) -> bool:
    """Decide whether position deletes or a deletion vector may be for a data file."""
    if delete.referenced_data_file is not None:
        return delete.referenced_data_file == path
    return may_name(delete, path)


def may_name(delete: DataFile, path: str) -> bool:
    """Decide whether position deletes may name a data file, by the bounds of the paths in the delete file.

    Args:
        delete: the position delete file.
        path: the location of the data file.

    Returns:
        Whether they may (SCN012).
    """
    name = path.encode()
    lower = (delete.lower_bounds or {}).get(FILE_PATH)
    upper = (delete.upper_bounds or {}).get(FILE_PATH)
    if lower is not None and upper is not None and lower > upper:
        return True
    # An upper bound may have been truncated without being raised.
    return (lower is None or lower <= name) and (upper is None or name[: len(upper)] <= upper)


def column_types(metadata: TableMetadata) -> dict[int, Type]:
    """Collect the types of all columns that the table ever had, including dropped ones.

    Args:
        metadata: the table.

    Returns:
        The latest type of each column, by id.
    """
    columns = latest_columns((metadata.current_schema, *metadata.schemas))
    return {field_id: column.type for field_id, column in columns.items()}
