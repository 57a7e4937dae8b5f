"""Known deviations are fair: each rule of `tools.check_deviations` catches the entry that breaks only it."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from conformance.interop.cells import TableOutcome
from conformance.interop.known import KnownOutcome, load_known
from conformance.properties.relay_known import KnownRelay
from conformance.races.stress.known import KnownCatalog
from conformance.runner import expectations
from conformance.runner.expectations import Deviation, DeviationKind
from spec_ref.requirements import Decision
from tools.check_deviations import Facts, change_problems, problems, shipped_changes, shipped_facts, table_problems

FAIR = Deviation(
    id="iceberg-go-hashes-otherwise",
    engine="iceberg-go",
    vectors=("hash-uuid-nil",),
    requirements=("SCN006",),
    does="hashes otherwise",
    reason='Scan Planning: "must be read by the scan" binds readers.',
    evidence="a line",
    counter="The library hashes so since its first release.",
)


@pytest.fixture(scope="module")
def facts() -> Facts:
    return shipped_facts()


def fair(facts: Facts, **changes: Any) -> Deviation:
    """A deviation on a vector of a reader, by a requirement of Scan Planning that binds readers, at no open point."""
    for vector in facts.vectors.values():
        if "SCN006" in vector.requirements and vector.operation.roles == {"reader"} and not vector.contradiction:
            return evolve(FAIR, vectors=(vector.id,), **changes)
    raise AssertionError("no such vector")


def test_a_fair_entry_has_no_problem(facts: Facts) -> None:
    assert list(problems([fair(facts)], facts)) == []


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"id": "hashes"}, "the id must begin with iceberg-go-"),
        ({"evidence": ""}, "evidence must not be left out"),
        ({"does": ""}, "does must not be left out"),
        ({"points": ("Z1",), "counter": "it is old"}, "Z1 is not a point of the contradictions"),
        ({"counter": ""}, "counter must give the best argument for the engine"),
        ({"reason": "Scan Planning: a file is left out."}, "the reason must quote the sentence of the text"),
        ({"kind": DeviationKind.CHOICE}, "a choice must name the point that is open"),
        ({"reason": '"must be read by the scan" binds readers.'}, "name Scan Planning, the section of SCN006"),
        ({"reason": 'Nested Types: "must be read by the scan" binds readers.'}, "name Scan Planning, the section of"),
        ({"reason": '"Data of Scan Planning must be read" binds readers.'}, "name Scan Planning, the section of"),
        ({"reason": 'Scan Planning (PUF001): "must be read by the scan" binds readers.'}, "names PUF001, but"),
        ({"evidence": "see https://example.org/1"}, "a link is in evidence"),
        ({"upstream": ("https://github.com/apache/iceberg",)}, "is not an issue or a pull request"),
    ],
)
def test_an_entry_that_breaks_one_rule_is_caught(facts: Facts, changes: dict[str, Any], problem: str) -> None:
    (found,) = problems([fair(facts, **changes)], facts)
    assert problem in found


def test_a_requirement_is_one_that_the_vectors_name(facts: Facts) -> None:
    one = fair(facts)
    (found,) = problems([evolve(one, requirements=(*one.requirements, "SCN014"))], facts)
    assert "none of its vectors names SCN014" in found
    (found,) = problems([evolve(one, requirements=(*one.requirements, "XXX999"))], facts)
    assert "XXX999 is not in the register" in found


def test_the_section_of_each_requirement_is_named(facts: Facts) -> None:
    one = next(
        vector
        for vector in facts.vectors.values()
        if {"SCN006", "EXP019"} <= set(vector.requirements) and not vector.contradiction
    )
    entry = evolve(FAIR, vectors=(one.id,), requirements=("SCN006", "EXP019"))
    (found,) = problems([entry], facts)
    assert "the reason must name Comparisons, the section of EXP019" in found
    both = evolve(entry, reason=f'{FAIR.reason} Comparisons: "IEEE 754 order" binds readers.')
    assert list(problems([both], facts)) == []


def test_a_rule_for_writers_is_not_held_against_a_reader(facts: Facts) -> None:
    one, code = next(
        (vector, code)
        for vector in facts.vectors.values()
        for code in vector.requirements
        if vector.operation.roles == {"reader"}
        and facts.requirements[code].binds == ("writer",)
        and not vector.contradiction
    )
    section = facts.requirements[code].section
    entry = evolve(FAIR, vectors=(one.id,), requirements=(code,), reason=f'{section}: "must be written so" binds all.')
    (found,) = problems([entry], facts)
    assert f"is performed by a reader, which {code} does not bind" in found
    assert list(problems([evolve(entry, kind=DeviationKind.LENIENCY)], facts)) == []


def test_a_deviation_is_not_at_an_open_point(facts: Facts) -> None:
    point = next(point.id for point in facts.points.values() if point.status is Decision.OPEN)
    (found,) = problems([fair(facts, points=(point,), counter="it is open")], facts)
    assert f"{point} is open" in found


def test_what_ships_is_fair(facts: Facts) -> None:
    assert list(problems(expectations.load_deviations(expectations.SHIPPED, facts.vectors).deviations, facts)) == []


def test_ids_are_unique(facts: Facts) -> None:
    (found,) = problems([fair(facts), fair(facts)], facts)
    assert "2 entries have this id" in found


def test_a_writer_that_is_lenient_against_a_rule_for_writers_has_an_argument(facts: Facts) -> None:
    one, code = next(
        (vector, code)
        for vector in facts.vectors.values()
        for code in vector.requirements
        if vector.operation.roles == {"writer"}
        and "writer" in facts.requirements[code].binds
        and not vector.contradiction
    )
    entry = evolve(FAIR, vectors=(one.id,), requirements=(code,), kind=DeviationKind.LENIENCY, counter="")
    (found,) = problems([entry], facts)
    assert "counter must say why it is not a deviation" in found
    assert list(problems([evolve(entry, counter="the caller chose it")], facts)) == []


TABLE = KnownOutcome(
    role="table",
    adapter="iceberg-go",
    tables=("appends-*",),
    outcome=TableOutcome.INVALID,
    id="iceberg-go-writes-otherwise",
    requirements=("SNP016",),
    reason='Snapshots, SNP016: it is "another operation" than this.',
    evidence="a line",
    counter="it is a delete to the caller",
)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"id": "writes-otherwise"}, "the id must begin with iceberg-go-"),
        ({"requirements": (), "kind": DeviationKind.LIMITATION}, "requirements must not be left out"),
        ({"requirements": ("SNP016", "XXX001")}, "XXX001 is not in the register"),
        ({"reason": 'It is "another operation".'}, "the reason must name Snapshots, the section of SNP016"),
        ({"requirements": ("SNP016", "PQT006")}, "the reason must name Parquet, the section of PQT006"),
        ({"evidence": "https://github.com/a/b/issues/1"}, "a link is in evidence"),
        ({"points": ("Z1",)}, "Z1 is not a point"),
        ({"kind": DeviationKind.CHOICE}, "a choice must name the point that is open"),
        (
            {"requirements": ("SCN010",), "reason": 'Scan Planning: "must be applied".'},
            "the table was made by a writer",
        ),
        ({"counter": ""}, "counter must give the best argument for the engine"),
        ({"reason": "Snapshots: it is wrong."}, "the reason must quote the sentence of the text"),
        (
            {"reason": 'Snapshots, SNP013: it is "another operation".'},
            "the reason names SNP013, but requirements does not",
        ),
    ],
)
def test_each_unfair_entry_about_tables_is_refused(facts: Facts, changes: dict[str, Any], problem: str) -> None:
    assert list(table_problems([TABLE], facts)) == []
    found = list(table_problems([evolve(TABLE, **changes)], facts))
    assert len(found) == 1
    assert problem in found[0]


def test_entries_about_tables_that_ship_are_fair(facts: Facts) -> None:
    assert list(table_problems(load_known(), facts)) == []


CHANGE = KnownRelay(
    id="iceberg-go-deletes-otherwise",
    engine="iceberg-go",
    fails="differs: rows",
    requirements=("SNP016",),
    does="deletes",
    reason=TABLE.reason,
    evidence="a line",
    counter="it is a delete to the caller",
)
CATALOG = KnownCatalog(
    id="nessie-moves-main",
    tested=("Nessie",),
    kinds=(),
    kind=DeviationKind.DEVIATION,
    requirements=CHANGE.requirements,
    does=CHANGE.does,
    reason=CHANGE.reason,
    evidence=CHANGE.evidence,
    counter=CHANGE.counter,
    command="race stress",
)


@pytest.mark.parametrize("entry", [CHANGE, CATALOG])
@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"evidence": ""}, "evidence must not be left out"),
        ({"requirements": ("SNP016", "SCN010")}, "the reason must name Scan Planning, the section of SCN010"),
        ({"reason": "Snapshots: it is wrong."}, "the reason must quote the sentence of the text"),
        ({"counter": ""}, "counter must give the best argument for the engine"),
        ({"upstream": ("https://github.com/apache/iceberg",)}, "is not an issue or a pull request"),
    ],
)
def test_each_unfair_entry_about_changes_is_refused(
    facts: Facts, entry: KnownRelay | KnownCatalog, changes: dict[str, Any], problem: str
) -> None:
    assert list(change_problems([entry], facts)) == []
    (found,) = change_problems([evolve(entry, **changes)], facts)
    assert found.startswith(f"{entry.id}: ")
    assert problem in found


def test_an_entry_about_changes_has_the_name_of_its_engine(facts: Facts) -> None:
    (found,) = change_problems([evolve(CHANGE, id="deletes-otherwise")], facts)
    assert "the id must begin with iceberg-go-" in found


def test_entries_about_changes_that_ship_are_fair(facts: Facts) -> None:
    assert {KnownRelay, KnownCatalog} == {type(one) for one in shipped_changes()}
    assert list(change_problems(shipped_changes(), facts)) == []
