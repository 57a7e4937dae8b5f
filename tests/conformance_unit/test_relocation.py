"""Relocated golden tables: only locations differ, independent readers read them, and wrong relocations are found."""

from __future__ import annotations

import io
import json
from pathlib import Path, PureWindowsPath

import fastavro
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest

from conformance.adapter_sdk.serve import Unsupported as Unread
from conformance.adapter_sdk.table_requests import local_path
from conformance.cli import main
from conformance.core import drives
from conformance.core.failures import UsageError
from conformance.operations.protocol import Crashed, Ok, Refused, Unsupported
from conformance.table_io.file_access import split_location
from conformance.validator.context import Level
from conformance.validator.local import LocalBackend
from conformance.validator.run import SnapshotSelection, validate
from conformance.vectors import load, shipped
from conformance.vectors.extraction import extract
from conformance.vectors.golden_tables import (
    FOLDER,
    PLACE,
    LocationMapping,
    index,
    materialize,
    materialize_for,
    table_files,
    table_names,
)
from conformance.vectors.relocation.check import table_differences
from conformance.vectors.relocation.paths import Paths
from conformance.vectors.relocation.tables import relocate

OLD = PLACE.as_posix()
PLACES = ["/x", "/home/someone/of a longer name/and-é/in/a/deep/folder/of/golden/tables", "C:/Users/Someone/tables"]
KINDS = [
    "position-deletes-parquet",
    "position-deletes-avro",
    "position-deletes-orc",
    "java-1-10-position-deletes",
    "deletion-vectors-parquet",
    "arrow-deletes-dictionary",
    "arrow-names-of-deletes",
    "plan-file-bounds-cut",
    "plan-metadata-gzip-old",
    "awkward-partitions-far",
    "broken-manifest-cut",
    "upgraded-v1-v2-v3",
]


def _files(name: str) -> dict[str, bytes]:
    return table_files(shipped() / FOLDER / name, index(name)["files"])


@pytest.mark.parametrize("place", PLACES)
def test_only_locations_differ(place: str) -> None:
    paths = Paths(OLD, place)
    for name in KINDS:
        before = _files(name)
        assert list(table_differences(before, relocate(before, name, paths).files, name, paths)) == []


def test_every_golden_table_can_be_moved() -> None:
    paths = Paths(OLD, "/srv/golden")
    left = {}
    for name in table_names():
        before = _files(name)
        made = relocate(before, name, paths)
        assert list(table_differences(before, made.files, name, paths)) == []
        left |= dict.fromkeys((f"{name}/{path}" for path in made.unreadable), name)
    cut = {"broken-data-cut-avro", "broken-data-cut-orc", "broken-manifest-cut", "plan-manifest-cut"}
    assert set(left.values()) == cut


@pytest.mark.parametrize("file_format", ["parquet", "avro", "orc"])
def test_delete_files_name_the_moved_data_files(file_format: str) -> None:
    name = f"position-deletes-{file_format}"
    made = relocate(_files(name), name, Paths(OLD, "/srv/golden")).files
    seen = 0
    for path, data in made.items():
        if path.endswith(f"-deletes.{file_format}"):
            read = {
                "parquet": lambda data: pq.read_table(io.BytesIO(data)).to_pylist(),
                "avro": lambda data: list(fastavro.reader(io.BytesIO(data))),
                "orc": lambda data: orc.read_table(io.BytesIO(data)).to_pylist(),
            }[file_format](data)
            assert {row["file_path"].removeprefix(f"/srv/golden/{name}/") for row in read} <= set(made)
            seen += len(read)
    assert seen == 3


def test_lengths_follow() -> None:
    name = "position-deletes-parquet"
    made = relocate(_files(name), name, Paths(OLD, "/srv/golden/at/a/place/with/a/longer/name")).files
    for path, data in made.items():
        if data[:4] == b"Obj\x01":
            for row in fastavro.reader(io.BytesIO(data)):
                row = row.get("data_file", row)
                location, size = (
                    (row["file_path"], row["file_size_in_bytes"])
                    if "file_path" in row
                    else (row["manifest_path"], row["manifest_length"])
                )
                assert size == len(made[location.partition(f"{name}/")[2]]), path


@pytest.mark.parametrize("name", ["position-deletes-orc", "position-deletes-parquet", "deletion-vectors-orc"])
def test_a_moved_table_is_as_valid_as_before(name: str, tmp_path: Path) -> None:
    place = tmp_path / "own" / "tables"
    materialize([name], place=place)
    materialize([name])
    reports = [validate(f"{at}/{name}", Level.ROWS, LocalBackend(), SnapshotSelection("all")) for at in (PLACE, place)]
    before, after = ({(one.check, one.requirement) for one in report.findings} for report in reports)
    assert after == before


@pytest.mark.parametrize(
    ("path", "change"),
    [
        ("-deletes.parquet", lambda data: data),
        ("m0.avro", lambda data: data),
        ("metadata.json", lambda data: data.replace(b'"format-version" : 2', b'"format-version" : 1')),
        ("metadata.json", lambda data: data.replace(b'"/srv/golden/', b'"/srv/other/', 1)),
    ],
)
def test_a_wrong_move_is_seen(path: str, change: object) -> None:
    name = "position-deletes-parquet"
    before = _files(name)
    paths = Paths(OLD, "/srv/golden")
    after = relocate(before, name, paths).files
    broken = next(one for one in after if one.endswith(path))
    changed = change(after[broken])  # type: ignore[operator]
    after[broken] = before[broken] if changed == after[broken] else changed
    assert any(broken in one for one in table_differences(before, after, name, paths))


def test_a_wrong_length_is_seen() -> None:
    name = "position-deletes-parquet"
    before = _files(name)
    paths = Paths(OLD, "/srv/golden")
    after = relocate(before, name, paths).files
    deletes = next(one for one in after if one.endswith("-deletes.parquet"))
    after[deletes] = after[deletes][:4] + b"\0" + after[deletes][4:]
    assert any("file_size_in_bytes" in one for one in table_differences(before, after, name, paths))


def test_what_is_asked_and_answered_has_other_locations() -> None:
    located = LocationMapping(Paths(OLD, "C:/tables"))
    asked = located.request({"table": f"{OLD}/t/v1.json", "n": 1, "other": f"{OLD}x"})
    assert asked == {"table": "C:/tables/t/v1.json", "n": 1, "other": f"{OLD}x"}
    assert located.answer(Ok([{"path": "file:///C:/tables/t/a"}])) == Ok([{"path": f"file://{OLD}/t/a"}])
    assert located.answer(Refused("invalid", "no C:/tables/t")) == Refused("invalid", f"no {OLD}/t")
    assert located.answer(Unsupported("C:/tables/t")) == Unsupported(f"{OLD}/t")
    assert located.answer(Crashed("C:/tables/t", "at C:/tables/t")) == Crashed(f"{OLD}/t", f"at {OLD}/t")


def test_uris_with_a_drive_have_a_slash_before_it() -> None:
    paths = Paths(OLD, "C:/tables")
    assert (
        paths.replace_text(f"file:{OLD}/t file://{OLD}/t {OLD}/t")
        == "file:/C:/tables/t file:///C:/tables/t C:/tables/t"
    )


def test_a_folder_on_a_drive_is_a_location_with_slashes() -> None:
    """What `absolute_location` makes of the folder is what files name, and what reads them comes to the same file."""
    folder = PureWindowsPath("C:\\Users\\a b\\tables")
    paths = Paths(OLD, folder.as_posix())
    assert paths.replace_text(f"{OLD}/t/data/1.parquet") == "C:/Users/a b/tables/t/data/1.parquet"
    assert paths.reversed().replace_text("file:///C:/Users/a b/tables/t") == f"file://{OLD}/t"
    assert folder / "t" == PureWindowsPath(paths.replace_text(f"{OLD}/t"))


def test_locations_with_a_drive_are_local_files_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Unread):
        local_path("C:/tables/t")
    monkeypatch.setattr(drives, "WINDOWS", True)
    uri = PureWindowsPath("C:/my tables/t").as_uri()
    assert uri == "file:///C:/my%20tables/t"
    assert local_path(uri) == "C:/my tables/t"
    assert local_path("C:/tables/t") == local_path("file:/C:/tables/t") == "C:/tables/t"
    assert split_location("file:///C:/tables/t").path == "C:/tables/t"
    assert split_location("C:/tables/t").scheme == "file"
    assert split_location("s3://bucket/t").scheme == "s3"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A folder of the vectors of one golden table, with its files."""
    document = json.loads((shipped() / "reading" / "position-deletes.json").read_bytes())
    document["vectors"] = [one for one in document["vectors"] if "/position-deletes-orc/" in one["args"]["table"]]
    folder = tmp_path / "vectors"
    (folder / "reading").mkdir(parents=True)
    (folder / "reading" / "position-deletes.json").write_text(json.dumps(document))
    kept = shipped() / FOLDER / "position-deletes-orc"
    for path in kept.rglob("*"):
        if path.is_file():
            target = folder / FOLDER / path.relative_to(kept.parent)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    return folder


def test_extracted_vectors_are_run_where_they_are(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "some where"
    assert main(["vectors", "extract", str(folder), "--vectors", str(source)]) == 0
    every = load(folder)
    assert all(vector.args["table"].startswith(f"{folder}/golden/tables/") for vector in every)
    assert materialize_for(every, tmp_path / "unused") == LocationMapping()
    assert main(["run", "--vectors", str(folder), "--adapter", "reference"]) == 0
    assert f"{len(every)} passed" in capsys.readouterr().out
    assert not (tmp_path / "unused").exists()


def test_extracted_tables_that_were_changed_are_refused(source: Path, tmp_path: Path) -> None:
    extract(source, tmp_path / "x")
    hint = tmp_path / "x" / FOLDER / "position-deletes-orc" / "metadata" / "version-hint.text"
    hint.write_text("7")
    with pytest.raises(UsageError, match="the files differ from the index"):
        materialize_for(load(tmp_path / "x"))


def test_extracted_vectors_that_were_moved_are_refused(source: Path, tmp_path: Path) -> None:
    extract(source, tmp_path / "x")
    (tmp_path / "x").rename(tmp_path / "y")
    with pytest.raises(UsageError, match="extract them again"):
        load(tmp_path / "y")


def test_vectors_are_extracted_into_empty_folders_alone(source: Path, tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "file").write_text("")
    with pytest.raises(UsageError, match="empty"):
        extract(source, tmp_path / "x")
    with pytest.raises(UsageError, match="the name has characters that locations cannot contain"):
        extract(source, tmp_path / 'with "quotes"')


def test_tables_can_be_named_as_on_another_machine(source: Path, tmp_path: Path) -> None:
    found = extract(source, tmp_path / "x", "C:/Users/Jané/tables")
    assert found.location == "C:/Users/Jané/tables"
    metadata = tmp_path / "x" / FOLDER / "position-deletes-orc" / index("position-deletes-orc")["metadata"]
    assert json.loads(metadata.read_bytes())["location"] == "C:/Users/Jané/tables/position-deletes-orc"
    document = json.loads((tmp_path / "x" / "reading" / "position-deletes.json").read_bytes())
    assert document["vectors"][0]["args"]["table"].startswith("C:/Users/Jané/tables/position-deletes-orc/")
