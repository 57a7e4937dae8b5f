"""``run --expect FILE``: entries that can never be met, and ``--update-expected``."""

from __future__ import annotations

import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conformance.runner.expectations import Deviation, read_deviations
from conformance.runner.expectations_update import TODO, update_expectations, write_entry
from conformance.runner.judge import Outcome
from conformance.runner.results import AdapterRun, Case, Result, Run

Cli = Callable[..., "subprocess.CompletedProcess[str]"]
Adapter = Callable[[str], str]

KEPT = """\
# All that the miniature does otherwise.

# Looked at twice.
[[deviation]]
engine = "miniature"  # the smallest there is
versions = ["1.2.3"]
reason = "eight comes after seven"
evidence = "https://example.org/7"
vectors = ["mini-7"]
"""


@pytest.fixture
def update(cli: Cli, folder: Path, tmp_path: Path, adapter: Adapter) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a miniature with ``--update-expected`` on ``known.toml``."""

    def run(name: str, *more: str) -> subprocess.CompletedProcess[str]:
        return cli(
            "run", "-a", adapter(name), "--vectors", folder, "--expect", "known.toml", "--update-expected", *more
        )

    return run


def entries(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads(path.read_text())["deviation"]
    return found


def test_a_new_file_has_each_failure_with_a_place_for_its_reason(
    update: Callable[..., Any], cli: Cli, folder: Path, adapter: Adapter, tmp_path: Path
) -> None:
    done = update("wrong")
    assert (done.returncode, done.stderr) == (
        0,
        "known.toml: 0 kept, 0 changed, 0 removed, 1 new; reasons to write, marked TODO: 1\n",
    )
    (entry,) = entries(tmp_path / "known.toml")
    assert (entry["engine"], entry["versions"], entry["vectors"]) == ("miniature", ["1.2.3"], ["mini-7"])
    assert (entry["reason"], entry["answer"], entry["evidence"]) == (TODO, '{"ok":"fixed[8]"}', "")
    again = cli("run", "-a", adapter("wrong"), "--vectors", folder, "--expect", "known.toml")
    assert again.returncode == 0
    assert "9 passed, 1 known (1 deviation); conformant except for known deviations" in again.stdout
    before = (tmp_path / "known.toml").read_text()
    assert update("wrong").stderr.startswith("known.toml: 1 kept, 0 changed, 0 removed, 0 new")
    assert (tmp_path / "known.toml").read_text() == before


def test_an_entry_that_holds_is_kept_to_the_letter(update: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "known.toml").write_text(KEPT)
    assert update("wrong").stderr == "known.toml: 1 kept, 0 changed, 0 removed, 0 new\n"
    assert (tmp_path / "known.toml").read_text() == KEPT


def test_what_is_over_goes_and_what_is_new_comes(update: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    over = '\n[[deviation]]\nengine = "miniature"\nreason = "over"\nvectors = ["mini-3"]\n'
    gone = '\n[[deviation]]\nengine = "miniature"\nreason = "no such vector"\nvectors = ["mini-77"]\n'
    path.write_text(KEPT.replace('["mini-7"]', '["mini-6", "mini-7", "mini-9"]') + over + gone)
    done = update("wrong")
    assert done.stderr == "known.toml: 0 kept, 1 changed, 2 removed, 0 new\n"
    (entry,) = entries(path)
    assert (entry["vectors"], entry["reason"]) == (["mini-7"], "eight comes after seven")
    assert "# Looked at twice." in path.read_text()
    assert "# the smallest there is" in path.read_text()
    crashed = update("dies")
    assert crashed.stderr.startswith("known.toml: 1 kept, 0 changed, 0 removed, 0 new")


def test_what_happens_sometimes_stays(update: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    chance = '\n[[deviation]]\nengine = "miniature"\nreason = "by chance"\nsometimes = true\nvectors = ["mini-3"]\n'
    path.write_text(KEPT + chance)
    assert update("wrong").stderr == "known.toml: 2 kept, 0 changed, 0 removed, 0 new\n"
    assert path.read_text() == KEPT + chance


def test_an_answer_that_is_another_now_is_a_new_entry(update: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    path.write_text(KEPT + 'answer = \'{"ok":"fixed[8]"}\'\n')
    assert update("wrong").stderr == "known.toml: 1 kept, 0 changed, 0 removed, 0 new\n"
    assert update("dies").stderr.startswith("known.toml: 0 kept, 0 changed, 1 removed, 1 new")
    (entry,) = entries(path)
    assert (entry["answer"], entry["reason"]) == ('{"crash":true}', TODO)


def test_what_did_not_run_stays(update: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    others = (
        '\n[[deviation]]\nengine = "duckdb"\nreason = "another engine"\nvectors = ["mini-2"]\n'
        '\n[[deviation]]\nengine = "miniature"\nversions = ["0.9"]\nreason = "old"\nvectors = ["mini-2"]\n'
        '\n[[deviation]]\nengine = "miniature"\nreason = "not selected"\nvectors = ["mini-1"]\n'
    )
    path.write_text(KEPT + others)
    assert update("wrong", "-k", "mini-7 or mini-2").stderr == "known.toml: 4 kept, 0 changed, 0 removed, 0 new\n"
    assert path.read_text() == KEPT + others


def test_the_reason_of_another_version_is_carried_over(update: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    path.write_text(KEPT.replace('"1.2.3"', '"1.2.2"'))
    assert update("wrong").stderr == "known.toml: 1 kept, 0 changed, 0 removed, 1 new\n"
    old, new = entries(path)
    assert (old["versions"], new["versions"]) == (["1.2.2"], ["1.2.3"])
    assert new["reason"] == old["reason"]
    assert new["evidence"] == old["evidence"] == "https://example.org/7"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--update-expected"], "--update-expected: name the file, with --expect FILE"),
        (["--update-expected", "--expect", "known-deviations"], "known-deviations comes with the tool, or is a folder"),
        (["--update-expected", "--expect", "."], ". comes with the tool, or is a folder"),
        (["--update-expected", "--expect", "known.toml", "-x"], "needs a whole run"),
        (["--update-expected", "--expect", "/proc/none/known.toml"], "/proc/none/known.toml: cannot be written"),
    ],
)
def test_what_cannot_be_updated_is_reported(cli: Cli, folder: Path, arguments: list[str], reason: str) -> None:
    done = cli("run", "--vectors", folder, *arguments)
    assert done.returncode == 2
    assert reason in done.stderr


def test_a_listed_case_that_passes_fails_the_run(cli: Cli, folder: Path, tmp_path: Path, adapter: Adapter) -> None:
    (tmp_path / "known.toml").write_text(KEPT)
    done = cli("run", "-a", adapter("good"), "--vectors", folder, "--expect", "known.toml")
    assert done.returncode == 1
    assert "mini-7: known deviation now passes; remove it" in done.stdout


def test_entries_that_contradict_each_other_are_wrong_usage(
    cli: Cli, folder: Path, tmp_path: Path, adapter: Adapter
) -> None:
    (tmp_path / "known.toml").write_text(KEPT + KEPT)
    done = cli("run", "-a", adapter("wrong"), "--vectors", folder, "--expect", "known.toml")
    assert done.returncode == 2
    assert "known.toml: two deviations of miniature 1.2.3 are about the vector mini-7" in done.stderr


def test_an_entry_of_nobody_is_wrong_usage(cli: Cli, folder: Path, tmp_path: Path, adapter: Adapter) -> None:
    (tmp_path / "known.toml").write_text(KEPT + KEPT.replace('"miniature"', '"minature"'))
    done = cli("run", "-a", adapter("wrong"), "--vectors", folder, "--expect", "known.toml")
    assert done.returncode == 2
    assert "known.toml: /deviation/1/engine: unknown engine" in done.stderr
    assert "'minature'" in done.stderr
    (tmp_path / "known.toml").write_text(KEPT + KEPT.replace('"miniature"', '"duckdb"'))
    assert cli("run", "-a", adapter("wrong"), "--vectors", folder, "--expect", "known.toml").returncode == 0


def test_entries_are_written_as_they_are_read(tmp_path: Path) -> None:
    texts = ["plain", "both \"kinds\" and 'quotes'", 'a "quote"', "a\nline", "back\\slash", "\x7f\x01é", "tail\t"]
    for text in texts:
        deviation = Deviation("e", ("v-1",), text, ("1",), does=text, answer={"ok": [text, None, 1.5]}, evidence=text)
        assert read_deviations(tmp_path, write_entry(deviation)) == (deviation,)


def test_many_failures_of_a_kind_are_one_entry(tmp_path: Path) -> None:
    cases, results = {}, []
    for number in range(6):
        id_ = f"case-{number}"
        suite = "one" if number < 4 else "two"
        cases[id_] = Case(id_, suite, "hash", "s", ("HSH001",), (1,), {}, {"ok": 0})
        results.append(Result("cmd:x", id_, Outcome.FAILED, "failed", "differs", {"ok": number}))
    results[5] = Result("cmd:x", "case-5", Outcome.CRASHED, "crashed", "died", {"crash": "died"})
    run = Run({}, cases, [AdapterRun("cmd:x", implementation="lib", version="2")], results, complete=True)
    path = tmp_path / "known.toml"
    path.write_text(update_expectations(path, run, set(cases)).text)
    found = [(one["vectors"], one["does"], one.get("answer")) for one in entries(path)]
    assert found == [
        (["case-0", "case-1", "case-2", "case-3"], "hash: answers differently", None),
        (["case-4"], "hash: differs", '{"ok":4}'),
        (["case-5"], "hash: died", '{"crash":true}'),
    ]


@pytest.mark.parametrize(("adapter", "removed"), [("iceberg-java-sql", 0), ("iceberg-java", 1), ("cmd:mine", 1)])
def test_what_another_adapter_of_the_library_does_not_reach_stays(adapter: str, removed: int, tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    path.write_text('[[deviation]]\nengine = "iceberg-java"\nvectors = ["a"]\nreason = "r"\n')
    case = Case("a", "one", "commit.replay", "s", ("COM001",), (1,), {}, {"ok": 0})
    result = Result(adapter, "a", Outcome.UNSUPPORTED, "unsupported", "", {"unsupported": "not declared"})
    run = Run(
        {}, {"a": case}, [AdapterRun(adapter, implementation="iceberg-java", version="2")], [result], complete=True
    )
    assert update_expectations(path, run, {"a"}).removed == removed


def test_a_file_in_another_notation_is_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    path.write_text('deviation = [{ engine = "lib", vectors = ["a"], reason = "[[deviation]]" }]\n')
    case = Case("a", "one", "hash", "s", ("HSH001",), (1,), {}, {"ok": 0})
    known = Result("cmd:x", "a", Outcome.FAILED, "known", "differs", {"ok": 1})
    run = Run({}, {"a": case}, [AdapterRun("cmd:x", implementation="lib", version="2")], [known], complete=True)
    found = update_expectations(path, run, {"a"})
    assert (found.kept, found.removed, found.added) == (1, 0, 0)
    assert read_deviations(path, found.text) == read_deviations(path)
