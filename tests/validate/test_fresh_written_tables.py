"""Tables that iceberg-go and iceberg-rust write here and now: no warnings, and no errors but known deviations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from large_engines import skip_unless_installed

from conformance.engine_setup import launch
from conformance.operations.protocol import Unsupported
from conformance.properties.scenario_tables import ScriptedTable, write_script
from conformance.runner.process import Process
from conformance.validator.context import Level
from conformance.validator.local import LocalBackend
from conformance.validator.run import SnapshotSelection, validate
from spec_ref.checks.findings import Severity
from spec_ref.core.json_types import JsonObject

pytestmark = pytest.mark.engine

KNOWN = {
    "iceberg-go": {
        "metadata-partition-spec-missing": "iceberg-go-writes-metadata-v1-without-required-partition-spec",
        "snapshot-operation-delete": "iceberg-go-says-delete-snapshot-writes-files-anew",
    },
    "iceberg-rust": {},
}
"""Errors, by their checks: the ids of the deviations that they are."""

SOMETIMES = {"iceberg-go": {"position-delete-sorted"}, "iceberg-rust": set[str]()}
"""Errors that depend on chance: iceberg-go 0.7.0 reads data files at once, and writes their positions as they come."""

COLUMNS = [
    {"id": id_, "name": name, "required": False, "type": type_}
    for id_, (name, type_) in enumerate(
        (("id", "long"), ("k", "int"), ("s", "string"), ("d", "double"), ("day", "date"), ("ts", "timestamp")), 1
    )
]
ROWS = [
    {
        "id": str(number),
        "k": number % 3,
        "s": None if number % 5 == 0 else f"v{number}",
        "d": number / 4,
        "day": f"2020-01-{number + 1:02}",
        "ts": f"2020-01-{number + 1:02}T07:00:00.000000",
    }
    for number in range(12)
]
PARTITIONED = [
    {"source": "id", "transform": "bucket[4]", "name": "id_bucket"},
    {"source": "ts", "transform": "month", "name": "ts_month"},
    {"source": "s", "transform": "truncate[1]", "name": "s_trunc"},
]
BY_K = [{"source": "k", "transform": "identity", "name": "k"}]
SOME: JsonObject = {"type": "in", "term": "id", "values": [1, 2, 8]}
APPENDS: tuple[JsonObject, ...] = ({"op": "append", "rows": ROWS[:6]}, {"op": "append", "rows": ROWS[6:]})
SORT = [{"source": "k", "transform": "identity", "direction": "asc", "null_order": "nulls-first"}]

TYPES = [
    {"id": id_, "name": name, "required": False, "type": type_}
    for id_, (name, type_) in enumerate(
        (
            ("id", "long"),
            ("small", "decimal(9, 2)"),
            ("middle", "decimal(18, 0)"),
            ("large", "decimal(38, 10)"),
            ("u", "uuid"),
            ("x", "fixed[3]"),
            ("b", "binary"),
            ("tod", "time"),
            ("tz", "timestamptz"),
            ("r", "float"),
            ("yes", "boolean"),
        ),
        1,
    )
]
TYPED: JsonObject = {
    "id": "1",
    "small": "-1.25",
    "middle": "7",
    "large": "0.0000000001",
    "u": "f79c3e09-677c-4bbd-a479-3f349cb785e7",
    "x": "010203",
    "b": "00",
    "tod": "07:00:00.000001",
    "tz": "2020-01-01T07:00:00.000000+00:00",
    "r": 0.5,
    "yes": True,
}

FEATURES: dict[str, tuple[JsonObject, tuple[JsonObject, ...]]] = {
    "plain": ({}, APPENDS),
    "partitioned": ({"partition": PARTITIONED}, APPENDS),
    "sorted": ({"sort": SORT}, APPENDS),
    "types": (
        {"schema": {"type": "struct", "fields": TYPES}},
        ({"op": "append", "rows": [TYPED]}, {"op": "append", "rows": [{"id": "2"}]}),
    ),
    "copy-on-write": ({}, (*APPENDS, {"op": "delete", "filter": SOME, "mode": "copy-on-write"})),
    "merge-on-read": ({}, (*APPENDS, {"op": "delete", "filter": SOME, "mode": "merge-on-read"})),
    "equality": ({}, (APPENDS[0], {"op": "delete-equal", "rows": [{"id": "2"}]}, APPENDS[1])),
    "evolved": (
        {"partition": BY_K},
        (
            APPENDS[0],
            {"op": "alter-schema", "changes": [{"op": "add", "name": "x", "type": "int"}]},
            {"op": "append", "rows": [{"id": "99", "k": 1, "x": 3}]},
        ),
    ),
    "respecified": (
        {"partition": BY_K},
        (
            APPENDS[0],
            {
                "op": "alter-spec",
                "changes": [{"op": "add", "source": "id", "transform": "bucket[2]", "name": "id_bucket"}],
            },
            APPENDS[1],
        ),
    ),
    "overwritten": (
        {"partition": BY_K},
        (APPENDS[0], {"op": "overwrite", "filter": {"type": "eq", "term": "k", "value": 1}, "rows": ROWS[6:8]}),
    ),
}
FROM_V2 = ("merge-on-read", "equality")

UNSUPPORTED = {
    "iceberg-go": set[str](),
    "iceberg-rust": {"copy-on-write", "merge-on-read", "equality", "overwritten"},
}
"""The features that an engine does not write: iceberg-rust appends, and changes schemas and specs."""


def scripts() -> Iterator[tuple[str, list[JsonObject]]]:
    """A script for each feature and version that has it."""
    for version in (1, 2, 3):
        for feature, (table, operations) in FEATURES.items():
            if version > 1 or feature not in FROM_V2:
                schema = {"type": "struct", "fields": COLUMNS}
                create = {"op": "create", "format_version": version, "schema": schema, "properties": {}, **table}
                yield f"{feature}-v{version}", [create, *operations]


@pytest.mark.parametrize("engine", UNSUPPORTED)
def test_tables_of_the_engine_have_nothing_that_their_owner_cannot_act_on(engine: str, tmp_path: Path) -> None:
    skip_unless_installed(engine)
    launched = launch(engine)
    found: dict[str, list[str]] = {}
    over = set(KNOWN[engine])
    with Process(engine, launched.command, env=launched.env) as process:
        process.start()
        for name, operations in scripts():
            made = write_script(process, {"operations": operations}, tmp_path / name / "table")
            if isinstance(made, Unsupported):
                continue
            assert isinstance(made, ScriptedTable), (name, made)
            report = validate(made.metadata, Level.ROWS, LocalBackend(), SnapshotSelection("all"))
            errors = {one.check for one in report.findings if one.severity is Severity.ERROR}
            over -= errors
            found[name] = [
                str(one)
                for one in report.findings
                if one.severity is Severity.WARNING or one.check in errors - set(KNOWN[engine]) - SOMETIMES[engine]
            ]
    assert {name: findings for name, findings in found.items() if findings} == {}
    assert {name for name, _ in scripts()} - found.keys() == {
        name for name, _ in scripts() if name.rpartition("-")[0] in UNSUPPORTED[engine]
    }
    assert not over, "a known deviation is over"
