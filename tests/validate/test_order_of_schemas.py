"""The list of a table's schemas has no order: a column that was promoted and dropped has its latest type in any."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from conformance.table_io.local import read_table
from conformance.table_io.tables import load_table
from conformance.validator.context import Level
from conformance.validator.local import LocalBackend
from conformance.validator.run import SnapshotSelection, validate
from spec_ref.checks.findings import Severity
from spec_ref.data_types.types import INT, LONG, NestedField
from spec_ref.partitioning.spec import UNPARTITIONED, PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import Identity
from spec_ref.single_value.bounds import encode_bound
from tools.table_kit import TableKit

ID, OLD, NEW = (
    NestedField(field_id, name, required=False, type=type_)
    for field_id, name, type_ in ((1, "id", INT), (2, "b", INT), (2, "b", LONG))
)
SPEC = PartitionSpec(0, (PartitionField(source_id=2, field_id=1000, name="b", transform=Identity()),))
BIG = 1 << 40


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))), ids=str)
@pytest.mark.parametrize("spec", [UNPARTITIONED, SPEC], ids=["unpartitioned", "partitioned"])
def test_a_dropped_column_has_its_latest_type(tmp_path: Path, spec: PartitionSpec, order: tuple[int, ...]) -> None:
    kit = TableKit(tmp_path.as_uri(), (ID, OLD), spec=spec)
    kit.evolve((ID, NEW))
    for number, value in ((1, BIG), (2, 5)):
        kit.commit(kit.file([{1: number, 2: value}], **entry(spec, value)))
    kit.commit(kit.equality_deletes([{2: BIG}], [2], fields=(NEW,), **entry(spec, BIG)))
    kit.evolve((ID,))
    if not spec.is_unpartitioned:
        kit.repartition(PartitionSpec(1))
    kit.table()
    path = tmp_path / "metadata" / f"v{len(kit.snapshots) + 1}.metadata.json"
    metadata = json.loads(path.read_text())
    metadata["schemas"] = [metadata["schemas"][place] for place in order]
    path.write_text(json.dumps(metadata))
    rows = read_table(load_table(tmp_path.as_uri()))
    assert [row for batch in rows for row in batch.to_pylist()] == [{"id": 2}]
    report = validate(tmp_path.as_uri(), Level.ROWS, LocalBackend(), SnapshotSelection("all"))
    assert [one for one in report.findings if one.severity in (Severity.ERROR, Severity.WARNING)] == []


def entry(spec: PartitionSpec, value: int) -> dict[str, Any]:
    """Make the attributes of a file whose column has one value."""
    bounds = {2: encode_bound(LONG, value)}
    partition = {} if spec.is_unpartitioned else {1000: value}
    return {
        "lower_bounds": bounds,
        "upper_bounds": bounds,
        "value_counts": {2: 1},
        "null_value_counts": {2: 0},
        "partition": partition,
    }
