"""The changes of vectors of schema evolution, and their arguments."""

from __future__ import annotations

from typing import Any

from tools.derive.metadata import Document
from tools.derive.metadata_bases import NESTED

SECTION = "spec: Schema Evolution"
SPATIAL = ("geometry(srid:4326)", "geography(srid:4326, karney)")
LAST = 11
"""The highest column id of the base, whose columns are id, data, ts, point{x, y}, tags and prices."""


def add(name: str, type_: Any, *, parent: str | None = None, **more: Any) -> Document:
    """Add a column, or a field of a struct."""
    return {"op": "add", **({} if parent is None else {"parent": parent}), "name": name, "type": type_, **more}


def drop(name: str) -> Document:
    """Drop a column."""
    return {"op": "drop", "name": name}


def rename(name: str, to: str) -> Document:
    """Rename a column."""
    return {"op": "rename", "name": name, "to": to}


def move(name: str, after: str | None) -> Document:
    """Move a column after another, or to the first place."""
    return {"op": "move", "name": name, "after": after}


def promote(name: str, type_: Any) -> Document:
    """Change the type of a column."""
    return {"op": "promote", "name": name, "type": type_}


def set_default(name: str, default: Any) -> Document:
    """Change the write default of a column."""
    return {"op": "default", "name": name, "default": default}


def new_field(field_id: int, name: str, type_: Any, **more: Any) -> Document:
    """Return an optional column."""
    return {"id": field_id, "name": name, "required": False, "type": type_, **more}


def arguments(
    changes: list[Document], version: int, fields: list[Document] | None = None, last: int = LAST
) -> Document:
    """Return the arguments of the operation: the base, or a schema of some columns, and its changes."""
    schema = {"type": "struct", "schema-id": 0, "fields": NESTED if fields is None else fields}
    return {"schema": schema, "format_version": version, "last_column_id": last, "changes": changes}


def type_slug(type_: str) -> str:
    """Return the spelling of a type in the ids of vectors."""
    words = "".join(letter if letter.isalnum() else " " for letter in type_).split()
    return "-".join(
        words[:3]
        if words[0] == "decimal"
        else words[:2]
        if words[0] == "fixed"
        else [word for word in words if word not in ("srid", "4326", "karney")]
    )
