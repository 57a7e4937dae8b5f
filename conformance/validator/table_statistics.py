"""Checking the statistics files of a snapshot: the Puffin files that table metadata lists (Table Statistics)."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from conformance.table_io.file_access import FileAccessError, read_bytes
from conformance.validator.check_results import Emitted, Findings
from conformance.validator.context import Context
from conformance.validator.finding import Unabbreviated, finding, from_violations
from conformance.validator.stall_timeout import run_with_stall_timeout
from spec_ref.checks.findings import Finding
from spec_ref.statistics.table import check_statistics_file
from spec_ref.table_metadata.statistics import StatisticsFile


@attrs.frozen
class StatisticsTask:
    """One statistics file."""

    index: int
    """The index of the file in the metadata."""

    statistics: StatisticsFile


def statistics_tasks(context: Context, checked: frozenset[int]) -> tuple[StatisticsTask, ...]:
    """Return the tasks for the statistics files of the checked snapshots."""
    listed = enumerate(context.metadata.statistics)
    return tuple(StatisticsTask(place, one) for place, one in listed if one.snapshot_id in checked)


def check_statistics_task(context: Context, task: StatisticsTask) -> Iterator[Emitted]:
    """Check a statistics file, and compare it with its entry in the metadata."""
    yield Findings(tuple(_findings(context, task)))


def _findings(context: Context, task: StatisticsTask) -> Iterator[Finding]:
    statistics, path = task.statistics, f"/statistics/{task.index}"
    metadata, location = context.metadata_location, task.statistics.statistics_path
    try:
        data = run_with_stall_timeout(context.file_seconds, location, lambda: read_bytes(location))
    except FileAccessError as error:
        message = f"the statistics file cannot be read: {error.reason}"
        yield finding(
            "STA002",
            message,
            file=metadata,
            path=f"{path}/statistics-path",
            found=Unabbreviated(location),
            aspect="unreadable",
        )
        return
    for problem in check_statistics_file(statistics, data):
        own = problem.requirement.startswith("STA")
        yield from from_violations([problem], file=metadata if own else location, under=path if own else "")
