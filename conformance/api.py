"""What `import conformance` offers to Python programs: reading, planning and checking tables, and running vectors.

Locations are those of the command line: a metadata file, the directory of a table, a URI of either, or
``catalog:NAME.NAMESPACE.TABLE``.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pyarrow as pa

from conformance import vectors
from conformance.core.failures import NotExamined, NothingSelected, ToolError, UsageError
from conformance.runner import expectations
from conformance.runner.adapter_interface import InProcess
from conformance.runner.execution import Plan, Target, execute
from conformance.runner.process import Limits
from conformance.runner.results import RESULTS, Run, Writer
from conformance.runner.targets import target
from conformance.table_io import local, tables
from conformance.table_io.filter_text import parse_filter
from conformance.table_io.tables import Table
from conformance.table_io.trust import Trust
from conformance.validator.acceptance import acceptance
from conformance.validator.catalogs import from_catalog
from conformance.validator.context import Level
from conformance.validator.local import Local
from conformance.validator.run import Snapshots
from conformance.validator.run import validate as validate_table
from conformance.vectors import Selection
from conformance.version import tool_version
from spec_ref.checks.findings import Finding, Severity
from spec_ref.core.errors import SpecError
from spec_ref.expressions.predicates import TRUE, Predicate
from spec_ref.scan_planning import FileScanTask, table_state
from spec_ref.table_metadata import TableMetadata
from spec_ref.table_metadata import read_metadata as metadata_of

Location: TypeAlias = str | os.PathLike[str]
Filter: TypeAlias = Predicate | str | None
Operation: TypeAlias = Callable[[dict[str, Any]], object]


def read_metadata(source: Location | bytes) -> TableMetadata:
    """Read the metadata of a table.

    Args:
        source: the location of the table or of its metadata file, or the content of a metadata file.

    Returns:
        The metadata.

    Raises:
        SpecError: the metadata must be refused.
        NotExamined: there is no table at the location, or it cannot be read.
    """
    return metadata_of(source) if isinstance(source, bytes) else load_table(source).metadata


def load_table(location: Location) -> Table:
    """Load a table: its metadata, and the location of the metadata file.

    Args:
        location: where the table is.

    Returns:
        The table.

    Raises:
        SpecError: the metadata must be refused.
        NotExamined: there is no table at the location, or it cannot be read.
    """
    place = _place(location)
    with _reading(place):
        return tables.load_table(place)


def read_table(
    table: Location | Table,
    *,
    select: Sequence[str] | None = None,
    filter: Filter = None,
    snapshot_id: int | None = None,
    ref: str | None = None,
    as_of: datetime | None = None,
    case_sensitive: bool = True,
) -> pa.Table:
    """Read the rows of a table.

    Args:
        table: where the table is, or the table.
        select: names of columns, with dots for the fields of structs, and of metadata columns such as ``_file``,
            ``_pos`` and ``_row_id``; all columns of the table where None.
        filter: which rows: a predicate made with `spec_ref.col`, or a text as `parse_filter` takes it.
        snapshot_id: the snapshot by its id; the current one where neither this, ``ref`` nor ``as_of`` is given.
        ref: the snapshot by the name of a branch or tag.
        as_of: the snapshot that was current at a time; in UTC where it has no time zone.
        case_sensitive: whether names in ``select`` and ``filter`` have to be spelled as in the schema.

    Returns:
        The rows, under the names of the table and in the Arrow types of its types; their order is not defined.

    Raises:
        SpecError: the table, the selection or the filter is wrong.
        UsageError: a filter given as text is not a condition.
        NotExamined: there is no table at the location, or a file of it cannot be read.
    """
    found = _table(table)
    with _reading(found.metadata_location):
        chosen = _chosen(found, filter, snapshot_id, ref, as_of, case_sensitive)
        return local.read_table(found, select=select, **chosen).read_all()


def plan(
    table: Location | Table,
    *,
    filter: Filter = None,
    snapshot_id: int | None = None,
    ref: str | None = None,
    as_of: datetime | None = None,
    case_sensitive: bool = True,
) -> list[FileScanTask]:
    """Plan a scan: which data files it reads, and which deletes apply to each.

    Args:
        table: where the table is, or the table.
        filter: which rows are wanted, as for `read_table`.
        snapshot_id: the snapshot by its id; the current one where neither this, ``ref`` nor ``as_of`` is given.
        ref: the snapshot by the name of a branch or tag.
        as_of: the snapshot that was current at a time; in UTC where it has no time zone.
        case_sensitive: whether names in ``filter`` have to be spelled as in the schema.

    Returns:
        A task for each data file that may have such rows.

    Raises:
        SpecError, UsageError, NotExamined: as `read_table`.
    """
    found = _table(table)
    with _reading(found.metadata_location):
        return list(local.plan_reading(found, **_chosen(found, filter, snapshot_id, ref, as_of, case_sensitive))[1])


def validate(
    location: Location,
    *,
    level: Literal["metadata", "manifests", "files", "rows"] = "manifests",
    snapshots: Literal["current", "refs", "all"] | int | str = "current",
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    workers: int = 1,
) -> tuple[Finding, ...]:
    """Check a table against the spec.

    Args:
        location: where the table is.
        level: how deep: the metadata; manifests too; files too, by their footers; all rows too.
        snapshots: current, refs (all branches and tags), all, the id of one, or the name of a branch or tag.
        select: only these checks by their ids, or requirements by codes or how codes begin.
        ignore: not these.
        workers: how many processes open files. With 1 it is this process, which a damaged file may then end.

    Returns:
        What was found, the worst first; what engines in wide use write and readers cope with has the severity
        ``tolerated``.

    Raises:
        NotExamined: there is no table, its metadata cannot be read, or the check could not be finished.
        UsageError: an argument makes no sense, or the table does not have the snapshot.
    """
    place = _place(location)
    accepted = acceptance(tuple(select), tuple(ignore), "error", None)
    backend = Local(workers, apart=workers > 1)
    try:
        with _reading(place):
            report = validate_table(place, Level(level), backend, _snapshots(snapshots))
    finally:
        backend.close()
    if not report.complete:
        raise NotExamined(f"{location}: {report.reason or 'interrupted'}")
    return accepted.applied(report)[0].findings


def run_vectors(
    adapter: str | Mapping[str, Operation],
    *,
    suite: str | Sequence[str] = (),
    requirement: str | Sequence[str] = (),
    names: str | None = None,
    expect: str | Path | None = None,
    timeout: float = Limits().request,
) -> Run:
    """Replay vectors against an implementation.

    Args:
        adapter: ``reference``, the name of an engine or a command that speaks the protocol, as on the command line; or
            functions in this process, by the names of operations (docs/protocol.md), each of which gets the arguments
            of a request and returns the answer.
        suite: vectors of these suites; of all where empty.
        requirement: vectors that prove these requirements, or those whose codes begin so.
        names: vectors whose id, suite, operation or requirements contain a word; words joined by and, or, not, ().
        expect: a file of expected deviations, or ``known-deviations``.
        timeout: seconds that an adapter may take for one answer.

    Returns:
        The run: ``results`` has one result for each vector, ``failures`` those that failed.

    Raises:
        NotExamined: the implementation could not be started.
        UsageError: a name or a file is wrong, or nothing is selected.
    """
    every = vectors.load(vectors.shipped())
    chosen = Selection(_names(suite), (), _names(requirement), None, names).choose(every)
    if not chosen:
        raise NothingSelected("nothing is selected")
    expected = expectations.Expectations()
    if expect is not None:
        expected = expectations.load(str(expect), {vector.id for vector in every})
    if isinstance(adapter, str):
        made = target(adapter, Limits(request=timeout))
    else:
        implementation = {
            "implementation": "python",
            "version": platform.python_version(),
            "format_versions": [1, 2, 3],
        }
        made = Target("python", partial(InProcess, "python", implementation, dict(adapter)))
    header = {
        "results": RESULTS,
        "tool": tool_version(),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": [],
        "vectors": {"folder": str(vectors.shipped()), "on_disk": len(every), "selected": len(chosen)},
    }
    found = execute(Plan((made,), chosen, expected), header, Writer(None))
    for one in found.adapters:
        if one.not_examined:
            raise NotExamined(f"{one.name}: {one.not_examined}")
    return found


def _place(location: Location) -> str:
    return from_catalog(os.fspath(location))


def _table(table: Location | Table) -> Table:
    return table if isinstance(table, Table) else load_table(table)


@contextmanager
def _reading(location: str) -> Iterator[None]:
    with Trust().reading(location):
        yield


def _chosen(
    table: Table, filter: Filter, snapshot_id: int | None, ref: str | None, as_of: datetime | None, case_sensitive: bool
) -> dict[str, Any]:
    """The arguments of the pipeline for a snapshot and a filter."""
    time = as_of if as_of is None or as_of.tzinfo else as_of.replace(tzinfo=UTC)
    chosen: dict[str, Any] = {
        "snapshot_id": snapshot_id,
        "ref": ref,
        "timestamp_ms": None if time is None else int((time - _EPOCH).total_seconds() * 1000),
    }
    predicate = TRUE if filter is None else filter
    if isinstance(predicate, str):
        schema = table_state(table.metadata, **chosen).schema
        predicate = parse_filter(predicate, schema, case_sensitive=case_sensitive)
    return {**chosen, "filter": predicate, "case_sensitive": case_sensitive}


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _snapshots(chosen: int | str) -> Snapshots:
    if isinstance(chosen, int):
        return Snapshots("one", chosen, str(chosen))
    return Snapshots(chosen) if chosen in ("current", "refs", "all") else Snapshots("ref", ref=chosen)


def _names(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


__all__ = [
    "Finding",
    "NotExamined",
    "Run",
    "Severity",
    "SpecError",
    "Table",
    "ToolError",
    "UsageError",
    "load_table",
    "parse_filter",
    "plan",
    "read_metadata",
    "read_table",
    "run_vectors",
    "validate",
]
