"""Which metadata file is a table's, in every layout of a table directory."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest

from conformance.table_io.file_access import FileForbidden, FileMissing, read_bytes
from conformance.table_io.tables import NoTable, load_table
from spec_ref.core.errors import SpecError


def metadata(marker: int) -> bytes:
    document = {
        "format-version": 2,
        "table-uuid": "00000000-0000-0000-0000-000000000001",
        "location": "/t",
        "last-sequence-number": 0,
        "last-updated-ms": marker,
        "last-column-id": 1,
        "current-schema-id": 0,
        "schemas": [
            {"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "x", "required": False, "type": "int"}]}
        ],
        "default-spec-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": []}],
        "last-partition-id": 999,
        "default-sort-order-id": 0,
        "sort-orders": [{"order-id": 0, "fields": []}],
    }
    return json.dumps(document).encode()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "t" / "metadata"
    made.mkdir(parents=True)
    return made


def put(folder: Path, *names: str, hint: str | bytes | None = None) -> None:
    """Metadata files whose ``last-updated-ms`` identifies them: 1 for the first name, 2 for the second."""
    for number, name in enumerate(names, start=1):
        data = metadata(number)
        (folder / name).write_bytes(gzip.compress(data) if ".gz" in name else data)
    if hint is not None:
        (folder / "version-hint.text").write_bytes(hint if isinstance(hint, bytes) else hint.encode())


def loaded(folder: Path) -> int:
    locations = (f"file:{folder.parent}", f"{folder.parent}/", str(folder))
    found = {load_table(location).metadata.last_updated_ms for location in locations}
    assert len(found) == 1
    return found.pop()


def test_a_metadata_file_is_loaded_as_it_is_named(folder: Path) -> None:
    put(folder, "v1.metadata.json", "v2.metadata.json")
    table = load_table(f"file:{folder}/v1.metadata.json")
    assert (table.metadata.last_updated_ms, table.metadata_location) == (1, f"file:{folder}/v1.metadata.json")


@pytest.mark.parametrize("hint", ["2", "2\n", "1", "9", "x y", "", b"\xff\xfe", "../../etc/passwd", "9" * 5000, None])
def test_highest_version_is_the_table_whatever_the_hint_says(folder: Path, hint: str | bytes | None) -> None:
    put(folder, "v1.metadata.json", "v2.metadata.json", hint=hint)
    assert loaded(folder) == 2


def test_versions_are_numbers_not_words(folder: Path) -> None:
    put(folder, "v9.metadata.json", "v10.metadata.json")
    assert loaded(folder) == 2


def test_a_hint_that_may_not_be_read_does_not_matter_where_it_does_not_decide(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(location: str, **limits: int) -> bytes:
        if location.endswith("version-hint.text"):
            raise FileForbidden(location, "reading it is not permitted")
        return read_bytes(location, **limits)

    monkeypatch.setattr("conformance.table_io.tables.read_bytes", forbidden)
    put(folder, "v1.metadata.json", "v2.metadata.json", hint="1")
    assert loaded(folder) == 2


@pytest.mark.parametrize("name", ["v2.gz.metadata.json", "v2.metadata.json.gz"])
def test_gzip_is_found_in_both_namings(folder: Path, name: str) -> None:
    put(folder, "v1.metadata.json", name, hint="2")
    assert loaded(folder) == 2


def test_gzip_is_reported_by_content(folder: Path) -> None:
    (folder / "v1.metadata.json").write_bytes(gzip.compress(metadata(7)))
    assert loaded(folder) == 7


def test_highest_number_of_a_metastore_table(folder: Path) -> None:
    put(folder, "00009-bb.metadata.json", "00010-aa.metadata.json")
    assert loaded(folder) == 2


def test_loser_of_a_race_leaves_open_which_file_is_current(folder: Path) -> None:
    put(folder, "00001-aa.metadata.json", "00001-bb.metadata.json")
    with pytest.raises(NoTable, match=r"version 1 has several .*00001-aa.metadata.json, 00001-bb.metadata.json"):
        loaded(folder)


@pytest.mark.parametrize("hint", ["00001-aa", "00001-aa.metadata.json"])
def test_hint_decides_for_metastore_tables(folder: Path, hint: str) -> None:
    put(folder, "00001-aa.metadata.json", "00001-bb.metadata.json", hint=hint)
    assert loaded(folder) == 1


def test_file_system_and_metastore_files_in_one_directory(folder: Path) -> None:
    put(folder, "v1.metadata.json", "v2.metadata.json", "00007-bb.metadata.json", hint="1")
    assert loaded(folder) == 2


def test_metadata_may_stand_in_the_directory_itself(tmp_path: Path) -> None:
    put(tmp_path, "v1.metadata.json", "snap-1.avro.metadata.json")
    assert load_table(str(tmp_path)).metadata.last_updated_ms == 1


def test_directory_without_metadata(folder: Path) -> None:
    (folder / "other.json").write_bytes(b"{}")
    with pytest.raises(NoTable, match="no file has a name of table metadata"):
        load_table(str(folder.parent))


def test_missing_table(tmp_path: Path) -> None:
    with pytest.raises(FileMissing, match=f"{tmp_path}/none: there is no such file"):
        load_table(f"{tmp_path}/none")


def test_a_location_with_percent_signs_names_the_folder_that_is_meant(tmp_path: Path) -> None:
    for name in ("a b", "a%20b"):
        (tmp_path / name).mkdir()
    put(tmp_path / "a b", "v1.metadata.json")
    put(tmp_path / "a%20b", "v1.metadata.json", "v2.metadata.json")
    assert load_table(f"file://{tmp_path}/a b").metadata.last_updated_ms == 1
    assert load_table(f"file://{tmp_path}/a%20b").metadata.last_updated_ms == 2
    shutil.rmtree(tmp_path / "a%20b")
    with pytest.raises(NoTable, match=f"there is no such file or directory; .*: write file://{tmp_path}/a b$"):
        load_table(f"file://{tmp_path}/a%20b")


def test_broken_metadata_is_reported_with_its_file(folder: Path) -> None:
    (folder / "v1.metadata.json").write_bytes(b"{")
    with pytest.raises(SpecError, match=r"v1\.metadata\.json"):
        load_table(str(folder.parent))
