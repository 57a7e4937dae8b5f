"""The matrix over golden tables: faulty consumers are caught, and known outcomes are distinguished."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from planted import faulty_adapter, planted
from shipped_vectors import shipped_vectors

from conformance.adapter_sdk.serve import Invalid, Unsupported
from conformance.cli import main
from conformance.core.failures import ExitStatus, NotExamined, UsageError
from conformance.interop import results
from conformance.interop.catalogue import variants
from conformance.interop.cells import Cell, Matrix, ProducedTable, TableOutcome
from conformance.interop.golden import golden_tables
from conformance.interop.known import KnownOutcome, apply_known, load_known
from conformance.interop.running import MatrixPlan, run_matrix
from conformance.interop.summary import STATUSES, by_feature, by_producer, reproduce
from conformance.reports import matrix_markdown, matrix_page, matrix_terminal
from conformance.runner import expectations
from conformance.runner.execution import Target
from conformance.runner.results import read as read_run

VECTORS = shipped_vectors()
TABLES = ("position-deletes-parquet", "types-v2-parquet", "branches-and-tags", "row-lineage-parquet", "nested-parquet")
HEADER = {"matrix": 1, "tool": "0", "started": "2026-01-01T00:00:00+00:00", "command": ["matrix"]}


def _run(folder: Path, *consumers: Target, tables: Sequence[str] = TABLES, **more: Any) -> Matrix:
    golden = tuple(golden_tables(VECTORS, tables))
    assert len(golden) == len(tables)
    return run_matrix(MatrixPlan((), consumers, (), golden, folder, **more), Matrix(HEADER))


def _states(matrix: Matrix) -> dict[str, TableOutcome]:
    return {cell.table: cell.outcome for cell in matrix.cells}


def test_the_reference_reads_all_golden_tables(tmp_path: Path) -> None:
    golden = tuple(golden_tables(VECTORS))
    matrix = run_matrix(MatrixPlan((), (planted("reference"),), (), golden, tmp_path), Matrix(HEADER))
    assert len(matrix.cells) == len(golden)
    assert {cell.outcome for cell in matrix.cells} == {TableOutcome.PASSED}
    assert matrix.exit_status is ExitStatus.CONFORMANT
    features = set(by_feature(matrix).rows)
    assert features >= {
        "position deletes",
        "equality deletes",
        "deletion vectors",
        "row lineage",
        "branches",
        "tags",
        "nested types",
        "partition bucket",
        "partition evolution",
        "initial defaults",
        "promoted types",
        "name mapping",
        "type variant",
    }


@pytest.mark.parametrize(
    ("fault", "table"),
    [
        ("rows-one-lost", "types-v2-parquet"),
        ("rows-one-twice", "types-v2-parquet"),
        ("rows-snapshot-ignored", "position-deletes-parquet"),
        ("rows-with-null-lost", "types-v2-parquet"),
        ("rows-uuid-without-hyphens", "types-v2-parquet"),
        ("rows-null-list-as-empty", "nested-parquet"),
    ],
)
def test_a_planted_consumer_is_caught(fault: str, table: str, tmp_path: Path) -> None:
    matrix = _run(tmp_path, faulty_adapter(fault))
    assert _states(matrix)[table] is TableOutcome.FAILED
    assert matrix.exit_status is ExitStatus.FAILURES
    cell = next(cell for cell in matrix.cells if cell.table == table)
    assert cell.case.startswith(f"read-{table}")
    assert cell.differences or "column" in cell.reason
    assert reproduce(cell).endswith(f"--script {table} --consumer {fault}")


def _refuses(args: dict[str, Any], right: Any) -> Any:
    if "uuid" in args["types"].values():
        raise Invalid("no uuids here")
    return right(args)


def _has_no_past(args: dict[str, Any], right: Any) -> Any:
    if "snapshot" in args:
        raise Unsupported("no time travel")
    return right(args)


def _has_only_the_past(args: dict[str, Any], right: Any) -> Any:
    if "snapshot" not in args:
        raise Unsupported("no present")
    return right(args)


def test_states_are_reported_apart(tmp_path: Path) -> None:
    assert _states(_run(tmp_path, planted(table_read=_refuses)))["types-v2-parquet"] is TableOutcome.REJECTED
    assert set(_states(_run(tmp_path, planted(table_read=_has_no_past))).values()) == {TableOutcome.PASSED}
    assert set(_states(_run(tmp_path, planted(table_read=_has_only_the_past))).values()) == {TableOutcome.UNSUPPORTED}


def test_an_adapter_that_cannot_be_started_leaves_the_rest(tmp_path: Path) -> None:
    def absent() -> Any:
        raise NotExamined("not installed")

    matrix = _run(tmp_path, Target("absent", absent), planted())
    assert matrix.exit_status is ExitStatus.NOT_EXAMINED
    assert {cell.consumer for cell in matrix.cells} == {"planted"}
    assert "absent: not run: not installed" in matrix_terminal.render(matrix)
    assert "absent: not run: not installed" in matrix_page.render(matrix)


def test_deviations_of_vectors_are_those_of_golden_cells(tmp_path: Path) -> None:
    ids = [vector.id for table in golden_tables(VECTORS, ["types-v2-parquet"]) for vector in table.cases]
    deviation = expectations.Deviation("planted", tuple(ids), "uuids are not there yet", id="planted-no-uuids")
    known = expectations.Expectations((deviation,))
    matrix = _run(tmp_path, planted(table_read=_refuses), tables=["types-v2-parquet"], expectations=known)
    assert [(cell.known, cell.known_id) for cell in matrix.cells] == [("uuids are not there yet", "planted-no-uuids")]
    assert matrix.exit_status is ExitStatus.CONFORMANT
    some = expectations.Expectations((expectations.Deviation("planted", tuple(ids[:1]), "one of them"),))
    matrix = _run(tmp_path, planted(table_read=_refuses), tables=["types-v2-parquet"], expectations=some)
    assert matrix.exit_status is ExitStatus.FAILURES


def test_a_run_of_the_vectors_is_not_done_again(tmp_path: Path) -> None:
    faulty = f"{sys.executable} -m tests.faulty_adapters rows-one-lost"
    file = tmp_path / "run.jsonl"
    assert main(["run", "--adapter", faulty, "-k", "types-v2-parquet or nested-parquet", "--results", str(file)]) == 1
    golden = {"golden_run": read_run(file), "tables": ["nested-parquet", "types-v2-parquet"]}
    matrix = _run(
        tmp_path, planted(faulty, table_read=lambda _args, _right: pytest.fail("it is asked again")), **golden
    )
    assert _states(matrix) == {"nested-parquet": TableOutcome.FAILED, "types-v2-parquet": TableOutcome.FAILED}
    asked = _run(tmp_path, faulty_adapter("rows-one-lost"), tables=golden["tables"])
    assert [(one.case, one.reason, one.differences) for one in matrix.cells] == [
        (one.case, one.reason, one.differences) for one in asked.cells
    ]


# What is known of written tables


def _matrix(*cells: Cell) -> Matrix:
    from conformance.interop.cells import Participant

    found = Matrix(dict(HEADER), cells=list(cells))
    found.participants = [Participant("duckdb", "duckdb", "1.5.5", reads=True), Participant("pyiceberg", writes=True)]
    return found


CELL = Cell("pyiceberg", "duckdb", "appends-v2-parquet", TableOutcome.FAILED, "current", "the answer differs")


def _known(**more: Any) -> KnownOutcome:
    said = {
        "role": "cell",
        "adapter": "duckdb",
        "tables": ("appends-*",),
        "outcome": TableOutcome.FAILED,
        "reason": "because",
        **more,
    }
    return KnownOutcome(**said)


def test_a_known_cell_does_not_fail_the_run() -> None:
    matrix = _matrix(CELL)
    apply_known(matrix, [_known(id="d-1", versions=("1.5.5",), producers=("py*",), says="differs")])
    assert (matrix.new_cells, matrix.unmet) == ([], [])
    assert (matrix.cells[0].known, matrix.cells[0].known_id) == ("because", "d-1")


@pytest.mark.parametrize(
    "other",
    [
        {"adapter": "polars"},
        {"versions": ("1.5.4",)},
        {"producers": ("iceberg-*",)},
        {"tables": ("merge-*",)},
        {"role": "table"},
    ],
)
def test_an_entry_about_something_else_explains_nothing(other: dict[str, Any]) -> None:
    matrix = _matrix(CELL)
    apply_known(matrix, [_known(**other)])
    assert matrix.new_cells == [CELL]
    assert matrix.unmet == []


@pytest.mark.parametrize(
    ("other", "expected"), [({"outcome": TableOutcome.CRASHED}, "the answer differs"), ({"says": "no"}, "differs")]
)
def test_a_cell_that_is_otherwise_than_stated_is_new(other: dict[str, Any], expected: str) -> None:
    matrix = _matrix(CELL)
    apply_known(matrix, [_known(**other)])
    assert matrix.new_cells == [CELL]
    assert expected in matrix.unmet[0]


def test_a_known_table_is_matched_by_what_it_breaks_and_not_by_what_is_said(tmp_path: Path) -> None:
    made = ProducedTable(
        "pyiceberg",
        "appends-v2-parquet",
        (),
        2,
        "parquet",
        outcome=TableOutcome.INVALID,
        reason="any words",
        findings=("any words",),
        shows=("DFL012", "/refs/main/rows"),
    )
    for shows, known in (("DFL012", True), ("/refs/main/rows", True), ("DFL013", False)):
        matrix = _matrix()
        matrix.tables.append(made)
        apply_known(matrix, [_known(role="table", adapter="pyiceberg", outcome=TableOutcome.INVALID, shows=shows)])
        assert (not matrix.unmet) == known
    file = tmp_path / "matrix.toml"
    for outcome, words in (("invalid", "says"), ("rejected", "shows")):
        file.write_text(
            f'[[table]]\nproducer = "a"\ntables = ["*"]\noutcome = "{outcome}"\nreason = "x"\n{words} = "x"\n'
        )
        with pytest.raises(UsageError, match=f"/table/0/{words}"):
            load_known(file)


def test_a_deviation_that_is_over_is_reported() -> None:
    right = Cell("pyiceberg", "duckdb", "appends-v2-parquet", TableOutcome.PASSED)
    matrix = _matrix(right)
    apply_known(matrix, [_known()])
    assert matrix.unmet == ["/cell/0: duckdb and appends-v2-parquet of pyiceberg: expected failed, got passed"]
    matrix = _matrix(right)
    apply_known(matrix, [_known(id="duckdb-loses-rows")])
    assert matrix.unmet[0].startswith("duckdb-loses-rows: ")


def test_cells_that_cannot_be_read_count_only_where_all_are_such() -> None:
    cannot = Cell("pyiceberg", "duckdb", "appends-v3-parquet", TableOutcome.UNSUPPORTED)
    matrix = _matrix(CELL, cannot)
    apply_known(matrix, [_known()])
    assert (matrix.new_cells, matrix.unmet) == ([], [])
    matrix = _matrix(cannot)
    apply_known(matrix, [_known()])
    assert matrix.unmet == ["/cell/0: appends-*: expected failed, got unsupported everywhere"]
    matrix = _matrix(cannot)
    apply_known(matrix, [_known(sometimes=True)])
    assert matrix.unmet == []


def test_the_shipped_deviations_name_scripts_that_there_are() -> None:
    known = load_known(None, {one.name for one in variants()})
    assert {one.role for one in known} == {"cell", "table"}
    assert all(one.reason.endswith(".") and one.evidence for one in known)


def test_two_entries_about_one_cell_are_refused() -> None:
    with pytest.raises(UsageError, match="both name"):
        apply_known(_matrix(CELL), [_known(), _known(tables=("*",))])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cell = 1", "broken known deviations"),
        ("[[cell]]\nconsumer = 'x'", "required"),
        ("[[table]]\nproducer='x'\ntables=['appends-*']\noutcome='passed'\nreason='r'", "outcome"),
        ("[[cell]]\nconsumer='x'\ntables=['no-such-*']\nstate='wrong'\nreason='r'", "no script makes"),
        ("[[cell", "broken known deviations"),
    ],
)
def test_broken_files_of_known_deviations_are_reported(text: str, expected: str, tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=expected):
        load_known(path, {"appends-v2-parquet"})
    with pytest.raises(UsageError, match="cannot be read"):
        load_known(tmp_path / "absent.toml")


# Files and reports


def test_results_are_read_as_they_were_written(tmp_path: Path) -> None:
    matrix = _run(tmp_path, faulty_adapter("rows-one-lost"), planted())
    path = tmp_path / "matrix.jsonl"
    results.write(matrix, path)
    again = results.read(path)
    assert results.lines(again) == results.lines(matrix)
    assert again.cells == matrix.cells
    assert matrix_terminal.render(again) == matrix_terminal.render(matrix)
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([lines[1], *lines]), encoding="utf-8")
    with pytest.raises(UsageError, match="must be its first line"):
        results.read(path)
    path.write_text('{"kind": "cell"}', encoding="utf-8")
    with pytest.raises(UsageError, match="not a line of a matrix"):
        results.read(path)


def test_results_of_the_release_before_are_read(tmp_path: Path) -> None:
    matrix = _run(tmp_path, faulty_adapter("rows-one-lost"), planted())
    path = tmp_path / "matrix.jsonl"
    results.write(matrix, path)
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    words = {row.pop("outcome"): row["state"] for row in rows if row["kind"] == "cell"}
    assert words == {"passed": "right", "failed": "wrong"}
    assert {row.pop("outcome"): row["writing"] for row in rows if row["kind"] == "table"} == {"passed": "written"}
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert results.read(path).cells == matrix.cells


@pytest.mark.parametrize(
    ("role", "former", "outcome"),
    [
        ("cell", "wrong", "failed"),
        ("cell", "refuses", "rejected"),
        ("cell", "crashes", "crashed"),
        ("table", "refused", "rejected"),
        ("table", "wrong", "failed"),
    ],
)
def test_entries_of_the_release_before_are_read(role: str, former: str, outcome: str, tmp_path: Path) -> None:
    who = "consumer" if role == "cell" else "producer"
    entries = []
    for member in (f'state = "{former}"', f'outcome = "{outcome}"'):
        file = tmp_path / "deviations.toml"
        file.write_text(f'[[{role}]]\n{who} = "a"\ntables = ["*"]\nreason = "x"\n{member}\n')
        entries += load_known(file)
    assert entries[0] == entries[1]


def test_reports_report_counts_differences_and_commands(tmp_path: Path) -> None:
    matrix = _run(tmp_path, faulty_adapter("rows-one-lost"), planted())
    counts = by_producer(matrix).cell("golden/iceberg-java@1.12.0", "rows-one-lost")
    assert dict(counts) == {"failed": len(TABLES)}
    for text in (matrix_terminal.render(matrix), matrix_markdown.render(matrix)):
        assert "iceberg-conformance matrix --producer golden --script nested-parquet --consumer rows-one-lost" in text
        assert "/rows/" in text
        assert "position deletes" in text
    page = matrix_page.render(matrix)
    assert "golden/iceberg-java@1.12.0" in page
    assert "http" not in page.replace("http-equiv", "")
    payload = matrix_page.payload(matrix)
    assert all(len(table["cells"]) == 2 for table in payload["tables"])


def test_the_page_has_a_sign_and_a_colour_for_each_outcome() -> None:
    folder = Path(matrix_page.__file__).parent / "page"
    script, styles = (folder / f"matrix_page.{kind}" for kind in ("js", "css"))
    for status in STATUSES:
        assert f"{status}: " in script.read_text(encoding="utf-8").splitlines()[0]
        assert f"button.{status} {{" in styles.read_text(encoding="utf-8")


def test_nothing_of_a_table_becomes_markup(tmp_path: Path) -> None:
    matrix = _run(tmp_path, planted(), tables=["nested-parquet"])
    matrix.header["tool"] = "<script>alert(1)</script>"
    matrix.unmet.append("<script>alert(2)</script>")
    assert "<script>alert" not in matrix_page.render(matrix)


def test_the_command_reproduces_a_wrong_cell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    faulty = f"{sys.executable} -m tests.faulty_adapters rows-one-lost"
    file = tmp_path / "m.jsonl"
    asked = ["matrix", "--producer", "golden", "--script", "nested-parquet", "--consumer", faulty]
    assert main([*asked, "--results", str(file), "--format", "json"]) == 1
    printed = capsys.readouterr()
    document = json.loads(printed.out)
    assert [(cell["outcome"], cell["state"]) for cell in document["cells"]] == [("failed", "wrong")]
    assert "new differences" in printed.err
    assert main(["matrix", "--from", str(file), "--report", "markdown"]) == 1
    assert "nested-parquet" in capsys.readouterr().out


@pytest.mark.parametrize(
    "wrong",
    [
        ["--script", "no-such-table"],
        ["--report", "paper"],
        ["--report", "html", "--report", "markdown"],
        ["--consumer", "nobody"],
        ["--from", "/no/such/file"],
        ["--jobs", "0"],
    ],
)
def test_the_command_refuses_what_makes_no_sense(wrong: list[str]) -> None:
    assert main(["matrix", *wrong]) in (2, 5)


def test_scripts_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["matrix", "--list", "--script", "appends"]) == 0
    assert "appends-v3-orc" in capsys.readouterr().out
    assert main(["matrix", "--list", "--script", "appends-v2-avro", "--format", "json"]) == 0
    (listed,) = json.loads(capsys.readouterr().out)
    assert listed["script"]["operations"][0]["properties"] == {"write.format.default": "avro"}
