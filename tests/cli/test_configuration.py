"""Defaults of options from a configuration file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.cli import configuration, main, make_app
from conformance.core.failures import UsageError
from conformance.vectors import Selection, load, shipped

TABLE = Path(__file__).parents[2] / "vectors" / "golden" / "writers" / "chdb-4.4.0" / "v1"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a folder with a subfolder, which becomes the current directory."""
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    return tmp_path


def checks(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, set[str]]:
    status = main(["validate", str(TABLE), "--format", "json", *options])
    (table,) = json.loads(capsys.readouterr().out)["tables"]
    return status, {finding["check"] for finding in table["findings"]}


def test_options_come_from_the_nearest_file_and_the_command_line_wins(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, everything = checks(capsys, "--level", "metadata")
    assert status == 1
    (project / "pyproject.toml").write_text(
        f"[tool.iceberg-conformance.validate]\nlevel = 'metadata'\nignore = {sorted(everything)}\n"
    )
    assert checks(capsys) == (0, set())
    one = sorted(everything)[0]
    assert checks(capsys, "--ignore", one)[1] == everything - {one}
    (project / "sub" / configuration.OWN_FILE).write_text("[validate]\nlevel = 'metadata'\nfail-on = 'never'\n")
    assert checks(capsys) == (0, everything)


def test_files_are_relative_to_the_configuration(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / configuration.OWN_FILE).write_text(
        "[run]\nadapter = ['reference']\nsuite = ['hashing']\nresults = 'run.jsonl'\n"
    )
    assert main(["run"]) == 0
    hashing = Selection(suites=("hashing",)).choose(load(shipped()))
    assert f"\n{len(hashing)} passed; no deviations" in capsys.readouterr().out
    assert (project / "run.jsonl").exists()
    assert not (project / "sub" / "run.jsonl").exists()
    (project / configuration.OWN_FILE).write_text("[run]\nsuite = ['hashing']\nexpect = 'known-deviations'\n")
    assert main(["run"]) == 0


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (configuration.OWN_FILE, "[validate", "not TOML"),
        (configuration.OWN_FILE, "deep = " + "[" * 100_000, "not TOML"),
        (configuration.OWN_FILE, "level = 'files'", "a table of options for each command"),
        (configuration.OWN_FILE, "[validat]\n", "[validat] is not a command"),
        (
            configuration.OWN_FILE,
            "[validate]\nlevl = 'files'",
            "validate.levl: not an option of validate; did you mean level?",
        ),
        (configuration.OWN_FILE, "[validate]\nlevel = 'deep'", "deep"),
        (configuration.OWN_FILE, "[validate]\nlevel = 3", "3"),
        (configuration.OWN_FILE, "[validate]\nworkers = 2.5", "expected a whole number; found 2.5"),
        (configuration.OWN_FILE, "[validat]\n", "did you mean validate?"),
        ("pyproject.toml", "[tool]\niceberg-conformance = 3", "a table of options for each command"),
        ("pyproject.toml", "[tool.iceberg-conformance\n", "not TOML"),
        (
            "pyproject.toml",
            "[tool.iceberg-conformance]\nfail-on = 'error'",
            "such as [tool.iceberg-conformance.validate]",
        ),
        ("pyproject.toml", "[tool.iceberg-conformance.nothing]\n", "[nothing] is not a command"),
    ],
)
def test_a_wrong_file_is_refused_with_its_name(
    name: str, text: str, message: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / name).write_text(text)
    assert main(["validate", str(TABLE)]) == 2
    errors = capsys.readouterr().err
    assert str(project / name) in errors
    assert message in errors


@pytest.mark.parametrize(
    ("name", "data"),
    [(configuration.OWN_FILE, b"\xff"), (configuration.SHARED_FILE, b"[tool.iceberg-conformance]\n# \xff\n")],
)
def test_a_file_that_is_not_text_is_refused(name: str, data: bytes, project: Path) -> None:
    (project / name).write_bytes(data)
    with pytest.raises(UsageError, match=rf"{name}: not TOML: 'utf-8' codec can't decode byte 0xff"):
        configuration.find()


@pytest.mark.parametrize("data", [b"[tool.ruff]\n", b"tool = 3\n", b"not toml", b"", b"[tool.ruff]\n# \xff\n"])
def test_a_pyproject_of_other_tools_alone_is_passed_over(data: bytes, project: Path) -> None:
    (project / "sub" / "pyproject.toml").write_bytes(data)
    (project / configuration.OWN_FILE).write_text("[validate]\nlevel = 'files'\n")
    assert configuration.find() == (project / configuration.OWN_FILE, {"validate": {"level": "files"}})


def test_the_doctor_shows_the_configuration(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = project / configuration.OWN_FILE

    def shown() -> dict[str, object]:
        main(["doctor", "--format", "json"])
        return next(one for one in json.loads(capsys.readouterr().out) if one["what"] == "configuration")

    path.write_text("[validate]\nlevel = 'files'\n[run]\nexpect = 'known.toml'\n")
    assert shown()["found"] == f"{path}: validate.level, run.expect"
    path.write_text("[validate")
    assert shown()["fine"] is False


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[validate]\nlevl = 'files'\n", "validate.levl: not an option of validate; did you mean level?"),
        ("[validate]\nempty-select = true\n", "validate.empty-select: not an option"),
        ("[validat]\n", "[validat] is not a command; did you mean validate?"),
        ("[doctor]\nformat = 'json'\n", "[doctor]: doctor takes no options from the configuration"),
        ("[race]\nseconds = 3\n", "race.seconds: race has no options"),
        ("[race.stres]\nseconds = 3\n", "[race.stres] is not a command; did you mean stress?"),
        ("[race.stress]\nsecond = 3\n", "race.stress.second: not an option of race.stress; did you mean seconds"),
    ],
)
def test_the_doctor_finds_names_that_no_command_or_option_has(
    text: str, message: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / configuration.OWN_FILE).write_text(text)
    with pytest.raises(UsageError) as refused:
        configuration.check(*found(), make_app())
    assert message in str(refused.value)
    assert main(["doctor"]) == 3
    assert message in capsys.readouterr().out


def test_every_documented_option_is_one() -> None:
    tables = {
        "run": {"adapter": [], "expect": "", "suite": []},
        "validate": {"fail-on": "", "ignore": [], "select": []},
    }
    configuration.check(Path("file"), {**tables, "race": {"stress": {"seconds": 3}}}, make_app())


def found() -> tuple[Path, dict[str, object]]:
    """Return the configuration of the current directory."""
    one = configuration.find()
    assert one is not None
    return one
