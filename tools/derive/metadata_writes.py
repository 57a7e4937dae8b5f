"""Vectors of writing: what each version requires, and what it should leave out (Table Metadata Fields)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.derive.metadata import DROP, Document, apply_edits, canonical
from tools.derive.metadata_bases import BASES, LOCATION, UUID, V1_RICH, V2_NESTED, V2_SMALL
from tools.derive.vector import INVALID, Vector, any_of, ok

Row = tuple[str, str, int, tuple[str, ...], Document, str]


def _stored_case(name: str, base: str, codes: tuple[str, ...], members: str, note: str) -> Row:
    """Return a row of a table of which a writer must write some members unchanged."""
    return name, base, int(base[1]), codes, {member: BASES[base][member] for member in members.split()}, note


WRITES: list[Row] = [
    (
        "v1-deprecated",
        "v1-rich",
        1,
        ("TMD007", "TMD010"),
        {
            "format-version": 1,
            "location": LOCATION,
            "last-column-id": 11,
            "schema": {"schema-id": 1, "identifier-field-ids": [1, 3], "fields": V2_NESTED["schemas"][0]["fields"]},
            "partition-spec": V1_RICH["partition-spec"],
        },
        "v1 writes the current schema and the fields of the default spec",
    ),
    _stored_case(
        "v2-ids",
        "v2-nested",
        ("TMD008", "TMD011", "TMD019"),
        "schemas current-schema-id partition-specs default-spec-id last-partition-id sort-orders default-sort-order-id",
        "v2 writes the lists and the ids of what is current",
    ),
    ("v2-required", "v2-minimal", 2, ("VER005",), dict(BASES["v2-minimal"]), "every field that v2 requires"),
    _stored_case(
        "v2-snapshots",
        "v2-small",
        ("SNP003", "SNP005", "SNP007"),
        "last-sequence-number snapshots current-snapshot-id",
        "snapshots with the fields that v2 requires",
    ),
    _stored_case("v2-refs", "v2-rich", ("TMD021",), "refs", "branches and tags with their limits"),
    _stored_case("v2-logs", "v2-rich", ("TMD031", "TMD032"), "snapshot-log metadata-log", "the logs"),
    _stored_case("v2-properties", "v2-rich", ("TMD014",), "properties", "the properties"),
    _stored_case(
        "v2-statistics",
        "v2-statistics",
        ("TMD022", "TMD023", "STA005"),
        "statistics partition-statistics",
        "statistics of both kinds, key metadata too",
    ),
    ("v3-required", "v3-minimal", 3, ("VER005", "TMD024"), dict(BASES["v3-minimal"]), "every field that v3 requires"),
    _stored_case(
        "v3-lineage", "v3-small", ("SNP010", "SNP011", "TMD024"), "snapshots next-row-id", "row ids of snapshots"
    ),
    _stored_case("v3-keys", "v3-small", ("ENC002", "TMD025"), "encryption-keys", "encryption keys"),
    _stored_case("v3-types", "v3-types", ("JSC003", "JSC008"), "schemas", "the types of v3, and defaults"),
    (
        "v1-as-v2",
        "v1-rich",
        2,
        ("UPG003", "PAR013"),
        {
            "format-version": 2,
            "last-sequence-number": 0,
            "table-uuid": UUID,
            "current-schema-id": 1,
            "schemas": V1_RICH["schemas"],
            "partition-specs": canonical(V1_RICH)["partition-specs"],
            "default-spec-id": 1,
            "last-partition-id": 1001,
            "sort-orders": V1_RICH["sort-orders"],
            "default-sort-order-id": 1,
        },
        "a v1 table is written with all that v2 requires",
    ),
    (
        "v2-as-v3",
        "v2-small",
        3,
        ("LIN013", "UPG003"),
        {"format-version": 3, "next-row-id": 0, "snapshots": V2_SMALL["snapshots"]},
        "a v2 table is written as v3, its snapshots as they were",
    ),
]


def writes() -> Iterator[Vector]:
    """Yield cases of the metadata that a writer must produce."""
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
            apply_edits(V1_RICH, stale),
            1,
            ("TMD007",),
            {"schema": WRITES[0][4]["schema"]},
            "v1 writes the current schema, whatever copy of it was read",
        )
    )
    for name, document, version, codes, form, note in rows:
        args = {"metadata": document, "format_version": version, "select": list(form)}
        origin = "spec: Table Metadata Fields; Appendix C; Appendix E"
        # v1 need not store the ids of partition fields, but may.
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
