"""Scale: the measurements, printed growth, limits that can fail, and the estimate, whose figures are computed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.table_io.local import read_table
from conformance.table_io.tables import load_table
from conformance.validator.context import Level
from conformance.validator.local import LocalBackend
from conformance.validator.run import validate
from spec_ref.checks.findings import Severity
from tools.bench.measure import BenchError
from tools.scale import paths, report, tables
from tools.scale.__main__ import main
from tools.scale.estimate import FILES, MANIFESTS, estimate
from tools.scale.paths import (
    MIB,
    PATHS,
    PLAIN,
    Growth,
    Limit,
    MeasuredTables,
    Measurement,
    exceeded_limits,
    growths,
    limits,
)
from tools.scale.requests import requests
from tools.scale.work import read_row_by_row


def step(count: int, processor: float, memory_mib: int = 100, path: str = "p") -> Measurement:
    return Measurement(
        path=path, count=count, seconds=processor, processor=processor, memory=memory_mib * MIB, largest=MIB, bytes=800
    )


@pytest.mark.parametrize("power", [1.0, 2.0, 0.5])
def test_growth_is_the_power_beyond_what_starting_takes(power: float) -> None:
    steps = [step(1, 1.0), *(step(count, 1 + 2 * (count / 1000) ** power) for count in (1000, 10_000, 100_000))]
    assert Growth(tuple(steps)).exponent == pytest.approx(power)


def test_sizes_that_take_no_more_than_starting_report_nothing_of_growth() -> None:
    assert Growth((step(1, 1.0), step(100, 1.02), step(1000, 1.9))).exponent == 0


def test_one_more_costs_what_lies_between_the_smallest_and_the_largest() -> None:
    growth = Growth((step(0, 1.0, 100), step(1000, 3.0, 102)))
    assert growth.processor_each == pytest.approx(0.002)
    assert growth.memory_each == pytest.approx(2 * MIB / 1000)


@pytest.mark.parametrize(
    ("memory_mib", "exponent", "expected"), [(102, 1.1, 0), (101, 1.1, 1), (102, 0.9, 1), (101, 0.9, 2)]
)
def test_what_is_beyond_a_limit_is_reported(memory_mib: int, exponent: float, expected: int) -> None:
    grown = growths((step(1, 0.0), step(1000, 10.0, 102), step(100, 1.0)))
    allowed = {"p": Limit(path="p", memory_mib=memory_mib, exponent=exponent)}
    assert len(exceeded_limits(grown, allowed)) == expected


def test_every_path_has_a_limit_and_grows_from_a_small_size() -> None:
    assert list(limits()) == [path.name for path in PATHS]
    for path in PATHS:
        for sizes in filter(None, (path.full, path.quick)):
            assert list(sizes) == sorted(set(sizes))


def test_the_page_compares_each_plain_path_with_the_fast_one() -> None:
    fast, plain = "reading, deletion vectors", f"{PLAIN}reading, deletion vectors"
    steps = [step(0, 1.0, path=fast), step(1000, 1.5, path=fast), step(0, 1.0, path=plain), step(10, 2.0, path=plain)]
    page = "\n".join(report._plain(growths(tuple(steps))))
    assert f"| {fast} | 100 ms | 500 us | 200 |" in page
    names = [path.name for path in PATHS]
    assert [name for name in names if name.startswith(PLAIN) and name.removeprefix(PLAIN) not in names] == []


def test_rows_of_the_tables_are_what_the_figures_are_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "ROWS_A_FILE", 1000)
    monkeypatch.setattr(tables, "REAL_FILES", 2)
    monkeypatch.setattr(tables, "FILES_A_DELETE_FILE", 2)
    made = tables.rows(tmp_path, 5000)
    for location in (made.positions, made.vectors):
        assert read_table(load_table(location)).read_all().num_rows == tables.left(5000) == 4950
        assert read_row_by_row(location) == {"count": 4950}
        errors = [
            one for one in validate(location, Level.ROWS, LocalBackend()).findings if one.severity is Severity.ERROR
        ]
        assert errors == []
    assert len({path.stat().st_ino for path in (tmp_path / "data-5000").iterdir()}) == 2


def test_a_limit_that_is_exceeded_fails_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--quick", "--only", "filter on partition", "--folder", str(tmp_path), "--keep", str(tmp_path / "kept")]
    (planning,) = (path for path in PATHS if path.name == "planning, filter on partition (1% matches)")
    monkeypatch.setattr("tools.scale.paths.PATHS", (planning,))
    monkeypatch.setattr(
        MeasuredTables, "entries", lambda self, count: str(tables.make_table(_new(tmp_path), count, 1, 1))
    )
    low = {planning.name: Limit(path=planning.name, memory_mib=1, exponent=1.2)}
    monkeypatch.setattr("tools.scale.__main__.limits", lambda: low)
    (tmp_path / "kept").write_text(
        "".join(
            json.dumps({"path": planning.name, "count": n, "seconds": 1, "processor": 1, "memory": 1, "largest": 1})
            + "\n"
            for n in planning.quick[1:]
        )
    )
    assert main(words) == 1
    assert "where the limit is 1 MiB" in capsys.readouterr().err
    assert len((tmp_path / "kept").read_text().splitlines()) == 3


def _new(folder: Path) -> Path:
    made = folder / "entries"
    made.mkdir()
    return made


def test_a_path_that_comes_to_something_else_is_no_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = {"tables": [{"entries": 499, "counts": {"error": 0}}]}
    monkeypatch.setattr(paths, "run_measured", lambda _: (1.0, 1.0, 1, 1, answer))
    (validating,) = (path for path in PATHS if path.name == "validating manifests")
    made = MeasuredTables(tmp_path)
    with pytest.raises(BenchError, match="validating manifests, 500"):
        validating.measure(made, 500)
    answer["tables"][0] |= {"entries": 500, "counts": {"error": 1}}  # type: ignore[operator]
    with pytest.raises(BenchError, match="validating manifests, 500"):
        validating.measure(made, 500)


ASKED = {
    way: {"manifest": 2.0, "data file": 5.0, "vector": 2.0}
    for way in ("planning", "reading", "validating manifests", "validating files", "validating rows")
}


def test_the_estimate_follows_the_figures() -> None:
    def grown(each: float) -> dict[str, Growth]:
        return {path.name: Growth((step(0, 1.0), step(1000, 1 + 1000 * each))) for path in PATHS}

    assert FILES * 256 * 2**20 >= 10**15 > (FILES - 1) * 256 * 2**20
    assert (MANIFESTS - 1) * tables.ENTRIES_A_MANIFEST < FILES <= MANIFESTS * tables.ENTRIES_A_MANIFEST
    slow, fast = (list(estimate(grown(each), ASKED)) for each in (1e-4, 1e-6))
    assert slow[0].seconds == pytest.approx(2 * FILES * 1e-4)
    assert slow[1].driver == pytest.approx(FILES * 0.8)
    assert all(one.seconds >= other.seconds for one, other in zip(slow, fast, strict=True))
    assert {row.limit for row in slow} != {row.limit for row in fast}


def test_the_document_is_that_of_the_stored_figures(tmp_path: Path) -> None:
    docs = Path(__file__).parents[2] / "docs"
    (tmp_path / "scale.json").write_text((docs / "scale.json").read_text())
    report.write(tmp_path)
    assert (tmp_path / "scale.md").read_text() == (docs / "scale.md").read_text()
    figures = json.loads((docs / "scale.json").read_text())["figures"]
    assert {one["path"] for one in figures} == {path.name for path in PATHS}


def test_no_file_is_requested_twice() -> None:
    counted = requests()
    assert counted["planning"] == counted["validating manifests"] == {"manifest": 1.0, "data file": 0.0, "vector": 0.0}
    for way in ("reading", "validating files", "validating rows"):
        assert counted[way] == {"manifest": 1.0, "data file": 1.0, "vector": 1.0}
