"""Random sequences of the write API: the table is as a model of rows, whatever the clocks and plans of its writers.

A run with other sequences::

    python -m pytest tests/properties/test_write_api_sequences.py -k model --hypothesis-seed 7
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from write_api_machine import WriteApi

from conformance.table_io.writing import row_changes
from conformance.table_io.writing.files import NewFiles
from spec_ref.commits.changes import Validation

commit_module = import_module("spec_ref.commits.commit")  # the package exports the function of this name
EXAMPLES = settings.default.max_examples // 6 if settings.default else 16
STEPS = 20


@pytest.fixture(autouse=True)
def _without_a_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written need not last here."""
    monkeypatch.setattr("os.fsync", lambda _descriptor: None)


def test_the_table_is_as_the_model() -> None:
    run_state_machine_as_test(WriteApi, settings=settings(max_examples=EXAMPLES, stateful_step_count=STEPS))


Plant = Callable[[pytest.MonkeyPatch], None]


def clock_of_the_writer(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(commit_module, "commit_time", lambda _, clock_ms: clock_ms)


def nothing_is_validated(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(row_changes, "validation_for", lambda *_: Validation())


def files_of_failed_writes_stay(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(NewFiles, "remove", lambda _, __=(): ())


PLANTED = [clock_of_the_writer, nothing_is_validated, files_of_failed_writes_stay]


@pytest.mark.parametrize("plant", PLANTED, ids=lambda one: one.__name__)
def test_a_planted_fault_is_found(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    few = settings(
        max_examples=200,
        stateful_step_count=STEPS,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        print_blob=False,
    )
    with pytest.raises(AssertionError):
        run_state_machine_as_test(WriteApi, settings=few)
