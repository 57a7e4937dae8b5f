"""The text report of validated tables: one line for each, which claims no more than was checked."""

from __future__ import annotations

import shutil
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import attrs
import pytest
from immutabledict import immutabledict

from conformance.core.colours import plain
from conformance.reports.validation import ValidationResult, as_text, table_json
from conformance.table_io.writing import create_table
from conformance.validator.context import Level
from conformance.validator.finding import finding
from conformance.validator.run import TableReport
from conformance.validator.table_root import recorded_location_if_copied
from spec_ref import read_metadata
from spec_ref.checks.findings import Finding
from spec_ref.core.errors import Description, SpecError, spec_error
from spec_ref.data_types.types import LONG, NestedField
from spec_ref.manifest_lists.manifest_file import ManifestContent
from spec_ref.manifests.data_file import FileFormat
from spec_ref.table_metadata import TableMetadata
from spec_ref.table_metadata.checks import check_metadata


def outcome(*findings: Finding) -> ValidationResult:
    return ValidationResult(
        "t", TableReport("t", "t/metadata/v1.metadata.json", Level.FILES, findings, findings, format_version=2)
    )


def test_a_table_ends_with_a_line_that_says_what_was_not_read() -> None:
    missing = finding("DFL002", "the file cannot be read", file="m.avro", found="d.parquet", aspect="unreadable")
    *_, verdict, empty = as_text([outcome(missing)], plain)
    assert verdict.startswith("  1 error in metadata, manifests and the footers of files; ")
    assert "; not read: 1 file, and everything that only it lists" in verdict
    assert empty == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (ManifestContent.DELETES, "1 DELETES"),
        (FileFormat.PARQUET, "'parquet'"),
        (immutabledict({1: 9}), "{1: 9}"),
        ([None, True, (1,)], "[null, true, [1]]"),
        (b"\x00\xff", "0x00ff"),
        (b"PAR1", "0x50415231 ('PAR1')"),
        (b"", "no bytes"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (Decimal("14.20"), "14.20"),
        (float("nan"), "NaN"),
        ("12 bytes", "'12 bytes'"),
        (Description("12 bytes"), "12 bytes"),
        (False, "false"),
        (None, "null"),
    ],
)
def test_found_values_are_shown_as_in_the_file_and_not_as_python_objects(value: object, text: str) -> None:
    assert spec_error("MLS006", "the content differs", found=value).violation.found == text


@pytest.mark.wording
def test_a_value_of_a_wrong_type_is_named_by_its_member() -> None:
    document = {"format-version": 2, "table-uuid": 5, "sort-orders": [{"order-id": "one", "fields": []}]}
    with pytest.raises(SpecError, match="table-uuid has the wrong type"):
        read_metadata(document)
    found = {one.violation.path: one.violation.message for one in check_metadata(document)}
    assert found["/table-uuid"] == "table-uuid has the wrong type"
    assert found["/sort-orders/0/order-id"] == "order-id has the wrong type"


def test_a_healthy_table_is_three_lines() -> None:
    title, facts, verdict, empty = as_text([outcome()], plain)
    assert (title, empty) == ("t (metadata/v1.metadata.json)", "")
    assert facts.startswith("  format version 2, level files")
    assert verdict.startswith("  nothing is wrong in metadata, manifests and the footers of files; not checked: rows")
    assert "not read" not in verdict


def test_several_tables_end_with_a_table_and_one_verdict() -> None:
    bad = finding("DFL005", "the number of rows is another", file="m.avro", aspect="mismatch")
    unread = "; not checked: rows (--level rows)"
    assert list(as_text([outcome(), outcome()], plain))[-1] == f"2 tables: none with findings that fail{unread}"
    three = [outcome(), outcome(bad), ValidationResult("u", unreadable="there is no table")]
    *_, head, first, second, third, verdict = as_text(three, plain)
    assert head.split() == ["table", "error", "warning", "tolerated", "info", "seconds", "result"]
    assert first.split() == ["t", "0", "0", "0", "0", "0.0", "passes"]
    assert second.split() == ["t", "1", "0", "0", "0", "0.0", "fails"]
    assert third.split() == ["u", "-", "-", "-", "-", "0.0", "not", "checked"]
    assert verdict == f"3 tables: 1 with findings that fail, 1 not checked completely{unread}"


def test_of_many_tables_only_those_with_something_wrong_have_lines_of_their_own() -> None:
    bad = finding("DFL005", "the number of rows is another", file="m.avro", aspect="mismatch")
    lines = list(as_text([outcome(), outcome(bad)], plain, brief=True))
    assert sum("format version 2" in line for line in lines) == 1
    assert sum("format version 2" in line for line in as_text([outcome(), outcome(bad)], plain)) == 2
    assert len(list(as_text([outcome()], plain, brief=True))) == 3


def test_a_report_says_that_files_were_read_from_elsewhere() -> None:
    moved = attrs.evolve(outcome(), report=attrs.evolve(outcome().report, elsewhere="/warehouse/t"))  # type: ignore[type-var]
    _, _, note, *_ = as_text([moved], plain)
    assert note.startswith("  note: the location in the metadata is /warehouse/t")
    assert table_json(moved)["files_read_from"] == "/warehouse/t"
    assert "files_read_from" not in table_json(outcome())


@pytest.fixture
def metadata_file(tmp_path: Path) -> Path:
    create_table(str(tmp_path / "t"), (NestedField(1, "id", required=False, type=LONG),))
    (file,) = (tmp_path / "t" / "metadata").glob("*.metadata.json")
    return file


def test_files_of_a_copied_table_are_elsewhere(metadata_file: Path, tmp_path: Path) -> None:
    metadata = read_metadata(metadata_file.read_bytes())
    assert recorded_location_if_copied(metadata, str(metadata_file)) is None
    assert recorded_location_if_copied(metadata, metadata_file.as_uri()) is None
    copied = shutil.copytree(tmp_path / "t", tmp_path / "t2") / "metadata" / metadata_file.name
    assert recorded_location_if_copied(metadata, str(copied)) == metadata.location
    (tmp_path / "link").symlink_to(tmp_path / "t")
    assert recorded_location_if_copied(metadata, str(tmp_path / "link" / "metadata" / metadata_file.name)) is None


@pytest.mark.parametrize(
    ("location", "file", "elsewhere"),
    [
        ("s3://b/t", "s3a://b/t/metadata/v1.metadata.json", False),
        ("s3://b/t/", "s3://b/t/metadata/v1.metadata.json", False),
        ("s3://b/t", "s3://b/t2/metadata/v1.metadata.json", True),
        ("s3://b/t", "s3://other/t/metadata/v1.metadata.json", True),
        ("s3://b/t", "/backup/t/metadata/v1.metadata.json", True),
        ("s3://b/t", "s3://b/m/v1.metadata.json", False),
    ],
)
def test_a_location_is_compared_without_its_spelling(
    location: str, file: str, elsewhere: bool, metadata_file: Path
) -> None:
    metadata: TableMetadata = attrs.evolve(
        read_metadata(metadata_file.read_bytes()), location=location, properties={"write.metadata.path": "s3://b/m"}
    )
    assert recorded_location_if_copied(metadata, file) == (location if elsewhere else None)
