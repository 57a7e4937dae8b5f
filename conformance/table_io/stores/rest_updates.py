"""The difference between two versions of table metadata, as a request of Iceberg's REST catalog protocol.

In this protocol, the catalog writes the metadata itself. A request to commit has updates of the table
(``add-snapshot``, ``set-snapshot-ref`` ...) and their requirements (``assert-ref-snapshot-id`` ...).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from spec_ref.core.json_types import JsonObject
from spec_ref.core.records import evolve
from spec_ref.core.versions import V2
from spec_ref.snapshots.references import MAIN
from spec_ref.table_metadata.metadata import TableMetadata
from spec_ref.table_metadata.writer import write_metadata

LAST_ADDED = -1
"""Stands for the id of the schema, spec or order that the same request adds, as the catalog may assign another id."""

_BY_ID = (
    ("schemas", "schema-id", "add-schema", "schema", "current-schema-id", "set-current-schema"),
    ("partition-specs", "spec-id", "add-spec", "spec", "default-spec-id", "set-default-spec"),
    ("sort-orders", "order-id", "add-sort-order", "sort-order", "default-sort-order-id", "set-default-sort-order"),
)
"""The lists of a table: the name of the list, the id in it, the update that adds an element and its member, the member
of the table with the id in use, and the update that changes that id."""

_CHOSEN = {"set-current-schema": "schema-id", "set-default-spec": "spec-id", "set-default-sort-order": "sort-order-id"}

_ASSERTED = (
    ("assert-current-schema-id", "current-schema-id"),
    ("assert-last-assigned-field-id", "last-column-id"),
    ("assert-default-spec-id", "default-spec-id"),
    ("assert-last-assigned-partition-id", "last-partition-id"),
    ("assert-default-sort-order-id", "default-sort-order-id"),
)
_MEMBER = {
    "last-column-id": "last-assigned-field-id",
    "last-partition-id": "last-assigned-partition-id",
}

_STATISTICS = (
    ("statistics", "set-statistics", "remove-statistics"),
    ("partition-statistics", "set-partition-statistics", "remove-partition-statistics"),
)


class NoUpdate(ValueError):
    """Two versions of metadata differ in a way that no update of the protocol can express."""


def requirements(base: TableMetadata | None) -> list[JsonObject]:
    """Return all requirements of the protocol which state that a table is unchanged.

    Args:
        base: the metadata that the updates were made for; None for a new table.

    Returns:
        The requirements: on the UUID, the head of each branch and tag, the ids of the current schema, the default spec
        and the default sort order, and the last assigned ids.
    """
    if base is None:
        return [{"type": "assert-create"}]
    document = _document(base)
    made: list[JsonObject] = []
    if base.table_uuid is not None:
        made.append({"type": "assert-table-uuid", "uuid": base.table_uuid})
    heads = {name: ref.snapshot_id for name, ref in base.references.items()}
    made += [
        {"type": "assert-ref-snapshot-id", "ref": name, "snapshot-id": head}
        for name, head in {MAIN: None, **heads}.items()
    ]
    made += [{"type": kind, _MEMBER.get(name, name): document[name]} for kind, name in _ASSERTED if name in document]
    return made


def updates(base: TableMetadata | None, new: TableMetadata) -> list[JsonObject]:
    """Return the updates that change one version of the metadata into another.

    Values that the catalog sets are left out: the time of the update, the logs, the last sequence number and the next
    row id, which follow from the snapshots.

    Args:
        base: the current metadata; None if there is no table.
        new: the new metadata.

    Returns:
        The updates, ordered so that each one can refer to earlier ones.

    Raises:
        NoUpdate: no update can express a difference.
        SpecError: the metadata cannot be written.
    """
    before, after = {} if base is None else _document(base), _document(new)
    made = list(_table_updates(before, after))
    made += _list_updates(before, after)
    made += _property_updates(before.get("properties", {}), after.get("properties", {}))
    made += _snapshot_updates(base, new, before, after)
    made += _statistics_updates(before, after)
    made += _key_updates(before, after)
    if base is not None and dict(base.extra) != dict(new.extra):
        raise NoUpdate(f"no update of the REST protocol changes {', '.join(sorted({*base.extra, *new.extra}))}")
    return made


def _document(metadata: TableMetadata) -> JsonObject:
    """Return a table as JSON, with all members that are optional in v1, such as the ids of schemas."""
    newer = max(metadata.format_version, V2)
    return {**write_metadata(metadata, newer), "format-version": int(metadata.format_version)}


def _table_updates(before: JsonObject, after: JsonObject) -> Iterator[JsonObject]:
    if after.get("table-uuid") != before.get("table-uuid"):
        if before.get("table-uuid") is not None:
            raise NoUpdate("the UUID of a table never changes")
        yield {"action": "assign-uuid", "uuid": after["table-uuid"]}
    if after["format-version"] != before.get("format-version"):
        yield {"action": "upgrade-format-version", "format-version": after["format-version"]}


def _list_updates(before: JsonObject, after: JsonObject) -> Iterator[JsonObject]:
    removals = {"schemas": ("remove-schemas", "schema-ids"), "partition-specs": ("remove-partition-specs", "spec-ids")}
    gone: list[JsonObject] = []
    for name, id_, add, member, chosen, choose in _BY_ID:
        had = {one[id_]: one for one in before.get(name, ())}
        has = {one[id_]: one for one in after[name]}
        added = [one for key, one in has.items() if had.get(key) != one]
        # Deprecated, and optional, but Nessie 0.99.0 requires it.
        more = {"last-column-id": after["last-column-id"]} if name == "schemas" else {}
        yield from ({"action": add, member: one, **more} for one in added)
        if after[chosen] != before.get(chosen):
            is_last = bool(added) and added[-1][id_] == after[chosen]
            yield {"action": choose, _CHOSEN[choose]: LAST_ADDED if is_last else after[chosen]}
        if removed := sorted(had.keys() - has.keys()):
            if name not in removals:
                raise NoUpdate(f"no update of the REST protocol removes from {name}")
            action, ids = removals[name]
            gone.append({"action": action, ids: removed})
        if name == "schemas" and after["location"] != before.get("location"):
            yield {"action": "set-location", "location": after["location"]}
    yield from gone


def _property_updates(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[JsonObject]:
    if changed := {name: value for name, value in after.items() if before.get(name) != value}:
        yield {"action": "set-properties", "updates": changed}
    if removed := sorted(before.keys() - after.keys()):
        yield {"action": "remove-properties", "removals": removed}


def _snapshot_updates(
    base: TableMetadata | None, new: TableMetadata, before: JsonObject, after: JsonObject
) -> Iterator[JsonObject]:
    had = {one["snapshot-id"] for one in before.get("snapshots", ())}
    has = {one["snapshot-id"] for one in after.get("snapshots", ())}
    yield from (
        {"action": "add-snapshot", "snapshot": one}
        for one in after.get("snapshots", ())
        if one["snapshot-id"] not in had
    )
    old, refs = ({} if one is None else _references(one) for one in (base, new))
    yield from (
        {"action": "set-snapshot-ref", "ref-name": name, **ref} for name, ref in refs.items() if old.get(name) != ref
    )
    yield from ({"action": "remove-snapshot-ref", "ref-name": name} for name in sorted(old.keys() - refs.keys()))
    if removed := sorted(had - has):
        yield {"action": "remove-snapshots", "snapshot-ids": removed}


def _references(metadata: TableMetadata) -> dict[str, JsonObject]:
    """Return the references as JSON, including an implicit main branch."""
    return dict(_document(evolve(metadata, refs=metadata.references)).get("refs", {}))


def _statistics_updates(before: JsonObject, after: JsonObject) -> Iterator[JsonObject]:
    for name, set_, remove in _STATISTICS:
        had = {one["snapshot-id"]: one for one in before.get(name, ())}
        has = {one["snapshot-id"]: one for one in after.get(name, ())}
        for key, one in has.items():
            if had.get(key) != one:
                yield {"action": set_, name: one, **({"snapshot-id": key} if name == "statistics" else {})}
        yield from ({"action": remove, "snapshot-id": key} for key in sorted(had.keys() - has.keys()))


def _key_updates(before: JsonObject, after: JsonObject) -> Iterator[JsonObject]:
    had = {one["key-id"]: one for one in before.get("encryption-keys", ())}
    has = {one["key-id"]: one for one in after.get("encryption-keys", ())}
    yield from ({"action": "add-encryption-key", "encryption-key": one} for key, one in has.items() if key not in had)
    yield from ({"action": "remove-encryption-key", "key-id": key} for key in sorted(had.keys() - has.keys()))
