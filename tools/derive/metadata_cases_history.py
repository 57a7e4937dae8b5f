"""Documents with one broken rule: snapshots, references, statistics, keys, and fields of another version."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.derive.metadata import DROP, Document
from tools.derive.metadata_bases import FIRST, LOCATION, PARTITION_STATISTICS, SECOND
from tools.derive.metadata_cases import EITHER, READ, REFUSED, Case, rows

OLD, NEW = "/snapshots/0", "/snapshots/1"


def snapshots() -> Iterator[Case]:
    """Yield cases of snapshots that do not have the form of Appendix C, or do not fit the table."""
    yield from rows(
        "snapshot",
        "v2-small",
        [
            ("string", "TMD016", {OLD: str(FIRST)}, REFUSED, "a snapshot is a string"),
            (
                "without-id",
                "SNP001",
                {f"{OLD}/snapshot-id": DROP, "/snapshot-log/0": DROP},
                REFUSED,
                "a snapshot has no id",
            ),
            (
                "id-string",
                "SNP001",
                {f"{OLD}/snapshot-id": str(FIRST), "/snapshot-log/0": DROP},
                REFUSED,
                "the id of a snapshot is a string",
            ),
            ("without-time", "SNP004", {f"{NEW}/timestamp-ms": DROP}, REFUSED, "a snapshot has no time"),
            ("time-string", "SNP004", {f"{NEW}/timestamp-ms": "1515187355770"}, REFUSED, "a time is a string"),
            ("parent-string", "SNP002", {f"{NEW}/parent-snapshot-id": str(FIRST)}, REFUSED, "a parent is a string"),
            ("sequence-number-string", "SNP003", {f"{NEW}/sequence-number": "2"}, REFUSED, "a number is a string"),
            (
                "without-manifest-list",
                "SNP005",
                {f"{NEW}/manifest-list": DROP},
                EITHER,
                "a snapshot has neither a manifest list nor manifests",
            ),
            ("manifest-list-number", "SNP005", {f"{NEW}/manifest-list": 1}, REFUSED, "a manifest list is a number"),
            ("without-summary", "SNP007", {f"{NEW}/summary": DROP}, EITHER, "v1 may leave the summary out"),
            ("summary-list", "SNP007", {f"{NEW}/summary": []}, REFUSED, "a summary is a list"),
            ("summary-text", "SNP007", {f"{NEW}/summary": "append"}, REFUSED, "a summary is a string"),
            (
                "summary-object-in-it",
                "SNP007",
                {f"{NEW}/summary/spark": {"app": "1"}},
                REFUSED,
                "an entry is an object",
            ),
            ("summary-number", "SNP007", {f"{NEW}/summary/added-records": 20}, EITHER, "an entry is a number"),
            ("operation-unknown", "SNP008", {f"{NEW}/summary/operation": "merge"}, EITHER, "no operation has the name"),
            (
                "operation-upper-case",
                "SNP008",
                {f"{NEW}/summary/operation": "APPEND"},
                EITHER,
                "the operations are in lower case",
            ),
            (
                "schema-id-quoted",
                "SNP009",
                {f"{NEW}/schema-id": "0"},
                REFUSED,
                "the id of a schema is a string, as a template of the text has it",
            ),
            ("schema-id-unknown", "SNP009", {f"{NEW}/schema-id": 1}, EITHER, "no schema has the id"),
            (
                "ids-twice",
                "SNP001",
                {
                    "/snapshots/-": {
                        "snapshot-id": SECOND,
                        "sequence-number": 2,
                        "timestamp-ms": 1515187355770,
                        "parent-snapshot-id": FIRST,
                        "manifest-list": f"{LOCATION}/metadata/s2.avro",
                        "summary": {"operation": "append"},
                    }
                },
                REFUSED,
                "two snapshots have the current id",
            ),
            (
                "older-than-parent",
                "SNP003",
                {f"{OLD}/sequence-number": 2, f"{NEW}/sequence-number": 1},
                EITHER,
                "a snapshot has a lower sequence number than its parent",
            ),
            (
                "number-of-parent",
                "SNP003",
                {f"{OLD}/sequence-number": 2},
                EITHER,
                "a snapshot has the sequence number of its parent",
            ),
            ("own-parent", "SNP002", {f"{NEW}/parent-snapshot-id": SECOND}, EITHER, "a snapshot is its own parent"),
            (
                "circle",
                ("SNP002", "SNP003"),
                {f"{OLD}/parent-snapshot-id": SECOND},
                EITHER,
                "two snapshots are each other's parents",
            ),
            (
                "manifests-in-v2",
                "VER005",
                {f"{NEW}/manifests": [f"{LOCATION}/metadata/m0.avro"]},
                EITHER,
                "a snapshot has manifests beside its manifest list",
            ),
            (
                "first-row-id-in-v2",
                "VER005",
                {f"{NEW}/first-row-id": 0, f"{NEW}/added-rows": 20},
                EITHER,
                "row ids came with v3",
            ),
            ("metric-text", "NOT005", {f"{NEW}/summary/added-records": "many"}, READ, "a metric is not a number"),
        ],
    )
    yield Case(
        "snapshot-without-operation",
        "v2-small",
        ("SNP008",),
        {f"{NEW}/summary/operation": DROP},
        EITHER,
        "writers have to write the operation; readers tolerate its absence, or are strict with metadata JSON",
        contradictions=("C3", "E17"),
    )
    yield Case(
        "snapshot-without-sequence-number",
        "v2-small",
        ("SNP003",),
        {f"{OLD}/sequence-number": DROP},
        READ,
        "a missing number is read as 0",
        contradictions=("C2",),
    )
    yield from rows(
        "v1-snapshot",
        "v1-snapshots",
        [
            (
                "manifests-string",
                "SNP006",
                {f"{OLD}/manifests": f"{LOCATION}/metadata/m0.avro"},
                REFUSED,
                "manifests is a string",
            ),
            ("manifests-numbers", "SNP006", {f"{OLD}/manifests": [1]}, REFUSED, "a manifest is a number"),
            (
                "manifests-twice",
                "SNP006",
                {f"{NEW}/manifests": [f"{LOCATION}/metadata/m2.avro"]},
                EITHER,
                "a snapshot has manifests beside its manifest list",
            ),
        ],
    )
    yield from rows(
        "v1-snapshot",
        "v1-snapshots",
        [
            ("sequence-number", "VER005", {f"{OLD}/sequence-number": 0}, EITHER, "v1 has no sequence numbers"),
        ],
        ("E18",),
    )


def lineage() -> Iterator[Case]:
    """Yield cases of the row ids of snapshots, and of the encryption keys that snapshots name."""
    yield from rows(
        "lineage",
        "v3-small",
        [
            (
                "without-first-row-id",
                ("SNP010", "SNP011"),
                {f"{NEW}/first-row-id": DROP},
                EITHER,
                "a snapshot has no first row id and its parent has one",
            ),
            ("first-row-id-string", "SNP010", {f"{NEW}/first-row-id": "100"}, REFUSED, "a first row id is a string"),
            ("first-row-id-negative", "SNP010", {f"{OLD}/first-row-id": -1}, EITHER, "a first row id is negative"),
            ("added-rows-string", "SNP011", {f"{NEW}/added-rows": "20"}, REFUSED, "added rows are a string"),
            (
                "added-rows-negative",
                "SNP010",
                {f"{NEW}/added-rows": -1, "/next-row-id": 120},
                EITHER,
                "added rows are negative",
            ),
            (
                "next-row-id-low",
                "TMD024",
                {"/next-row-id": 119},
                EITHER,
                "row id 119 was assigned to the current snapshot",
            ),
            ("next-row-id-zero", "TMD024", {"/next-row-id": 0}, EITHER, "row ids up to 119 were assigned"),
            ("overlap", "LIN023", {f"{NEW}/first-row-id": 99}, EITHER, "row id 99 was assigned to two snapshots"),
            ("key-unknown", "SNP012", {f"{NEW}/key-id": "5f819a"}, EITHER, "no key has the id"),
            ("key-number", "SNP012", {f"{NEW}/key-id": 5}, REFUSED, "the id of a key is a number"),
        ],
    )
    yield Case(
        "lineage-without-added-rows",
        "v3-small",
        ("SNP011",),
        {f"{NEW}/added-rows": DROP},
        EITHER,
        "tables of 2025 have no added-rows",
        contradictions=("B5", "E17"),
    )
    yield from rows(
        "key",
        "v3-small",
        [
            ("string", "TMD025", {"/encryption-keys/1": "6a920c"}, EITHER, "a key is a string"),
            ("without-id", "ENC001", {"/encryption-keys/1/key-id": DROP}, EITHER, "a key has no id"),
            ("id-number", "ENC001", {"/encryption-keys/1/key-id": 6}, EITHER, "the id of a key is a number"),
            (
                "without-metadata",
                "ENC002",
                {"/encryption-keys/1/encrypted-key-metadata": DROP},
                EITHER,
                "a key has no key metadata",
            ),
            (
                "not-base64",
                "ENC002",
                {"/encryption-keys/1/encrypted-key-metadata": "not base64!"},
                EITHER,
                "key metadata is not base64",
            ),
            (
                "encrypted-by-number",
                "ENC003",
                {"/encryption-keys/1/encrypted-by-id": 5},
                EITHER,
                "the id of another key is a number",
            ),
            ("properties-list", "ENC004", {"/encryption-keys/1/properties": []}, EITHER, "properties are a list"),
            ("ids-twice", "ENC001", {"/encryption-keys/1/key-id": "5f819b"}, EITHER, "two keys have the same id"),
        ],
    )
    yield Case(
        "key-of-the-example",
        "v3-minimal",
        ("ENC002",),
        {"/encryption-keys": [{"key-id": "5f819b", "key-metadata": "aWNlYmVyZwo="}]},
        REFUSED,
        "the example of Appendix C, whose name of the key metadata is not that of the field table",
        valid_edits={"/encryption-keys": [{"key-id": "5f819b", "encrypted-key-metadata": "aWNlYmVyZwo="}]},
        contradictions=("B10",),
    )


def refs() -> Iterator[Case]:
    """Yield cases of branches and tags."""
    yield from rows(
        "ref",
        "v2-small",
        [
            ("number", "TMD021", {"/refs/test": FIRST}, REFUSED, "a reference is the id of its snapshot"),
            ("without-snapshot", "REF001", {"/refs/test/snapshot-id": DROP}, REFUSED, "a reference has no snapshot"),
            ("snapshot-string", "REF001", {"/refs/test/snapshot-id": str(FIRST)}, REFUSED, "a snapshot is a string"),
            ("without-type", "REF002", {"/refs/test/type": DROP}, REFUSED, "a reference has no type"),
            ("type-unknown", "REF002", {"/refs/test/type": "label"}, REFUSED, "no type of references has the name"),
            ("type-number", "REF002", {"/refs/test/type": 1}, REFUSED, "a type is a number"),
            (
                "dangling",
                "TMD021",
                {"/refs/test/snapshot-id": FIRST - 1},
                EITHER,
                "no snapshot has the id of the tag's",
            ),
            ("main-is-tag", "REF002", {"/refs/main/type": "tag"}, EITHER, "main is a tag"),
            ("keep-string", "REF003", {"/refs/main/min-snapshots-to-keep": "3"}, REFUSED, "a number is a string"),
            ("keep-zero", "REF003", {"/refs/main/min-snapshots-to-keep": 0}, EITHER, "a number is not positive"),
            ("keep-negative", "REF003", {"/refs/main/min-snapshots-to-keep": -1}, EITHER, "a number is not positive"),
            ("keep-long", "REF003", {"/refs/main/min-snapshots-to-keep": 1 << 31}, REFUSED, "a number has 32 bits"),
            ("age-zero", "REF004", {"/refs/main/max-snapshot-age-ms": 0}, EITHER, "an age is not positive"),
            ("age-string", "REF004", {"/refs/main/max-snapshot-age-ms": "5d"}, REFUSED, "an age is a string"),
            ("ref-age-zero", "REF005", {"/refs/test/max-ref-age-ms": 0}, EITHER, "an age is not positive"),
            ("ref-age-negative", "REF005", {"/refs/test/max-ref-age-ms": -1}, EITHER, "an age is not positive"),
            (
                "tag-keep",
                "REF003",
                {"/refs/test/min-snapshots-to-keep": 1},
                EITHER,
                "a tag has the retention of a branch",
            ),
        ],
    )
    yield Case(
        "ref-tag-age",
        "v2-small",
        ("REF004",),
        {"/refs/test/max-snapshot-age-ms": 1},
        EITHER,
        "a tag has the retention of a branch",
        valid_edits={"/refs/test/max-ref-age-ms": 1},
    )
    yield Case(
        "ref-main-age",
        "v2-small",
        ("REF005",),
        {"/refs/main/max-ref-age-ms": 1},
        EITHER,
        "main never expires, although it has an age at which to expire",
        valid_edits={"/refs/test/max-ref-age-ms": 1},
        further_codes=("REF006",),
    )


FILE = "/statistics/0"
BLOB = f"{FILE}/blob-metadata/0"


def statistics() -> Iterator[Case]:
    """Yield cases of statistics, which readers may ignore as a whole."""
    without = [
        ("snapshot-id", "STA001"),
        ("statistics-path", "STA002"),
        ("file-size-in-bytes", "STA003"),
        ("file-footer-size-in-bytes", "STA004"),
        ("blob-metadata", "STA006"),
    ]
    of_blob = [("type", "STA008"), ("snapshot-id", "STA009"), ("sequence-number", "STA010"), ("fields", "STA011")]
    for name, code in without:
        yield Case(
            f"statistics-without-{name}",
            "v2-statistics",
            (code,),
            {f"{FILE}/{name}": DROP},
            EITHER,
            "a required field is missing; readers may ignore statistics",
            further_codes=("STA007",),
        )
    for name, code in of_blob:
        yield Case(
            f"statistics-blob-without-{name}",
            "v2-statistics",
            (code,),
            {f"{BLOB}/{name}": DROP},
            EITHER,
            "a required field of a blob is missing; statistics may be ignored",
            further_codes=("STA007",),
        )
    for name, code in [("snapshot-id", "STA013"), ("statistics-path", "STA014"), ("file-size-in-bytes", "STA015")]:
        yield Case(
            f"partition-statistics-without-{name}",
            "v2-statistics",
            (code,),
            {f"/partition-statistics/0/{name}": DROP},
            EITHER,
            "a required field is missing; readers may ignore statistics",
            further_codes=("STA036",),
        )
    table: list[tuple[str, str, Document, str]] = [
        ("size-string", "STA003", {f"{FILE}/file-size-in-bytes": "413"}, "a size is a string"),
        ("key-metadata-not-base64", "STA005", {f"{FILE}/key-metadata": "not base64!"}, "key metadata is not base64"),
        ("blob-fields-names", "STA011", {f"{BLOB}/fields": ["id"]}, "the fields of a blob are names"),
        ("blob-properties-number", "STA012", {f"{BLOB}/properties/ndv": 100}, "a property of a blob is a number"),
        ("snapshot-unknown", "STA001", {f"{FILE}/snapshot-id": FIRST - 1}, "no snapshot has the id"),
    ]
    for name, code, edits, note in table:
        yield Case(f"statistics-{name}", "v2-statistics", (code,), edits, EITHER, note, further_codes=("STA007",))
    # A type of blobs that the reader does not know is not a fault: writers may define types.
    yield Case(
        "statistics-blob-type-number",
        "v2-statistics",
        ("STA008",),
        {f"{BLOB}/type": 7},
        EITHER,
        "the type of a blob is a number",
        valid_edits={f"{BLOB}/type": "example-histogram-v1"},
        further_codes=("STA007",),
    )
    yield Case(
        "statistics-snapshot-id-string",
        "v2-statistics",
        ("STA001",),
        {f"{FILE}/snapshot-id": str(FIRST)},
        EITHER,
        "the id of a snapshot is a string, as a former text had it",
        contradictions=("A15", "E17"),
        further_codes=("STA007",),
    )
    yield Case(
        "partition-statistics-twice",
        "v2-statistics",
        ("STA016",),
        {"/partition-statistics/-": {**PARTITION_STATISTICS[0], "statistics-path": f"{LOCATION}/metadata/p1.parquet"}},
        EITHER,
        "a snapshot has two partition statistics files",
        valid_edits={
            "/partition-statistics/-": {
                **PARTITION_STATISTICS[0],
                "snapshot-id": SECOND,
                "statistics-path": f"{LOCATION}/metadata/p1.parquet",
            }
        },
        further_codes=("STA036",),
    )


def versions() -> Iterator[Case]:
    """Yield cases of fields that the version of the table does not have, and locations without a scheme."""
    yield from rows(
        "v1",
        "v1-minimal",
        [
            ("last-sequence-number", "VER005", {"/last-sequence-number": 0}, EITHER, "v1 has no sequence numbers"),
            ("next-row-id", "VER005", {"/next-row-id": 0}, EITHER, "row ids came with v3"),
        ],
        ("E18",),
    )
    columns = [
        {"id": 1, "name": "id", "required": True, "type": "long"},
        {"id": 2, "name": "data", "required": False, "type": "string"},
    ]
    schema = {"type": "struct", "schema-id": 0, "fields": columns}
    keys = [{"key-id": "5f819b", "encrypted-key-metadata": "aWNlYmVyZwo="}]
    yield from rows(
        "v2",
        "v2-minimal",
        [
            ("schema", "VER005", {"/schema": schema}, EITHER, "v2 has schemas in its place"),
            ("partition-spec", "VER005", {"/partition-spec": []}, EITHER, "v2 has partition-specs in its place"),
            ("next-row-id", "VER005", {"/next-row-id": 0}, EITHER, "row ids came with v3"),
            ("encryption-keys", "VER005", {"/encryption-keys": keys}, EITHER, "keys came with v3"),
        ],
        ("E18",),
    )
    yield from rows(
        "v2",
        "v2-minimal",
        [
            ("location-without-scheme", "LOC001", {"/location": "/wh/data.db/table"}, READ, "a path without a scheme"),
        ],
    )
    mapping = "/properties/schema.name-mapping.default"
    base: dict[str, Any] = {"/properties": {}}
    near = {**base, mapping: '[{"field-id": 1, "names": ["id"]}]'}
    for name, text, codes, note in (
        ("text", "id=1", ("NAM009",), "the mapping is not JSON"),
        ("object", '{"id": 1}', ("NAM009",), "the mapping is an object"),
        ("without-names", '[{"field-id": 1}]', ("NAM002",), "a field mapping has no names"),
    ):
        yield Case(
            f"name-mapping-{name}",
            "v2-minimal",
            codes,
            {**base, mapping: text},
            READ,
            note,
            valid_edits=near,
            further_codes=("NAM010",),
        )


def cases() -> Iterator[Case]:
    """Yield all cases of the module."""
    yield from snapshots()
    yield from lineage()
    yield from refs()
    yield from statistics()
    yield from versions()
