"""Advice on findings: every check has advice, its commands exist, and a broken table gets the right kind."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from conformance.reports.validation import finding_json
from conformance.rules import registry
from conformance.validator.advice import AdviceKind, advice, advice_rows, check_advice
from conformance.validator.context import Level
from conformance.validator.run import SnapshotSelection
from conformance.vectors.golden_tables import materialize
from spec_ref.checks.findings import Severity
from spec_ref.requirements import register
from tests.validate import corruptions
from tools.grid.workbench import Workbench

KIT = {one.id: one for one in corruptions.load()}

PROCEDURES = {
    "compute_partition_stats",
    "compute_table_stats",
    "expire_snapshots",
    "register_table",
    "rewrite_data_files",
    "rewrite_manifests",
    "rewrite_position_delete_files",
    "rollback_to_snapshot",
    "set_current_snapshot",
}
"""Of the procedures of Iceberg-Java 1.12.0 (`org.apache.iceberg.spark.procedures`), those that advice may name."""

KINDS = [
    ("MAN001-cut", AdviceKind.RESTORE),
    ("MLS002-cut", AdviceKind.RESTORE),
    ("MLS003-manifest-missing", AdviceKind.RESTORE),
    ("SNP005-missing", AdviceKind.RESTORE),
    ("PQT001-parquet-cut", AdviceKind.RESTORE),
    ("DFL002-parquet-missing", AdviceKind.RESTORE),
    ("PUF018-magic", AdviceKind.RESTORE),
    ("TMD021-ref-dangling", AdviceKind.RESTORE),
    ("SNP005-no-manifest-list", AdviceKind.RESTORE),
    ("TMD005-no-last-updated-ms", AdviceKind.RESTORE),
    ("TMD024-next-row-id-missing", AdviceKind.RESTORE),
    ("TMD014-property-a-number", AdviceKind.RESTORE),
    ("MLS010-added_files_count-high", AdviceKind.REWRITE),
    ("MLS021-lower-bound-missing", AdviceKind.REWRITE),
    ("DFL013-null-count-of-footer", AdviceKind.REWRITE),
    ("DFL005-count-of-parquet", AdviceKind.REWRITE),
    ("STA019-data_record_count-another", AdviceKind.REWRITE),
    ("SRT004-sort-order-unknown", AdviceKind.REWRITE),
    ("TYP002-two-columns-of-a-file-one-id", AdviceKind.REWRITE),
    ("EVO001-column-of-another-type", AdviceKind.REWRITE),
    ("EVO001-file-wider-than-the-newest-schema", AdviceKind.REWRITE),
    ("TYP023-fixed-too-long-in-orc", AdviceKind.REWRITE),
    ("DFL006-size-negative", AdviceKind.REWRITE),
    ("DFL022-first-row-id-negative", AdviceKind.REWRITE),
    ("TMD020-default-order-unknown", AdviceKind.CONFIGURE),
    ("VER004-type-newer", AdviceKind.CONFIGURE),
    ("TYP002-required-column-with-null", AdviceKind.CONFIGURE),
    ("TYP002-required-column-missing", AdviceKind.CONFIGURE),
    ("DFL015-distinct_counts-written-in-v2", AdviceKind.REWRITE),
    ("PUF025-created-by-missing", AdviceKind.REWRITE),
    ("MAN006-schema-id-missing", AdviceKind.NOTHING),
    ("REF005-part-age-of-main", AdviceKind.RESTORE),
]


def test_every_check_has_advice_and_every_pattern_a_check() -> None:
    first = {
        check: next(row for row in advice_rows() if any(fnmatchcase(check, one) for one in row.patterns))
        for check in registry()
    }
    assert [check for check, row in first.items() if row.patterns == ("*",)] == []
    unused = [
        pattern
        for row in advice_rows()[:-1]
        for pattern in row.patterns
        if not any(row is mine and fnmatchcase(check, pattern) for check, mine in first.items())
    ]
    assert unused == []
    assert advice_rows()[-1].patterns == ("*",)
    assert all(advice(code).text for code in register())


def test_advice_that_changes_a_table_names_a_command_and_its_risk() -> None:
    for row in advice_rows():
        one = row.advice
        assert one.text.endswith("."), one
        assert len(one.text) <= 300, one
        assert one.otherwise is not None
        assert not one.otherwise.endswith("."), one
        if one.kind is AdviceKind.NOTHING:
            assert (one.spark, one.pyiceberg, one.risk) == (None, None, None), one
        else:
            assert one.spark or one.pyiceberg, one
            assert one.risk is not None
            assert one.risk.endswith("."), one


def test_no_advice_begins_with_nothing() -> None:
    idle = [row.patterns for row in advice_rows() if row.advice.text.startswith("Nothing")]
    assert idle == []


def test_spark_procedures_exist() -> None:
    named = {
        name for row in advice_rows() for name in re.findall(r"CALL catalog\.system\.(\w+)", row.advice.spark or "")
    }
    assert named == PROCEDURES


def test_wrong_sequence_numbers_are_not_made_permanent() -> None:
    for check in registry():
        if "sequence-number" in check and check.startswith(("manifest-", "data-sequence", "file-sequence")):
            spark = check_advice(check).spark or ""
            kept = (
                check.endswith(("-wrong-type", "-column-missing", "-column-left-out", "-nullability"))
                or "-min-" in check
            )
            assert kept or "rewrite_manifests" not in spark, check


@pytest.fixture(scope="module", autouse=True)
def _golden_tables() -> None:
    materialize(sorted({KIT[name].table for name, _ in KINDS}))


@pytest.mark.parametrize(("name", "kind"), KINDS)
def test_a_broken_table_gets_the_kind_of_advice_that_helps(name: str, kind: AdviceKind, tmp_path: Path) -> None:
    one = KIT[name]
    bench = Workbench(one.table, tmp_path)
    one.mutate(bench)
    report = bench.validate(Level(one.level), SnapshotSelection(one.snapshots))
    (finding, *_) = [
        each for each in report.findings if each.requirement == one.code and each.severity is not Severity.INFO
    ]
    document = finding_json(finding)
    assert document["advice"]["kind"] == kind.value, document
    assert document["what_to_do"] == document["advice"]["text"] or one.severity == "tolerated"


@pytest.mark.parametrize("check", ["metadata-json-forms", "metadata-gzip"])
def test_a_metadata_file_that_is_cut_off_is_restored(check: str) -> None:
    """No engine can commit to a table whose metadata it cannot load, so a commit alone is no remedy."""
    found = check_advice(check)
    assert found.kind is AdviceKind.RESTORE
    assert found.spark is not None
    assert "register_table" in found.spark


def test_metadata_that_no_engine_loads_is_restored() -> None:
    for check in ("metadata-format-version-missing", "metadata-location-missing", "metadata-schemas-wrong-type"):
        assert check_advice(check).kind is AdviceKind.RESTORE
        assert "any commit" not in check_advice(check).text


COUNTERS = {
    "metadata-last-column-id-exceeded-by-file",
    "metadata-next-row-id-exceeded-by-row",
}
"""Checks of counters in the metadata file, which files contradict."""


def test_a_fault_of_a_file_is_not_repaired_in_the_metadata_file() -> None:
    """A data file that contradicts the schema is written again, and the schema is right."""
    registered = {
        name
        for name, check in registry().items()
        if check.level in ("files", "rows") and "register_table" in (check_advice(name).spark or "")
    }
    assert registered == COUNTERS


def test_metadata_with_a_member_of_a_wrong_type_takes_no_commit() -> None:
    """Iceberg-Java and PyIceberg refuse such a file (vectors `metadata-*`), so that none of their commands helps."""
    for name, check in registry().items():
        if check.level == "metadata" and name.endswith("-wrong-type") and not name.startswith("name-mapping-"):
            assert "register_table" in (check_advice(name).spark or ""), name


@pytest.mark.parametrize(
    ("check", "procedure"),
    [
        ("data-file-file-size-in-bytes-negative", "rewrite_data_files"),
        ("data-file-first-row-id-negative", "rewrite_data_files"),
        ("fixed-type-length", "rewrite_data_files"),
        ("struct-field-parts-repeated-column-id", "rewrite_data_files"),
    ],
)
def test_a_wrong_value_that_a_rewrite_of_manifests_keeps_is_written_again(check: str, procedure: str) -> None:
    assert procedure in (check_advice(check).spark or "")


@pytest.mark.parametrize("column", ["sequence-number", "first-row-id"])
def test_a_column_that_is_optional_in_the_schema_of_a_list_takes_no_rollback(column: str) -> None:
    assert check_advice(f"manifest-file-{column}-nullability") == check_advice("manifest-entry-status-nullability")
    assert check_advice(f"manifest-file-{column}-wrong-type") != check_advice("manifest-entry-status-nullability")
