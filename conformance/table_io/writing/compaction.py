"""Compaction: the live rows of small or deleted-from files in new files, which hold the same rows (Row Lineage); and
the entries of manifests in fewer manifests (Manifests).
"""

from __future__ import annotations

from typing import Any

from conformance.table_io.writing.matching import Source, check_branch, without_places
from conformance.table_io.writing.operations import THREADS, Summary, sinking, writing
from conformance.table_io.writing.plans import plan_write
from conformance.table_io.writing.row_changes import Pieces
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
"""Files of a partition that are worth being made one."""


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
    """Write the rows of files anew that may have rows that match: without the deleted ones, by the default spec.

    The rows keep their ids and the numbers of the commits that last changed them (LIN009, LIN011). The files get the
    sequence number of the snapshot that they are made of, so that equality deletes that others add meanwhile are still
    applied to them (SEQ007).

    Args:
        table: the table, as it was last seen.
        where: which files.
        min_files: how many files of one partition are worth it; a file with deletes, or of another spec than the
            default one, always is.
        branch: the branch.
        target_bytes: how large the files get; what the table's properties say where not given.
        threads: how many files are read, and written, at once.
        summary: further entries of the snapshot's summary.

    Returns:
        What was committed; None where no file was worth it.

    Raises:
        CommitConflict: others have deleted rows of the files meanwhile; and what
            `conformance.table_io.writing.operations.append` raises.
    """
    metadata = table.metadata
    with writing() as files:
        source = Source(table.table, branch, threads)
        tasks = worth_it(metadata, source.tasks(where), min_files)
        if not tasks:
            return None
        plan = plan_write(metadata, lineage=True, target_bytes=target_bytes)
        pieces = Pieces()
        with sinking(plan, files, threads) as sink:
            for _, batch in source.rows(tasks):
                sink.add(without_places(batch))
            for task in tasks:
                pieces.remove(task)
            assert source.snapshot is not None
            number = source.snapshot.sequence_number if next_sequence_number(metadata) else None
            pieces.added += (evolve(new, data_sequence_number=number) for new in sink.finish())
        change = changes.rewrite(pieces.added, pieces.removed, removed_deletes=pieces.removed_deletes, branch=branch)
        return table.commit(evolve(change, summary=summary))


def worth_it(metadata: TableMetadata, tasks: list[FileScanTask], min_files: int) -> list[FileScanTask]:
    """The files that are written anew: many of one partition, with deletes, or of an old spec."""
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
    """Write the manifests of a branch anew, without entries of deleted files: for each partition spec as few as
    ``commit.manifest.target-size-bytes`` lets be. Files, sequence numbers and row ids stay (SEQ008, LIN020).

    Args:
        table: the table, as it was last seen.
        branch: the branch.
        summary: further entries of the snapshot's summary.

    Returns:
        What was committed; None where the branch has no snapshot.

    Raises:
        SpecError: REF001, for a tag; and what `WritableTable.commit` raises.
    """
    check_branch(table.metadata, branch)
    if branch_head(table.metadata, branch) is None:
        return None
    return table.commit(evolve(changes.rewrite_manifests(branch=branch), summary=summary))
