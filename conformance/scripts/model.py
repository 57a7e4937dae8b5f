"""A model of a table: its expected rows after each operation of a script, computed only from the script.

A row has values by the field ids of the schema that it was written with, an ``identity``, and the operation that
changed it last. The model has no files, manifests, snapshot ids or deletes, so that it cannot share the errors of a
writer. It uses the standard library and `attrs`, but not `spec_ref`: it computes the expected values of vectors and of
scenarios.

`model_values` has values, projection and predicates, `model_rows` rows and their keys, `model_schemas` the evolution of
schemas, and `model_specs` partition specs and sort orders.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import attrs
from attrs import field

from conformance.scripts.errors import ForbiddenOperation, ScriptError, UnspecifiedOperation
from conformance.scripts.model_rows import (
    Fields,
    Literals,
    ModelSnapshot,
    StoredRow,
    check_delete_columns,
    check_keys,
    reading,
    row_key,
)
from conformance.scripts.model_schemas import (
    changed_fields,
    check_version_types,
    find_type,
    may_promote,
    path_to,
    type_ids,
)
from conformance.scripts.model_specs import (
    FieldSource,
    check_field_names,
    check_removed,
    name_sources,
    partition_field,
    sort_fields,
)
from conformance.scripts.model_values import comparable_literal, default_literal, matches, to_stored, values_at
from conformance.scripts.states import ScriptState
from spec_ref.core.json_types import Json

MAIN = "main"
KEEPS_DATES = ("year", "month", "day", "void")
"""Transforms with the same result for a date and the timestamp that it is promoted to (EVO008)."""

NANOSECONDS = 1 << 63
"""The range of timestamps in nanoseconds around 1970 (EVO006)."""


def run_model(script: Json) -> tuple[ScriptState, ...]:
    """Return the states of the table, one after each operation.

    Args:
        script: the script, in JSON; `conformance.scripts.parse_script` checks its form.

    Raises:
        ScriptError: an operation is not valid in its place, is forbidden, or is left open; the message names it.
    """
    table, states = ModelTable(), []
    for index, operation in enumerate(script["operations"]):
        try:
            table = table.after(index, operation)
        except ScriptError as error:
            raise ScriptError(f"/operations/{index}: {operation['op']}: {error}") from None
        states.append(table.state())
    return tuple(states)


@attrs.define
class ModelTable:
    """A table during a script. Each operation makes a new table, so that a failed operation changes nothing."""

    version: int = 1
    fields: Fields = ()
    last_column_id: int = 0
    spec: tuple[FieldSource, ...] = ()
    specs: tuple[FieldSource, ...] = ()
    """All fields that the spec ever had, as files may have been written with them."""

    removed: frozenset[str] = frozenset()
    """Names of partition fields that were removed in version 1, whose specs keep them with the transform void."""

    sort: tuple[FieldSource, ...] = ()
    properties: Mapping[str, str] = field(factory=dict)
    branches: Mapping[str, ModelSnapshot] = field(factory=dict)
    tags: Mapping[str, ModelSnapshot] = field(factory=dict)
    history: tuple[ModelSnapshot | None, ...] = ()
    """The snapshot of main after each operation; None if it had none."""

    kept_since: int = 0
    """The first operation after which main has a snapshot that still exists."""

    open_schemas: frozenset[int] = frozenset()
    """Operations after which main may have its old snapshot, or one with the same rows and a different schema."""

    open_branches: frozenset[str] = frozenset()
    """Other branches of which the same is true."""

    place: int = 0
    """Where main is in the history of snapshots; each operation that may make a snapshot of main gives it a new one."""

    places: tuple[int, ...] = ()
    """The place of main after each operation."""

    begins_at: Mapping[str, int] = field(factory=dict)
    """The place of main at which each branch begins: main can be fast-forwarded to it from there."""

    expired_history: frozenset[str] = frozenset()
    """Branches whose earlier snapshots may be expired, so that nothing may show where they begin."""

    identities: int = 0
    index: int = 0
    target: tuple[str | None, bool] = (None, False)
    """The branch that the operation writes to, and whether its rows change."""

    left_open: tuple[str, str] | None = None
    """Why a writer may refuse the operation, after which the table would have this state: the code and the reason."""

    def after(self, index: int, operation: Json) -> ModelTable:
        """Return the table after an operation.

        Args:
            index: the index of the operation in its script.
            operation: the operation, in JSON.

        Raises:
            ForbiddenOperation: the spec forbids the operation; UnspecifiedOperation if a writer may do or refuse it.
            ScriptError: the operation is not valid here.
        """
        made = copy.copy(self)
        made.index, made.target, made.left_open = index, (None, False), None
        getattr(made, "_" + operation["op"].replace("-", "_"))(operation)
        made._remember(self.branches.get(MAIN))
        if made.left_open is not None:
            raise UnspecifiedOperation(*made.left_open, after=made)
        return made

    def _remember(self, before: ModelSnapshot | None) -> ModelTable:
        """Add main to the history; ``before`` is its snapshot before the operation."""
        main = self.branches.get(MAIN)
        if main is not None and main is before:
            made_one = self.target == (MAIN, False) and main.fields != self.fields
            if made_one or self.index - 1 in self.open_schemas:
                self.open_schemas |= {self.index}
        name, changed = self.target
        if name is not None and changed:
            self.open_branches -= {name}
        elif name is not None and name != MAIN and self.branches[name].fields != self.fields:
            self.open_branches |= {name}
        self.history, self.places = (*self.history, main), (*self.places, self.place)
        return self

    def after_refusal(self, index: int) -> ModelTable:
        """Return the table after a refused operation."""
        made = attrs.evolve(self, index=index, target=(None, False))
        return made._remember(self.branches.get(MAIN))

    def state(self) -> ScriptState:
        """Return the visible state of the table."""
        heads = {MAIN: ModelSnapshot(self.fields, ()), **self.branches}
        refs = {name: reading(self.fields, snapshot.rows) for name, snapshot in heads.items()}
        refs |= {name: reading(snapshot.fields, snapshot.rows) for name, snapshot in self.tags.items()}
        return ScriptState(
            self.version, self.fields, self.partition, self.sorted_by, dict(self.properties), refs, *self.target
        )

    @property
    def partition(self) -> tuple[Json, ...]:
        """The default partition spec, by the names of its sources."""
        return name_sources(self.fields, self.spec)

    @property
    def sorted_by(self) -> tuple[Json, ...]:
        """The default sort order, by the names of its sources."""
        return name_sources(self.fields, self.sort)

    # Rows

    def rows(self, branch: str = MAIN) -> tuple[StoredRow, ...]:
        """Return the rows of a branch.

        Raises:
            ScriptError: the branch does not exist.
        """
        if branch in self.tags:
            raise ForbiddenOperation("REF001", f"{branch!r} is a tag, to which rows cannot be written")
        if branch != MAIN and branch not in self.branches:
            raise ScriptError(f"there is no branch {branch!r}")
        return self.branches[branch].rows if branch in self.branches else ()

    def _write(self, operation: Json, rows: Iterable[StoredRow], *, changed: bool) -> None:
        """Set the rows of a branch, with a new snapshot if anything changed."""
        branch = operation.get("branch", MAIN)
        self.target = (branch, changed)
        if branch == MAIN:
            self.place = self.index + 1
        if changed:
            self.branches = {**self.branches, branch: ModelSnapshot(self.fields, tuple(rows))}

    def _columns(self, names: Iterable[str]) -> list[Json]:
        """Return top-level columns by their names."""
        by_name = {column["name"]: column for column in self.fields}
        for name in names:
            if name not in by_name:
                raise ForbiddenOperation(
                    "TYP002", f"the table does not have the column {name!r}; it has {', '.join(by_name)}"
                )
        return [by_name[name] for name in names]

    def _new_row(self, given: Literals, identity: int | None = None) -> StoredRow:
        """Return a new row; missing columns get their write defaults (DEF002)."""
        self._columns(given)
        self._check_some_columns()
        values = {}
        for column in self.fields:
            name, type_ = column["name"], column["type"]
            literal = given[name] if name in given else default_literal(type_, column.get("write-default"))
            values[column["id"]] = to_stored(type_, literal, required=column["required"], place=name)
        if identity is None:
            identity, self.identities = self.identities, self.identities + 1
        return StoredRow(values, self.fields, identity, self.index)

    def _check_some_columns(self) -> None:
        """Check that rows to be written have a column; files may be unable to hold rows without any."""
        if not self.fields:
            self.left_open = ("TYP002", "the table has no columns, and a writer may refuse rows without any")

    def _updated_row(self, row: StoredRow, given: Literals) -> StoredRow:
        """Return the same row with changed values in some columns."""
        return self._new_row({**row.read(self.fields), **given}, row.identity)

    def matcher(self, predicate: Json) -> Callable[[StoredRow], bool]:
        """Return a function that tests whether rows match a predicate.

        Raises:
            ForbiddenOperation, ScriptError: the predicate does not fit the table, even if there are no rows.
        """
        matches(predicate, {column["name"]: None for column in self.fields}, self.fields)
        return lambda row: matches(predicate, row.read(self.fields), self.fields)

    def _keys(self, names: Sequence[str]) -> list[Json]:
        columns = self._columns(names)
        check_keys(columns)
        return columns

    def _create(self, operation: Json) -> None:
        self.version = operation["format_version"]
        self.fields = tuple(copy.deepcopy(operation["schema"]["fields"]))
        schema = {"type": "struct", "fields": self.fields}
        check_version_types(schema, self.version)
        self.last_column_id = max(type_ids(schema), default=0)
        self.spec = self.specs = tuple(partition_field(self.fields, part) for part in operation.get("partition", ()))
        check_field_names(self.spec)
        self.sort = sort_fields(self.fields, operation.get("sort", ()))
        self.properties = dict(operation.get("properties", {}))

    def _append(self, operation: Json) -> None:
        before = self.rows(operation.get("branch", MAIN))
        new = [self._new_row(row) for row in operation["rows"]]
        self._write(operation, (*before, *new), changed=bool(new))

    def _overwrite(self, operation: Json) -> None:
        before = self.rows(operation.get("branch", MAIN))
        is_match = self.matcher(operation["filter"])
        kept = [row for row in before if not is_match(row)]
        new = [self._new_row(row) for row in operation.get("rows", ())]
        self._write(operation, (*kept, *new), changed=bool(new) or len(kept) < len(before))

    def _delete(self, operation: Json) -> None:
        self._check_delete_files(operation)
        self._overwrite(operation)

    def _check_delete_files(self, operation: Json) -> None:
        """Note that a writer may refuse deletes that merge on read in version 1, or remove whole files instead."""
        if self.version == 1 and operation.get("mode") == "merge-on-read":
            self.left_open = ("DEL001", "delete files are not allowed in v1")

    def _delete_equal(self, operation: Json) -> None:
        if any(row.keys() != operation["rows"][0].keys() for row in operation["rows"]):
            raise ScriptError("the rows of delete-equal have different columns")
        before = self.rows(operation.get("branch", MAIN))
        kept = self._unequal(before, tuple(operation["rows"][0]), operation["rows"])
        self._write(operation, kept, changed=len(kept) < len(before))

    def _unequal(self, rows: Iterable[StoredRow], names: Sequence[str], given: Sequence[Literals]) -> list[StoredRow]:
        """Return the rows that equal none of the given ones in some columns; null equals null (DEL019, DEL020)."""
        if self.version == 1:
            raise ForbiddenOperation("DEL001", "delete files are not allowed in v1")
        columns = self._columns(names)
        check_delete_columns(columns, given)
        key = row_key(columns)
        gone = {key(row) for row in given}
        return [row for row in rows if key(row.read(self.fields)) not in gone]

    def _update(self, operation: Json) -> None:
        before = self.rows(operation.get("branch", MAIN))
        is_match = self.matcher(operation["filter"])
        hits = [is_match(row) for row in before]
        self._check_assigned(operation["set"], any(hits))
        self._check_delete_files(operation)
        after = [
            self._updated_row(row, operation["set"]) if hit else row for row, hit in zip(before, hits, strict=True)
        ]
        self._write(operation, after, changed=any(hits))

    def _check_assigned(self, given: Literals, found: bool) -> None:
        """Check the values of an update; a writer that finds no matching row may not need them."""
        for column in self._columns(given):
            name = column["name"]
            try:
                to_stored(column["type"], given[name], required=column["required"], place=name)
            except ForbiddenOperation as error:
                raise (error if found else UnspecifiedOperation(error.code, str(error))) from None

    def _merge(self, operation: Json) -> None:
        key = row_key(self._keys(operation["on"]))
        sources: dict[Any, list[Literals]] = {}
        unmatched: list[Literals] = []
        for row in operation["rows"]:
            own = key(row)
            (unmatched if None in own else sources.setdefault(own, [])).append(row)
        after, found = [], set()
        for row in self.rows(operation.get("branch", MAIN)):
            own = key(row.read(self.fields))
            if own in sources and len(sources[own]) > 1:
                raise ScriptError("two rows of a merge match one row of the table")
            found |= {own} & sources.keys()
            after.append(self._updated_row(row, sources[own][0]) if own in sources else row)
        self._check_delete_files(operation)
        unmatched += [row for own, rows in sources.items() if own not in found for row in rows]
        new = [self._new_row(row) for row in unmatched]
        self._write(operation, (*after, *new), changed=bool(new or found))

    def _upsert(self, operation: Json) -> None:
        key = row_key(self._keys(operation["on"]))
        if any(name not in row for row in operation["rows"] for name in operation["on"]):
            raise ScriptError("a row of an upsert has no key")
        if len({key(row) for row in operation["rows"]}) < len(operation["rows"]):
            raise ScriptError("two rows of an upsert have the same key")
        kept = self._unequal(self.rows(operation.get("branch", MAIN)), operation["on"], operation["rows"])
        new = [self._new_row(row) for row in operation["rows"]]
        self._write(operation, (*kept, *new), changed=bool(new))

    def _compact(self, operation: Json) -> None:
        branch = operation.get("branch", MAIN)
        rows = self.rows(branch)
        self._write(operation, rows, changed=False)
        if rows:
            self._check_some_columns()
            self.branches = {**self.branches, branch: ModelSnapshot(self.fields, rows)}

    def _rewrite_manifests(self, operation: Json) -> None:
        self._write(operation, self.rows(), changed=False)

    # The table

    def _alter_schema(self, operation: Json) -> None:
        for change in operation["changes"]:
            if change["op"] in ("promote", "drop"):
                self._check_sources(change)
            fields, self.last_column_id = changed_fields(self.fields, change, self.version, self.last_column_id)
            self.fields = tuple(fields)

    def _check_sources(self, change: Json) -> None:
        """Check that a dropped or promoted column is not a source of partition or sort fields (PAR004, EVO008)."""
        holder, member = find_type(self.fields, change["name"])
        if change["op"] == "drop":
            gone = {holder.get("id"), *type_ids(holder[member])}
            if any(source.id in gone and source.members["transform"] != "void" for source in self.spec):
                raise ForbiddenOperation("PAR004", f"the table is partitioned by {change['name']!r}, which is dropped")
            if any(source.id in gone for source in self.sort):
                raise UnspecifiedOperation(
                    "PAR004", f"the table is sorted by {change['name']!r}, which is dropped (E22)"
                )
        elif holder[member] == "date" and may_promote("date", change["type"], self.version):
            for sources, error in ((self.spec, ForbiddenOperation), (self.specs, UnspecifiedOperation)):
                for source in sources:
                    if source.id == holder.get("id") and source.members["transform"] not in KEEPS_DATES:
                        raise error("EVO008", f"the promotion changes the values of {source.members['transform']}")
            self._check_dates(change["name"], change["type"])

    def _check_dates(self, name: str, type_: str) -> None:
        """Check that existing dates and defaults fit a timestamp, as reading others fails (EVO006)."""
        if type_ != "timestamp_ns":
            return
        after, _ = changed_fields(self.fields, {"op": "promote", "name": name, "type": type_}, 3, 0)
        path = [holder["name"] if member == "type" else member for holder, member in path_to(self.fields, name)]
        promoted, _ = find_type(tuple(after), name)
        values = [promoted[one] for one in ("initial-default", "write-default") if promoted.get(one) is not None]
        for snapshot in (*self.branches.values(), *self.tags.values(), *self.history):
            for row in snapshot.rows if snapshot is not None else ():
                values += values_at(row.read(tuple(after)), path)
        if any(not -NANOSECONDS <= comparable_literal(type_, value) < NANOSECONDS for value in values):
            raise ScriptError(f"{name} holds a date that does not fit {type_}")

    def _alter_spec(self, operation: Json) -> None:
        for change in operation["changes"]:
            named = [source for source in self.spec if source.members["name"] == change["name"]]
            check_removed(change, self.removed)
            if change["op"] == "add":
                new = partition_field(self.fields, change)
                transforms = [one.members["transform"] for one in self.spec if one.id == new.id]
                if new.members["transform"] in transforms:
                    again = f"the spec already has {change['transform']}({change['source']}) under a different name"
                    self.left_open = ("PAR010", f"{again} (C25)")
                self.spec = (*self.spec, new)
            elif not named:
                raise ForbiddenOperation("PAR010", f"the partition spec does not have the field {change['name']!r}")
            elif change["op"] == "remove":
                self.spec = tuple(source for source in self.spec if source not in named)
                self.removed |= {change["name"]} if self.version == 1 else set()
            else:
                self.spec = tuple(
                    FieldSource(source.id, {**source.members, "name": change["to"]}) if source in named else source
                    for source in self.spec
                )
            check_field_names(self.spec)
            self.specs = (*self.specs, *self.spec)

    def _sort(self, operation: Json) -> None:
        self.sort = sort_fields(self.fields, operation["fields"])

    def _upgrade(self, operation: Json) -> None:
        version = operation["format_version"]
        if version < self.version:
            raise ForbiddenOperation("VER003", f"the table has version {self.version} already")
        if version == self.version:
            raise ScriptError(f"the table has version {self.version} already")
        self.version = version

    def _properties(self, operation: Json) -> None:
        left = {name: text for name, text in self.properties.items() if name not in operation.get("remove", ())}
        self.properties = {**left, **operation.get("set", {})}

    # References

    def _main_at(self, index: int | None) -> ModelSnapshot:
        """Return the snapshot of main after an operation, or the current one."""
        if index is not None and not self.kept_since <= index < self.index:
            raise ScriptError(f"the snapshot of main after operation {index} is not known here")
        found = self.branches.get(MAIN) if index is None else self.history[index]
        if found is None:
            raise ScriptError("main has no snapshot")
        return found

    def _new_name(self, name: str) -> str:
        if name in (MAIN, *self.branches, *self.tags):
            raise ScriptError(f"the reference {name!r} already exists")
        return name

    def _branch(self, operation: Json) -> None:
        name, at = self._new_name(operation["name"]), operation.get("at")
        self.branches = {**self.branches, name: self._main_at(at)}
        self.begins_at = {**self.begins_at, name: self.place if at is None else self.places[at]}
        if (self.index - 1 if at is None else at) in self.open_schemas:
            self.open_branches |= {name}

    def _tag(self, operation: Json) -> None:
        at = operation.get("at")
        if (self.index - 1 if at is None else at) in self.open_schemas:
            raise ScriptError("the schema of the tag is left open: the last operation changed no row")
        self.tags = {**self.tags, self._new_name(operation["name"]): self._main_at(at)}

    def _fast_forward(self, operation: Json) -> None:
        to = operation["to"]
        if to not in self.branches:
            raise ScriptError(f"there is no branch {to!r}")
        if self.begins_at.get(to) != self.place:
            raise ScriptError(f"main is not where the branch {to!r} begins")
        if to in self.expired_history:
            self.left_open = ("REF001", f"snapshots between main and the head of {to!r} may be expired")
        self.branches = {**self.branches, MAIN: self.branches[to]}
        if to in self.open_branches:
            self.open_schemas |= {self.index}
        self.place = self.index + 1
        self.begins_at = {**self.begins_at, to: self.place}

    def _rollback(self, operation: Json) -> None:
        self.branches = {**self.branches, MAIN: self._main_at(operation["to"])}
        self.place = self.places[operation["to"]]
        if operation["to"] in self.open_schemas:
            self.open_schemas |= {self.index}

    def _expire(self, _: Json) -> None:
        self.kept_since = self.index
        self.expired_history = frozenset(self.branches)


def check_script(script: Json) -> None:
    """Check that every operation is valid in its place, or is forbidden by the spec.

    Raises:
        ScriptError: an operation is neither; the message names it.
    """
    table = ModelTable()
    for index, operation in enumerate(script["operations"]):
        try:
            table = table.after(index, operation)
        except ForbiddenOperation:
            table = table.after_refusal(index)
        except ScriptError as error:
            raise ScriptError(f"/operations/{index}: {operation['op']}: {error}") from None
