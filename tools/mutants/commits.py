"""Commits where something is wrong that no log of ``commit.replay`` can show: files that are gone, tables that are not.

The sentence next to each says what has to happen; the store is the one in memory that logs are replayed on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tools.mutants.values import Check, refused

MOST_READS = 200
"""Files that a commit may read here before it counts as one that does not come to an end."""


class Endless(Exception):
    """A commit reads again and again."""


def _table(version: int = 2, *appended: Any) -> tuple[Any, Any]:
    """A table in memory with files that were appended, and what commits to it."""
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
    """What changes a table needs one (OCC001)."""
    from conformance.operations.commits.fixtures import data
    from conformance.operations.commits.reference import MemoryRunner, MemoryStore
    from spec_ref.commits import changes
    from spec_ref.data_types.types import INT
    from spec_ref.schemas.evolution import AddColumn

    store = MemoryStore()
    runner = MemoryRunner(store)
    every = (changes.append([data("a")]), changes.ChangeSchema((AddColumn("b", INT),)))
    return all(refused(lambda one=one: runner.commit(one), "OCC001") for one in every) and store.pointer is None  # type: ignore[misc]


def _list_gone() -> bool:
    """The files of a table whose manifest list is gone are not known, and nothing is committed to it (SNP005)."""
    from conformance.operations.commits.fixtures import data
    from spec_ref.commits import changes

    store, runner = _table(2, [data("a")])
    before = store.pointer
    store.delete(_base(runner).metadata.current_snapshot.manifest_list)
    return refused(lambda: runner.commit(changes.append([data("b")])), "SNP005") and store.pointer == before


def _named_manifests() -> bool:
    """A manifest that metadata of v1 names itself is listed by the next commit as it is (SNP006, MLS010 to MLS015)."""
    from conformance.operations.commits.fixtures import data
    from spec_ref.commits import changes
    from spec_ref.commits.payloads import FileKind
    from spec_ref.core.records import evolve

    store, runner = _table(1, [data("a", rows=10), data("b", rows=20)])
    base = _base(runner)
    (snapshot,) = base.metadata.snapshots
    (listed,) = runner.read(snapshot.manifest_list, FileKind.MANIFEST_LIST).files
    old = evolve(snapshot, manifest_list=None, manifests=(listed.manifest_path,))
    store.files[base.location] = evolve(base.metadata, snapshots=(old,))
    runner.commit(changes.fast_append([data("c")]))
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
    """A manifest of v1 that says nothing of its spec is of the first one, as there was no other (PAR014, MAN008)."""
    from spec_ref.commits.payloads import FileKind, decode
    from tools.derive.manifests import entry, manifest

    bare = dict.fromkeys(("schema-id", "partition-spec", "partition-spec-id", "format-version"))
    read: Any = decode(manifest(1, [{**entry(1), "snapshot_id": 7}], metadata=bare), FileKind.MANIFEST, "m")
    return bool(read.spec.spec_id == 0 and read.spec.is_unpartitioned and len(read.entries) == 1)


def _replaced() -> bool:
    """If the answer is lost and the table was replaced, the history does not show the outcome (OCC012)."""
    from conformance.operations.commits.fixtures import data
    from spec_ref.commits import CommitStateUnknown, changes
    from spec_ref.commits.effects import Swap
    from spec_ref.core.records import evolve

    store, runner = _table(2, [data("a")])
    base = _base(runner)
    other = base.location.replace("metadata/", "metadata/other-")
    store.files[other] = evolve(base.metadata, metadata_log=())
    swap = store.swap_pointer

    def lost(expected: str | None, new: str) -> Swap:
        done: Swap = swap(expected, new)
        if done is not Swap.DONE:
            return done
        store.pointer = other
        return Swap.UNKNOWN

    store.swap_pointer = lost
    try:
        runner.commit(changes.append([data("b")]), base=base)
    except CommitStateUnknown:
        return bool(store.pointer == other)
    return False


def _expired() -> bool:
    """Files that expired snapshots alone have are deleted, and none that is live (Snapshot Retention Policy)."""
    from conformance.operations.commits.fixtures import data, data_path
    from spec_ref.commits import changes
    from spec_ref.commits.payloads import FileKind

    store, runner = _table(2, [data("a")], [data("b")])
    before = _base(runner).metadata
    lists = [one.manifest_list for one in before.snapshots]
    (alone,) = runner.read(lists[0], FileKind.MANIFEST_LIST).files
    runner.commit(changes.delete_files([data_path("a")]))
    deleted: list[str] = []
    store.delete = deleted.append
    runner.commit(changes.Expire(1 << 60, clean_files=True))
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
    """A manifest whose counts a list of v1 leaves out is counted by the first commit of v2 (MLS010 to MLS015)."""
    from conformance.operations.commits.fixtures import UUID, data
    from spec_ref.commits import changes
    from spec_ref.commits.payloads import FileKind, encode
    from spec_ref.core.records import evolve
    from spec_ref.core.versions import V2

    store, runner = _table(1, [data("a", rows=10), data("b", rows=20)])
    path = _base(runner).metadata.current_snapshot.manifest_list
    read = runner.read(path, FileKind.MANIFEST_LIST)
    store.files[path] = evolve(read, files=tuple(evolve(one, added_rows_count=None) for one in read.files))
    runner.commit(changes.Upgrade(V2, UUID))
    runner.commit(changes.fast_append([data("c", rows=5)]))
    made = _base(runner).metadata.current_snapshot.manifest_list
    listed = runner.read(made, FileKind.MANIFEST_LIST)
    return sorted(one.added_rows_count for one in listed.files) == [5, 30] and bool(encode(listed, made))


def _tag() -> bool:
    """A tag stays with its snapshot (REF008), and has no retention of snapshots (REF003)."""
    from conformance.operations.commits.fixtures import data
    from spec_ref.commits import changes
    from spec_ref.snapshots.references import RefType, SnapshotRef

    store, runner = _table(2, [data("a")])
    tag = SnapshotRef(snapshot_id=_base(runner).metadata.current_snapshot_id, type=RefType.TAG)
    runner.commit(changes.SetReference("v1", tag))
    before = store.pointer
    kept = SnapshotRef(snapshot_id=tag.snapshot_id, type=RefType.TAG, min_snapshots_to_keep=1)
    return (
        refused(lambda: runner.commit(changes.fast_append([data("b")], branch="v1")), "REF008")
        and refused(lambda: runner.commit(changes.SetReference("v2", kept)), "REF003")
        and store.pointer == before
    )


def _two_vectors() -> bool:
    """One commit adds one deletion vector of a data file at most (DEL003)."""
    from conformance.operations.commits.fixtures import data, vector
    from spec_ref.commits import changes

    store, runner = _table(3, [data("a")])
    before = store.pointer
    two = changes.row_delta([vector("v1", "a"), vector("v2", "a")])
    return refused(lambda: runner.commit(two), "DEL003") and store.pointer == before


def _another_table() -> bool:
    """Nothing is committed to a table of another UUID than that of the one that was planned on (TMD035)."""
    from conformance.operations.commits.fixtures import UUID, data
    from spec_ref.commits import changes
    from spec_ref.core.records import evolve

    store, runner = _table(2, [data("a")])
    base = _base(runner)
    store.pointer = base.location.replace("metadata/", "metadata/other-")
    store.files[store.pointer] = evolve(base.metadata, table_uuid=UUID[::-1])
    before = store.pointer
    change = changes.fast_append([data("b")])
    return refused(lambda: runner.commit(change, base=base), "TMD035") and store.pointer == before


def commits() -> dict[str, Check]:
    """Commit to tables that do not exist, whose files are gone, or that were replaced."""
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
