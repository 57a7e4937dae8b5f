"""What is validated again and again is found to be what it is found to be at once, and each file is read once."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conformance.properties.incremental import IncrementalLocal
from conformance.properties.scenarios import ReferenceSubject, Refusal
from conformance.properties.script_maker import Size
from conformance.properties.scripts import make_script
from conformance.validator import files
from conformance.validator.context import Level
from conformance.validator.local import LocalBackend
from conformance.validator.run import SnapshotSelection, TableReport, validate

ALL = SnapshotSelection("all")


def _report(location: str, engine: LocalBackend) -> TableReport:
    return validate(location, Level.ROWS, engine, ALL, math.inf)


@pytest.mark.parametrize("seed", [3, 5, 11, 23])
def test_it_reports_what_a_full_check_reports(seed: int, tmp_path: Path) -> None:
    engine, subject = IncrementalLocal(), ReferenceSubject(tmp_path / "table")
    for operation in make_script(seed, size=Size(operations=12))["operations"]:
        try:
            location = subject.do(operation)
        except Refusal:
            continue
        assert _report(location, engine) == _report(location, LocalBackend())


ROWS = {"op": "append", "rows": [{"id": "1"}, {"id": "2"}]}
CREATE = {
    "op": "create",
    "format_version": 3,
    "schema": {"type": "struct", "fields": [{"id": 1, "name": "id", "required": False, "type": "long"}]},
}


def _grown(folder: Path) -> tuple[str, str]:
    """The metadata of a table before and after its second append."""
    subject = ReferenceSubject(folder)
    subject.do(CREATE)
    return subject.do(ROWS), subject.do(ROWS)


def test_files_are_read_again_where_more_is_asked_of_them(tmp_path: Path) -> None:
    """Where the first deletes of positions come, files have to say which positions they have."""
    engine, subject = IncrementalLocal(), ReferenceSubject(tmp_path / "table")
    subject.do({**CREATE, "format_version": 2})
    _report(subject.do(ROWS), engine)
    one = {"type": "eq", "term": "id", "value": 1}
    after = subject.do({"op": "delete", "filter": one, "mode": "merge-on-read"})
    (deletes,) = (tmp_path / "table" / "data").glob("*delete*")
    table = pq.read_table(deletes)
    wrong = table.set_column(1, table.schema.field(1), pa.array([7], pa.int64()))
    pq.write_table(wrong, deletes)
    assert _report(after, engine) == _report(after, LocalBackend())


def test_each_file_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = _grown(tmp_path / "table")
    read = []
    check_file = files.check_file

    def counted(context: Any, place: Any, *more: Any) -> Any:
        read.append(place.data_file.file_path)
        return check_file(context, place, *more)

    monkeypatch.setattr(files, "check_file", counted)
    engine = IncrementalLocal()
    _report(before, engine)
    _report(after, engine)
    assert len(read) == len(set(read)) == 2


def test_faults_of_files_that_were_read_before_are_reported_again(tmp_path: Path) -> None:
    before, after = _grown(tmp_path / "table")
    for file in (tmp_path / "table" / "data").glob("*.parquet"):
        file.write_bytes(file.read_bytes()[:-1])
    engine = IncrementalLocal()
    assert _report(before, engine).findings
    assert _report(after, engine) == _report(after, LocalBackend())
