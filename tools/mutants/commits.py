"""Commits to tables with faults that no log of ``commit.replay`` can show: missing files, replaced tables.

The docstring of each check states the required behaviour. The store is the in-memory store on which logs are replayed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tools.mutants.values import Check, is_refused

MOST_READS = 200
"""The number of reads after which a commit counts as endless."""


class Endless(Exception):
    """A commit reads files endlessly."""


def _table(version: int = 2, *appended: Any) -> tuple[Any, Any]:
    """Return a table in memory with appended files, and a function that commits to it."""
    from conformance.adapter_sdk.race_logs import PROPERTIES
    from conformance.operations.commits.fixtures import LOCATION, empty_table
    from conformance.operations.commits.reference import MemoryRunner, MemoryStore
    from spec_ref.commits import changes

    class Counted(MemoryRunner):
        reads = 0

        def read(self, path: str, kind: Any) -> Any:
            self.reads += 1
            if self.reads > MOST_READS:
                raise Endless
            return super().read(path, kind)

    store = MemoryStore()
    runner = Counted(store)
    runner.commit(changes.CreateTable(empty_table(version, LOCATION, dict(PROPERTIES))))
    for files in appended:
        runner.commit(changes.fast_append(files))
    return store, runner


def _base(runner: Any) -> Any:
    from spec_ref.commits import load

    return runner.run(load())


def _no_table() -> bool:
    """Check that a change of a table requires the table to exist (OCC001)."""
    from conformance.operations.commits.fixtures import data_file
    from conformance.operations.commits.reference import MemoryRunner, MemoryStore
    from spec_ref.commits import changes
    from spec_ref.data_types.types import INT
    from spec_ref.schemas.evolution import AddColumn

    store = MemoryStore()
    runner = MemoryRunner(store)
    every = (changes.append([data_file("a")]), changes.ChangeSchema((AddColumn("b", INT),)))
    return all(is_refused(lambda one=one: runner.commit(one), "OCC001") for one in every) and store.pointer is None  # type: ignore[misc]


def _list_gone() -> bool:
    """Check that nothing is committed to a table with a missing manifest list, as its files are unknown (SNP005)."""
    from conformance.operations.commits.fixtures import data_file
    from spec_ref.commits import changes

    store, runner = _table(2, [data_file("a")])
    before = store.pointer
    store.delete(_base(runner).metadata.current_snapshot.manifest_list)
    return is_refused(lambda: runner.commit(changes.append([data_file("b")])), "SNP005") and store.pointer == before


def _named_manifests() -> bool:
    """Check that the next commit lists a manifest that v1 metadata names itself (SNP006, MLS010 to MLS015)."""
    from conformance.operations.commits.fixtures import data_file
    from spec_ref.commits import changes
    from spec_ref.commits.payloads import FileKind
    from spec_ref.core.records import evolve

    store, runner = _table(1, [data_file("a", rows=10), data_file("b", rows=20)])
    base = _base(runner)
    (snapshot,) = base.metadata.snapshots
    (listed,) = runner.read(snapshot.manifest_list, FileKind.MANIFEST_LIST).files
    old = evolve(snapshot, manifest_list=None, manifests=(listed.manifest_path,))
    store.files[base.location] = evolve(base.metadata, snapshots=(old,))
    runner.commit(changes.fast_append([data_file("c")]))
    made = runner.read(_base(runner).metadata.current_snapshot.manifest_list, FileKind.MANIFEST_LIST).files
    (again,) = (one for one in made if one.manifest_path == listed.manifest_path)
    counts = (
        again.added_files_count,
        again.added_rows_count,
        again.existing_files_count,
        again.existing_rows_count,
        again.deleted_files_count,
        again.deleted_rows_count,
    )
    return counts == (2, 30, 0, 0, 0, 0) and again.partition_spec_id == 0


def _bare_header() -> bool:
    """Check that a v1 manifest whose header names no spec has the first one (PAR014, MAN008)."""
    from spec_ref.commits.payloads import FileKind, decode
    from tools.derive.manifests import entry, manifest

    bare = dict.fromkeys(("schema-id", "partition-spec", "partition-spec-id", "format-version"))
    read: Any = decode(manifest(1, [{**entry(1), "snapshot_id": 7}], metadata=bare), FileKind.MANIFEST, "m")
    return bool(read.spec.spec_id == 0 and read.spec.is_unpartitioned and len(read.entries) == 1)


def _replaced() -> bool:
    """Check that, after a lost answer, the history of a replaced table does not show the outcome (OCC012)."""
    from conformance.operations.commits.fixtures import data_file
    from spec_ref.commits import CommitStateUnknown, changes
    from spec_ref.commits.effects import SwapResult
    from spec_ref.core.records import evolve

    store, runner = _table(2, [data_file("a")])
    base = _base(runner)
    other = base.location.replace("metadata/", "metadata/other-")
    store.files[other] = evolve(base.metadata, metadata_log=())
    swap = store.swap_pointer

    def lost(expected: str | None, new: str) -> SwapResult:
        done: SwapResult = swap(expected, new)
        if done is not SwapResult.DONE:
            return done
        store.pointer = other
        return SwapResult.UNKNOWN

    store.swap_pointer = lost
    try:
        runner.commit(changes.append([data_file("b")]), base=base)
    except CommitStateUnknown:
        return bool(store.pointer == other)
    return False


def _expired() -> bool:
    """Check that files of only expired snapshots are deleted, and no live file (Snapshot Retention Policy)."""
    from conformance.operations.commits.fixtures import data_file, data_path
    from spec_ref.commits import changes
    from spec_ref.commits.payloads import FileKind

    store, runner = _table(2, [data_file("a")], [data_file("b")])
    before = _base(runner).metadata
    lists = [one.manifest_list for one in before.snapshots]
    (alone,) = runner.read(lists[0], FileKind.MANIFEST_LIST).files
    runner.commit(changes.delete_files([data_path("a")]))
    deleted: list[str] = []
    store.delete = deleted.append
    runner.commit(changes.ExpireSnapshots(1 << 60, clean_files=True))
    metadata = _base(runner).metadata
    kept = {
        one.manifest_path for one in runner.read(metadata.current_snapshot.manifest_list, FileKind.MANIFEST_LIST).files
    }
    return (
        len(metadata.snapshots) == 1
        and {data_path("a"), alone.manifest_path, *lists} <= set(deleted)
        and not {data_path("b"), metadata.current_snapshot.manifest_list, *kept} & set(deleted)
    )


def _counts_left_out() -> bool:
    """Check that the first v2 commit counts a manifest whose counts a v1 list leaves out (MLS010 to MLS015)."""
    from conformance.operations.commits.fixtures import UUID, data_file
    from spec_ref.commits import changes
    from spec_ref.commits.payloads import FileKind, encode
    from spec_ref.core.records import evolve
    from spec_ref.core.versions import V2

    store, runner = _table(1, [data_file("a", rows=10), data_file("b", rows=20)])
    path = _base(runner).metadata.current_snapshot.manifest_list
    read = runner.read(path, FileKind.MANIFEST_LIST)
    store.files[path] = evolve(read, files=tuple(evolve(one, added_rows_count=None) for one in read.files))
    runner.commit(changes.UpgradeFormatVersion(V2, UUID))
    runner.commit(changes.fast_append([data_file("c", rows=5)]))
    made = _base(runner).metadata.current_snapshot.manifest_list
    listed = runner.read(made, FileKind.MANIFEST_LIST)
    return sorted(one.added_rows_count for one in listed.files) == [5, 30] and bool(encode(listed, made))


def _tag() -> bool:
    """Check that a tag stays at its snapshot (REF008), and that it has no retention of snapshots (REF003)."""
    from conformance.operations.commits.fixtures import data_file
    from spec_ref.commits import changes
    from spec_ref.snapshots.references import RefType, SnapshotRef

    store, runner = _table(2, [data_file("a")])
    tag = SnapshotRef(snapshot_id=_base(runner).metadata.current_snapshot_id, type=RefType.TAG)
    runner.commit(changes.SetReference("v1", tag))
    before = store.pointer
    kept = SnapshotRef(snapshot_id=tag.snapshot_id, type=RefType.TAG, min_snapshots_to_keep=1)
    return (
        is_refused(lambda: runner.commit(changes.fast_append([data_file("b")], branch="v1")), "REF008")
        and is_refused(lambda: runner.commit(changes.SetReference("v2", kept)), "REF003")
        and store.pointer == before
    )


def _two_vectors() -> bool:
    """Check that a commit adds at most one deletion vector of a data file (DEL003)."""
    from conformance.operations.commits.fixtures import data_file, deletion_vector
    from spec_ref.commits import changes

    store, runner = _table(3, [data_file("a")])
    before = store.pointer
    two = changes.row_delta([deletion_vector("v1", "a"), deletion_vector("v2", "a")])
    return is_refused(lambda: runner.commit(two), "DEL003") and store.pointer == before


def _another_table() -> bool:
    """Check that nothing is committed to a table whose UUID differs from that of the planned one (TMD035)."""
    from conformance.operations.commits.fixtures import UUID, data_file
    from spec_ref.commits import changes
    from spec_ref.core.records import evolve

    store, runner = _table(2, [data_file("a")])
    base = _base(runner)
    store.pointer = base.location.replace("metadata/", "metadata/other-")
    store.files[store.pointer] = evolve(base.metadata, table_uuid=UUID[::-1])
    before = store.pointer
    change = changes.fast_append([data_file("b")])
    return is_refused(lambda: runner.commit(change, base=base), "TMD035") and store.pointer == before


def commits() -> dict[str, Check]:
    """Return the checks of commits to tables that do not exist, whose files are gone, or that were replaced."""
    every: dict[str, Callable[[], bool]] = {
        "no table": _no_table,
        "a list that is gone": _list_gone,
        "manifests in metadata": _named_manifests,
        "a bare header": _bare_header,
        "a table that was replaced": _replaced,
        "expired files": _expired,
        "counts left out": _counts_left_out,
        "a tag": _tag,
        "two vectors in one commit": _two_vectors,
        "another table": _another_table,
    }
    return every
