"""Compaction: rewriting small files, and files with deletes, into larger files with the same rows (Row Lineage), and
manifests into fewer manifests (Manifests).
"""

from __future__ import annotations

from typing import Any

from conformance.table_io.writing.matching import TargetRows, check_branch, drop_position_column
from conformance.table_io.writing.operations import THREADS, Summary, open_sink, operation_files
from conformance.table_io.writing.plans import plan_write
from conformance.table_io.writing.row_changes import FileChanges
from conformance.table_io.writing.tables import WritableTable
from spec_ref.commits import CommitResult, changes
from spec_ref.commits.reading import branch_head
from spec_ref.commits.snapshots import next_sequence_number
from spec_ref.core.records import evolve
from spec_ref.expressions.predicates import TRUE, Predicate
from spec_ref.scan_planning import FileScanTask
from spec_ref.scan_planning.delete_scope import partition_key
from spec_ref.snapshots.references import MAIN
from spec_ref.table_metadata import TableMetadata

MIN_FILES = 2
"""The minimum number of small files of a partition that are merged."""


def compact(
    table: WritableTable,
    where: Predicate = TRUE,
    *,
    min_files: int = MIN_FILES,
    branch: str = MAIN,
    target_bytes: int | None = None,
    threads: int = THREADS,
    summary: Summary = (),
) -> CommitResult | None:
    """Rewrite files that may have matching rows, without deleted rows, and with the default partition spec.

    The rows keep their ids and last updated sequence numbers (LIN009, LIN011). The files get the sequence number of the
    snapshot that was read, so that equality deletes that are added concurrently still apply to them (SEQ007).

    Args:
        table: the table, as it was last read.
        where: only files that may have rows that match this.
        min_files: the minimum number of small files of a partition that are rewritten; files with deletes, and files of
            a partition spec other than the default one, are always rewritten.
        branch: the branch.
        target_bytes: the target size of files; by default that of the table's properties.
        threads: how many files are read, and written, at once.
        summary: additional entries of the snapshot's summary.

    Returns:
        The commit; None if there was nothing to rewrite.

    Raises:
        CommitConflict: rows of the files were deleted concurrently; and the errors of
            `conformance.table_io.writing.operations.append`.
    """
    metadata = table.metadata
    with operation_files() as files:
        target = TargetRows(table.table, branch, threads)
        tasks = select_for_compaction(metadata, target.tasks(where), min_files)
        if not tasks:
            return None
        plan = plan_write(metadata, lineage=True, target_bytes=target_bytes)
        pieces = FileChanges()
        with open_sink(plan, files, threads) as sink:
            for _, batch in target.rows(tasks):
                sink.add(drop_position_column(batch))
            for task in tasks:
                pieces.remove(task)
            assert target.snapshot is not None
            number = target.snapshot.sequence_number if next_sequence_number(metadata) else None
            pieces.added += (evolve(new, data_sequence_number=number) for new in sink.finish())
        change = changes.rewrite_files(
            pieces.added, pieces.removed, removed_deletes=pieces.removed_deletes, branch=branch
        )
        return table.commit(evolve(change, summary=summary))


def select_for_compaction(metadata: TableMetadata, tasks: list[FileScanTask], min_files: int) -> list[FileScanTask]:
    """Return the tasks whose files are rewritten: several small files of a partition, and files with deletes or of
    another spec.
    """
    groups: dict[Any, list[FileScanTask]] = {}
    for task in tasks:
        spec = metadata.spec_by_id(task.partition_spec_id)
        groups.setdefault(partition_key(task.data_file, spec), []).append(task)
    chosen = []
    for (spec_id, _), group in groups.items():
        if spec_id != metadata.default_spec_id or len(group) >= min_files or any(task.deletes for task in group):
            chosen += group
    return chosen


def rewrite_manifests(table: WritableTable, *, branch: str = MAIN, summary: Summary = ()) -> CommitResult | None:
    """Rewrite the manifests of a branch, without entries of deleted files.

    Each partition spec gets as few manifests as ``commit.manifest.target-size-bytes`` allows. Files keep their sequence
    numbers and row ids (SEQ008, LIN020).

    Args:
        table: the table, as it was last read.
        branch: the branch.
        summary: additional entries of the snapshot's summary.

    Returns:
        The commit; None if the branch has no snapshot.

    Raises:
        SpecError: REF001, for a tag; and what `WritableTable.commit` raises.
    """
    check_branch(table.metadata, branch)
    if branch_head(table.metadata, branch) is None:
        return None
    return table.commit(evolve(changes.rewrite_manifests(branch=branch), summary=summary))
