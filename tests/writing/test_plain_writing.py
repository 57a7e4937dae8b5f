"""Tables that are written row by row equal those that kernels write, and no kernel runs."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import Any

import attrs
import pytest

from conformance.engines.reference.adapter import operations
from conformance.operations.forms import FAST, PLAIN
from conformance.table_io.file_access import read_bytes
from conformance.table_io.tables import load_table
from spec_ref.expressions.predicates import TRUE
from spec_ref.scan_planning import table_state
from spec_ref.scan_planning.planner import plan

SCHEMA = {
    "type": "struct",
    "fields": [
        {"id": 1, "name": "id", "required": True, "type": "long"},
        {"id": 2, "name": "part", "required": False, "type": "string"},
        {"id": 3, "name": "x", "required": False, "type": "double"},
        {
            "id": 4,
            "name": "s",
            "required": False,
            "type": {
                "type": "struct",
                "fields": [
                    {"id": 5, "name": "a", "required": False, "type": "int"},
                    {"id": 6, "name": "b", "required": False, "type": "string"},
                ],
            },
        },
    ],
}
PROPERTIES = {"write.metadata.metrics.default": "truncate(3)", "write.metadata.metrics.column.s.a": "counts"}
NUMBERS = (1.5, "NaN", -0.0, 0.0, None)


def row(number: int, **values: Any) -> dict[str, Any]:
    part = ("a", "b", None)[number % 3]
    struct = None if number % 4 == 0 else {"a": number, "b": "long text"} if number % 2 else {"a": number}
    return {"id": str(number), "part": part, "x": NUMBERS[number % 5], "s": struct, **values}


def compare(op: str, name: str, value: Any) -> dict[str, Any]:
    return {"type": op, "term": name, "value": value}


def script(version: int, mode: str, how: dict[str, str]) -> list[dict[str, Any]]:
    written = {} if mode == "equality" else {"mode": mode}
    deletes = (
        []
        if version == 1
        else [
            {"op": "delete-equal", "rows": [{"part": "b", "id": "5"}, {"part": "a", "id": "3"}]},
            {"op": "upsert", "on": ["id"], "rows": [row(7, part="c")]},
        ]
    )
    return [
        {
            "op": "create",
            "format_version": version,
            "schema": SCHEMA,
            "properties": {**PROPERTIES, **how},
            "partition": [{"source": "part", "transform": "identity", "name": "part"}],
            "sort": [{"source": "x", "direction": "desc", "null_order": "nulls-last"}, {"source": "id"}],
        },
        {"op": "append", "rows": [row(number) for number in range(30)]},
        {"op": "append", "rows": [row(number) for number in range(30, 40)]},
        {"op": "delete", "filter": compare("lt-eq", "id", 4), **written},
        {"op": "delete", "filter": compare("eq", "id", 8), **written},
        {"op": "update", "filter": compare("eq", "id", 9), "set": {"x": 7.0, "s": {"a": 1}}, **written},
        {"op": "merge", "on": ["id"], "rows": [row(10, x=2.5), row(100)], **written},
        *deletes,
        {"op": "delete", "filter": compare("eq", "part", "a"), **written},
        {"op": "overwrite", "filter": compare("gt", "id", 35), "rows": [row(200), row(201)]},
        {"op": "alter-spec", "changes": [{"op": "remove", "name": "part"}]},
        {"op": "append", "rows": [row(300)]},
        {"op": "compact"},
    ]


def written(folder: Path, form: str, steps: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """The files of a table after each operation, without what depends on their names and on how they are encoded."""
    answer: Any = operations(form)["table.write"]({"table": str(folder), "script": {"operations": steps}})
    return [files_at(location) for location in answer["locations"]]


def files_at(location: str) -> tuple[Any, ...]:
    metadata = load_table(location).metadata
    snapshot = table_state(metadata).snapshot
    if snapshot is None:
        return ()
    found = list(plan(metadata, snapshot, TRUE, read_bytes, include_column_stats=True, all_deletes=True))
    # Names of files are random. The bounds of paths depend on them, and so do the data files of a delete file.
    deletes = {(one.data_file.file_path, one.data_file.content_offset): one for task in found for one in task.deletes}
    files = [*(task.data_file for task in found), *(one.data_file for one in deletes.values())]
    summary = {name: value for name, value in snapshot.summary.items() if "size" not in name}
    return sorted(repr(file_fields(file)) for file in files), snapshot.operation, summary


def file_fields(file: Any) -> dict[str, Any]:
    # Threads may write partitions in any order, in which their files get row ids.
    left_out = {"file_path", "first_row_id", "file_size_in_bytes", "column_sizes", "split_offsets", "content_offset"}
    values = {field.name: getattr(file, field.name) for field in attrs.fields(type(file))}
    named = values.pop("referenced_data_file") is not None
    if file.content.value == 1:  # bounds of paths
        left_out |= {"lower_bounds", "upper_bounds"}
    return {name: value for name, value in values.items() if name not in left_out} | {"named": named}


CASES = [(1, "copy-on-write"), *((version, mode) for version in (2, 3) for mode in ("copy-on-write", "merge-on-read"))]


@pytest.mark.parametrize("granularity", ["file", "partition"])
@pytest.mark.parametrize(("version", "mode"), [*CASES, (2, "equality"), (3, "equality")])
def test_both_forms_write_the_same_files(tmp_path: Path, version: int, mode: str, granularity: str) -> None:
    how = {f"write.{name}.mode": mode for name in ("delete", "update", "merge")}
    steps = script(version, mode, {**how, "write.delete.granularity": granularity})
    plain, fast = (written(tmp_path / form, form, steps) for form in (PLAIN, FAST))
    assert plain == fast
    assert len({repr(state) for state in plain}) > len(steps) - 3


BOUNDARY = (
    "columnar/arrow_types.py",
    "columnar/arrow_values.py",
    "columnar/chunks.py",
    "columnar/decimal128.py",
    "columnar/manifests/computed_metrics.py:storage_array",
    "columnar/manifests/computed_metrics.py:comparable",
    "columnar/schemas/arrow_columns.py",
    "columnar/schemas/column_projection.py",
    "columnar/utf8_vectorized.py",
)
"""What encodes and decodes the values of data files (`spec_ref.data_files`), by file, or file and function."""


@pytest.mark.parametrize(
    ("form", "mode", "version"), [(PLAIN, *reversed(case)) for case in CASES] + [(FAST, *reversed(CASES[-1]))]
)
def test_no_kernel_is_run(tmp_path: Path, form: str, mode: str, version: int) -> None:
    called: set[str] = set()

    def watch(frame: FrameType, event: str, _: Any) -> None:
        _, found, path = frame.f_code.co_filename.rpartition("/spec_ref/")
        if event == "call" and found and path.startswith("columnar/") and frame.f_code.co_name != "<module>":
            called.add(f"{path}:{frame.f_code.co_qualname}")

    asked = {"script": {"operations": script(version, mode, {})}}
    write = operations(form)["table.write"]
    write({"table": str(tmp_path / "first"), **asked})  # modules are imported when they are used first
    sys.setprofile(watch)
    try:
        write({"table": str(tmp_path / "t"), **asked})
    finally:
        sys.setprofile(None)
    kernels = {name for name in called if not name.startswith(BOUNDARY)}
    assert bool(kernels) == (form == FAST), kernels
