"""Race vectors: logs of loads, stages and commits of several writers, and what the text permits of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

from tools.derive.commits import replayed
from tools.derive.json_types import JsonObject
from tools.derive.planning import PlanTable, Spec, entry
from tools.derive.vector import Vector, VectorFile, any_of, ok

SECTION = "Commit Conflict Resolution and Retry"
ORIGIN = "derivation: tools/derive/commits.py follows the log by the text"

Change = dict[str, Any]


def file(name: str, part: str | None = "a", rows: int = 10, **place: int) -> Change:
    """A data file; ``place`` is its partition spec, and its bucket, where it is not of the first spec."""
    return {"name": name, "part": part, "rows": rows, **place}


def deletes(name: str, kind: str, part: str | None = "a", of: str | None = None, **place: int) -> Change:
    """A delete file, or a deletion vector."""
    made = {"name": name, "kind": kind, "part": part, "rows": 1, **place}
    return {**made, "of": of} if of else made


def base(version: int) -> list[Change]:
    """Two data files of one partition, one of another, and a branch at the first snapshot."""
    return [
        {"op": "fast-append", "files": [file("f1"), file("f2")]},
        {"op": "fast-append", "files": [file("f3", "b")]},
        {"op": "branch", "name": "audit", "at": 1},
    ]


def changes(version: int, writer: str) -> dict[str, Change]:
    """One change of each kind, by name; each writer uses different file names."""
    made: dict[str, Change] = {
        "append": {"op": "append", "files": [file(f"{writer}-new")]},
        "append-elsewhere": {"op": "fast-append", "files": [file(f"{writer}-b", "b")]},
        "append-to-branch": {"op": "fast-append", "files": [file(f"{writer}-branch")], "branch": "audit"},
        "overwrite": {"op": "overwrite", "files": [file(f"{writer}-over")], "remove": ["f1"]},
        "overwrite-serializable": {
            "op": "overwrite",
            "files": [file(f"{writer}-serial")],
            "remove": ["f2"],
            "isolation": "serializable",
            "filter": {"part": "a"},
        },
        "overwrite-snapshot": {
            "op": "overwrite",
            "files": [file(f"{writer}-snap")],
            "remove": ["f2"],
            "isolation": "snapshot",
            "filter": {"part": "a"},
        },
        "delete": {"op": "delete", "remove": ["f1"]},
        "delete-where": {"op": "delete-where", "filter": {"part": "a"}},
        "rewrite": {"op": "rewrite", "files": [file(f"{writer}-compact", rows=20)], "remove": ["f1", "f2"]},
        "schema": {"op": "schema", "add": f"{writer}_column"},
        "spec": {"op": "spec", "transform": "bucket[4]", "source": "id", "name": f"{writer}_bucket"},
        "sort-order": {"op": "sort-order", "by": {"a": "id", "b": "part", "c": "id"}[writer]},
        "properties": {"op": "properties", "set": {"race.owner": writer, f"race.{writer}": "yes"}},
        "tag": {"op": "tag", "name": f"{writer}-tag", "at": 1},
        "rollback": {"op": "rollback", "to": 1},
        "remove-ref": {"op": "remove-ref", "name": "audit"},
        "expire": {"op": "expire"},
        "statistics": {"op": "statistics", "at": 2},
    }
    if version > 1:
        made["equality-delete"] = {"op": "row-delta", "deletes": [deletes(f"{writer}-eq", "equality")]}
        kind = "vector" if version > 2 else "position"
        made["position-delete"] = {
            "op": "row-delta",
            "deletes": [deletes(f"{writer}-pos", kind, of="f1")],
            "referenced": ["f1"],
        }
        made["rewrite-older"] = {
            "op": "rewrite",
            "files": [file(f"{writer}-older")],
            "remove": ["f1"],
            "data_sequence_number": 1,
        }
    if version < 3:
        made["upgrade"] = {"op": "upgrade", "version": version + 1}
    return made


RULES = {
    "append": "OCC006",
    "append-elsewhere": "OCC006",
    "append-to-branch": "OCC006",
    "overwrite": "OCC007",
    "overwrite-serializable": "OCC004",
    "overwrite-snapshot": "OCC004",
    "delete": "OCC008",
    "delete-where": "OCC008",
    "rewrite": "OCC007",
    "rewrite-older": "SEQ007",
    "schema": "OCC009",
    "spec": "OCC009",
    "sort-order": "OCC003",
    "properties": "OCC003",
    "tag": "REF007",
    "rollback": "REF007",
    "remove-ref": "REF007",
    "expire": "OCC003",
    "statistics": "OCC003",
    "equality-delete": "OCC006",
    "position-delete": "OCC004",
    "upgrade": "OCC003",
}
"""The requirement that the second of two commits turns on."""

PAIRS: dict[int, tuple[str, ...]] = {
    1: ("append", "delete", "rewrite", "schema", "upgrade"),
    2: ("append", "overwrite", "delete", "delete-where", "rewrite", "schema", "equality-delete", "position-delete"),
    3: ("append", "append-to-branch", "delete", "rewrite", "position-delete"),
}
"""The changes that race with each other in every order, by format version."""

FURTHER: tuple[tuple[int, str, str], ...] = (
    *((2, first, "overwrite-serializable") for first in ("append", "delete", "rewrite", "equality-delete", "schema")),
    *((2, first, "upgrade") for first in ("append", "rewrite", "position-delete", "upgrade")),
    *((2, "upgrade", second) for second in ("append", "delete", "rewrite", "schema", "position-delete")),
    *((2, first, "spec") for first in ("append", "schema", "spec", "rewrite")),
    *((2, "spec", second) for second in ("append", "overwrite", "rewrite", "schema")),
    *((2, first, "properties") for first in ("append", "properties", "schema")),
    *((2, "properties", second) for second in ("append", "rewrite", "schema", "position-delete")),
    *((2, first, "append-to-branch") for first in ("append", "append-to-branch", "rewrite", "delete")),
    *((2, "append-to-branch", second) for second in ("append", "delete", "overwrite-serializable", "schema")),
    *((2, first, "overwrite-snapshot") for first in ("append", "delete", "rewrite", "equality-delete")),
    *((2, first, "overwrite-serializable") for first in ("append-elsewhere",)),
    *((2, first, "rewrite-older") for first in ("append", "equality-delete", "position-delete", "delete")),
    *((2, first, "sort-order") for first in ("append", "schema", "sort-order", "spec")),
    *((2, first, "tag") for first in ("append", "tag", "expire")),
    *((2, first, "rollback") for first in ("append", "rollback", "expire")),
    *((2, first, "remove-ref") for first in ("append", "append-to-branch", "remove-ref", "expire")),
    *((2, first, "expire") for first in ("append", "append-to-branch", "rewrite", "remove-ref", "tag", "expire")),
    *((2, first, "statistics") for first in ("append", "rewrite", "expire", "statistics", "rollback")),
    *((2, "expire", second) for second in ("append", "delete", "rewrite", "schema", "position-delete")),
    *((2, "rollback", second) for second in ("append", "overwrite-serializable", "rewrite")),
    *((3, first, "schema") for first in ("append", "schema")),
    *((3, first, "properties") for first in ("append", "properties")),
    *((3, first, "equality-delete") for first in ("append", "rewrite")),
    *((3, "equality-delete", second) for second in ("append", "rewrite")),
    *((3, "expire", second) for second in ("append", "position-delete")),
)
"""Further pairs."""


def race(first: Change, second: Change) -> list[Change]:
    """Two writers load one table; the second commits after the first."""
    return [
        {"writer": "a", "do": "load"},
        {"writer": "b", "do": "load"},
        {"writer": "a", "do": "stage", "change": first},
        {"writer": "b", "do": "stage", "change": second},
        {"writer": "a", "do": "commit"},
        {"writer": "b", "do": "commit"},
    ]


def case(
    name: str,
    codes: tuple[str, ...],
    version: int,
    log: list[Change],
    note: str,
    *,
    lost: tuple[int, ...] = (),
    begins: list[Change] | None = None,
    partitioned_by: str = "part",
    table: PlanTable | None = None,
) -> Vector:
    """A vector, with every outcome that the text permits.

    A table that is there has the files of `LISTED`; where ``version`` is higher than its own, it is upgraded.
    """
    numbered = [dict(step) for step in log]
    for number in lost:
        numbered[number]["reply"] = "lost"
    begins = base(version) if begins is None else begins
    created = version if table is None else table.version
    if version > created:
        begins = [*({"op": "upgrade", "version": one} for one in range(created + 1, version + 1)), *begins]
    args = {"format_version": created, "base": begins, "log": numbered}
    if partitioned_by != "part":
        args["partitioned_by"] = partitioned_by
    if table is not None:
        args["table"] = table.location
    there = [*LISTED, *begins] if table is not None else begins
    expect = any_of(*(ok(one) for one in replayed(created, there, log, partitioned_by)))
    codes = tuple(code for code in {*codes, "OCC001", "OCC003", "OCC005"} if version > 1 or not code.startswith("SEQ"))
    open_ = ("E26",) if "any_of" in expect else ()
    return Vector(f"commit-{name}-v{version}", codes, args, expect, ORIGIN, note, open_, (version,))


def _pairs() -> Iterator[Vector]:
    seen = set()
    systematic = ((v, a, b) for v, names in PAIRS.items() for a, b in itertools.product(names, repeat=2))
    for version, first, second in (*systematic, *FURTHER):
        if (version, first, second) in seen:
            continue
        seen.add((version, first, second))
        log = race(changes(version, "a")[first], changes(version, "b")[second])
        codes: tuple[str, ...] = (RULES[second], "OCC005")
        if version > 1:
            codes = (*codes, "SEQ001")
        if version > 2:
            codes = (*codes, "LIN023", "LIN028")
        yield case(
            f"{first}-then-{second}", codes, version, log, f"{second} is planned before {first} and committed after"
        )


def _step(writer: str, do: str, change: Change | None = None) -> Change:
    return {"writer": writer, "do": do, **({"change": change} if change else {})}


def _logs() -> Iterator[Vector]:
    """Logs of more steps than a pair."""
    for version in (1, 2, 3):
        a, b, c = (changes(version, writer) for writer in "abc")
        both = [_step(w, "load") for w in "abc"]
        staged = [_step(w, "stage", of["append"]) for w, of in zip("abc", (a, b, c), strict=True)]
        for order in ("abc", "cba", "bca"):
            log = [*both, *staged, *(_step(w, "commit") for w in order)]
            yield case(
                f"three-appends-{order}",
                ("OCC006", "SEQ004"),
                version,
                log,
                "the last has to try again twice, each time with a new manifest list",
            )
        log = [
            _step("b", "load"),
            _step("b", "stage", b["append"]),
            *(
                step
                for number in range(3)
                for step in (
                    _step("a", "load"),
                    _step("a", "stage", {"op": "append", "files": [file(f"a-{number}")]}),
                    _step("a", "commit"),
                )
            ),
            _step("b", "commit"),
        ]
        yield case(
            "append-on-an-old-table", ("OCC006", "SEQ001"), version, log, "others have committed three times since then"
        )
        log = [
            _step("a", "load"),
            _step("a", "stage", a["delete"]),
            _step("a", "commit"),
            _step("b", "load"),
            _step("b", "stage", {"op": "delete", "remove": ["f2"]}),
            _step("b", "commit"),
        ]
        yield case(
            "one-after-the-other", ("OCC008",), version, log, "there is no conflict after the table is loaded again"
        )
        log = [
            _step("a", "load"),
            _step("a", "stage", a["overwrite"]),
            _step("a", "commit"),
            _step("b", "load"),
            _step("b", "stage", {"op": "append", "files": [file("f1")]}),
            _step("b", "commit"),
        ]
        yield case(
            "removed-file-added-again",
            ("OCC006", "MAN011"),
            version,
            log,
            "an entry of a file that was deleted is not a file of the table",
        )
        log = [
            *race(a["delete"], b["rewrite"]),
            _step("b", "load"),
            _step("b", "stage", {"op": "rewrite", "files": [file("b-again")], "remove": ["f2"]}),
            _step("b", "commit"),
        ]
        yield case(
            "rewrite-planned-anew", ("OCC007",), version, log, "a plan on the new table works after the conflict"
        )
        log = [
            *race(a["schema"], b["schema"]),
            _step("b", "load"),
            _step("b", "stage", b["schema"]),
            _step("b", "commit"),
        ]
        yield case("schema-planned-anew", ("OCC009",), version, log, "the second schema change works on the new schema")
        log = [
            *(_step(w, "load") for w in "ab"),
            _step("a", "stage", {"op": "branch", "name": "same", "at": 1}),
            _step("b", "stage", {"op": "branch", "name": "same", "at": 2}),
            _step("a", "commit"),
            _step("b", "commit"),
        ]
        yield case("same-branch-twice", ("REF007",), version, log, "the second does not move the branch of the first")
        log = [
            *(_step(w, "load") for w in "ab"),
            _step("a", "stage", {"op": "properties", "set": {"race.x": "1", "race.y": "1"}}),
            _step("b", "stage", {"op": "properties", "set": {"race.x": "2"}, "remove": ["race.y"]}),
            _step("a", "commit"),
            _step("b", "commit"),
        ]
        yield case("same-property", ("OCC003",), version, log, "the later commit wins, and removes what the first set")
        log = [
            *(_step(w, "load") for w in "abc"),
            _step("a", "stage", a["append-to-branch"]),
            _step("b", "stage", b["append"]),
            _step("c", "stage", c["append-to-branch"]),
            *(_step(w, "commit") for w in "abc"),
        ]
        yield case(
            "two-branches",
            ("LIN030" if version > 2 else "OCC006", "REF007"),
            version,
            log,
            "branches share the sequence numbers, and no branch moves another",
        )
    for version in (2, 3):
        a, b, c = (changes(version, writer) for writer in "abc")
        log = [
            *(_step(w, "load") for w in "abc"),
            _step("a", "stage", a["append"]),
            _step("b", "stage", b["rewrite"]),
            _step("c", "stage", c["equality-delete"]),
            *(_step(w, "commit") for w in "cba"),
        ]
        yield case(
            "rewrite-between-deletes-and-append",
            ("OCC007",),
            version,
            log,
            "the rewrite would bring back rows that were deleted since then",
        )
        over = {
            "op": "overwrite",
            "files": [file("b-over")],
            "remove": ["f2"],
            "isolation": "snapshot",
            "filter": {"part": "a"},
        }
        yield case(
            "rewrite-then-overwrite-of-another",
            ("OCC004",),
            version,
            race({"op": "rewrite", "files": [file("a-compact")], "remove": ["f1"]}, over),
            "a rewrite removes no rows, so a file that it replaced does not conflict with an overwrite of another file",
        )
        yield case(
            "position-delete-then-rewrite-of-another",
            ("OCC007",),
            version,
            race(a["position-delete"], {"op": "rewrite", "files": [file("b-compact")], "remove": ["f2"]}),
            "the deletes are of another file than the one that is rewritten",
        )
        log = [
            *(_step(w, "load") for w in "ab"),
            _step("a", "stage", {**a["position-delete"], "isolation": "snapshot", "filter": {"part": "a"}}),
            _step(
                "b",
                "stage",
                {
                    "op": "row-delta",
                    "deletes": [deletes("b-pos", "vector" if version > 2 else "position", of="f2")],
                    "files": [file("b-updated", rows=1)],
                    "referenced": ["f2"],
                    "isolation": "snapshot",
                    "filter": {"part": "a"},
                },
            ),
            _step("a", "commit"),
            _step("b", "commit"),
        ]
        yield case(
            "deletes-of-two-files-of-one-partition",
            ("OCC004",),
            version,
            log,
            "what may match is a conflict under snapshot isolation, by what the writer validates",
        )


def _kinds() -> Iterator[Vector]:
    """Deletes that the version of the table does not have."""
    for version, kind in ((1, "position"), (1, "equality"), (1, "vector"), (2, "vector"), (3, "position")):
        code = "DEL002" if version == 3 else "DEL001"
        change = {"op": "row-delta", "deletes": [deletes("a-new", kind, of=None if kind == "equality" else "f1")]}
        log = [_step("a", "load"), _step("a", "stage", change), _step("a", "commit")]
        yield case(f"{kind}-deletes", (code,), version, log, f"tables of version {version} take no {kind} deletes")


def _lost() -> Iterator[Vector]:
    """Commits whose answer is lost after they were done."""
    for version in (1, 2, 3):
        a, b = changes(version, "a"), changes(version, "b")
        for name in ("append", "delete", "rewrite", "schema", "properties", "expire"):
            log = [_step("a", "load"), _step("a", "stage", a[name]), _step("a", "commit")]
            yield case(
                f"lost-reply-{name}",
                (RULES[name],),
                version,
                log,
                lost=(2,),
                note="the answer to the swap is lost, and the commit is there once",
            )
        yield case(
            "lost-reply-then-append",
            ("OCC006",),
            version,
            race(a["append"], b["append"]),
            lost=(4,),
            note="the answer to the first commit is lost, and the second comes after it",
        )


def _alone(change: Change) -> list[Change]:
    """One writer."""
    return [_step("a", "load"), _step("a", "stage", change), _step("a", "commit")]


def _partitions() -> Iterator[Vector]:
    """Tables without partitions, and partitions of null and NaN."""
    kinds: tuple[tuple[str, str, str | None, str | None, tuple[int, ...]], ...] = (
        ("unpartitioned", "nothing", None, None, (1, 2, 3)),
        ("null", "part", None, "b", (1, 2, 3)),
        ("nan", "score", "NaN", "1.5", (1, 2, 3)),
    )
    for kind, by, part, other, versions in kinds:
        for version in versions:
            begins = [
                {"op": "fast-append", "files": [file("f1", part), file("f2", part)]},
                {"op": "fast-append", "files": [file("f3", other)]},
            ]
            position = "vector" if version > 2 else "position"
            made: dict[str, Change] = {
                "append": {"op": "fast-append", "files": [file("new", part)]},
                "append-elsewhere": {"op": "fast-append", "files": [file("elsewhere", other)]},
                "delete": {"op": "delete", "remove": ["f1"]},
                "rewrite": {"op": "rewrite", "files": [file("compact", part, 20)], "remove": ["f1", "f2"]},
                "overwrite": {"op": "overwrite", "files": [file("over", part)], "remove": ["f1"]},
            }
            if version > 1:
                made["equality-delete"] = {"op": "row-delta", "deletes": [deletes("eq", "equality", part)]}
                made["position-delete"] = {
                    "op": "row-delta",
                    "deletes": [deletes("pos", position, part, of="f1")],
                    "referenced": ["f1"],
                }
                made["rewrite-older"] = {
                    "op": "rewrite",
                    "files": [file("older", part)],
                    "remove": ["f1"],
                    "data_sequence_number": 1,
                }
            if other is not None:
                made["delete-where"] = {"op": "delete-where", "filter": {"part": part}}
                made["overwrite-serializable"] = {
                    "op": "overwrite",
                    "files": [file("serial", part)],
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
                        f"{second} is planned before {first} and committed after",
                        begins=begins,
                        partitioned_by=by,
                    )


PARTITION_RULES = {"unpartitioned": ("PAR016",), "null": ("DFL004",), "nan": ("DFL004",)}
"""What else the vectors turn on, by the kind of partition."""


def _specs() -> Iterator[Vector]:
    """Tables whose partition spec has changed: files and deletes of each spec."""
    for version in (1, 2, 3):
        begins: list[Change] = [
            {"op": "fast-append", "files": [file("f1"), file("f2")]},
            {"op": "spec", "remove": ["part"]},
            {"op": "fast-append", "files": [file("f3", None, spec=1)]},
        ]
        buckets = {"op": "spec", "transform": "bucket[4]", "source": "id", "name": "bucket"}
        new = {"op": "fast-append", "files": [file("new", None, spec=1)]}
        old = {"op": "fast-append", "files": [file("old")]}
        both = {"op": "fast-append", "files": [file("old"), file("new", None, spec=1)]}
        rewrite = {"op": "rewrite", "files": [file("compact")], "remove": ["f1"]}
        across = {"op": "rewrite", "files": [file("across", None, 20, spec=1)], "remove": ["f1", "f3"]}
        logs: list[tuple[str, tuple[str, ...], list[Change], str]] = [
            ("append-to-an-old-spec", ("MLS005",), _alone(old), "a file of a spec that is not the default one"),
            ("append-to-two-specs", ("MLS005",), _alone(both), "one manifest for each partition spec"),
            (
                "spec-then-append",
                ("OCC006", "MLS005"),
                race(buckets, new),
                "the file stays of the spec that it was planned for",
            ),
            ("append-then-spec", ("OCC009",), race(new, buckets), "files do not touch a change of the spec"),
            ("append-then-rewrite", ("OCC007",), race(new, rewrite), "new files are nothing to a rewrite"),
            (
                "rewrite-then-delete",
                ("OCC008",),
                race(across, {"op": "delete", "remove": ["f3"]}),
                "the file is gone that was rewritten into another spec",
            ),
            (
                "delete-then-rewrite",
                ("OCC007",),
                race({"op": "delete", "remove": ["f3"]}, across),
                "one of the files to rewrite is gone",
            ),
        ]
        if version > 1:
            everywhere = {"op": "row-delta", "deletes": [deletes("eq", "equality", None, spec=1)]}
            in_a = {"op": "row-delta", "deletes": [deletes("eq", "equality")]}
            of_new = {"op": "rewrite", "files": [file("compact", None, spec=1)], "remove": ["f3"]}
            logs += [
                (
                    "global-delete-then-rewrite",
                    ("OCC007", "SCN011"),
                    race(everywhere, rewrite),
                    "equality deletes of an unpartitioned spec are of all data files",
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
            yield case(f"specs-{name}", codes, version, log, note, begins=begins)


def _tags() -> Iterator[Vector]:
    """Tags, which label one snapshot."""
    for version in (1, 2, 3):
        begins = [*base(version), {"op": "tag", "name": "label", "at": 1}]
        to_tag = {"op": "fast-append", "files": [file("tagged")], "branch": "label"}
        drop = {"op": "remove-ref", "name": "label"}
        append = {"op": "append", "files": [file("new")]}
        for name, log, note in (
            ("append-to-a-tag", _alone(to_tag), "no snapshot is committed to a tag"),
            ("append-then-append-to-a-tag", race(append, to_tag), "no snapshot is committed to a tag"),
            ("append-beside-a-tag", race(append, drop), "removing a tag does not conflict with an append"),
            ("remove-a-tag-then-append", race(drop, append), "removing a tag does not conflict with an append"),
            ("expire-beside-a-tag", race(append, {"op": "expire"}), "the snapshot of a tag stays"),
        ):
            yield case(f"tags-{name}", ("REF008", "REF002"), version, log, note, begins=begins)


LISTED: list[Change] = [
    {"op": "fast-append", "files": [file("f1"), file("f2")]},
    {"op": "fast-append", "files": [file("f3", "b")]},
]
"""What the two snapshots of the table without counts have added."""

BY_PART = Spec(0, ((2, 1000, "part", "identity", "string"),))
COLUMNS = (
    {"id": 1, "name": "id", "required": True, "type": "long"},
    {"id": 2, "name": "part", "required": False, "type": "string"},
)
RETRIES = {"commit.retry.num-retries": "4", "commit.retry.min-wait-ms": "1", "commit.retry.max-wait-ms": "2"}


def without_counts() -> PlanTable:
    """A table of v1 whose manifest lists have only the columns that v1 requires."""
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
    """The tables that races begin with."""
    yield without_counts()


def _lists_without_counts() -> Iterator[Vector]:
    """A table of v1 whose manifest lists have no counts, and the same table after it was upgraded."""
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
        logs = [(name, RULES[name], _alone(a[name]), f"{name} on a table whose lists have no counts") for name in alone]
        logs += [
            (
                f"{first}-then-{second}",
                RULES[second],
                race(a[first], b[second]),
                f"{second} is planned before {first} and committed after",
            )
            for first, second in pairs
        ]
        codes = COUNTS if version < 3 else (*COUNTS, "LIN009", "LIN015", "LIN028")
        for name, rule, log, note in logs:
            yield case(f"without-counts-{name}", (rule, *codes), version, log, note, begins=begins, table=table)


COUNTS = ("MLS010", "MLS011", "MLS013", "MLS014")
"""Counts that are null in lists of v1, and required from v2."""


def files() -> Iterator[VectorFile]:
    """The vector files."""

    def of(topic: str, vectors: Iterable[Vector]) -> VectorFile:
        return VectorFile(f"commits/{topic}.json", "commit.replay", SECTION, tuple(vectors))

    yield of("pairs", _pairs())
    yield of("logs", _logs())
    yield of("kinds-of-deletes", _kinds())
    yield of("lost-replies", _lost())
    yield of("partitions", _partitions())
    yield of("specs", _specs())
    yield of("tags", _tags())
    yield of("lists-without-counts", _lists_without_counts())
