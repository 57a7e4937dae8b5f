"""Faults planted in what commits write: partitions, manifests, lists, summaries, references, statistics, row ids.

Each is a mistake that some writer has made or could make, and is shown by the table that has what it treats wrongly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import delete_scope_faults
from planting import Plant, Planted

from spec_ref.commits import (
    conflicts,
    file_removal,
    manifest_merging,
    manifests,
    metadata_changes,
    reading,
    snapshots,
    summaries,
)
from spec_ref.commits.changes import (
    ChangeSchema,
    ChangeSortOrder,
    ChangeSpec,
    ExpireSnapshots,
    RemoveStatistics,
    SetProperties,
    SetReference,
    SetStatistics,
    UpgradeFormatVersion,
)
from spec_ref.commits.commit import commit as _commit
from spec_ref.core.records import evolve
from spec_ref.manifest_lists.manifest_file import ManifestContent, ManifestFile
from spec_ref.manifests.data_file import FileContent
from spec_ref.manifests.entry import EntryStatus
from spec_ref.snapshots.references import RefType

commit_module = __import__(_commit.__module__, fromlist=["commit"])
expired_module = __import__("spec_ref.commits.expired_files", fromlist=["expired_files"])

# Ways to change one thing that the protocol makes


def _entries(change: Callable[[Any], Any]) -> Plant:
    """Change every entry that is written; ``change`` makes another one of it, or None to leave it out."""

    def plant(patch: Any) -> None:
        original = manifests.CommitManifests.write

        def write(self: Any, key: Any, entries: Any, *rest: Any) -> Any:
            return original(self, key, [one for one in map(change, entries) if one is not None], *rest)

        patch.setattr(manifests.CommitManifests, "write", write)

    return plant


def _existing(**changes: Any) -> Plant:
    """Change fields of the entries of files that stay."""

    def change(entry: Any) -> Any:
        if entry.status is not EntryStatus.EXISTING:
            return entry
        own = {name: value for name, value in changes.items() if hasattr(entry, name)}
        of_file = {name: value for name, value in changes.items() if not hasattr(entry, name)}
        return evolve(entry, **own, data_file=evolve(entry.data_file, **of_file))

    return _entries(change)


def _partition_values(change: Callable[[Any], Any]) -> Plant:
    """Change the values of partition tuples of entries."""

    def changed(entry: Any) -> Any:
        values = {number: change(value) for number, value in entry.data_file.partition.items()}
        return evolve(entry, data_file=evolve(entry.data_file, partition=values))

    return _entries(changed)


def _listed(change: Callable[[Any], Any]) -> Plant:
    """Change what the list says of each manifest that is written."""

    def plant(patch: Any) -> None:
        original = manifests.build_manifest_file
        patch.setattr(manifests, "build_manifest_file", lambda *args, **named: change(original(*args, **named)))

    return plant


def _summaries(**changes: Any) -> Plant:
    return _listed(lambda one: evolve(one, partitions=tuple(evolve(summary, **changes) for summary in one.partitions)))


def _snapshot(change: Callable[[Any, Any, Any], dict[str, Any]]) -> Plant:
    """Change fields of the new snapshot; ``change`` gets it, the planned and the current table."""

    def plant(patch: Any) -> None:
        original = snapshots.next_snapshot

        def next_snapshot(wanted: Any, planned: Any, current: Any, *rest: Any) -> Any:
            made = yield from original(wanted, planned, current, *rest)
            snapshot = evolve(made.snapshot, **change(made.snapshot, planned, current))
            others = made.metadata.snapshots[:-1]
            metadata = evolve(made.metadata, snapshots=(*others, snapshot))
            return snapshots.NextSnapshot(metadata, snapshot, made.manifests)

        patch.setattr(snapshots, "next_snapshot", next_snapshot)

    return plant


def _table(change: Callable[[Any, Any], dict[str, Any]]) -> Plant:
    """Change members of the table after a new snapshot; ``change`` gets the table after and before."""

    def plant(patch: Any) -> None:
        original = snapshots.next_snapshot

        def next_snapshot(wanted: Any, planned: Any, current: Any, *rest: Any) -> Any:
            made = yield from original(wanted, planned, current, *rest)
            metadata = evolve(made.metadata, **change(made.metadata, current))
            return snapshots.NextSnapshot(metadata, made.snapshot, made.manifests)

        patch.setattr(snapshots, "next_snapshot", next_snapshot)

    return plant


def _metadata_change(kind: type, change: Callable[[Any, Any, Any], dict[str, Any]]) -> Plant:
    """Change members of the table after a change of its metadata; ``change`` gets the table after, before, planned."""

    def plant(patch: Any) -> None:
        original = metadata_changes.APPLY[kind]

        def apply(wanted: Any, planned: Any, current: Any, now: int) -> Any:
            made = original(wanted, planned, current, now)
            return evolve(made, **change(made, current, planned))

        patch.setitem(metadata_changes.APPLY, kind, apply)

    return plant


def _applied_to(kind: type, change: Callable[[Any, Any], dict[str, Any]]) -> Plant:
    """Apply a change of the metadata to another table than the current one."""

    def plant(patch: Any) -> None:
        original = metadata_changes.APPLY[kind]

        def apply(wanted: Any, planned: Any, current: Any, now: int) -> Any:
            return original(wanted, planned, evolve(current, **change(planned, current)), now)

        patch.setitem(metadata_changes.APPLY, kind, apply)

    return plant


def _deletes_not_seen(ignored: Callable[[Any, Any], bool]) -> Plant:
    """Ignore some deletes of others where rows are rewritten; ``ignored`` gets the delete file and its spec."""

    def plant(patch: Any) -> None:
        original = conflicts.may_apply

        def may_apply(delete: Any, number: Any, spec: Any, *rest: Any) -> bool:
            return not ignored(delete, spec) and bool(original(delete, number, spec, *rest))

        patch.setattr(conflicts, "may_apply", may_apply)

    return plant


def _not_matched(ignored: Callable[[Any], bool]) -> Plant:
    """Take some files for ones that no predicate matches; ``ignored`` gets a partition value."""

    def plant(patch: Any) -> None:
        original = conflicts.may_match
        patch.setattr(
            conflicts,
            "may_match",
            lambda predicate, data_file, spec: (
                not any(map(ignored, data_file.partition.values())) and original(predicate, data_file, spec)
            ),
        )

    return plant


def _summary(change: Callable[[Any], Any]) -> Plant:
    """Change what the summary counts; ``change`` gets and makes the arguments of `changed_summary`."""

    def plant(patch: Any) -> None:
        original = summaries.build_summary

        def changed_summary(operation: Any, added: Any, removed: Any, before: Any, further: Any) -> Any:
            return original(*change((operation, list(added), list(removed), before)), further)

        patch.setattr(summaries, "build_summary", changed_summary)

    return plant


def _is_nan(value: Any) -> bool:
    return bool(value != value)


def _is_null(value: Any) -> bool:
    return value is None


# Faults that need more than one of the ways above


def spec_of_the_table_now(patch: Any) -> None:
    original = manifests.new_manifests
    patch.setattr(
        manifests,
        "new_manifests",
        lambda change, planned, current, *rest: original(change, current, current, *rest),
    )


def summaries_of_the_first_entry(patch: Any) -> None:
    original = manifests.build_manifest_file

    def manifest_file(entries: Any, *rest: Any, **named: Any) -> Any:
        whole = original(entries, *rest, **named)
        return evolve(whole, partitions=original(entries[:1], *rest, **named).partitions)

    patch.setattr(manifests, "build_manifest_file", manifest_file)


def row_ids_of_delete_manifests(patch: Any) -> None:
    original = snapshots.assign_first_row_ids

    def assign(listed: Any, first: int) -> Any:
        made, after = original(listed, first)
        return tuple(
            evolve(one, first_row_id=first) if one.content is ManifestContent.DELETES else one for one in made
        ), after

    patch.setattr(snapshots, "assign_first_row_ids", assign)


def row_ids_given_again(patch: Any) -> None:
    original = snapshots.assign_first_row_ids
    patch.setattr(
        snapshots,
        "assign_first_row_ids",
        lambda listed, first: original(
            [one if one.content is ManifestContent.DELETES else evolve(one, first_row_id=None) for one in listed], first
        ),
    )


def row_ids_of_added_rows_alone(patch: Any) -> None:
    """Manifests from before an upgrade are given ids for their added rows, and not for the existing ones."""
    original = snapshots.assign_first_row_ids

    def assign(listed: Any, first: int) -> Any:
        made, after = original(listed, first)
        short = sum(
            one.existing_rows_count
            for one, old in zip(made, listed, strict=True)
            if old.first_row_id is None and one.first_row_id is not None
        )
        return made, after - short

    patch.setattr(snapshots, "assign_first_row_ids", assign)


def no_row_ids_for_old_manifests(patch: Any) -> None:
    original = snapshots.assign_first_row_ids

    def assign(listed: Any, first: int) -> Any:
        made, after = original(listed, first)
        kept = tuple(
            old if old.sequence_number < max(one.sequence_number for one in listed) else new
            for old, new in zip(listed, made, strict=True)
        )
        return kept, after

    patch.setattr(snapshots, "assign_first_row_ids", assign)


def operations_as(wanted: str) -> Plant:
    def plant(patch: Any) -> None:
        operation = next(one for one in snapshots.SnapshotOperation if one.value == wanted)
        patch.setattr(snapshots, "snapshot_operation", lambda *_: operation)

    return plant


def spec_of_the_table_for_edited_manifests(patch: Any) -> None:
    original = manifests.CommitManifests.write

    def write(self: Any, key: Any, entries: Any, spec: Any, content: Any, metadata: Any, *rest: Any) -> Any:
        if key[0] == "edited":
            spec = metadata.default_spec
            ids = [field.field_id for field in spec.fields]
            entries = [
                evolve(
                    one,
                    data_file=evolve(one.data_file, partition={id_: one.data_file.partition.get(id_) for id_ in ids}),
                )
                for one in entries
            ]
        return original(self, key, entries, spec, content, metadata, *rest)

    patch.setattr(manifests.CommitManifests, "write", write)


def merged_whatever_the_spec(patch: Any) -> None:
    original = manifest_merging.merge_manifests

    def merged(listed: Any, properties: Any, current: Any, *rest: Any) -> Any:
        data = [one for one in listed if one.content is ManifestContent.DATA]
        others = [one for one in listed if one.content is not ManifestContent.DATA]
        return [(yield from manifest_merging._write_merged(data, current, *rest)), *others]

    del original
    patch.setattr(manifest_merging, "merge_manifests", merged)


def merge_loses_deletes(patch: Any) -> None:
    original = manifest_merging.merge_manifests

    def merged(listed: Any, *rest: Any) -> Any:
        made = yield from original(listed, *rest)
        return [one for one in made if one.content is ManifestContent.DATA]

    patch.setattr(manifest_merging, "merge_manifests", merged)


def merge_keeps_the_old_ones(patch: Any) -> None:
    original = manifest_merging.merge_manifests

    def merged(listed: Any, *rest: Any) -> Any:
        made = yield from original(listed, *rest)
        return [*made, *(one for one in listed if one not in made)]

    patch.setattr(manifest_merging, "merge_manifests", merged)


def rewriting_loses_deletes(patch: Any) -> None:
    original = manifest_merging.compact_manifests

    def rewritten(listed: Any, *rest: Any) -> Any:
        return (yield from original([one for one in listed if one.content is ManifestContent.DATA], *rest))

    patch.setattr(manifest_merging, "compact_manifests", rewritten)


def new_manifest_listed_twice(patch: Any) -> None:
    original = manifests.new_manifests

    def new_manifests(*args: Any) -> Any:
        made = yield from original(*args)
        return [*made, *made]

    patch.setattr(manifests, "new_manifests", new_manifests)


def vectors_of_removed_files_stay(patch: Any) -> None:
    original = file_removal._is_removed
    patch.setattr(
        file_removal,
        "_is_removed",
        lambda data_file, removal, spec: (
            original(data_file, removal, spec)
            if data_file.content is FileContent.DATA
            else (data_file.file_path, data_file.content_offset) in removal.deletes
        ),
    )


def one_of_the_removed_files(patch: Any) -> None:
    original = file_removal.resolve_removal

    def partial_removal(change: Any, current: Any) -> Any:
        made = original(change, current)
        return attrs.evolve(made, data=frozenset(sorted(made.data)[:1]))

    patch.setattr(file_removal, "resolve_removal", partial_removal)


def deletes_that_are_replaced_stay(patch: Any) -> None:
    original = file_removal.resolve_removal
    patch.setattr(
        file_removal,
        "resolve_removal",
        lambda change, current: attrs.evolve(original(change, current), deletes=frozenset()),
    )
    patch.setattr(conflicts, "_check_vectors", lambda *_: iter(()))


def a_null_partition_is_no_match(patch: Any) -> None:
    original = file_removal._is_removed
    patch.setattr(
        file_removal,
        "_is_removed",
        lambda data_file, removal, spec: (
            None not in data_file.partition.values() and original(data_file, removal, spec)
        ),
    )


def a_predicate_is_checked_against_names_alone(patch: Any) -> None:
    """What a predicate deletes is not looked for in manifests whose summaries have NaN alone."""
    original = file_removal._is_unaffected
    patch.setattr(
        file_removal,
        "_is_unaffected",
        lambda manifest, removal, spec: (
            any(one.lower_bound is None for one in manifest.partitions or ()) or original(manifest, removal, spec)
        ),
    )


def sequence_number_not_explicit(patch: Any) -> None:
    original = manifests.added_entry
    patch.setattr(
        manifests, "added_entry", lambda new, snapshot_id: evolve(original(new, snapshot_id), sequence_number=None)
    )


def older_rewrites_see_no_deletes(patch: Any) -> None:
    patch.setattr(conflicts, "_still_applies", lambda *_: True)


def branches_start_from_main(patch: Any) -> None:
    original = snapshots.branch_head
    patch.setattr(snapshots, "branch_head", lambda metadata, _: original(metadata, "main"))


def retention_of_a_branch_lost(patch: Any) -> None:
    original = snapshots.add_snapshot

    def with_snapshot(metadata: Any, snapshot: Any, name: str) -> Any:
        made = original(metadata, snapshot, name)
        return evolve(made, refs={**made.refs, name: snapshots.branch_ref(snapshot.snapshot_id)})

    patch.setattr(snapshots, "add_snapshot", with_snapshot)


def references_of_one_snapshot_are_one(patch: Any) -> None:
    original = metadata_changes.APPLY[SetReference]

    def apply(change: Any, planned: Any, current: Any, now: int) -> Any:
        made = original(change, planned, current, now)
        if change.ref is not None or change.name not in current.refs:
            return made
        gone = current.refs[change.name].snapshot_id
        return evolve(made, refs={name: ref for name, ref in made.refs.items() if ref.snapshot_id != gone})

    patch.setitem(metadata_changes.APPLY, SetReference, apply)


def every_snapshot_is_logged(patch: Any) -> None:
    original = snapshots.add_snapshot

    def with_snapshot(metadata: Any, snapshot: Any, name: str) -> Any:
        made = original(metadata, snapshot, name)
        entry = metadata_changes.SnapshotLogEntry(timestamp_ms=snapshot.timestamp_ms, snapshot_id=snapshot.snapshot_id)
        return evolve(made, snapshot_log=(*metadata.snapshot_log, entry))

    patch.setattr(snapshots, "add_snapshot", with_snapshot)


def tags_keep_nothing(patch: Any) -> None:
    original = metadata_changes.expire_snapshots

    def expire(metadata: Any, now: int, *rest: Any) -> Any:
        tags = {name for name, ref in metadata.refs.items() if ref.type is RefType.TAG}
        kept = {name: ref for name, ref in metadata.refs.items() if name not in tags}
        made = original(evolve(metadata, refs=kept), now, *rest)
        return evolve(made, refs={name: ref for name, ref in metadata.refs.items() if name in {*made.refs, *tags}})

    patch.setattr(metadata_changes, "expire_snapshots", expire)


def statistics_of_the_kept_expire(patch: Any) -> None:
    patch.setattr(
        expired_module,
        "_statistics",
        lambda metadata, seen=[]: (
            seen.append(1) or ({one.statistics_path for one in metadata.statistics} if len(seen) % 2 else set())
        ),
    )


def manifests_without_lists_not_read(patch: Any) -> None:
    def listed(self: Any, snapshot: Any) -> Any:
        return ()
        yield

    patch.setattr(reading.MetadataFileCache, "_listed_in_metadata", listed)


def counts_not_known_are_none(patch: Any) -> None:
    patch.setattr(
        ManifestFile,
        "may_have_live_files",
        property(lambda self: bool(self.added_files_count or self.existing_files_count)),
    )


def counts_stay_unknown(patch: Any) -> None:
    def counted(self: Any, listed: Any, version: Any) -> Any:
        return tuple(listed)
        yield

    patch.setattr(reading.MetadataFileCache, "with_counts", counted)


def old_entries_inherit(patch: Any) -> None:
    """The files of manifests of v1 inherit the sequence number of the list, as if they were of v2."""
    original = reading.inherit
    patch.setattr(
        reading,
        "inherit",
        lambda entries, manifest, version: original(
            [
                evolve(one, sequence_number=7, file_sequence_number=7) if one.sequence_number is None else one
                for one in entries
            ],
            manifest,
            version,
        ),
    )


def attempts_share_a_manifest_name(patch: Any) -> None:
    original = manifests.CommitManifests.write

    def write(self: Any, key: Any, *rest: Any) -> Any:
        self._written.clear()
        return original(self, key, *rest)

    patch.setattr(manifests.CommitManifests, "write", write)


def log_of_one_file(patch: Any) -> None:
    original = commit_module.append_metadata_log
    patch.setattr(
        commit_module,
        "append_metadata_log",
        lambda metadata, current, now: (
            (made := original(metadata, current, now)) and evolve(made, metadata_log=made.metadata_log[-1:])
        ),
    )


def snapshot_log_begins_anew(patch: Any) -> None:
    _table(lambda after, before: {"snapshot_log": after.snapshot_log[-1:]})(patch)


def only_sort_orders_go_on(patch: Any) -> None:
    original = metadata_changes.APPLY[ChangeSortOrder]
    patch.setitem(
        metadata_changes.APPLY,
        ChangeSortOrder,
        lambda change, planned, current, now: original(change, current, current, now),
    )


def v1_files_named_data(patch: Any) -> None:
    _listed(lambda one: evolve(one, content=ManifestContent.DATA))(patch)


PROPERTIES = "properties"
TABLE_FAULTS = (
    # The six that invariants over totals do not find
    Planted(
        name="files under the current default spec",
        plant=spec_of_the_table_now,
        changes=("append", "spec"),
        says="partition spec",
    ),
    Planted(
        name="schema of the plan on a retry",
        plant=_snapshot(lambda snapshot, planned, current: {"schema_id": planned.current_schema_id}),
        changes=("fast-append", "schema"),
        says="schema",
    ),
    Planted(
        name="deletes recorded as append",
        plant=operations_as("append"),
        changes=("delete-file", PROPERTIES),
        says="operation",
    ),
    Planted(
        name="overwrites recorded as append",
        plant=operations_as("append"),
        changes=("overwrite", PROPERTIES),
        says="operation",
    ),
    Planted(
        name="rewrites recorded as overwrite",
        plant=operations_as("overwrite"),
        changes=("rewrite", PROPERTIES),
        says="operation",
    ),
    Planted(
        name="partition summaries of the first entry",
        plant=summaries_of_the_first_entry,
        changes=("fast-append", PROPERTIES),
        says="validator: MLS022",
    ),
    Planted(
        name="min_sequence_number always 0",
        plant=_listed(lambda one: evolve(one, min_sequence_number=0)),
        changes=("fast-append", PROPERTIES),
        says="unsound list",
    ),
    Planted(
        name="row ids of delete manifests",
        plant=row_ids_of_delete_manifests,
        version=3,
        changes=("equality-delete", PROPERTIES),
        says="validator: LIN026",
    ),
    # Partitions
    Planted(
        name="deletes in NaN not seen by rewrites",
        plant=_deletes_not_seen(lambda delete, _: any(map(_is_nan, delete.partition.values()))),
        fixture="nan-partition",
        changes=("rewrite", "equality-delete"),
        says="resurrected row",
    ),
    Planted(
        name="deletes in null not seen by rewrites",
        plant=_deletes_not_seen(lambda delete, _: any(map(_is_null, delete.partition.values()))),
        fixture="null-partition",
        changes=("rewrite", "equality-delete"),
        says="resurrected row",
    ),
    Planted(
        name="global deletes not seen by rewrites",
        plant=_deletes_not_seen(lambda _, spec: not spec.fields),
        fixture="several-specs",
        changes=("rewrite", "global-equality-delete"),
        says="resurrected row",
    ),
    Planted(
        name="deletes of a void spec not seen by rewrites",
        plant=_deletes_not_seen(lambda _, spec: spec.is_unpartitioned),
        fixture="void",
        changes=("rewrite", "equality-delete"),
        says="resurrected row",
    ),
    Planted(
        name="deletes of dropped sources' files not seen by rewrites",
        plant=_deletes_not_seen(lambda _, spec: not spec.fields),
        fixture="dropped-source",
        changes=("rewrite", "global-equality-delete"),
        says="resurrected row",
    ),
    Planted(
        name="position deletes of several files not seen by rewrites",
        plant=_deletes_not_seen(lambda delete, _: delete.referenced_data_file is None),
        fixture="unpartitioned",
        changes=("rewrite", "position-delete-range"),
        says="resurrected row",
    ),
    Planted(
        name="position deletes of one file not seen by rewrites",
        plant=_deletes_not_seen(lambda delete, _: delete.referenced_data_file is not None),
        changes=("rewrite", "position-delete"),
        says="resurrected row",
    ),
    Planted(
        name="vectors not seen by rewrites",
        plant=_deletes_not_seen(lambda delete, _: delete.is_deletion_vector),
        version=3,
        changes=("rewrite", "position-delete"),
        says="resurrected row",
    ),
    Planted(
        name="older rewrites see no position deletes",
        plant=_deletes_not_seen(lambda delete, _: delete.content is FileContent.POSITION_DELETES),
        fixture="unpartitioned",
        changes=("rewrite-older", "position-delete"),
        says="resurrected row",
    ),
    Planted(
        name="every rewrite counts as an older one",
        plant=older_rewrites_see_no_deletes,
        fixture="several-specs",
        changes=("rewrite", "equality-delete"),
        says="resurrected row",
    ),
    Planted(
        name="an older rewrite leaves the spec of deletes",
        plant=older_rewrites_see_no_deletes,
        fixture="several-specs",
        changes=("rewrite-older", "equality-delete"),
        says="resurrected row",
    ),
    Planted(
        name="null partitions match no filter",
        plant=_not_matched(_is_null),
        fixture="null-partition",
        changes=("overwrite-serializable", "append"),
        says="isolation",
    ),
    Planted(
        name="NaN partitions match no filter",
        plant=_not_matched(_is_nan),
        fixture="nan-partition",
        changes=("overwrite-serializable", "append"),
        says="isolation",
    ),
    Planted(
        name="a delete by a predicate passes over null",
        plant=a_null_partition_is_no_match,
        fixture="null-partition",
        changes=("delete-where", "append"),
        says="resurrected file",
    ),
    Planted(
        name="a delete by a predicate passes over NaN",
        plant=a_predicate_is_checked_against_names_alone,
        fixture="nan-partition",
        changes=("delete-where", "append"),
        says="resurrected file",
    ),
    Planted(
        name="NaN is written as null",
        plant=_partition_values(lambda value: None if _is_nan(value) else value),
        fixture="nan-partition",
        changes=("append", "delete-file"),
        says="partition",
    ),
    Planted(
        name="null is written as a text",
        plant=_partition_values(lambda value: "null" if value is None else value),
        fixture="null-partition",
        changes=("append", "delete-file"),
        says="partition",
    ),
    Planted(
        name="values of dropped sources are written as null",
        plant=_partition_values(lambda value: None),
        fixture="dropped-source",
        changes=("delete-file", "append"),
        says="partition",
    ),
    Planted(
        name="edited manifests get the default spec",
        plant=spec_of_the_table_for_edited_manifests,
        fixture="several-specs",
        changes=("delete-file", "schema"),
        says="partition",
    ),
    Planted(
        name="manifests of several specs are merged",
        plant=merged_whatever_the_spec,
        fixture="several-specs",
        changes=("append", "schema"),
        says="partition",
    ),
    Planted(
        name="summaries without null",
        plant=_summaries(contains_null=False),
        fixture="null-partition",
        changes=("append", "delete-file"),
        says="validator: MLS019",
    ),
    Planted(
        name="summaries without NaN",
        plant=_summaries(contains_nan=False),
        fixture="nan-partition",
        changes=("append", "delete-file"),
        says="validator: MLS020",
    ),
    Planted(
        name="summaries without bounds",
        plant=_summaries(lower_bound=None, upper_bound=None),
        fixture="several-specs",
        changes=("append", "schema"),
        says="validator: MLS021",
    ),
    # Manifests and lists
    Planted(
        name="existing files are counted as none",
        plant=_listed(lambda one: evolve(one, existing_files_count=0)),
        changes=("delete-file", PROPERTIES),
        says="unsound list",
    ),
    Planted(
        name="existing rows are counted as none",
        plant=_listed(lambda one: evolve(one, existing_rows_count=0)),
        changes=("delete-file", PROPERTIES),
        says="validator: MLS014",
    ),
    Planted(
        name="delete manifests listed as data",
        plant=v1_files_named_data,
        changes=("equality-delete", PROPERTIES),
        says="validator: MAN010",
    ),
    Planted(
        name="manifests listed with the parent's sequence number",
        plant=_listed(lambda one: evolve(one, sequence_number=1, min_sequence_number=1)),
        changes=("fast-append", PROPERTIES),
        says="unsound list",
    ),
    Planted(
        name="manifests listed with another snapshot",
        plant=_listed(lambda one: evolve(one, added_snapshot_id=11)),
        changes=("fast-append", PROPERTIES),
        says="unsound list",
    ),
    Planted(
        name="manifests listed with the first spec",
        plant=_listed(lambda one: evolve(one, partition_spec_id=0)),
        fixture="several-specs",
        changes=("append", "schema"),
        says="partition spec",
    ),
    Planted(
        name="a new manifest is listed twice",
        plant=new_manifest_listed_twice,
        changes=("fast-append", PROPERTIES),
        says="unsound list",
    ),
    Planted(
        name="merged manifests stay listed",
        plant=merge_keeps_the_old_ones,
        changes=("append", PROPERTIES),
        says="unsound list",
    ),
    Planted(
        name="merging loses delete manifests",
        plant=merge_loses_deletes,
        changes=("append", PROPERTIES),
        says="lost file",
    ),
    Planted(
        name="rewriting manifests loses delete manifests",
        plant=rewriting_loses_deletes,
        fixture="void",
        changes=("rewrite-manifests", "append"),
        says="lost file",
    ),
    Planted(
        name="manifests without lists are not read",
        plant=manifests_without_lists_not_read,
        fixture="no-lists",
        version=1,
        changes=("append", "fast-append"),
        says="lost file",
    ),
    Planted(
        name="counts that are not known are taken for none",
        plant=counts_not_known_are_none,
        fixture="old-lists",
        version=1,
        changes=("append", "fast-append"),
        says="lost file",
    ),
    Planted(
        name="counts that are not known stay unknown",
        plant=counts_stay_unknown,
        fixture="old-lists",
        changes=("fast-append", "append-to-branch"),
        says="unsound list",
    ),
    Planted(
        name="existing files get the number of the commit",
        plant=_existing(sequence_number=9),
        changes=("delete-file", PROPERTIES),
        says="sequence number",
    ),
    Planted(
        name="existing files lose their file sequence number",
        plant=_existing(file_sequence_number=0),
        changes=("delete-file", PROPERTIES),
        says="sequence number",
    ),
    Planted(
        name="existing files are of another snapshot",
        plant=_existing(snapshot_id=12),
        changes=("delete-file", PROPERTIES),
        says="linear history",
    ),
    Planted(
        name="existing files lose their sizes",
        plant=_existing(file_size_in_bytes=0),
        changes=("delete-file", PROPERTIES),
        says="file",
    ),
    Planted(
        name="rewritten manifests lose the columns of equality deletes",
        plant=_existing(equality_ids=None),
        fixture="void",
        changes=("equality-delete", "rewrite-manifests"),
        says="file",
    ),
    Planted(
        name="rewritten manifests lose the bounds of equality deletes",
        plant=_existing(lower_bounds=None, upper_bounds=None),
        fixture="void",
        changes=("equality-delete", "rewrite-manifests"),
        says="file",
    ),
    Planted(
        name="rewritten manifests lose the data file of deletes",
        plant=_existing(referenced_data_file=None),
        fixture="void",
        changes=("equality-delete", "rewrite-manifests"),
        says="file",
    ),
    Planted(
        name="numbers of files from before an upgrade",
        plant=old_entries_inherit,
        fixture="upgraded",
        changes=("delete-file", "fast-append"),
        says="sequence number",
    ),
    Planted(
        name="removed files are not listed",
        plant=_entries(lambda entry: None if entry.status is EntryStatus.DELETED else entry),
        changes=("delete-file", PROPERTIES),
        says="removed files",
    ),
    Planted(
        name="removed files are of the snapshot that added them",
        plant=_entries(lambda entry: evolve(entry, snapshot_id=11) if entry.status is EntryStatus.DELETED else entry),
        changes=("delete-file", PROPERTIES),
        says="removed files",
    ),
    Planted(
        name="one of several removed files",
        plant=one_of_the_removed_files,
        changes=("rewrite", PROPERTIES),
        says="resurrected file",
    ),
    Planted(
        name="vectors of removed files stay",
        plant=vectors_of_removed_files_stay,
        version=3,
        changes=("rewrite", PROPERTIES),
        says="resurrected file",
    ),
    Planted(
        name="replaced vectors stay",
        plant=deletes_that_are_replaced_stay,
        version=3,
        fixture="unpartitioned",
        changes=("merge-vector", "append"),
        says="resurrected file",
    ),
    Planted(
        name="explicit sequence numbers are not written",
        plant=sequence_number_not_explicit,
        changes=("rewrite-older", PROPERTIES),
        says="sequence number",
    ),
    Planted(
        name="attempts share the names of manifests",
        plant=attempts_share_a_manifest_name,
        changes=("append", "append"),
        says="a file is written twice",
    ),
    # Summaries
    Planted(
        name="removed files are not counted",
        plant=_summary(lambda parts: (parts[0], parts[1], [], parts[3])),
        changes=("delete-file", PROPERTIES),
        says="summary",
    ),
    Planted(
        name="deletes are counted as data",
        plant=_summary(
            lambda parts: (parts[0], [evolve(one, content=FileContent.DATA) for one in parts[1]], parts[2], parts[3])
        ),
        changes=("equality-delete", PROPERTIES),
        says="summary",
    ),
    Planted(
        name="equality deletes are counted as position deletes",
        plant=_summary(
            lambda parts: (
                parts[0],
                [evolve(one, content=FileContent.POSITION_DELETES) for one in parts[1]],
                parts[2],
                parts[3],
            )
        ),
        changes=("equality-delete", PROPERTIES),
        says="summary",
    ),
    Planted(
        name="vectors count with their whole file",
        plant=_summary(
            lambda parts: (
                parts[0],
                [evolve(one, content_size_in_bytes=one.file_size_in_bytes) for one in parts[1]],
                parts[2],
                parts[3],
            )
        ),
        version=3,
        changes=("position-delete", PROPERTIES),
        says="summary",
    ),
    # References, logs, statistics
    Planted(
        name="branches start from main",
        plant=branches_start_from_main,
        fixture="references",
        changes=("append-to-branch", "tag"),
        says="linear history",
    ),
    Planted(
        name="tags are committed to",
        plant=lambda patch: patch.setattr(conflicts, "check_branch", lambda *_: None),
        fixture="references",
        changes=("append-to-tag", "append"),
        says="forbidden change",
    ),
    Planted(
        name="another table is committed to",
        plant=lambda patch: patch.setattr(commit_module, "check_same_table", lambda *_: None),
        fixture="replaced",
        changes=("append", "replace-table"),
        says="another table",
    ),
    Planted(
        name="the retention of a branch is lost",
        plant=retention_of_a_branch_lost,
        fixture="references",
        changes=("append-to-dev", "tag"),
        says="linear history",
    ),
    Planted(
        name="references of one snapshot are one",
        plant=references_of_one_snapshot_are_one,
        fixture="references",
        changes=("drop-branch", "append"),
        says="lost update",
    ),
    Planted(
        name="snapshots of branches are logged",
        plant=every_snapshot_is_logged,
        fixture="references",
        changes=("append-to-branch", "tag"),
        says="linear history",
    ),
    Planted(
        name="the snapshot log begins anew",
        plant=snapshot_log_begins_anew,
        changes=("append", PROPERTIES),
        says="linear history",
    ),
    Planted(
        name="the snapshot log keeps what expired",
        plant=_metadata_change(ExpireSnapshots, lambda made, before, _: {"snapshot_log": before.snapshot_log}),
        changes=("drop-branch", "expire"),
        says="linear history",
    ),
    Planted(
        name="the metadata log has one file",
        plant=log_of_one_file,
        changes=("append", PROPERTIES),
        says="linear history",
    ),
    Planted(
        name="snapshots without parents",
        plant=_snapshot(lambda *_: {"parent_snapshot_id": None}),
        changes=("append", PROPERTIES),
        says="linear history",
    ),
    Planted(
        name="the time of a snapshot goes back",
        plant=_snapshot(lambda *_: {"timestamp_ms": 1}),
        changes=("append", PROPERTIES),
        says="linear history",
    ),
    Planted(
        name="tags keep no snapshots",
        plant=tags_keep_nothing,
        fixture="references",
        changes=("expire", "rollback"),
        says="missing snapshot",
    ),
    Planted(
        name="statistics outlive their snapshot",
        plant=_metadata_change(ExpireSnapshots, lambda made, before, _: {"statistics": before.statistics}),
        fixture="statistics",
        changes=("drop-branch", "expire"),
        says="missing snapshot",
    ),
    Planted(
        name="statistics of kept snapshots are deleted",
        plant=statistics_of_the_kept_expire,
        fixture="statistics",
        changes=("drop-branch", "expire"),
        says="missing file",
    ),
    Planted(
        name="statistics replace those of all snapshots",
        plant=_metadata_change(SetStatistics, lambda made, _, __: {"statistics": made.statistics[-1:]}),
        fixture="statistics",
        changes=("statistics", "append"),
        says="lost update",
    ),
    Planted(
        name="statistics of the plan",
        plant=_applied_to(SetStatistics, lambda planned, _: {"statistics": planned.statistics}),
        fixture="statistics",
        changes=("statistics", "remove-statistics"),
        says="lost update",
    ),
    Planted(
        name="removing statistics removes all",
        plant=_metadata_change(RemoveStatistics, lambda *_: {"statistics": ()}),
        fixture="statistics",
        changes=("remove-statistics", "append"),
        says="lost update",
    ),
    # Schemas, specs, sort orders, properties, upgrades
    Planted(
        name="old schemas are dropped",
        plant=_metadata_change(ChangeSchema, lambda made, _, __: {"schemas": made.schemas[-1:]}),
        changes=("schema", "append"),
        says="lost update",
    ),
    Planted(
        name="last-column-id does not grow",
        plant=_metadata_change(ChangeSchema, lambda _, before, __: {"last_column_id": before.last_column_id}),
        changes=("schema", "append"),
        says="lost update",
    ),
    Planted(
        name="old specs are dropped",
        plant=_metadata_change(ChangeSpec, lambda made, _, __: {"partition_specs": made.partition_specs[-1:]}),
        fixture="several-specs",
        changes=("spec", "append"),
        says="lost update",
    ),
    Planted(
        name="last-partition-id does not grow",
        plant=_metadata_change(ChangeSpec, lambda _, before, __: {"last_partition_id": before.last_partition_id}),
        fixture="several-specs",
        changes=("spec", "append"),
        says="validator",
    ),
    Planted(
        name="a schema change drops the sort orders",
        plant=_metadata_change(ChangeSchema, lambda made, _, __: {"sort_orders": made.sort_orders[-1:]}),
        changes=("schema", "sort-order"),
        says="lost update",
    ),
    Planted(
        name="sort orders do not rely on the schema",
        plant=only_sort_orders_go_on,
        changes=("sort-order", "schema"),
        says="isolation",
    ),
    Planted(
        name="properties replace all",
        plant=_metadata_change(
            SetProperties,
            lambda made, before, _: {
                "properties": {name: value for name, value in made.properties.items() if name not in before.properties}
            },
        ),
        changes=(PROPERTIES, "append"),
        says="lost update",
    ),
    Planted(
        name="an upgrade forgets the sequence number",
        plant=_metadata_change(UpgradeFormatVersion, lambda *_: {"last_sequence_number": 0}),
        changes=("upgrade", "append"),
        says="lost update",
    ),
    Planted(
        name="an upgrade begins without row ids",
        plant=_metadata_change(UpgradeFormatVersion, lambda *_: {"next_row_id": None}),
        changes=("upgrade", "append"),
        says="row ids",
    ),
    Planted(
        name="row ids are given again",
        plant=row_ids_given_again,
        version=3,
        changes=("fast-append", PROPERTIES),
        says="row ids",
    ),
    Planted(
        name="row ids of added rows alone",
        plant=row_ids_of_added_rows_alone,
        fixture="upgraded",
        version=3,
        changes=("delete-file", "fast-append"),
        says="row ids",
    ),
    Planted(
        name="old manifests get no row ids",
        plant=no_row_ids_for_old_manifests,
        fixture="upgraded",
        version=3,
        changes=("append", "append-to-branch"),
        says="row ids",
    ),
    Planted(
        name="added-rows counts nothing",
        plant=_snapshot(lambda *_: {"added_rows": 0}),
        version=3,
        changes=("append", PROPERTIES),
        says="row ids",
    ),
    Planted(
        name="first-row-id of the plan",
        plant=_snapshot(lambda snapshot, planned, _: {"first_row_id": planned.next_row_id}),
        version=3,
        changes=("append", "append"),
        says="row ids",
    ),
    Planted(
        name="existing files lose their row ids",
        plant=_existing(first_row_id=None),
        version=3,
        changes=("delete-file", PROPERTIES),
        says="row ids",
    ),
    # The rule which delete applies to which data file, which commits ask
    Planted(
        name="rule: the spec of a partition is ignored",
        plant=delete_scope_faults.spec_ignored,
        fixture="several-specs",
        changes=("append", "equality-delete"),
        says="delete scope",
    ),
    Planted(
        name="rule: partitions are ignored",
        plant=delete_scope_faults.partition_ignored,
        fixture="partitioned",
        changes=("append", "equality-delete"),
        says="delete scope",
    ),
    Planted(
        name="rule: NaN is no partition",
        plant=delete_scope_faults.nan_never_equal,
        fixture="nan-partition",
        changes=("rewrite", "equality-delete"),
        says="delete scope",
    ),
    Planted(
        name="rule: null is no partition",
        plant=delete_scope_faults.null_never_equal,
        fixture="null-partition",
        changes=("rewrite", "equality-delete"),
        says="delete scope",
    ),
    Planted(
        name="rule: equality deletes of the same commit",
        plant=delete_scope_faults.equality_of_the_same_commit,
        fixture="several-specs",
        changes=("append-everywhere", "append"),
        says="delete scope",
    ),
    Planted(
        name="rule: positions of older data alone",
        plant=delete_scope_faults.positions_of_older_data_alone,
        fixture="unpartitioned",
        changes=("append", "append"),
        says="delete scope",
    ),
    Planted(
        name="rule: vectors of older data alone",
        plant=delete_scope_faults.positions_of_older_data_alone,
        fixture="unpartitioned",
        version=3,
        changes=("append", "append"),
        says="delete scope",
    ),
    Planted(
        name="rule: sequence numbers are ignored",
        plant=delete_scope_faults.numbers_ignored,
        fixture="unpartitioned",
        changes=("append", "equality-delete"),
        says="delete scope",
    ),
    Planted(
        name="rule: no global equality deletes",
        plant=delete_scope_faults.no_global_deletes,
        fixture="several-specs",
        changes=("rewrite", "global-equality-delete"),
        says="delete scope",
    ),
    Planted(
        name="rule: no equality deletes of a void spec elsewhere",
        plant=delete_scope_faults.no_global_deletes,
        fixture="dropped-source",
        changes=("rewrite", "global-equality-delete"),
        says="delete scope",
    ),
    Planted(
        name="rule: the referenced data file is ignored",
        plant=delete_scope_faults.other_file,
        fixture="partitioned",
        changes=("append", "position-delete"),
        says="delete scope",
    ),
)
"""Faults in what commits write."""
