"""The reference's tables are valid at every level and in every snapshot, for random scripts."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.engines.reference import adapter as reference
from conformance.operations.protocol import Refused, Unsupported
from conformance.properties.scenario_tables import ScriptedTable, write_script
from conformance.properties.script_maker import Size
from conformance.properties.scripts import make_script
from conformance.runner.adapter_interface import InProcess
from conformance.validator.context import Level
from conformance.validator.local import LocalBackend
from conformance.validator.run import SnapshotSelection, validate
from spec_ref.checks.findings import Severity

SEEDS, EACH = 6, 10
LARGE = Size(columns=5, rows=6, operations=12)


@pytest.fixture(scope="module")
def writer() -> InProcess:
    return InProcess("reference", reference.implementation(), reference.operations(), reference.REFUSALS)


@pytest.mark.parametrize("start", range(SEEDS))
def test_no_table_of_the_reference_breaks_a_rule(start: int, writer: InProcess, tmp_path: Path) -> None:
    written = 0
    for seed in range(start * EACH, (start + 1) * EACH):
        script = make_script(seed, size=LARGE if seed % 5 == 0 else Size())
        table = write_script(writer, script, tmp_path / str(seed))
        if isinstance(table, Unsupported) or (isinstance(table, Refused) and "ORC008" in table.message):
            continue  # pyarrow has no ORC timestamps inside of lists and maps beyond the range of nanoseconds
        assert isinstance(table, ScriptedTable), (seed, table)
        written += 1
        report = validate(table.metadata, Level.ROWS, LocalBackend(), SnapshotSelection("all"))
        errors = [str(finding) for finding in report.findings if finding.severity is Severity.ERROR]
        assert errors == [], seed
    assert written > EACH / 2


def test_an_equality_delete_of_another_partition_than_its_file_is_reported_and_no_error(
    writer: InProcess, tmp_path: Path
) -> None:
    """Keys of deletes are written to every partition, as which one a key's row is in is not known."""
    columns = [
        {"id": number, "name": name, "required": False, "type": type_}
        for number, (name, type_) in enumerate((("id", "long"), ("p", "string")), 1)
    ]
    parts = [
        {"source": "p", "transform": "identity", "name": "p"},
        {"source": "id", "transform": "bucket[2]", "name": "b"},
    ]
    table = write_script(
        writer,
        {
            "operations": [
                {
                    "op": "create",
                    "format_version": 2,
                    "schema": {"type": "struct", "fields": columns},
                    "partition": parts,
                },
                {"op": "append", "rows": [{"id": str(number), "p": text} for number in range(4) for text in "ab"]},
                {"op": "delete-equal", "rows": [{"p": "a"}]},
            ]
        },
        tmp_path,
    )
    assert isinstance(table, ScriptedTable)
    report = validate(table.metadata, Level.ROWS, LocalBackend(), SnapshotSelection("all"))
    found = {(finding.violation.requirement, finding.severity) for finding in report.findings}
    assert ("PAR001", Severity.INFO) in found
