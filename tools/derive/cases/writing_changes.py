"""Scripts that change rows: deletes, updates, merges, overwrites and compaction, in every version and mode."""

from __future__ import annotations

from collections.abc import Iterator

from tools.derive.cases.writing_kit import (
    COMPACT,
    COW,
    EVERY,
    FORMAT_NAMES,
    FORMATS,
    MOR,
    Case,
    append,
    create,
    delete,
    fields,
    make_rows,
    merge,
    part,
    update,
    where,
)
from tools.derive.json_types import Json

COLUMNS = fields(("id", "long"), ("p", "string"), ("v", "int"))
NAMES = "id p v"
FIRST = append(NAMES, ("1", "a", 10), ("2", "b", 20), ("3", "a", None), ("4", None, 40))
SECOND = append(NAMES, ("5", "b", 50), ("6", "a", 60))
BY_P = (("identity", "p"),)

VARIANTS = {"cow-v1": (1, COW), "cow-v2": (2, COW), "mor-v2": (2, MOR), "cow-v3": (3, COW), "mor-v3": (3, MOR)}
CODES = {
    (1, COW): ("SNP015",),
    (2, COW): ("MAN020", "SNP015"),
    (3, COW): ("LIN009", "LIN011", "SNP015"),
    (2, MOR): ("DEL005", "DEL012", "DEL013", "DEL015"),
    (3, MOR): ("DEL002", "DEL003", "DEL006", "DEL007", "DEL008", "DEL016"),
}
"""The requirements of each mode of changing rows."""

WITH_STRUCT = fields(
    ("id", "long"), ("s", {"type": "struct", "fields": [{"name": "x", "required": True, "type": "int"}]})
)
BY_ID = where("in", "id", [2, 3])


def _table(variant: str, *partition: tuple[str, str], format_: str = "parquet") -> tuple[int, str, Json]:
    version, mode = VARIANTS[variant]
    return version, mode, create(version, COLUMNS, *partition, format=format_)


def _deletes() -> Iterator[Case]:
    for variant in VARIANTS:
        version, mode, table = _table(variant)
        codes = CODES[version, mode]
        yield Case(
            f"delete-{variant}",
            codes,
            (table, FIRST, SECOND, delete(BY_ID, mode), delete(where("eq", "id", 5), mode)),
            "two deletes, in files that also have other rows",
        )
    for format_ in FORMATS[1:]:
        for variant in ("mor-v2", "mor-v3"):
            version, mode, table = _table(variant, *BY_P, format_=format_)
            yield Case(
                f"delete-{variant}-{format_}",
                (*CODES[version, mode], "DEL005"),
                (table, FIRST, SECOND, delete(BY_ID, mode)),
                f"partitioned, in {FORMAT_NAMES[format_]}",
            )
    for variant in ("mor-v2", "mor-v3"):
        version, mode, table = _table(variant, *BY_P)
        codes = CODES[version, mode]
        yield Case(
            f"delete-twice-in-a-file-{variant}",
            (*codes, *(("DEL026",) if version == 3 else ())),
            (table, FIRST, delete(where("eq", "id", 1), mode), SECOND, delete(where("gt-eq", "id", 3), mode)),
            "deletes of more rows in a file that has deletes, and of rows in other files",
        )
        yield Case(
            f"delete-null-{variant}",
            (*codes, "EXP008"),
            (table, FIRST, delete(where("is-null", "p"), mode), delete(where("not-eq", "v", 10), mode)),
            "null is not 10",
        )
    for variant in ("cow-v1", "mor-v2", "mor-v3"):
        version, mode, table = _table(variant, *BY_P)
        yield Case(
            f"delete-partition-{variant}",
            (*CODES[version, mode][:1], "SNP016"),
            (table, FIRST, SECOND, delete(where("eq", "p", "a"), mode), append(NAMES, ("7", "a", 70))),
            "all rows of a partition are deleted, and a new one is added",
        )
    for variant in ("mor-v2", "mor-v3"):
        version, mode, table = _table(variant)
        yield Case(
            f"delete-beside-null-{variant}",
            (*CODES[version, mode], "EXP008"),
            (table, append(NAMES, ("1", "a", 10), ("2", "b", None)), delete(where("eq", "v", 10), mode)),
            "a file has as many nulls in the column as values",
        )
    for variant in ("cow-v1", "mor-v2", "mor-v3"):
        version, mode, table = _table(variant, *BY_P)
        yield Case(
            f"delete-less-beside-null-partition-{variant}",
            (*CODES[version, mode][:1], "EXP008", "SNP016"),
            (table, FIRST, delete(where("lt", "p", "b"), mode)),
            "whole files, and their manifest also lists a file of the null partition: null is not less than b",
        )
    for variant in ("cow-v2", "mor-v2"):
        version, mode, _ = _table(variant)
        yield Case(
            f"delete-null-struct-by-required-field-{variant}",
            (*CODES[version, mode], "EXP007", "TYP002"),
            (
                create(version, WITH_STRUCT),
                append("id s", ("1", {"x": 1}), ("2", None), ("3", {"x": 3})),
                delete(where("is-null", "s.x"), mode),
            ),
            "a required field has no value where the struct around it is null",
        )
    for variant in ("cow-v1", "cow-v2", "cow-v3"):
        version, mode, _ = _table(variant)
        either = {"type": "or", "left": where("lt", "id", 7), "right": where("not-eq", "id", 1)}
        yield Case(
            f"delete-all-by-or-{variant}",
            ("EXP012", "SNP016"),
            (
                create(version, fields(("id", "long", True))),
                append("id", ("0",), ("7",)),
                delete(either, mode),
                append("id", ("1",)),
            ),
            "no value is both 1 and at least 7, so that an optimizer finds no rows to keep",
        )
    yield Case(
        "delete-all-mor-v3",
        ("DEL002", "SNP016"),
        (_table("mor-v3")[2], FIRST, delete(EVERY, MOR), SECOND),
        "every row is deleted, and others are added",
    )
    yield Case(
        "delete-nothing-v2",
        ("SNP016",),
        (_table("cow-v2")[2], FIRST, delete(where("eq", "id", 99), COW), SECOND),
        "no row matches",
    )


EQUALITY_CODES = ("DEL017", "DEL019", "DEL020", "DEL021", "DFL020")


def _equality() -> Iterator[Case]:
    for version, format_ in ((2, "parquet"), (2, "avro"), (2, "orc"), (3, "parquet")):
        yield Case(
            f"equality-delete-v{version}-{format_}",
            EQUALITY_CODES,
            (
                create(version, COLUMNS, format=format_),
                FIRST,
                SECOND,
                {"op": "delete-equal", "rows": make_rows("p v", ("b", 20), ("a", None), (None, 41))},
                append(NAMES, ("8", "b", 20)),
            ),
            "by two columns, in which null equals null; rows that are added later stay",
        )
        if format_ != "parquet":
            continue
        yield Case(
            f"upsert-v{version}-{format_}",
            (*EQUALITY_CODES, "SEQ006", *(("LIN004",) if version == 3 else ())),
            (
                create(version, COLUMNS, format=format_),
                FIRST,
                {"op": "upsert", "on": ["id"], "rows": make_rows(NAMES, ("2", "z", 21), ("9", "y", 90))},
                {"op": "upsert", "on": ["id"], "rows": make_rows(NAMES, ("9", "x", 91))},
            ),
            "an equality delete and the new row in one snapshot, twice",
        )
    for version in (2, 3):
        yield Case(
            f"upsert-over-specs-v{version}",
            (*EQUALITY_CODES, "SCN010"),
            (
                create(version, COLUMNS, ("truncate[10]", "id")),
                FIRST,
                {"op": "alter-spec", "changes": [{"op": "rename", "name": "id_truncate", "to": "tens"}]},
                {"op": "upsert", "on": ["id"], "rows": make_rows(NAMES, ("2", "z", 21), ("9", "y", 90))},
                {"op": "alter-spec", "changes": [{"op": "add", **part("bucket[4]", "id")}]},
                {"op": "upsert", "on": ["id"], "rows": make_rows(NAMES, ("1", "x", 11), ("9", "x", 91))},
            ),
            "rows in files of an earlier spec, to which a delete that is partitioned by the current one does not apply",
        )
    yield Case(
        "equality-delete-partitioned",
        EQUALITY_CODES,
        (
            create(2, COLUMNS, *BY_P),
            FIRST,
            SECOND,
            {"op": "delete-equal", "rows": make_rows("p v", ("b", 20), ("a", None), (None, 40))},
        ),
        "keys that include the source of the partition field",
    )
    numbered = append("id v", *((str(number), number) for number in range(6)))
    operations = {
        "update": update(where("eq", "id", 4), {"v": 9}, COW),
        "delete": delete(where("eq", "id", 4), COW),
        "overwrite": {"op": "overwrite", "filter": where("eq", "id", 4), "rows": make_rows("id", ("9",))},
    }
    for version in (2, 3):
        for name, operation in operations.items():
            yield Case(
                f"{name}-after-equality-delete-v{version}",
                ("DEL019", "SCN010"),
                (
                    create(version, COLUMNS),
                    numbered,
                    {"op": "delete-equal", "rows": make_rows("id", ("2",))},
                    operation,
                ),
                "a file is rewritten for a row other than the deleted one, which stays deleted",
            )


MADE = tuple(_deletes())
EQUALITY = tuple(_equality())


def _changes() -> Iterator[Case]:
    new = (("2", "c", 22), ("7", "c", 70), ("8", None, None))
    for variant in ("cow-v1", "cow-v2", "mor-v2"):
        version, mode, table = _table(variant, *BY_P)
        codes = CODES[version, mode]
        yield Case(
            f"update-{variant}",
            (*codes, "SNP015"),
            (table, FIRST, SECOND, update(BY_ID, {"p": "c", "v": None}, mode)),
            "rows that move to another partition",
        )
        yield Case(
            f"merge-{variant}",
            (*codes, "SNP015"),
            (table, FIRST, merge("id", NAMES, *new, mode=mode)),
            "a key that a row has, and keys that no row has",
        )
    for format_ in FORMATS[1:]:
        version, mode, table = _table("mor-v2", format_=format_)
        yield Case(
            f"update-mor-v2-{format_}",
            (*CODES[version, mode], "SNP015"),
            (table, FIRST, update(BY_ID, {"v": -1}, mode), update(where("eq", "id", 3), {"v": -2}, mode)),
            "a row is updated twice",
        )
    for version in (2, 3):
        yield Case(
            f"overwrite-v{version}",
            ("SNP015", "MAN017"),
            (
                create(version, COLUMNS, *BY_P),
                FIRST,
                SECOND,
                {"op": "overwrite", "filter": where("eq", "p", "a"), "rows": make_rows(NAMES, ("7", "a", 70))},
            ),
            "the rows of a partition are replaced",
        )
    yield Case(
        "overwrite-all",
        ("SNP015", "MAN017"),
        (create(2, COLUMNS), FIRST, {"op": "overwrite", "filter": True, "rows": make_rows(NAMES, ("1", "a", 11))}),
        "every row is replaced by another",
    )
    for variant in ("cow-v1", "mor-v2"):
        version, mode, table = _table(variant, *BY_P)
        yield Case(
            f"compact-{variant}",
            ("SNP014", *(("MAN020", "DEL006") if version > 1 else ())),
            (table, FIRST, SECOND, delete(BY_ID, mode), COMPACT, append(NAMES, ("7", "a", 70))),
            "files with deletes are rewritten, and rows added after",
        )
    yield Case(
        "compact-equality-deletes",
        ("SNP014", "DEL019", "SEQ007"),
        (
            create(2, COLUMNS),
            FIRST,
            {"op": "delete-equal", "rows": make_rows("id", ("1",))},
            COMPACT,
            append(NAMES, ("1", "z", 1)),
        ),
        "a deleted row does not come back, and a new one with its key stays",
    )
    yield Case(
        "rewrite-manifests",
        ("MAN020", "MAN022", "SNP014"),
        (
            create(2, COLUMNS, *BY_P),
            FIRST,
            SECOND,
            delete(where("eq", "id", 1), COW),
            {"op": "rewrite-manifests"},
            append(NAMES, ("7", "a", 70)),
        ),
        "manifests are rewritten",
    )
    yield Case(
        "duplicates",
        ("SNP013",),
        (create(2, COLUMNS), FIRST, FIRST, append(NAMES, ("1", "a", 10), ("1", "a", 10)), delete(where("eq", "id", 2))),
        "rows that are equal are separate rows",
    )
    nullable = fields(("id", "long"), ("v", "int"))
    yield Case(
        "merge-null-keys",
        ("SNP015",),
        (create(2, nullable), append("id v", (None, 1), ("2", 2)), merge("id", "id v", (None, 9), ("2", 8), mode=COW)),
        "a key that is null matches nothing",
    )
    yield Case(
        "empty",
        ("SNP013",),
        (create(2, COLUMNS), append(NAMES), FIRST),
        "no rows, then some",
    )
    yield Case(
        "many-appends",
        ("SEQ001", "SNP003"),
        (create(2, COLUMNS), *(append(NAMES, (str(n), "a", n)) for n in range(4))),
        "a sequence number for each",
    )
    yield Case(
        "without-metrics",
        ("SNP015", "DFL005"),
        (create(2, COLUMNS, write_metadata_metrics_default="none"), FIRST, delete(BY_ID, COW)),
        "no column metrics",
    )


CHANGES = (*_changes(), *(case for case in MADE if "mor" not in case.name))
DELETES = tuple(case for case in MADE if "mor" in case.name)

ROW_IDS = ("LIN001", "LIN002", "LIN003", "LIN008")


def _lineage() -> Iterator[Case]:
    new = (("2", "c", 22), ("7", "c", 70))
    for variant in ("cow-v3", "mor-v3"):
        version, mode, _ = _table(variant)
        codes = (*ROW_IDS, *CODES[version, mode], "LIN010", "LIN012")
        for format_ in FORMATS if mode == COW else FORMATS[:1]:
            table = _table(variant, format_=format_)[2]
            yield Case(
                f"lineage-update-{variant}-{format_}",
                codes,
                (table, FIRST, SECOND, update(BY_ID, {"v": -1}, mode), append(NAMES, ("7", "a", 70))),
                "rows beside one that changes keep both values",
            )
        table = _table(variant, *BY_P)[2]
        yield Case(
            f"lineage-merge-{variant}",
            codes,
            (table, FIRST, SECOND, merge("id", NAMES, *new, mode=mode), COMPACT),
            "found, added and untouched rows; then compacted",
        )
        yield Case(
            f"lineage-delete-{variant}",
            codes,
            (table, FIRST, SECOND, delete(BY_ID, mode), COMPACT, SECOND),
            "ids of deleted rows are not given again",
        )
    for format_ in FORMATS[:2]:
        yield Case(
            f"lineage-compact-{format_}",
            (*ROW_IDS, "LIN009", "LIN011", "SNP014"),
            (
                create(3, COLUMNS, format=format_),
                FIRST,
                SECOND,
                append(NAMES, ("7", "a", 70)),
                COMPACT,
                COMPACT,
                append(NAMES, ("8", "b", 80)),
            ),
            "two times",
        )
    yield Case(
        "lineage-partitioned",
        (*ROW_IDS, "LIN019", "LIN020", "LIN028"),
        (create(3, COLUMNS, *BY_P), FIRST, SECOND, {"op": "rewrite-manifests"}, append(NAMES, ("7", "c", 70))),
        "several files in a manifest",
    )
    yield Case(
        "lineage-overwrite",
        (*ROW_IDS, "LIN020"),
        (
            create(3, COLUMNS, *BY_P),
            FIRST,
            SECOND,
            {"op": "overwrite", "filter": where("eq", "p", "b"), "rows": make_rows(NAMES, ("2", "b", 20))},
        ),
        "a row with the values of a removed row is a new row",
    )


LINEAGE = tuple(_lineage())
