"""Coverage-guided fuzzing, with a substitute for the fuzzing engine; the files that a run keeps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tools.fuzz import input_store
from tools.fuzz.guided import GuidanceError, check, fuzz_with_coverage
from tools.fuzz.input_store import covered_lines, keep_findings, keep_inputs
from tools.fuzz.mutations import mutate_bytes
from tools.fuzz.running import Finding
from tools.fuzz.target import Target, read_inputs
from tools.fuzz.targets import TARGETS

STAND_IN = """
import contextlib, os, random

def Mutate(data, size):
    return PLACES[len(data) % len(PLACES)][:size]

def instrument_func(function):
    return function

@contextlib.contextmanager
def instrument_imports(include):
    yield

def Setup(arguments, one, custom_mutator):
    global give
    folder = next(argument for argument in arguments[1:] if not argument.startswith("-"))
    open(os.path.join(folder, "new"), "wb").write(b"reached")
    give = lambda number: one(custom_mutator(b"given" * (number % 3), 100, number))

def Fuzz():
    for number in range(1 << 30):
        give(number)
"""


def _engine(folder: Path, breaking: str) -> Path:
    (folder / "engine" / "atheris").mkdir(parents=True)
    (folder / "engine" / "atheris" / "__init__.py").write_text(f"PLACES = {breaking}\n{STAND_IN}")
    return folder / "engine"


def test_inputs_are_counted_and_new_ones_left(tmp_path: Path) -> None:
    outcome = fuzz_with_coverage("json-path", 0.1, 1, tmp_path / "new", _engine(tmp_path, "[b'$']"))
    assert outcome.inputs > 0
    assert outcome.seconds >= 0.1
    assert outcome.findings == []
    assert (tmp_path / "new" / "new").read_bytes() == b"reached"


def test_what_is_planted_is_found_and_made_small(tmp_path: Path) -> None:
    engine = _engine(tmp_path, r"[b'no', b'\xde\xad\xbe\xef and more']")
    (finding,) = fuzz_with_coverage("planted", 5, 1, atheris=engine).findings
    assert finding.error.startswith("KeyError in guided.py")
    assert finding.data == b"\xde\xad\xbe\xef"
    check(1, engine)


def test_an_engine_that_finds_nothing_or_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(GuidanceError, match="make fuzz"):
        fuzz_with_coverage("json-path", 1, 1, atheris=tmp_path)
    with pytest.raises(GuidanceError, match="did not find the planted fault"):
        check(1, _engine(tmp_path, "[b'no']"), seconds=0.1)


def test_the_end_of_the_process_is_a_finding(tmp_path: Path) -> None:
    (finding,) = fuzz_with_coverage(
        "json-path", 1, 1, atheris=_engine(tmp_path, "[os._exit(9)]".replace("os", "__import__('os')"))
    ).findings
    assert finding.error == "the run ended with status 9"


# What is kept


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(input_store, "CORPUS", tmp_path / "corpus")
    monkeypatch.setattr(input_store, "REGRESSIONS", tmp_path / "regressions")
    return tmp_path


def test_inputs_that_reach_new_lines_are_kept(places: Path) -> None:
    real = TARGETS["json-path"]
    target = Target("another", real.load, lambda: [b"$"], mutate_bytes)
    (places / "new").mkdir()
    for number, data in enumerate((b"$['a']", b"$['b']", b"nonsense", b"$", b"$['" + b"a" * 9000)):
        (places / "new" / str(number)).write_bytes(data)
    assert keep_inputs(target, places / "new") == 2
    assert set(read_inputs(places / "corpus" / "another.txt")) == {b"$['a']", b"nonsense"}


def test_findings_are_kept_and_ends_of_the_process_are_not(places: Path) -> None:
    keep_findings(
        "wkb", [Finding("wkb", b"", "KeyError in a.py:b:1: c"), Finding("wkb", b"a", "the run ended", "output")]
    )
    assert (places / "regressions" / "wkb.txt").read_text() == "empty  # KeyError in a.py:b:1\n"


def test_lines_are_those_of_the_reader() -> None:
    read: Callable[[bytes], object] = TARGETS["transform"].load()
    assert {name.rpartition("/")[2] for name, _ in covered_lines(read, b"bucket[4]")} >= {
        "transforms.py:parse_transform"
    }
    assert covered_lines(read, b"bucket[4]") != covered_lines(read, b"day")
