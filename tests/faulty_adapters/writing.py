"""Faults of writing tables: the reference's writers, changed in one place while they follow a script.

A fault that shows only where a script has some operation is not asked of others: it answers that it does not do them.
"""

from __future__ import annotations

import copy
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

from conformance.adapter_sdk.serve import Arguments, Unsupported
from spec_ref.core.json_types import Json
from spec_ref.core.records import evolve
from tests.faulty_adapters import Fault, Operation

Wrong = Callable[[Arguments, Operation], Any]
Shows = Callable[[list[Json]], bool]
"""Whether a fault can show in a script."""

NOTHING = {"op": "properties"}
"""An operation that does nothing, in the place of one that is left out, as operations are known by their number."""


def _operations(arguments: Arguments) -> list[Json]:
    operations: list[Json] = arguments["script"]["operations"]
    return operations


def having(*names: str, version: int | None = None, mode: str | None = None) -> Shows:
    """Scripts that have all of some operations, of tables of a version, with changes of rows in a mode."""

    def shows(operations: list[Json]) -> bool:
        return (
            {*names} <= {one["op"] for one in operations}
            and (version is None or operations[0]["format_version"] == version)
            and (mode is None or any(one.get("mode") == mode for one in operations))
        )

    return shows


def _where(shows: Shows, wrong: Wrong) -> Wrong:
    def answer(arguments: Arguments, right: Operation) -> Any:
        if not shows(_operations(arguments)):
            raise Unsupported("the fault cannot show in this script")
        return wrong(arguments, right)

    return answer


# Another script


def each_operation(change: Callable[[Json], Json]) -> Wrong:
    """Make a fault that takes each operation after the first for another."""

    def wrong(arguments: Arguments, right: Operation) -> Any:
        first, *rest = copy.deepcopy(_operations(arguments))
        return right({**arguments, "script": {"operations": [first, *map(change, rest)]}})

    return wrong


def instead(name: str, change: Callable[[Json], Json]) -> Wrong:
    """Make a fault that takes one kind of operation for another."""
    return each_operation(lambda operation: change(operation) if operation["op"] == name else operation)


def _ternary(filter_: Json) -> Json:
    """A filter as SQL has it: a comparison with null is not true."""
    if isinstance(filter_, dict) and filter_.get("type") == "not-eq":
        return {"type": "and", "left": {"type": "not-null", "term": filter_["term"]}, "right": filter_}
    return filter_


def _with_nulls(operation: Json) -> Json:
    """An append that gives null for what some other row or the table has."""
    if operation["op"] != "append":
        return operation
    return {**operation, "rows": [{**row, "n": row.get("n")} for row in operation["rows"]]}


# Another writer


@contextmanager
def _patched(module: str, name: str, change: Callable[[Any], Any]) -> Iterator[None]:
    """Another function, or method (``Class.method``), of a module while a script is followed."""
    owner: Any = import_module(module)
    *around, last = name.split(".")
    for part in around:
        owner = getattr(owner, part)
    with patch.object(owner, last, change(getattr(owner, last))):
        yield


def writing(module: str, name: str, change: Callable[[Any], Any]) -> Wrong:
    """Make a fault of a function of `conformance.table_io.writing`."""

    def wrong(arguments: Arguments, right: Operation) -> Any:
        with _patched(f"conformance.table_io.writing.{module}", name, change):
            return right(arguments)

    return wrong


def batches(change: Callable[[Any], Any]) -> Wrong:
    """Make a fault that writes other rows than it is given."""
    return writing("write_tasks", "RowSink.add", lambda add: lambda self, batch, *more: add(self, change(batch), *more))


def commits(change: Callable[[Any], Any]) -> Wrong:
    """Make a fault that commits another change of the snapshot."""

    def changed(given: Any) -> Any:
        return change(given) if hasattr(given, "added") else given

    return writing("tables", "WritableTable.commit", lambda commit: lambda self, given: commit(self, changed(given)))


def entries(change: Callable[[Any], Any], *, deletes: bool = False) -> Wrong:
    """Make a fault that changes the metadata about files: of data files, or of delete files."""

    def changed(new: Any) -> Any:
        is_delete = new.data_file.content.value > 0
        return evolve(new, data_file=change(new.data_file)) if is_delete == deletes else new

    return commits(lambda given: evolve(given, added=tuple(map(changed, given.added))))


def _shifted(write: Any) -> Any:
    """Positions that are counted from 1."""

    def wrong(metadata: Any, deleted: Any, *more: Any) -> Any:
        import attrs

        return write(metadata, [attrs.evolve(one, positions=one.positions + 1) for one in deleted], *more)

    return wrong


def _without_lineage(plan: Any) -> Any:
    return lambda metadata, **more: plan(metadata, **{**more, "lineage": False})


def _without_clearing(update: Any) -> Any:
    """Rows that change and keep the number of the commit that changed them before."""

    def wrong(batch: Any, columns: Any) -> Any:
        name = "_last_updated_sequence_number"
        made = update(batch, columns)
        if name not in made.schema.names:
            return made
        return made.set_column(made.schema.get_field_index(name), name, batch.column(name))

    return wrong


def _other_ids(open_: Any) -> Any:
    """Files whose last column has another field id."""

    def wrong(out: Any, struct: Any, *more: Any, **options: Any) -> Any:
        *fields, last = struct.fields
        return open_(out, evolve(struct, fields=(*fields, evolve(last, id=last.id + 100))), *more, **options)

    return wrong


def _elsewhere(arguments: Arguments, right: Operation) -> Any:
    answer = right(arguments)
    place = Path(arguments["table"]).parent / "elsewhere.metadata.json"
    shutil.copyfile(answer["metadata"], place)
    return {**answer, "metadata": str(place)}


def _bounds(file: Any, side: str) -> Any:
    """Both bounds the one of a side."""
    return evolve(file, **{f"{other}_bounds": getattr(file, f"{side}_bounds") for other in ("lower", "upper")})


COW, MOR = "copy-on-write", "merge-on-read"
PARTITIONED: Shows = lambda operations: "partition" in operations[0]  # noqa: E731 - one of several conditions
MOVED: Shows = lambda operations: any("at" in one for one in operations)  # noqa: E731
FLOATS: Shows = lambda operations: "double" in str(operations[0]) and "NaN" in str(operations)  # noqa: E731

WAYS: dict[str, tuple[Shows, Wrong]] = {
    # rows
    "row-lost": (having("append"), batches(lambda batch: batch.slice(0, max(1, batch.num_rows - 1)))),
    "row-twice": (having("append"), batches(lambda batch: batch.take([0, *range(batch.num_rows)]))),
    "delete-in-ternary-logic": (
        having("delete"),
        each_operation(lambda one: {**one, "filter": _ternary(one["filter"])} if "filter" in one else one),
    ),
    "merge-only-adds": (having("merge"), instead("merge", lambda one: {"op": "append", "rows": one["rows"]})),
    "upsert-only-adds": (having("upsert"), instead("upsert", lambda one: {"op": "append", "rows": one["rows"]})),
    "write-default-ignored": (
        lambda operations: "'default': 6" in str(operations),
        each_operation(_with_nulls),
    ),
    "old-files-stay": (having("compact"), commits(lambda change: evolve(change, removed=frozenset()))),
    "delete-files-lost": (
        having("delete", mode=MOR),
        commits(lambda one: evolve(one, added=tuple(new for new in one.added if not new.data_file.content.value))),
    ),
    "positions-from-one": (having("delete", version=2, mode=MOR), writing("row_changes", "write_positions", _shifted)),
    "vector-positions-from-one": (
        having("delete", version=3, mode=MOR),
        writing("row_changes", "write_positions", _shifted),
    ),
    "field-id-wrong": (having("append"), writing("write_tasks", "open_writer", _other_ids)),
    "new-rows-of-an-old-number": (
        having("delete-equal", "append"),
        commits(lambda one: evolve(one, added=tuple(evolve(new, data_sequence_number=1) for new in one.added))),
    ),
    # the metadata about files
    "partition-value-wrong": (PARTITIONED, entries(lambda f: evolve(f, partition=dict.fromkeys(f.partition)))),
    "record-count-wrong": (having("append"), entries(lambda f: evolve(f, record_count=f.record_count + 1))),
    "file-size-wrong": (having("append"), entries(lambda f: evolve(f, file_size_in_bytes=f.file_size_in_bytes - 1))),
    "null-count-wrong": (
        having("append"),
        entries(lambda f: evolve(f, null_value_counts={id_: n + 1 for id_, n in f.null_value_counts.items()})),
    ),
    "value-count-without-nulls": (
        having("append"),
        entries(
            lambda f: evolve(
                f, value_counts={id_: n - (f.null_value_counts or {}).get(id_, 0) for id_, n in f.value_counts.items()}
            )
        ),
    ),
    "nan-count-zero": (
        FLOATS,
        entries(lambda f: evolve(f, nan_value_counts=dict.fromkeys(f.nan_value_counts or (), 0))),
    ),
    "lower-bound-too-high": (having("append"), entries(lambda f: _bounds(f, "upper"))),
    "upper-bound-too-low": (having("append"), entries(lambda f: _bounds(f, "lower"))),
    "sort-order-unknown": (having("append"), entries(lambda f: evolve(f, sort_order_id=7))),
    "cardinality-wrong": (
        having("delete", version=3, mode=MOR),
        entries(lambda f: evolve(f, record_count=f.record_count + 1), deletes=True),
    ),
    "equality-ids-of-first-column": (
        having("delete-equal"),
        entries(lambda f: evolve(f, equality_ids=f.equality_ids and f.equality_ids[:1]), deletes=True),
    ),
    "spec-of-before": (
        having("alter-spec"),
        commits(lambda one: evolve(one, added=tuple(evolve(new, spec_id=0) for new in one.added))),
    ),
    # who rows are
    "compaction-loses-row-ids": (having("compact", version=3), writing("compaction", "plan_write", _without_lineage)),
    "rewritten-rows-lose-ids": (
        having("update", version=3, mode=COW),
        writing("operations", "plan_write", _without_lineage),
    ),
    "updated-rows-keep-their-number": (
        having("update", version=3),
        writing("operations", "replace_columns", _without_clearing),
    ),
    # the table
    "branch-ignored": (
        having("branch"),
        each_operation(lambda one: {name: one[name] for name in one if name != "branch"}),
    ),
    "tag-of-now": (MOVED, each_operation(lambda one: {name: one[name] for name in one if name != "at"})),
    "rollback-ignored": (having("rollback"), instead("rollback", lambda _: NOTHING)),
    "upgrade-ignored": (having("upgrade"), instead("upgrade", lambda _: NOTHING)),
    "spec-change-ignored": (having("alter-spec"), instead("alter-spec", lambda _: NOTHING)),
    "sort-order-ignored": (having("sort"), instead("sort", lambda _: NOTHING)),
    "metadata-elsewhere": (having("append"), _elsewhere),
}

CHANGES: dict[str, Wrong] = {
    "nothing": lambda args, _right: {"metadata": args["table"]},
    "first-operation-only": lambda args, right: right({**args, "operations": args["operations"][:1]}),
    "history-of-one-before": lambda args, right: right({**args, "history": [None, *args["history"][:-1]]}),
}
"""Faults of changing a table that is there."""

FAULTS = (
    *(Fault(f"writing-{name}", "table.write", _where(shows, wrong)) for name, (shows, wrong) in WAYS.items()),
    *(Fault(f"changing-{name}", "table.change", wrong) for name, wrong in CHANGES.items()),
)
