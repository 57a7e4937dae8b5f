"""Reads that return fewer bytes than requested: neither reads nor checks treat them as complete."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from faulty import LEFT, made, with_position_deletes
from pyarrow import fs

from conformance.table_io import file_access
from conformance.table_io.file_access import FileAccessError
from conformance.table_io.local import read_table
from conformance.table_io.tables import load_table
from conformance.validator.context import Level
from conformance.validator.local import LocalBackend
from conformance.validator.run import UnreadableTable, validate
from spec_ref.checks.findings import Severity
from spec_ref.core.errors import SpecError


class ShortFile(io.BytesIO):
    """A file whose reads lack their last bytes."""

    def __init__(self, path: str, lacking: int) -> None:
        super().__init__(Path(path).read_bytes())
        self._lacking = lacking

    def read(self, count: int | None = -1) -> bytes:
        content = super().read(count)
        return content[: max(len(content) - self._lacking, 0)]


class ShortFiles(fs.FileSystemHandler):  # type: ignore[misc]
    """Local files, of which those whose paths match a pattern are read short."""

    def __init__(self, pattern: str, lacking: int) -> None:
        self._pattern, self._lacking = pattern, lacking
        self._real = fs.LocalFileSystem()
        self.short = 0

    def open_input_file(self, path: str) -> Any:
        if re.search(self._pattern, path):
            return pa.PythonFile(self.open(path), mode="r")
        return self._real.open_input_file(path)

    def open(self, path: str, mode: str = "rb") -> Any:
        """What `open` gives, for files that are read whole."""
        if mode == "rb" and re.search(self._pattern, path):
            self.short += 1
            return ShortFile(path, self._lacking)
        return open(path, mode)

    def get_file_info(self, paths: list[str]) -> Any:
        return self._real.get_file_info(paths)

    def get_file_info_selector(self, selector: Any) -> Any:
        return self._real.get_file_info(selector)

    def get_type_name(self) -> str:
        return "short"

    def normalize_path(self, path: str) -> str:
        return path

    def _none(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    copy_file = create_dir = delete_dir = delete_dir_contents = delete_file = delete_root_dir_contents = _none
    move = open_append_stream = open_input_stream = open_output_stream = _none


def shortened(monkeypatch: pytest.MonkeyPatch, pattern: str, lacking: int) -> ShortFiles:
    handler = ShortFiles(pattern, lacking)
    short = fs.PyFileSystem(handler)
    monkeypatch.setattr(file_access, "_local", lambda: short)
    monkeypatch.setattr(file_access, "open", handler.open, raising=False)
    return handler


KINDS = {
    "metadata": r"v3\.metadata\.json$",
    "manifest list": r"/snap-",
    "manifest": r"/manifest-0",
    "Parquet": r"\.parquet$",
    "ORC": r"\.orc$",
    "Avro": r"/data/.*\.avro$",
    "Puffin": r"\.puffin$",
}


@pytest.mark.parametrize("lacking", [1, 40])
@pytest.mark.parametrize("kind", KINDS)
def test_reading_raises_and_validating_finds(
    kind: str, lacking: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    location = made(str(tmp_path / "t"))
    files = shortened(monkeypatch, KINDS[kind], lacking)
    with pytest.raises((SpecError, FileAccessError)) as raised:
        read_table(load_table(location)).read_all()
    assert re.search(KINDS[kind].rstrip("$"), str(raised.value))
    if kind in ("metadata", "manifest list", "manifest", "Puffin"):  # no fault of the file
        assert isinstance(raised.value, FileAccessError)
        assert "bytes, and got" in str(raised.value)
    assert files.short
    if kind == "metadata":
        with pytest.raises(UnreadableTable):
            validate(location, Level.ROWS, LocalBackend())
        return
    report = validate(location, Level.ROWS, LocalBackend())
    errors = [str(one) for one in report.findings if one.severity is Severity.ERROR]
    assert [one for one in errors if re.search(KINDS[kind].rstrip("$"), one)]


def test_position_deletes_that_come_short_delete_no_fewer_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    location = with_position_deletes(str(tmp_path / "t"))
    assert read_table(load_table(location)).read_all().num_rows == 498
    shortened(monkeypatch, r"00002\.parquet$", 1)
    with pytest.raises((SpecError, FileAccessError), match=r"00002\.parquet"):
        read_table(load_table(location)).read_all()


def test_the_table_is_right_where_nothing_is_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    location = made(str(tmp_path / "t"))
    shortened(monkeypatch, r"nothing", 1)
    assert read_table(load_table(location)).read_all().num_rows == LEFT
    report = validate(location, Level.ROWS, LocalBackend())
    assert [one for one in report.findings if one.severity is Severity.ERROR] == []
