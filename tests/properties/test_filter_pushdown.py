"""Filter pushdown: a planted fault is found, shrunk, and found again by its seed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conformance.adapter_sdk.serve import Arguments, Invalid, Unsupported
from conformance.cli import main
from conformance.engines.reference import adapter as reference
from conformance.properties.filter_pushdown import FilterPushdownResults, check
from conformance.properties.tables import EXCLUDABLE
from conformance.properties.values import VALUES
from conformance.runner.adapter_interface import InProcess
from conformance.table_io.tables import load_table
from tools.mutants.seeded_examples import make_case

Operation = Callable[[Arguments], Any]


def _adapter(wrong: Callable[[Arguments, Operation], Any] | None = None) -> InProcess:
    operations = reference.operations()
    if wrong is not None:
        right = operations["table.read"]
        operations = {**operations, "table.read": lambda args: wrong(args, right)}
    return InProcess("planted", reference.implementation(), operations, reference.REFUSALS)


def _found(
    wrong: Callable[[Arguments, Operation], Any], place: Path, examples: int = 200, **more: Any
) -> FilterPushdownResults:
    return check(_adapter(wrong), 1, examples, keep=place, **more)


def test_the_reference_keeps_the_law(tmp_path: Path) -> None:
    found = check(_adapter(), 7, 60, keep=tmp_path)
    assert (found.compared, found.unsupported, found.counterexamples) == (60, 0, ())
    assert list(tmp_path.iterdir()) == []


def _replaced(predicate: Any, old: str, new: str) -> Any:
    made = {key: _replaced(value, old, new) if isinstance(value, dict) else value for key, value in predicate.items()}
    return {**made, "type": new} if made["type"] == old else made


def _less_or_equal_as_less(args: Arguments, right: Operation) -> Any:
    return right({**args, "filter": _replaced(args["filter"], "lt-eq", "lt")} if "filter" in args else args)


def _loses_rows_of_null_partitions(args: Arguments, right: Operation) -> Any:
    answer = right(args)
    partition = load_table(args["table"]).metadata.partition_specs[0].fields
    if "filter" not in args or not partition or str(partition[0].transform) != "identity":
        return answer
    name = list(args["types"])[partition[0].source_id - 1]
    return {"rows": [row for row in answer["rows"] if row[name] is not None]}


def _loses_a_row(args: Arguments, right: Operation) -> Any:
    return {"rows": right(args)["rows"][1:]}


def _refuses_filters_on_dates(args: Arguments, right: Operation) -> Any:
    if "filter" in args and "date" in args["types"].values():
        raise Invalid("dates are not filtered")
    return right(args)


def _answers_in_another_form(args: Arguments, right: Operation) -> Any:
    return right(args)["rows"]


FAULTS = [
    _less_or_equal_as_less,
    _loses_rows_of_null_partitions,
    _loses_a_row,
    _refuses_filters_on_dates,
    _answers_in_another_form,
]


@pytest.mark.parametrize("wrong", FAULTS)
def test_a_planted_fault_is_found_made_small_and_found_again(
    wrong: Callable[[Arguments, Operation], Any], tmp_path: Path
) -> None:
    (counterexample,) = _found(wrong, tmp_path).counterexamples
    case = counterexample.case
    assert sum(map(len, case.files)) <= 2
    assert len(case.columns) <= 2
    assert load_table(str(counterexample.metadata)).metadata.current_snapshot_id == 1
    again = _found(wrong, tmp_path)
    assert again.counterexamples[0].case == case
    text = "\n".join(counterexample.lines("planted"))
    assert counterexample.reason in text
    assert str(counterexample.metadata) in text


def test_what_is_small_is_what_the_fault_is_about(tmp_path: Path) -> None:
    (counterexample,) = _found(_less_or_equal_as_less, tmp_path).counterexamples
    predicate = counterexample.case.predicate
    while "child" in predicate:
        predicate = predicate["child"]
    assert predicate["type"] == "lt-eq"
    assert counterexample.case.partition is None


def test_several_failures_are_looked_for_when_they_are_asked_for(tmp_path: Path) -> None:
    def wrong(args: Arguments, right: Operation) -> Any:
        return _refuses_filters_on_dates(args, right) if "date" in args["types"].values() else _loses_a_row(args, right)

    reasons = [one.reason for one in _found(wrong, tmp_path, max_failures=2).counterexamples]
    assert len(reasons) == 2
    assert sum("dates are not filtered" in reason for reason in reasons) == 1


def test_tables_that_an_implementation_does_not_support_are_counted_apart(tmp_path: Path) -> None:
    def wrong(args: Arguments, right: Operation) -> Any:
        if "uuid" in args["types"].values():
            raise Unsupported("no uuids")
        return right(args)

    found = _found(wrong, tmp_path, examples=60)
    assert found.counterexamples == ()
    assert found.unsupported > 0
    assert found.compared + found.unsupported == 60


def test_what_is_avoided_is_not_made() -> None:
    everything = [make_case(seed) for seed in range(300)]
    assert any("NaN" in str(case.files) for case in everything)
    assert any("-0.0" in str(case.files) for case in everything)
    assert any(column.default is not None for case in everything for column in case.columns)
    assert any(column.first_file for case in everything for column in case.columns)
    exclude = frozenset({"nan", "zero", "default", "missing", "nested", "uuid"})
    for case in (make_case(seed, exclude) for seed in range(300)):
        assert "NaN" not in str(case.files)
        assert "-0.0" not in str((case.files, case.predicate)).replace("-0.01", "")
        assert all(
            not column.first_file and column.default is None and column.type != "uuid" for column in case.columns
        )
        assert all(isinstance(column.type, str) for column in case.columns)


def test_all_types_and_transforms_are_made() -> None:
    cases = [make_case(seed) for seed in range(1500)]
    types = [column.type for case in cases for column in case.columns]
    assert {type_ for type_ in types if isinstance(type_, str)} == set(VALUES) <= EXCLUDABLE
    assert {type_["type"] for type_ in types if isinstance(type_, dict)} == {"struct", "list", "map"}
    assert any("." in str(case.predicate.get("term", "")) for case in cases)
    transforms = {case.partition[0] for case in cases if case.partition}
    assert {"identity", "bucket[4]", "truncate[2]", "year", "month", "day", "hour"} <= transforms


def test_the_command_reports_how_to_see_a_failure_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    faulty = f"{sys.executable} -m tests.faulty_adapters rows-one-lost"
    asked = ["filter-pushdown", "--seed", "5", "--examples", "5", "--keep", str(tmp_path), "--exclude", "nan"]
    assert main([*asked, "--adapter", faulty]) == 1
    output = capsys.readouterr().out
    assert "differs from what was written" in output
    assert "--seed 5 --examples 5 --exclude nan" in output


def test_the_command_ends_well_when_the_law_holds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["filter-pushdown", "--seed", "5", "--examples", "5"]) == 0
    assert "5 tables compared" in capsys.readouterr().err


def test_the_old_name_of_the_command_still_works(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["equivalence", "--seed", "5", "--examples", "1"]) == 0
    assert "equivalence is deprecated; use filter-pushdown" in capsys.readouterr().err


@pytest.mark.parametrize(
    "wrong", [["--exclude", "monday"], ["--examples", "0"], [a for t in VALUES for a in ("--exclude", t)]]
)
def test_the_command_refuses_what_makes_no_sense(wrong: list[str]) -> None:
    assert main(["filter-pushdown", *wrong]) == 2
