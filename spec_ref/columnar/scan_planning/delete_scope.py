"""Which position deletes apply to which data files, as columns: the kernel for `scan_planning.delete_scope`.

The kernel is for deletion vectors and position delete files that name their data file, which are compared with that
file only. Each partition is represented by a number, so that no object is made for a file.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from spec_ref.columnar.arrow_types import INTEGER_KINDS
from spec_ref.columnar.manifests.entry_columns import ManifestColumns
from spec_ref.columnar.manifests.nullable_arrays import Nullable
from spec_ref.core.errors import SpecError
from spec_ref.data_types.types import kind
from spec_ref.scan_planning.delete_scope import Mismatch, comparable_value

Bools = npt.NDArray[np.bool_]
Longs = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]

_NULL = np.uint64(1)
_STEP = np.uint64(0x9E3779B97F4A7C15)


@attrs.frozen(eq=False)
class ScopeColumns:
    """The attributes that the rule compares, of some deletes or of some data files."""

    sequence_number: Nullable
    """The data sequence numbers; null if they are not known."""

    partition: Longs
    """The numbers that `partition_numbers` returns."""


def position_mismatches(deletes: ScopeColumns, data_files: ScopeColumns) -> Mapping[Mismatch, Bools]:
    """Find the reasons for which deletes do not apply to their data files.

    A delete without any reason may apply, as `spec_ref.scan_planning.delete_scope.may_apply` decides.

    Args:
        deletes: deletion vectors, or position delete files with a ``referenced_data_file``.
        data_files: for each of them the data file that it names.

    Returns:
        For each reason, a flag per delete.
    """
    mine, theirs = deletes.sequence_number, data_files.sequence_number
    return {
        Mismatch.SEQUENCE_NUMBER: mine.valid & theirs.valid & (theirs.values > mine.values),
        Mismatch.PARTITION: deletes.partition != data_files.partition,
    }


def partition_numbers(columns: ManifestColumns) -> Longs:
    """Compute a hash of the partition of each entry: equal partitions (`partition_key`) have the same one.

    Args:
        columns: the entries of manifests of one partition spec.

    Returns:
        The numbers, one per entry.
    """
    spec = columns.manifest.spec
    seed = zlib.crc32(str(columns.manifest.spec_id).encode())
    hashes = np.full(len(columns), seed, np.uint64)
    for field in () if spec is None else spec.fields:
        hashes = hashes * _STEP + _field_hashes(columns, field.field_id or 0) + np.uint64(1)
    return hashes.view(np.int64)


def _field_hashes(columns: ManifestColumns, field_id: int) -> Hashes:
    try:
        if kind(columns.partition_type(field_id)) in INTEGER_KINDS:
            numbers = columns.partition_numbers(field_id)
            return _mix(np.where(numbers.valid, numbers.values, 0).view(np.uint64), numbers.valid)
        values = columns.partition(field_id)
    except SpecError:  # the tuples do not have the field, so that it is null
        return np.full(len(columns), _NULL)
    distinct: dict[Any, int] = {}
    codes = [distinct.setdefault(comparable_value(value), len(distinct)) for value in values]
    of_values = [_NULL if value is None else zlib.crc32(repr(value).encode()) for value in distinct]
    return np.array(of_values, np.uint64)[codes]


def _mix(values: Hashes, valid: Bools) -> Hashes:
    """Hash integers (the finalizer of SplitMix64); null has a separate hash."""
    mixed = values + _STEP
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return np.where(valid, mixed ^ (mixed >> np.uint64(31)), _NULL)
