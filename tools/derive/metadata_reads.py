"""Vectors of reading what may be written in several ways, of writing, and of upgrades."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tools.derive.metadata import DROP, Document, canonical, edited, selected, topic_files
from tools.derive.metadata_bases import (
    BASES,
    DATA,
    FIRST,
    ID,
    LOCATION,
    SECOND,
    UUID,
    V1_RICH,
    V2_NESTED,
    V2_SMALL,
)
from tools.derive.vector import INVALID, Vector, VectorFile, any_of, ok

TABLE = "spec: Table Metadata Fields"
APPENDIX_E = "spec: Appendix E, Version 2"


def _read(
    name: str,
    base: str,
    codes: tuple[str, ...],
    edits: Mapping[str, Any],
    form: Document,
    note: str,
    why: tuple[str, ...] = (),
    origin: str = TABLE,
    only: tuple[int, ...] = (),
) -> Vector:
    """Some members of a document that was changed, as they have to be read."""
    document = edited(BASES[base], edits)
    args = {"metadata": document, "select": list(form)}
    present = {member: value for member, value in form.items() if value is not None}
    return Vector(
        f"metadata-read-{name}", codes, args, ok(present), origin, note, why, only or (document["format-version"],)
    )


MAIN = {"main": {"snapshot-id": str(SECOND), "type": "branch"}}
NO_SNAPSHOT: Document = {"current-snapshot-id": None, "refs": None}
EMPTY: dict[str, Any] = {"/refs": DROP, "/snapshots": DROP, "/snapshot-log": DROP, "/current-snapshot-id": DROP}


def filled_in() -> Iterator[Vector]:
    """What a reader takes where a field is missing."""
    yield _read(
        "v1-schemas",
        "v1-minimal",
        ("TMD008", "TMD009"),
        {},
        {"schemas": [{"schema-id": 0, "fields": [ID, DATA]}], "current-schema-id": 0},
        "the schema of a table without schemas is the only one",
    )
    yield _read(
        "v1-specs",
        "v1-minimal",
        ("TMD011", "TMD012", "TMD013"),
        {},
        {"partition-specs": [{"spec-id": 0, "fields": []}], "default-spec-id": 0, "last-partition-id": 999},
        "the partition-spec of a table without partition-specs is the only one",
    )
    yield _read(
        "v1-sort-orders",
        "v1-minimal",
        ("TMD019", "TMD020", "SRT002"),
        {},
        {"sort-orders": [{"order-id": 0, "fields": []}], "default-sort-order-id": 0},
        "a table without sort orders is not sorted",
    )
    yield _read(
        "v1-sequence-numbers",
        "v1-snapshots",
        ("UPG003",),
        {},
        {"last-sequence-number": "0", "snapshots": canonical(BASES["v1-snapshots"])["snapshots"]},
        "sequence numbers of v1 are 0",
        origin=APPENDIX_E,
        only=(2, 3),
    )
    yield _read(
        "v1-schema-id",
        "v1-minimal",
        ("JSC001",),
        {"/schema/schema-id": 3},
        {"schemas": [{"schema-id": 3, "fields": [ID, DATA]}], "current-schema-id": 3},
        "the only schema has an id",
    )
    spec = [
        {"source-id": 1, "name": "id", "transform": "identity"},
        {"source-id": 2, "name": "data_trunc", "transform": "truncate[4]"},
    ]
    yield _read(
        "v1-partition-field-ids",
        "v1-minimal",
        ("PAR014",),
        {"/partition-spec": spec},
        {
            "partition-specs": [
                {"spec-id": 0, "fields": [{**field, "field-id": 1000 + place} for place, field in enumerate(spec)]}
            ],
            "last-partition-id": 1001,
        },
        "ids of partition fields count up from 1000",
        origin="spec: Partition Evolution",
    )
    yield _read(
        "v1-partition-field-ids-of-each-spec",
        "v1-rich",
        ("PAR014",),
        {},
        {"partition-specs": canonical(V1_RICH)["partition-specs"]},
        "ids of partition fields count up from 1000 in each spec",
        origin="spec: Partition Evolution",
    )
    yield _read(
        "v1-partition-field-ids-stored",
        "v1-minimal",
        ("TMD010", "PAR014"),
        {"/partition-spec": [{**spec[1], "field-id": 1005}]},
        {"partition-specs": [{"spec-id": 0, "fields": [{**spec[1], "field-id": 1005}]}], "last-partition-id": 1005},
        "ids that are stored are those of the data",
        ("C17",),
    )
    yield _read(
        "v1-schemas-win",
        "v1-rich",
        ("TMD007", "TMD008"),
        {"/schema/fields": [ID]},
        {"schemas": canonical(V1_RICH)["schemas"]},
        "where schemas is there, schema is not read",
        ("C17",),
    )
    yield _read(
        "v1-refs",
        "v1-snapshots",
        ("TMD015",),
        {"/refs": {"main": {"snapshot-id": SECOND, "type": "branch"}, "t": {"snapshot-id": FIRST, "type": "tag"}}},
        {"refs": {**MAIN, "t": {"snapshot-id": str(FIRST), "type": "tag"}}},
        "references in a v1 table are read",
        ("C17",),
    )
    yield _read(
        "sequence-number-missing",
        "v2-small",
        ("SNP003", "UPG003"),
        {"/snapshots/0/sequence-number": DROP},
        {"snapshots": canonical(edited(V2_SMALL, {"/snapshots/0/sequence-number": 0}))["snapshots"]},
        "a snapshot of before the upgrade has none, and some writers leave 0 out",
        ("C2",),
    )
    yield _read(
        "v3-first-row-id-missing",
        "v3-small",
        ("SNP010", "LIN014"),
        {"/snapshots/0/first-row-id": DROP, "/snapshots/0/added-rows": DROP},
        {
            "snapshots": canonical(
                edited(BASES["v3-small"], {"/snapshots/0/first-row-id": DROP, "/snapshots/0/added-rows": DROP})
            )["snapshots"],
        },
        "a snapshot of before the upgrade has no row ids",
        origin="spec: Row Lineage for Upgraded Tables",
    )


def references() -> Iterator[Vector]:
    """No current snapshot in each form, and the main branch that is always there."""
    for name, edit in (("absent", DROP), ("null", None)):
        yield _read(
            f"no-current-snapshot-{name}",
            "v2-small",
            ("TMD015",),
            {**EMPTY, "/current-snapshot-id": edit},
            NO_SNAPSHOT,
            "a table without data",
        )
        yield _read(
            f"v1-no-current-snapshot-{name}",
            "v1-snapshots",
            ("TMD015",),
            {"/snapshots": DROP, "/snapshot-log": DROP, "/current-snapshot-id": edit},
            NO_SNAPSHOT,
            "a table without data",
        )
    for version, base in ((1, "v1-snapshots"), (2, "v2-small")):
        document = edited(
            BASES[base], {**{name: DROP for name in EMPTY if name[1:] in BASES[base]}, "/current-snapshot-id": -1}
        )
        args = {"metadata": document, "select": ["current-snapshot-id", "refs"]}
        yield Vector(
            f"metadata-read-v{version}-current-snapshot-minus-1",
            ("NOT008",),
            args,
            any_of(ok({}), INVALID),
            "spec: Assignment of Snapshot IDs and current-snapshot-id",
            "a reader may take -1 for a table without data",
            ("C17",),
            (version,),
        )
    yield _read(
        "main-implied",
        "v2-small",
        ("TMD021",),
        {"/refs": DROP},
        {"refs": MAIN},
        "the main branch is there where refs is not",
    )
    yield _read(
        "main-implied-null",
        "v2-small",
        ("TMD021",),
        {"/refs": None},
        {"refs": MAIN},
        "the main branch is there where refs is null",
    )
    yield _read(
        "main-implied-empty",
        "v2-small",
        ("TMD021",),
        {"/refs": {}},
        {"refs": MAIN},
        "the main branch is there where refs is empty",
    )
    yield _read(
        "main-implied-beside-tags",
        "v2-small",
        ("TMD021",),
        {"/refs/main": DROP},
        {"refs": {**MAIN, "test": {"snapshot-id": str(FIRST), "type": "tag"}}},
        "the main branch is there where refs has others only",
    )
    names = ("a/b", "a.b", "\u00e9\u4e2d", " ", "Main")
    yield _read(
        "ref-names",
        "v2-small",
        ("TMD033",),
        {"/refs": {name: {"snapshot-id": FIRST, "type": "tag"} for name in names}},
        {"refs": {**MAIN, **{name: {"snapshot-id": str(FIRST), "type": "tag"} for name in names}}},
        "a name is any string, and case counts",
        origin="spec: Appendix C",
    )
    yield _read("ref-limits", "v2-small", ("REF003", "REF004", "REF005"), {
        "/refs/b": {"snapshot-id": FIRST, "type": "branch", "min-snapshots-to-keep": 2147483647,
                    "max-snapshot-age-ms": 9223372036854775807, "max-ref-age-ms": 1}}, {
        "refs": {**canonical(V2_SMALL)["refs"], "b": {
            "snapshot-id": str(FIRST), "type": "branch", "min-snapshots-to-keep": 2147483647,
            "max-snapshot-age-ms": "9223372036854775807", "max-ref-age-ms": "1"}},
    }, "the largest and the smallest numbers")  # fmt: skip


def tolerated() -> Iterator[Vector]:
    """What documents of other writers have and readers must accept."""
    appendix = "spec: Appendix C"
    yield _read(
        "unknown-members",
        "v2-small",
        ("TMD029",),
        {"/x-engine": {"a": [1, None]}, "/snapshots/0/x-engine": True, "/refs/test/x-engine": None},
        {"snapshots": canonical(V2_SMALL)["snapshots"], "refs": canonical(V2_SMALL)["refs"]},
        "members that no version knows do not matter",
        origin=appendix,
    )
    names = list(V2_SMALL)
    turned = {name: V2_SMALL[name] for name in reversed(names)}
    turned["schemas"] = [{name: schema[name] for name in reversed(schema)} for schema in V2_SMALL["schemas"]]
    yield Vector(
        "metadata-read-order-of-members",
        ("TMD029",),
        {"metadata": turned},
        ok(canonical(V2_SMALL)),
        appendix,
        "the order of members has no meaning",
        only=(2,),
    )
    yield _read(
        "longs",
        "v2-small",
        ("SNP001", "TMD015"),
        {
            "/current-snapshot-id": 9223372036854775807,
            "/refs": DROP,
            "/snapshot-log": DROP,
            "/snapshots/1/snapshot-id": 9223372036854775807,
            "/last-updated-ms": 253402300800000,
        },
        {"current-snapshot-id": "9223372036854775807", "last-updated-ms": "253402300800000"},
        "64-bit integers beyond what a double holds",
        origin=appendix,
    )
    yield _read(
        "uuid-upper-case",
        "v2-minimal",
        ("TMD002",),
        {"/table-uuid": UUID.upper()},
        {"table-uuid": UUID},
        "the case of a UUID has no meaning",
    )
    yield _read(
        "field-id-0",
        "v2-minimal",
        ("JSC006", "TYP002"),
        {"/schemas/0/fields/0/id": 0},
        {"schemas": [{"schema-id": 0, "fields": [{**ID, "id": 0}, DATA]}]},
        "an id is an int, 0 too",
        origin=appendix,
    )
    yield _read(
        "names",
        "v2-minimal",
        ("TYP002",),
        {"/schemas/0/fields/0/name": "a.b", "/schemas/0/fields/1/name": "\u540d\u524d \U0001f600"},
        {"schemas": [{"schema-id": 0, "fields": [{**ID, "name": "a.b"}, {**DATA, "name": "\u540d\u524d \U0001f600"}]}]},
        "a name is any string",
        origin=appendix,
    )
    yield _read(
        "names-by-case",
        "v2-minimal",
        ("TYP002",),
        {"/schemas/0/fields/1/name": "ID"},
        {"schemas": [{"schema-id": 0, "fields": [ID, {**DATA, "name": "ID"}]}]},
        "two names that differ in case are two names",
        origin=appendix,
    )
    yield _read(
        "empty-schema",
        "v2-minimal",
        ("JSC006",),
        {"/schemas/0/fields": [], "/last-column-id": 0},
        {"schemas": [{"schema-id": 0, "fields": []}], "last-column-id": 0},
        "a table without columns",
        origin=appendix,
    )
    yield _read(
        "type-spaces",
        "v2-minimal",
        ("JSC005",),
        {"/schemas/0/fields/1/type": "decimal( 9 , 2 )"},
        {"schemas": [{"schema-id": 0, "fields": [ID, {**DATA, "type": "decimal(9, 2)"}]}]},
        "white space around parameters",
        origin=appendix,
    )
    yield _read(
        "summary-entries",
        "v2-small",
        ("SNP007",),
        {"/snapshots/1/summary/a b": ""},
        {"snapshots": canonical(edited(V2_SMALL, {"/snapshots/1/summary/a b": ""}))["snapshots"]},
        "a summary may have any entries",
        origin="spec: Snapshots",
    )
    yield _read(
        "gone-parent",
        "v2-small",
        ("SNP002",),
        {"/snapshots/0/parent-snapshot-id": 1},
        {"snapshots": canonical(edited(V2_SMALL, {"/snapshots/0/parent-snapshot-id": 1}))["snapshots"]},
        "a parent may have expired",
        origin="spec: Snapshots",
    )
    gone = {
        "order-id": 2,
        "fields": [{"transform": "identity", "source-id": 99, "direction": "asc", "null-order": "nulls-first"}],
    }
    yield _read(
        "old-sort-order",
        "v2-nested",
        ("SRT006",),
        {"/sort-orders/-": gone},
        {"sort-orders": [*canonical(V2_NESTED)["sort-orders"], gone]},
        "an order that is not the default may sort by a column that is gone",
        origin="spec: Sort Orders",
    )
    old: Document = {
        "spec-id": 2,
        "fields": [{"source-id": 99, "field-id": 1001, "name": "gone", "transform": "identity"}],
    }
    yield _read(
        "old-spec",
        "v2-nested",
        ("PAR016",),
        {"/partition-specs/-": {**old, "fields": [{**old["fields"][0], "field-id": 1002}]}, "/last-partition-id": 1002},
        {
            "partition-specs": [
                *canonical(V2_NESTED)["partition-specs"],
                {**old, "fields": [{**old["fields"][0], "field-id": 1002}]},
            ],
        },
        "a spec that is not the default may have a column that is gone",
        origin="spec: Partition Specs",
    )
    for base in ("v2-minimal", "v3-minimal"):
        field = {"source-id": 1, "field-id": 1000, "name": "z", "transform": "zorder[8]"}
        yield _read(
            f"{base[:2]}-unknown-transform",
            base,
            ("PAR005",) if base[1] == "2" else ("PAR024", "PAR006"),
            {"/partition-specs/-": {"spec-id": 1, "fields": [field]}, "/last-partition-id": 1000},
            {"partition-specs": [{"spec-id": 0, "fields": []}, {"spec-id": 1, "fields": [field]}]},
            "a table with an unknown transform is read",
            origin="spec: Partitioning",
        )
    field = {"source-ids": [1, 2], "field-id": 1000, "name": "z", "transform": "bucketV2[8]"}
    yield _read(
        "several-sources",
        "v3-minimal",
        ("PAR018",),
        {"/partition-specs/-": {"spec-id": 1, "fields": [field]}, "/last-partition-id": 1000},
        {"partition-specs": [{"spec-id": 0, "fields": []}, {"spec-id": 1, "fields": [field]}]},
        "a transform of several arguments",
        origin="spec: Partition Specs",
    )
    sort = {"transform": "zorder[8]", "source-ids": [1, 2], "direction": "asc", "null-order": "nulls-first"}
    yield _read(
        "sort-several-sources",
        "v3-minimal",
        ("SRT012", "SRT009"),
        {"/sort-orders/-": {"order-id": 1, "fields": [sort]}},
        {"sort-orders": [{"order-id": 0, "fields": []}, {"order-id": 1, "fields": [sort]}]},
        "a sort field of several arguments",
        origin="spec: Sort Orders",
    )


# Writing: members that the version requires, and those that it should leave out.

WRITES: list[tuple[str, str, int, tuple[str, ...], Document, str]] = [
    ("v1-deprecated", "v1-rich", 1, ("TMD007", "TMD010"), {
        "format-version": 1, "location": LOCATION, "last-column-id": 11,
        "schema": {"schema-id": 1, "identifier-field-ids": [1, 3], "fields": V2_NESTED["schemas"][0]["fields"]},
        "partition-spec": V1_RICH["partition-spec"],
    }, "v1 writes the current schema and the fields of the default spec"),
    ("v2-ids", "v2-nested", 2, ("TMD008", "TMD011", "TMD019"), {
        name: V2_NESTED[name] for name in ("schemas", "current-schema-id", "partition-specs", "default-spec-id",
                                           "last-partition-id", "sort-orders", "default-sort-order-id")
    }, "v2 writes the lists and the ids of what is current"),
    ("v2-required", "v2-minimal", 2, ("VER005",), dict(BASES["v2-minimal"]), "every field that v2 requires"),
    ("v2-snapshots", "v2-small", 2, ("SNP003", "SNP005", "SNP007"), {
        name: V2_SMALL[name] for name in ("last-sequence-number", "snapshots", "current-snapshot-id")
    }, "snapshots with the fields that v2 requires"),
    ("v2-refs", "v2-rich", 2, ("TMD021",), {"refs": BASES["v2-rich"]["refs"]}, "branches and tags with their limits"),
    ("v2-logs", "v2-rich", 2, ("TMD031", "TMD032"), {
        name: BASES["v2-rich"][name] for name in ("snapshot-log", "metadata-log")}, "the logs"),
    ("v2-properties", "v2-rich", 2, ("TMD014",), {"properties": BASES["v2-rich"]["properties"]}, "the properties"),
    ("v2-statistics", "v2-statistics", 2, ("TMD022", "TMD023", "STA005"), {
        name: BASES["v2-statistics"][name] for name in ("statistics", "partition-statistics")},
     "statistics of both kinds, key metadata too"),
    ("v3-required", "v3-minimal", 3, ("VER005", "TMD024"), dict(BASES["v3-minimal"]), "every field that v3 requires"),
    ("v3-lineage", "v3-small", 3, ("SNP010", "SNP011", "TMD024"), {
        name: BASES["v3-small"][name] for name in ("snapshots", "next-row-id")}, "row ids of snapshots"),
    ("v3-keys", "v3-small", 3, ("ENC002", "TMD025"), {"encryption-keys": BASES["v3-small"]["encryption-keys"]},
     "encryption keys"),
    ("v3-types", "v3-types", 3, ("JSC003", "JSC008"), {"schemas": BASES["v3-types"]["schemas"]},
     "the types of v3, and defaults"),
    ("v1-as-v2", "v1-rich", 2, ("UPG003", "PAR013"), {
        "format-version": 2, "last-sequence-number": 0, "table-uuid": UUID, "current-schema-id": 1,
        "schemas": V1_RICH["schemas"],
        "partition-specs": canonical(V1_RICH)["partition-specs"], "default-spec-id": 1, "last-partition-id": 1001,
        "sort-orders": V1_RICH["sort-orders"], "default-sort-order-id": 1,
    }, "a v1 table is written with all that v2 requires"),
    ("v2-as-v3", "v2-small", 3, ("LIN013", "UPG003"), {
        "format-version": 3, "next-row-id": 0, "snapshots": V2_SMALL["snapshots"],
    }, "a v2 table is written as v3, its snapshots as they were"),
]  # fmt: skip


def writes() -> Iterator[Vector]:
    """What a writer makes of a table."""
    stale = {
        **dict.fromkeys(("/snapshots", "/snapshot-log", "/current-snapshot-id"), DROP),
        "/schema": V1_RICH["schemas"][0],
        "/partition-spec": [],
        "/default-spec-id": 0,
        "/partition-specs": [{"spec-id": 0, "fields": []}],
    }
    rows: list[tuple[Any, ...]] = [(name, BASES[base], *rest) for name, base, *rest in WRITES]
    rows.append(
        (
            "v1-deprecated-stale",
            edited(V1_RICH, stale),
            1,
            ("TMD007",),
            {"schema": WRITES[0][4]["schema"]},
            "v1 writes the current schema, whatever copy of it was read",
        )
    )
    for name, document, version, codes, form, note in rows:
        args = {"metadata": document, "format_version": version, "select": list(form)}
        origin = "spec: Table Metadata Fields; Appendix C; Appendix E"
        # v1 stores no ids of partition fields, and may.
        counted = [{**field, "field-id": 1000 + place} for place, field in enumerate(form.get("partition-spec", []))]
        expect = any_of(ok(form), ok({**form, "partition-spec": counted}) if counted else ok(form))
        why = ("E18",) if counted else ()
        yield Vector(f"metadata-write-{name}", codes, args, expect, origin, note, why, (version,))
    for name, code, member in (
        ("schema", "UPG004", "schema"),
        ("partition-spec", "UPG004", "partition-spec"),
        ("next-row-id", "VER005", "next-row-id"),
    ):
        args = {"metadata": V2_NESTED, "format_version": 2, "select": [member]}
        copies = {
            "schema": V2_NESTED["schemas"][0],
            "partition-spec": V2_NESTED["partition-specs"][1]["fields"],
            "next-row-id": 0,
        }
        yield Vector(
            f"metadata-write-v2-without-{name}",
            (code,),
            args,
            any_of(ok({}), ok({member: copies[member]})),
            "spec: Writer requirements; Appendix E, Version 2",
            f"v2 should leave {member} out",
            ("E18",),
            (2,),
        )
    for low, base in ((1, "v2-minimal"), (1, "v3-minimal"), (2, "v3-minimal")):
        args = {"metadata": BASES[base], "format_version": low}
        yield Vector(
            f"metadata-write-{base[:2]}-as-v{low}",
            ("VER003",),
            args,
            INVALID,
            "derivation: a lower version has no place for what the table has and requires, by hand",
            "a table is not written in a lower version",
            only=(2, 3),
        )


# Upgrades

STEPS = ((1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (3, 3))
KEPT = (
    "table-uuid",
    "location",
    "last-column-id",
    "schemas",
    "current-schema-id",
    "partition-specs",
    "default-spec-id",
    "last-partition-id",
    "sort-orders",
    "default-sort-order-id",
    "properties",
    "current-snapshot-id",
    "snapshots",
    "refs",
    "snapshot-log",
    "metadata-log",
)
"""What an upgrade leaves as it is (VER003, LIN013)."""


def upgrades() -> Iterator[Vector]:
    """A table in a newer version: nothing is rewritten, and what the version adds starts at 0."""
    for old, new in STEPS:
        bases = {"rich": f"v{old}-rich"} if old == 3 else {"rich": f"v{old}-rich", "nested": "v2-nested"}
        if old == 1:
            bases = {"rich": "v1-rich"}
        for label, base in bases.items():
            document = BASES[base]
            form = canonical(document)
            row = "0" if old < 3 <= new else form.get("next-row-id")
            expected = {
                **selected(form, KEPT),
                "format-version": new,
                "last-sequence-number": form["last-sequence-number"],
                "next-row-id": row,
            }
            kept = tuple(name for name in KEPT if name != "metadata-log")
            names = ("format-version", "last-sequence-number", "next-row-id", *kept)
            codes = ("LIN013", "UPG003") if new == 3 > old else ("UPG003", "VER003") if old < new else ("VER003",)
            answer = {name: expected[name] for name in names if expected.get(name) is not None}
            yield Vector(
                f"upgrade-v{old}-to-v{new}-{label}",
                codes,
                {"metadata": document, "format_version": new, "select": list(names)},
                ok(answer),
                "spec: Appendix E; Row Lineage for Upgraded Tables",
                "everything stays; sequence numbers and row ids start at 0"
                if old < new
                else "a table that has the version stays as it is",
                only=tuple(sorted({max(new, 2)})),
            )
    for member, base, code in (
        ("schemas", "v1-minimal", "TMD008"),
        ("partition-specs", "v1-minimal", "TMD011"),
        ("sort-orders", "v1-minimal", "TMD019"),
    ):
        document = edited(BASES[base], {"/table-uuid": UUID})
        for new in (2, 3):
            yield Vector(
                f"upgrade-v1-to-v{new}-fills-{member}",
                (code, "UPG003"),
                {"metadata": document, "format_version": new, "select": [member]},
                ok(selected(canonical(document), (member,))),
                "spec: Appendix E, Version 2",
                f"{member} is required from v2 and made of what v1 has",
                only=(new,),
            )
    for base in ("v1-snapshots", "v2-small"):
        document = edited(BASES[base], {"/table-uuid": UUID})
        yield Vector(
            f"upgrade-{base}-to-v3-snapshots",
            ("LIN013", "SNP010"),
            {"metadata": document, "format_version": 3, "select": ["snapshots", "next-row-id"]},
            ok({"snapshots": canonical(document)["snapshots"], "next-row-id": "0"}),
            "spec: Row Lineage for Upgraded Tables",
            "the snapshots that exist get no row ids",
            only=(3,),
        )
    yield Vector(
        "upgrade-v1-to-v2-manifests",
        ("UPG005", "VER003"),
        {
            "metadata": edited(BASES["v1-snapshots"], {"/table-uuid": UUID}),
            "format_version": 2,
            "select": ["snapshots"],
        },
        ok({"snapshots": canonical(BASES["v1-snapshots"])["snapshots"]}),
        APPENDIX_E,
        "a snapshot without a manifest list keeps its manifests",
        only=(2,),
    )
    for old, new in ((2, 1), (3, 1), (3, 2)):
        yield Vector(
            f"upgrade-v{old}-to-v{new}",
            ("VER003",),
            {"metadata": BASES[f"v{old}-minimal"], "format_version": new},
            INVALID,
            "derivation: a lower version has no place for what the table has and requires, by hand",
            "no table goes to a lower version",
            only=(2, 3),
        )


def files() -> Iterator[VectorFile]:
    """The files of reading, writing and upgrades."""
    for topic, vectors in (("filled-in", filled_in()), ("references", references()), ("tolerated", tolerated())):
        yield from topic_files(f"table-metadata/read-{topic}", "metadata.read", list(vectors))
    yield from topic_files("table-metadata/write", "metadata.write", list(writes()))
    yield from topic_files("upgrades/upgrade", "metadata.upgrade", list(upgrades()))
