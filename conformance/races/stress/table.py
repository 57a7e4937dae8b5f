"""Read the table after the writers ended, with this project's reader."""

from __future__ import annotations

from collections import Counter, defaultdict

from conformance.races.stress.judge import FinalTable
from conformance.races.stress.writers import BRANCH
from conformance.table_io.file_access import FileMissing
from conformance.table_io.local import plan_read, read_table
from conformance.table_io.tables import Table, load_table
from spec_ref.snapshots.references import MAIN, RefType


def read_final_table(location: str, setup: int) -> FinalTable:
    """Read a table.

    Args:
        location: the metadata file.
        setup: the number of commits before those of the writers.

    Raises:
        SpecError: it breaks a rule that a reader relies on.
        FileAccessError: a file that it names is missing.
    """
    table = load_table(location)
    metadata = table.metadata
    refs = metadata.references
    rows: dict[str, dict[int, Counter[int]]] = {}
    numbers: dict[str, dict[int, int]] = {}
    for ref in (MAIN, BRANCH):
        if ref in refs:
            rows[ref], numbers[ref] = _rows(table, ref)
    return FinalTable(
        rows=rows,
        sequence_numbers=numbers,
        properties=metadata.properties,
        columns=tuple(field.name for field in metadata.current_schema.fields),
        snapshots=tuple((one.snapshot_id, one.parent_snapshot_id, one.sequence_number) for one in metadata.snapshots),
        versions=_versions(table),
        heads=tuple(ref.snapshot_id for ref in refs.values() if ref.type is RefType.BRANCH),
        setup=setup,
    )


def _rows(table: Table, ref: str) -> tuple[dict[int, Counter[int]], dict[int, int]]:
    found: dict[int, Counter[int]] = defaultdict(Counter)
    numbers: dict[int, int] = {}
    sequence = _sequence_numbers(table, ref)
    for batch in read_table(table, ref=ref, select=["op", "n", "_file"], threads=1):
        for op, n, file in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            found[op][n] += 1
            numbers[op] = sequence[file]
    return found, numbers


def _sequence_numbers(table: Table, ref: str) -> dict[str, int]:
    _, tasks = plan_read(table, ref=ref)
    return {task.data_file.file_path: task.data_sequence_number for task in tasks}


def _versions(table: Table) -> int | None:
    """Return the number of metadata versions if the log goes back to the first; else None."""
    log = table.metadata.metadata_log
    if not log:
        return 1 if not table.metadata.snapshots else None
    try:
        first = load_table(log[0].metadata_file)
    except FileMissing:
        return None
    return len(log) + 1 if not first.metadata.metadata_log and not first.metadata.snapshots else None
