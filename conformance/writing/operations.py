"""Operations on tables, each of which commits one snapshot (Snapshots, operation)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from conformance.writing.files import NewFiles, taken_back
from conformance.writing.plans import plan_write
from conformance.writing.tables import WritableTable
from conformance.writing.write_tasks import Rows, write_to
from spec_ref.commits import CommitStateUnknown, Committed, changes
from spec_ref.records import evolve
from spec_ref.snapshots.references import MAIN

THREADS = 2


@contextmanager
def writing() -> Iterator[NewFiles]:
    """The files of an operation, which are deleted again where it fails but where it may have been committed."""
    files = NewFiles()
    unknown: CommitStateUnknown | None = None
    with taken_back(files):
        try:
            yield files
        except CommitStateUnknown as error:
            error.add_note(f"the table may have these files: {', '.join(files.locations)}")
            unknown = error
    if unknown is not None:
        raise unknown


def append(
    table: WritableTable, rows: Rows, *, branch: str = MAIN, threads: int = THREADS,
    summary: tuple[tuple[str, str], ...] = (),
) -> Committed:  # fmt: skip
    """Add rows.

    Args:
        table: the table, as it was last seen.
        rows: the rows, with columns by name.
        branch: the branch, which is made where it is not there yet.
        threads: how many of them encode files.
        summary: further entries of the snapshot's summary.

    Raises:
        SpecError: a value that the schema does not allow, or what `WritableTable.commit` raises. Whatever is raised,
            the table is as before and the files are deleted, unless it is one of the next two.
        OrphansLeft: a file could not be deleted.
        CommitStateUnknown: whether it was done could not be found out; the files are kept.
    """
    with writing() as files:
        new = write_to(files, plan_write(table.metadata), rows, "00000", threads=threads)
        return table.commit(evolve(changes.append(new, branch=branch), summary=summary))
