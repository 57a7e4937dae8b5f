"""What equality deletes are, decide the columns that they compare: others may hold anything (DEL021, SCN010)."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.table_io.local import read_table
from conformance.table_io.tables import load_table
from conformance.validator.context import Level
from conformance.validator.local import LocalBackend
from conformance.validator.run import validate
from spec_ref.checks.findings import Severity
from spec_ref.data_types.types import LONG, STRING, NestedField
from spec_ref.manifests.data_file import FileFormat
from spec_ref.partitioning.spec import PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import Identity
from tools.table_kit import TableKit

ID, KEY = NestedField(1, "id", required=False, type=LONG), NestedField(2, "key", required=False, type=STRING)
SPEC = PartitionSpec(spec_id=0, fields=(PartitionField(source_id=2, field_id=1000, name="key", transform=Identity()),))
INFO = {("PAR001", Severity.INFO)}


@pytest.mark.parametrize("file_format", [FileFormat.PARQUET, FileFormat.ORC, FileFormat.AVRO])
@pytest.mark.parametrize(
    ("ids", "expected", "left"),
    [((1,), set(), [2]), ((1, 2), INFO, [1, 2]), ((2,), INFO, [1, 2])],
    ids=["not-compared", "beside-another", "alone"],
)
def test_a_delete_of_another_partition_dangles_only_where_the_column_is_compared(
    ids: tuple[int, ...], expected: set[object], left: list[int], file_format: FileFormat, tmp_path: Path
) -> None:
    """The rows that remain prove the finding: a different value in a compared column leaves all of them."""
    kit = TableKit(tmp_path.as_uri(), (ID, KEY), spec=SPEC)
    kit.commit(kit.file([{1: 1, 2: "a"}, {1: 2, 2: "a"}], partition={1000: "a"}))
    deletes = [{1: 1, 2: "b"}]
    kit.commit(kit.equality_deletes(deletes, ids, fields=(ID, KEY), file_format=file_format, partition={1000: "a"}))
    kit.table()
    rows = read_table(load_table(tmp_path.as_uri()))
    assert sorted(row["id"] for batch in rows for row in batch.to_pylist()) == left
    report = validate(tmp_path.as_uri(), Level.ROWS, LocalBackend())
    assert {(one.requirement, one.severity) for one in report.findings} == expected


def test_a_row_of_another_partition_in_a_data_file_is_an_error(tmp_path: Path) -> None:
    kit = TableKit(tmp_path.as_uri(), (ID, KEY), spec=SPEC)
    kit.commit(kit.file([{1: 1, 2: "b"}], partition={1000: "a"}))
    kit.table()
    report = validate(tmp_path.as_uri(), Level.ROWS, LocalBackend())
    assert {(one.requirement, one.severity) for one in report.findings} == {("PAR001", Severity.ERROR)}
