"""Readability, advice, tolerated errors, fingerprints and baselines: data that refers to existing things."""

from __future__ import annotations

import functools

import pytest
from shipped_vectors import shipped_vectors

from conformance.engine_setup import list_engines
from conformance.reports.validation import finding_json
from conformance.rules import registry
from conformance.runner.execution import RunPlan, execute
from conformance.runner.results import ResultsWriter
from conformance.runner.targets import find_targets, make_limits
from conformance.validator import tolerated
from conformance.validator.advice import advice
from conformance.validator.context import Level
from conformance.validator.finding import with_severity
from conformance.validator.fingerprints import WriterMarks, find_probable_writer
from conformance.validator.local import LocalBackend
from conformance.validator.readability import Obstacle, adapters, engine_readability, engines, obstacles
from conformance.validator.run import validate
from conformance.vectors import Selection
from conformance.vectors.golden_places import PLACE
from conformance.vectors.golden_tables import materialize
from spec_ref.checks import to_finding
from spec_ref.checks.findings import MAX_EXAMPLES, Finding, Severity, Tally
from spec_ref.core.errors import Violation


def test_facts_name_known_engines_and_have_evidence() -> None:
    assert {fact.engine for fact in obstacles()} <= set(engines())
    assert all(fact.evidence and fact.reason for fact in obstacles())
    assert {fact.outcome for fact in obstacles()} <= {"refuses", "fails", "wrong"}


ABSENT = {status.name for status in list_engines() if status.by_name and not status.installed}
"""Large engines that are not here: `make engines-large` installs them and runs these tests."""

OURS = [fact for fact in obstacles() if fact.vectors and adapters()[fact.engine] not in ABSENT]


Answers = tuple[dict[str, str], dict[tuple[str, str], str]]


@pytest.fixture(scope="module")
def answers() -> Answers:
    """The versions of the engines, and the outcomes of their reads; all engines run once, also where one fails."""
    wanted = frozenset(vector for fact in OURS for vector in fact.vectors)
    asked = find_targets(sorted({*adapters().values()} - ABSENT), make_limits(180, 180))
    run = execute(RunPlan(tuple(asked), Selection(ids=wanted).choose(shipped_vectors())), {}, ResultsWriter(None))
    assert [one.not_examined for one in run.adapters if one.not_examined] == []
    versions = {one.name: one.version for one in run.adapters}
    return versions, {(one.adapter, one.id): one.outcome.value for one in run.results}


@functools.cache
def features(table: str) -> frozenset[str]:
    materialize([table])
    return validate(str(PLACE / table), Level.MANIFESTS, LocalBackend()).features


@pytest.mark.engine
def test_engines_with_an_adapter_are_of_the_version_that_was_run(answers: Answers) -> None:
    versions, _ = answers
    known = engines()
    assert adapters().keys() & known.keys()
    for engine, adapter in adapters().items():
        assert adapter in ABSENT or versions[adapter] in known[engine], engine


@pytest.mark.engine
@pytest.mark.parametrize("fact", OURS, ids=lambda fact: f"{fact.engine}-{fact.feature}")
def test_a_fact_agrees_with_what_our_vectors_saw(fact: Obstacle, answers: Answers) -> None:
    _, outcomes = answers
    for vector in fact.vectors:
        table = vector.removeprefix("read-").removesuffix("-current")
        assert fact.feature in features(table)
        assert outcomes[adapters()[fact.engine], vector] in ("failed", "unsupported", "crashed")


def test_a_fact_that_our_vectors_can_see_names_them() -> None:
    """A feature of a golden table is seen by all engines that are run."""
    seen = {fact.feature for fact in OURS}
    assert [
        fact for fact in obstacles() if fact.feature in seen and fact.engine in adapters() and not fact.vectors
    ] == []


@pytest.mark.parametrize(
    ("table", "engine", "feature"),
    [
        ("deletion-vectors-parquet", "clickhouse", "deletion-vectors"),
        ("equality-deletes-parquet", "pyiceberg", "equality-deletes"),
        ("types-v2-avro", "duckdb", "avro-files"),
        ("types-v2-orc", "iceberg-rust", "orc-files"),
        ("defaults-parquet", "clickhouse", "initial-defaults"),
    ],
)
def test_a_table_reports_who_cannot_read_it(table: str, engine: str, feature: str) -> None:
    materialize([table])
    report = validate(str(PLACE / table), Level.MANIFESTS, LocalBackend())
    reader = next(one for one in engine_readability(report.features) if one.engine == engine)
    assert feature in {fact.feature for fact in reader.obstacles}
    assert not reader.reads


def test_a_plain_table_can_be_read_by_all() -> None:
    materialize(["position-deletes-parquet"])
    report = validate(str(PLACE / "position-deletes-parquet"), Level.ROWS, LocalBackend())
    assert all(reader.reads for reader in engine_readability(report.features))
    assert any("Iceberg-Java" in writer for writer in report.writers)


def test_what_was_left_out_before_an_upgrade_alarms_nobody() -> None:
    materialize(["upgraded-v1-v2-v3"])
    report = validate(str(PLACE / "upgraded-v1-v2-v3"), Level.METADATA, LocalBackend())
    found = {one["check"]: one["what_to_do"] for one in map(finding_json, report.findings)}
    left_out = [text for check, text in found.items() if check.endswith("-left-out")]
    assert len(left_out) == 3
    assert all(text.startswith("No change is needed: ") for text in left_out)
    assert advice("SNP011", "exceeded").text.startswith("Stop all writers")


def test_what_is_tolerated_is_of_the_register_and_matches_only_itself() -> None:
    assert {one.check for one in tolerated.tolerances()} <= set(registry())
    (row,) = [one for one in tolerated.tolerances() if one.check == "data-file-equality-ids-wrong-type"]
    assert row.evidence
    assert all(one.otherwise and not one.otherwise.endswith(".") for one in tolerated.tolerances())

    def found(value: str) -> Finding:
        path = "/avro.schema/data_file/equality_ids"
        problem = Violation(requirement="DFL020", message="any", aspect="wrong-type", path=path, found=value)
        return next(tolerated.tolerate([Finding(problem, Severity.ERROR)]))

    accepted = found("list<136: long>")
    assert accepted.severity is Severity.TOLERATED
    assert finding_json(accepted)["advice"] == {
        "kind": "nothing",
        "text": f"No change is needed: {row.evidence}",
        "spark": None,
        "pyiceberg": None,
        "risk": None,
        "otherwise": row.otherwise,
    }
    assert found("list<136: string>").severity is Severity.ERROR


@pytest.mark.parametrize(
    ("code", "aspect", "found", "severity"),
    [
        ("PQT003", "", "fixed_len_byte_array[4] DECIMAL(9, 2)", Severity.TOLERATED),
        ("PQT003", "", "fixed_len_byte_array[8] DECIMAL(18, 0)", Severity.TOLERATED),
        # What these engines do not write: more bytes than the precision needs, and other types.
        ("PQT003", "", "fixed_len_byte_array[16] DECIMAL(20, 2)", Severity.WARNING),
        ("PQT003", "", "byte_array DECIMAL(9, 2)", Severity.WARNING),
        ("PQT003", "", "int32 INTEGER(8, true)", Severity.WARNING),
        ("PQT004", "stored-otherwise", "fixed[16]", Severity.TOLERATED),
        ("PQT004", "stored-otherwise", "binary", Severity.WARNING),
    ],
)
def test_what_writers_of_parquet_choose_is_tolerated_and_nothing_else_of_the_same_check(
    code: str, aspect: str, found: str, severity: Severity
) -> None:
    problem = Violation(requirement=code, message="any", aspect=aspect, found=found)
    (rated,) = tolerated.tolerate([with_severity(problem)])
    assert rated.severity is severity


@pytest.mark.parametrize(
    ("evidence", "writer"),
    [
        (WriterMarks(created_by="parquet-cpp-arrow version 21.0.0"), "Arrow"),
        (WriterMarks(created_by="DuckDB version v1.5.5"), "DuckDB"),
        (
            WriterMarks(summary={"iceberg-version": "Apache Iceberg 1.10.2 (commit 1)", "engine-name": "spark"}),
            "Iceberg-Java 1.10.2 (spark)",
        ),
        (WriterMarks(summary={"iceberg-version": "Apache Iceberg Go v0.7.0"}), "iceberg-go 0.7.0"),
    ],
)
def test_writers_are_suspected_by_what_they_leave(evidence: WriterMarks, writer: str) -> None:
    assert writer in (find_probable_writer(evidence) or "")


def test_nobody_is_suspected_without_evidence() -> None:
    assert find_probable_writer(WriterMarks()) is None


def test_a_tally_does_not_depend_on_order_or_grouping() -> None:
    def one(number: int, code: str = "DFL005") -> Finding:
        place = Violation(requirement=code, message="m", file=f"f{number % 3}", path=f"/{number}/x")
        return Finding(place, Severity.ERROR)

    findings = [one(number) for number in range(40)] + [one(7, "DFL006")]
    whole = Tally(findings).findings()
    parts = Tally()
    for start in range(0, 41, 7):
        parts.add(Tally(reversed(findings[start : start + 7])).findings())
    assert parts.findings() == whole
    assert [finding.count for finding in whole] == [40, 1]
    assert [len(finding.places) for finding in whole] == [MAX_EXAMPLES, 1]
    assert [place.path for place in whole[0].places] == ["/0/x", "/3/x", "/6/x", "/9/x", "/12/x"]


@pytest.mark.parametrize(
    ("path", "severity"),
    [
        ("/refs", Severity.TOLERATED),
        ("/partition-specs/0/fields/12/field-id", Severity.TOLERATED),
        ("/snapshots/0/sequence-number", Severity.TOLERATED),
        ("/refs/main", Severity.WARNING),
    ],
)
def test_what_engines_write_into_v1_is_tolerated_and_nothing_else_of_the_same_check(
    path: str, severity: Severity
) -> None:
    problem = Violation(requirement="VER005", message="any", path=path)
    (found,) = tolerated.tolerate([to_finding(problem)])
    assert found.severity is severity
