"""Manifests and manifest lists of released engines hold what the statements that wrote them say.

The files and what to expect of them are made by ``tools/golden/make_manifests.py``; the entries are derived from the
statements there, not from any reader.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from spec_ref.core.versions import FormatVersion
from spec_ref.manifest_lists.checks import check_manifest_list
from spec_ref.manifest_lists.reader import read_manifest_list
from spec_ref.manifest_lists.writer import write_manifest_list
from spec_ref.manifests import EntryStatus, ManifestEntry, check_manifest, read_manifest, write_manifest
from spec_ref.manifests.writer import build_manifest_file

GOLDEN = Path(__file__).parents[2] / "vectors/golden/manifests"

SNAPSHOTS = [
    pytest.param(index, snapshot, id=snapshot["name"])
    for index in (json.loads(path.read_text()) for path in sorted(GOLDEN.glob("*.json")))
    for snapshot in index["snapshots"]
]

DEVIATIONS = {
    # They do not write the key schema-id, and readers are not to need it (contradiction C1).
    ("iceberg-java", 2): {"MAN006"},
    ("iceberg-java", 3): {"MAN006"},
    # The required snapshot id of v1 is optional in the Avro schema.
    ("iceberg-java", 1): {"MAN012"},
    # The elements of equality_ids are longs in the Avro schema, which Iceberg-Java refuses in a file that has some.
    ("pyiceberg", 2): {"MAN006", "DFL020"},
    ("pyiceberg", 1): set(),
}
"""What Iceberg-Java 1.10.2 and PyIceberg 0.12.0 do otherwise than the spec asks."""


def read_entries(index: dict[str, Any], snapshot: dict[str, Any]) -> list[dict[str, Any]]:
    """The entries of all manifests of a snapshot, in the form of the index."""
    made = []
    ids = index["partition_fields"]
    listed = read_manifest_list((GOLDEN / snapshot["manifest_list"]).read_bytes())
    assert {manifest.manifest_path for manifest in listed} == set(snapshot["manifests"])
    for manifest in listed:
        data = (GOLDEN / snapshot["manifests"][manifest.manifest_path]).read_bytes()
        assert manifest.manifest_length == len(data)
        opened = read_manifest(data, manifest_file=manifest)
        assert opened.format_version == snapshot["format_version"]
        for entry in opened.entries():
            number = entry.sequence_number
            fields = {
                "status": int(entry.status),
                "content": int(entry.data_file.content),
                "partition": {name: entry.data_file.partition[field] for name, field in ids.items()},
                "record_count": entry.data_file.record_count,
                "number": number,
            }
            assert entry.file_sequence_number == number
            fields["first_row_id"] = entry.data_file.first_row_id
            if entry.data_file.is_deletion_vector:
                fields.update(format=entry.data_file.file_format.value, content_offset=entry.data_file.content_offset)
                assert entry.data_file.referenced_data_file is not None
            made.append(fields)
    return made


@pytest.mark.parametrize(("index", "snapshot"), SNAPSHOTS)
def test_entries_are_those_of_the_statements(index: dict[str, Any], snapshot: dict[str, Any]) -> None:
    expected = snapshot["entries"]
    if snapshot["format_version"] == 1:  # v1 has no sequence numbers: they are read as 0 (SEQ009)
        expected = [{**entry, "number": 0} for entry in expected]
    found = read_entries(index, snapshot)
    assert sorted(map(repr, found)) == sorted(repr({**entry}) for entry in expected)


@pytest.mark.parametrize(("index", "snapshot"), SNAPSHOTS)
def test_the_check_finds_exactly_the_known_deviations(index: dict[str, Any], snapshot: dict[str, Any]) -> None:
    version = FormatVersion(snapshot["format_version"])
    data = (GOLDEN / snapshot["manifest_list"]).read_bytes()
    assert check_manifest_list(data, version) == []
    for manifest in read_manifest_list(data):
        content = (GOLDEN / snapshot["manifests"][manifest.manifest_path]).read_bytes()
        found = check_manifest(content, manifest_file=manifest)
        known = DEVIATIONS[index["engine"], snapshot["format_version"]]
        assert {finding.requirement for finding in found} == known, [str(finding) for finding in found]


@pytest.mark.parametrize(("index", "snapshot"), SNAPSHOTS)
def test_what_an_engine_wrote_survives_our_writer(index: dict[str, Any], snapshot: dict[str, Any]) -> None:
    version = FormatVersion(snapshot["format_version"])
    listed = read_manifest_list((GOLDEN / snapshot["manifest_list"]).read_bytes())
    assert read_manifest_list(write_manifest_list(listed, version)) == listed
    for manifest in listed:
        opened = read_manifest((GOLDEN / snapshot["manifests"][manifest.manifest_path]).read_bytes())
        assert opened.spec is not None
        entries = list(opened.entries())
        schema = opened.header.schema()
        data = write_manifest(entries, opened.spec, schema, version, manifest.content)
        assert list(read_manifest(data).entries()) == entries
        entry = build_manifest_file(
            entries,
            opened.spec,
            schema,
            path=manifest.manifest_path,
            length=manifest.manifest_length,
            snapshot_id=manifest.added_snapshot_id,
            sequence_number=manifest.sequence_number,
            content=manifest.content,
            key_metadata=manifest.key_metadata,
            first_row_id=manifest.first_row_id,
        )
        assert entry == manifest


def test_a_v1_manifest_of_an_upgraded_table_gets_number_0() -> None:
    data = (GOLDEN / "iceberg-java-v1-1-manifest-0.avro").read_bytes()
    listed = read_manifest_list((GOLDEN / "iceberg-java-v1-1-list.avro").read_bytes())[0]
    entry = next(iter(read_manifest(data, manifest_file=listed).entries()))
    assert (entry.status, entry.sequence_number, entry.file_sequence_number) == (EntryStatus.ADDED, 0, 0)
    assert isinstance(entry, ManifestEntry)
