"""Detect the features that a writer supports, with the smallest script for each; other scripts use only these."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

from attrs import frozen

from conformance.operations.protocol import Ok, Unsupported
from conformance.properties.errors import NotSupported
from conformance.properties.script_maker import FORMATS, MODES, PARTITION_NAMES, PROPERTIES, usual_partition_name
from conformance.properties.scripts import TOGETHER
from conformance.properties.values import (
    NEW_VALUES,
    ODD_NAMES,
    OPAQUE_VALUES,
    PARAMETERIZED,
    TRANSFORMS,
    VALUES,
    WITH_ARGUMENTS,
    value_pool,
)
from conformance.runner.adapter_interface import Adapter, Request
from spec_ref.core.json_types import Json

Op = dict[str, Json]

LIST: Op = {
    "id": 2,
    "name": "c",
    "required": False,
    "type": {"type": "list", "element-id": 3, "element-required": False, "element": "int"},
}
VERSIONS = (2, 3, 1)
ID: Op = {"id": 1, "name": "id", "required": False, "type": "long"}
ROW: Op = {"id": "1"}
WHERE: Op = {"type": "eq", "term": "id", "value": 1}
POINT: Op = {
    "id": 2,
    "name": "c",
    "required": False,
    "type": {"type": "struct", "fields": [{"id": 3, "name": "x", "required": False, "type": "int"}]},
}


@frozen
class SupportedFeatures:
    """The features that a writer supports."""

    exclude: frozenset[str]
    """The features of `conformance.properties.scripts.EXCLUDABLE` that scripts for the writer leave out."""

    reasons: dict[str, str]
    """The writer's reason for not supporting each of the excluded features."""


def create_one_row(version: int, *columns: Op, row: Op | None = None, **more: Json) -> list[Op]:
    """Return operations that make a table with one row."""
    fields = [ID, *columns]
    first = {"op": "create", "format_version": version, "schema": {"type": "struct", "fields": fields}, **more}
    return [first, {"op": "append", "rows": [row or ROW]}]


def probes(version: int) -> Iterator[tuple[str, list[Op]]]:
    """Yield a word for each feature of scripts, and the smallest script with it.

    Args:
        version: a format version that the writer supports.
    """
    two = max(version, 2)
    yield "v1", create_one_row(1)
    yield "v2", create_one_row(2)
    yield "v3", create_one_row(3)
    base = create_one_row(version)
    for name in FORMATS:
        yield name, create_one_row(version, properties={"write.format.default": name})
    for mode in MODES:
        rows = {"op": "append", "rows": [{"id": "1"}, {"id": "2"}]}
        yield mode, [base[0], rows, {"op": "delete", "filter": WHERE, "mode": mode}]
    for name, op in _operations():
        yield name, [*create_one_row(two if name in ("delete-equal", "upsert") else version), *op]
    yield (
        "upgrade",
        [*create_one_row(1 if version == 1 else 2), {"op": "upgrade", "format_version": 2 if version == 1 else 3}],
    )
    yield "sort", [*base, {"op": "sort", "fields": [{"source": "id", "direction": "asc", "null_order": "nulls-last"}]}]
    by_bucket = {"source": "id", "transform": "bucket[4]", "direction": "desc", "null_order": "nulls-last"}
    yield "sort-transforms", [base[0], {"op": "sort", "fields": [by_bucket]}, base[1]]
    for word, properties in PROPERTIES.items():
        # Each value of a property is set once.
        scripts = itertools.zip_longest(*([(name, one) for one in values] for name, values in properties.items()))
        changes = [{"op": "properties", "set": dict(filter(None, some))} for some in scripts]
        yield word, [base[0], *(one for change in changes for one in (change, base[1]))]
    yield "remove-properties", [*base, {"op": "properties", "set": {"a": "b"}}, {"op": "properties", "remove": ["a"]}]
    yield (
        "several-changes",
        [*base, {"op": "alter-schema", "changes": [{"op": "add", "name": name, "type": "int"} for name in "cd"]}],
    )
    yield (
        "required",
        create_one_row(version, {"id": 2, "name": "c", "required": True, "type": "int"}, row={"id": "1", "c": 1}),
    )
    yield "nested", create_one_row(version, POINT, row={"id": "1", "c": {"x": 1}})
    yield "default", [*create_one_row(3), _alter({"op": "add", "name": "c", "type": "int", "default": 1}), base[1]]
    yield (
        "evolve-nested",
        [
            *create_one_row(version, POINT, row={"id": "1", "c": {"x": 1}}),
            _alter({"op": "rename", "name": "c.x", "to": "y"}),
        ],
    )
    yield "evolve-items", [*create_one_row(version, LIST, row={"id": "1", "c": [1]}), _promote("c.element")]
    inner = {"id": 3, "name": "x", "required": True, "type": "int"}
    struct = {"type": "struct", "fields": [inner]}
    yield "nested-required", create_one_row(version, {**POINT, "type": struct}, row={"id": "1", "c": {"x": 1}})
    keyed = {"type": "map", "key-id": 4, "key": struct, "value-id": 5, "value-required": False, "value": "int"}
    yield (
        "struct-keys",
        create_one_row(version, {**POINT, "type": keyed}, row={"id": "1", "c": {"keys": [{"x": 1}], "values": [2]}}),
    )
    for word, names in ODD_NAMES.items():
        columns = [{"id": 2 + at, "name": name, "required": False, "type": "int"} for at, name in enumerate(names)]
        found = create_one_row(version, *columns, row={"id": "1", **dict.fromkeys(names, 1)})
        yield word, [*found, {"op": "delete", "filter": {"type": "eq", "term": names[0], "value": 1}}]
    null = {"on": ["id"], "rows": [{"id": None}]}
    yield "null-keys", [*create_one_row(two), {"op": "merge", **null}, {"op": "upsert", **null}]
    yield "branch-writes", [*base, {"op": "branch", "name": "b"}, {**base[1], "branch": "b"}]
    for word, partition in _partitions():
        yield (
            word,
            create_one_row(version, *_source_columns(partition), row=_partitioned_row(partition), partition=partition),
        )
    for kind in (*VALUES, *NEW_VALUES, *OPAQUE_VALUES, *WITH_ARGUMENTS):
        column = {"id": 2, "name": "c", "required": False, "type": kind}
        yield kind, create_one_row(_since(kind, version), column, row={"id": "1", "c": value_pool(kind)[-1]})


def _since(kind: str, version: int) -> int:
    """Return the first format version that is at least ``version`` and has a type."""
    return version if kind in VALUES or kind in PARAMETERIZED else 3


def probes_together(version: int, word: str, names: Collection[str]) -> list[Op]:
    """Return the smallest script with some operations on a table that has a column of a type, or is partitioned.

    Args:
        version: a format version that the writer supports.
        word: the type, or ``partition``.
        names: the names of the operations.
    """
    if word == "partition":
        column: Op = {"id": 2, "name": "c", "required": False, "type": "int"}
        partition = [_field("c", "identity")]
        first = create_one_row(version, column, row={"id": "1", "c": 1}, partition=partition)
    else:
        value = value_pool(word)[-1]
        column = {"id": 2, "name": "c", "required": False, "type": word}
        first = create_one_row(_since(word, version), column, row={"id": "1", "c": value})
    row = first[-1]["rows"][0]
    made: dict[str, Op] = {
        "delete": {"filter": {"type": "eq", "term": "id", "value": 2}},
        "overwrite": {"filter": WHERE, "rows": [row]},
        "update": {"filter": WHERE, "set": {"c": row["c"]}},
        "merge": {"on": ["id"], "rows": [row, {**row, "id": "2"}]},
        "upsert": {"on": ["id"], "rows": [row]},
        "delete-equal": {"rows": [ROW]},
        "compact": {},
    }
    return [*first, *({"op": name, **op} for name, op in made.items() if name in names)]


CHANGING = ("delete", "overwrite", "update", "merge", "upsert", "delete-equal", "compact")
"""Operations that a writer may not support for a type that it supports for ``append``."""


def _alter(change: Op) -> Op:
    return {"op": "alter-schema", "changes": [change]}


def _promote(name: str) -> Op:
    return _alter({"op": "promote", "name": name, "type": "long"})


def _operations() -> Iterator[tuple[str, list[Op]]]:
    yield "overwrite", [{"op": "overwrite", "filter": WHERE, "rows": [ROW]}]
    yield "empty-overwrite", [{"op": "overwrite", "filter": WHERE, "rows": []}]
    yield "delete", [{"op": "delete", "filter": WHERE}]
    yield "delete-equal", [{"op": "delete-equal", "rows": [ROW]}]
    yield (
        "update",
        [_alter({"op": "add", "name": "c", "type": "int"}), {"op": "update", "filter": WHERE, "set": {"c": 1}}],
    )
    yield "merge", [{"op": "merge", "on": ["id"], "rows": [{"id": "2"}]}]
    yield "upsert", [{"op": "upsert", "on": ["id"], "rows": [ROW]}]
    yield "compact", [{"op": "compact"}]
    yield "rewrite-manifests", [{"op": "rewrite-manifests"}]
    yield "alter-schema", [_alter({"op": "add", "name": "c", "type": "int"})]
    yield "alter-spec", [{"op": "alter-spec", "changes": [{"op": "add", **_field("id", "bucket[4]")}]}]
    yield "properties", [{"op": "properties", "set": {"a": "b"}}]
    yield "branch", [{"op": "branch", "name": "b"}]
    yield "tag", [{"op": "tag", "name": "t"}]
    yield "fast-forward", [{"op": "branch", "name": "b"}, {"op": "fast-forward", "to": "b"}]
    yield "rollback", [{"op": "append", "rows": [ROW]}, {"op": "rollback", "to": 1}]
    yield "expire", [{"op": "append", "rows": [ROW]}, {"op": "expire"}]


def _partitions() -> Iterator[tuple[str, list[Op]]]:
    kinds = dict.fromkeys(one.partition("[")[0] for every in TRANSFORMS.values() for one in every)
    for kind in (*kinds, "void"):
        source = "d" if kind in ("year", "month", "day") else "t" if kind == "hour" else "id"
        transform = f"{kind}[4]" if kind in ("bucket", "truncate") else kind
        yield kind, [_field(source, transform)]
    yield "shared-source", [_field("id", "identity"), _field("id", "bucket[4]")]
    yield "nested-source", [_field("c.x", "identity")]
    yield PARTITION_NAMES, [{**_field("id", "identity"), "name": "p"}]


def _field(source: str, transform: str) -> Op:
    """Return a partition field with the name that it gets from writers that cannot choose one."""
    return {"source": source, "transform": transform, "name": usual_partition_name(source, transform)}


_SOURCES: dict[str, tuple[Op, Json]] = {
    "d": ({"id": 2, "name": "d", "required": False, "type": "date"}, "1970-01-01"),
    "t": ({"id": 2, "name": "t", "required": False, "type": "timestamp"}, "1970-01-01T00:00:00.000000"),
    "c": (POINT, {"x": 1}),
}


def _source_columns(partition: list[Op]) -> list[Op]:
    name = partition[0]["source"].partition(".")[0]
    return [_SOURCES[name][0]] if name in _SOURCES else []


def _partitioned_row(partition: list[Op]) -> Op:
    name = partition[0]["source"].partition(".")[0]
    return {**ROW, name: _SOURCES[name][1]} if name in _SOURCES else ROW


def find_supported(
    writer: Adapter, exclude: frozenset[str] = frozenset(), progress: Callable[[int], None] = lambda _done: None
) -> SupportedFeatures:
    """Detect what a writer supports.

    Args:
        writer: a started adapter with ``table.write``.
        exclude: what is always left out.
        progress: called with the number of features that were tested.

    Returns:
        The features that it supports.

    Raises:
        NotSupported: it can write no table at all; the message has its answers.
    """
    with tempfile.TemporaryDirectory(prefix="iceberg-probes-") as folder:
        numbers = iter(range(1_000_000))

        def answer(operations: list[Op]) -> Any:
            place = str(Path(folder) / str(next(numbers)))
            return next(
                iter(writer.ask([Request("table.write", {"table": place, "script": {"operations": operations}})]))
            )

        first = {one: answer(create_one_row(one)) for one in VERSIONS if f"v{one}" not in exclude}
        able = [one for one, found in first.items() if isinstance(found, Ok)]
        if not able:
            raise NotSupported("; ".join(f"version {one}: {found}" for one, found in first.items()))
        reasons = {f"v{one}": "not supported" for one in VERSIONS if one not in able and f"v{one}" not in exclude}
        for done, (word, operations) in enumerate(probes(able[0])):
            wants = {f"v{operations[0]['format_version']}"}
            if (
                word in exclude
                or word in reasons
                or (wants & (reasons.keys() | exclude) and word not in ("v1", "v2", "v3"))
            ):
                continue
            if word in (*ODD_NAMES, "null-keys"):  # a writer that lacks the operation may do the rest
                operations = [one for one in operations if one["op"] not in reasons]
            found = answer(operations)
            if isinstance(found, Unsupported):
                reasons[word] = found.message
            progress(done + 1)
        lacking = exclude | reasons.keys()
        for word in ("partition", *(kind for kind in (*VALUES, *NEW_VALUES, *PARAMETERIZED) if kind not in lacking)):
            since = able[0] if word == "partition" else _since(word, able[0])
            if since not in able:
                continue
            names = [name for name in CHANGING if name not in lacking]
            if since == 1:
                names = [name for name in names if name not in ("upsert", "delete-equal")]
            if not isinstance(answer(probes_together(since, word, names)), Unsupported):
                continue
            for name in names:
                found = answer(probes_together(since, word, [name]))
                if isinstance(found, Unsupported):
                    reasons[f"{word}{TOGETHER}{name}"] = found.message
        return SupportedFeatures(exclude | reasons.keys(), reasons)
