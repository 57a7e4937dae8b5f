"""An independent model of a table's rows, without the code of scan planning (Scan Planning; Row-level Deletes).

The rules of delete scope are implemented here again on purpose: commits call `may_apply`, and a model that called it,
too, would not detect its faults. `scope_problems` compares the two on every snapshot of every explored schedule.

A row is identified by the data file to which it was first written and its position there, even after its file is
rewritten. The expected rows after a commit follow from the change; the actual rows are read from the table's files,
with the deletes that apply to them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from attrs import frozen

from conformance.operations.commits.fixtures import FILE_PATH, ID
from conformance.races.observed import ObservedFile, ObservedSnapshot
from spec_ref.commits.changes import SnapshotChange
from spec_ref.manifests.data_file import DataFile, FileContent
from spec_ref.partitioning.spec import PartitionSpec
from spec_ref.scan_planning.delete_scope import column_types, may_apply
from spec_ref.table_metadata.metadata import TableMetadata


@frozen
class RaceRow:
    """A row."""

    file: str
    """The data file to which it was first written."""

    position: int
    id: int
    """Its value in the column that equality deletes compare."""


Contents = Mapping[str, tuple[RaceRow, ...]]
"""The rows of data files that share rows with others; all other files have distinct rows."""

Located = Mapping[RaceRow, tuple[ObservedFile, int]]
"""The live rows, each with its current file and position."""


def file_rows(data_file: DataFile, contents: Contents) -> tuple[RaceRow, ...]:
    """Return the rows of a data file."""
    path = data_file.file_path
    if path in contents:
        return contents[path]
    first = _number((data_file.lower_bounds or {}).get(ID))
    return tuple(RaceRow(path, position, first + position) for position in range(data_file.record_count))


def live_rows(snapshot: ObservedSnapshot, specs: Mapping[int, PartitionSpec], contents: Contents) -> Located:
    """Return the rows of a snapshot that are not deleted."""
    deletes = [one for one in snapshot.live.values() if one.content is not FileContent.DATA]
    found: dict[RaceRow, tuple[ObservedFile, int]] = {}
    for file in snapshot.live.values():
        if file.content is FileContent.DATA:
            applied = [one for one in deletes if _applies(one, file, specs)]
            for position, row in enumerate(file_rows(file.data_file, contents)):
                if not any(_is_deleted(one.data_file, file.path, position, row) for one in applied):
                    found[row] = file, position
    return found


def _applies(delete: ObservedFile, file: ObservedFile, specs: Mapping[int, PartitionSpec]) -> bool:
    """Return whether deletes apply to a data file by sequence number and partition."""
    if delete.content is FileContent.EQUALITY_DELETES:
        everywhere = has_no_partitions(specs[delete.spec_id])
        return file.sequence_number < delete.sequence_number and (everywhere or delete.partition == file.partition)
    return file.sequence_number <= delete.sequence_number and delete.partition == file.partition


def has_no_partitions(spec: PartitionSpec) -> bool:
    """Return whether deletes by a spec apply to all data files, because no partition value depends on rows."""
    return {str(field.transform) for field in spec.fields} <= {"void"}


def _is_deleted(delete: DataFile, path: str, position: int, row: RaceRow) -> bool:
    """Return whether a delete matches a row, by its id or by its file and position."""
    if delete.content is FileContent.EQUALITY_DELETES:
        return _number((delete.lower_bounds or {}).get(ID)) <= row.id <= _number((delete.upper_bounds or {}).get(ID))
    return position < delete.record_count and _names_file(delete, path)


def _names_file(delete: DataFile, path: str) -> bool:
    """Return whether position deletes cover a data file: the referenced one, or any within their bounds."""
    if delete.referenced_data_file is not None:
        return delete.referenced_data_file == path
    low, high = (delete.lower_bounds or {}).get(FILE_PATH), (delete.upper_bounds or {}).get(FILE_PATH)
    return (low is None or low <= path.encode()) and (high is None or path.encode() <= high)


def _number(data: bytes | None) -> int:
    return 0 if data is None else int.from_bytes(data, "little", signed=True)


def scope_problems(snapshot: ObservedSnapshot, table: TableMetadata, contents: Contents) -> Iterator[str]:
    """Yield the pairs of a delete and a data file for which `may_apply` contradicts the model.

    `may_apply` must be true if the delete deletes a row, and false if the delete does not match the file's sequence
    number and partition. In other cases the bounds decide, which the model ignores.
    """
    specs = {spec.spec_id: spec for spec in table.partition_specs}
    types = column_types(table)
    files = [one for one in snapshot.live.values() if one.content is FileContent.DATA]
    for delete in snapshot.live.values():
        if delete.content is FileContent.DATA:
            continue
        for file in files:
            in_scope = _applies(delete, file, specs) and delete.references in (None, file.path)
            rows = enumerate(file_rows(file.data_file, contents) if in_scope else ())
            deletes_rows = any(_is_deleted(delete.data_file, file.path, position, row) for position, row in rows)
            said = may_apply(
                delete.data_file,
                delete.sequence_number,
                specs[delete.spec_id],
                file.data_file,
                file.sequence_number,
                specs[file.spec_id],
                types,
            )
            if deletes_rows and not said:
                yield f"{delete.path} deletes rows of {file.path}, but it does not apply by the rule"
            if said and not in_scope:
                yield f"{delete.path} does not apply to {file.path}, but it applies by the rule"


class RowModel:
    """Computes the rows of each snapshot once.

    Args:
        contents: the rows of data files to which rows of other files were rewritten.
    """

    def __init__(self, contents: Contents) -> None:
        self.contents = contents
        self._live: dict[int, tuple[ObservedSnapshot, Located]] = {}
        self._problems: dict[int, tuple[ObservedSnapshot, tuple[str, ...]]] = {}

    def live(self, snapshot: ObservedSnapshot, table: TableMetadata) -> Located:
        """Return the rows of a snapshot of a table."""
        found = self._live.get(id(snapshot))
        if found is None:
            specs = {spec.spec_id: spec for spec in table.partition_specs}
            found = self._live[id(snapshot)] = snapshot, live_rows(snapshot, specs, self.contents)
        return found[1]

    def problems(self, snapshot: ObservedSnapshot, table: TableMetadata) -> tuple[str, ...]:
        """Return the result of `scope_problems` for a snapshot of a table."""
        found = self._problems.get(id(snapshot))
        if found is None:
            problems = tuple(scope_problems(snapshot, table, self.contents))
            found = self._problems[id(snapshot)] = snapshot, problems
        return found[1]


def after_change(
    change: SnapshotChange,
    before: Located,
    removed: Iterable[str],
    specs: Mapping[int, PartitionSpec],
    default_spec: int,
    contents: Contents,
) -> frozenset[RaceRow]:
    """Return the rows that a branch must have after a change.

    Args:
        change: the change.
        before: the rows before.
        removed: the data files that the change removes.
        specs: the partition specs of the table.
        default_spec: the spec of new files that do not specify one.
        contents: the rows of data files to which rows of other files were rewritten.
    """
    if change.keeps_rows or change.rewrites_manifests:
        return frozenset(before)
    gone_files = set(removed)
    left = {row for row, (file, _) in before.items() if file.path not in gone_files}
    for new in change.added:
        spec_id = default_spec if new.spec_id is None else new.spec_id
        one = ObservedFile((new.data_file.file_path, None), new.data_file, spec_id, 0, 0, None, None)
        if one.content is FileContent.DATA:
            continue
        everywhere = one.content is FileContent.EQUALITY_DELETES and has_no_partitions(specs[spec_id])
        for row, (file, position) in before.items():
            in_scope = everywhere or one.partition == file.partition
            if in_scope and _is_deleted(new.data_file, file.path, position, row):
                left.discard(row)
    for new in change.added:
        if new.data_file.content is FileContent.DATA:
            left.update(file_rows(new.data_file, contents))
    return frozenset(left)


def rewritten_contents(changes: Iterable[tuple[Any, Located]]) -> dict[str, tuple[RaceRow, ...]]:
    """Return the rows of the data files that rewrites add: those of the replaced files when planned.

    Args:
        changes: changes, each with the rows of its branch when it was planned.
    """
    found: dict[str, tuple[RaceRow, ...]] = {}
    for change, planned in changes:
        if not isinstance(change, SnapshotChange) or not change.keeps_rows:
            continue
        rows = sorted(
            (row for row, (file, _) in planned.items() if file.path in change.removed),
            key=lambda row: (row.file, row.position),
        )
        added = [new.data_file.file_path for new in change.added if new.data_file.content is FileContent.DATA]
        for number, path in enumerate(added):
            found[path] = tuple(rows) if number == 0 else ()
    return found
