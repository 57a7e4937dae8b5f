"""The adapter of Polars: ``scan_iceberg``, whose planner is its own (polars-iceberg).

PyIceberg reads the table metadata for it and knows the references of snapshots, as for any user of Polars.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from decimal import Decimal
from importlib.metadata import version
from typing import Any

import polars
from pyiceberg.exceptions import ValidationError
from pyiceberg.table import StaticTable

from conformance.adapters import arrow_rows, native, table_requests
from conformance.adapters.serve import Invalid, Unsupported, serve
from conformance.adapters.sql_predicates import Leaf, built, normal

Arguments = dict[str, Any]

REFUSALS = (ValueError, ValidationError, polars.exceptions.PolarsError, OSError)
"""What Polars and PyIceberg raise about a table that they do not take; pydantic's errors are ValueErrors."""

NOT_THERE = ("not yet support", "Unsupported field type", "Unsupported file format")


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
        raise Invalid("PyIceberg knows no such snapshot")
    return int(found.snapshot_id)


def _read(args: Arguments) -> object:
    """``scan_iceberg``, filtered and with its columns chosen as a lazy frame."""
    table_requests.without_metadata_columns(args, "scan_iceberg")
    names = args.get("select")
    try:
        table = StaticTable.from_metadata(args["table"])
        frame = polars.scan_iceberg(table, snapshot_id=_snapshot_id(table, args))
        if "filter" in args:
            frame = frame.filter(built(normal(args["filter"], table_requests.columns(args)), _leaf))
        rows = (frame if names is None else frame.select(names)).collect()
    except NotImplementedError as error:
        raise Unsupported(str(error)) from None
    except REFUSALS as error:
        raise (Unsupported if any(words in str(error) for words in NOT_THERE) else Invalid)(str(error)) from None
    return arrow_rows.answer(rows.to_arrow(), args["types"], names)


def _leaf(leaf: Leaf) -> polars.Expr:
    column = polars.col(leaf.path[0])
    for name in leaf.path[1:]:
        column = column.struct.field(name)
    constants = [_constant(leaf.type, constant) for constant in leaf.constants]
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
    compare = {"lt": column.lt, "lt-eq": column.le, "gt": column.gt, "gt-eq": column.ge, "eq": column.eq,
               "not-eq": column.ne}  # fmt: skip
    return compare[leaf.op](constants[0])


_UNITS = {"timestamp": "us", "timestamptz": "us", "timestamp_ns": "ns", "timestamptz_ns": "ns"}


def _constant(type_: Any, value: Any) -> Any:
    """A constant of the column's type, as Polars has it."""
    name = native.kind(type_)
    if name in _UNITS:
        zone = "UTC" if "tz" in name else None
        return polars.lit(value, polars.Int64).cast(polars.Datetime(_UNITS[name], zone))
    match name:
        case "date":
            return polars.lit(value, polars.Int32).cast(polars.Date)
        case "time":
            return polars.lit(value * 1000, polars.Int64).cast(polars.Time)
        case "float":
            return polars.lit(value, polars.Float32)
        case "uuid":
            return value.bytes
    if isinstance(value, Decimal):
        precision, scale = type_[type_.index("(") + 1 : -1].split(",")
        return polars.lit(value, polars.Decimal(int(precision), int(scale)))
    return value


def operations() -> dict[str, Callable[[Arguments], object]]:
    """What can be asked of Polars, by name."""
    return {"table.read": _read}


def main() -> None:
    """Serve Polars on standard input and output."""
    warnings.simplefilter("ignore")
    serve(
        {"implementation": "polars", "version": version("polars"), "language": "rust", "format_versions": [1, 2, 3]},
        operations(),
    )


if __name__ == "__main__":
    main()
