"""Rows of the model, and the keys by which operations compare them.

Only the standard library and `attrs` are used, as in `conformance.scripts.model`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from attrs import frozen

from conformance.scripts.errors import ForbiddenOperation, ScriptError, UnspecifiedOperation
from conformance.scripts.model_values import comparable_literal, read_fields
from conformance.scripts.states import ModelRow, Rows
from spec_ref.core.json_types import Json

Fields = tuple[Json, ...]
Literals = Mapping[str, Json]

NO_EQUALITY = ("float", "double", "variant")
"""Types, besides nested ones, whose columns equality deletes do not compare (DEL018)."""


@frozen(eq=False)
class StoredRow:
    """A row, as it was last written."""

    values: Mapping[int, Json]
    fields: Fields
    """The columns of the schema that it was written with."""

    identity: int
    updated: int

    def read(self, fields: Fields) -> dict[str, Json]:
        """Return the literals of the row under a schema."""
        return read_fields(fields, self.fields, self.values)


@frozen
class ModelSnapshot:
    """The rows of a branch, and the columns of the schema that they were committed with."""

    fields: Fields
    rows: tuple[StoredRow, ...]


def reading(fields: Fields, rows: Iterable[StoredRow]) -> Rows:
    """Return the result of reading some rows under a schema."""
    return Rows(fields, tuple(ModelRow(row.read(fields), row.identity, row.updated) for row in rows))


def row_key(columns: Sequence[Json]) -> Callable[[Literals], tuple[Any, ...]]:
    """Return a function that gives the comparable values of a row in some columns."""
    return lambda row: tuple(comparable_literal(column["type"], row.get(column["name"])) for column in columns)


def check_keys(columns: Iterable[Json]) -> None:
    """Check that it is clear when values of key columns are equal.

    Raises:
        ScriptError: it is left open for the type of a column.
    """
    for column in columns:
        if column["type"] in NO_EQUALITY or isinstance(column["type"], dict):
            raise ScriptError(f"{column['name']} is a key, and the equality of {column['type']} values is left open")


def check_delete_columns(columns: Iterable[Json], rows: Sequence[Literals]) -> None:
    """Check that equality deletes can compare columns (DEL018).

    Args:
        columns: the columns.
        rows: the rows to delete.

    Raises:
        ForbiddenOperation: they cannot.
        UnspecifiedOperation: the text does not say whether they can.
    """
    for column in columns:
        if column["type"] == "unknown":
            raise UnspecifiedOperation(
                "DEL018", f"{column['name']} is primitive, and files have no columns of type unknown"
            )
        if isinstance(column["type"], str) and column["type"].partition("(")[0] in ("geometry", "geography"):
            raise UnspecifiedOperation(
                "DEL018", f"{column['name']} is primitive, and the spec does not say which shapes are equal"
            )
        if isinstance(column["type"], dict) or column["type"].partition("(")[0] in NO_EQUALITY:
            raise ForbiddenOperation("DEL018", f"equality deletes cannot compare {column['name']}: {column['type']}")
        if column["required"] and any(row[column["name"]] is None for row in rows):
            raise UnspecifiedOperation("TYP002", f"{column['name']} is required, and a row to delete has null")
