"""Files by URI: every way to write a local path, what names may hold, and clear errors."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from conformance.core.failures import ExitStatus
from conformance.table_io import file_access
from conformance.table_io.file_access import (
    FileAccessError,
    FileForbidden,
    FileMissing,
    StoreLocation,
    UnknownScheme,
    file_size,
    is_directory,
    list_files,
    open_input,
    read_bytes,
    split_location,
    write_bytes,
)


@pytest.mark.parametrize("form", ["{}", "file:{}", "file://{}", "file://localhost{}", "FILE:{}"])
def test_local_file_is_read_by_every_form_of_its_location(tmp_path: Path, form: str) -> None:
    (tmp_path / "a").write_bytes(b"123")
    assert read_bytes(form.format(tmp_path / "a")) == b"123"


@pytest.mark.parametrize("name", ["p=a%2Fb", "a b", "a#b", "a?b", "ä", "a+b", "a:b"])
def test_names_are_taken_as_they_stand(tmp_path: Path, name: str) -> None:
    location = f"file://{tmp_path}/{name}/f"
    write_bytes(location, b"x")
    assert (tmp_path / name / "f").read_bytes() == b"x"
    assert (read_bytes(location), file_size(location)) == (b"x", 1)


def test_a_path_is_relative_to_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a:b").write_bytes(b"1")
    monkeypatch.chdir(tmp_path)
    assert read_bytes("a:b") == b"1"


@pytest.mark.parametrize(
    ("location", "place"),
    [
        ("/a/b", StoreLocation("file", "", "/a/b")),
        ("s3://bucket/k/e%20y", StoreLocation("s3", "bucket", "bucket/k/e%20y")),
        ("s3a://bucket/k//e", StoreLocation("s3a", "bucket", "bucket/k//e")),
        ("S3://Bucket/k", StoreLocation("s3", "Bucket", "Bucket/k")),
        ("gs://b/k", StoreLocation("gs", "b", "b/k")),
        ("abfss://c@acc.dfs.core.windows.net/d/k", StoreLocation("abfss", "c@acc.dfs.core.windows.net", "c/d/k")),
        ("wasb://c@acc.blob.core.windows.net/k", StoreLocation("wasb", "c@acc.blob.core.windows.net", "c/k")),
        ("hdfs://nn:8020/d/k", StoreLocation("hdfs", "nn:8020", "/d/k")),
        ("hdfs:///d/k", StoreLocation("hdfs", "", "/d/k")),
        ("hdfs:/d/k", StoreLocation("hdfs", "", "/d/k")),
    ],
)
def test_where_a_location_points(location: str, place: StoreLocation) -> None:
    assert split_location(location) == place


def test_unknown_scheme_reports_which_there_are() -> None:
    with pytest.raises(UnknownScheme, match=r"ftp://h/f: no file system serves the scheme 'ftp'; supported are .*s3"):
        read_bytes("ftp://h/f")


def test_file_of_another_host_is_refused() -> None:
    with pytest.raises(UnknownScheme, match="host 'elsewhere'"):
        read_bytes("file://elsewhere/f")


def test_missing_file_is_reported_with_its_location(tmp_path: Path) -> None:
    location = f"file:{tmp_path}/none"
    for ask in (read_bytes, file_size, open_input, list_files):
        with pytest.raises(FileMissing, match=f"^{location}: there is no such file"):
            ask(location)
    assert not is_directory(location)


def test_forbidden_file_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(location: str) -> None:
        raise PermissionError(13, location)

    (tmp_path / "a").write_bytes(b"a")
    refusing = type("Refusing", (), {"open_input_file": staticmethod(refuse)})()
    monkeypatch.setattr(file_access, "_local", lambda: refusing)
    with pytest.raises(FileForbidden, match="not permitted"):
        open_input(str(tmp_path / "a"))
    monkeypatch.setattr(file_access, "open", lambda path, _: refuse(path), raising=False)
    with pytest.raises(FileForbidden, match="not permitted"):
        read_bytes(str(tmp_path / "a"))


def test_directory_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileAccessError, match=r"directory|not a file|regular"):
        read_bytes(str(tmp_path))
    with pytest.raises(FileAccessError, match="not a file"):
        file_size(str(tmp_path))


def test_large_file_is_not_held(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"12345")
    with pytest.raises(FileAccessError, match="has 5 bytes; at most 4"):
        read_bytes(str(tmp_path / "a"), limit=4)


def test_listing_gives_the_files_of_one_directory(tmp_path: Path) -> None:
    for name in ("b", "a", "d/c"):
        write_bytes(f"{tmp_path}/{name}", name.encode())
    assert [(file.location, file.name, file.size) for file in list_files(f"file:{tmp_path}/")] == [
        (f"file:{tmp_path}/a", "a", 1),
        (f"file:{tmp_path}/b", "b", 1),
    ]


def test_errors_survive_the_way_between_processes() -> None:
    error = pickle.loads(pickle.dumps(FileMissing("s3://b/k", "gone")))
    assert (type(error), error.location, str(error), error.status) == (
        FileMissing,
        "s3://b/k",
        "s3://b/k: gone",
        ExitStatus.NOT_EXAMINED,
    )
