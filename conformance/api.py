"""The Python API, `import conformance`: read, plan and validate tables, and run vectors.

Locations are as on the command line: a metadata file, the directory of a table, a URI of either, or
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
from conformance.core.failures import NotExamined, NothingSelected, ToolError, UsageError, suggest_names
from conformance.operations.registry import OPERATIONS
from conformance.runner import expectations
from conformance.runner.adapter_interface import InProcess
from conformance.runner.execution import RunPlan, Target, execute
from conformance.runner.process import AdapterLimits
from conformance.runner.results import RESULTS, ResultsWriter, Run
from conformance.runner.targets import make_limits, target
from conformance.table_io import local, tables
from conformance.table_io.encryption import KeyService, load_key_file
from conformance.table_io.filter_text import parse_filter
from conformance.table_io.tables import Table
from conformance.table_io.trust import LocalFilePolicy
from conformance.validator.catalogs import resolve_location
from conformance.validator.context import Level
from conformance.validator.finding_filter import finding_filter
from conformance.validator.local import MAX_WORKERS, LocalBackend
from conformance.validator.run import SnapshotSelection
from conformance.validator.run import validate as validate_table
from conformance.vectors import Selection
from conformance.version import tool_version
from spec_ref.checks.findings import Finding, Severity
from spec_ref.core.errors import SpecError
from spec_ref.expressions.predicates import TRUE, Predicate
from spec_ref.scan_planning import FileScanTask, table_state
from spec_ref.table_metadata import TableMetadata
from spec_ref.table_metadata import read_metadata as parse_metadata

Location: TypeAlias = str | os.PathLike[str]
Filter: TypeAlias = Predicate | str | None
Operation: TypeAlias = Callable[[dict[str, Any]], object]


class ArgumentError(UsageError, ValueError):
    """An argument of these functions is wrong; a `ValueError` too, as in other Python libraries."""


def read_metadata(source: Location | bytes) -> TableMetadata:
    """Read the metadata of a table.

    Args:
        source: the location of the table or of its metadata file, or the content of a metadata file.

    Returns:
        The metadata.

    Raises:
        SpecError: the metadata is not valid.
        NotExamined: there is no table at the location, or it cannot be read.
    """
    return parse_metadata(source) if isinstance(source, bytes) else load_table(source).metadata


def load_table(location: Location, *, keys: Location | KeyService | None = None) -> Table:
    """Load a table: its metadata, and the location of the metadata file.

    Args:
        location: the location of the table.
        keys: how to unwrap the keys of an encrypted table: a function of the wrapped key and the id of the key that
            wraps it, or a file of master keys, as for tests (`conformance.table_io.encryption.load_key_file`).

    Returns:
        The table.

    Raises:
        SpecError: the metadata is not valid.
        UsageError: the key file cannot be read.
        NotExamined: there is no table at the location, or it cannot be read.
    """
    place = _place(location)
    with _reading(place):
        return tables.load_table(place, key_service=_key_service(keys))


def read_table(
    table: Location | Table,
    *,
    select: str | Sequence[str] | None = None,
    filter: Filter = None,
    snapshot_id: int | None = None,
    ref: str | None = None,
    as_of: datetime | None = None,
    case_sensitive: bool = True,
) -> pa.Table:
    """Read the rows of a table.

    Args:
        table: the table, or its location.
        select: names of columns, with dots for the fields of structs, and of metadata columns such as ``_file``,
            ``_pos`` and ``_row_id``; a string is one name, None means all columns of the table.
        filter: the condition on rows: a predicate made with `spec_ref.col`, or text for `parse_filter`.
        snapshot_id: the id of the snapshot; the current one if neither this, ``ref`` nor ``as_of`` is given.
        ref: the name of a branch or tag, instead of a snapshot id.
        as_of: a time, to read the snapshot that was current then; in UTC if it has no time zone.
        case_sensitive: whether names in ``select`` and ``filter`` must be spelled as in the schema.

    Returns:
        The rows, with the column names and types of the table's schema; their order is not defined.

    Raises:
        SpecError: the table, the selection or the filter is wrong.
        UsageError: a filter given as text is not a condition, ``as_of`` is not a datetime, or more than one of
            ``snapshot_id``, ``ref`` and ``as_of`` is given.
        NotExamined: there is no table at the location, or one of its files cannot be read.
    """
    found = _table(table)
    with _reading(found.metadata_location):
        chosen = _scan_arguments(found, filter, snapshot_id, ref, as_of, case_sensitive)
        columns = None if select is None else _names(select)
        return local.read_table(found, select=columns, **chosen).read_all()


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
        table: the table, or its location.
        filter: the condition on rows, as for `read_table`.
        snapshot_id: the id of the snapshot; the current one if neither this, ``ref`` nor ``as_of`` is given.
        ref: the name of a branch or tag, instead of a snapshot id.
        as_of: a time, to plan the snapshot that was current then; in UTC if it has no time zone.
        case_sensitive: whether names in ``filter`` must be spelled as in the schema.

    Returns:
        A task for each data file that may have matching rows.

    Raises:
        SpecError, UsageError, NotExamined: as `read_table`.
    """
    found = _table(table)
    with _reading(found.metadata_location):
        return list(
            local.plan_read(found, **_scan_arguments(found, filter, snapshot_id, ref, as_of, case_sensitive))[1]
        )


def validate(
    location: Location,
    *,
    level: Literal["metadata", "manifests", "files", "rows"] = "manifests",
    snapshots: Literal["current", "refs", "all"] | int | str = "current",
    select: str | Sequence[str] = (),
    ignore: str | Sequence[str] = (),
    workers: int = 1,
    keys: Location | KeyService | None = None,
) -> tuple[Finding, ...]:
    """Check a table against the spec.

    Args:
        location: the location of the table.
        level: how much to check: metadata; also manifests; also the footers of data and delete files; also all rows.
        snapshots: current, refs (all branches and tags), all, the id of a snapshot, or the name of a branch or tag.
        select: only these checks (by id) or requirements (by code, or the start of codes); a string is one name.
        ignore: leave out these checks or requirements, named as in ``select``.
        workers: how many processes open files. With 1, this process opens them, and a damaged file may crash it.
        keys: how to unwrap the keys of an encrypted table, as for `load_table`; without it, encrypted files are not
            read, and findings of the severity ``info`` name them.

    Returns:
        The findings, most severe first. A violation that widely used engines write and that readers accept has the
        severity ``tolerated``.

    Raises:
        NotExamined: there is no table, its metadata cannot be read, or the check could not be finished.
        UsageError: an argument is not valid, the table does not have the snapshot, or ``keys`` lacks a key.
    """
    depth = _level(level)
    if not (isinstance(workers, int) and 0 < workers <= MAX_WORKERS):
        raise ArgumentError(f"workers={workers!r}: must be a whole number from 1 to {MAX_WORKERS}")
    place = _place(location)
    accepted = finding_filter(_names(select), _names(ignore), "error", None)
    backend = LocalBackend(workers, isolated=workers > 1)
    try:
        with _reading(place):
            report = validate_table(place, depth, backend, _snapshots(snapshots), key_service=_key_service(keys))
    finally:
        backend.close()
    if not report.complete:
        raise NotExamined(f"{location}: {report.reason or 'interrupted'}")
    return accepted.apply(report)[0].findings


def run_vectors(
    adapter: str | Mapping[str, Operation],
    *,
    suite: str | Sequence[str] = (),
    requirement: str | Sequence[str] = (),
    names: str | None = None,
    expect: str | Path | None = None,
    timeout: float = AdapterLimits().request,
) -> Run:
    """Run vectors against an implementation.

    Args:
        adapter: ``reference``, the name of an engine or a command that speaks the protocol, as on the command line; or
            functions in this process, by the names of operations (docs/protocol.md), each of which gets the arguments
            of a request and returns the answer. An answer that is not JSON counts as a crash.
        suite: only vectors of these suites; all if empty.
        requirement: only vectors of these requirements, or of those whose codes start with one of these texts.
        names: only vectors whose id, suite, operation or requirements contain a word; words are combined with and,
            or, not and parentheses.
        expect: a file of known deviations, or ``known-deviations``.
        timeout: seconds that an adapter may take to answer one request.

    Returns:
        The run: ``results`` has one result for each vector, ``failures`` those that failed.

    Raises:
        NotExamined: the implementation could not be started.
        UsageError: a name, a file or the timeout is wrong, there is no such operation, or nothing is selected.
    """
    usual = AdapterLimits()
    limits = make_limits(usual.start, timeout, usual.max_in_flight)
    every = vectors.load(vectors.shipped())
    chosen = Selection(_names(suite), (), _names(requirement), None, names).choose(every)
    if not chosen:
        raise NothingSelected("no vector is selected")
    expected = expectations.Expectations()
    if expect is not None:
        expected = expectations.load_deviations(str(expect), {vector.id for vector in every})
    if isinstance(adapter, str):
        made = target(adapter, limits)
    else:
        implementation = {
            "implementation": "python",
            "version": platform.python_version(),
            "format_versions": [1, 2, 3],
        }
        unknown = next((name for name in adapter if name not in OPERATIONS), None)
        if unknown is not None:
            hint = suggest_names(str(unknown), OPERATIONS) or "; see: iceberg-conformance list operations"
            raise ArgumentError(f"unknown operation {unknown!r}{hint}")
        made = Target("python", partial(InProcess, "python", implementation, dict(adapter), checks_json=True))
    header = {
        "results": RESULTS,
        "tool": tool_version(),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": [],
        "vectors": {"folder": str(vectors.shipped()), "on_disk": len(every), "selected": len(chosen)},
    }
    found = execute(RunPlan((made,), chosen, expected), header, ResultsWriter(None))
    for one in found.adapters:
        if one.not_examined:
            raise NotExamined(f"{one.name}: {one.not_examined}")
    return found


def _key_service(keys: Location | KeyService | None) -> KeyService | None:
    return load_key_file(os.fspath(keys)) if isinstance(keys, str | os.PathLike) else keys


def _place(location: Location) -> str:
    return resolve_location(os.fspath(location))


def _table(table: Location | Table) -> Table:
    return table if isinstance(table, Table) else load_table(table)


@contextmanager
def _reading(location: str) -> Iterator[None]:
    with LocalFilePolicy().reading(location):
        yield


def _scan_arguments(
    table: Table, filter: Filter, snapshot_id: int | None, ref: str | None, as_of: datetime | None, case_sensitive: bool
) -> dict[str, Any]:
    """Return the arguments of the pipeline for a snapshot and a filter."""
    if [snapshot_id, ref, as_of].count(None) < 2:
        raise ArgumentError("give at most one of snapshot_id, ref and as_of")
    if not (as_of is None or isinstance(as_of, datetime)):
        raise ArgumentError(f"as_of={as_of!r}: must be a datetime, with date and time")
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


def _level(name: str) -> Level:
    try:
        return Level(name)
    except ValueError:
        known = ", ".join(one.value for one in Level)
        raise ArgumentError(f"level={name!r}: must be one of {known}") from None


def _snapshots(chosen: int | str) -> SnapshotSelection:
    if isinstance(chosen, int):
        return SnapshotSelection("one", chosen, str(chosen))
    return SnapshotSelection(chosen) if chosen in ("current", "refs", "all") else SnapshotSelection("ref", ref=chosen)


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
