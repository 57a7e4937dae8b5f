"""The laws.

Each law is about the end of a script: its last operations are what the law speaks of, and all before them is any table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import frozen

from conformance.core.json_types import Json
from conformance.operations.writing.comparators import written_table
from conformance.properties.errors import Broken, NotSupported
from conformance.properties.harness import LAW, Harness, Reading, Row, agree
from conformance.properties.scenario_tables import OtherSchema, ScriptedTable, expected_rows
from conformance.properties.script_maker import MODES
from conformance.properties.scripts import Maker
from conformance.scripts.expected import expected_of

Ops = Sequence[dict[str, Json]]

REFERENCES = frozenset({"branch", "tag", "fast-forward", "rollback", "expire"})


@frozen
class Law:
    """A law."""

    name: str
    text: str
    """What holds, in one sentence."""

    end: Callable[[Maker], bool]
    """Adds the operations that the law is about to a script; False where none fits the table."""

    fits: Callable[[Ops], bool]
    """Whether a script ends as the law asks."""

    judge: Callable[[Harness, Ops], None]
    """Raises `Broken` where the law does not hold for a script."""

    avoid: frozenset[str] = frozenset()
    """What its scripts leave out."""


def _ends(*names: str) -> tuple[Callable[[Maker], bool], Callable[[Ops], bool]]:
    """A law about one last operation, of some kinds."""

    def end(maker: Maker) -> bool:
        able = [name for name in names if maker.may(name)]
        return bool(able) and maker.add(maker.draw.choice(able))

    return end, lambda operations: len(operations) > 1 and operations[-1]["op"] in names


def _any_script(_operations: Maker | Ops) -> bool:
    return True


def _nothing_changes(lab: Harness, operations: Ops) -> None:
    """Every head of the table is the same with and without the last operation."""
    before, after = lab.write(operations[:-1]), lab.write(operations)
    found = dict(lab.heads(after))
    for ref, reading in lab.heads(before):
        agree(reading, found[ref], f"{ref or 'the table'} after {operations[-1]['op']}")


def _two_appends(maker: Maker) -> bool:
    return all(_append_to_main(maker) for _ in range(2))


def _append_to_main(maker: Maker) -> bool:
    return maker.take({"op": "append", "rows": maker.rows()})


def _appends_commute(lab: Harness, operations: Ops) -> None:
    *base, first, second = operations
    one, other = lab.write(operations), lab.write([*base, second, first])
    agree(lab.read(one), lab.read(other), "the table with its last two appends in the other order")


def _ends_with_appends(operations: Ops) -> bool:
    last = operations[-2:]
    return len(operations) > 2 and all(one["op"] == "append" and "branch" not in one for one in last)


def _delete_is_difference(lab: Harness, operations: Ops) -> None:
    last, branch = operations[-1], operations[-1].get("branch")
    before = lab.read(lab.write(operations[:-1]), ref=branch)
    after = lab.read(lab.write(operations), ref=branch)
    if last["op"] == "delete":
        _, left = before.matching(last["filter"])
    else:
        left = [row for row in before.rows if not any(_equals(row, deleted) for deleted in last["rows"])]
    agree(before.only(left), after, f"the table after {last['op']}")


def _equals(row: Row, deleted: Row) -> bool:
    """Whether a row has the values of an equality delete; null is equal to null. They are compared as they are written,
    for which the values of scripts are canonical.
    """
    return all(row[name] == value for name, value in deleted.items())


def _time_travel(lab: Harness, operations: Ops) -> None:
    table = lab.write(operations)
    if not table.snapshots:
        raise NotSupported("it does not tell its snapshots")
    for index, state in enumerate(table.states):
        snapshot = table.snapshots[index]
        if state.changed and snapshot is None:
            raise Broken(LAW, f"there is no snapshot after operation {index}, {operations[index]['op']}")
        if state.changed and snapshot is not None and table.has_snapshot(snapshot):
            found = lab.read(table, snapshot=snapshot)
            what = f"the table at the snapshot of operation {index}, {operations[index]['op']}"
            try:
                rows = expected_rows(state.written, found.types)["rows"]
            except OtherSchema as error:
                raise Broken(LAW, f"{what}: {error}") from None
            agree(found.only(rows), found, what)


def _overwrite_is_delete_and_append(lab: Harness, operations: Ops) -> None:
    *base, last = operations
    branch = {"branch": last["branch"]} if "branch" in last else {}
    delete = {"op": "delete", "filter": last["filter"], "mode": MODES[0], **branch}
    append = {"op": "append", "rows": last["rows"], **branch}
    one, other = lab.write(operations), lab.write([*base, delete, append])
    ref = last.get("branch")
    agree(lab.read(other, ref=ref), lab.read(one, ref=ref), "the table after overwrite, beside delete and append")


def _rows_keep_their_ids(lab: Harness, operations: Ops) -> None:
    table, last = lab.write(operations), operations[-1]
    before, after = _around_last(lab, table)
    if before is None or after is None:
        return
    same = "_row_id"
    ids = [row[same] for row in after.rows]
    if len(set(ids)) < len(ids) or None in ids:
        raise Broken(LAW, f"after {last['op']}: row ids are {sorted(ids, key=str)}, and have to be there and different")
    match last["op"]:
        case "compact":
            agree(before, after, "rows and their row ids after compact")
        case "delete":
            agree(before.only(before.matching(last["filter"])[1]), after, "rows and their row ids after delete")
        case _:
            _updated(table, before, after, last)


def _updated(table: ScriptedTable, before: Reading, after: Reading, last: dict[str, Json]) -> None:
    """Rows that do not match keep all they have; those that match were updated by the snapshot."""
    _, kept = before.matching(last["filter"])
    ids = {row["_row_id"] for row in kept}
    agree(
        before.only(kept),
        after.only([row for row in after.rows if row["_row_id"] in ids]),
        "rows that update does not match, and their row ids",
    )
    snapshot = table.snapshots[-1]
    number = table.sequence_number(snapshot) if snapshot is not None else None
    for row in after.rows:
        if row["_row_id"] not in ids and row["_last_updated_sequence_number"] != str(number):
            found = row["_last_updated_sequence_number"]
            raise Broken(LAW, f"a row that update matches has the last update {found}, and its snapshot is {number}")


def _around_last(lab: Harness, table: ScriptedTable) -> tuple[Reading | None, Reading | None]:
    """Main before and after the last operation, in one table, as row ids are the table's to give."""
    if not table.snapshots:
        raise NotSupported("it does not tell its snapshots")
    earlier = [one for one in table.snapshots[:-1] if one is not None and table.has_snapshot(one)]
    last = table.snapshots[-1]
    if not earlier or last is None or last == earlier[-1]:
        return None, None
    return lab.read(table, snapshot=earlier[-1], lineage=True), lab.read(table, snapshot=last, lineage=True)


def _end_that_keeps_ids(maker: Maker) -> bool:
    """An append, so that there is a snapshot with the schema that the table has at the end, and what rewrites rows."""
    if not _append_to_main(maker):
        return False
    name = maker.draw.choice([one for one in ("compact", "delete", "update") if maker.may(one)] or ["compact"])
    if name == "compact":
        return maker.add(name)
    made: dict[str, Json] = {"op": name, "filter": maker.filter(), **maker.mode()}
    if name == "update":
        able = [one for one in maker.columns if one["name"] != "id" and one["type"] != "unknown"]
        if not able:
            return False
        row = maker.row()
        chosen = maker.draw.choice(able)["name"]
        made["set"] = {chosen: row[chosen]}
    return maker.take(made)


def _is_what_its_script_makes(lab: Harness, operations: Ops) -> None:
    table = lab.write(operations)
    place = str(table.metadata).rpartition("/metadata/")[0]
    answer = {"metadata": table.metadata, "snapshots": list(table.snapshots)}
    differences = written_table({"table": place}, expected_of(table.states), answer)
    if differences:
        raise Broken(LAW, "; ".join(map(str, differences[:3])))


_compaction, _is_compaction = _ends("compact", "rewrite-manifests")
_layout, _is_layout = _ends("alter-spec", "sort")
_deletion, _is_deletion = _ends("delete", "delete-equal")
_upgrade, _is_upgrade = _ends("upgrade")
_overwriting, _is_overwriting = _ends("overwrite")

_ANY_BUT_NEWEST = frozenset({"v3"})

LAWS: dict[str, Law] = {
    law.name: law
    for law in (
        Law("compaction-changes-nothing", "Files and manifests that are rewritten hold the rows that they held.",
            _compaction, _is_compaction, _nothing_changes),
        Law("layout-changes-nothing", "Another partition spec or sort order changes no row.",
            _layout, _is_layout, _nothing_changes),
        Law("upgrade-changes-nothing", "A table in a newer format version has the rows that it had.",
            _upgrade, _is_upgrade, _nothing_changes),
        Law("appends-commute", "Two appends in either order make the same rows.",
            _two_appends, _ends_with_appends, _appends_commute),
        Law("delete-is-difference", "A delete leaves exactly the rows that it does not match.",
            _deletion, _is_deletion, _delete_is_difference),
        Law("overwrite-is-delete-and-append", "An overwrite is a delete by its filter and an append of its rows.",
            _overwriting, _is_overwriting, _overwrite_is_delete_and_append),
        Law("time-travel-is-replay", "The table at a snapshot is what the script makes up to there.",
            _any_script, _any_script, _time_travel),
        Law("rows-keep-their-ids", "Rows that are rewritten keep their row id and last update, unless they change.",
            _end_that_keeps_ids,
            lambda operations: len(operations) > 2 and operations[0]["format_version"] == 3
            and operations[-2]["op"] == "append" and operations[-1]["op"] in ("compact", "delete", "update"),
            _rows_keep_their_ids, REFERENCES | {"v1", "v2"}),
        Law("tables-are-valid", "A table breaks no rule of the spec, and is what its script makes.",
            _any_script, _any_script, _is_what_its_script_makes),
    )
}  # fmt: skip
"""All laws by name."""
