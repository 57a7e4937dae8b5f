"""Manifest lists that a reader has to refuse, for the reasons that `manifest_refusals` describes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tools.derive.cases.manifest_reads import LAYOUT
from tools.derive.cases.manifest_refusal_kit import Kind, Row, containers, outcomes
from tools.derive.json_types import JsonObject
from tools.derive.manifests import (
    array,
    column,
    entry,
    list_schema,
    listed,
    listed_form,
    manifest,
    manifest_list,
    optional,
)
from tools.derive.vector import Vector

LIST = Kind("manifest-list", "MLS002 SCN001", list_schema(2, ("partitions",)), {}, (listed(1), listed(2)))


def _lists() -> Iterator[Row]:
    def of(
        name: str,
        codes: str,
        note: str,
        change: Callable[[JsonObject], None] | None = None,
        row: JsonObject | None = None,
        **more: Any,
    ) -> Row:
        return name, codes, manifest_list(2, [row or listed(1)], change=change, **{"columns": (), **more}), note

    required = (
        (500, "manifest_path", "MLS003"),
        (501, "manifest_length", "MLS004"),
        (502, "partition_spec_id", "MLS005"),
        (503, "added_snapshot_id", "MLS009"),
    )
    for field_id, name, code in required:

        def without(schema: JsonObject, field_id: int = field_id) -> None:
            schema["fields"] = [one for one in schema["fields"] if one["field-id"] != field_id]

        yield of(f"{name.replace('_', '-')}-missing", code, f"{name} is required in every version", without)

        def nullable(schema: JsonObject, field_id: int = field_id) -> None:
            one = column(schema, field_id)
            one["type"] = optional(one["type"])

        yield of(
            f"{name.replace('_', '-')}-null",
            code,
            f"{name} is null, which a union allows",
            nullable,
            listed(1, **{name: None}),
        )

        def elsewhere(schema: JsonObject, field_id: int = field_id) -> None:
            column(schema, field_id)["field-id"] = 9000 + field_id

        yield of(
            f"{name.replace('_', '-')}-other-id",
            f"AVR013 {code}",
            f"{name} has the id {9000 + field_id}: it is not found by its name",
            elsewhere,
        )
    rows: list[tuple[str, str, int, Any, Any]] = [
        ("manifest_path", "MLS003", 500, "long", 1),
        ("manifest_length", "MLS004", 501, "string", "1"),
        ("partition_spec_id", "MLS005", 502, "string", "0"),
        ("content", "MLS006", 517, "string", "data"),
        ("sequence_number", "MLS007", 515, "string", "1"),
        ("min_sequence_number", "MLS008", 516, "double", 1.0),
        ("added_snapshot_id", "MLS009", 503, "double", 1.0),
        ("added_files_count", "MLS010", 504, "string", "1"),
        ("existing_files_count", "MLS011", 505, "boolean", True),
        ("deleted_files_count", "MLS012", 506, "float", 1.0),
        ("added_rows_count", "MLS013", 512, "double", 1.0),
        ("existing_rows_count", "MLS014", 513, "string", "0"),
        ("deleted_rows_count", "MLS015", 514, "boolean", False),
        ("partitions", "MLS016", 507, "string", "x"),
        ("key_metadata", "MLS017", 519, array(9519, "int"), [1]),
    ]
    for name, code, field_id, type_, value in rows:

        def retyped(schema: JsonObject, field_id: int = field_id, type_: Any = type_) -> None:
            one = column(schema, field_id)
            one["type"] = type_
            one.pop("default", None)

        name_of_type = type_ if isinstance(type_, str) else "array"
        yield of(
            f"{name.replace('_', '-')}-{name_of_type}",
            code,
            f"{name} is not {'an' if name_of_type[0] in 'ai' else 'a'} {name_of_type}",
            retyped,
            listed(1, **{name: value}),
            columns=(name,),
        )
    for content in (2, -1):
        yield of(
            f"content-{'minus-1' if content < 0 else content}",
            "MLS006",
            f"there is no content {content}",
            row=listed(1, content=content),
        )

    def summary(drop: int) -> Callable[[JsonObject], None]:
        def change(schema: JsonObject) -> None:
            record = column(schema, 507)["type"][1]["items"]
            record["fields"] = [one for one in record["fields"] if one["field-id"] != drop]

        return change

    row = listed(1, partitions=[{"contains_null": False}])
    yield of("contains-null-missing", "MLS019", "contains_null is required", summary(509), row, columns=("partitions",))

    def null_summary(schema: JsonObject) -> None:
        record = column(schema, 507)["type"][1]["items"]
        record["fields"][0]["type"] = optional("boolean")

    yield of(
        "contains-null-null",
        "MLS019",
        "contains_null is null, which a union allows",
        null_summary,
        listed(1, partitions=[{}]),
        columns=("partitions",),
    )
    yield "manifest", "MLS003", manifest(2, [entry(1)]), "a manifest in place of a list"


def lists() -> Iterator[Vector]:
    """Yield the vectors of manifest lists."""
    for name, codes, data, note in (*containers(LIST), *_lists()):
        args = {"bytes": data.hex().upper()}
        expect, why = outcomes([{"manifests": [form]} for form in FILLED_LISTS.get(name, ())])
        yield Vector(
            f"manifest-list-read-refuses-{name}", tuple(codes.split()), args, expect, LAYOUT, note, why, only=(2,)
        )


FILLED_LISTS: dict[str, list[JsonObject]] = {
    **{
        f"{name.replace('_', '-')}-missing": [listed_form(listed(1), **{name: zero})]
        for name, zero in (
            ("manifest_path", ""),
            ("manifest_length", 0),
            ("partition_spec_id", 0),
            ("added_snapshot_id", 0),
        )
    },
    "contains-null-missing": [
        listed_form(listed(1, partitions=[{"contains_null": either}])) for either in (False, True)
    ],
}
"""Manifests of a list in which the missing column has the zero of its type."""
