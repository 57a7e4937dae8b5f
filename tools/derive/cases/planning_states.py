"""The snapshot and schema that are planned, the location of manifests, and tables that cannot be planned."""

from __future__ import annotations

from collections.abc import Iterator

from tools.derive.cases.expression_forms import leaf
from tools.derive.planning import ID, SECOND, UUID, PlanTable, Spec, either, entry, position_deletes
from tools.derive.vector import INVALID, Vector

Case = tuple[PlanTable, tuple[Vector, ...]]


def _times() -> Iterator[Case]:
    old, new = ({"id": 2, "name": name, "required": False, "type": "int"} for name in ("old", "new"))
    table = PlanTable("states", "three snapshots, a column that was renamed, a branch and a tag", columns=[ID, old])
    table.manifest(entry("one", stats={2: ("int", 1, 5, 10, 0)})).commit()
    table.manifest(entry("two", stats={2: ("int", 6, 9, 10, 0)})).commit()
    table.schemas.append({"type": "struct", "schema-id": 1, "fields": [ID, new]})
    table.manifest(entry("three", stats={2: ("int", 10, 12, 10, 0)})).commit()
    head = {"snapshot-id": 1002, "type": "branch"}
    table.changes = {
        "refs": {
            "main": head,
            "side": {"snapshot-id": 1001, "type": "branch"},
            "label": {"snapshot-id": 1000, "type": "tag"},
        },
        "snapshot-log": [
            {"snapshot-id": 1000, "timestamp-ms": SECOND},
            {"snapshot-id": 1001, "timestamp-ms": SECOND + 1000},
            {"snapshot-id": 1000, "timestamp-ms": SECOND + 1500},
            {"snapshot-id": 1002, "timestamp-ms": SECOND + 2000},
        ],
    }
    by_old, by_new = leaf("gt", 5, term="old"), leaf("gt", 5, term="new")
    current = "the current snapshot is read with the current schema"
    past = "a snapshot of the past is read with its own schema"
    log = "the log says which snapshot was current, even if one was current before"
    side = table.case(
        "branch-new-name",
        "REF007 SCN001",
        ["two"],
        "a branch is read with the current schema, or with its snapshot's",
        filter=by_new,
        ref="side",
        optional=["one"],
        contradiction="E20 E24",
    )
    yield (
        table,
        (
            table.case("current", "SCN001", ["one", "two", "three"], current),
            table.case(
                "current-new-name",
                "SCN001",
                ["two", "three"],
                current,
                filter=by_new,
                optional=["one"],
                contradiction="E20",
            ),
            table.refusal(
                "current-old-name", "EXP003 SCN001", "the current schema does not have the name", filter=by_old
            ),
            table.case("main", "REF007 SCN001", ["one", "two", "three"], "main is the current snapshot", ref="main"),
            table.case("snapshot", "SNP001 SCN001", ["one"], past, snapshot="1000"),
            table.case(
                "snapshot-old-name",
                "SNP009 SCN001",
                ["two"],
                past,
                snapshot="1001",
                filter=by_old,
                optional=["one"],
                contradiction="E20",
            ),
            table.case("tag", "REF008 SCN001", ["one"], "a tag labels one snapshot", ref="label"),
            table.case(
                "tag-old-name",
                "REF008 SNP009 SCN001",
                [],
                "a tag is read with the schema of its snapshot",
                ref="label",
                filter=by_old,
                optional=["one"],
                contradiction="E20 E24",
            ),
            table.case("branch", "REF007 SCN001", ["one", "two"], "a branch is read at its head", ref="side"),
            either(side, INVALID),
            table.case("time-first", "NOT003 SCN001", ["one"], log, timestamp_ms=SECOND, contradiction="B25"),
            table.case("time-before-second", "NOT003 SCN001", ["one"], log, timestamp_ms=SECOND + 999),
            table.case("time-second", "NOT003 SCN001", ["one", "two"], log, timestamp_ms=SECOND + 1001),
            table.case("time-rolled-back", "NOT003 SCN001", ["one"], log, timestamp_ms=SECOND + 1501),
            table.case("time-future", "NOT003 SCN001", ["one", "two", "three"], log, timestamp_ms=SECOND + 10**9),
            table.refusal("time-before-first", "NOT004 SCN001", "the log begins later", timestamp_ms=SECOND - 1),
            table.refusal("no-snapshot", "TMD016 SCN001", "the table has no such snapshot", snapshot="77"),
            table.refusal("no-reference", "TMD021 SCN001", "the table has no such reference", ref="nowhere"),
        ),
    )

    table = PlanTable("no-snapshot", "a table without a snapshot")
    yield (
        table,
        (
            table.case("all", "TMD015 SCN001", [], "a table without a snapshot has no files"),
            table.refusal("time", "NOT004 SCN001", "there is no log", timestamp_ms=SECOND),
        ),
    )

    table = PlanTable("status", "added, existing and deleted entries").manifest(
        entry("added"), entry("existing", number=3), entry("deleted", number=3, status=2)
    )
    table.manifest(entry("gone", number=2, status=2)).commit()
    yield table, (table.case("all", "SCN001 MAN011", ["added", "existing"], "deleted entries are not used"),)


def _old() -> Iterator[Case]:
    spec = Spec(0, ((1, 1000, "id", "identity", "long"),))
    table = PlanTable("v1-list", "a table of v1 with a manifest list", 1, specs=[spec])
    table.manifest(entry("one", [1]), entry("two", [2])).manifest(entry("three", [3])).commit()
    one = leaf("eq", 1, term="id")
    note = "tables of v1 have data files alone"
    yield (
        table,
        (
            table.case("all", "SCN001", ["one", "two", "three"], note),
            table.case("filter", "SCN003", ["one"], note, filter=one, optional=["two", "three"], contradiction="E20"),
        ),
    )

    table = PlanTable("v1-manifests", "an old snapshot of v1, which names its manifests itself", 1, specs=[spec])
    table.manifest(entry("one", [1]), entry("two", [2])).manifest(entry("three", [3])).commit(old=True)
    note = "a snapshot of v1 without a manifest list has the manifests that it names"
    yield (
        table,
        (
            table.case("all", "SNP006 SCN001", ["one", "two", "three"], note),
            table.case(
                "filter", "SNP006 SCN003", ["one"], note, filter=one, optional=["two", "three"], contradiction="E20"
            ),
        ),
    )


def _refusals() -> Iterator[Case]:
    table = PlanTable("spec-unknown", "a manifest of a partition spec that the table does not have")
    table.manifest(entry("one"), partition_spec_id=9).commit()
    note = "the partitions of the files are not known; without a filter, a reader may not need them"
    filtered = leaf("eq", 1, term="id")
    yield (
        table,
        (
            either(table.case("all", "MLS005 SCN001", ["one"], note, contradiction="E21"), INVALID),
            either(table.case("filter", "MLS005 SCN001", ["one"], note, filter=filtered, contradiction="E21"), INVALID),
        ),
    )

    table = (
        PlanTable("manifest-missing", "a manifest that does not exist").manifest(entry("one")).manifest(entry("two"))
    )
    table.commit()
    table.files.pop("metadata/m1.avro")
    yield table, (table.refusal("all", "MLS003 SCN001", "it is not known which files have to be read"),)

    table = PlanTable("list-missing", "a manifest list that does not exist").manifest(entry("one")).commit()
    table.files.pop("metadata/snap-1000.avro")
    yield table, (table.refusal("all", "SNP005 SCN001", "it is not known which files have to be read"),)

    table = PlanTable("manifest-cut", "a manifest that is truncated").manifest(entry("one"), entry("two")).commit()
    table.files["metadata/m0.avro"] = table.files["metadata/m0.avro"][:-20]
    yield table, (table.refusal("all", "MAN001 SCN001", "it is not known which files have to be read"),)

    table = PlanTable("number-missing", "an existing entry without a sequence number")
    row = entry("one", number=2)
    table.manifest({**row, "sequence_number": None, "file_sequence_number": None}, min_sequence_number=2).commit()
    note = "the number of an existing entry is not inherited; a reader may refuse it"
    yield table, (either(table.case("all", "MAN022 SCN001 SEQ008", ["one"], note, contradiction="E21"), INVALID),)


def _names() -> Iterator[Case]:
    """Yield cases of the names of compressed metadata (Naming for GZIP compressed Metadata JSON files)."""
    note = "the suffix that some implementations require"
    for name, file in (("gzip", "v1.gz.metadata.json"), ("gzip-with-uuid", f"00001-{UUID}.gz.metadata.json")):
        table = PlanTable(f"metadata-{name}", "compressed metadata", metadata_file=file, gzip=True)
        yield table.manifest(entry("one")).commit(), (table.case("all", "NOT009 SCN001", ["one"], note),)

    table = PlanTable("metadata-gzip-old", "compressed metadata", metadata_file="v1.metadata.json.gz", gzip=True)
    table.manifest(entry("one")).commit()
    note = "the older suffix, which a reader need not know"
    yield table, (either(table.case("all", "NOT009 SCN001", ["one"], note, contradiction="E17"), INVALID),)


def _ids() -> Iterator[Case]:
    """Yield cases of spec ids that are not list positions, and of ids that need all 64 bits."""
    specs = [Spec(5, ((1, 1001, "id", "identity", "long"),)), Spec(2, ((2, 1000, "data", "identity", "string"),))]
    table = PlanTable("spec-ids", "specs with the ids 5 and 2, in this order", specs=specs)
    table.manifest(entry("five", [1], 2), spec=5).manifest(entry("x", ["x"], 2), entry("y", ["y"], 2), spec=2)
    table.deletes(position_deletes("p", ["x"], 3), spec=2).commit()
    by_data, by_id = leaf("eq", "x", term="data"), leaf("eq", 2, term="id")
    note = "the id of a spec is not its place in the list"
    yield (
        table,
        (
            table.case("all", "PAR002 SCN001", {"five": [], "x": ["p"], "y": []}, note),
            table.case(
                "filter-data",
                "PAR002 SCN003",
                {"five": [], "x": ["p"], "y": []},
                note,
                filter=by_data,
                optional=["y"],
                contradiction="E20",
            ),
            table.case(
                "filter-id",
                "PAR002 SCN003",
                {"five": [], "x": ["p"], "y": []},
                note,
                filter=by_id,
                optional=["five"],
                contradiction="E20",
            ),
        ),
    )

    about = "snapshots whose ids differ in bits that a double, or 32 bits, do not hold"
    table = PlanTable("long-ids", about, first=2**62)
    table.manifest(entry("one")).commit().manifest(entry("two")).commit()
    table.first = 2**62 + 2**32 - 2
    table.manifest(entry("three")).commit()
    note = "the ids of snapshots have 64 bits"
    yield (
        table,
        (
            table.case("current", "SNP001 SCN001", ["one", "two", "three"], note),
            table.case("first", "SNP001 SCN001", ["one"], note, snapshot=str(2**62)),
            table.case("second", "SNP001 SCN001", ["one", "two"], note, snapshot=str(2**62 + 1)),
            table.case("third", "SNP001 SCN001", ["one", "two", "three"], note, snapshot=str(2**62 + 2**32)),
        ),
    )


def cases() -> Iterator[Case]:
    """Yield the tables with several states, old tables and broken ones, and their expected plans."""
    yield from _times()
    yield from _old()
    yield from _refusals()
    yield from _names()
    yield from _ids()
