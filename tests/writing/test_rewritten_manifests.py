"""Rewritten manifests: there are fewer, and their entries keep all values that files inherited before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from written import FIELDS, errors, lines

from conformance.table_io.file_access import read_bytes
from conformance.table_io.writing import (
    Mode,
    WritableTable,
    append,
    create_table,
    delete,
    delete_keys,
    open_table,
    rewrite_manifests,
    update,
)
from spec_ref.commits.changes import ChangeSpec, SetProperties, UpgradeFormatVersion
from spec_ref.core.versions import V1, V2, V3, FormatVersion
from spec_ref.expressions.predicates import Comparison, Literal, NamedReference, Operation
from spec_ref.manifest_lists.manifest_file import ManifestFile
from spec_ref.manifest_lists.reader import read_manifest_list
from spec_ref.manifests.entry import EntryStatus
from spec_ref.manifests.reader import read_manifest
from spec_ref.partitioning.evolution import AddPartitionField
from spec_ref.partitioning.transforms import Identity


def equal(id_: int) -> Any:
    return Comparison(Operation.EQ, NamedReference("id"), Literal(id_))


def rows(*ids: int, part: str = "a") -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int64()), "part": pa.array([part] * len(ids))})


def manifests(table: WritableTable) -> list[ManifestFile]:
    snapshot = table.metadata.current_snapshot
    assert snapshot is not None
    assert snapshot.manifest_list is not None
    return list(read_manifest_list(read_bytes(snapshot.manifest_list), file=snapshot.manifest_list))


def files(table: WritableTable) -> dict[Any, Any]:
    """The entries of live files, by file."""
    found = {}
    for listed in manifests(table):
        manifest = read_manifest(read_bytes(listed.manifest_path), manifest_file=listed)
        for one in manifest.entries():
            key = one.data_file.file_path, one.data_file.content_offset
            if one.status is not EntryStatus.DELETED:
                assert key not in found
                numbers = one.snapshot_id, one.sequence_number, one.file_sequence_number
                found[key] = (*numbers, one.data_file, listed.partition_spec_id)
    return found


def written(tmp_path: Path, version: FormatVersion) -> WritableTable:
    table = create_table(
        str(tmp_path / "t"), FIELDS, version=version, properties={"commit.manifest.min-count-to-merge": "9"}
    )
    append(table, rows(1, 2))
    append(table, rows(3, 4))
    table.commit(ChangeSpec((AddPartitionField((2,), Identity(), "part"),)))
    append(table, rows(5, part="b"))
    append(table, rows(6, 7, part="c"))
    delete(table, equal(5))  # the whole file, whose entry is marked as deleted
    if version is not V1:
        delete(table, equal(6), mode=Mode.MERGE_ON_READ)
        delete_keys(table, rows(1).select(["id"]))
    update(table, {"number": 5}, equal(3), mode=Mode.COPY_ON_WRITE)
    return table


LINEAGE = {V1: (), V2: (), V3: ("_row_id", "_last_updated_sequence_number")}


@pytest.mark.parametrize("version", [V1, V2, V3])
def test_files_keep_what_they_inherited(tmp_path: Path, version: FormatVersion) -> None:
    table = written(tmp_path, version)
    names = ("id", "number", *LINEAGE[version])
    before, listed, seen = files(table), manifests(table), lines(table, *names)
    done = rewrite_manifests(table)
    assert done is not None
    assert done.snapshot is not None
    assert done.snapshot.summary["operation"] == "replace"
    assert files(table) == before
    assert lines(table, *names) == seen
    kinds = {(one.partition_spec_id, one.content) for one in listed}
    left = manifests(table)
    assert len(left) == len(kinds) < len(listed)
    assert {(one.partition_spec_id, one.content) for one in left} == kinds
    assert all((one.added_files_count, one.deleted_files_count) == (0, 0) for one in left if one not in listed)
    assert [one for one in left if one not in listed]
    assert errors(table) == []


def test_manifests_that_would_stay_as_they_are_stay(tmp_path: Path) -> None:
    table = written(tmp_path, V2)
    rewrite_manifests(table)
    once = manifests(table)
    rewrite_manifests(table)
    assert manifests(table) == once
    assert errors(table) == []


def test_manifests_get_no_larger_than_the_table_says(tmp_path: Path) -> None:
    table = create_table(str(tmp_path / "t"), FIELDS, version=V2)
    for one in range(4):
        append(table, rows(one))
    length = max(one.manifest_length for one in manifests(table))
    table.commit(SetProperties({"commit.manifest.target-size-bytes": str(2 * length)}))
    rewrite_manifests(table)
    assert len(manifests(table)) == 2
    assert [line[0] for line in lines(table, "id")] == [0, 1, 2, 3]


def test_rows_of_before_an_upgrade_get_ids_once(tmp_path: Path) -> None:
    table = written(tmp_path, V2)
    table.commit(UpgradeFormatVersion(V3))
    rewrite_manifests(table)
    first = lines(table, "id", "_row_id")
    assert None not in {row_id for _, row_id in first}
    assert len({row_id for _, row_id in first}) == len(first)
    append(table, rows(8))
    rewrite_manifests(table)
    assert set(first) < set(lines(table, "id", "_row_id"))
    assert errors(table) == []


def test_what_others_commit_meanwhile_stays(tmp_path: Path) -> None:
    table = written(tmp_path, V3)
    other = open_table(str(tmp_path / "t"))
    append(other, rows(9))
    delete(other, equal(2), mode=Mode.MERGE_ON_READ)
    seen, before = lines(other, "id", "_row_id"), files(other)
    rewrite_manifests(table)
    assert lines(table, "id", "_row_id") == seen
    assert files(table) == before
    assert errors(table) == []


def test_a_table_without_rows_has_no_manifests(tmp_path: Path) -> None:
    table = create_table(str(tmp_path / "t"), FIELDS, version=V2)
    assert rewrite_manifests(table) is None
    assert table.metadata.snapshots == ()
