"""What a table has to hold after each operation of a script, told from the script alone.

A row is what its statements made of it: values by the field ids of the schema that it was written with, who it is
(``identity``) and which operation changed it last. Files, manifests, snapshots' ids and deletes play no part, so that
the model cannot be wrong in the way that a writer is. It uses the rules of `spec_ref` for what is no matter of writing:
evolution of schemas, projection of values, and predicates of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import singledispatchmethod
from typing import Any

import attrs
from attrs import field, frozen

from conformance.scripts.literals import read_literal, write_literal
from conformance.scripts.operations import (
    MAIN,
    AlterSchema,
    AlterSpec,
    Append,
    Compact,
    Create,
    Delete,
    DeleteEqual,
    Expire,
    FastForward,
    MakeBranch,
    MakeTag,
    Merge,
    Operation,
    Overwrite,
    ReplaceSort,
    RewriteManifests,
    Rollback,
    Row,
    Script,
    SetProperties,
    Update,
    Upgrade,
    Upsert,
)
from conformance.scripts.parsing import ScriptError
from conformance.scripts.schemas import Parts, changed_schema, changed_spec, first_schema, sort_of, spec_of
from conformance.scripts.states import ModelRow, Rows, TableState
from spec_ref.errors import SpecError
from spec_ref.expressions.binding import bind
from spec_ref.expressions.bound import evaluate
from spec_ref.expressions.expression_json import predicate_from_json
from spec_ref.schemas.projection import WrittenColumns, project_row
from spec_ref.schemas.schema import Schema
from spec_ref.schemas.types import DOUBLE, FLOAT, NestedField
from spec_ref.schemas.values import value_key
from spec_ref.versions import V1, FormatVersion

Json = Any
Values = Mapping[int, Any]


@frozen
class _Stored:
    """A row as it was written last."""

    values: Values
    schema: Schema
    identity: int
    updated: int

    def read(self, schema: Schema) -> dict[int, Any]:
        return project_row(schema.fields, WrittenColumns(self.schema.as_struct()), self.values, {})


@frozen
class _Snapshot:
    schema: Schema
    rows: tuple[_Stored, ...]


def run_model(script: Script) -> tuple[TableState, ...]:
    """The states of the table, one after each operation.

    Raises:
        ScriptError: an operation makes no sense where it stands; tells which, and why.
    """
    model = _Model()
    states = []
    for index, operation in enumerate(script.operations):
        try:
            states.append(model.apply(index, operation))
        except (SpecError, ScriptError) as error:
            raise ScriptError(f"/operations/{index}: {operation.op}: {error}") from None
    return tuple(states)


def rows_of(state: TableState, ref: str = MAIN) -> list[dict[str, Json]]:
    """The rows of a branch or tag, values only."""
    return [row.values for row in state.refs[ref].rows]


@attrs.define
class _Model:
    """The table while a script runs. A snapshot is never changed, so that references can share it."""

    version: FormatVersion = V1
    schema: Schema = field(factory=lambda: Schema(()))
    last_column_id: int = 0
    parts: Parts = field(factory=Parts)
    properties: dict[str, str] = field(factory=dict)
    branches: dict[str, _Snapshot] = field(factory=dict)
    tags: dict[str, _Snapshot] = field(factory=dict)
    history: list[_Snapshot | None] = field(factory=list)
    """Main after each operation; None where it had no snapshot, or no longer has that one."""

    kept_since: int = 0
    """The first operation after which main has a snapshot that is still there."""

    open_schemas: set[int] = field(factory=set)
    """Operations after which main may have its old snapshot, or one with the same rows and another schema."""

    turns: int = 0
    """How often main was written to, or moved back."""

    ahead: dict[str, int] = field(factory=dict)
    """``turns`` when each branch was made."""

    identities: int = 0
    index: int = 0
    target: tuple[str | None, bool] = (None, False)
    """The branch that the operation writes rows to, and whether they change."""

    def apply(self, index: int, operation: Operation) -> TableState:
        before = self.branches.get(MAIN)
        self._begin(index)
        self._do(operation)
        main = self.branches.get(MAIN)
        if main is not None and main is before:
            made_one = self.target == (MAIN, False) and main.schema != self.schema
            if made_one or index - 1 in self.open_schemas:
                self.open_schemas.add(index)
        self.history.append(main)
        return TableState(
            int(self.version), self.schema, self.parts.spec_parts(self.schema), self.parts.sort_parts(self.schema),
            dict(self.properties), self._refs(), *self.target,
        )  # fmt: skip

    def _begin(self, index: int) -> None:
        self.index, self.target = index, (None, False)

    def _refs(self) -> dict[str, Rows]:
        heads = {MAIN: _Snapshot(self.schema, ()), **self.branches}
        return {
            **{name: _reading(self.schema, snapshot) for name, snapshot in heads.items()},
            **{name: _reading(snapshot.schema, snapshot) for name, snapshot in self.tags.items()},
        }

    # Rows

    def _rows(self, branch: str) -> tuple[_Stored, ...]:
        if branch != MAIN and branch not in self.branches:
            raise ScriptError(f"there is no branch {branch!r}")
        return self.branches[branch].rows if branch in self.branches else ()

    def _write(self, branch: str, rows: Iterable[_Stored], *, changed: bool) -> None:
        """Make the rows those of a branch, by a snapshot where anything changed."""
        self.target = (branch, changed)
        self.turns += branch == MAIN
        if changed:
            self.branches[branch] = _Snapshot(self.schema, tuple(rows))

    def _new(self, row: Row) -> _Stored:
        self.identities += 1
        return _Stored(self._values(row), self.schema, self.identities - 1, self.index)

    def _values(self, row: Row) -> Values:
        """The values of a new row: what is left out takes its write default."""
        self._columns(row)
        values = {}
        for column in self.schema.fields:
            given = read_literal(column.type, row[column.name]) if column.name in row else column.write_default
            if given is None and column.required:
                raise ScriptError(f"null in the required column {column.name}")
            values[column.id] = given
        return values

    def _columns(self, names: Iterable[str]) -> list[NestedField]:
        """Top-level columns by their names."""
        by_name = {column.name: column for column in self.schema.fields}
        unknown = [name for name in names if name not in by_name]
        if unknown:
            raise ScriptError(f"the table has no column {unknown[0]!r}; it has {', '.join(by_name)}")
        return [by_name[name] for name in names]

    def _matches(self, predicate: Json) -> Callable[[_Stored], bool]:
        bound = bind(predicate_from_json(predicate), self.schema)
        return lambda row: evaluate(bound, row.read(self.schema))

    def _key(self, columns: list[NestedField]) -> Callable[[Values], tuple[Any, ...]]:
        return lambda values: tuple(value_key(column.type, values[column.id]) for column in columns)

    def _keys(self, on: tuple[str, ...]) -> list[NestedField]:
        columns = self._columns(on)
        for column in columns:
            if column.type in (FLOAT, DOUBLE):
                raise ScriptError(f"{column.name} is a key and floating: which of its values are equal is left open")
        return columns

    def _updated(self, row: _Stored, given: Row) -> _Stored:
        """The same row with other values in some columns."""
        values = row.read(self.schema)
        for column in self._columns(given):
            values[column.id] = read_literal(column.type, given[column.name])
            if values[column.id] is None and column.required:
                raise ScriptError(f"null in the required column {column.name}")
        return _Stored(values, self.schema, row.identity, self.index)

    @singledispatchmethod
    def _do(self, operation: Operation) -> None:
        raise AssertionError(operation)

    @_do.register
    def _(self, operation: Create) -> None:
        self.version = FormatVersion(operation.format_version)
        self.schema = first_schema(operation.schema, self.version)
        self.last_column_id = self.schema.highest_field_id()
        self.parts = Parts(spec_of(operation.partition, self.schema), sort_of(operation.sort, self.schema))
        self.properties = dict(operation.properties)

    @_do.register
    def _(self, operation: Append) -> None:
        new = [self._new(row) for row in operation.rows]
        self._write(operation.branch, (*self._rows(operation.branch), *new), changed=bool(new))

    @_do.register
    def _(self, operation: Overwrite) -> None:
        matches = self._matches(operation.filter)
        before = self._rows(operation.branch)
        kept = [row for row in before if not matches(row)]
        new = [self._new(row) for row in operation.rows]
        self._write(operation.branch, (*kept, *new), changed=bool(new) or len(kept) < len(before))

    @_do.register
    def _(self, operation: Delete) -> None:
        matches = self._matches(operation.filter)
        before = self._rows(operation.branch)
        kept = [row for row in before if not matches(row)]
        self._write(operation.branch, kept, changed=len(kept) < len(before))

    @_do.register
    def _(self, operation: DeleteEqual) -> None:
        self._needs_deletes()
        names = tuple(operation.rows[0])
        if any(row.keys() != operation.rows[0].keys() for row in operation.rows):
            raise ScriptError("the rows of delete-equal have different columns")
        before = self._rows(operation.branch)
        kept = self._unequal(before, self._columns(names), operation.rows)
        self._write(operation.branch, kept, changed=len(kept) < len(before))

    def _needs_deletes(self) -> None:
        if self.version < FormatVersion(2):
            raise ScriptError("a table of version 1 has no delete files")

    def _unequal(self, rows: Iterable[_Stored], columns: list[NestedField], given: Iterable[Row]) -> list[_Stored]:
        """The rows that equal none of the given ones in the columns; null equals null."""
        key = self._key(columns)
        gone = {key({column.id: read_literal(column.type, row[column.name]) for column in columns}) for row in given}
        return [row for row in rows if key(row.read(self.schema)) not in gone]

    @_do.register
    def _(self, operation: Update) -> None:
        matches = self._matches(operation.filter)
        before = self._rows(operation.branch)
        hits = [matches(row) for row in before]
        after = [self._updated(row, operation.set) if hit else row for row, hit in zip(before, hits, strict=True)]
        self._columns(operation.set)
        self._write(operation.branch, after, changed=any(hits))

    @_do.register
    def _(self, operation: Merge) -> None:
        columns = self._keys(operation.on)
        key = self._key(columns)
        sources: dict[Any, list[Row]] = {}
        unmatched = []
        for row in operation.rows:
            values = {column.id: read_literal(column.type, row.get(column.name)) for column in columns}
            if None in values.values():
                unmatched.append(row)
            else:
                sources.setdefault(key(values), []).append(row)
        after, matched = [], set()
        for stored in self._rows(operation.branch):
            own = key(stored.read(self.schema))
            if own not in sources:
                after.append(stored)
                continue
            if len(sources[own]) > 1:
                raise ScriptError("two rows of a merge match one row of the table")
            matched.add(own)
            after.append(self._updated(stored, sources[own][0]))
        unmatched += [row for own, rows in sources.items() if own not in matched for row in rows]
        new = [self._new(row) for row in unmatched]
        self._write(operation.branch, (*after, *new), changed=bool(new or matched))

    @_do.register
    def _(self, operation: Upsert) -> None:
        self._needs_deletes()
        columns = self._keys(operation.on)
        for row in operation.rows:
            if any(name not in row for name in operation.on):
                raise ScriptError("a row of an upsert has no key")
        before = self._rows(operation.branch)
        kept = self._unequal(before, columns, operation.rows)
        key = self._key(columns)
        new = [self._new(row) for row in operation.rows]
        if len({key(row.values) for row in new}) < len(new):
            raise ScriptError("two rows of an upsert have one key")
        self._write(operation.branch, (*kept, *new), changed=bool(new))

    @_do.register
    def _(self, operation: Compact) -> None:
        rows = self._rows(operation.branch)
        self._write(operation.branch, rows, changed=False)
        if rows:
            self.branches[operation.branch] = _Snapshot(self.schema, rows)

    @_do.register
    def _(self, _: RewriteManifests) -> None:
        self._write(MAIN, self._rows(MAIN), changed=False)

    # The table

    @_do.register
    def _(self, operation: AlterSchema) -> None:
        self.schema, self.last_column_id = changed_schema(
            self.schema, operation.changes, self.version, self.last_column_id, self.parts
        )

    @_do.register
    def _(self, operation: AlterSpec) -> None:
        self.parts = attrs.evolve(self.parts, spec=changed_spec(self.parts.spec, operation.changes, self.schema))

    @_do.register
    def _(self, operation: ReplaceSort) -> None:
        self.parts = attrs.evolve(self.parts, sort=sort_of(operation.fields, self.schema))

    @_do.register
    def _(self, operation: Upgrade) -> None:
        if operation.format_version <= self.version:
            raise ScriptError(f"the table has version {self.version} already")
        self.version = FormatVersion(operation.format_version)

    @_do.register
    def _(self, operation: SetProperties) -> None:
        for name in operation.remove:
            self.properties.pop(name, None)
        self.properties |= operation.set

    # References

    def _main_at(self, index: int | None) -> _Snapshot:
        """The snapshot that main had after an operation, or has."""
        if index is not None and not self.kept_since <= index < self.index:
            raise ScriptError(f"what main was after operation {index} is not to be had here")
        found = self.branches.get(MAIN) if index is None else self.history[index]
        if found is None:
            raise ScriptError("main has no snapshot")
        return found

    def _new_name(self, name: str) -> str:
        if name in (MAIN, *self.branches, *self.tags):
            raise ScriptError(f"there is a reference {name!r} already")
        return name

    @_do.register
    def _(self, operation: MakeBranch) -> None:
        self.branches[self._new_name(operation.name)] = self._main_at(operation.at)
        self.ahead[operation.name] = self.turns if operation.at is None else -1

    @_do.register
    def _(self, operation: MakeTag) -> None:
        at = self.index - 1 if operation.at is None else operation.at
        if at in self.open_schemas:
            raise ScriptError("which schema the tag would have is open: an operation that changes no row came last")
        self.tags[self._new_name(operation.name)] = self._main_at(operation.at)

    @_do.register
    def _(self, operation: FastForward) -> None:
        if operation.to not in self.branches:
            raise ScriptError(f"there is no branch {operation.to!r}")
        if self.ahead.get(operation.to) != self.turns:
            raise ScriptError(f"main has moved since the branch {operation.to!r} was made of it")
        self.branches[MAIN] = self.branches[operation.to]

    @_do.register
    def _(self, operation: Rollback) -> None:
        self.branches[MAIN] = self._main_at(operation.to)
        self.turns += 1

    @_do.register
    def _(self, _: Expire) -> None:
        self.kept_since = self.index


def _reading(schema: Schema, snapshot: _Snapshot) -> Rows:
    return Rows(schema, tuple(_told(schema, row) for row in snapshot.rows))


def _told(schema: Schema, row: _Stored) -> ModelRow:
    values = row.read(schema)
    told = {column.name: write_literal(column.type, values[column.id]) for column in schema.fields}
    return ModelRow(told, row.identity, row.updated)
