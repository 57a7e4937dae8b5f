"""Output for other programs: JSON of every command, SARIF, completion, a new adapter."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve, frozen

from conformance.cli import main, make_app
from conformance.interop.cells import Cell, Matrix, Participant, ProducedTable, TableOutcome
from conformance.interop.results import write
from conformance.reports import difference, sarif_run
from conformance.runner.results import read

Adapter = Callable[[str], str]
Cli = Callable[..., "Done"]


@frozen
class Done:
    """The result of a command."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Runs ``iceberg-conformance`` in this process, in a separate folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str | Path) -> Done:
        capsys.readouterr()
        status = main([str(argument) for argument in arguments])
        return Done(status, *capsys.readouterr())

    return run


MINIATURE = Path(__file__).parents[1] / "conformance_unit" / "miniature.py"
RACE = ("race", "play", "append", "append")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write ten vectors, and two results files of one adapter: with right and with wrong answers."""
    place = tmp_path_factory.mktemp("programs")
    rows = [{"id": f"mini-{n}", "args": {"type": f"fixed[{n}]"}, "expect": {"ok": f"fixed[{n}]"}} for n in range(1, 11)]
    base = {"requirements": ["TYP023"], "versions": [1, 2, 3], "origin": "spec: Appendix C"}
    content = {"suite": "mini", "operation": "type.parse", "section": "Appendix C: JSON serialization"}
    (place / "mini vectors" / "mini").mkdir(parents=True)
    vectors = [{**base, **row} for row in rows]
    (place / "mini vectors" / "mini" / "types.json").write_text(json.dumps({**content, "vectors": vectors}))
    for name in ("good", "wrong"):
        adapter = f"{sys.executable} {MINIATURE} {name}"
        results = place / f"{name}.jsonl"
        main(["run", "-a", adapter, "--vectors", str(place / "mini vectors"), "--results", str(results)])
        results.write_text(results.read_text().replace("miniature.py wrong", "miniature.py good"))
    return place


@pytest.mark.parametrize(
    ("arguments", "status", "look"),
    [
        (("run", "--vectors", "mini vectors"), 0, lambda found: found["adapters"][0]["counts"]["passed"] == 10),
        (
            ("replay", "mini-7", "--vectors", "mini vectors"),
            0,
            lambda found: found["result"]["outcome"] == "passed",
        ),
        (("report", "good.jsonl"), 0, lambda found: found["complete"]),
        (
            ("report", "--diff", "good.jsonl", "wrong.jsonl"),
            1,
            lambda found: found["changes"][0]["id"] == "mini-7",
        ),
        (("explain", "HSH007"), 0, lambda found: found["code"] == "HSH007"),
        (("doctor",), 0, lambda found: any(one["what"] == "vectors" for one in found)),
        (("engines", "list"), 0, lambda found: {"pyiceberg"} <= {one["name"] for one in found}),
        (("engines", "prune", "--dry-run"), 0, lambda found: found == []),
        (
            ("list", "adapters"),
            0,
            lambda found: [one["name"] for one in found[:2]] == ["reference", "reference:plain"],
        ),
        (("list", "engines"), 0, lambda found: len(found) > 5),
        (
            ("list", "checks"),
            0,
            lambda found: len(found) > 700 and {"id", "level", "severity"} <= set(found[0]),
        ),
        (("list", "checks", "--level", "diff", "--requirement", "snp"), 0, lambda found: len(found) == 2),
        (
            ("list", "checks", "--requirement", "snp013"),
            0,
            lambda found: {"SNP013", "SNP018"} <= {one["requirements"][0] for one in found},
        ),
        (("list", "requirements"), 0, lambda found: len(found) > 600),
        (("list", "vectors", "--vectors", "mini vectors"), 0, lambda found: len(found) == 10),
        (("check", "vectors", "mini vectors"), 1, lambda found: found[0]["line"] == 1),
        (("race", "list"), 0, lambda found: "append" in found["changes"]["2"]),
        (RACE, 0, lambda found: found[0]["found"] == []),
        ((*RACE, "--schedule", "0 1"), 0, lambda found: isinstance(found["trace"], list)),
        (("race", "explore", "--suite", "readers", "--format-version", "1", "--table", "metastore"), 0, len),
        (("filter-pushdown", "--seed", "0", "--examples", "2"), 0, lambda found: found["counterexamples"] == []),
        (
            ("metamorphic", "--property", "appends-commute", "--seed", "0", "--examples", "1"),
            0,
            lambda found: found["held"] == 1,
        ),
        (
            ("relay", "-a", "reference", "--seed", "0", "--examples", "1"),
            0,
            lambda found: found["failures"] == [],
        ),
        (("matrix", "--list"), 0, len),
        (("validate", "."), 3, lambda found: "tables" in found or found),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, tuple) else "",
)
def test_every_command_has_a_json_form_alone_on_standard_output(
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    status: int | None,
    look: Callable[[object], object],
) -> None:
    monkeypatch.chdir(place)
    monkeypatch.setenv("ICEBERG_CONFORMANCE_HOME", str(place / "home"))
    found = main([*arguments, "--format", "json"])
    out, err = capsys.readouterr()
    assert look(json.loads(out)), out
    assert "a bug in this tool" not in err
    assert status is None or found == status


@pytest.mark.parametrize("schedule", ["0 0 0 0 0 0 0 0 0", "0:arrives", "0:lost-reply", "0:crash 0"])
def test_a_schedule_that_cannot_be_is_wrong_usage(capsys: pytest.CaptureFixture[str], schedule: str) -> None:
    assert main([*RACE, "--schedule", schedule]) == 2
    assert "is not possible there" in capsys.readouterr().err


def test_no_command_is_left_without_a_json_form() -> None:
    """Commands that create files, and the one for shells, have no information to print."""
    app = make_app()
    without = set()
    for name in app:
        if name.startswith("-"):
            continue
        command = app[name]
        below = [one for one in command if not one.startswith("-")]
        for words in [(name, one) for one in below] or [(name,)]:
            asked = command[words[1]] if below else command
            named = {option for argument in asked.assemble_argument_collection() for option in argument.names}
            if "--format" not in named:
                without.add(" ".join(words))
    assert without == {"new-adapter", "completion"}


def test_a_difference_as_markdown(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    assert main(["report", "--diff", "good.jsonl", "wrong.jsonl", "--format", "markdown"]) == 1
    output = capsys.readouterr().out
    assert "### 1 new failures\n\n- `mini-7` of " in output
    assert '`passed` is now `failed {"ok":"fixed[8]"}`' in output
    assert main(["report", "--diff", "good.jsonl", "good.jsonl", "--format", "markdown"]) == 0
    assert capsys.readouterr().out.endswith("No result changed.\n")
    assert main(["report", "--diff", "good.jsonl", "wrong.jsonl", "--format", "html"]) == 2


def test_a_difference_as_json_names_implementations_that_changed(place: Path) -> None:
    old, new = read(place / "good.jsonl"), read(place / "wrong.jsonl")
    found = difference.as_json(old, new)
    assert found["adapters"] == []
    assert [change["regression"] for change in found["changes"]] == [True]
    new.adapters[0] = evolve(new.adapters[0], version="9")
    (changed,) = difference.as_json(old, new)["adapters"]
    assert (changed["old"], changed["new"]) == ("miniature 1.2.3", "miniature 9")
    assert difference.as_json(old, read(place / "good.jsonl"))["changes"] == []


def test_sarif_has_a_result_with_rule_evidence_and_fingerprint_for_each_failure(
    cli: Cli, folder: Path, adapter: Adapter, tmp_path: Path
) -> None:
    (tmp_path / "known.toml").write_text(
        '[[deviation]]\nengine = "miniature"\nvectors = ["mini-7"]\nreason = "tired"\n'
    )
    arguments = ("run", "-a", adapter("wrong"), "--vectors", folder, "--report", "sarif")
    done = cli(*arguments)
    log = json.loads(done.stdout)
    assert (log["version"], len(log["runs"])) == ("2.1.0", 1)
    (run,) = log["runs"]
    (result,) = run["results"]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "TYP023"
    assert run["invocations"][0]["executionSuccessful"] is True
    assert 'expected     {"ok":"fixed[7]"}' in result["message"]["text"]
    assert "reproduce    iceberg-conformance replay mini-7" in result["message"]["text"]
    assert result["partialFingerprints"] == {sarif_run.FINGERPRINT: f"{adapter('wrong')}/mini-7"}
    assert "suppressions" not in result
    listed = json.loads(cli(*arguments, "--expect", "known.toml").stdout)["runs"][0]
    assert listed["results"][0]["suppressions"] == [{"kind": "external", "justification": "tired"}]
    over = json.loads(cli(*arguments[:2], adapter("good"), *arguments[3:], "--expect", "known.toml").stdout)["runs"][0]
    assert over["results"][0]["properties"]["status"] == "unexpected-pass"
    assert over["invocations"][0]["executionSuccessful"] is False


def test_sarif_places_a_failure_in_the_file_of_the_adapter(cli: Cli, folder: Path, tmp_path: Path) -> None:
    source = (Path(__file__).parents[1] / "conformance_unit" / "miniature.py").read_text()
    (tmp_path / "mine.py").write_text(source)
    done = cli("run", "-a", f"{sys.executable} mine.py wrong", "--vectors", folder, "--report", "sarif")
    (result,) = json.loads(done.stdout)["runs"][0]["results"]
    place = {"artifactLocation": {"uri": "mine.py"}, "region": {"startLine": 1}}
    assert result["locations"][0]["physicalLocation"] == place


def test_sarif_reports_an_adapter_that_does_not_start(cli: Cli, folder: Path, adapter: Adapter) -> None:
    done = cli("run", "-a", adapter("refuses-start"), "--vectors", folder, "--report", "sarif")
    (run,) = json.loads(done.stdout)["runs"]
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert (done.returncode, note["level"], note["message"]["text"]) == (
        3,
        "error",
        "not run: it refused to start: no licence",
    )


def test_bash_completes_commands_and_options(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "completion.bash"
    script.write_text(cli("completion", "bash").stdout)

    env = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}

    def completed(*words: str) -> set[str]:
        asked = " ".join(f"'{word}'" for word in words)
        text = (
            f"source {script}; COMP_WORDS=({asked}); COMP_CWORD={len(words) - 1}; COMPREPLY=(); "
            "_iceberg_conformance_with_names; printf '%s\\n' \"${COMPREPLY[@]}\""
        )
        done = subprocess.run(["bash", "-c", text], capture_output=True, text=True, check=True, timeout=300, env=env)
        assert done.stderr == ""
        return set(done.stdout.split())

    assert completed("iceberg-conformance", "re") == {"relay", "replay", "report"}
    assert {"--adapter", "--expect", "--update-expected"} <= completed("iceberg-conformance", "run", "--")
    assert completed("iceberg-conformance", "engines", "") >= {"list", "install", "prune"}
    assert completed("iceberg-conformance", "validate", "--level", "") >= {"metadata", "manifests", "files", "rows"}
    assert completed("iceberg-conformance", "run", "--suite", "hash") == {"hashing"}
    assert completed("iceberg-conformance", "run", "-a", "pyice") == {"pyiceberg", "pyiceberg-core"}
    assert completed("iceberg-conformance", "explain", "HSH00") >= {"HSH001", "HSH007"}
    assert "hash-uuid-high-bit" in completed("iceberg-conformance", "replay", "hash-uuid-")
    assert "manifest-file-manifest-length-mismatch" in completed("iceberg-conformance", "validate", "--ignore", "manif")
    assert completed("iceberg-conformance", "validate", "/tm") == set()  # so that bash completes file names
    assert completed("iceberg-conformance", "run", "-a", "./tool") == set()
    assert completed("iceberg-conformance", "engines", "install", "duckdb", "pola") == {"polars"}
    # bash splits words at equals signs and colons, and replaces only what is behind the last of them.
    assert completed("iceberg-conformance", "run", "--suite", "=", "hash") == {"hashing"}
    assert completed("iceberg-conformance", "run", "--suite", "=") >= {"hashing", "transforms"}
    assert completed("iceberg-conformance", "run", "-a", "reference", ":") == {"plain"}
    assert completed("iceberg-conformance", "run", "-a", "reference", ":", "pl") == {"plain"}
    assert completed("iceberg-conformance", "validate", "catalog", ":", "prod") == set()
    (tmp_path / "a file.json").touch()
    monkeypatch.chdir(tmp_path)
    assert completed("iceberg-conformance", "report", "a") == set()  # bash quotes the blank


def test_bash_completes_paths_as_it_does_for_other_commands(cli: Cli) -> None:
    script = cli("completion", "bash").stdout
    assert script.count("complete -") == 1
    assert "complete -o filenames -o default -F" in script


def test_suites_are_listed_with_their_vectors(cli: Cli) -> None:
    listed = {one["name"]: one["vectors"] for one in json.loads(cli("list", "suites", "--format", "json").stdout)}
    assert sum(listed.values()) == len(json.loads(cli("list", "vectors", "--format", "json").stdout))
    assert [line.split()[0] for line in cli("list", "suites").stdout.splitlines()] == sorted(listed)


@pytest.mark.parametrize(("shell", "sign"), [("zsh", "#compdef iceberg-conformance"), ("fish", "complete -c")])
def test_other_shells_have_scripts(cli: Cli, shell: str, sign: str) -> None:
    done = cli("completion", shell)
    assert (done.returncode, done.stderr) == (0, "")
    assert sign in done.stdout
    assert "update-expected" in done.stdout
    assert cli("completion", "tcsh").returncode == 2


ZSH = r"""
zmodload zsh/zpty
zpty -b shell zsh -f -i
write() { zpty -w shell "$1" }
write 'unsetopt beep; fpath=($PWD $fpath); autoload -U compinit; compinit -u -D'
write 'save() { print -r -- "$BUFFER" >> typed; BUFFER=; }; zle -N save; bindkey "^Xs" save; touch ready'
wait_until() { for i in {1..600}; do eval "$1" && return; zpty -r shell x '*' -t; sleep 0.1; done; exit 1 }
wait_until '[[ -e ready ]]'
touch typed
for line in "$@"; do
  n=$(wc -l < typed)
  zpty -n -w shell "$line"$'\t\x18s'
  wait_until '(( $(wc -l < typed) > n ))'
done
zpty -d shell
"""


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_completes_commands_options_and_files(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "_iceberg-conformance").write_text(cli("completion", "zsh").stdout)  # the name in docs/quick-start.md
    (tmp_path / "my-table").mkdir()
    completed = {
        "valid": "validate ",
        "run --suit": "run --suite ",
        "validate --level ro": "validate --level rows ",
        "validate my": "validate my-table/",
    }
    lines = [f"iceberg-conformance {line}" for line in completed]
    subprocess.run(["zsh", "-f", "-c", ZSH, "zsh", *lines], cwd=tmp_path, check=True, timeout=120, capture_output=True)
    typed = (tmp_path / "typed").read_text().splitlines()
    assert typed == [f"iceberg-conformance {line}" for line in completed.values()]


def test_a_new_adapter_runs_and_passes_what_it_has(cli: Cli, tmp_path: Path) -> None:
    done = cli("new-adapter", "my engine", "--name", "mine")
    assert (done.returncode, done.stderr) == (0, "")
    assert {file.name for file in (tmp_path / "my engine").iterdir()} == {
        "adapter.py",
        "README.md",
        "known.toml",
        "conformance.yml",
    }
    command = f"{sys.executable} 'my engine/adapter.py'"
    found = cli("run", "-a", command, "--suite", "single-values-binary", "--expect", "my engine/known.toml")
    assert found.returncode == 0, found.stdout
    passed = re.search(r"(\d+) passed, (\d+) unsupported; no deviations in \1 answered of", found.stdout)
    assert passed
    assert int(passed[1]) > 0
    assert "mine 0.0" in found.stdout
    row = next(line for line in found.stdout.splitlines() if line.startswith("single-values-binary"))
    tutorial = (Path(__file__).parents[2] / "docs" / "adapters.md").read_text(encoding="utf-8")
    assert row in tutorial.splitlines()
    text = (tmp_path / "my engine" / "adapter.py").read_text()
    assert "@" not in text
    code = [line for line in text.splitlines() if line.strip() and not line.strip().startswith(("#", '"""'))]
    assert len(code) <= 40
    again = cli("new-adapter", "my engine", "--name", "mine")
    assert again.returncode == 2
    assert "adapter.py exists" in again.stderr
    assert cli("new-adapter", "my engine").returncode == 2
    assert "is not a name" in cli("new-adapter", "other", "--name", 'a"b').stderr


def test_the_html_report_takes_a_matrix(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    header = {"matrix": 1, "tool": "0", "started": "2026-01-01", "command": []}
    matrix = Matrix(header, complete=True, exit_status=0)
    matrix.participants += [Participant("writer", writes=True), Participant("reader", reads=True)]
    matrix.tables.append(ProducedTable("writer", "plain", ("appends",), 2, "parquet"))
    matrix.cells.append(Cell("writer", "reader", "plain", TableOutcome.PASSED))
    write(matrix, place / "matrix.jsonl")
    assert main(["report", "good.jsonl", "--matrix", "matrix.jsonl", "--format", "html"]) == 0
    assert "Which engine reads which tables" in capsys.readouterr().out
    assert main(["report", "good.jsonl", "--matrix", "matrix.jsonl", "--report", "html:report.html"]) == 0
    assert "Which engine reads which tables" in (place / "report.html").read_text()
    assert main(["report", "good.jsonl", "--format", "html"]) == 0
    capsys.readouterr()
    assert main(["report", "good.jsonl", "--matrix", "good.jsonl", "--format", "html"]) == 2
    assert "good.jsonl:1: not a line of a matrix" in capsys.readouterr().err
