"""Race vectors of tables with other partitions, several specs, tags, and manifest lists without counts."""

from __future__ import annotations

from collections.abc import Iterator

from tools.derive.cases.commit_kit import (
    RULES,
    Change,
    base,
    case,
    changes,
    data_file,
    delete_file,
    load_stage_commit,
    planned_note,
    race,
)
from tools.derive.json_types import JsonObject
from tools.derive.planning import PlanTable, Spec, entry
from tools.derive.vector import Vector


def partitions() -> Iterator[Vector]:
    """Yield cases of tables without partitions, and partitions of null and NaN."""
    kinds: tuple[tuple[str, str, str | None, str | None, tuple[int, ...]], ...] = (
        ("unpartitioned", "nothing", None, None, (1, 2, 3)),
        ("null", "part", None, "b", (1, 2, 3)),
        ("nan", "score", "NaN", "1.5", (1, 2, 3)),
    )
    for kind, by, part, other, versions in kinds:
        for version in versions:
            begins = [
                {"op": "fast-append", "files": [data_file("f1", part), data_file("f2", part)]},
                {"op": "fast-append", "files": [data_file("f3", other)]},
            ]
            position = "vector" if version > 2 else "position"
            made: dict[str, Change] = {
                "append": {"op": "fast-append", "files": [data_file("new", part)]},
                "append-elsewhere": {"op": "fast-append", "files": [data_file("elsewhere", other)]},
                "delete": {"op": "delete", "remove": ["f1"]},
                "rewrite": {"op": "rewrite", "files": [data_file("compact", part, 20)], "remove": ["f1", "f2"]},
                "overwrite": {"op": "overwrite", "files": [data_file("over", part)], "remove": ["f1"]},
            }
            if version > 1:
                made["equality-delete"] = {"op": "row-delta", "deletes": [delete_file("eq", "equality", part)]}
                made["position-delete"] = {
                    "op": "row-delta",
                    "deletes": [delete_file("pos", position, part, of="f1")],
                    "referenced": ["f1"],
                }
                made["rewrite-older"] = {
                    "op": "rewrite",
                    "files": [data_file("older", part)],
                    "remove": ["f1"],
                    "data_sequence_number": 1,
                }
            if other is not None:
                made["delete-where"] = {"op": "delete-where", "filter": {"part": part}}
                made["overwrite-serializable"] = {
                    "op": "overwrite",
                    "files": [data_file("serial", part)],
                    "remove": ["f2"],
                    "isolation": "serializable",
                    "filter": {"part": part},
                }
            pairs = (
                ("append", "rewrite"),
                ("delete", "rewrite"),
                ("overwrite", "rewrite"),
                ("append", "delete-where"),
                ("append-elsewhere", "delete-where"),
                ("append", "overwrite-serializable"),
                ("append-elsewhere", "overwrite-serializable"),
                ("equality-delete", "overwrite-serializable"),
                ("equality-delete", "rewrite"),
                ("equality-delete", "rewrite-older"),
                ("position-delete", "rewrite"),
                ("rewrite", "position-delete"),
                ("rewrite", "equality-delete"),
                ("rewrite", "append"),
            )
            for first, second in pairs:
                if first in made and second in made:
                    yield case(
                        f"{kind}-{first}-then-{second}",
                        (RULES[second], *PARTITION_RULES[kind]),
                        version,
                        race(made[first], made[second]),
                        planned_note(first, second),
                        initial_changes=begins,
                        partitioned_by=by,
                    )


PARTITION_RULES = {"unpartitioned": ("PAR016",), "null": ("DFL004",), "nan": ("DFL004",)}
"""Further requirements that decide the outcome, by the kind of partition."""


def specs() -> Iterator[Vector]:
    """Yield cases of tables whose partition spec has changed: files and deletes of each spec."""
    for version in (1, 2, 3):
        begins: list[Change] = [
            {"op": "fast-append", "files": [data_file("f1"), data_file("f2")]},
            {"op": "spec", "remove": ["part"]},
            {"op": "fast-append", "files": [data_file("f3", None, spec=1)]},
        ]
        buckets = {"op": "spec", "transform": "bucket[4]", "source": "id", "name": "bucket"}
        new = {"op": "fast-append", "files": [data_file("new", None, spec=1)]}
        old = {"op": "fast-append", "files": [data_file("old")]}
        both = {"op": "fast-append", "files": [data_file("old"), data_file("new", None, spec=1)]}
        rewrite = {"op": "rewrite", "files": [data_file("compact")], "remove": ["f1"]}
        across = {"op": "rewrite", "files": [data_file("across", None, 20, spec=1)], "remove": ["f1", "f3"]}
        logs: list[tuple[str, tuple[str, ...], list[Change], str]] = [
            (
                "append-to-an-old-spec",
                ("MLS005",),
                load_stage_commit("a", old),
                "a file of a spec that is not the default one",
            ),
            ("append-to-two-specs", ("MLS005",), load_stage_commit("a", both), "one manifest for each partition spec"),
            (
                "spec-then-append",
                ("OCC006", "MLS005"),
                race(buckets, new),
                "the file keeps the spec for which it was planned",
            ),
            (
                "append-then-spec",
                ("OCC009",),
                race(new, buckets),
                "new files do not conflict with a change of the spec",
            ),
            ("append-then-rewrite", ("OCC007",), race(new, rewrite), "new files do not concern a rewrite"),
            (
                "rewrite-then-delete",
                ("OCC008",),
                race(across, {"op": "delete", "remove": ["f3"]}),
                "the file that was rewritten into another spec is gone",
            ),
            (
                "delete-then-rewrite",
                ("OCC007",),
                race({"op": "delete", "remove": ["f3"]}, across),
                "one of the files to rewrite is gone",
            ),
        ]
        if version > 1:
            everywhere = {"op": "row-delta", "deletes": [delete_file("eq", "equality", None, spec=1)]}
            in_a = {"op": "row-delta", "deletes": [delete_file("eq", "equality")]}
            of_new = {"op": "rewrite", "files": [data_file("compact", None, spec=1)], "remove": ["f3"]}
            logs += [
                (
                    "global-delete-then-rewrite",
                    ("OCC007", "SCN011"),
                    race(everywhere, rewrite),
                    "equality deletes of an unpartitioned spec apply to all data files",
                ),
                (
                    "delete-in-a-partition-then-rewrite",
                    ("OCC007", "SCN010"),
                    race(in_a, rewrite),
                    "the deletes are of rows of the rewritten file",
                ),
                (
                    "delete-in-a-partition-then-rewrite-of-another-spec",
                    ("OCC007", "SCN010"),
                    race(in_a, of_new),
                    "the deletes are of the partition of another spec",
                ),
                (
                    "rewrite-then-global-delete",
                    ("OCC006", "SCN011"),
                    race(rewrite, everywhere),
                    "equality deletes may be applied to any version",
                ),
            ]
        for name, codes, log, note in logs:
            yield case(f"specs-{name}", codes, version, log, note, initial_changes=begins)


def tags() -> Iterator[Vector]:
    """Yield cases of tags, which label one snapshot."""
    for version in (1, 2, 3):
        begins = [*base(version), {"op": "tag", "name": "label", "at": 1}]
        to_tag = {"op": "fast-append", "files": [data_file("tagged")], "branch": "label"}
        drop = {"op": "remove-ref", "name": "label"}
        append = {"op": "append", "files": [data_file("new")]}
        for name, log, note in (
            ("append-to-a-tag", load_stage_commit("a", to_tag), "no snapshot is committed to a tag"),
            ("append-then-append-to-a-tag", race(append, to_tag), "no snapshot is committed to a tag"),
            ("append-beside-a-tag", race(append, drop), "removing a tag does not conflict with an append"),
            ("remove-a-tag-then-append", race(drop, append), "removing a tag does not conflict with an append"),
            ("expire-beside-a-tag", race(append, {"op": "expire"}), "the snapshot of a tag stays"),
        ):
            yield case(f"tags-{name}", ("REF008", "REF002"), version, log, note, initial_changes=begins)


BY_PART = Spec(0, ((2, 1000, "part", "identity", "string"),))


COLUMNS = (
    {"id": 1, "name": "id", "required": True, "type": "long"},
    {"id": 2, "name": "part", "required": False, "type": "string"},
)


RETRIES = {"commit.retry.num-retries": "4", "commit.retry.min-wait-ms": "1", "commit.retry.max-wait-ms": "2"}


def without_counts() -> PlanTable:
    """Return a table of v1 whose manifest lists have only the columns that v1 requires."""
    none: JsonObject = {
        f"{kind}_{what}_count": None for kind in ("added", "existing", "deleted") for what in ("files", "rows")
    }
    table = PlanTable(
        "lists-without-counts",
        "a table of v1 whose manifest lists have neither counts nor partition summaries",
        1,
        columns=COLUMNS,
        specs=[BY_PART],
        changes={"properties": RETRIES},
        used_for="commit",
    )
    in_a, in_b = (JsonObject(stats={2: ("string", part, part, 10, 0)}) for part in "ab")
    table.manifest(*(entry(name, ["a"], **in_a) for name in ("f1", "f2")), summaries=None, **none).commit()
    table.manifest(entry("f3", ["b"], **in_b), summaries=None, **none)
    parent: JsonObject = {"parent-snapshot-id": table.first}
    return table.commit(**parent)


def tables() -> Iterator[PlanTable]:
    """Yield the tables that races begin with."""
    yield without_counts()


def lists_without_counts() -> Iterator[Vector]:
    """Yield cases of a v1 table whose manifest lists have no counts, and of the same table after an upgrade."""
    table = without_counts()
    begins: list[Change] = [{"op": "branch", "name": "audit", "at": 1}]
    for version in (1, 2, 3):
        a, b = changes(version, "a"), changes(version, "b")
        alone = [
            "append",
            "append-elsewhere",
            "append-to-branch",
            "overwrite",
            "delete",
            "delete-where",
            "rewrite",
            "expire",
        ]
        pairs = [
            ("append", "append"),
            ("append", "delete"),
            ("append", "rewrite"),
            ("delete", "rewrite"),
            ("rewrite", "delete"),
            ("rewrite", "append"),
            ("append-to-branch", "append"),
            ("append", "overwrite-serializable"),
            ("append-elsewhere", "overwrite-serializable"),
        ]
        if version > 1:
            alone += ["equality-delete", "position-delete"]
            pairs += [("equality-delete", "rewrite"), ("position-delete", "rewrite"), ("append", "position-delete")]
        if version < 3:
            pairs += [("upgrade", "append"), ("append", "upgrade"), ("upgrade", "delete")]
        logs = [
            (name, RULES[name], load_stage_commit("a", a[name]), f"{name} on a table whose lists have no counts")
            for name in alone
        ]
        logs += [
            (
                f"{first}-then-{second}",
                RULES[second],
                race(a[first], b[second]),
                planned_note(first, second),
            )
            for first, second in pairs
        ]
        codes = COUNTS if version < 3 else (*COUNTS, "LIN009", "LIN015", "LIN028")
        for name, rule, log, note in logs:
            yield case(
                f"without-counts-{name}", (rule, *codes), version, log, note, initial_changes=begins, table=table
            )


COUNTS = ("MLS010", "MLS011", "MLS013", "MLS014")
"""Counts that are null in lists of v1, and required from v2."""
