"""Copying golden tables: verified, complete, and only to places where no other user can write."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from conformance.core.failures import UsageError
from conformance.operations.registry import OPERATIONS
from conformance.vectors import Vector, golden_tables
from conformance.vectors.golden_tables import (
    FOLDER,
    PLACE,
    index,
    materialize,
    materialize_for,
    table_names,
    tables_folder,
    used_golden_tables,
)

FILES = {"metadata/v1.metadata.json": b"{}", "data/p=%C3%A9/a b.parquet": b"PAR1"}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    for name in ("one", "two"):
        kept = tmp_path / "vectors" / FOLDER / name
        for path, data in FILES.items():
            (kept / path).parent.mkdir(parents=True, exist_ok=True)
            (kept / path).write_bytes(data)
        files = {path: hashlib.sha256(data).hexdigest() for path, data in FILES.items()}
        (kept / "index.json").write_text(json.dumps({"files": files}))
    return tmp_path / "vectors"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "place" / "tables"


@pytest.fixture(autouse=True)
def _parent(place: Path) -> None:
    place.parent.parent.mkdir(exist_ok=True)


def _files(table: Path) -> dict[str, bytes]:
    return {str(path.relative_to(table)): path.read_bytes() for path in table.rglob("*") if path.is_file()}


def test_all_tables_are_put_there_file_by_file(source: Path, place: Path) -> None:
    materialize(None, source, place)
    assert table_names(source) == sorted(path.name for path in place.iterdir()) == ["one", "two"]
    assert _files(place / "one") == FILES


def test_only_the_tables_that_are_named(source: Path, place: Path) -> None:
    materialize(["two"], source, place)
    assert [path.name for path in place.iterdir()] == ["two"]


def test_a_table_that_is_there_is_left_alone(source: Path, place: Path) -> None:
    materialize(["one"], source, place)
    before = (place / "one").stat().st_ino
    materialize(["one"], source, place)
    assert (place / "one").stat().st_ino == before


def test_a_table_that_different_code_relocated_is_replaced(
    source: Path, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    materialize(["one"], source, place)
    before = (place / "one").stat().st_ino
    changed = shutil.copytree(golden_tables.RELOCATION, tmp_path / "relocation")
    (changed / "documents.py").write_text("# changed\n")
    monkeypatch.setattr(golden_tables, "RELOCATION", changed)
    golden_tables._relocating_code.cache_clear()
    try:
        materialize(["one"], source, place)
    finally:
        golden_tables._relocating_code.cache_clear()
    assert (place / "one").stat().st_ino != before


@pytest.mark.parametrize("change", ["bytes", "more", "less", "link"])
def test_a_table_that_was_changed_is_replaced(change: str, source: Path, place: Path) -> None:
    materialize(["one"], source, place)
    file = place / "one" / "metadata" / "v1.metadata.json"
    if change == "bytes":
        file.write_bytes(b"{ }")
    elif change == "more":
        (place / "one" / "metadata" / "version-hint.text").write_text("1")
    else:
        file.unlink()
    if change == "link":
        file.symlink_to(source / FOLDER / "one" / "metadata" / "v1.metadata.json")
    materialize(["one"], source, place)
    assert _files(place / "one") == FILES
    assert not file.is_symlink()
    assert [path.name for path in place.iterdir()] == ["one"]


def test_bytes_that_are_not_those_of_the_index_are_refused(source: Path, place: Path) -> None:
    (source / FOLDER / "one" / "metadata" / "v1.metadata.json").write_bytes(b"{ }")
    with pytest.raises(UsageError, match=r"v1\.metadata\.json.*sha256"):
        materialize(["one"], source, place)
    assert list(place.iterdir()) == []


def test_a_file_that_is_missing_is_reported(source: Path, place: Path) -> None:
    (source / FOLDER / "one" / "metadata" / "v1.metadata.json").unlink()
    with pytest.raises(UsageError, match=r"v1\.metadata\.json"):
        materialize(["one"], source, place)


@pytest.mark.parametrize("path", ["../two/x", "/etc/hosts"])
def test_an_index_cannot_name_files_outside_the_table(path: str, source: Path, place: Path) -> None:
    (source / FOLDER / "one" / "index.json").write_text(json.dumps({"files": {path: "00"}}))
    with pytest.raises(UsageError, match="broken index"):
        materialize(["one"], source, place)


@pytest.mark.parametrize("text", ["{", "[]", "{}"])
def test_a_broken_index_is_reported(text: str, source: Path) -> None:
    (source / FOLDER / "one" / "index.json").write_text(text)
    with pytest.raises(UsageError, match="broken index"):
        index("one", source)


def test_a_table_that_is_not_kept_is_reported(source: Path, place: Path) -> None:
    with pytest.raises(UsageError, match="no golden table 'three'"):
        materialize(["three"], source, place)


@pytest.mark.parametrize("kind", ["writable", "link", "file"])
def test_a_place_that_others_write_to_is_refused(kind: str, source: Path, place: Path, tmp_path: Path) -> None:
    place.parent.mkdir(mode=0o700)
    if kind == "writable":
        place.mkdir()
        place.chmod(0o777)
    elif kind == "link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        place.symlink_to(tmp_path / "elsewhere")
    else:
        place.write_text("")
    with pytest.raises(UsageError, match="only this user"):
        materialize(["one"], source, place)


def test_a_place_of_another_user_is_refused(source: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    uid = os.getuid()
    monkeypatch.setattr("conformance.vectors.golden_tables.os.getuid", lambda: uid + 1)
    with pytest.raises(UsageError, match="only this user"):
        materialize(["one"], source, place)


def test_the_place_of_a_run_is_its_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ICEBERG_CONFORMANCE_TABLES", raising=False)
    monkeypatch.setenv("ICEBERG_CONFORMANCE_HOME", str(tmp_path))
    assert tables_folder() == tmp_path / "golden-tables"
    monkeypatch.setenv("ICEBERG_CONFORMANCE_TABLES", str(tmp_path / "mine"))
    assert tables_folder() == tmp_path / "mine"


def test_several_may_do_it_at_a_time(source: Path, place: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(materialize, None, source, place) for _ in range(24)]:
            done.result()
    assert sorted(path.name for path in place.iterdir()) == ["one", "two"]
    assert _files(place / "two") == FILES


def _vector(table: str, source: Path) -> Vector:
    args = {"table": table}
    operation = OPERATIONS["scan.plan"]
    return Vector("x", "reading", operation, "", (), (), args, (), {}, file=str(source / "reading" / "x.json"))


def test_vectors_name_the_tables_they_need(source: Path) -> None:
    vectors = [_vector(f"{PLACE}/{name}/metadata/v1.json", source) for name in ("one", "one", "two")]
    vectors.append(_vector("s3://elsewhere/metadata/v1.json", source))
    assert list(used_golden_tables(vectors)) == [(source, "one"), (source, "two")]


def test_a_vector_of_a_table_that_is_not_kept_is_reported(source: Path) -> None:
    with pytest.raises(UsageError, match="no golden table 'three'"):
        materialize_for([_vector(f"{PLACE}/three/metadata/v1.json", source)])
