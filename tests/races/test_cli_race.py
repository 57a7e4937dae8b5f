"""``iceberg-conformance race`` as a person runs it."""

from __future__ import annotations

import json

import pytest
from planted_faults import PLANTED

from conformance.cli import main


def test_a_race_is_played_and_reported(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["race", "play", "fast-append", "fast-append"]) == 0
    output = capsys.readouterr().out
    assert "6  committed | committed" in output
    assert "1 race, 6 schedules" in output


def test_what_is_wrong_is_reported_with_a_schedule_that_replays(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    next(one for one in PLANTED if one.name == "sequence number kept on retry").plant(monkeypatch)
    assert main(["race", "play", "fast-append", "fast-append", "--format", "json"]) == 1
    (row,) = json.loads(capsys.readouterr().out)
    assert row["outcome_counts"] == row["outcomes"]
    assert sum(row["outcome_counts"].values()) == row["schedules"]
    found = row["found"][0]
    assert found["problem"].startswith("sequence number")
    schedule = found["replay"].split("'")[1]
    assert main(["race", "play", "fast-append", "fast-append", "--schedule", schedule]) == 1
    output = capsys.readouterr().out
    assert "wrong: sequence number" in output
    assert all(line in output for line in found["trace"])


def test_a_table_is_made_anew_whatever_becomes_of_the_request(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["race", "play", "properties", "replace-table", "--fixture", "replaced", "--faults", "1"]) == 0
    assert "0 failed" in capsys.readouterr().out


def test_a_reader_may_find_a_new_table_without_snapshots(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["race", "play", "replace-table", "read", "--fixture", "replaced"]) == 0
    assert "0 failed" in capsys.readouterr().out


def test_a_suite_is_explored(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--format-version", "1", "--table", "metastore", "--suite", "readers", "--processes", "1"]
    assert main(["race", "explore", *arguments]) == 0
    assert "0 failed" in capsys.readouterr().out


def test_a_stress_is_run_and_reported_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["race", "stress", "--seconds", "1.5", "--processes", "2", "--kills", "0", "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["problems"] == []
    assert report["acknowledged"] > 3


@pytest.mark.parametrize(
    "arguments",
    [
        ["play"],
        ["play", "nonsense"],
        ["play", "append", "--format-version", "4"],
        ["play", "append", "--table", "clay"],
        ["play", "append", "--kind", "earthquake"],
        ["play", "append", "--schedule", "0 7"],
        ["play", "append", "--schedule", "0:sleep"],
        ["explore", "--format-version", "9"],
        ["stress", "--processes", "0"],
        ["stress", "--catalog", "mysql://x/y"],
    ],
)
def test_wrong_usage_is_reported(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["race", *arguments]) == 2
    assert capsys.readouterr().err.startswith("iceberg-conformance: ")


def test_the_changes_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["race", "list", "--format", "json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert "upgrade" in listed["changes"]["2"]
    assert "upgrade" not in listed["changes"]["3"]
