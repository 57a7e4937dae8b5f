"""Awkward values in predicates that are evaluated on metrics, partitions and summaries (Scan Planning).

A file, a partition or a manifest has a single value. The predicate is true of this value and of few others
(`awkward_predicates.predicate_for`), so that an inclusive answer has to be true. The negation of the predicate is false
of it, so that a strict answer has to be false.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.derive import awkward, transforms
from tools.derive.cases.awkward_predicates import order_code, predicate_for
from tools.derive.cases.expression_forms import SchemaVector, and_, leaf, not_, schema
from tools.derive.encoding import single_value
from tools.derive.json_types import JsonObject
from tools.derive.vector import Vector, VectorFile, ok

SECTION = "Scan Planning"
ORIGIN = "derivation: the one value matches the predicate, and not its opposite"

TRANSFORMS: dict[str, tuple[str, ...]] = {
    "bucket": (
        "int",
        "long",
        "decimal",
        "date",
        "time",
        "timestamp",
        "timestamptz",
        "timestamp_ns",
        "timestamptz_ns",
        "string",
        "uuid",
        "fixed",
        "binary",
    ),
    "truncate": ("int", "long", "decimal", "string", "binary"),
    **dict.fromkeys(("year", "month", "day"), ("date", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns")),
    "hour": ("timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns"),
}
"""The source types of each transform (Partition Transforms)."""

CODES = {
    "identity": "TRN002",
    "bucket": "TRN003",
    "year": "TRN010",
    "month": "TRN011",
    "day": "TRN012",
    "hour": "TRN014",
}
TRUNCATES = {"int": "TRN006", "long": "TRN006", "decimal": "TRN007", "string": "TRN008", "binary": "TRN009"}
WIDTHS = {"bucket": "bucket[16]", "truncate": "truncate[2]"}


def _point(type_: str, name: str) -> tuple[str, ...]:
    """Return the contradiction about the order of zeros if the value is a zero (B7)."""
    return ("B7",) if type_ in ("float", "double") and name.endswith("zero") else ()


def _bounds(type_: str, value: Any) -> str:
    return single_value(type_, value).hex().upper()


def _both_kinds(
    id_: str, codes: tuple[str, ...], args: JsonObject, predicate: Any, note: str, point: tuple[str, ...]
) -> Any:
    yield SchemaVector(
        f"{id_}-inclusive",
        codes,
        {**args, "predicate": predicate, "kind": "inclusive"},
        ok(value=True),
        ORIGIN,
        note,
        point,
    )
    yield SchemaVector(
        f"{id_}-strict",
        codes,
        {**args, "predicate": not_(predicate), "kind": "strict"},
        ok(value=False),
        ORIGIN,
        note,
        point,
    )


def _metrics() -> Iterator[Vector]:
    for name, type_, value, note in awkward.EVERY_ROW:
        predicate, said = predicate_for(name, type_, value, note)
        found: JsonObject = {"record_count": "10", "value_counts": {"1": "10"}, "null_value_counts": {"1": "0"}}
        if type_ in ("float", "double"):
            found["nan_value_counts"] = {"1": "10" if value == "NaN" else "0"}
        codes: tuple[str, ...] = ("DFL014", "SCN005")
        if value != "NaN":
            codes = ("DFL016", "DFL017", "SCN005", order_code(type_))
            found |= {"lower_bounds": {"1": _bounds(type_, value)}, "upper_bounds": {"1": _bounds(type_, value)}}
        args = {"schema": schema(x=type_), "metrics": found}
        yield from _both_kinds(f"metrics-awkward-{name}", codes, args, predicate, said, _point(type_, name))


def _spec(transform: str) -> JsonObject:
    field = {"source-id": 1, "field-id": 1000, "name": "p", "transform": transform}
    return {"spec-id": 0, "fields": [field]}


def _identity_partitions() -> Iterator[Vector]:
    for name, type_, value, note in awkward.EVERY_ROW:
        predicate, said = predicate_for(name, type_, value, note)
        codes = ("SCN003", "TRN002", order_code(type_)) if value != "NaN" else ("SCN003", "TRN002")
        args = {"schema": schema(x=type_), "spec": _spec("identity"), "partition": {"1000": value}}
        yield from _both_kinds(f"projection-awkward-{name}", codes, args, predicate, said, _point(type_, name))


def _null_partition() -> Iterator[Vector]:
    args = {"schema": schema(x="int"), "spec": _spec("identity"), "partition": {"1000": None}}
    yield from _both_kinds("projection-null", ("SCN003", "TRN002"), args, leaf("is-null"), "a partition of null", ())


def _order_claims(name: str, type_: str, value: Any, predicate: Any) -> Any:
    """Yield the predicate, and the claims that the value is neither less nor greater than itself."""
    if awkward.is_far(name, type_):
        return predicate
    literal = int(value) if type_ == "long" else value
    return and_(predicate, and_(leaf("lt-eq", literal), leaf("gt-eq", literal)))


def _transformed_partitions() -> Iterator[Vector]:
    for base, types in TRANSFORMS.items():
        for name, type_, value, note in awkward.EVERY_ROW:
            kind = awkward.kind(type_)
            if kind not in types:
                continue
            if awkward.is_far(name, type_) and (base == "bucket" or (base == "hour" and name.endswith(("max", "min")))):
                continue  # buckets are not ordered, and the hours of such an instant do not fit an int
            beside_limit = awkward.is_far(name, type_) and name.endswith(("below-max", "above-min"))
            if beside_limit and (base in ("year", "month") or kind != "date"):
                continue  # the partition is that of the limit beside it
            # truncate[2] of the least decimal has 39 digits; 3 divides it
            lowest = base == "truncate" and name == "decimal-most-digits-negative"
            transform = "truncate[3]" if lowest else WIDTHS.get(base, base)
            partition, how = transforms.transform(transform, type_, value)
            predicate, said = predicate_for(name, type_, value, note)
            code = TRUNCATES[kind] if base == "truncate" else CODES[base]
            args = {"schema": schema(x=type_), "spec": _spec(transform), "partition": {"1000": partition}}
            yield from _both_kinds(
                f"projection-{base}-awkward-{name}",
                ("SCN003", code),
                args,
                _order_claims(name, type_, value, predicate),
                f"{said}; partition: {how}" if said else f"partition: {how}",
                (),
            )


def _residuals() -> Iterator[Vector]:
    for name, type_, value, note in awkward.EVERY_ROW:
        predicate, said = predicate_for(name, type_, value, note)
        yield SchemaVector(
            f"residual-awkward-{name}",
            ("SCN003",),
            {
                "schema": schema(x=type_),
                "spec": _spec("identity"),
                "predicate": predicate,
                "partition": {"1000": value},
                "row": {"1": value},
            },
            ok(value=True),
            "derivation: for a row of the partition the residual is the predicate",
            said,
            _point(type_, name),
        )


def _summaries() -> Iterator[Vector]:
    for name, type_, value, note in awkward.EVERY_ROW:
        if name == "float-nan":
            continue  # the vector summary-only-nan covers it
        predicate, said = predicate_for(name, type_, value, note)
        summary: JsonObject = {"contains_null": False}
        codes: tuple[str, ...] = ("MLS020", "SCN002")
        if type_ in ("float", "double"):
            summary["contains_nan"] = value == "NaN"
        if value != "NaN":
            codes = ("MLS021", "MLS022", "SCN002", order_code(type_))
            summary |= {"lower_bound": _bounds(type_, value), "upper_bound": _bounds(type_, value)}
        yield SchemaVector(
            f"summary-awkward-{name}",
            codes,
            {"schema": schema(x=type_), "spec": _spec("identity"), "predicate": predicate, "summaries": [summary]},
            ok(value=True),
            ORIGIN,
            said,
            _point(type_, name),
        )


def files() -> Iterator[VectorFile]:
    """Yield the vector files of awkward values in scan planning."""
    yield VectorFile("expressions/metrics-awkward.json", "metrics.evaluate", SECTION, tuple(_metrics()))
    partitions = (*_identity_partitions(), *_null_partition(), *_transformed_partitions())
    yield VectorFile("expressions/projections-awkward.json", "projection.evaluate", SECTION, partitions)
    yield VectorFile("expressions/residuals-awkward.json", "residual.evaluate", SECTION, tuple(_residuals()))
    yield VectorFile("expressions/summaries-awkward.json", "summaries.evaluate", SECTION, tuple(_summaries()))
