"""Metadata with several schemas: how later schemas may change the columns of earlier ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.derive.metadata import Document
from tools.derive.metadata_bases import DATA, ID
from tools.derive.metadata_cases import EITHER, Case


def _later(name: str, version: int, code: str, old: Any, new: Any, near: Any, note: str) -> Case:
    """Return a case of two schemas between which a column changes from ``old`` to ``new``, not to a valid ``near``."""

    def edits(type_: Any) -> Document:
        later = {**DATA, "type": type_} if not isinstance(type_, dict) or "name" not in type_ else type_
        return {
            "/last-column-id": 4,
            "/schemas/0/fields/1/type": old,
            "/current-schema-id": 1,
            "/schemas/-": {"type": "struct", "schema-id": 1, "fields": [ID, later]},
        }

    return Case(f"history-{name}", f"v{version}-minimal", (code,), edits(new), EITHER, note, valid_edits=edits(near))


STRUCT: Document = {"type": "struct", "fields": [{"id": 3, "name": "x", "required": False, "type": "int"}]}
LONGER: Document = {
    "type": "struct",
    "fields": [
        {"id": 3, "name": "x", "required": False, "type": "long"},
        {"id": 4, "name": "y", "required": False, "type": "int"},
    ],
}
A_LIST: Document = {"type": "list", "element-id": 3, "element-required": False, "element": "int"}
A_MAP: Document = {"type": "map", "key-id": 3, "key": "int", "value-id": 4, "value-required": False, "value": "int"}


def history() -> Iterator[Case]:
    """Yield cases of changes of columns between schemas that schema evolution does not allow."""
    yield _later("int-to-string", 2, "EVO003", "int", "string", "long", "an int became a string")
    yield _later("int-to-double", 2, "EVO003", "int", "double", "long", "an int became a double")
    yield _later("float-to-int", 2, "EVO003", "float", "int", "double", "a float became an int")
    yield _later(
        "decimal-scale",
        2,
        "EVO003",
        "decimal(9, 2)",
        "decimal(9, 3)",
        "decimal(10, 2)",
        "the scale of a decimal changed",
    )
    yield _later(
        "timestamp-to-timestamptz",
        2,
        "EVO003",
        "timestamp",
        "timestamptz",
        "timestamp",
        "a timestamp became a timestamptz",
    )
    yield _later(
        "date-to-timestamp-in-v2",
        2,
        "EVO003",
        "date",
        "timestamp",
        "date",
        "a date became a timestamp, which v3 brought",
    )
    yield _later("date-to-timestamptz", 3, "EVO003", "date", "timestamptz", "timestamp", "a date became a timestamptz")
    yield _later("fixed-length", 2, "EVO003", "fixed[4]", "fixed[8]", "fixed[4]", "a fixed became longer")
    yield _later("primitive-to-struct", 2, "EVO013", "int", STRUCT, "long", "an int became a struct")
    yield _later("struct-to-primitive", 2, "EVO013", STRUCT, "int", LONGER, "a struct of one field became its field")
    yield _later("list-to-map", 2, "EVO003", A_LIST, A_MAP, {**A_LIST, "element": "long"}, "a list became a map")
    yield Case(
        "history-field-left-struct",
        "v2-minimal",
        ("EVO012",),
        {
            "/last-column-id": 4,
            "/schemas/0/fields/1/type": LONGER,
            "/current-schema-id": 1,
            "/schemas/-": {
                "type": "struct",
                "schema-id": 1,
                "fields": [ID, {**DATA, "type": STRUCT}, {"id": 4, "name": "y", "required": False, "type": "int"}],
            },
            "/schemas/0/fields/1/type/fields/0/type": "int",
        },
        EITHER,
        "a field moved from its struct to the table",
        valid_edits={
            "/last-column-id": 4,
            "/schemas/0/fields/1/type": LONGER,
            "/current-schema-id": 1,
            "/schemas/-": {"type": "struct", "schema-id": 1, "fields": [ID, {**DATA, "type": STRUCT}]},
            "/schemas/0/fields/1/type/fields/0/type": "int",
        },
    )
    old = {**DATA, "initial-default": "a", "write-default": "a"}
    changes = {"initial-default": "b"}, {"write-default": "b"}
    wrong, right = (
        {
            "/schemas/0/fields/1": old,
            "/current-schema-id": 1,
            "/schemas/-": {"type": "struct", "schema-id": 1, "fields": [ID, {**old, **change}]},
        }
        for change in changes
    )
    yield Case(
        "history-initial-default",
        "v3-minimal",
        ("DEF003",),
        wrong,
        EITHER,
        "the initial default of a column changed",
        valid_edits=right,
        further_codes=("EVO014",),
    )
