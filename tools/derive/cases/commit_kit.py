"""Building blocks of race vectors: the changes of writers, the steps of a log, and the vector of a log."""

from __future__ import annotations

from typing import Any

from tools.derive.commits import replay
from tools.derive.planning import PlanTable
from tools.derive.vector import Vector, any_of, ok

ORIGIN = "derivation: tools/derive/commits.py follows the log by the text"


Change = dict[str, Any]


def data_file(name: str, part: str | None = "a", rows: int = 10, **place: int) -> Change:
    """Return a data file; ``place`` has the spec and bucket of a file that does not belong to the first spec."""
    return {"name": name, "part": part, "rows": rows, **place}


def delete_file(name: str, kind: str, part: str | None = "a", of: str | None = None, **place: int) -> Change:
    """Return a delete file, or a deletion vector."""
    made = {"name": name, "kind": kind, "part": part, "rows": 1, **place}
    return {**made, "of": of} if of else made


def base(version: int) -> list[Change]:
    """Return the changes that add two data files to one partition and one to another, and create a branch."""
    return [
        {"op": "fast-append", "files": [data_file("f1"), data_file("f2")]},
        {"op": "fast-append", "files": [data_file("f3", "b")]},
        {"op": "branch", "name": "audit", "at": 1},
    ]


def changes(version: int, writer: str) -> dict[str, Change]:
    """Return one change of each kind, by name; each writer uses different file names."""
    made: dict[str, Change] = {
        "append": {"op": "append", "files": [data_file(f"{writer}-new")]},
        "append-elsewhere": {"op": "fast-append", "files": [data_file(f"{writer}-b", "b")]},
        "append-to-branch": {"op": "fast-append", "files": [data_file(f"{writer}-branch")], "branch": "audit"},
        "overwrite": {"op": "overwrite", "files": [data_file(f"{writer}-over")], "remove": ["f1"]},
        "overwrite-serializable": {
            "op": "overwrite",
            "files": [data_file(f"{writer}-serial")],
            "remove": ["f2"],
            "isolation": "serializable",
            "filter": {"part": "a"},
        },
        "overwrite-snapshot": {
            "op": "overwrite",
            "files": [data_file(f"{writer}-snap")],
            "remove": ["f2"],
            "isolation": "snapshot",
            "filter": {"part": "a"},
        },
        "delete": {"op": "delete", "remove": ["f1"]},
        "delete-where": {"op": "delete-where", "filter": {"part": "a"}},
        "rewrite": {"op": "rewrite", "files": [data_file(f"{writer}-compact", rows=20)], "remove": ["f1", "f2"]},
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
        made["equality-delete"] = {"op": "row-delta", "deletes": [delete_file(f"{writer}-eq", "equality")]}
        kind = "vector" if version > 2 else "position"
        made["position-delete"] = {
            "op": "row-delta",
            "deletes": [delete_file(f"{writer}-pos", kind, of="f1")],
            "referenced": ["f1"],
        }
        made["rewrite-older"] = {
            "op": "rewrite",
            "files": [data_file(f"{writer}-older")],
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
"""The requirement that decides the outcome of the second of two commits."""


def race(*changes: Change, order: str = "") -> list[Change]:
    """Return the log of writers a, b and so on: each stages a change, then they commit in ``order``, or this order."""
    writers = "abc"[: len(changes)]
    return [
        *(step(writer, "load") for writer in writers),
        *(step(writer, "stage", change) for writer, change in zip(writers, changes, strict=True)),
        *(step(writer, "commit") for writer in order or writers),
    ]


def planned_note(first: str, second: str) -> str:
    """Return the note of a race of two changes."""
    if first == second:
        return f"a second `{second}` is planned before the first and committed after it"
    return f"`{second}` is planned before `{first}` and committed after it"


def case(
    name: str,
    codes: tuple[str, ...],
    version: int,
    log: list[Change],
    note: str,
    *,
    lost_replies: tuple[int, ...] = (),
    initial_changes: list[Change] | None = None,
    partitioned_by: str = "part",
    table: PlanTable | None = None,
) -> Vector:
    """Return a vector, with every outcome that the text permits.

    An existing ``table`` has the files of `LISTED`; it is upgraded first if its version is lower than ``version``.
    """
    numbered = [dict(one) for one in log]
    for number in lost_replies:
        numbered[number]["reply"] = "lost"
    initial_changes = base(version) if initial_changes is None else initial_changes
    created = version if table is None else table.version
    if version > created:
        initial_changes = [
            *({"op": "upgrade", "version": one} for one in range(created + 1, version + 1)),
            *initial_changes,
        ]
    args = {"format_version": created, "base": initial_changes, "log": numbered}
    if partitioned_by != "part":
        args["partitioned_by"] = partitioned_by
    if table is not None:
        args["table"] = table.location
    there = [*LISTED, *initial_changes] if table is not None else initial_changes
    expect = any_of(*(ok(one) for one in replay(created, there, log, partitioned_by)))
    codes = tuple(code for code in {*codes, "OCC001", "OCC003", "OCC005"} if version > 1 or not code.startswith("SEQ"))
    if version > 2 and any(one.get("change", {}).get("files") for one in log):
        codes = (*codes, "LIN018")
    open_ = ("E26",) if "any_of" in expect else ()
    return Vector(f"commit-{name}-v{version}", codes, args, expect, ORIGIN, note, open_, (version,))


def step(writer: str, do: str, change: Change | None = None) -> Change:
    """Return a step of a log."""
    return {"writer": writer, "do": do, **({"change": change} if change else {})}


def load_stage_commit(writer: str, change: Change) -> list[Change]:
    """Return the log of a writer that loads the table, and stages and commits a change."""
    return [step(writer, "load"), step(writer, "stage", change), step(writer, "commit")]


LISTED: list[Change] = [
    {"op": "fast-append", "files": [data_file("f1"), data_file("f2")]},
    {"op": "fast-append", "files": [data_file("f3", "b")]},
]
"""The changes of the two snapshots of the table without counts."""
