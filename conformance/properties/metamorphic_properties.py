"""The metamorphic properties.

Each property is about the last operations of a script; the operations before them make an arbitrary table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import frozen

from conformance.operations.writing.comparators import compare_written_tables
from conformance.properties.errors import Broken, NotSupported
from conformance.properties.harness import VIOLATED, Harness, Row, TableReading, check_same_reading
from conformance.properties.scenario_tables import OtherSchema, ScriptedTable, expected_rows
from conformance.properties.script_maker import MODES
from conformance.properties.scripts import Maker
from conformance.scripts.expected import expected_table
from spec_ref.core.json_types import Json

Ops = Sequence[dict[str, Json]]

REFERENCES = frozenset({"branch", "tag", "fast-forward", "rollback", "expire"})


@frozen
class Property:
    """A metamorphic property."""

    name: str
    text: str
    """The property, in one sentence."""

    end: Callable[[Maker], bool]
    """Adds the operations of the property to a script; returns False if none fits the table."""

    fits: Callable[[Ops], bool]
    """Returns whether a script ends with operations of the property."""

    judge: Callable[[Harness, Ops], None]
    """Raises `Broken` if the property does not hold for a script."""

    exclude: frozenset[str] = frozenset()
    """What its scripts must leave out."""


def _ends(*names: str) -> tuple[Callable[[Maker], bool], Callable[[Ops], bool]]:
    """Return what adds a last operation of these kinds to a script, and what accepts scripts that end with one."""

    def end(maker: Maker) -> bool:
        able = [name for name in names if maker.allows(name)]
        return bool(able) and maker.add(maker.draw.choice(able))

    return end, lambda operations: len(operations) > 1 and operations[-1]["op"] in names


def _any_script(_operations: Maker | Ops) -> bool:
    return True


def _nothing_changes(harness: Harness, operations: Ops) -> None:
    """Check that every head of the table is the same with and without the last operation."""
    before, after = harness.write(operations[:-1]), harness.write(operations)
    found = dict(harness.heads(after))
    for ref, reading in harness.heads(before):
        check_same_reading(reading, found[ref], f"{ref or 'the table'} after {operations[-1]['op']}")


def _two_appends(maker: Maker) -> bool:
    return all(_append_to_main(maker) for _ in range(2))


def _append_to_main(maker: Maker) -> bool:
    return maker.take({"op": "append", "rows": maker.rows()})


def _appends_commute(harness: Harness, operations: Ops) -> None:
    *base, first, second = operations
    one, other = harness.write(operations), harness.write([*base, second, first])
    check_same_reading(harness.read(one), harness.read(other), "the table with its last two appends swapped")


def _ends_with_appends(operations: Ops) -> bool:
    last = operations[-2:]
    return len(operations) > 2 and all(one["op"] == "append" and "branch" not in one for one in last)


def _delete_is_difference(harness: Harness, operations: Ops) -> None:
    last, branch = operations[-1], operations[-1].get("branch")
    before = harness.read(harness.write(operations[:-1]), ref=branch)
    after = harness.read(harness.write(operations), ref=branch)
    if last["op"] == "delete":
        _, left = before.matching(last["filter"])
    else:
        left = [row for row in before.rows if not any(_equals(row, deleted) for deleted in last["rows"])]
    check_same_reading(before.only(left), after, f"the table after {last['op']}")


def _equals(row: Row, deleted: Row) -> bool:
    """Return whether a row has the values of an equality delete, with null equal to null.

    Values are compared in exchange form, as the values of scripts are canonical.
    """
    return all(row[name] == value for name, value in deleted.items())


def _time_travel(harness: Harness, operations: Ops) -> None:
    table = harness.write(operations)
    if not table.snapshots:
        raise NotSupported("the answer does not name the snapshots")
    for index, state in enumerate(table.states):
        snapshot = table.snapshots[index]
        if state.changed and snapshot is None:
            raise Broken(VIOLATED, f"there is no snapshot after operation {index}, {operations[index]['op']}")
        if state.changed and snapshot is not None and table.has_snapshot(snapshot):
            found = harness.read(table, snapshot=snapshot)
            what = f"the table at the snapshot of operation {index}, {operations[index]['op']}"
            try:
                rows = expected_rows(state.written, found.types)["rows"]
            except OtherSchema as error:
                raise Broken(VIOLATED, f"{what}: {error}") from None
            check_same_reading(found.only(rows), found, what)


def _overwrite_is_delete_and_append(harness: Harness, operations: Ops) -> None:
    *base, last = operations
    branch = {"branch": last["branch"]} if "branch" in last else {}
    delete = {"op": "delete", "filter": last["filter"], "mode": MODES[0], **branch}
    append = {"op": "append", "rows": last["rows"], **branch}
    one, other = harness.write(operations), harness.write([*base, delete, append])
    ref = last.get("branch")
    check_same_reading(
        harness.read(other, ref=ref),
        harness.read(one, ref=ref),
        "the table after overwrite, compared with delete and append",
    )


def _rows_keep_their_ids(harness: Harness, operations: Ops) -> None:
    table, last = harness.write(operations), operations[-1]
    before, after = _around_last(harness, table)
    if before is None or after is None:
        return
    same = "_row_id"
    ids = [row[same] for row in after.rows]
    if len(set(ids)) < len(ids) or None in ids:
        raise Broken(
            VIOLATED, f"after {last['op']}: row ids are {sorted(ids, key=str)}, expected distinct row ids for all rows"
        )
    match last["op"]:
        case "compact":
            check_same_reading(before, after, "rows and their row ids after compact")
        case "delete":
            check_same_reading(
                before.only(before.matching(last["filter"])[1]), after, "rows and their row ids after delete"
            )
        case _:
            _check_updated_rows(table, before, after, last)


def _check_updated_rows(table: ScriptedTable, before: TableReading, after: TableReading, last: dict[str, Json]) -> None:
    """Check that rows that do not match are unchanged, and that the snapshot updated those that match."""
    _, kept = before.matching(last["filter"])
    ids = {row["_row_id"] for row in kept}
    check_same_reading(
        before.only(kept),
        after.only([row for row in after.rows if row["_row_id"] in ids]),
        "rows that update does not match, with their row ids",
    )
    snapshot = table.snapshots[-1]
    number = table.sequence_number(snapshot) if snapshot is not None else None
    for row in after.rows:
        if row["_row_id"] not in ids and row["_last_updated_sequence_number"] != str(number):
            found = row["_last_updated_sequence_number"]
            raise Broken(VIOLATED, f"the last update of a row that update matches is {found}, expected {number}")


def _around_last(harness: Harness, table: ScriptedTable) -> tuple[TableReading | None, TableReading | None]:
    """Read main before and after the last operation, in the same table, because each table assigns its own row ids."""
    if not table.snapshots:
        raise NotSupported("the answer does not name the snapshots")
    earlier = [one for one in table.snapshots[:-1] if one is not None and table.has_snapshot(one)]
    last = table.snapshots[-1]
    if not earlier or last is None or last == earlier[-1]:
        return None, None
    return harness.read(table, snapshot=earlier[-1], lineage=True), harness.read(table, snapshot=last, lineage=True)


def _end_that_keeps_ids(maker: Maker) -> bool:
    """Add an append, so that a snapshot has the final schema, and then an operation that rewrites rows."""
    if not _append_to_main(maker):
        return False
    name = maker.draw.choice([one for one in ("compact", "delete", "update") if maker.allows(one)] or ["compact"])
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


def _is_what_its_script_makes(harness: Harness, operations: Ops) -> None:
    table = harness.write(operations)
    place = str(table.metadata).rpartition("/metadata/")[0]
    answer = {"metadata": table.metadata, "snapshots": list(table.snapshots)}
    differences = compare_written_tables({"table": place}, expected_table(table.states), answer)
    if differences:
        raise Broken(VIOLATED, "; ".join(map(str, differences[:3])))


_compaction, _is_compaction = _ends("compact", "rewrite-manifests")
_layout, _is_layout = _ends("alter-spec", "sort")
_deletion, _is_deletion = _ends("delete", "delete-equal")
_upgrade, _is_upgrade = _ends("upgrade")
_overwriting, _is_overwriting = _ends("overwrite")

PROPERTIES: dict[str, Property] = {
    prop.name: prop
    for prop in (
        Property(
            "compaction-changes-nothing",
            "Rewriting files and manifests changes no row.",
            _compaction,
            _is_compaction,
            _nothing_changes,
        ),
        Property(
            "layout-changes-nothing",
            "Changing the partition spec or sort order changes no row.",
            _layout,
            _is_layout,
            _nothing_changes,
        ),
        Property(
            "upgrade-changes-nothing",
            "Upgrading the format version changes no row.",
            _upgrade,
            _is_upgrade,
            _nothing_changes,
        ),
        Property(
            "appends-commute",
            "Two appends in either order lead to the same rows.",
            _two_appends,
            _ends_with_appends,
            _appends_commute,
        ),
        Property(
            "delete-is-difference",
            "A delete leaves exactly the rows that it does not match.",
            _deletion,
            _is_deletion,
            _delete_is_difference,
        ),
        Property(
            "overwrite-is-delete-and-append",
            "An overwrite is a delete by its filter and an append of its rows.",
            _overwriting,
            _is_overwriting,
            _overwrite_is_delete_and_append,
        ),
        Property(
            "time-travel-is-replay",
            "The table at a snapshot equals the table of the script up to there.",
            _any_script,
            _any_script,
            _time_travel,
        ),
        Property(
            "rows-keep-their-ids",
            "Rows that are rewritten keep their row id and last update, unless they change.",
            _end_that_keeps_ids,
            lambda operations: (
                len(operations) > 2
                and operations[0]["format_version"] == 3
                and operations[-2]["op"] == "append"
                and operations[-1]["op"] in ("compact", "delete", "update")
            ),
            _rows_keep_their_ids,
            REFERENCES | {"v1", "v2"},
        ),
        Property(
            "tables-are-valid",
            "A table is valid, and has the rows of the model.",
            _any_script,
            _any_script,
            _is_what_its_script_makes,
        ),
    )
}
"""All metamorphic properties by name."""
