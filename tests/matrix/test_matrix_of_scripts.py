"""The matrix over scripts: the reference's tables are read correctly, and faulty producers and consumers are caught."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from planted import faulty_adapter, planted

from conformance.adapter_sdk.serve import Invalid, Unsupported
from conformance.cli import main
from conformance.core.failures import ExitStatus
from conformance.interop import results
from conformance.interop.catalogue import variants
from conformance.interop.cells import Matrix, TableOutcome
from conformance.interop.features import table_features
from conformance.interop.known import load_known
from conformance.interop.running import MatrixPlan, folder_name, run_matrix
from conformance.reports import matrix_markdown, matrix_page, matrix_terminal
from conformance.runner.execution import Target
from conformance.scripts.model import run_model
from conformance.table_io.tables import load_table

HEADER = {"matrix": 1, "tool": "0", "started": "2026-01-01T00:00:00+00:00", "command": ["matrix"]}
FEW = ("appends-v2-parquet", "position-deletes-v2-parquet", "evolution-v2-parquet", "branches-v2-parquet")


@pytest.fixture(autouse=True)
def _without_a_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written need not last here."""
    monkeypatch.setattr("os.fsync", lambda _descriptor: None)


def _run(folder: Path, producer: Target, *consumers: Target, scripts: tuple[str, ...] = FEW, **more: Any) -> Matrix:
    chosen = variants(scripts)
    assert chosen
    return run_matrix(MatrixPlan((producer,), consumers, chosen, (), folder, **more), Matrix(HEADER))


def test_scripts_have_names_of_their_own_and_make_sense() -> None:
    every = variants()
    names = [one.name for one in every]
    assert len(set(names)) == len(names)
    assert set(FEW) <= set(names)
    for one in every:
        run_model(one.script)
    few = variants(quick=True)
    assert {one.entry.name for one in few} == {one.entry.name for one in every}
    assert {one.file_format for one in few} == {"parquet", "orc", "avro"}
    assert len(few) < len(every) / 2


def test_the_reference_reads_what_it_writes(tmp_path: Path) -> None:
    chosen = variants(quick=True)
    plan = MatrixPlan((planted("reference"),), (planted("reference"),), chosen, (), tmp_path, load_known())
    matrix = run_matrix(plan, Matrix(HEADER))
    assert {cell.outcome for cell in matrix.cells} == {TableOutcome.PASSED}
    assert matrix.exit_status is ExitStatus.CONFORMANT
    written = {table.name: table for table in matrix.tables if table.outcome is TableOutcome.PASSED}
    assert len(written) == len(matrix.cells) > len(chosen) * 0.8
    for one in chosen:
        if one.name in written:
            found = table_features(load_table(written[one.name].metadata))
            assert set(one.entry.features) <= found, one.name


def _without_rows(args: dict[str, Any], right: Any) -> Any:
    operations = [
        {**one, "rows": one["rows"][:-1]} if one["op"] == "append" else one for one in args["script"]["operations"]
    ]
    return right({**args, "script": {"operations": operations}})


def _other_schema(args: dict[str, Any], right: Any) -> Any:
    kept = [one for one in args["script"]["operations"] if one["op"] == "create"]
    schema = {**kept[0]["schema"], "fields": kept[0]["schema"]["fields"][::-1]}
    return right({**args, "script": {"operations": [{**kept[0], "schema": schema}]}})


def _wrong_numbers(args: dict[str, Any], right: Any) -> Any:
    answer = right(args)
    path = Path(answer["metadata"].removeprefix("file://"))
    document = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**document, "last-sequence-number": 1}), encoding="utf-8")
    return answer


def _raises(error: Exception) -> Callable[[dict[str, Any], Any], Any]:
    def wrong(_args: dict[str, Any], _right: Any) -> Any:
        raise error

    return wrong


@pytest.mark.parametrize(
    ("wrong", "outcome", "expected"),
    [
        (_without_rows, TableOutcome.FAILED, "/rows"),
        (_other_schema, TableOutcome.FAILED, "schema"),
        (_wrong_numbers, TableOutcome.INVALID, "sequence"),
        (_raises(Invalid("not today")), TableOutcome.REJECTED, "not today"),
        (_raises(ValueError("a bug")), TableOutcome.REJECTED, "a bug"),
        (_raises(Unsupported("not there")), TableOutcome.UNSUPPORTED, "not there"),
    ],
)
def test_a_planted_producer_is_caught(wrong: Any, outcome: TableOutcome, expected: str, tmp_path: Path) -> None:
    matrix = _run(tmp_path, planted(table_write=wrong), planted("reader"), scripts=("appends-v2-parquet",))
    (table,) = matrix.tables
    assert table.outcome is outcome
    assert expected in table.reason
    assert len(matrix.cells) == (outcome is TableOutcome.INVALID)
    assert matrix.exit_status is (ExitStatus.FAILURES if outcome.is_bad else ExitStatus.NOTHING_SELECTED)
    for text in (matrix_terminal.render(matrix), matrix_markdown.render(matrix), str(matrix_page.payload(matrix))):
        assert outcome.value in text
    if outcome.is_bad:
        assert "matrix --producer planted --script appends-v2-parquet" in matrix_terminal.render(matrix)


def test_a_producer_that_ends_is_reported(tmp_path: Path) -> None:
    from conformance.runner.process import Process

    matrix = _run(tmp_path, Target("gone", lambda: Process("gone", ["/bin/sh", "-c", "exit 3"])), planted("reader"))
    assert matrix.exit_status is ExitStatus.NOT_EXAMINED
    assert matrix.tables == []


@pytest.mark.parametrize(
    ("fault", "tables"),
    [
        ("rows-one-lost", FEW),
        ("rows-reference-ignored", ("branches-v2-parquet",)),
        ("rows-snapshot-ignored", ("branches-v2-parquet", "evolution-v2-parquet")),
        ("rows-with-null-lost", ("appends-v2-parquet",)),
    ],
)
def test_a_planted_consumer_is_caught(fault: str, tables: tuple[str, ...], tmp_path: Path) -> None:
    matrix = _run(tmp_path, planted("reference"), faulty_adapter(fault))
    states = {cell.table: cell.outcome for cell in matrix.cells}
    assert set(states) == set(FEW)
    assert all(states[table].is_bad for table in tables)
    assert matrix.exit_status is ExitStatus.FAILURES


def test_written_tables_are_stored_with_what_is_known(tmp_path: Path) -> None:
    known = tmp_path / "known.toml"
    known.write_text(
        '[[table]]\nid = "reference-loses-rows"\nproducer = "reference"\ntables = ["appends-*"]\nstate = "wrong"\n'
        'reason = "it loses rows"\n',
        encoding="utf-8",
    )
    producer = planted("reference", table_write=_without_rows)
    matrix = _run(tmp_path, producer, planted("reader"), scripts=("appends-v2-parquet",), known=load_known(known))
    assert matrix.exit_status is ExitStatus.NOTHING_SELECTED
    results.write(matrix, tmp_path / "m.jsonl")
    again = results.read(tmp_path / "m.jsonl")
    assert [(one.known, one.known_id) for one in again.tables] == [("it loses rows", "reference-loses-rows")]
    assert "it loses rows" in matrix_terminal.render(again)


def _interrupted_at(name: str) -> Callable[[dict[str, Any], Any], Any]:
    def wrong(args: dict[str, Any], right: Any) -> Any:
        if name in args["table"]:
            raise KeyboardInterrupt
        return right(args)

    return wrong


@pytest.mark.parametrize(("where", "tables", "cells"), [("table_write", 2, 0), ("table_read", 4, 2)])
def test_what_was_found_until_an_interruption_is_kept(where: str, tables: int, cells: int, tmp_path: Path) -> None:
    third = variants(FEW)[2].name
    found = Matrix(HEADER)
    target = planted("planted", **{where: _interrupted_at(third)})
    with pytest.raises(KeyboardInterrupt):
        run_matrix(MatrixPlan((target,), (target,), variants(FEW), (), tmp_path), found)
    assert (len(found.tables), len(found.cells)) == (tables, cells)
    assert (found.complete, found.exit_status) == (False, ExitStatus.INTERRUPTED)
    assert {cell.outcome for cell in found.cells} <= {TableOutcome.PASSED}


SLOW = """
import json, pathlib, sys, time
for line in sys.stdin:
    asked = json.loads(line)
    if asked["op"] == "start":
        started = {"protocol": 1, "implementation": "slow", "version": "1", "operations": ["table.read"]}
        print(json.dumps({"seq": asked["seq"], "ok": started}), flush=True)
    elif asked["op"] == "table.read":
        pathlib.Path(sys.argv[1]).touch()
        time.sleep(600)
"""


def interrupt_a_slow_reader(folder: Path, *arguments: str) -> Path:
    """Interrupt a matrix while a consumer reads its first table, and return the path of the results file."""
    (folder / "slow.py").write_text(SLOW, encoding="utf-8")
    asked, written = folder / "asked", folder / "m.jsonl"
    command = [sys.executable, "-m", "conformance", "matrix", *arguments, "--jobs", "1", "--results", str(written)]
    command += ["--consumer", f"{sys.executable} {folder}/slow.py {asked}"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        while not asked.exists():
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, output = process.communicate(timeout=60)
    assert process.returncode == ExitStatus.INTERRUPTED, output
    assert "interrupted" in output
    return written


def test_an_interrupted_command_leaves_results_that_are_read(tmp_path: Path) -> None:
    found = results.read(
        interrupt_a_slow_reader(tmp_path, "--producer", "reference", "--script", FEW[0], "--consumer", "reference")
    )
    assert (found.complete, found.exit_status) == (False, ExitStatus.INTERRUPTED)
    assert [table.name for table in found.tables] == [FEW[0]]
    assert [(cell.consumer, cell.outcome) for cell in found.cells] == [("reference", TableOutcome.PASSED)]


def test_a_command_that_is_interrupted_before_anything_was_written_or_read_leaves_no_results(tmp_path: Path) -> None:
    assert not interrupt_a_slow_reader(tmp_path, "--producer", "golden").exists()


def test_folders_of_producers_are_plain_names() -> None:
    assert folder_name("iceberg-java@1.10.2") == "iceberg-java-1-10-2"
    assert folder_name("./my adapter --stdio") == "-my-adapter-stdio"


def test_the_command_writes_reads_and_keeps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["matrix", "--producer", "reference", "--consumer", "reference", "--script", "appends-v2-parquet"]
    files = ["--results", str(tmp_path / "m.jsonl"), "--report", f"html:{tmp_path / 'm.html'}"]
    assert main([*asked, *files, "--keep", str(tmp_path / "kept")]) == 0
    assert "1 table, 1 passed; nothing new" in capsys.readouterr().out
    (table,) = (tmp_path / "kept").glob("*/reference/appends-v2-parquet")
    assert load_table(str(table)).metadata.current_snapshot_id is not None
    assert "appends-v2-parquet" in (tmp_path / "m.jsonl").read_text(encoding="utf-8")
