"""Known differences between the reference and engines, which vectors and deviations record."""

from __future__ import annotations

import decimal
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Known:
    """A known difference, which vectors and deviations record."""

    engine: str
    op: str
    holds: Callable[[dict[str, Any]], bool]
    """Whether the answers to a question may differ in this way."""

    where: str
    """The area of the engine's known deviations that records it, or the contradiction."""


def _type_name(args: dict[str, Any]) -> str:
    type_ = args.get("type", "")
    return type_.partition("(")[0].partition("[")[0] if isinstance(type_, str) else type_["type"]


def _ends_in_zeros(args: dict[str, Any]) -> bool:
    """Return whether a time has a fraction that ends in zeros, so that a shorter form is permitted."""
    of_time = _type_name(args).startswith("time")
    return of_time and int.from_bytes(bytes.fromhex(args["bytes"]), "little", signed=True) % 10 == 0


def _small(args: dict[str, Any]) -> bool:
    type_ = args["type"]
    return isinstance(type_, str) and type_.startswith("decimal") and int(type_.rstrip(")").partition(",")[2]) > 6


def _far(args: dict[str, Any]) -> bool:
    """Return whether a date or timestamp is outside of the years 1 to 9999."""
    days = {"date": 1, "timestamp": 86_400 * 10**6, "timestamptz": 86_400 * 10**6}.get(_type_name(args))
    number = int.from_bytes(bytes.fromhex(args["bytes"]), "little", signed=True)
    return days is not None and not -719_162 <= number // days <= 2_932_896


def _is(kind: str) -> Callable[[dict[str, Any]], bool]:
    return lambda args: _type_name(args) == kind


def _width(args: dict[str, Any]) -> int:
    """Return the width of a truncation; 0 for other transforms."""
    name, _, width = args["transform"].partition("[")
    return int(width.rstrip("]")) if name == "truncate" else 0


def _wraps_around(args: dict[str, Any]) -> bool:
    """Return whether the sum of remainder and width may overflow an int."""
    return _type_name(args) == "int" and _width(args) > 1 << 30


def _leaves_precision(args: dict[str, Any]) -> bool:
    """Return whether truncating a decimal may need more digits than its type has."""
    width = _width(args)
    if not width or _type_name(args) != "decimal" or args.get("value") is None:
        return False
    precision, scale = map(int, args["type"].strip("decimal()").split(","))
    unscaled = int(decimal.Decimal(args["value"]).scaleb(scale, decimal.Context(prec=100)))
    return bool(unscaled // width * width <= -(10**precision))


def _in_far_years(args: dict[str, Any]) -> bool:
    """Return whether an error message says that something is outside of the years 1 to 9999."""
    return re.search(r'"(0000|[+-][0-9]+)-[0-9]{2}-', json.dumps(args)) is not None


def _has_nanoseconds(args: dict[str, Any]) -> bool:
    return str(args["schema"]["fields"][0]["type"]).endswith("_ns")


def _has(text: str) -> Callable[[dict[str, Any]], bool]:
    return lambda args: text in json.dumps(args)


def _fields_without_ids(args: dict[str, Any]) -> bool:
    specs = args["metadata"].get("partition-specs", ())
    return any("field-id" not in field for spec in specs for field in spec["fields"])


def _other_blobs(args: dict[str, Any]) -> bool:
    """Return whether statistics name a blob type that the text does not define."""
    types = {blob["type"] for one in args["metadata"].get("statistics", ()) for blob in one["blob-metadata"]}
    return not types <= {"apache-datasketches-theta-v1", "deletion-vector-v1"}


def _partition_types(args: dict[str, Any]) -> list[str]:
    """Return the types of partition values of identity and truncate; those of other transforms have no names."""
    columns = {column["id"]: str(column["type"]) for column in args["schema"]["fields"]}
    specs = args["specs"] if "specs" in args else [args["spec"]]
    kept = ("identity", "truncate", "void")
    fields = (field for spec in specs for field in spec["fields"] if field["transform"].startswith(kept))
    return [columns[field["source-id"]] for field in fields]


def _named_twice(args: dict[str, Any]) -> bool:
    """Return whether two partition fields have the same type, one that has a name in Avro."""
    named = [type_ for type_ in _partition_types(args) if type_.startswith(("decimal", "fixed", "uuid"))]
    return len(set(named)) < len(named)


def _partitioned_by(kind: str) -> Callable[[dict[str, Any]], bool]:
    return lambda args: any(type_.startswith(kind) for type_ in _partition_types(args))


def _selects_all_members(args: dict[str, Any]) -> bool:
    return "select" not in args


BOTH = ("iceberg-java", "pyiceberg")

KNOWN: tuple[Known, ...] = (
    *(Known(engine, "json-value.encode", _ends_in_zeros, "contradiction B34") for engine in BOTH),
    Known("pyiceberg", "json-value.encode", _small, "values: small decimals with an exponent"),
    Known("pyiceberg", "json-value.encode", _far, "values: years beyond Python's; contradiction E4"),
    *(
        Known("pyiceberg", op, _in_far_years, "values: years beyond Python's; contradiction E4")
        for op in ("json-value.decode", "expression.evaluate")
    ),
    # No rule sets the number of digits of a float: Java writes the fewest, which are read as the same float.
    Known("iceberg-java", "json-value.encode", _is("float"), "Appendix D has no rule for digits"),
    Known("iceberg-java", "transform", _wraps_around, "values: widths above half of the range of int"),
    Known("iceberg-java", "transform", _leaves_precision, "contradiction C6"),
    Known("iceberg-java", "expression.evaluate", _has('"uuid"'), "expressions: halves of UUIDs as signed numbers"),
    Known("pyiceberg", "expression.evaluate", _has('"uuid"'), "expressions: UUIDs of records and bytes"),
    Known("pyiceberg", "type.parse", _has("geometry("), "values: geometry with a CRS"),
    Known("pyiceberg", "type.parse", _has("geography("), "values: geography with a CRS"),
    Known("pyiceberg", "metadata.read", _has("geometry("), "values: geometry with a CRS"),
    Known("pyiceberg", "metadata.read", _has("geography("), "values: geography with a CRS"),
    Known("pyiceberg", "metadata.read", _other_blobs, "table metadata: types of blobs that it does not know"),
    Known("pyiceberg", "metadata.read", _fields_without_ids, "table metadata: v1 partition fields without ids"),
    *(Known(engine, "metadata.read", _has('-default": {'), "table metadata: defaults of structs") for engine in BOTH),
    *(Known(engine, "metadata.read", _has("source-ids"), "table metadata: source-ids") for engine in BOTH),
    Known("iceberg-java", "expression.evaluate", _has_nanoseconds, "expressions: constants of timestamp_ns"),
    Known("iceberg-java", "manifest.read", _partitioned_by("fixed"), "manifests: fixed as if it were binary"),
    Known("iceberg-java", "manifest.write", _partitioned_by("fixed"), "manifests: fixed as if it were binary"),
    Known("pyiceberg", "manifest.read", _named_twice, "manifests: a type that was defined before"),
    Known("pyiceberg", "manifest.write", _named_twice, "manifests: an Avro type defined twice"),
    Known("pyiceberg", "manifest.read", _partitioned_by("double"), "manifests: doubles with a float's precision"),
    *(
        Known("pyiceberg", op, _selects_all_members, "manifests: what came after the first texts of v2")
        for op in ("manifest.read", "manifest-list.read")
    ),
)
