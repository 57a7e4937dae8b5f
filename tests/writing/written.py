"""Helpers for tests of writing: rows as Arrow tables and back, and the check of all written files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from conformance.table_io.local import read_table
from conformance.table_io.writing import WritableTable
from conformance.validator.context import Level
from conformance.validator.local import LocalBackend
from conformance.validator.run import SnapshotSelection, validate
from spec_ref.checks.findings import Finding, Severity
from spec_ref.columnar.arrow_values import to_python_values
from spec_ref.columnar.schemas.arrow_columns import arrow_field
from spec_ref.columnar.schemas.column_projection import arrow_values
from spec_ref.data_types.types import INT, LONG, STRING, NestedField
from spec_ref.data_types.values import value_key
from spec_ref.schemas.schema import Schema

ID = NestedField(1, "id", required=True, type=LONG)
PART = NestedField(2, "part", required=False, type=STRING)
NUMBER = NestedField(3, "number", required=False, type=INT)
FIELDS = (ID, PART, NUMBER)


def to_arrow(schema: Schema, rows: Sequence[Mapping[int, Any]]) -> pa.Table:
    """Rows by field id as an Arrow table."""
    columns = [arrow_values(field.type, [row.get(field.id) for row in rows]) for field in schema.fields]
    fields = [arrow_field(field).with_nullable(True) for field in schema.fields]
    return pa.table(columns, schema=pa.schema(fields))


def count_rows(schema: Schema, rows: Sequence[Mapping[int, Any]]) -> Counter[Any]:
    """Rows as a bag of values that can be compared."""
    return Counter(value_key(schema.as_struct(), row) for row in rows)


def from_arrow(schema: Schema, table: pa.Table) -> list[dict[int, Any]]:
    """An Arrow table as rows by field id."""
    rows: list[dict[int, Any]] = []
    for batch in table.combine_chunks().to_batches():
        columns = [
            to_python_values(field.type, array) for field, array in zip(schema.fields, batch.columns, strict=True)
        ]
        ids = [field.id for field in schema.fields]
        rows += [dict(zip(ids, row, strict=True)) for row in zip(*columns, strict=True)]
    return rows


def read(table: WritableTable, **options: Any) -> pa.Table:
    """The rows of a table."""
    return read_table(table.table, **options).read_all()


def lines(table: WritableTable, *names: str, **options: Any) -> list[tuple[Any, ...]]:
    """The rows of a table as tuples, sorted."""
    columns = read(table, select=list(names) or None, **options).columns
    return sorted(zip(*(column.to_pylist() for column in columns), strict=True), key=repr)


def errors(table: WritableTable, snapshots: SnapshotSelection | None = None) -> list[Finding]:
    """What the validator finds that is wrong with a table, its rows included."""
    level = Level.ROWS
    found = validate(table.base.location, level, LocalBackend(1), snapshots or SnapshotSelection("all"))
    return [one for one in found.findings if one.severity is Severity.ERROR]


def files_in(folder: Path) -> set[str]:
    """Every file and directory below a folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}
