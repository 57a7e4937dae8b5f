"""Every reader of bytes refuses broken input as it documents; and the fuzzer finds one that does not."""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections.abc import Callable

import pytest

from conformance.properties.shrinking import find_smallest
from tools.forked_process import run_forked
from tools.fuzz.mutations import mutate_bytes, mutate_json
from tools.fuzz.running import Cuts, Finding, fuzz, fuzz_in_process
from tools.fuzz.target import CORPUS, REGRESSIONS, Target, read_inputs
from tools.fuzz.targets import TARGETS

SECONDS = 0.5
"""Processor time for each target."""


@pytest.mark.parametrize("name", TARGETS)
def test_a_bounded_run_finds_nothing(name: str) -> None:
    outcome = fuzz_in_process(TARGETS[name], SECONDS, seed=7)
    assert [(one.error, one.data.hex(), one.output) for one in outcome.findings] == []
    assert outcome.inputs > 0


@pytest.mark.parametrize(
    "path", sorted([*REGRESSIONS.glob("*.txt"), *CORPUS.glob("*.txt")]), ids=lambda path: path.stem
)
def test_kept_inputs_are_of_a_target_and_in_the_form_of_their_files(path: str) -> None:
    assert path.stem in TARGETS
    assert read_inputs(path)
    assert set(read_inputs(path)) <= set(TARGETS[path.stem].initial_inputs())


@pytest.mark.parametrize("name", [path.stem for path in sorted(REGRESSIONS.glob("*.txt"))])
def test_what_was_once_wrong_is_refused_or_read(name: str) -> None:
    read = TARGETS[name].load()
    for data in TARGETS[name].regressions():
        began = time.process_time()
        read(data)
        assert time.process_time() - began < 20


def _found(read: Callable[[bytes], object]) -> list[Finding]:
    target = Target("planted", lambda: read, lambda: [b"sound"], mutate_bytes)
    return fuzz_in_process(target, 0.3, seed=1, limit=1).findings


def test_an_error_that_is_not_documented_is_found() -> None:
    def read(data: bytes) -> object:
        return {b"s": 1}[data[:1]]

    (finding,) = _found(read)
    assert finding.error.startswith("KeyError in test_fuzzing.py:read")
    assert finding.data[:1] != b"s"


def test_a_finding_has_only_the_bytes_that_it_needs() -> None:
    given = bytes(range(200)) + b"XY" + bytes(100)

    def fails(data: bytes) -> bool:
        return b"X" in data and b"\xc7" in data

    left = find_smallest(given, fails, Cuts(len(given) // 2, time.process_time() + 60), sys.maxsize)
    assert left == b"\xc7X"
    assert find_smallest(given, fails, Cuts(len(given) // 2, 0), sys.maxsize) == given


def test_an_endless_loop_is_found() -> None:
    def read(data: bytes) -> object:
        while len(data) > 5:
            try:
                sum(range(1000))
            except Exception:
                return None
        return None

    assert [finding.error for finding in _found(read)] == ["TooSlow"]


def test_a_claim_that_takes_all_memory_is_found() -> None:
    def read(data: bytes) -> object:
        return len(bytes(1 << 33)) if len(data) > 5 else None

    (finding,) = _found(read)
    assert finding.error.startswith("MemoryError")


def test_the_end_of_the_process_is_found() -> None:
    def read(data: bytes) -> object:
        if len(data) > 5:
            os.kill(os.getpid(), signal.SIGKILL)
        return None

    (finding,) = _found(read)
    assert "the process ended with status 9" in finding.output


def test_a_seed_reports_a_run() -> None:
    def inputs() -> list[bytes]:
        given: list[bytes] = []
        target = Target("planted", lambda: given.append, lambda: [b"sound", b"and"], mutate_bytes)
        fuzz(target, 0.1, seed=3)
        return given[:50]

    (_, first), (_, second) = (run_forked(inputs, 300) for _ in range(2))  # as memory is bounded from then on
    assert first == second
    assert set(first) - {b"sound", b"and"}


def test_a_document_that_nests_deep_is_broken_too() -> None:
    deep = b"[" * 20_000
    for number in range(200):
        assert mutate_json(random.Random(number), b'{"a": 1}' if number & 1 else deep, [deep]) is not None
