"""Vectors of type promotion (Schema Evolution)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.derive.metadata_bases import DATA, ID
from tools.derive.metadata_changes import SPATIAL, promote, type_slug
from tools.derive.vector import INVALID, Vector, any_of, ok

RULES = "derivation: the table of valid type promotions, by hand"

OLD_TYPES = (
    "boolean",
    "int",
    "long",
    "float",
    "double",
    "decimal(9, 2)",
    "date",
    "time",
    "timestamp",
    "timestamptz",
    "string",
    "uuid",
    "fixed[4]",
    "binary",
)

WIDER = ("decimal(10, 2)", "decimal(38, 2)", "decimal(8, 2)", "decimal(9, 3)", "decimal(10, 3)", "decimal(11, 0)")

NEW_TYPES = ("timestamp_ns", "timestamptz_ns")

ALLOWED = {
    ("int", "long"),
    ("float", "double"),
    ("decimal(9, 2)", "decimal(10, 2)"),
    ("decimal(9, 2)", "decimal(38, 2)"),
}

ALLOWED_IN_V3 = ALLOWED | {("date", "timestamp"), ("date", "timestamp_ns")}

UNLISTED = "the spec does not list the promotion"

NOT_LISTED = (
    ("long", "int"),
    ("double", "float"),
    ("timestamp", "date"),
    ("timestamp", "timestamp_ns"),
    ("timestamp_ns", "timestamp"),
    ("timestamptz", "timestamptz_ns"),
    ("int", "unknown"),
    ("string", "variant"),
    ("fixed[4]", "fixed[8]"),
    ("fixed[4]", "fixed[2]"),
    ("geometry(srid:4326)", "geography(srid:4326, karney)"),
    ("string", "geometry(srid:4326)"),
)


def _promotion(old: str, new: Any, version: int, codes: tuple[str, ...], expect: Any, note: str, **more: Any) -> Vector:
    args = {
        "schema": {"type": "struct", "schema-id": 0, "fields": [ID, {**DATA, "type": old}]},
        "format_version": version,
        "last_column_id": 2,
        "changes": [promote("data", new)],
    }
    name = f"promote-v{version}-{type_slug(old)}-to-{type_slug(new) if isinstance(new, str) else new['type']}"
    return Vector(name, codes, args, expect, RULES, note, only=(version,), **more)


def _promoted_fields(new: Any) -> dict[str, Any]:
    return ok({"fields": [ID, {**DATA, "type": new}], "last-column-id": 2})


def promotions() -> Iterator[Vector]:
    """Yield cases of every pair of types of v2 in v2, of the listed pairs in v1, and of the pairs that v3 changes."""
    for old in OLD_TYPES:
        for new in (*OLD_TYPES, *(WIDER if old.startswith("decimal") else ())):
            if new == old:
                continue
            allowed = (old, new) in ALLOWED
            code = "TYP014" if old[:7] == new[:7] == "decimal" and new[-2] != "2" else "EVO003"
            codes = ("EVO003",) if code == "EVO003" else ("EVO003", code)
            yield _promotion(
                old,
                new,
                2,
                codes,
                _promoted_fields(new) if allowed else INVALID,
                "the spec lists the promotion" if allowed else UNLISTED,
            )
    for old, new in sorted(ALLOWED):
        for version in (1, 3):
            yield _promotion(
                old, new, version, ("EVO003",), _promoted_fields(new), "the spec lists the promotion for every version"
            )
    yield _promotion("date", "timestamp", 1, ("EVO003",), INVALID, "the spec lists the promotion from v3")
    for new in (*OLD_TYPES, *NEW_TYPES):
        if new != "date":
            allowed = ("date", new) in ALLOWED_IN_V3
            codes = ("EVO005",) if new.startswith("timestamp") else ("EVO003",)
            yield _promotion(
                "date",
                new,
                3,
                codes,
                _promoted_fields(new) if allowed else INVALID,
                "the spec lists the promotion from v3" if allowed else UNLISTED,
            )
    for old, new in NOT_LISTED:
        yield _promotion(old, new, 3, ("EVO003",), INVALID, UNLISTED)
    for new in (*OLD_TYPES, *NEW_TYPES):
        yield _promotion("unknown", new, 3, ("EVO004",), _promoted_fields(new), "unknown becomes any type")
    nested: tuple[Any, ...] = (
        {"type": "list", "element-id": 3, "element-required": False, "element": "int"},
        {"type": "map", "key-id": 3, "key": "int", "value-id": 4, "value-required": False, "value": "int"},
        {"type": "struct", "fields": [{"id": 3, "name": "x", "required": False, "type": "int"}]},
    )
    for new in (*SPATIAL, "variant", *nested):
        last = 4 if isinstance(new, dict) and new["type"] == "map" else 3 if isinstance(new, dict) else 2
        made = ok({"fields": [ID, {**DATA, "type": new}], "last-column-id": last})
        if new in SPATIAL:
            yield _promotion("unknown", new, 3, ("EVO004",), made, "unknown becomes any type")
        else:
            yield _promotion(
                "unknown",
                new,
                3,
                ("EVO004",),
                any_of(INVALID, made),
                "any type, in a table of primitive types",
                contradiction=("B36",),
            )


# Promotions of the source of a partition field (EVO008): the old type, the new one, and the transforms that keep their
# values. Widening keeps values and, by Appendix B, hashes; days become micro- or nanoseconds.

KEEP: list[tuple[int, str, str, tuple[str, ...], tuple[str, ...]]] = [
    (2, "int", "long", ("identity", "bucket[16]", "truncate[10]", "void"), ()),
    (2, "float", "double", ("identity", "void"), ()),
    (2, "decimal(9, 2)", "decimal(18, 2)", ("identity", "bucket[16]", "truncate[10]", "void"), ()),
    (1, "int", "long", ("bucket[16]",), ()),
    (3, "date", "timestamp", ("year", "month", "day", "void"), ("identity", "bucket[16]")),
    (3, "date", "timestamp_ns", ("year", "month", "day", "void"), ("identity", "bucket[16]")),
]


def partition_sources() -> Iterator[Vector]:
    """Yield cases in which the source column of a partition field is promoted."""
    for version, old, new, kept, changed in KEEP:
        for transform in (*kept, *changed):
            name = f"promote-v{version}-{type_slug(old)}-to-{type_slug(new)}-under-{transform.split('[')[0]}"
            field = {"source-id": 2, "field-id": 1000, "name": "p", "transform": transform}
            args = {
                "schema": {"type": "struct", "schema-id": 0, "fields": [ID, {**DATA, "type": old}]},
                "format_version": version,
                "last_column_id": 2,
                "partition_fields": [field],
                "changes": [promote("data", new)],
            }
            why = ("B37",) if old == "date" else ()
            yield Vector(
                name,
                ("EVO008",),
                args,
                _promoted_fields(new) if transform in kept else INVALID,
                "derivation: the values of the transform before and after, by Partition Transforms and Appendix B",
                "the transform gives the same values" if transform in kept else "the transform gives other values",
                why,
                (version,),
            )
