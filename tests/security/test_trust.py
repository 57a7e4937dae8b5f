"""What tables, vectors and indexes may make the tool read and write (SECURITY.md)."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest
from pyarrow import fs

from conformance import vectors
from conformance.cli.validate import validate
from conformance.core.failures import ExitStatus, UsageError
from conformance.table_io import object_stores
from conformance.table_io.file_access import LOCAL_FILES, FileAccessError, FileForbidden, read_bytes
from conformance.table_io.tables import load_table
from conformance.table_io.trust import LocalFilePolicy
from conformance.vectors.golden_places import FOLDER, PLACE
from conformance.vectors.golden_tables import index, materialize, materialize_for

TABLE = "types-v2-parquet"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store whose buckets are folders."""
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.delenv(name, raising=False)

    def served(_bucket: str, _settings: dict[str, str]) -> fs.FileSystem:
        return fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())

    object_stores.open_file_system.cache_clear()
    monkeypatch.setitem(object_stores.STORES, "s3", served)
    yield tmp_path
    object_stores.open_file_system.cache_clear()


@pytest.fixture
def remote(store: Path) -> str:
    """A table on a store whose metadata names files of this machine, which are there."""
    materialize([TABLE])
    (store / "lake" / "t" / "metadata").mkdir(parents=True)
    text = (PLACE / TABLE / index(TABLE)["metadata"]).read_bytes()
    (store / "lake" / "t" / "metadata" / "v1.metadata.json").write_bytes(text)
    return "s3://lake/t"


UNREADABLE = ["snapshot-manifest-list-unreadable"]
"""Findings about the manifest list, which exists on this machine."""


def test_a_table_on_a_store_makes_no_file_of_this_machine_read(remote: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert validate(remote, format="json", workers=1) == ExitStatus.FAILURES
    (table,) = json.loads(capsys.readouterr().out)["tables"]
    assert [one["check"] for one in table["findings"] if one["severity"] == "error"] == UNREADABLE
    assert LOCAL_FILES not in os.environ


def test_it_does_where_that_is_allowed(remote: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert validate(remote, format="json", workers=1, allow_local_files=True) == ExitStatus.CONFORMANT
    (table,) = json.loads(capsys.readouterr().out)["tables"]
    assert not {one["check"] for one in table["findings"]} & set(UNREADABLE)


def test_tables_of_both_kinds_are_not_read_in_one_run(remote: str) -> None:
    with pytest.raises(UsageError, match="two runs"):
        validate(remote, str(PLACE / TABLE), level="metadata")
    with pytest.raises(UsageError, match="two runs"):
        validate(str(PLACE / TABLE), remote, level="metadata")
    assert validate(str(PLACE / TABLE), remote, level="metadata", allow_local_files=True) == ExitStatus.CONFORMANT


def test_the_rule_holds_while_a_table_is_read_and_no_longer(store: Path) -> None:
    (store / "a").write_bytes(b"1")
    with LocalFilePolicy().reading("s3://lake/t"), pytest.raises(FileForbidden, match="allow-local-files"):
        read_bytes(str(store / "a"))
    assert read_bytes(str(store / "a")) == b"1"
    with LocalFilePolicy().reading(str(store)):
        assert read_bytes(f"file://{store}/a") == b"1"


@pytest.mark.parametrize("place", ["/dev/zero", "pipe"])
def test_what_never_ends_is_not_read(place: str, tmp_path: Path) -> None:
    if place == "pipe":
        place = str(tmp_path / "pipe")
        os.mkfifo(place)
    with pytest.raises(FileAccessError, match="a pipe or a device"):
        read_bytes(place)


def test_the_version_hint_names_no_file_elsewhere(tmp_path: Path) -> None:
    """A hint is a version or the name of a file beside it."""
    elsewhere = tmp_path / "elsewhere.metadata.json"
    elsewhere.write_text("{}")
    folder = tmp_path / "t" / "metadata"
    folder.mkdir(parents=True)
    (folder / "version-hint.text").write_text("../../elsewhere.metadata.json")
    with pytest.raises(Exception, match="no file has a name of table metadata"):
        load_table(str(tmp_path / "t"))


# Vectors and the tables that they name


def _vectors(folder: Path, table: str) -> Path:
    args = {"table": table, "types": {"id": "long"}}
    row = {
        "id": "a",
        "requirements": ["SCN001"],
        "versions": [2],
        "args": args,
        "expect": {"ok": {"rows": []}},
        "origin": "spec: x",
    }
    content = {"suite": "reading", "operation": "table.read", "section": "Scan Planning", "vectors": [row]}
    (folder / "reading").mkdir(parents=True)
    (folder / "reading" / "a.json").write_text(json.dumps(content))
    return folder


@pytest.mark.parametrize(
    "table",
    [
        "/etc/passwd",
        "file:///etc/passwd",
        "s3://bucket/t/metadata/v1.metadata.json",
        "metadata/v1.metadata.json",
        f"{PLACE}/../../etc/passwd",
        f"{PLACE}/t/../../../x",
        f"{PLACE}",
        f"{PLACE}/t",
        f"{PLACE}x/t/v1.metadata.json",
        f"{PLACE}/t/\0",
    ],
)
def test_vectors_ask_about_golden_tables_only(table: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a file of a golden table"):
        vectors.load(_vectors(tmp_path, table))


def test_vectors_may_ask_about_golden_tables(tmp_path: Path) -> None:
    (one,) = vectors.load(_vectors(tmp_path, f"{PLACE}/t/metadata/v1.metadata.json"))
    with pytest.raises(UsageError, match="no golden table 't'"):
        materialize_for([one])


@pytest.mark.parametrize("name", ["..", ".", "", "a/b", "../x", "/etc"])
def test_the_name_of_a_golden_table_is_no_path(name: str, tmp_path: Path) -> None:
    (tmp_path / "golden" / "index.json").parent.mkdir(parents=True)
    (tmp_path / "golden" / "index.json").write_text('{"files": {}}')
    place = tmp_path / "place" / "tables"
    with pytest.raises(UsageError, match="not the name of a golden table"):
        materialize([name], tmp_path, place)
    assert not place.exists()


@pytest.mark.parametrize("name", ["../x", "/tmp/x", "a/../../x", "..", "", ".", "a\0b"])
def test_an_index_names_files_below_its_table_only(name: str, tmp_path: Path) -> None:
    kept = tmp_path / "vectors" / FOLDER / "one"
    kept.mkdir(parents=True)
    (kept / "index.json").write_text(json.dumps({"files": {name: hashlib.sha256(b"").hexdigest()}}))
    (tmp_path / "vectors" / FOLDER / "x").write_bytes(b"")
    place = tmp_path / "place" / "tables"
    place.parent.mkdir()
    with pytest.raises(UsageError, match="is not a file of the table"):
        materialize(["one"], tmp_path / "vectors", place)
    assert not list(tmp_path.glob("place/*/*"))
