"""Race vectors: logs of loads, stages and commits of several writers, and the outcomes that the text permits."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from tools.derive.cases import commit_tables
from tools.derive.cases.commit_kit import (
    RULES,
    Change,
    case,
    changes,
    data_file,
    delete_file,
    load_stage_commit,
    planned_note,
    race,
    step,
)
from tools.derive.vector import Vector, VectorFile

SECTION = "Commit Conflict Resolution and Retry"


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


VECTORS = {("position-delete", "delete"): ("DEL004",), ("position-delete", "position-delete"): ("DEL003",)}
"""The requirements about deletion vectors that decide the outcome of a pair in v3."""


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
            codes = (*codes, "LIN023", "LIN028", *VECTORS.get((first, second), ()))
        if "delete" in (first, second):
            codes = (*codes, "SNP016")
        yield case(f"{first}-then-{second}", codes, version, log, planned_note(first, second))


Log = tuple[str, tuple[str, ...], list[Change], str]


def _logs() -> Iterator[Vector]:
    """Yield cases of logs of more steps than a pair."""
    for version in (1, 2, 3):
        for name, codes, log, note in _make_logs(version, *(changes(version, writer) for writer in "abc")):
            yield case(name, codes, version, log, note)
    for version in (2, 3):
        for name, codes, log, note in _logs_with_deletes(version, *(changes(version, writer) for writer in "abc")):
            yield case(name, codes, version, log, note)


def _make_logs(version: int, a: dict[str, Change], b: dict[str, Change], c: dict[str, Change]) -> Iterator[Log]:
    for order in ("abc", "cba", "bca"):
        yield (
            f"three-appends-{order}",
            ("OCC006", "SEQ004"),
            race(*(one["append"] for one in (a, b, c)), order=order),
            "the last has to try again twice, each time with a new manifest list",
        )
    between = [load_stage_commit("a", {"op": "append", "files": [data_file(f"a-{number}")]}) for number in range(3)]
    yield (
        "append-on-an-old-table",
        ("OCC006", "SEQ001"),
        [step("b", "load"), step("b", "stage", b["append"]), *itertools.chain(*between), step("b", "commit")],
        "others have committed three times since then",
    )
    yield (
        "one-after-the-other",
        ("OCC008",),
        [*load_stage_commit("a", a["delete"]), *load_stage_commit("b", {"op": "delete", "remove": ["f2"]})],
        "there is no conflict after the table is loaded again",
    )
    yield (
        "removed-file-added-again",
        ("OCC006", "MAN011"),
        [
            *load_stage_commit("a", a["overwrite"]),
            *load_stage_commit("b", {"op": "append", "files": [data_file("f1")]}),
        ],
        "an entry of a file that was deleted is not a file of the table",
    )
    again = {"op": "rewrite", "files": [data_file("b-again")], "remove": ["f2"]}
    yield (
        "rewrite-planned-anew",
        ("OCC007",),
        [*race(a["delete"], b["rewrite"]), *load_stage_commit("b", again)],
        "a plan on the new table works after the conflict",
    )
    yield (
        "schema-planned-anew",
        ("OCC009",),
        [*race(a["schema"], b["schema"]), *load_stage_commit("b", b["schema"])],
        "the second schema change works on the new schema",
    )
    yield (
        "same-branch-twice",
        ("REF007",),
        race(*({"op": "branch", "name": "same", "at": at} for at in (1, 2))),
        "the second does not move the branch of the first",
    )
    yield (
        "same-property",
        ("OCC003",),
        race(
            {"op": "properties", "set": {"race.x": "1", "race.y": "1"}},
            {"op": "properties", "set": {"race.x": "2"}, "remove": ["race.y"]},
        ),
        "the later commit wins, and removes what the first set",
    )
    yield (
        "two-branches",
        ("LIN030" if version > 2 else "OCC006", "REF007"),
        race(a["append-to-branch"], b["append"], c["append-to-branch"]),
        "branches share the sequence numbers, and no branch moves another",
    )


def _logs_with_deletes(version: int, a: dict[str, Change], b: dict[str, Change], c: dict[str, Change]) -> Iterator[Log]:
    snapshot = {"isolation": "snapshot", "filter": {"part": "a"}}
    yield (
        "rewrite-between-deletes-and-append",
        ("OCC007",),
        race(a["append"], b["rewrite"], c["equality-delete"], order="cba"),
        "the rewrite would bring back rows that were deleted since then",
    )
    yield (
        "rewrite-then-overwrite-of-another",
        ("OCC004",),
        race(
            {"op": "rewrite", "files": [data_file("a-compact")], "remove": ["f1"]},
            {"op": "overwrite", "files": [data_file("b-over")], "remove": ["f2"], **snapshot},
        ),
        "a rewrite removes no rows, so a file that it replaced does not conflict with an overwrite of another file",
    )
    yield (
        "position-delete-then-rewrite-of-another",
        ("OCC007",),
        race(a["position-delete"], {"op": "rewrite", "files": [data_file("b-compact")], "remove": ["f2"]}),
        "the deletes are of a file other than the rewritten one",
    )
    of_f2 = {
        "op": "row-delta",
        "deletes": [delete_file("b-pos", "vector" if version > 2 else "position", of="f2")],
        "files": [data_file("b-updated", rows=1)],
        "referenced": ["f2"],
    }
    yield (
        "deletes-of-two-files-of-one-partition",
        ("OCC004",),
        race({**a["position-delete"], **snapshot}, {**of_f2, **snapshot}),
        "rows that may match are a conflict under snapshot isolation or not, depending on what the writer validates",
    )


def _kinds() -> Iterator[Vector]:
    """Yield cases of kinds of deletes that the format version does not have."""
    for version, kind in ((1, "position"), (1, "equality"), (1, "vector"), (2, "vector"), (3, "position")):
        code = "DEL002" if version == 3 else "DEL001"
        change = {"op": "row-delta", "deletes": [delete_file("a-new", kind, of=None if kind == "equality" else "f1")]}
        log = load_stage_commit("a", change)
        yield case(f"{kind}-deletes", (code,), version, log, f"tables of version {version} have no {kind} deletes")


def _lost_answers() -> Iterator[Vector]:
    """Yield cases of commits whose answer is lost after they were done."""
    for version in (1, 2, 3):
        a, b = changes(version, "a"), changes(version, "b")
        for name in ("append", "delete", "rewrite", "schema", "properties", "expire"):
            log = load_stage_commit("a", a[name])
            yield case(
                f"lost-reply-{name}",
                (RULES[name],),
                version,
                log,
                lost_replies=(2,),
                note="the answer to the swap is lost, and the commit is there once",
            )
        yield case(
            "lost-reply-then-append",
            ("OCC006",),
            version,
            race(a["append"], b["append"]),
            lost_replies=(4,),
            note="the answer to the first commit is lost, and the second comes after it",
        )


def files() -> Iterator[VectorFile]:
    """Derive the vector files."""

    def of(topic: str, vectors: Iterable[Vector]) -> VectorFile:
        return VectorFile(f"commits/{topic}.json", "commit.replay", SECTION, tuple(vectors))

    yield of("pairs", _pairs())
    yield of("logs", _logs())
    yield of("kinds-of-deletes", _kinds())
    yield of("lost-replies", _lost_answers())
    yield of("partitions", commit_tables.partitions())
    yield of("specs", commit_tables.specs())
    yield of("tags", commit_tables.tags())
    yield of("lists-without-counts", commit_tables.lists_without_counts())
