"""Faults of the rule which delete applies to which data file, for tests that each of those who ask it sees them.

Each changes a part of `spec_ref.scan_planning.delete_scope.may_apply` for all who call it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spec_ref.manifests.data_file import FileContent
from spec_ref.partitioning.spec import PartitionSpec
from spec_ref.scan_planning import delete_scope

Plant = Callable[[Any], None]


def spec_ignored(patch: Any) -> None:
    """Equal values are one partition, whatever the specs."""
    original = delete_scope.partition_key
    patch.setattr(delete_scope, "partition_key", lambda data_file, spec: (0, original(data_file, spec)[1]))


def partition_ignored(patch: Any) -> None:
    """All values of a spec are one partition."""
    patch.setattr(delete_scope, "partition_key", lambda _, spec: (spec.spec_id, ()))


def nan_never_equal(patch: Any) -> None:
    """No partition of NaN is another one's."""
    original = delete_scope.comparable_value
    patch.setattr(delete_scope, "comparable_value", lambda value: object() if value != value else original(value))


def null_never_equal(patch: Any) -> None:
    """No partition of null is another one's."""
    original = delete_scope.comparable_value
    patch.setattr(delete_scope, "comparable_value", lambda value: object() if value is None else original(value))


def _numbers(change: Callable[[int, FileContent], int]) -> Plant:
    def plant(patch: Any) -> None:
        original = delete_scope.is_old_enough

        def is_old_enough(number: int | None, content: FileContent, delete_number: int | None) -> bool:
            return original(number if number is None else change(number, content), content, delete_number)

        patch.setattr(delete_scope, "is_old_enough", is_old_enough)

    return plant


def _is_equality(content: FileContent) -> bool:
    return content is FileContent.EQUALITY_DELETES


def no_global_deletes(patch: Any) -> None:
    """Equality deletes of an unpartitioned spec are for its own files alone."""
    patch.setattr(PartitionSpec, "is_unpartitioned", property(lambda _: False))


def other_file(patch: Any) -> None:
    """The data file that position deletes name is not compared."""
    patch.setattr(delete_scope, "_may_reference", lambda *_: True)


equality_of_the_same_commit = _numbers(lambda number, content: number - _is_equality(content))
positions_of_older_data_alone = _numbers(lambda number, content: number + (not _is_equality(content)))
numbers_ignored = _numbers(lambda *_: -1)
