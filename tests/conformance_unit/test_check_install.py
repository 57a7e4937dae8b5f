"""The check of an installation notices problems that a new user would meet; the Containerfile installs the same."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest

from tools.check_install import LOCK, OLDEST, ROOT, CheckFailed, expect, pythons

CONTAINERFILE = (ROOT / "Containerfile").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("program", "is_fine"),
    [
        ("print('works')", True),
        ("print('breaks')", False),
        ("print('works'); exit(1)", False),
        ("print('works'); print('Traceback')", False),
    ],
)
def test_a_command_is_judged_by_its_status_and_its_output(program: str, is_fine: bool, tmp_path: Path) -> None:
    command = [sys.executable, "-c", program]
    if is_fine:
        assert expect(command, 0, "works", tmp_path) == "works\n"
        return
    with pytest.raises(CheckFailed):
        expect(command, 0, "works", tmp_path)


def test_a_command_sees_nothing_of_this_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    seen = expect([sys.executable, "-c", "import os; print(sorted(os.environ))"], 0, "HOME", tmp_path)
    assert "PYTHONPATH" not in seen


def test_interpreters_are_in_order_and_new_enough() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["requires-python"] == f">={OLDEST[0]}.{OLDEST[1]}"
    versions = [
        expect([python, "-c", "import sys; print(sys.version_info[:2])"], 0, r"\(3, \d+\)", Path.cwd())
        for python in pythons()
    ]
    minors = [int(re.findall(r"\d+", version)[1]) for version in versions]
    assert minors == sorted(set(minors))
    assert minors[0] >= OLDEST[1]


def test_the_container_installs_what_is_checked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f"--require-hashes -r /source/{LOCK.name}" in CONTAINERFILE
    assert LOCK.is_file()
    assert "--no-deps /source/dist/iceberg_conformance-*.whl" in CONTAINERFILE
    (program,) = re.findall(r'ENTRYPOINT \["(.*)"\]', CONTAINERFILE)
    assert program in project["scripts"]
    (python,) = re.findall(r"FROM docker\.io/library/python:([\d.]+)-slim", CONTAINERFILE)
    assert f"Programming Language :: Python :: {python}" in project["classifiers"]
    let_in = (ROOT / ".containerignore").read_text(encoding="utf-8").splitlines()
    assert let_in == ["*", f"!{LOCK.name}", "!dist/*.whl"]
