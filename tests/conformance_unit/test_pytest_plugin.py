"""The pytest plugin: the vectors as tests of an engine's own suite, in a separate pytest."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

MINIATURE = Path(__file__).parent / "miniature.py"
KNOWN = """
[[deviation]]
engine = "miniature"
vectors = ["mini-7"]
reason = "dies of sevens"
"""


@pytest.fixture
def pytest_run(tmp_path: Path, mini_vectors: Path) -> Callable[..., tuple[int, str]]:
    """Runs pytest in an empty folder with a miniature adapter; returns its exit status and output."""

    def run(name: str, *options: str) -> tuple[int, str]:
        (tmp_path / "own").mkdir(exist_ok=True)
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-rfsx",
            "-p",
            "no:cacheprovider",
            f"--rootdir={tmp_path / 'own'}",
        ]
        command += [f"--iceberg-vectors={mini_vectors}", f"--iceberg-adapter={sys.executable} {MINIATURE} {name}"]
        done = subprocess.run([*command, *options], cwd=tmp_path / "own", capture_output=True, text=True, timeout=300)
        return done.returncode, done.stdout + done.stderr

    return run


PytestRun = Callable[..., tuple[int, str]]


def test_each_vector_is_a_test(pytest_run: PytestRun) -> None:
    status, text = pytest_run("good", "-vv")
    assert (status, "10 passed" in text) == (0, True), text
    assert "iceberg::mini::mini-7 PASSED" in text


def test_the_tests_are_counted_as_collected(pytest_run: PytestRun) -> None:
    assert "collected 10 items" in pytest_run("good", "-v")[1]
    assert "10 tests collected" in pytest_run("good", "--collect-only")[1]


def test_a_printed_id_can_be_run_again(pytest_run: PytestRun) -> None:
    status, text = pytest_run("dies", "-v", "iceberg::mini::mini-7", "iceberg::mini::mini-2")
    assert (status, "1 failed, 1 passed" in text) == (1, True), text
    status, text = pytest_run("good", "iceberg::mini::mini-77")
    assert (status, "iceberg::mini::mini-77: no selected vector has this test id" in text) == (4, True), text
    assert "did you mean iceberg::mini::mini-7" in text


def test_the_id_of_a_suite_runs_the_suite(pytest_run: PytestRun) -> None:
    status, text = pytest_run("good", "iceberg::mini", "iceberg::mini::mini-7")
    assert (status, "10 passed" in text) == (0, True), text


def test_the_reason_is_in_the_summary(pytest_run: PytestRun) -> None:
    _, text = pytest_run("dies")
    assert "FAILED iceberg::mini::mini-7 - exited with status 3" in text


def test_questions_are_asked_ahead(pytest_run: PytestRun) -> None:
    """An adapter that waits for the second request before it answers the first gets it in time."""
    status, text = pytest_run("waits-for-two", "--iceberg-timeout=10")
    assert (status, "10 passed" in text) == (0, True), text


def test_workers_of_xdist_share_the_vectors(pytest_run: PytestRun) -> None:
    status, text = pytest_run("dies", "-n", "2")
    assert (status, "1 failed, 9 passed" in text) == (1, True), text
    assert "FAILED iceberg::mini::mini-7 - exited with status 3" in text


def test_an_adapter_that_does_not_start_is_one_error(pytest_run: PytestRun) -> None:
    status, text = pytest_run("dies-at-start")
    assert (status, "1 failed, 9 skipped" in text) == (1, True), text
    assert "no module named engine" in text
    assert " dies-at-start: not run: " in text


def test_a_failure_shows_its_evidence_and_the_others_go_on(pytest_run: PytestRun) -> None:
    status, text = pytest_run("dies")
    assert (status, "1 failed, 9 passed" in text) == (1, True), text
    assert "FAILED iceberg::mini::mini-7" in text
    assert "exited with status 3" in text
    assert "iceberg-conformance replay mini-7" in text
    assert "Traceback" not in text


def test_a_known_deviation_is_an_expected_failure(pytest_run: PytestRun, tmp_path: Path) -> None:
    (tmp_path / "known.toml").write_text(KNOWN)
    status, text = pytest_run("dies", f"--iceberg-expect={tmp_path / 'known.toml'}")
    assert (status, "9 passed, 1 xfailed" in text) == (0, True), text
    assert "dies of sevens" in text


def test_a_known_deviation_that_is_over_fails(pytest_run: PytestRun, tmp_path: Path) -> None:
    (tmp_path / "known.toml").write_text(KNOWN)
    status, text = pytest_run("good", f"--iceberg-expect={tmp_path / 'known.toml'}")
    assert (status, "1 failed, 9 passed" in text) == (1, True), text
    assert "known deviation now passes; remove it" in text


@pytest.mark.parametrize(
    ("options", "passed"),
    [
        (["-k", "mini-1"], 2),
        (["-k", "TYP023 and not mini-1"], 8),
        (["-m", 'iceberg_suite(name="mini")'], 10),
        (["-m", "iceberg_version(number=3) and not iceberg_requirement"], 0),
        (["--iceberg-suite=mini"], 10),
    ],
)
def test_filters_and_marks_choose(pytest_run: PytestRun, options: list[str], passed: int) -> None:
    status, text = pytest_run("good", *options)
    assert (status, f"{passed} passed" in text or "10 deselected" in text) == (0 if passed else 5, True), text


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--iceberg-suite=none"], "none"),
        (["--iceberg-expect=nowhere.toml"], "nowhere.toml: cannot be read"),
    ],
)
def test_wrong_usage_is_reported_in_one_line(pytest_run: PytestRun, options: list[str], expected: str) -> None:
    status, text = pytest_run("good", *options)
    assert status == 4
    assert expected in text
    assert "INTERNALERROR" not in text


def test_without_an_adapter_nothing_happens(tmp_path: Path) -> None:
    ours = "{name for name in sys.modules if name.split('.')[0] in ('conformance', 'spec_ref')}"
    loaded = {"conformance", "conformance.core", "conformance.core.moved_modules", "conformance.pytest_plugin"}
    (tmp_path / "test_own.py").write_text(f"import sys\n\ndef test_own():\n    assert {ours} == {loaded}\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={tmp_path}"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert "1 passed" in done.stdout
    done = subprocess.run([*command, "iceberg::mini::a"], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert (done.returncode, "iceberg::mini::a: the test of a vector needs --iceberg-adapter" in done.stderr) == (
        4,
        True,
    )
