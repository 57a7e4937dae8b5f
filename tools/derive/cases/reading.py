"""Reading golden tables: every state of each, columns and metadata columns, filters, and tables with one defect.

The rows follow from the statements (``vectors/golden/tables/*/index.json``, written by ``tools/golden``);
`tools.derive.rows` derives which of them match a filter.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

from tools.derive.cases.reading_filters import DELETE_PLANS, FILTERS, OPEN, POSITIONS, SELECTIONS
from tools.derive.json_types import JsonObject
from tools.derive.rows import filter_rows
from tools.derive.vector import INVALID, Vector, VectorFile, any_of, ok

TABLES = Path(__file__).resolve().parents[3] / "vectors" / "golden" / "tables"
PLACE = "/tmp/iceberg-conformance/tables"
LINEAGE = ("_row_id", "_last_updated_sequence_number")

TOPICS: dict[str, tuple[str, tuple[tuple[str, tuple[str, ...]], ...]]] = {
    "parquet": (
        "Parquet",
        (
            ("arrow-int96*", ("PQT004",)),
            ("arrow-nan-payloads", ("PQT007",)),
            ("arrow-pages", ("PQT001", "PQT007")),
            ("awkward-nulls-parquet", ("PQT001", "PQT002", "TYP002", "TYP003", "TYP004")),
            ("awkward-deep-nulls-parquet", ("PQT001", "PQT002", "TYP002", "TYP003", "TYP004")),
            ("awkward-null-keys-parquet", ("PQT001", "TYP002", "TYP004")),
            ("awkward-names-parquet", ("PQT001",)),
            ("awkward-nanosecond*-parquet", ("PQT003", "PQT005")),
            ("awkward-calendar-parquet", ("PQT003", "PQT004", "PQT007", "TYP016")),
            ("awkward-far-parquet", ("PQT003", "PQT004", "PQT007", "TYP015")),
            ("awkward-far-limits-parquet", ("PQT003", "PQT004", "PQT007", "TYP015")),
            ("awkward-*-parquet", ("PQT003", "PQT004", "PQT007")),
            ("pyiceberg-awkward-*", ("PQT003", "PQT004", "PQT007")),
            ("types-v3-parquet", ("PQT003", "PQT004", "PQT005", "PQT007")),
            ("types-*-parquet", ("PQT003", "PQT004", "PQT007")),
            ("java-1-10-types", ("PQT003", "PQT004", "PQT007")),
            ("pyiceberg-types-*", ("PQT003", "PQT004", "PQT007")),
            ("nested-parquet", ("PQT001", "PQT002", "TYP002")),
            ("pyiceberg-nested", ("PQT001", "PQT002", "TYP002")),
            ("flink-nanoseconds-parquet", ("PQT003", "PQT005")),
            ("trino-nanoseconds-parquet", ("PQT003", "PQT005")),
            ("flink-nested-parquet", ("PQT001", "PQT002", "PQT004", "PQT007", "TYP002")),
            ("trino-nested-parquet", ("PQT001", "PQT002", "PQT004", "PQT007", "TYP002")),
            ("variant-*", ("PQT005",)),
            ("arrow-variant-*", ("PQT005",)),
            ("arrow-unknown-stored", ("PQT006",)),
            ("unknown-parquet", ("PQT006",)),
        ),
    ),
    "avro": (
        "Avro",
        (
            ("awkward-nulls-avro", ("AVR001", "AVR005", "AVR013", "TYP002", "TYP003", "TYP004")),
            ("awkward-deep-nulls-avro", ("AVR001", "AVR005", "AVR013", "TYP002", "TYP003", "TYP004")),
            ("awkward-null-keys-avro", ("AVR005", "AVR013", "TYP002", "TYP004")),
            ("awkward-names-avro", ("AVR013", "AVR014", "PRJ001")),
            ("awkward-nanosecond*-avro", ("AVR006", "AVR008", "AVR014")),
            ("awkward-calendar-avro", ("AVR001", "AVR006", "AVR007", "AVR014", "TYP016")),
            ("awkward-far-avro", ("AVR001", "AVR006", "AVR007", "AVR014", "TYP015")),
            ("awkward-far-limits-avro", ("AVR001", "AVR006", "AVR007", "AVR014", "TYP015")),
            ("awkward-*-avro", ("AVR001", "AVR006", "AVR007", "AVR014")),
            ("types-v3-avro", ("AVR001", "AVR006", "AVR007", "AVR008", "AVR014")),
            ("types-*-avro", ("AVR001", "AVR006", "AVR007", "AVR014")),
            ("nested-avro", ("AVR001", "AVR005", "AVR013", "TYP002")),
            ("flink-nested-avro", ("AVR001", "AVR005", "AVR006", "AVR013", "TYP002")),
            ("trino-nested-avro", ("AVR001", "AVR005", "AVR006", "AVR013", "TYP002")),
            ("names-avro", ("AVR013", "AVR014", "PRJ001")),
            ("unknown-avro", ("AVR010",)),
            ("avro-codec-*", ("AVR014",)),
        ),
    ),
    "orc": (
        "ORC",
        (
            ("awkward-nulls-orc", ("ORC001", "ORC008", "TYP002", "TYP003", "TYP004")),
            ("awkward-deep-nulls-orc", ("ORC001", "ORC008", "TYP002", "TYP003", "TYP004")),
            ("awkward-null-keys-orc", ("ORC001", "ORC008", "TYP002", "TYP004")),
            ("awkward-names-orc", ("ORC001",)),
            ("awkward-*-orc", ("ORC002", "ORC003", "ORC008")),
            ("types-*-orc", ("ORC002", "ORC003", "ORC008")),
            ("nested-orc", ("ORC001", "ORC008", "TYP002")),
            ("flink-nested-orc", ("ORC001", "ORC003", "ORC008", "TYP002", "TYP015")),
            ("trino-nested-orc", ("ORC001", "ORC003", "ORC008", "TYP002", "TYP015")),
            ("unknown-orc", ("ORC001",)),
        ),
    ),
    "projection": (
        "Column Projection",
        (
            ("schema-evolution-*", ("EVO003", "EVO010", "PRJ001", "PRJ005", "PRJ006")),
            ("java-1-10-schema-evolution", ("EVO003", "EVO010", "PRJ001", "PRJ005", "PRJ006")),
            ("pyiceberg-evolution", ("EVO003", "EVO010", "PRJ001", "PRJ005", "PRJ006")),
            ("nested-evolution-*", ("EVO003", "PRJ001", "PRJ005", "PRJ006")),
            ("nested-missing-*", ("PRJ001", "PRJ005")),
            ("trino-evolved", ("EVO003", "PAR011", "PRJ001", "PRJ005")),
            ("arrow-ids-partly-*", ("PRJ001", "PRJ005")),
            ("name-mapping-*", ("NAM001", "PRJ003", "PRJ005")),
            ("partition-values-missing-*", ("PRJ002", "PRJ003")),
            ("arrow-names-of-deletes", ("DEL013", "PRJ001")),
            ("pyiceberg-add-files", ("NAM001", "PRJ003", "PRJ005")),
        ),
    ),
    "defaults": (
        "Default values",
        (
            ("defaults-nested-*", ("DEF001", "DEF011", "PRJ004")),
            ("defaults-orc", ("DEF001", "DEF012", "ORC003", "PRJ004")),
            ("defaults-*", ("DEF001", "DEF012", "PRJ004")),
        ),
    ),
    "position-deletes": (
        "Position Delete Files",
        (
            ("position-deletes-*", ("DEL012", "DEL013", "SCN009")),
            ("arrow-deletes-unsorted", ("DEL012", "DEL015", "SCN009")),
            ("arrow-deletes-*", ("DEL012", "DEL013", "SCN009")),
            ("java-1-10-position-deletes", ("DEL012", "DEL013", "SCN009")),
            ("trino-changes-v2", ("DEL012", "DEL013", "SCN009")),
            ("trino-changes-orc", ("DEL012", "DEL013", "SCN009")),
            ("trino-changes-avro", ("DEL012", "DEL013", "SCN009")),
            ("deletes-in-one-commit", ("DEL012", "SCN010", "SCN012")),
        ),
    ),
    "equality-deletes": (
        "Equality Delete Files",
        (
            ("equality-deletes-scopes", ("DEL019", "SCN010", "SCN011")),
            ("equality-deletes-evolved", ("DEL019", "DEL020", "DEL022", "DEL023")),
            ("equality-deletes-promoted", ("DEL019", "EVO003", "SCN010")),
            ("equality-deletes-types", ("DEL019", "DEL021", "SCN010")),
            ("equality-deletes-and-vectors", ("DEL019", "SCN008", "SCN010")),
            ("equality-deletes-*", ("DEL019", "DEL020", "SCN010")),
            ("flink-upserts-v3", ("DEL019", "SCN008", "SCN010")),
            ("flink-upserts-*", ("DEL019", "SCN009", "SCN010")),
            ("java-1-10-equality-deletes", ("DEL019", "DEL020", "SCN010")),
            ("manifests-rewritten-v2", ("DEL019", "SEQ003", "SEQ008")),
        ),
    ),
    "deletion-vectors": (
        "Deletion Vectors",
        (
            ("deletion-vectors-after-upgrade", ("DEL008", "DEL011", "SCN008")),
            ("deletion-vectors-*", ("DEL008", "DEL010", "SCN008")),
            ("trino-changes-v3", ("DEL008", "DEL010", "SCN008")),
            ("java-1-10-deletion-vectors", ("DEL008", "DEL010", "SCN008")),
        ),
    ),
    "partitions": (
        "Scan Planning",
        (
            ("partition-evolution-v1", ("PAR011", "PAR015", "SCN006")),
            ("partition-evolution-v2", ("PAR010", "PAR011", "SCN006", "DFL002")),
            ("partition-floats", ("PAR001", "SCN006", "TRN002")),
            ("partition-*", ("PAR001", "SCN006")),
            ("awkward-partitions-*", ("PAR001", "SCN006", "TRN002")),
            ("java-1-10-partition-time", ("PAR001", "SCN006")),
            ("names-special", ("PAR001", "PRJ001", "SCN006")),
            ("pyiceberg-partitioned", ("PAR001", "SCN006")),
            ("pyiceberg-changes", ("SCN001", "SCN006")),
            ("bounds-truncated", ("SCN006",)),
            ("float-metrics", ("SCN006",)),
            ("metrics-none", ("SCN006",)),
        ),
    ),
    "history": (
        "Snapshots",
        (
            ("branches-and-tags", ("REF001", "SNP005")),
            ("snapshots-expired", ("REF001", "SNP005")),
            ("rolled-back", ("SNP005",)),
            ("empty-*", ("SNP005",)),
            ("metadata-gzip", ("NOT009", "SNP005")),
        ),
    ),
    "row-lineage": (
        "Row lineage assignment",
        (
            ("upgraded-v1-v2-v3", ("LIN007", "LIN008", "LIN015", "LIN017", "UPG003")),
            ("row-lineage-*", ("LIN007", "LIN008", "LIN009", "LIN011")),
            ("java-1-10-row-lineage", ("LIN007", "LIN008", "LIN009", "LIN011")),
            ("manifests-rewritten", ("LIN008", "LIN020", "SEQ008")),
        ),
    ),
}
"""Patterns of table names: the vector file, its section, and the requirements; the first match applies."""

REFUSABLE = {
    "arrow-int96": "E27",
    "arrow-int96-local": "E27",
    "arrow-deletes-unsorted": "E27",
    "avro-codec-bzip2": "E28",
    "avro-codec-xz": "E28",
    "arrow-ids-partly-parquet": "E31",
    "arrow-ids-partly-orc": "E31",
    "arrow-ids-partly-avro": "E31",
    "arrow-variant-both": "E30",
    "arrow-variant-no-object": "E30",
    "arrow-variant-field-twice": "E30",
}
"""Tables that may be read or refused, with the contradiction that leaves this open."""

LINEAGE_CODES = ("LIN007", "LIN008")

REFUSED: dict[str, tuple[str, ...]] = {
    "broken-data-missing": ("SCN006",),
    "broken-data-cut-parquet": ("PQT001", "SCN006"),
    "broken-data-cut-avro": ("AVR014", "SCN006"),
    "broken-data-cut-orc": ("ORC008", "SCN006"),
    "broken-deletes-missing": ("SCN009",),
    "broken-dv-missing": ("SCN008",),
    "broken-dv-checksum": ("PUF018", "SCN008"),
    "broken-dv-magic": ("PUF018", "SCN008"),
    "broken-manifest-missing": ("SCN001",),
    "broken-manifest-cut": ("MAN001", "SCN001"),
    "broken-list-missing": ("SCN001", "SNP005"),
}


@cache
def indexes() -> dict[str, JsonObject]:
    """Return the index of each golden table that has states, by name."""
    found = {}
    for path in sorted(TABLES.glob("*/index.json")):
        index = json.loads(path.read_text(encoding="utf-8"))
        if "states" in index:
            found[path.parent.name] = index
    return found


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _origin(index: JsonObject) -> str:
    return f"engine: {index['engine']} {index['version']}; derivation: the statements in the table's index.json"


def _args(name: str, types: JsonObject, **more: Any) -> JsonObject:
    location = f"{PLACE}/{name}/{indexes()[name]['metadata']}"
    return {"table": location, **more, "types": types}


def _plain(rows: list[JsonObject], names: Any) -> list[JsonObject]:
    return [{name: row[name] for name in names} for row in rows]


def _vector(
    id_: str,
    codes: tuple[str, ...],
    index: JsonObject,
    args: JsonObject,
    expect: JsonObject,
    note: str,
    *contradiction: str,
) -> Vector:
    return Vector(id_, codes, args, expect, _origin(index), note, contradiction, only=(index["format_version"],))


def _has_lineage(state: JsonObject) -> bool:
    return any(row.get("_row_id") is not None for row in state["rows"])


def _expected_outcome(name: str, rows: JsonObject) -> tuple[JsonObject, tuple[str, ...]]:
    """Return the expected outcome of reading a table, and the contradiction that leaves it open."""
    return (any_of(rows, INVALID), (REFUSABLE[name],)) if name in REFUSABLE else (rows, ())


def _states(name: str, codes: tuple[str, ...]) -> Iterator[Vector]:
    """Yield every state of a table, the current one included, with all columns."""
    index = indexes()[name]
    now = _state(name, "current")["types"]
    for state in index["states"]:
        if index.get("broken") and state["label"] == "current":
            continue
        at = {key: state[key] for key in ("snapshot", "ref") if key in state}
        types = state["types"]
        proved = (*codes, "SNP009") if "snapshot" in state and types != now else codes
        id_ = f"read-{name}-{_slug(state['label'])}"
        note = f"{index['about']}: {state['label']}"
        expect, open_ = _expected_outcome(name, ok({"rows": _plain(state["rows"], types)}))
        yield _vector(id_, proved, index, _args(name, types, **at), expect, note, *open_)
        if _has_lineage(state):
            names = [*types, *LINEAGE]
            args = _args(name, {**types, **dict.fromkeys(LINEAGE, "long")}, **at, select=names)
            every = tuple(sorted({*proved, *LINEAGE_CODES}))
            yield _vector(f"{id_}-row-ids", every, index, args, ok({"rows": _plain(state["rows"], names)}), note)


def _topics() -> Iterator[VectorFile]:
    left = dict.fromkeys(indexes())
    for name in [name for name in left if indexes()[name].get("broken")]:
        del left[name]
    for topic, (section, tables) in TOPICS.items():
        vectors: list[Vector] = []
        for name in list(left):
            codes = next((codes for pattern, codes in tables if fnmatch(name, pattern)), None)
            if codes is not None:
                vectors += _states(name, codes)
                del left[name]
        yield VectorFile(f"reading/{topic}.json", "table.read", section, tuple(vectors))
    assert not left, f"no topic for {list(left)}"


def _state(name: str, label: str) -> JsonObject:
    return next(state for state in indexes()[name]["states"] if state["label"] == label)


def _selections() -> Iterator[Vector]:
    for name, columns in SELECTIONS:
        state = _state(name, "current")
        types = {column: "long" if column in LINEAGE else state["types"][column] for column in columns}
        rows = [{column: row.get(column) for column in columns} for row in state["rows"]]
        note = f"{indexes()[name]['about']}: some columns, in another order"
        args = _args(name, types, select=columns)
        id_ = f"select-{name}-{_slug(' '.join(columns))}"
        codes = ("PRJ002", "PRJ006") if name.startswith("partition-values-missing") else ("PRJ006",)
        yield _vector(id_, codes, indexes()[name], args, ok({"rows": rows}), note)


def _positions() -> Iterator[Vector]:
    for name, files in POSITIONS.items():
        index, place = indexes()[name], f"{PLACE}/{name}/data/"
        columns = [*_state(name, "current")["types"], "_file", "_pos"]
        types = {**_state(name, "current")["types"], "_file": "string", "_pos": "long"}
        rows = [
            {**row, "_file": place + file, "_pos": str(position)}
            for file, kept in files.items()
            for position, row in kept.items()
        ]
        args = _args(name, types, select=columns)
        note = "the file and position of each row"
        yield _vector(f"select-{name}-positions", ("RES002",), index, args, ok({"rows": rows}), note)


def _filters() -> Iterator[Vector]:
    for pattern, name, predicate, codes in FILTERS:
        for table in (table for table in indexes() if fnmatch(table, pattern)):
            state = _state(table, "current")
            types = state["types"]
            rows = _plain(filter_rows(predicate, state["rows"], types), types)
            every = tuple(sorted({"SCN006", *codes}))
            args = _args(table, types, filter=predicate)
            note = f"{indexes()[table]['about']}: filter {name}"
            id_, index = f"filter-{table}-{name}", indexes()[table]
            if (table, name) in OPEN:
                expect = any_of(ok({"rows": rows}), ok({"rows": []}))
                yield _vector(id_, every, index, args, expect, note, OPEN[table, name])
            else:
                expect, open_ = _expected_outcome(table, ok({"rows": rows}))
                yield _vector(id_, every, index, args, expect, note, *open_)


def _times() -> Iterator[Vector]:
    """Yield reads as of a time, by the log of current snapshots."""
    index = indexes()["rolled-back"]
    by_id = {state["snapshot"]: state for state in index["states"] if "snapshot" in state}
    log = index["snapshot_log"]
    types = index["states"][0]["types"]
    for number, (at, snapshot) in enumerate(log):
        for name, time in (("at", at), ("after", at + 1)):
            rows = _plain(by_id[snapshot]["rows"], types)
            args = _args("rolled-back", types, timestamp_ms=time)
            note = "the snapshot that was current at a time, by the log: even one that is not an ancestor of main"
            yield _vector(f"time-rolled-back-{number}-{name}", ("NOT003",), index, args, ok({"rows": rows}), note)
    args = _args("rolled-back", types, timestamp_ms=log[0][0] - 1)
    yield _vector("time-rolled-back-before", ("NOT004",), index, args, INVALID, "the log does not reach back so far")


def _references() -> Iterator[Vector]:
    name = "branches-and-tags"
    branch, current = _state(name, "other branch"), _state(name, "current")
    of_branch, of_main = branch["types"], current["types"]
    on_branch, on_main = (ok({"rows": _plain(state["rows"], state["types"])}) for state in (branch, current))
    rows: list[tuple[str, str, JsonObject, JsonObject, str]] = [
        (name, "other", _args(name, of_branch, ref="other", select=list(of_branch)), on_branch, "the head of a branch"),
        (name, "main", _args(name, of_main, ref="main"), on_main, "main is a branch"),
        (name, "unknown", _args(name, of_branch, ref="nowhere"), INVALID, "a reference that the table does not have"),
        (name, "no-snapshot", _args(name, of_branch, snapshot="1"), INVALID, "a snapshot that the table does not have"),
    ]
    name = "snapshots-expired"
    kept = _state(name, "kept by a tag")
    args = _args(name, kept["types"], ref="kept")
    rows.append((name, "kept", args, ok({"rows": _plain(kept["rows"], kept["types"])}), "the snapshot of a tag"))
    for table, label, asked, expect, note in rows:
        yield _vector(f"ref-{table}-{label}", ("REF001",), indexes()[table], asked, expect, note)


def _refusals() -> Iterator[Vector]:
    for name, codes in REFUSED.items():
        index = indexes()[name]
        args = _args(name, _state(name, "current")["types"])
        yield _vector(f"read-{name}", codes, index, args, INVALID, index["broken"])
        sound = _state(name, "sound")
        args = _args(name, sound["types"], snapshot=sound["snapshot"])
        note = f"the snapshot before the one in which {index['broken']}"
        expect = ok({"rows": _plain(sound["rows"], sound["types"])})
        yield _vector(f"read-{name}-before", ("SCN006",), index, args, expect, note)


def _plans() -> Iterator[Vector]:
    """Yield plans of tables without deletes whose data files the index has: those with a matching row are required."""
    for pattern, name, predicate, codes in FILTERS:
        for table in (table for table in indexes() if fnmatch(table, pattern)):
            index = indexes()[table]
            files = index.get("data_files", {})
            current = _state(table, "current")
            types, deletes = current["types"], len(current["rows"]) < sum(map(len, files.values()))
            evolved = any(row.keys() != types.keys() for rows in files.values() for row in rows)
            if not files or evolved or deletes:
                continue
            may_skip = (table, name) in OPEN
            planned = [
                {"data_file": path, "delete_files": []}
                | ({"optional": True} if may_skip or not filter_rows(predicate, rows, types) else {})
                for path, rows in files.items()
            ]
            args = {"table": f"{PLACE}/{table}/{index['metadata']}", "filter": predicate}
            every = tuple(sorted({"SCN006", *codes}))
            note = f"{index['about']}: filter {name}"
            open_ = (OPEN[table, name],) if may_skip else ()
            yield _vector(f"plan-{table}-{name}", every, index, args, ok({"files": planned}), note, *open_)


def _delete_plans() -> Iterator[Vector]:
    """Yield plans without a filter, of tables with deletes."""
    for name, planned in DELETE_PLANS.items():
        index, place = indexes()[name], f"{PLACE}/{name}/data/"
        expected = []
        for file, (required, optional) in planned.items():
            one: JsonObject = {"data_file": place + file, "delete_files": [{"path": place + path} for path in required]}
            if optional:
                one["optional_delete_files"] = [{"path": place + path} for path in optional]
            expected.append(one)
        args = {"table": f"{PLACE}/{name}/{index['metadata']}"}
        codes = ("SCN009", "SCN010", "SCN012") if name == "deletes-in-one-commit" else ("SCN010", "SCN011")
        yield _vector(f"plan-{name}", codes, index, args, ok({"files": expected}), index["about"])


def files() -> Iterator[VectorFile]:
    """Yield the vectors of reading."""
    yield from _topics()
    scans, columns = "Scan Planning", "Column Projection"
    yield VectorFile("reading/filters.json", "table.read", scans, tuple(_filters()))
    yield VectorFile("reading/plans.json", "scan.plan", scans, (*_plans(), *_delete_plans()))
    yield VectorFile("reading/selections.json", "table.read", columns, tuple(_selections()))
    yield VectorFile("reading/metadata-columns.json", "table.read", "Reserved Field IDs", tuple(_positions()))
    yield VectorFile("reading/time-travel.json", "table.read", "Point in Time Reads (Time Travel)", tuple(_times()))
    yield VectorFile("reading/references.json", "table.read", "Snapshot References", tuple(_references()))
    yield VectorFile("reading/refusals.json", "table.read", scans, tuple(_refusals()))
