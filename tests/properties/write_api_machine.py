"""Random calls of the write API on one table, each checked against a model of rows (`row_model`).

Every call has a clock, which may be behind or ahead, and plans on the table as it was a number of commits ago. Its
result has to be that of the call on the current table, and a refusal has to have a reason and to change nothing. Some
calls fail because the disk is full: nothing is changed, or the outcome is said to be unknown.
"""

from __future__ import annotations

import errno
import math
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import attrs
import pyarrow as pa
from column_kinds import (
    KINDS,
    NESTED_KINDS,
    encoded,
    field,
    from_arrow,
    iceberg_type,
    least_version,
    nested,
    to_arrow,
    values,
)
from hypothesis import note
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from row_model import (
    ID,
    Column,
    Columns,
    Filter,
    Model,
    Names,
    Reference,
    Row,
    Rows,
    comparable,
    edited,
    leaves,
    partition,
    paths,
    scalars,
    selected,
    sorted_rows,
)

from conformance.table_io.encryption import KEY_ID, KeyFile
from conformance.table_io.file_access import FileAccessError, FileMissing
from conformance.table_io.local import read_table
from conformance.table_io.writing import (
    Mode,
    WhenMatched,
    WritableTable,
    append,
    compact,
    create_table,
    delete,
    delete_keys,
    merge,
    open_table,
    overwrite,
    overwrite_partitions,
    records,
    rewrite_manifests,
    update,
)
from conformance.validator.context import Level
from conformance.validator.local import LocalBackend
from conformance.validator.run import SnapshotSelection, validate
from spec_ref.checks.findings import Severity
from spec_ref.commits import CommitConflict, changes
from spec_ref.commits.changes import Isolation
from spec_ref.commits.errors import CommitStateUnknown, MissingFile
from spec_ref.core.errors import SpecError
from spec_ref.core.versions import FormatVersion
from spec_ref.encodings.puffin.file import Blob, read_puffin, write_puffin
from spec_ref.expressions.predicates import TRUE, Comparison, Literal, NamedReference, Operation, Test
from spec_ref.partitioning.evolution import AddPartitionField, RemovePartitionField
from spec_ref.partitioning.spec import PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import parse_transform
from spec_ref.schemas.evolution import AddColumn, DropColumn, MoveColumn, PromoteColumn, RenameColumn, SetWriteDefault
from spec_ref.schemas.schema import Schema
from spec_ref.snapshots.references import RefType, SnapshotRef
from spec_ref.sorting.order import NullOrder, SortDirection, SortField
from spec_ref.table_metadata.statistics import BlobMetadata, StatisticsFile

NAMES = ("a", "b", "a.b", "日" * 90, "A", "%=/ é")
TRANSFORMS = ("identity", "bucket[2]", "truncate[2]", "void", "year", "month", "day", "hour")
BRANCHES = ("main", "main", "b", "c/ é")
MINUTE, HOUR = 60_000, 3_600_000
PROPERTIES = {
    "write.format.default": ("parquet", "orc", "avro"),
    "write.delete.format.default": ("parquet", "orc", "avro"),
    "write.delete.mode": ("copy-on-write", "merge-on-read", "equality"),
    "write.update.mode": ("copy-on-write", "merge-on-read", "equality"),
    "write.merge.mode": ("copy-on-write", "merge-on-read", "equality"),
    "write.delete.granularity": ("partition", "file"),
    "write.target-file-size-bytes": ("1", "2000"),
    "write.metadata.metrics.default": ("none", "counts", "truncate(1)", "full"),
    "write.metadata.previous-versions-max": ("1", "3"),
    "write.metadata.delete-after-commit.enabled": ("true", "false"),
    "commit.manifest.min-count-to-merge": ("2",),
    "commit.manifest-merge.enabled": ("false",),
    "history.expire.min-snapshots-to-keep": ("1", "3"),
    "history.expire.max-snapshot-age-ms": ("1", str(HOUR)),
    "history.expire.max-ref-age-ms": (str(HOUR),),
}
KEPT_METADATA = "write.metadata.previous-versions-max"
KEYS = KeyFile({"master": b"0123456789012345"})


@attrs.frozen
class Turn:
    """How a writer makes its change."""

    branch: str
    commits_ago: int
    """How many commits before this one it read the table."""

    skew: int
    """How many milliseconds its clock is ahead."""

    isolation: Isolation
    by_record: bool
    """Whether it makes one row at a time, by the definitions of `spec_ref`; such writers are always serializable."""

    fault: tuple[str, int] | None = None
    """The call of the operating system that fails, and which one of them; None if there is no failure."""


FAULTS = (("fsync", 1), ("fsync", 2), ("fsync", 3), ("fsync", 5), ("link", 1), ("open", 1))
TURNS = st.builds(
    Turn,
    branch=st.sampled_from(BRANCHES),
    commits_ago=st.sampled_from([0, 0, 0, 1, 2, 4]),
    skew=st.sampled_from([0, 0, 0, -MINUTE, MINUTE, -3 * HOUR, 3 * HOUR]),
    isolation=st.sampled_from(Isolation),
    by_record=st.sampled_from([False, False, True]),
    fault=st.sampled_from([*[None] * 18, *FAULTS]),
).map(lambda turn: attrs.evolve(turn, isolation=Isolation.SERIALIZABLE) if turn.by_record else turn)
MODES = st.sampled_from([None, *Mode])
SETTINGS = st.sampled_from([(name, value) for name, values in PROPERTIES.items() for value in values])

Forbidden = Callable[[Model], bool]


def never(_: Model) -> bool:
    return False


def predicate(where: Filter) -> Any:
    if where.column is None:
        return TRUE
    operation, column = Operation(where.operation), NamedReference(where.column)
    return Test(operation, column) if where.literal is None else Comparison(operation, column, Literal(where.literal))


def filters(model: Model, branch: str) -> st.SearchStrategy[Filter]:
    """Make conditions, most of them with values of rows."""

    def of_column(name: str) -> st.SearchStrategy[Filter]:
        leaf = leaves(model.columns)[name]
        kind = KINDS[leaf.column.kind]
        unary = ["is-null", "not-null", *(["is-nan", "not-nan"] if kind.is_float else [])]
        binary = ["eq", "not-eq", "lt", "lt-eq", "gt", "gt-eq"]
        binary += ["starts-with", "not-starts-with"] if leaf.column.kind == "string" else []
        found = [leaf.value(row) for row in model.rows(branch).values()]
        constants = [one for one in found if one is not None and not (kind.is_float and not math.isfinite(one))]
        compared = st.builds(
            lambda operation, constant: Filter(name, operation, constant, kind.literal(constant)),
            st.sampled_from(binary),
            st.sampled_from(constants or kind.finite),
        )
        return compared | compared | compared | st.builds(Filter, st.just(name), st.sampled_from(unary))

    one = st.sampled_from(list(leaves(model.columns))).flatmap(of_column)
    return one | one | one | st.just(Filter())


def arrow(rows: Iterable[Row], columns: Columns) -> pa.Table:
    listed = list(rows)
    return pa.table(
        {name: to_arrow(column, [row[column.number] for row in listed]) for name, column in columns.items()}
    )


def named(rows: Iterable[Row], columns: Columns, table: WritableTable) -> list[dict[str, Any]]:
    """Return rows as `records` takes them."""
    types = {field.name: field.type for field in table.metadata.current_schema.fields}
    return [
        {name: encoded(column, row[column.number], types[name]) for name, column in columns.items()} for row in rows
    ]


class Disk:
    """Lets one call of the operating system fail while files are written, as if the disk were full."""

    def __init__(self, fault: tuple[str, int] | None) -> None:
        self._call, self._left = fault or ("", 0)
        self.has_failed = False

    def __enter__(self) -> None:
        self._real = {name: getattr(os, name) for name in ("fsync", "link", "open")}
        for name in self._real:
            setattr(os, name, partial(self._do, name))

    def __exit__(self, *_: object) -> None:
        for name, real in self._real.items():
            setattr(os, name, real)

    def _do(self, name: str, *arguments: Any, **named: Any) -> Any:
        if name == self._call and (name != "open" or arguments[1] & os.O_CREAT):
            self._left -= 1
            if not self._left:
                self.has_failed = True
                raise OSError(errno.ENOSPC, "no space is left")
        return self._real[name](*arguments, **named)


class WriteApi(RuleBasedStateMachine):
    """A table that is written by the public API, and its model."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.mkdtemp()
        self.path = str(Path(self.folder) / "table")
        self.clock = 1_700_000_000_000
        self.ids = iter(range(1, 1_000_000))
        self.numbers = iter(range(1, 1_000))
        self.history: list[tuple[WritableTable, Model]] = []
        self.lineage: dict[int, dict[int, tuple[int | None, int | None]]] = {}
        self.is_sound = False

    def teardown(self) -> None:
        try:
            if self.is_sound:
                self.check_everything()
        finally:
            shutil.rmtree(self.folder)

    @contextmanager
    def writer(self, skew: int) -> Iterator[int]:
        """Set the clock of a writer, and the size of its row groups."""
        self.clock += 1000
        now = self.clock + skew
        with (
            mock.patch("time.time_ns", return_value=now * 1_000_000),
            mock.patch("time.time", return_value=now / 1000),
            mock.patch("conformance.table_io.writing.write_tasks.GROUP_ROWS", self.batch_rows),
            mock.patch("conformance.table_io.writing.records.GROUP_ROWS", self.batch_rows),
        ):
            yield now

    @property
    def model(self) -> Model:
        return self.history[-1][1]

    def id_of(self, name: str, turn: Turn) -> int:
        """Return the field id of a column in the table that a writer has read."""
        table = self.history[max(-1 - turn.commits_ago, -len(self.history))][0]
        return next(column.id for column in table.metadata.current_schema.columns() if column.name == name)

    def planned(self, turn: Turn) -> Model:
        return self.history[max(-1 - turn.commits_ago, -len(self.history))][1]

    # Steps

    @initialize(
        version=st.sampled_from([1, 2, 2, 3, 3, 3]),
        kinds=st.lists(st.sampled_from(["long", "string", *KINDS]), min_size=2, max_size=3),
        is_nested=st.booleans(),
        fields=st.lists(st.tuples(st.integers(0, 3), st.sampled_from(TRANSFORMS)), max_size=2),
        properties=st.dictionaries(st.sampled_from(sorted(PROPERTIES)), st.integers(0, 3), max_size=4),
        is_encrypted=st.booleans(),
        has_identifier=st.booleans(),
        batch_rows=st.sampled_from([1000, 3]),
        data=st.data(),
    )
    def create(
        self,
        version: int,
        kinds: list[str],
        is_nested: bool,
        fields: list[tuple[int, str]],
        properties: dict[str, int],
        is_encrypted: bool,
        has_identifier: bool,
        batch_rows: int,
        data: Any,
    ) -> None:
        columns = {"id": Column(ID, "long")}
        columns |= {name: Column(next(self.numbers), kind) for name, kind in zip(NAMES, kinds, strict=False)}
        numbered = {column.number: column for column in columns.values()}
        if is_nested:
            columns["s"] = data.draw(nested(self.numbers, 2))
        version = max(version, *map(least_version, columns.values()))
        spec = tuple(
            (f"p{place}", transform, source % len(numbered))
            for place, (source, transform) in enumerate(fields)
            if is_allowed(transform, numbered[source % len(numbered)].kind)
        )
        settings = {name: PROPERTIES[name][place % len(PROPERTIES[name])] for name, place in properties.items()}
        settings |= {KEY_ID: "master"} if is_encrypted and version == 3 else {}
        self.has_identifier, self.batch_rows = has_identifier, batch_rows
        note(f"v{version} {columns} {spec} {settings} identifier={has_identifier} batch_rows={batch_rows}")
        schema = Schema(
            tuple(
                field(name, column, required=has_identifier and not column.number) for name, column in columns.items()
            ),
            schema_id=0,
            identifier_field_ids=(1,) if has_identifier else (),
        )
        table_spec = PartitionSpec(
            0,
            tuple(
                PartitionField(
                    source_id=source + 1, field_id=1000 + place, name=name, transform=parse_transform(transform)
                )
                for place, (name, transform, source) in enumerate(spec)
            ),
        )
        with self.writer(0) as now:
            table = create_table(
                self.path, schema, spec=table_spec, version=FormatVersion(version), properties=settings, keys=KEYS
            )
        model = Model(version, columns, spec, frozenset([spec]), properties=settings, time=now)
        self.history.append((table, model))
        self.is_sound = True
        self.append(Turn("main", 0, 0, Isolation.SERIALIZABLE, by_record=False), data, 2)

    def change(
        self,
        turn: Turn,
        what: str,
        act: Callable[[WritableTable], Any],
        effect: Callable[[Model], Model],
        *,
        forbidden: Forbidden = never,
        may_refuse: bool = False,
    ) -> None:
        """Make a change, and check the table.

        Args:
            turn: how it is made.
            what: its description.
            act: makes it.
            effect: makes it in the model.
            forbidden: whether it has to be refused for a table that it is applied to.
            may_refuse: whether it may be refused for a reason that the model does not have.
        """
        table, planned = self.history[max(-1 - turn.commits_ago, -len(self.history))]
        is_stale = planned is not self.model
        note(f"{what} {turn}")
        before, files = self.history[-1][0], self.files()
        self.is_sound = False
        disk, done, error = Disk(turn.fault), None, None
        try:
            with self.writer(turn.skew) as now, disk:
                done = act(attrs.evolve(table))
        except (SpecError, FileAccessError, CommitStateUnknown, OSError) as caught:
            note(f"-> {type(caught).__name__}: {caught}")
            error = caught
            is_conflict = is_stale and isinstance(error, (CommitConflict, MissingFile, FileMissing))
            if not (disk.has_failed or forbidden(self.model) or may_refuse or is_conflict):
                raise
        after = open_table(self.path, keys=KEYS)
        is_committed = after.base.location != before.base.location
        is_unknown = isinstance(error, CommitStateUnknown)
        if error is None:
            has_no_effect_on_a_stale_plan = done is None and is_stale  # what forbids it may be newer than the plan
            assert has_no_effect_on_a_stale_plan or not forbidden(self.model), f"{what} was not refused"
            assert is_committed == (done is not None), "only a change that does something is committed"
        elif not is_unknown:
            assert not is_committed, "a refused change was committed"
            assert self.files() == files, f"a refused change left files: {self.files() ^ files}"
        if is_committed:
            known = {one.snapshot_id for one in before.metadata.snapshots}
            made = [one.snapshot_id for one in after.metadata.snapshots if one.snapshot_id not in known]
            if done is not None:
                expect("snapshot", [] if done.snapshot is None else [done.snapshot.snapshot_id], made)
            model = self.model.at(now)
            changed = effect(model)
            if made:
                changed = model.after_snapshot(turn.branch, *made, changed.rows(turn.branch))
            self.history = [*self.history[-5:], (after, changed)]
            self.check(before, after)
        self.is_sound = True

    def change_rows(
        self, turn: Turn, what: str, act: Callable[[WritableTable], Any], rows: Callable[[Rows], Rows], **named: Any
    ) -> None:
        """Make a change of the rows of a branch; arguments are as in `change`.

        A change with ``is_planned`` reads the branch in the state that it is planned on, in which it may be a tag.
        """
        forbidden, is_planned = named.pop("forbidden", never), named.pop("is_planned", True)
        planned = (self.planned(turn),) if is_planned else ()

        def effect(model: Model) -> Model:
            return model.after_snapshot(turn.branch, -1, rows(model.rows(turn.branch)))

        self.change(
            turn,
            what,
            act,
            effect,
            forbidden=lambda model: any(one.is_tag(turn.branch) or forbidden(one) for one in (*planned, model)),
            **named,
        )

    def files(self) -> set[str]:
        return {str(Path(folder, name)) for folder, _, names in os.walk(self.path) for name in names}

    def matching(self, turn: Turn, where: Callable[[Row], bool]) -> Callable[[int, Row], bool]:
        """Return whether a change affects a row, which is the last one, or before those of which it does not know.

        The latter is so with snapshot isolation, and if columns changed, by whose names it finds rows.
        """
        planned = self.planned(turn)
        rows = planned.rows(turn.branch)
        is_last = turn.isolation is Isolation.SERIALIZABLE and planned.columns == self.model.columns

        def matches(identity: int, row: Row) -> bool:
            if is_last:
                return where(row)
            affected = identity in rows and where(rows[identity])
            assert not affected or rows[identity] == row, f"row {identity} was changed twice"
            return affected

        return matches

    def draw_rows(self, data: Any, turn: Turn, copies: int = 1, min_size: int = 0) -> list[dict[int, Any]]:
        columns = [column for column in self.planned(turn).columns.values() if column.number != ID]
        drawn = data.draw(st.lists(st.tuples(*map(values, columns)), min_size=min_size, max_size=4))
        return [
            {ID: next(self.ids), **{column.number: value for column, value in zip(columns, row, strict=True)}}
            for row in drawn
            for _ in range(copies)
        ]

    @rule(turn=TURNS, data=st.data(), copies=st.sampled_from([1, 1, 1, 12]))
    def append(self, turn: Turn, data: Any, copies: int) -> None:
        columns = self.planned(turn).columns
        rows = self.draw_rows(data, turn, copies)
        omitted = data.draw(
            st.none() | st.sampled_from([name for name in columns if columns[name].number != ID] or [None])
        )
        given = {name: column for name, column in columns.items() if name != omitted}
        if omitted is not None:
            rows = [{**row, columns[omitted].number: columns[omitted].write_default} for row in rows]

        def act(table: WritableTable) -> Any:
            if turn.by_record:
                return records.append(table, named(rows, given, table), branch=turn.branch)
            return append(table, arrow(rows, given), branch=turn.branch)

        self.change_rows(
            turn,
            f"append {rows}",
            act,
            lambda before: {**before, **by_id(rows)},
        )

    @rule(turn=TURNS, data=st.data(), mode=MODES)
    def delete(self, turn: Turn, data: Any, mode: Mode | None) -> None:
        planned = self.planned(turn)
        if planned.mode("delete", value(mode)) == "equality":  # deletes equal rows that others add meanwhile
            ago = turn.commits_ago if planned.columns == self.model.columns else 0
            turn = attrs.evolve(turn, isolation=Isolation.SERIALIZABLE, commits_ago=ago)
            planned = self.planned(turn)
        is_equality = planned.mode("delete", value(mode)) == "equality"
        where = data.draw(filters(planned, turn.branch))
        matches = self.matching(turn, lambda row: where.matches(row, planned.columns))

        def act(table: WritableTable) -> Any:
            if turn.by_record:
                return records.delete(table, predicate(where), mode=mode, branch=turn.branch)
            return delete(table, predicate(where), mode=mode, branch=turn.branch, isolation=turn.isolation)

        self.change_rows(
            turn,
            f"delete {where} {mode}",
            act,
            lambda rows: {identity: row for identity, row in rows.items() if not matches(identity, row)},
            forbidden=lambda model: no_deletes(model, "delete", mode),
            may_refuse=is_equality and where.column is not None and not can_be_key(planned.columns, where.column),
        )

    @rule(turn=TURNS, data=st.data())
    def delete_keys(self, turn: Turn, data: Any) -> None:
        columns = self.planned(turn).columns
        names = data.draw(st.lists(st.sampled_from(list(scalars(columns))), min_size=1, max_size=2, unique=True))
        on = {name: columns[name] for name in names}
        keys = [
            {column.number: data.draw(values_of(column)) for column in on.values()}
            for _ in range(data.draw(st.integers(0, 2)))
        ]
        rows = data.draw(st.booleans()) and self.draw_rows(data, turn)

        def is_deleted(row: Row) -> bool:
            return any(all(column.value(row) == key[column.number] for column in on.values()) for key in keys)

        def after(before: Rows) -> Rows:
            return {
                **{identity: row for identity, row in before.items() if not is_deleted(row)},
                **by_id(rows or []),
            }

        def act(table: WritableTable) -> Any:
            if turn.by_record and keys:
                return records.delete_keys(
                    table,
                    named(keys, on, table),
                    rows=named(rows, columns, table) if rows else None,
                    branch=turn.branch,
                )
            return delete_keys(table, arrow(keys, on), rows=arrow(rows, columns) if rows else None, branch=turn.branch)

        self.change_rows(
            turn,
            f"delete_keys {on} {keys} {rows}",
            act,
            after,
            forbidden=lambda model: model.version == 1 or any(KINDS[column.kind].is_float for column in on.values()),
        )

    @rule(turn=TURNS, data=st.data(), mode=MODES)
    def update(self, turn: Turn, data: Any, mode: Mode | None) -> None:
        columns = self.planned(turn).columns
        where = data.draw(filters(self.planned(turn), turn.branch))
        names = [name for name in columns if columns[name].number != ID]
        new = (
            {
                name: data.draw(values_of(columns[name]))
                for name in data.draw(st.sets(st.sampled_from(names), max_size=2, min_size=1))
            }
            if names
            else {}
        )
        matches = self.matching(turn, lambda row: where.matches(row, columns))
        numbered = {columns[name].number: given for name, given in new.items()}

        def act(table: WritableTable) -> Any:
            fields = table.metadata.current_schema.fields
            assigned = {
                one.name: encoded(columns[one.name], new[one.name], one.type) for one in fields if one.name in new
            }
            if turn.by_record:
                return records.update(table, assigned, predicate(where), mode=mode, branch=turn.branch)
            return update(table, assigned, predicate(where), mode=mode, branch=turn.branch, isolation=turn.isolation)

        self.change_rows(
            turn,
            f"update {new} {where} {mode}",
            act,
            lambda rows: {
                identity: {**row, **numbered} if matches(identity, row) else row for identity, row in rows.items()
            },
            forbidden=lambda model: no_deletes(model, "update", mode),
        )

    @rule(turn=TURNS, data=st.data(), mode=MODES, matched=st.sampled_from(WhenMatched), insert=st.booleans())
    def merge(self, turn: Turn, data: Any, mode: Mode | None, matched: WhenMatched, insert: bool) -> None:
        planned = self.planned(turn)
        columns = planned.columns
        names = [name for name, column in scalars(columns).items() if column.number != ID]
        on = data.draw(
            st.just(["id"]) | st.lists(st.sampled_from(names or ["id"]), min_size=1, max_size=2, unique=True)
        )
        source = self.draw_rows(data, turn)
        taken = list(columns)
        if "id" in on:
            known = st.sampled_from([*planned.rows(turn.branch), next(self.ids)])
            for row, identity in zip(
                source, data.draw(st.lists(known, max_size=len(source), unique=True)), strict=False
            ):
                row[ID] = identity
        elif matched is WhenMatched.UPDATE:  # rows keep their ids, so that none is for a new row
            taken, insert = [name for name in columns if name != "id"], False
        else:
            taken = ["id", *data.draw(st.sets(st.sampled_from(list(columns)))) - {"id"}]

        def key(row: Row) -> Any:
            parts = [columns[name].value(row) for name in on]
            return None if None in parts else tuple(map(comparable, parts))

        by_key = {key(row): row for row in source if key(row) is not None}
        matches = self.matching(turn, lambda row: key(row) in by_key)

        def is_ambiguous(model: Model) -> bool:
            keys = [key(row) for row in source if key(row) is not None]
            return any(keys.count(key(row)) > 1 for row in model.rows(turn.branch).values())

        def after(before: Rows) -> Rows:
            found = {identity: key(row) for identity, row in before.items() if matches(identity, row)}
            rows: dict[int, Row] = {}
            for identity, row in before.items():
                if identity not in found or matched is WhenMatched.KEEP:
                    rows[identity] = row
                elif matched is WhenMatched.UPDATE:
                    new = by_key[found[identity]]
                    rows[identity] = {**row, **{columns[name].number: new[columns[name].number] for name in taken}}
            fresh = [row for row in source if key(row) not in found.values()] if insert else []
            for row in fresh:
                rows[row[ID]] = {
                    column.number: row[column.number] if name in taken else column.write_default
                    for name, column in columns.items()
                }
            return rows

        is_whole = matched is WhenMatched.UPDATE and insert and "id" in on and source

        def act(table: WritableTable) -> Any:
            if turn.by_record and is_whole:
                return records.merge(table, named(source, columns, table), on, mode=mode, branch=turn.branch)
            return merge(
                table,
                arrow(source, columns),
                on,
                matched=matched,
                assignments={name: name for name in taken},
                insert=insert,
                mode=mode,
                branch=turn.branch,
                isolation=turn.isolation,
            )

        self.change_rows(
            turn,
            f"merge {on} {source} {matched} taken={taken} insert={insert} {mode}",
            act,
            after,
            forbidden=lambda model: no_deletes(model, "merge", mode) or (model is planned and is_ambiguous(model)),
        )

    @rule(turn=TURNS, data=st.data(), mode=MODES)
    def overwrite(self, turn: Turn, data: Any, mode: Mode | None) -> None:
        columns = self.planned(turn).columns
        where, rows = data.draw(filters(self.planned(turn), turn.branch)), self.draw_rows(data, turn)
        matches = self.matching(turn, lambda row: where.matches(row, columns))

        def act(table: WritableTable) -> Any:
            if turn.by_record:
                return records.overwrite(
                    table, named(rows, columns, table), predicate(where), mode=mode, branch=turn.branch
                )
            return overwrite(
                table,
                arrow(rows, columns),
                predicate(where),
                mode=mode,
                branch=turn.branch,
                isolation=turn.isolation,
            )

        self.change_rows(
            turn,
            f"overwrite {where} {rows} {mode}",
            act,
            lambda before: {
                **{identity: row for identity, row in before.items() if not matches(identity, row)},
                **by_id(rows),
            },
            forbidden=lambda model: no_deletes(model, "delete", mode),
        )

    @rule(turn=TURNS, data=st.data())
    def overwrite_partitions(self, turn: Turn, data: Any) -> None:
        planned = self.planned(turn)
        is_unpartitioned = all(transform == "void" for _, transform, _ in planned.spec)
        if not is_unpartitioned and (
            len(planned.specs) > 1 or any(transform == "bucket[2]" for _, transform, _ in planned.spec)
        ):
            return
        rows = self.draw_rows(data, turn)
        turn = attrs.evolve(turn, isolation=Isolation.SERIALIZABLE)

        def place(row: Row) -> Any:
            return partition(row, planned.spec, planned.columns)

        replaced = {place(row) for row in rows}
        self.change_rows(
            turn,
            f"overwrite_partitions {rows}",
            lambda table: overwrite_partitions(
                table, arrow(rows, planned.columns), branch=turn.branch, isolation=turn.isolation
            ),
            lambda before: {
                **{identity: row for identity, row in before.items() if place(row) not in replaced},
                **by_id(rows),
            },
        )

    @rule(turn=TURNS, data=st.data())
    def delete_where(self, turn: Turn, data: Any) -> None:
        where = data.draw(filters(self.planned(turn), turn.branch))
        self.change_rows(
            turn,
            f"delete_where {where}",
            lambda table: table.commit(changes.delete_where(predicate(where), branch=turn.branch)),
            lambda rows: {
                identity: row for identity, row in rows.items() if not where.matches(row, self.model.columns)
            },
            may_refuse=True,  # a file of which only some rows match
            is_planned=False,
        )

    @rule(turn=TURNS, data=st.data())
    def delete_file(self, turn: Turn, data: Any) -> None:
        table = self.history[-1][0]
        if turn.branch not in table.metadata.references:
            return
        places = read_table(table.table, ref=turn.branch, select=["id", "_file"]).read_all().to_pylist()
        if not places:
            return
        path = data.draw(st.sampled_from(sorted(places, key=lambda one: one["id"])))["_file"]
        removed = {one["id"] for one in places if one["_file"] == path}
        self.change_rows(
            attrs.evolve(turn, commits_ago=0),
            f"delete_file of {removed}",
            lambda table: table.commit(changes.delete_files([path], branch=turn.branch)),
            lambda rows: {identity: row for identity, row in rows.items() if identity not in removed},
        )

    @rule(turn=TURNS, data=st.data(), min_files=st.sampled_from([1, 2]))
    def compact(self, turn: Turn, data: Any, min_files: int) -> None:
        where = data.draw(st.just(Filter()) | filters(self.planned(turn), turn.branch))

        def act(table: WritableTable) -> Any:
            if turn.by_record:
                return records.compact(table, branch=turn.branch)
            return compact(table, predicate(where), min_files=min_files, branch=turn.branch)

        self.change_rows(
            turn,
            f"compact {where} {min_files}",
            act,
            lambda rows: rows,
        )

    @rule(turn=TURNS)
    def rewrite_manifests(self, turn: Turn) -> None:
        self.change_rows(
            turn, "rewrite_manifests", lambda table: rewrite_manifests(table, branch=turn.branch), lambda rows: rows
        )

    @rule(
        turn=TURNS,
        data=st.data(),
        kind=st.sampled_from(["add", "drop", "rename", "swap", "restore", "promote", "default", "move"]),
    )
    def change_schema(self, turn: Turn, data: Any, kind: str) -> None:
        columns = self.planned(turn).columns
        structs = [path for path, column in [((), None), *paths(columns)] if column is None or column.kind == "struct"]
        parent = data.draw(st.sampled_from(structs))
        here = dict(columns if not parent else dict(paths(columns))[parent].children)
        new_name = data.draw(st.sampled_from(NAMES))
        names = [name for name in here if here[name].number != ID]
        if kind != "add" and not names:
            return
        name = data.draw(st.sampled_from(names)) if names else ""
        full = ".".join((*parent, name))
        is_wrong, has_default, least, date = False, False, 1, None
        dropped: set[int] = set()
        made: tuple[Any, ...]
        if kind in ("add", "restore"):
            added = data.draw(self.columns(parent))
            new_name = name if kind == "restore" else new_name
            is_wrong, has_default = kind == "add" and new_name in here, added.initial_default is not None
            made = (
                AddColumn(
                    new_name,
                    iceberg_type(added),
                    parent=".".join(parent) or None,
                    default=encoded(added, added.initial_default, iceberg_type(added)),
                ),
            )
            least = least_version(added)
            if kind == "restore":
                made = (DropColumn(full), *made)
                dropped = numbers_in(here.pop(name))
            here[new_name] = added
        elif kind == "drop":
            if len(here) == 1:  # Parquet has no structs without fields
                return
            made = (DropColumn(full),)
            dropped = numbers_in(here.pop(name))
        elif kind == "rename":
            made = (RenameColumn(full, new_name),)
            is_wrong = new_name in here and new_name != name
            here = {new_name if old == name else old: column for old, column in here.items()}
        elif kind == "swap":
            other = data.draw(st.sampled_from(names))
            other_full, spare = ".".join((*parent, other)), ".".join((*parent, "?"))
            made = (
                (RenameColumn(full, "?"), RenameColumn(other_full, name), RenameColumn(spare, other))
                if other != name
                else ()
            )
            swapped = {name: other, other: name}
            here = {swapped.get(old, old): column for old, column in here.items()}
        elif kind == "promote":
            column = here[name]
            promoted = () if column.is_nested else KINDS[column.kind].promoted
            wider = data.draw(
                st.sampled_from([one for one in promoted if not parent or one != "timestamp_ns"] or ["string"])
            )
            is_wrong = not promoted
            if column.kind == "date":
                date, least = column.number, 3
            made = (PromoteColumn(full, KINDS[wider].type),)
            here[name] = attrs.evolve(column, kind=wider)
        elif kind == "default":
            if here[name].is_nested:
                return
            default = data.draw(st.sampled_from(KINDS[here[name].kind].finite))
            has_default = True
            made = (SetWriteDefault(full, encoded(here[name], default, iceberg_type(here[name]))),)
            here[name] = attrs.evolve(here[name], write_default=default)
        else:
            made = (MoveColumn(full, 0),)
            here = {name: here.pop(name), **here}
        columns = edited(columns, parent, lambda _: here)
        full_names = [".".join(path) for path, _ in paths(columns)]
        is_wrong = is_wrong or len(set(full_names)) < len(full_names)
        self.change(
            turn,
            f"change_schema {made}",
            lambda table: table.commit(changes.ChangeSchema(made)),
            lambda model: attrs.evolve(model, columns=columns),
            forbidden=lambda model: (
                is_wrong
                or not dropped.isdisjoint(model.sources())
                or model.version < max(least, 3 * has_default)
                or not model.can_become_timestamp(date)
            ),
        )

    def columns(self, parent: Names) -> st.SearchStrategy[Column]:
        """Make columns to add to the schema or to a struct."""

        def of_kind(kind: str) -> st.SearchStrategy[Column]:
            default = st.none() | st.sampled_from(KINDS[kind].finite)
            return default.map(lambda default: Column(next(self.numbers), kind, default, default))

        scalar = st.sampled_from(sorted(NESTED_KINDS if parent else KINDS)).flatmap(of_kind)
        return scalar | scalar | nested(self.numbers, 1)

    @rule(
        turn=TURNS,
        data=st.data(),
        transform=st.sampled_from(["remove", *TRANSFORMS]),
        name=st.sampled_from(["p", "日" * 60, "%/"]),
    )
    def change_spec(self, turn: Turn, data: Any, transform: str, name: str) -> None:
        planned = self.planned(turn)
        spec = planned.spec
        is_wrong = False
        made: Any
        if transform == "remove":
            if not spec:
                return
            field = data.draw(st.sampled_from(spec))
            made = RemovePartitionField(field[0])
            void = ((field[0], "void", field[2]),) if planned.version == 1 else ()
            spec = tuple(new for old in spec for new in (void if old == field else (old,)))
        else:
            source, leaf = data.draw(st.sampled_from(list(leaves(planned.columns).items())))
            name = f"{name}{next(self.numbers)}"
            made = AddPartitionField((self.id_of(source, turn),), parse_transform(transform), name)
            is_wrong = not is_allowed(transform, leaf.column.kind)
            spec = (*spec, (name, transform, leaf.column.number))
        self.change(
            turn,
            f"change_spec {made}",
            lambda table: table.commit(changes.ChangeSpec((made,))),
            lambda model: attrs.evolve(model, spec=spec, specs=model.specs | {spec}),
            forbidden=lambda _: is_wrong,
        )

    @rule(turn=TURNS, data=st.data(), direction=st.sampled_from(SortDirection), nulls=st.sampled_from(NullOrder))
    def change_sort_order(self, turn: Turn, data: Any, direction: SortDirection, nulls: NullOrder) -> None:
        known = leaves(self.planned(turn).columns)
        name = data.draw(st.none() | st.sampled_from(list(known)))
        fields, numbers = (), ()
        if name is not None:
            fields = (
                SortField(
                    source_id=self.id_of(name, turn),
                    transform=parse_transform("identity"),
                    direction=direction,
                    null_order=nulls,
                ),
            )
            numbers = (known[name].column.number,)
        self.change(
            turn,
            f"change_sort_order {name} {direction} {nulls}",
            lambda table: table.commit(changes.ChangeSortOrder(fields)),
            lambda model: attrs.evolve(model, order=numbers),
        )

    @rule(turn=TURNS, setting=SETTINGS, removed=st.sets(st.sampled_from(sorted(PROPERTIES)), max_size=2))
    def set_properties(self, turn: Turn, setting: tuple[str, str], removed: set[str]) -> None:
        self.change(
            turn,
            f"set_properties {setting} {removed}",
            lambda table: table.commit(changes.SetProperties(dict([setting]), frozenset(removed))),
            lambda model: attrs.evolve(
                model,
                properties={
                    **{name: given for name, given in model.properties.items() if name not in removed},
                    **dict([setting]),
                },
            ),
        )

    @rule(turn=TURNS, more=st.sampled_from([1, 1, 0, 2, -1]))
    def upgrade(self, turn: Turn, more: int) -> None:
        version = min(max(self.model.version + more, 1), 3)
        self.change(
            turn,
            f"upgrade {version}",
            lambda table: table.commit(changes.UpgradeFormatVersion(FormatVersion(version))),
            lambda model: attrs.evolve(model, version=version),
            forbidden=lambda model: version < model.version,
            may_refuse=self.model.version == 1,  # ids of fields of different specs may be equal
        )

    @rule(
        turn=TURNS,
        data=st.data(),
        name=st.sampled_from(BRANCHES),
        is_tag=st.sampled_from([False, False, False, True]),
        keep=st.sampled_from([None, None, 1, 2]),
        age=st.sampled_from([None, None, 1, HOUR]),
        reference_age=st.sampled_from([None, None, 1, HOUR]),
    )
    def set_reference(
        self,
        turn: Turn,
        data: Any,
        name: str,
        is_tag: bool,
        keep: int | None,
        age: int | None,
        reference_age: int | None,
    ) -> None:
        planned = self.planned(turn)
        snapshot = data.draw(st.sampled_from([*planned.snapshots, *planned.snapshots, None]))
        if is_tag:
            keep = age = None
        if name == "main":
            reference_age = None
        new = None if snapshot is None else Reference(snapshot, is_tag, keep, age, reference_age)
        ref = None
        if snapshot is not None:
            ref = SnapshotRef(
                snapshot_id=snapshot,
                type=RefType.TAG if is_tag else RefType.BRANCH,
                min_snapshots_to_keep=keep,
                max_snapshot_age_ms=age,
                max_ref_age_ms=reference_age,
            )
        self.change(
            turn,
            f"set_reference {name} {new}",
            lambda table: table.commit(changes.SetReference(name, ref)),
            lambda model: model.with_reference(name, new),
            forbidden=lambda _: name == "main" and (new is None or is_tag),
        )

    @rule(turn=TURNS, later=st.sampled_from([0, 10 * MINUTE, 2 * HOUR, 30 * 24 * HOUR]), clean_files=st.booleans())
    def expire(self, turn: Turn, later: int, clean_files: bool) -> None:
        now = self.model.time + later
        self.change(
            turn,
            f"expire {later} {clean_files}",
            lambda table: table.commit(changes.ExpireSnapshots(now, clean_files=clean_files)),
            lambda model: model.expired(now),
        )

    @rule(turn=TURNS, data=st.data(), is_removed=st.booleans())
    def set_statistics(self, turn: Turn, data: Any, is_removed: bool) -> None:
        planned = self.planned(turn)
        if not planned.snapshots or KEY_ID in planned.properties:
            return
        snapshot = data.draw(st.sampled_from(list(planned.snapshots)))
        path = str(Path(self.path, "metadata", f"{snapshot}-{next(self.numbers)}.stats"))
        statistics = None if is_removed else write_statistics(path, snapshot)
        self.change(
            turn,
            f"set_statistics {snapshot} {path} {is_removed}",
            lambda table: table.commit(
                changes.RemoveStatistics(snapshot) if statistics is None else changes.SetStatistics(statistics)
            ),
            lambda model: model.with_statistics(snapshot, None if is_removed else path),
            forbidden=lambda model: not is_removed and snapshot not in model.snapshots,
        )

    # Checks

    def check(self, before: WritableTable, after: WritableTable) -> None:
        """Check the metadata, and the rows of all branches."""
        model, metadata = self.model, after.metadata
        statistics = {one.snapshot_id: one.statistics_path for one in metadata.statistics}
        expect("statistics", statistics, dict(model.statistics))
        found = {name: (ref.snapshot_id, ref.type is RefType.TAG) for name, ref in metadata.references.items()}
        expect("references", found, {name: (one.snapshot, one.is_tag) for name, one in model.references.items()})
        expect("snapshots", {one.snapshot_id for one in metadata.snapshots}, set(model.snapshots))
        log = [(one.timestamp_ms, one.snapshot_id) for one in metadata.snapshot_log]
        expect("snapshot log", log, list(model.log))
        expect("last-updated-ms", metadata.last_updated_ms, model.time)
        most = int(model.properties.get(KEPT_METADATA, "100"))
        previous = min(len(before.metadata.metadata_log) + 1, most)
        expect("length of the metadata log", len(metadata.metadata_log), previous)
        for name, reference in model.references.items():
            if not reference.is_tag:
                self.check_rows(after, model.rows(name).values(), model.columns, ref=name)
                if model.version == 3:
                    self.check_lineage(after, name, reference.snapshot)

    def check_rows(
        self,
        table: WritableTable,
        rows: Iterable[Row],
        columns: Columns,
        where: Filter | None = None,
        select: list[str] | None = None,
        **state: Any,
    ) -> None:
        where = where or Filter()
        found = read_table(
            table.table, filter=predicate(where), select=select, threads=1, batch_rows=self.batch_rows, **state
        ).read_all()
        taken = columns if select is None else selected(columns, select)
        names = dict.fromkeys(name for one in select or () for name in selected(columns, [one])) or taken
        expect(f"columns of {state}", found.schema.names, list(names))
        listed = zip(*(from_arrow(column, found[name]) for name, column in taken.items()), strict=True)
        expected = ([column.value(row) for column in taken.values()] for row in rows if where.matches(row, columns))
        expect(f"rows of {state} where {where}", sorted_rows(listed), sorted_rows(expected))

    def check_lineage(self, table: WritableTable, branch: str, snapshot: int) -> None:
        """Check that rows keep their row ids, and their sequence numbers if they do not change."""
        select = [name for name, column in self.model.columns.items() if column.number == ID]
        select += ["_row_id", "_last_updated_sequence_number"]
        found = read_table(table.table, ref=branch, select=select, threads=1).read_all().to_pylist()
        lineage = {identity: (row_id, number) for identity, row_id, number in (row.values() for row in found)}
        row_ids = [row_id for row_id, _ in lineage.values() if row_id is not None]
        assert len(set(row_ids)) == len(row_ids), "row ids are not unique"
        self.lineage[snapshot] = lineage
        parent = self.model.snapshots[snapshot].parent
        for identity, (row_id, number) in self.lineage.get(parent or 0, {}).items():
            if identity in lineage and row_id is not None and parent in self.model.snapshots:
                assert lineage[identity][0] == row_id, f"row {identity} got another row id"
                if self.model.snapshots[parent].rows[identity] is self.model.rows(branch)[identity]:
                    assert lineage[identity][1] == number, f"row {identity} was not updated"

    @precondition(lambda self: self.history)
    @rule(data=st.data())
    def filter(self, data: Any) -> None:
        table = self.history[-1][0]
        for name, reference in self.model.references.items():
            if not reference.is_tag:
                columns = self.model.columns
                names = sorted({*leaves(columns), *columns})
                where = data.draw(filters(self.model, name))
                select = data.draw(st.none() | st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True))
                note(f"filter {where} {select}")
                self.check_rows(table, self.model.rows(name).values(), columns, where, select, ref=name)

    @precondition(lambda self: self.history)
    @rule()
    def check_everything(self) -> None:
        """Read all snapshots and times, and validate the table."""
        self.is_sound = False
        table = self.history[-1][0]
        for identity, snapshot in self.model.snapshots.items():
            self.check_rows(table, snapshot.rows.values(), snapshot.columns, snapshot_id=identity)
        for time, identity in dict(self.model.log).items():
            snapshot = self.model.snapshots[identity]
            self.check_rows(table, snapshot.rows.values(), snapshot.columns, timestamp_ms=time)
        report = validate(self.path, Level.ROWS, LocalBackend(), SnapshotSelection("all"), key_service=KEYS)
        findings = [str(one) for one in report.findings if one.severity in (Severity.ERROR, Severity.WARNING)]
        expect("findings", findings, [])
        assert report.complete
        self.is_sound = True


def expect(what: str, found: Any, expected: Any) -> None:
    assert found == expected, f"{what}: found {found}, expected {expected}"


def write_statistics(path: str, snapshot: int) -> StatisticsFile:
    """Write a file of statistics with one blob, whose type nobody knows."""
    blob = Blob(type="test", fields=(1,), payload=b"statistics", snapshot_id=snapshot, sequence_number=1)
    content = write_puffin([blob], {"created-by": "a test"})
    Path(path).write_bytes(content)
    return StatisticsFile(
        snapshot_id=snapshot,
        statistics_path=path,
        file_size_in_bytes=len(content),
        file_footer_size_in_bytes=read_puffin(content).footer_size,
        blob_metadata=(BlobMetadata(type="test", snapshot_id=snapshot, sequence_number=1, fields=(1,)),),
    )


def is_allowed(transform: str, kind: str) -> bool:
    return transform in ("identity", "void") or transform in KINDS[kind].transforms


def can_be_key(columns: Columns, name: str) -> bool:
    """Return whether a column, by its full name, can be one of an equality delete that this API writes."""
    return name in scalars(columns) and not KINDS[columns[name].kind].is_float


def numbers_in(column: Column) -> set[int]:
    return {column.number, *(child.number for _, child in paths(column.children))}


def value(mode: Mode | None) -> str | None:
    return None if mode is None else mode.value


def no_deletes(model: Model, operation: str, mode: Mode | None) -> bool:
    """Return whether a change needs delete files, and the version has none."""
    return model.version == 1 and model.mode(operation, value(mode)) != "copy-on-write"


def by_id(rows: Iterable[Row]) -> Rows:
    return {row[ID]: row for row in rows}


def values_of(column: Column) -> st.SearchStrategy[Any]:
    return st.integers(1, 20) if column.number == ID else values(column)
