"""The adapter of Polars: ``scan_iceberg``, which has a separate planner (polars-iceberg).

PyIceberg reads the table metadata for it and resolves references to snapshots, as for any user of Polars.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

import polars
from polars.io.iceberg._plugin import plugin_scan
from pyiceberg import expressions
from pyiceberg.exceptions import ResolveError, ValidationError
from pyiceberg.table import StaticTable

from conformance.adapter_sdk import arrow_rows, table_requests
from conformance.adapter_sdk import lenient_values as native
from conformance.adapter_sdk.serve import Arguments, Invalid, Unsupported, serve
from conformance.adapter_sdk.sql_predicates import Leaf, build_predicate, push_down_not
from conformance.engines.pyiceberg.expressions import PREDICATES
from conformance.engines.pyiceberg.frames_writing import writing_operations

REFUSALS = (ValueError, ValidationError, ResolveError, polars.exceptions.PolarsError, OSError)
"""Exceptions with which Polars and PyIceberg refuse a table; pydantic's errors are ValueErrors."""

UNSUPPORTED_MESSAGES = (
    "not yet support",
    "Unsupported field type",
    "Unsupported file format",
    "file format not supported",
)


def _snapshot_id(table: StaticTable, args: Arguments) -> int | None:
    if "snapshot" in args:
        return int(args["snapshot"])
    if "ref" in args:
        found = table.snapshot_by_name(args["ref"])
    elif "timestamp_ms" in args:
        found = table.snapshot_as_of_timestamp(args["timestamp_ms"])
    else:
        return None
    if found is None:
        raise Invalid("PyIceberg does not find the snapshot")
    return int(found.snapshot_id)


@contextmanager
def _convert_errors() -> Iterator[None]:
    """Convert exceptions of the block to `Unsupported`, `Invalid`, or RuntimeError for panics."""
    try:
        yield
    except NotImplementedError as error:
        raise Unsupported(str(error)) from None
    except REFUSALS as error:
        raise (Unsupported if any(words in str(error) for words in UNSUPPORTED_MESSAGES) else Invalid)(
            str(error)
        ) from None
    except polars.exceptions.PanicException as error:  # a BaseException
        raise RuntimeError(f"panic: {error}") from None


def _read(args: Arguments) -> object:
    """Run ``scan_iceberg``, then filter and select columns on the lazy frame."""
    table_requests.check_metadata_columns(args, "scan_iceberg")
    names = args.get("select")
    with _convert_errors():
        table = StaticTable.from_metadata(args["table"])
        frame = polars.scan_iceberg(table, snapshot_id=_snapshot_id(table, args))
        if "filter" in args:
            frame = frame.filter(build_predicate(push_down_not(args["filter"], table_requests.columns(args)), _leaf))
        rows = (frame if names is None else frame.select(names)).collect()
    return arrow_rows.answer(rows.to_arrow(), args["types"], names)


def _plan(args: Arguments) -> object:
    """Return the files that the planner of ``scan_iceberg`` passes to the Parquet reader."""
    with _convert_errors():
        table = StaticTable.from_metadata(args["table"])
        if table.current_snapshot() is None and not args.keys() & set(table_requests.TIMES):
            return {"files": []}  # scan_iceberg then plans nothing
        row_filter = None
        if "filter" in args:
            made = push_down_not(args["filter"], table_requests.columns(args))
            frame = polars.scan_iceberg(table, snapshot_id=_snapshot_id(table, args))
            frame.filter(build_predicate(made, _leaf)).collect_schema()  # Polars refuses columns that do not exist
            row_filter = build_predicate(made, _to_planner_expression)
            if isinstance(row_filter, bool):
                row_filter = expressions.AlwaysTrue() if row_filter else expressions.AlwaysFalse()
        scan = plugin_scan(
            table,
            snapshot_id=_snapshot_id(table, args),
            iceberg_table_filter=row_filter,
            use_metadata_statistics=True,
            fast_deletion_count=False,
            **dict.fromkeys(NOT_GIVEN),
        )
        plan = json.loads(scan.serialize(format="json"))
    if "Scan" not in plan:  # nothing is left to scan
        return {"files": []}
    deletes = plan["Scan"]["unified_scan_args"]["deletion_files"] or {}
    applied = deletes.get("Iceberg", {})
    return {
        "files": [
            {"data_file": path["inner"], "delete_files": _deletes(applied.get(str(index)))}
            for index, path in enumerate(plan["Scan"]["sources"]["Paths"])
        ]
    }


NOT_GIVEN = (
    "from_snapshot_id_exclusive",
    "to_snapshot_id_inclusive",
    "projection",
    "filter_columns",
    "statistics_columns",
    "limit",
    "user_storage_options",
)
"""Arguments that the adapter does not pass to the planner, which only prunes files by the filter."""


def _to_planner_expression(leaf: Leaf) -> Any:
    """Convert a leaf to PyIceberg's classes, which the planner accepts."""
    constants = [leaf.constants] if leaf.op in ("in", "not-in") else leaf.constants
    return PREDICATES[leaf.op](".".join(leaf.path), *constants)


def _deletes(applied: Any) -> list[dict[str, str]]:
    """Return the deletes of one data file."""
    match applied:
        case None:
            return []
        case {"DeletionVector": {"path": {"inner": path}, "content_offset": offset}}:
            return [{"path": path, "content_offset": str(offset)}]
        case {"PositionDeletes": paths}:
            return [{"path": path["inner"]} for path in paths]
    raise RuntimeError(f"the plan has deletes in an unknown form: {applied}")


def _leaf(leaf: Leaf) -> polars.Expr:
    column = polars.col(leaf.path[0])
    for name in leaf.path[1:]:
        column = column.struct.field(name)
    constants = _constants(leaf.type, leaf.constants)
    match leaf.op:
        case "is-null":
            return column.is_null()
        case "not-null":
            return column.is_not_null()
        case "is-nan":
            return column.is_nan()
        case "not-nan":
            return column.is_not_nan()
        case "in":
            return column.is_in(constants)
        case "not-in":
            return ~column.is_in(constants)
        case "starts-with":
            return column.str.starts_with(constants[0])
        case "not-starts-with":
            return ~column.str.starts_with(constants[0])
    compare = {
        "lt": column.lt,
        "lt-eq": column.le,
        "gt": column.gt,
        "gt-eq": column.ge,
        "eq": column.eq,
        "not-eq": column.ne,
    }
    if native.kind(leaf.type) in ("timestamp_ns", "timestamptz_ns") and constants.to_physical()[0] % 1000:
        raise Unsupported("a constant is a datetime of Python, which has no nanoseconds")
    return compare[leaf.op](polars.lit(constants[0], constants.dtype))


TYPES: dict[str, polars.DataType] = {
    "boolean": polars.Boolean(),
    "int": polars.Int32(),
    "long": polars.Int64(),
    "float": polars.Float32(),
    "double": polars.Float64(),
    "string": polars.String(),
    "uuid": polars.Binary(),
    "fixed": polars.Binary(),
    "binary": polars.Binary(),
}
COUNTED: dict[str, tuple[polars.DataType, polars.DataType]] = {
    "date": (polars.Int32(), polars.Date()),
    "time": (polars.Int64(), polars.Time()),
    "timestamp": (polars.Int64(), polars.Datetime("us")),
    "timestamptz": (polars.Int64(), polars.Datetime("us", "UTC")),
    "timestamp_ns": (polars.Int64(), polars.Datetime("ns")),
    "timestamptz_ns": (polars.Int64(), polars.Datetime("ns", "UTC")),
}
"""Types whose values are created from integers, because Python's dates and times cannot represent all of them."""


def _constants(type_: Any, values: tuple[Any, ...]) -> polars.Series:
    """Return the constants of a leaf in the column's type."""
    name = native.kind(type_)
    if name in COUNTED:
        count, made = COUNTED[name]
        # Polars stores times in nanoseconds.
        return polars.Series([value * 1000 for value in values] if name == "time" else values, dtype=count).cast(made)
    if name == "decimal":
        precision, scale = type_[type_.index("(") + 1 : -1].split(",")
        return polars.Series(values, dtype=polars.Decimal(int(precision), int(scale)))
    return polars.Series([value.bytes if name == "uuid" else value for value in values], dtype=TYPES.get(name))


def operations() -> dict[str, Callable[[Arguments], object]]:
    """Return the operations by name."""
    return {"table.read": _read, "scan.plan": _plan, **writing_operations("Polars", _append)}


def _append(table: Any, rows: Any) -> None:
    """Append rows with ``LazyFrame.sink_iceberg``."""
    polars.LazyFrame(polars.from_arrow(rows)).sink_iceberg(table, mode="append")


def main() -> None:
    """Serve Polars on standard input and output."""
    warnings.simplefilter("ignore")
    serve(
        {"implementation": "polars", "version": version("polars"), "language": "rust", "format_versions": [1, 2, 3]},
        operations(),
    )


if __name__ == "__main__":
    main()
