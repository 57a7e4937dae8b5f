"""The outcome of a log of loads, stages and commits by the text: a model of tables as plain dictionaries.

A writer plans (``stage``) a change on the table that it loaded, and later commits it to the current table. The text
says what each change relies on; where it leaves open whether a writer fails or continues, both outcomes are followed.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

Change = dict[str, Any]
Table = dict[str, Any]

COMMITTED, CONFLICT = "committed", "conflict"

PARTITIONED_BY = {"part": ["part"], "score": ["score"], "nothing": []}
"""The fields of the first partition spec, by the name of the partitioning."""


def new_table(version: int, partitioned_by: str = "part") -> Table:
    """Return an empty table, with one partition spec."""
    return {
        "version": version,
        "sequence": 0,
        "columns": ["id", "part", *(["score"] if partitioned_by == "score" else [])],
        "schema_changes": 0,
        "specs": [{"fields": PARTITIONED_BY[partitioned_by], "values": PARTITIONED_BY[partitioned_by]}],
        "spec_changes": 0,
        "sort": [],
        "properties": {},
        "snapshots": {},
        "made": 0,
        "refs": {},
        "statistics": [],
    }


def _head(table: Table, branch: str) -> dict[str, Any] | None:
    ref = table["refs"].get(branch) or table["refs"].get("main")
    return table["snapshots"].get(ref["snapshot"]) if ref else None


def _ancestors(table: Table, snapshot: int | None) -> Iterator[int]:
    while snapshot is not None and snapshot in table["snapshots"]:
        yield snapshot
        snapshot = table["snapshots"][snapshot]["parent"]


def _snapshots_since(change: Change, planned: Table, current: Table) -> list[dict[str, Any]]:
    """Return the snapshots of the branch that were committed after the change was planned."""
    branch = change.get("branch", "main")
    before, now = _head(planned, branch), _head(current, branch)
    known = set() if before is None else set(_ancestors(planned, before["id"]))
    return [current["snapshots"][one] for one in (_ancestors(current, now["id"]) if now else ()) if one not in known]


def _has_planned_snapshot(change: Change, planned: Table, current: Table) -> bool:
    """Return whether the current branch contains the snapshot that the change was planned on."""
    branch = change.get("branch", "main")
    before, now = _head(planned, branch), _head(current, branch)
    return before is None or (now is not None and before["id"] in _ancestors(current, now["id"]))


def _matches(change: Change, file: dict[str, Any]) -> bool:
    """Return whether rows of a file may match the filter of a change, which is a partition of the first spec."""
    return "filter" not in change or file["spec"] > 0 or file["part"] == change["filter"]["part"]


def _may_delete(table: Table, delete: dict[str, Any], name: str, data: dict[str, Any]) -> bool:
    """Return whether a newer delete file may apply to a data file: by its name, by its partition, or to all files."""
    if delete["of"] is not None:
        return bool(delete["of"] == name)
    if delete["kind"] == "equality" and not table["specs"][delete["spec"]]["values"]:
        return True
    return all(delete[what] == data[what] for what in ("spec", "part", "bucket"))


def _is_valid(change: Change, planned: Table, current: Table) -> bool:
    """Return whether a change conflicts with no commit since it was planned."""
    head = _head(current, change.get("branch", "main"))
    live = head["files"] if head else {}
    removed = [*change.get("remove", ()), *change.get("remove_deletes", ())]
    if any(name not in live for name in removed) or any(name not in live for name in change.get("referenced", ())):
        return False
    since = _snapshots_since(change, planned, current)
    isolation = change.get("isolation")
    for snapshot in since:
        for name in snapshot["added"]:
            file = snapshot["files"][name]
            is_data = file["kind"] == "data"
            if isolation == "serializable" and is_data and snapshot["op"] != "replace" and _matches(change, file):
                return False
            if isolation and not is_data and _matches(change, file):
                return False
            if change["op"] == "rewrite" and not is_data:
                kept = change.get("data_sequence_number") is not None and file["kind"] == "equality"
                if not kept and any(_may_delete(current, file, one, live[one]) for one in change["remove"]):
                    return False
    if current["version"] > 2 and any(file["kind"] == "position" for file in change.get("deletes", ())):
        return False  # v3 does not allow new position delete files
    if current["version"] < 3 and any(file["kind"] == "vector" for file in change.get("deletes", ())):
        return False  # v3 added deletion vectors
    if current["version"] < 2 and change.get("deletes"):
        return False  # v2 added deletes
    vectors = {file["of"] for file in change.get("deletes", ()) if file["kind"] == "vector"}
    return not any(
        file["kind"] == "vector" and file["of"] in vectors and name not in removed for name, file in live.items()
    )


def _has_concurrent_removal(change: Change, planned: Table, current: Table) -> bool:
    """Return whether other commits removed data files that match the filter of a change with an isolation level."""
    return "isolation" in change and any(
        file["kind"] == "data" and _matches(change, file)
        for snapshot in _snapshots_since(change, planned, current)
        if snapshot["op"] != "replace"
        for file in snapshot["removed"]
    )


def _has_new_equality_deletes(change: Change, planned: Table, current: Table) -> bool:
    """Return whether other commits added any equality deletes after the change was planned."""
    return any(
        snapshot["files"][name]["kind"] == "equality"
        for snapshot in _snapshots_since(change, planned, current)
        for name in snapshot["added"]
    )


def _has_newly_assigned_row_ids(change: Change, planned: Table, current: Table) -> bool:
    """Return whether the first snapshot of v3, committed after the change was planned, assigned ids to rewritten rows.

    Rewritten rows keep their ids (LIN009), but a writer that planned before the ids were assigned has not written them.
    A log does not show the content of files.
    """
    branch = change.get("branch", "main")
    before, now = _head(planned, branch), _head(current, branch)
    rewritten = bool(change.get("remove") and change.get("files"))
    return rewritten and before is not None and now is not None and before["version"] < 3 <= now["version"]


def _live(change: Change, table: Table) -> set[str]:
    head = _head(table, change.get("branch", "main"))
    return set(head["files"]) if head else set()


def _snapshot(change: Change, current: Table, *, with_deletes: bool = False, only: set[str] | None = None) -> Table:
    table = copy.deepcopy(current)
    branch = change.get("branch", "main")
    head = _head(table, branch)
    files = dict(head["files"]) if head else {}
    table["made"] += 1
    if table["version"] > 1:
        table["sequence"] += 1
    gone = [*change.get("remove", ()), *change.get("remove_deletes", ())]
    if change["op"] == "delete-where":
        gone = [
            name for name, file in files.items() if (with_deletes or file["kind"] == "data") and _matches(change, file)
        ]
        gone = [name for name in gone if only is None or name in only]
    gone += [
        name for name, file in files.items() if file["kind"] == "vector" and file["of"] in gone and name not in gone
    ]
    removed = [files.pop(name) for name in gone]
    added = [*change.get("files", ()), *change.get("deletes", ())]
    for file in added:
        number = change.get("data_sequence_number")
        is_data = file.get("kind", "data") == "data"
        files[file["name"]] = {
            "kind": file.get("kind", "data"),
            "part": file["part"],
            "of": file.get("of"),
            "spec": file.get("spec", 0),
            "bucket": file.get("bucket"),
            "number": number if number is not None and is_data else table["sequence"],
            "rows": file["rows"],
        }
    snapshot = {
        "id": table["made"],
        "parent": head["id"] if head else None,
        "op": _operation(change),
        "files": files,
        "added": [file["name"] for file in added],
        "removed": removed,
        "number": table["sequence"],
        "version": table["version"],
    }
    table["snapshots"][snapshot["id"]] = snapshot
    table["refs"][branch] = {"type": "branch", "snapshot": snapshot["id"]}
    return table


def _operation(change: Change) -> str:
    fixed = {
        "append": "append",
        "fast-append": "append",
        "rewrite": "replace",
        "delete": "delete",
        "delete-where": "delete",
        "overwrite": "overwrite",
    }
    if change["op"] in fixed:
        return fixed[change["op"]]
    data, deletes = bool(change.get("files")), bool(change.get("deletes") or change.get("remove_deletes"))
    return "overwrite" if data and deletes else "delete" if deletes else "append"


def _next_spec(current: Table, change: Change) -> dict[str, list[str]]:
    """Return the spec with one more field, or without some; v1 replaces those by void fields."""
    before = current["specs"][-1]
    if "name" in change:
        return {what: [*names, change["name"]] for what, names in before.items()}
    left = {what: [name for name in names if name not in change["remove"]] for what, names in before.items()}
    return {**left, "fields": before["fields"]} if current["version"] == 1 else left


def _with(current: Table, **changes: Any) -> Table:
    return {**copy.deepcopy(current), **changes}


def _without(current: Table, expired: set[int]) -> Table:
    snapshots = {one: snapshot for one, snapshot in current["snapshots"].items() if one not in expired}
    return _with(current, snapshots=snapshots, statistics=[one for one in current["statistics"] if one not in expired])


def outcomes(change: Change, planned: Table, current: Table) -> list[tuple[str, Table]]:
    """Return the possible outcomes of committing a change; the one that the text suggests is first.

    Args:
        change: the change.
        planned: the table that it was planned on.
        current: the current table.
    """
    lost = (CONFLICT, current)
    done: tuple[str, Table]
    moved = planned != current
    ref = current["refs"].get(change.get("branch"))
    if ref is not None and ref["type"] == "tag":
        return [lost]  # a tag labels one snapshot
    match change["op"]:
        case "append" | "fast-append":
            return [(COMMITTED, _snapshot(change, current))]
        case "delete-where":
            # The deletes of a partition may be removed with all its data files, as they no longer apply to anything.
            tables = [_snapshot(change, current), _snapshot(change, current, with_deletes=True)]
            committed = [(COMMITTED, table) for table in tables]
            if not _snapshots_since(change, planned, current):
                return committed
            # A writer may validate more, or delete only the rows that existed when it planned.
            return [*committed, (COMMITTED, _snapshot(change, current, only=_live(change, planned))), lost]
        case "overwrite" | "delete" | "rewrite" | "row-delta":
            if not _is_valid(change, planned, current):
                return [lost]
            done = COMMITTED, _snapshot(change, current)
            if _has_newly_assigned_row_ids(change, planned, current):
                return [lost, done]
            if _has_concurrent_removal(change, planned, current):
                return [lost, done]  # the removed files are not overwritten, but a writer may validate that, too
            if change["op"] == "rewrite" and _has_new_equality_deletes(change, planned, current):
                return [
                    done,
                    lost,
                ]  # the deletes keep applying, or apply to other files, but a writer may validate that, too
            # If the branch was rolled back, a writer may not know what happened after that.
            return [done] if _has_planned_snapshot(change, planned, current) else [done, lost]
        case "schema":
            if planned["schema_changes"] != current["schema_changes"]:
                return [lost]
            columns = [*current["columns"], change["add"]]
            done = COMMITTED, _with(current, columns=columns, schema_changes=current["schema_changes"] + 1)
        case "spec":
            if planned["schema_changes"] != current["schema_changes"]:
                return [lost]
            specs = [*current["specs"], _next_spec(current, change)]
            done = COMMITTED, _with(current, specs=specs, spec_changes=current["spec_changes"] + 1)
            if planned["spec_changes"] != current["spec_changes"]:
                return [lost, done]
        case "sort-order":
            done = COMMITTED, _with(current, sort=[change["by"]])
            if planned["schema_changes"] != current["schema_changes"] or planned["sort"] != current["sort"]:
                return [lost, done]
        case "properties":
            kept = {
                name: value for name, value in current["properties"].items() if name not in change.get("remove", ())
            }
            return [(COMMITTED, _with(current, properties={**kept, **change.get("set", {})}))]
        case "branch" | "tag":
            if change["name"] in current["refs"] or change["at"] not in current["snapshots"]:
                return [lost]
            ref = {"type": change["op"], "snapshot": change["at"]}
            done = COMMITTED, _with(current, refs={**current["refs"], change["name"]: ref})
        case "remove-ref":
            if planned["refs"].get(change["name"]) != current["refs"].get(change["name"]):
                refs = {name: ref for name, ref in current["refs"].items() if name != change["name"]}
                gone = change["name"] not in current["refs"]
                return [lost] if gone else [lost, (COMMITTED, _with(current, refs=refs))]
            refs = {name: ref for name, ref in current["refs"].items() if name != change["name"]}
            done = COMMITTED, _with(current, refs=refs)
        case "rollback":
            if change["to"] not in current["snapshots"]:
                return [lost]
            refs = {**current["refs"], "main": {"type": "branch", "snapshot": change["to"]}}
            done = COMMITTED, _with(current, refs=refs)
            if planned["refs"].get("main") != current["refs"].get("main"):
                return [lost, done]
        case "statistics":
            done = COMMITTED, _with(current, statistics=sorted({*current["statistics"], change["at"]}))
            if change["at"] not in current["snapshots"]:
                return [lost, done]
        case "expire":
            # A writer may choose the snapshots when it plans the change or when it commits, and need not expire any.
            named = {ref["snapshot"] for ref in current["refs"].values()}
            known = set(planned["snapshots"]) - {ref["snapshot"] for ref in planned["refs"].values()}
            return [
                (COMMITTED, _without(current, set(current["snapshots"]) - named)),
                (COMMITTED, _without(current, known - named)),
            ]
        case "upgrade":
            return [(COMMITTED, _with(current, version=max(change["version"], current["version"])))]
        case _:
            message = f"no such change: {change['op']}"
            raise ValueError(message)
    # A writer may also give up because others have changed the table: the text permits retries, but does not say
    # how often.
    return [done, lost] if moved else [done]


def answer(table: Table, ended: list[str]) -> dict[str, Any]:
    """Return the answer to a log: the outcome of each commit, and the final table."""
    refs = {}
    for name, ref in table["refs"].items():
        snapshot = table["snapshots"][ref["snapshot"]]
        line = [table["snapshots"][one]["op"] for one in _ancestors(table, snapshot["id"])]
        files = {name: str(file["number"]) for name, file in sorted(snapshot["files"].items())}
        refs[name] = {"type": ref["type"], "operations": line[::-1], "files": files}
    return {
        "outcomes": ended,
        "table": {
            "format-version": table["version"],
            "last-sequence-number": str(table["sequence"]),
            "columns": table["columns"],
            "spec": table["specs"][-1]["fields"],
            "sort": table["sort"],
            "properties": dict(sorted(table["properties"].items())),
            "refs": dict(sorted(refs.items())),
            "statistics": sorted(table["statistics"]),
            "snapshots": len(table["snapshots"]),
            "row-ids": "disjoint" if any(_has_row_ids(table, ref) for ref in table["refs"].values()) else "none",
        },
    }


def _has_row_ids(table: Table, ref: dict[str, Any]) -> bool:
    """Return whether the rows of a branch or tag have ids: snapshots from before v3 assigned none."""
    has_ids: bool = table["snapshots"][ref["snapshot"]]["version"] > 2
    return has_ids


def replay(
    version: int, base: list[Change], log: list[dict[str, Any]], partitioned_by: str = "part"
) -> list[dict[str, Any]]:
    """Return every answer to a log that the text permits; the one that it suggests is first.

    Args:
        version: the format version of the table.
        base: changes that are committed before the log, in order.
        log: the steps: ``{"writer": w, "do": "load"}``, ``{..., "do": "stage", "change": c}`` or
            ``{..., "do": "commit"}``.
        partitioned_by: the initial partitioning: ``part``, ``score`` or ``nothing``.
    """
    table = new_table(version, partitioned_by)
    for change in base:
        ((ended, table),) = outcomes(change, table, table)
        if ended != COMMITTED:
            message = f"the base refuses {change}"
            raise ValueError(message)
    found: list[dict[str, Any]] = []
    _follow(log, 0, table, {}, {}, [], found)
    return found


def _follow(
    log: list[dict[str, Any]],
    number: int,
    table: Table,
    loaded: dict[str, Table],
    staged: dict[str, Any],
    ended: list[str],
    found: list[dict[str, Any]],
) -> None:
    if number == len(log):
        one = answer(table, ended)
        if one not in found:
            found.append(one)
        return
    step = log[number]
    writer = step["writer"]
    if step["do"] == "load":
        _follow(log, number + 1, table, {**loaded, writer: table}, staged, ended, found)
    elif step["do"] == "stage":
        _follow(log, number + 1, table, loaded, {**staged, writer: (step["change"], loaded[writer])}, ended, found)
    else:
        change, planned = staged[writer]
        for outcome, after in outcomes(change, planned, table):
            handles = {**loaded, writer: after if outcome == COMMITTED else loaded[writer]}
            _follow(log, number + 1, after, handles, staged, [*ended, outcome], found)
