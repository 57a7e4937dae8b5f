"""Vectors of reading documents that may be written in several forms; and the files of reading, writing and upgrades."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tools.derive import metadata_upgrades, metadata_writes
from tools.derive.metadata import DROP, Document, apply_edits, canonical, topic_files
from tools.derive.metadata_bases import BASES, DATA, FIRST, ID, SECOND, UUID, V1_RICH, V2_NESTED, V2_SMALL
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
    """Return a vector of reading some members of a changed document."""
    document = apply_edits(BASES[base], edits)
    args = {"metadata": document, "select": list(form)}
    present = {member: value for member, value in form.items() if value is not None}
    return Vector(
        f"metadata-read-{name}", codes, args, ok(present), origin, note, why, only or (document["format-version"],)
    )


MAIN = {"main": {"snapshot-id": str(SECOND), "type": "branch"}}
NO_SNAPSHOT: Document = {"current-snapshot-id": None, "refs": None}
EMPTY: dict[str, Any] = {"/refs": DROP, "/snapshots": DROP, "/snapshot-log": DROP, "/current-snapshot-id": DROP}


def filled_in() -> Iterator[Vector]:
    """Yield cases of missing fields, and the values that a reader uses for them."""
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
        ("JSC001", "TMD008", "TMD009"),
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
        "stored ids are those of the data files",
        ("C17",),
    )
    yield _read(
        "v1-schemas-win",
        "v1-rich",
        ("TMD007", "TMD008"),
        {"/schema/fields": [ID]},
        {"schemas": canonical(V1_RICH)["schemas"]},
        "where schemas is present, schema is not read",
        ("C17",),
    )
    yield _read(
        "v1-current-schema-id-missing",
        "v1-minimal",
        ("TMD009", "TMD007"),
        {
            "/schema": {"type": "struct", "fields": [ID, DATA]},
            "/schemas": [
                {"type": "struct", "schema-id": 0, "fields": [ID]},
                {"type": "struct", "schema-id": 1, "fields": [ID, DATA]},
            ],
        },
        {"current-schema-id": 1},
        "schema is the current one, and the list says its id",
        ("C17",),
    )
    field = {"source-id": 1, "field-id": 1000, "name": "id", "transform": "identity"}
    yield _read(
        "v1-default-spec-id-missing",
        "v1-minimal",
        ("TMD012", "TMD010"),
        {
            "/partition-spec": [field],
            "/partition-specs": [{"spec-id": 1, "fields": [field]}, {"spec-id": 2, "fields": []}],
        },
        {"default-spec-id": 1},
        "partition-spec is the current one, and the list says its id",
        ("C17",),
    )
    yield _read(
        "v1-default-sort-order-id-missing",
        "v1-minimal",
        ("TMD020", "SRT002"),
        {
            "/sort-orders": [
                {
                    "order-id": 1,
                    "fields": [
                        {"transform": "identity", "source-id": 1, "direction": "asc", "null-order": "nulls-first"}
                    ],
                }
            ]
        },
        {"default-sort-order-id": 0},
        "no order is the default, so that the table is not sorted",
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
        {"snapshots": canonical(apply_edits(V2_SMALL, {"/snapshots/0/sequence-number": 0}))["snapshots"]},
        "a snapshot from before the upgrade has none, and some writers leave 0 out",
        ("C2",),
    )
    yield _read(
        "v3-first-row-id-missing",
        "v3-small",
        ("SNP010", "LIN014"),
        {"/snapshots/0/first-row-id": DROP, "/snapshots/0/added-rows": DROP},
        {
            "snapshots": canonical(
                apply_edits(BASES["v3-small"], {"/snapshots/0/first-row-id": DROP, "/snapshots/0/added-rows": DROP})
            )["snapshots"],
        },
        "a snapshot from before the upgrade has no row ids",
        origin="spec: Row Lineage for Upgraded Tables",
    )


def references() -> Iterator[Vector]:
    """Yield cases of tables without a current snapshot, in each form, and of tables without the main branch in refs."""
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
        document = apply_edits(
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
        "the main branch exists even where refs is missing",
    )
    yield _read(
        "main-implied-null",
        "v2-small",
        ("TMD021",),
        {"/refs": None},
        {"refs": MAIN},
        "the main branch exists even where refs is null",
    )
    yield _read(
        "main-implied-empty",
        "v2-small",
        ("TMD021",),
        {"/refs": {}},
        {"refs": MAIN},
        "the main branch exists even where refs is empty",
    )
    yield _read(
        "main-implied-beside-tags",
        "v2-small",
        ("TMD021",),
        {"/refs/main": DROP},
        {"refs": {**MAIN, "test": {"snapshot-id": str(FIRST), "type": "tag"}}},
        "the main branch exists even where refs has only others",
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
    limits = {"snapshot-id": FIRST, "type": "branch", "min-snapshots-to-keep": 2147483647}
    ages = {"max-snapshot-age-ms": 9223372036854775807, "max-ref-age-ms": 1}
    branch = {**limits, "snapshot-id": str(FIRST), **{name: str(age) for name, age in ages.items()}}
    yield _read(
        "ref-limits",
        "v2-small",
        ("REF003", "REF004", "REF005"),
        {"/refs/b": {**limits, **ages}},
        {"refs": {**canonical(V2_SMALL)["refs"], "b": branch}},
        "the largest and the smallest numbers",
    )


def tolerated() -> Iterator[Vector]:
    """Yield cases of documents of other writers that readers must accept."""
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
        {"snapshots": canonical(apply_edits(V2_SMALL, {"/snapshots/1/summary/a b": ""}))["snapshots"]},
        "a summary may have any entries",
        origin="spec: Snapshots",
    )
    yield _read(
        "gone-parent",
        "v2-small",
        ("SNP002",),
        {"/snapshots/0/parent-snapshot-id": 1},
        {"snapshots": canonical(apply_edits(V2_SMALL, {"/snapshots/0/parent-snapshot-id": 1}))["snapshots"]},
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
        ("PAR018", "PAR024"),
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


def files() -> Iterator[VectorFile]:
    """Yield the files of reading, writing and upgrades."""
    for topic, vectors in (("filled-in", filled_in()), ("references", references()), ("tolerated", tolerated())):
        yield from topic_files(f"table-metadata/read-{topic}", "metadata.read", list(vectors))
    yield from topic_files("table-metadata/write", "metadata.write", list(metadata_writes.writes()))
    yield from topic_files("upgrades/upgrade", "metadata.upgrade", list(metadata_upgrades.upgrades()))
