"""`reference:plain` answers through the definitions alone, and as the kernels of `reference` do."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from types import ModuleType

import pytest
from shipped_vectors import shipped_vectors

from conformance.engines.reference import adapter as reference
from conformance.engines.reference_plain import adapter as reference_plain
from conformance.operations.forms import FAST, FUNCTIONS, PLAIN, import_function
from conformance.operations.registry import OPERATIONS
from conformance.runner.adapter_interface import Adapter, InProcess, Request
from conformance.runner.judge import Outcome, judge_answer
from conformance.runner.process import AdapterLimits, Process
from conformance.vectors import Vector
from conformance.vectors.golden_tables import materialize_for

OF_DATA_FILES = {"table.read", "table.write", "table.change"}
"""The operations on data files, which are always read and written by pyarrow; see also `test_plain_writing`."""

REFUSING = """
import sys
from importlib.abc import MetaPathFinder

class Refusing(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("numpy", "pyarrow") or name.startswith(("spec_ref.columnar", "spec_ref.data_files")):
            raise ImportError(f"{name} is refused")

sys.meta_path.insert(0, Refusing())
__import__(sys.argv[1], fromlist=["main"]).main()
"""
"""An adapter that fails if anything except definitions is imported."""

LIMITS = AdapterLimits(start=60, request=60, max_in_flight=64)


def shipped(operations: Iterable[str]) -> list[Vector]:
    wanted = set(operations)
    found = [one for one in shipped_vectors() if one.operation.name in wanted]
    materialize_for(found)
    return found


def outcomes(adapter: Adapter, asked: list[Vector]) -> dict[str, Outcome]:
    with adapter:
        adapter.start()
        answers = adapter.ask([Request(one.operation.name, one.args) for one in asked])
        return {one.id: judge_answer(one, answer).outcome for one, answer in zip(asked, answers, strict=True)}


def failing(found: dict[str, Outcome]) -> list[str]:
    return [one for one, outcome in found.items() if outcome is not Outcome.PASSED]


def refusing(adapter: ModuleType) -> Process:
    return Process("refusing", [sys.executable, "-c", REFUSING, adapter.__name__], limits=LIMITS)


def test_what_needs_no_data_file_is_answered_without_a_kernel_numpy_or_pyarrow() -> None:
    asked = shipped(OPERATIONS.keys() - OF_DATA_FILES)
    assert asked
    assert failing(outcomes(refusing(reference_plain), asked)) == []


def test_the_fast_form_needs_what_is_refused() -> None:
    asked = shipped(["manifest.read"])[:5]
    assert len(failing(outcomes(refusing(reference), asked))) == len(asked)


def test_rows_that_are_read_one_at_a_time_are_those_that_vectors_expect() -> None:
    plain = InProcess("plain", reference_plain.implementation(), reference_plain.operations(), reference_plain.REFUSALS)
    asked = shipped(["table.read"])
    assert asked
    assert failing(outcomes(plain, asked)) == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_form_has_another_function(name: str) -> None:
    found = {form: import_function(place) for form, place in FUNCTIONS[name].items()}
    assert found.keys() == {FAST, PLAIN}
    assert found[FAST] is not found[PLAIN]
    writing = tuple(
        f"conformance.table_io.writing.{one}" for one in ("compaction", "merging", "operations", "write_tasks")
    )
    kernel = ("spec_ref.columnar.", "conformance.table_io.local", *writing)
    assert found[FAST].__module__.startswith(kernel)
    assert not found[PLAIN].__module__.startswith((*kernel, "spec_ref.data_files."))
