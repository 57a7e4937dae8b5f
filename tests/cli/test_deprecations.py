"""Old names of commands and options work for one release, and a line on standard error names the new one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.cli import deprecations, main, make_app


def test_every_new_name_is_an_option_and_no_old_one_is() -> None:
    app = make_app()
    for command, options in deprecations.OPTIONS.items():
        names = {name for argument in app[command].assemble_argument_collection() for name in argument.names}
        for old, new in options.items():
            assert f"--{new}" in names
            assert f"--{old}" not in names
    assert set(deprecations.COMMANDS.values()) | set(deprecations.OPTIONS) <= set(app)
    assert not set(deprecations.COMMANDS) & set(app)


def test_arguments_get_the_new_names(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["laws", "--law", "a", "--avoid=--law", "--most=2", "--seed", "--known"]
    expected = ["metamorphic", "--property", "a", "--exclude=--law", "--max-failures=2", "--seed", "--known"]
    assert deprecations.replace_old_arguments(given) == expected
    assert capsys.readouterr().err.splitlines() == [
        "iceberg-conformance: the command laws is deprecated; use metamorphic",
        "iceberg-conformance: the option --law of metamorphic is deprecated; use --property",
        "iceberg-conformance: the option --avoid of metamorphic is deprecated; use --exclude",
        "iceberg-conformance: the option --most of metamorphic is deprecated; use --max-failures",
    ]
    current = ["run", "--adapter", "reference"]
    assert deprecations.replace_old_arguments(current) == current
    assert deprecations.replace_old_arguments([]) == []
    assert capsys.readouterr().err == ""


def test_tables_of_a_configuration_get_the_new_names(capsys: pytest.CaptureFixture[str]) -> None:
    given = {"laws": {"law": ["a"], "seed": 1}, "relay": {"avoid": ["orc"], "exclude": ["v1"]}}
    expected = {"metamorphic": {"property": ["a"], "seed": 1}, "relay": {"exclude": ["v1"]}}
    assert deprecations.replace_old_keys(given) == expected
    assert deprecations.replace_old_keys({"equivalence": {}, "filter-pushdown": {"seed": 1}})["filter-pushdown"] == {
        "seed": 1
    }
    assert "the option law in [laws] is deprecated; use property" in capsys.readouterr().err


def test_a_run_takes_the_old_name_of_an_option_from_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "iceberg-conformance.toml").write_text("[run]\npipeline = 0\n")
    assert main(["run", "--suite", "hashing"]) == 2
    errors = capsys.readouterr().err
    assert "the option pipeline in [run] is deprecated; use max-in-flight" in errors
    assert "--max-in-flight 0: must be more than 0" in errors
    assert main(["run", "--suite", "hashing", "--pipeline", "2", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["exit_status"] == 0


def test_none_is_not_a_file_of_known_failures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "iceberg-conformance.toml").write_text("[scenarios]\nexpect = 'none'\nexamples = 1\noperations = 1\n")
    assert main(["scenarios", "--seed", "1"]) == 0
