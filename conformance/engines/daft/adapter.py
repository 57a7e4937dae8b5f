"""The adapter of Daft: ``read_iceberg`` for a table that PyIceberg loads and plans."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

os.environ["DO_NOT_TRACK"] = "true"  # Daft reads this variable on import
import daft
from pyiceberg.exceptions import ValidationError
from pyiceberg.table import StaticTable

from conformance.adapter_sdk import arrow_rows, table_requests
from conformance.adapter_sdk import lenient_values as native
from conformance.adapter_sdk.serve import Arguments, Invalid, Unsupported, serve
from conformance.adapter_sdk.sql_predicates import Leaf, build_predicate, push_down_not
from conformance.engines.pyiceberg.frames_writing import writing_operations

REFUSALS = (ValueError, ValidationError, OSError, daft.exceptions.DaftCoreException)
"""Exceptions with which Daft and PyIceberg refuse a table; pydantic's errors are ValueErrors."""

UNSUPPORTED_MESSAGES = ("not yet support", "Unsupported field type")


def _snapshot(table: StaticTable, args: Arguments) -> dict[str, Any]:
    """Return the arguments of ``read_iceberg`` that select a snapshot."""
    if "snapshot" in args:
        return {"snapshot_id": int(args["snapshot"])}
    if "ref" in args:
        found = table.refs().get(args["ref"])
        return {"branch" if found is None else str(found.snapshot_ref_type.value): args["ref"]}
    if "timestamp_ms" in args:
        snapshot = table.snapshot_as_of_timestamp(args["timestamp_ms"])
        if snapshot is None:
            raise Invalid("PyIceberg does not find the snapshot")
        return {"snapshot_id": snapshot.snapshot_id}
    return {}


def _read(args: Arguments) -> object:
    """Run ``read_iceberg``, then filter and select columns on the data frame."""
    table_requests.check_metadata_columns(args, "read_iceberg")
    names = args.get("select")
    try:
        table = StaticTable.from_metadata(args["table"])
        frame = daft.read_iceberg(table, **_snapshot(table, args))
        if "filter" in args:
            made = build_predicate(push_down_not(args["filter"], table_requests.columns(args)), _leaf)
            frame = frame.where(daft.lit(made) if isinstance(made, bool) else made)
        rows = (frame if names is None else frame.select(*names)).to_arrow()
    except NotImplementedError as error:
        raise Unsupported(str(error)) from None
    except REFUSALS as error:
        raise (Unsupported if any(words in str(error) for words in UNSUPPORTED_MESSAGES) else Invalid)(
            str(error)
        ) from None
    except Exception:
        raise
    except BaseException as error:
        # A Rust panic is a BaseException, and a process that exits with one waits for Daft's threads forever.
        raise RuntimeError(f"{type(error).__name__}: {error}") from None
    return arrow_rows.answer(rows, args["types"], names)


def _leaf(leaf: Leaf) -> daft.Expression:
    column = daft.col(leaf.path[0])
    for name in leaf.path[1:]:
        column = column.get(name)
    constants = [_constant(leaf.type, constant) for constant in leaf.constants]
    match leaf.op:
        case "is-null":
            return column.is_null()
        case "not-null":
            return column.not_null()
        case "is-nan":
            return column.is_nan()
        case "not-nan":
            return column.not_nan()
        case "in":
            return column.is_in(constants)
        case "not-in":
            return ~column.is_in(constants)
        case "starts-with":
            return column.startswith(constants[0])
        case "not-starts-with":
            return ~column.startswith(constants[0])
        case "lt":
            return column < constants[0]
        case "lt-eq":
            return column <= constants[0]
        case "gt":
            return column > constants[0]
        case "gt-eq":
            return column >= constants[0]
        case "eq":
            return column == constants[0]
    return column != constants[0]


TYPES = {
    "float": daft.DataType.float32(),
    "date": daft.DataType.date(),
    "time": daft.DataType.time("us"),
    "timestamp": daft.DataType.timestamp("us"),
    "timestamptz": daft.DataType.timestamp("us", "UTC"),
    "timestamp_ns": daft.DataType.timestamp("ns"),
    "timestamptz_ns": daft.DataType.timestamp("ns", "UTC"),
    "uuid": daft.DataType.uuid(),
}


def _constant(type_: Any, value: Any) -> Any:
    """Return a Daft literal of the column's type."""
    name = native.kind(type_)
    made = daft.lit(value.bytes if name == "uuid" else value)
    if name == "date":
        made = made.cast(daft.DataType.int32())
    if name == "fixed":
        return made.cast(daft.DataType.fixed_size_binary(len(value)))
    return made.cast(TYPES[name]) if name in TYPES else made


def operations() -> dict[str, Callable[[Arguments], object]]:
    """Return the operations by name."""
    return {"table.read": _read, **writing_operations("Daft", _append)}


def _append(table: Any, rows: Any) -> None:
    """Append rows with ``DataFrame.write_iceberg``."""
    daft.from_arrow(rows).write_iceberg(table, mode="append")


def main() -> None:
    """Serve Daft on standard input and output."""
    daft.set_runner_native()
    serve(
        {"implementation": "daft", "version": version("daft"), "language": "rust", "format_versions": [1, 2, 3]},
        operations(),
    )


if __name__ == "__main__":
    main()
