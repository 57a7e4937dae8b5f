"""Valid tables have no errors: every golden table, and forms that few engines write today."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from conformance.table_io.writing import append, create_table, delete, open_table
from conformance.validator.context import Level
from conformance.validator.local import LocalBackend
from conformance.validator.run import SnapshotSelection, validate
from conformance.vectors.golden_places import PLACE
from conformance.vectors.golden_tables import index, materialize, table_names
from spec_ref.checks.findings import Severity
from spec_ref.data_types.types import LONG, NestedField
from spec_ref.encodings import random_access_bytes
from spec_ref.expressions.predicates import Comparison, Literal, NamedReference, Operation
from tools.grid.workbench import Workbench

WRITTEN = [name for name in table_names() if "engine" in index(name)]
"""Those that engines wrote; others are derived for planning, and have no files."""

BROKEN = "broken-"
"""How the names of golden tables begin that are broken on purpose."""

BORNE = {
    "arrow-deletes-unsorted": "DEL015",
    "arrow-int96-local": "EVO001",
    "arrow-unknown-stored": "PQT006",
    "arrow-ids-partly-parquet": "PQT001",
    "arrow-ids-partly-orc": "ORC001",
    "arrow-ids-partly-avro": "AVR013",
    "arrow-variant-both": "PQT005",
    "arrow-variant-field-twice": "PQT005",
    "arrow-variant-no-object": "PQT005",
}
"""Golden tables that break a rule as files in the wild do, and that readers may read (contradictions E27, E31, E30)."""


@pytest.fixture(scope="module", autouse=True)
def _golden_tables() -> None:
    materialize(WRITTEN)


def errors(report: object) -> list[str]:
    return [str(one) for one in report.findings if one.severity is Severity.ERROR]  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", [name for name in WRITTEN if not name.startswith(BROKEN) and name not in BORNE])
def test_a_golden_table_has_no_errors_in_any_snapshot(name: str) -> None:
    assert errors(validate(str(PLACE / name), Level.ROWS, LocalBackend(), SnapshotSelection("all"))) == []


@pytest.mark.parametrize("name", [name for name in WRITTEN if name.startswith(BROKEN)])
def test_a_broken_golden_table_has_errors(name: str) -> None:
    assert errors(validate(str(PLACE / name), Level.ROWS, LocalBackend(), SnapshotSelection("all")))


@pytest.mark.parametrize(("name", "code"), BORNE.items())
def test_what_readers_bear_is_reported(name: str, code: str) -> None:
    report = validate(str(PLACE / name), Level.ROWS, LocalBackend(), SnapshotSelection("all"))
    assert {one.requirement for one in report.findings if one.severity is Severity.ERROR} == {code}


def wrong_counts(bench: Workbench) -> list[str]:
    findings = bench.validate(Level.MANIFESTS, SnapshotSelection("all")).findings
    return [one.violation.message for one in findings if one.requirement == "NOT005"]


@pytest.mark.parametrize(
    ("name", "counts"),
    {
        "position-deletes-partitioned": {"removed-position-delete-files", "removed-position-deletes"},
        "deletion-vectors-parquet": {"removed-dvs", "removed-position-deletes"},
        "java-1-10-deletion-vectors": {"removed-dvs", "removed-position-deletes"},
        "row-lineage-parquet": {"removed-dvs", "removed-position-deletes"},
        "trino-changes-v3": {"removed-dvs", "removed-position-deletes"},
    }.items(),
)
def test_the_removed_deletes_in_summaries_are_those_of_the_manifests(
    name: str, counts: set[str], tmp_path: Path
) -> None:
    bench = Workbench(name, tmp_path)
    assert counts <= {key for one in bench.metadata["snapshots"] for key in one["summary"]}
    assert wrong_counts(bench) == []


def test_a_removed_vector_may_be_counted_as_a_position_delete_file(tmp_path: Path) -> None:
    bench = Workbench("trino-changes-v3", tmp_path)  # as iceberg-go counts it, which writes no removed-dvs
    summary = bench.snapshot["summary"]
    summary["removed-position-delete-files"] = summary["removed-dvs"]
    assert wrong_counts(bench) == ["removed-position-delete-files in the summary differs from the manifests"]
    del summary["removed-dvs"]
    assert wrong_counts(bench) == []


def test_manifests_without_a_list_are_read(tmp_path: Path) -> None:
    bench = Workbench("types-v1-parquet", tmp_path)
    for snapshot in bench.metadata["snapshots"]:
        if snapshot is not bench.snapshot:
            del snapshot["manifest-list"]
            snapshot["manifests"] = [bench.manifests[-1].listed["manifest_path"]]
    paths = [manifest.listed["manifest_path"] for manifest in bench.manifests]
    del bench.snapshot["manifest-list"]
    bench.snapshot["manifests"] = paths
    bench._list = None
    report = bench.validate(Level.ROWS)
    assert errors(report) == []
    assert report.manifests == len(paths)
    assert report.entries


@pytest.mark.parametrize("part", ["list", "manifest", "file"])
def test_what_is_encrypted_is_reported_and_is_no_error(part: str, tmp_path: Path) -> None:
    bench = Workbench("row-lineage-parquet", tmp_path)
    assert bench.manifests
    if part == "list":
        bench.metadata["encryption-keys"] = [{"key-id": "k", "encrypted-key-metadata": "aGk="}]
        bench.snapshot["key-id"] = "k"
        bench.replaced[bench.manifest_list.path] = b"AGS1"
    elif part == "manifest":
        bench.replaced[bench.data.path] = b"AGS1"
        bench.data.listed["key_metadata"] = b"key"
    else:
        bench.file["key_metadata"] = b"key"
        bench.replace(bench.file["file_path"], b"AGS1")
    report = bench.validate(Level.ROWS)
    assert errors(report) == []
    assert any(one.violation.aspect == "encrypted" for one in report.findings if one.severity is Severity.INFO)


def test_several_processes_find_what_one_does() -> None:
    location = str(PLACE / "row-lineage-parquet")
    one, many = LocalBackend(), LocalBackend(workers=2)
    many.few_tasks = 1
    try:
        assert validate(location, Level.ROWS, many, SnapshotSelection("all")) == validate(
            location, Level.ROWS, one, SnapshotSelection("all")
        )
    finally:
        many.close()


@pytest.mark.parametrize("table", ["position-deletes-orc", "types-v2-avro", "types-v2-orc", "nested-avro"])
def test_files_that_are_not_held_whole_are_checked_alike(
    table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    materialize([table])

    def report() -> tuple[object, ...]:
        bench = Workbench(table, tmp_path)
        bench.file["record_count"] += 1
        found = bench.validate(Level.ROWS).findings
        assert "DFL005" in {one.requirement for one in found}
        return found

    whole = report()
    monkeypatch.setattr(random_access_bytes, "MAX_IN_MEMORY", 10)
    monkeypatch.setattr(random_access_bytes, "PART_SIZE", 64)
    assert report() == whole


@pytest.mark.parametrize("counts", [True, False])
def test_a_snapshot_whose_expired_parent_is_forgotten_may_delete_files(tmp_path: Path, counts: bool) -> None:
    place = str(tmp_path / "t")
    create_table(place, (NestedField(1, "id", required=False, type=LONG),))
    for number in (1, 2):
        append(open_table(place), pa.table({"id": [number]}))
    delete(open_table(place), Comparison(Operation.EQ, NamedReference("id"), Literal(1)))
    location = Path(open_table(place).table.metadata_location.removeprefix("file://"))
    metadata = json.loads(location.read_text())
    metadata["snapshots"] = metadata["snapshots"][-1:]
    del metadata["snapshots"][0]["parent-snapshot-id"]
    metadata["snapshot-log"] = metadata["snapshot-log"][-1:]
    if not counts:
        metadata["snapshots"][0]["summary"] = {"operation": metadata["snapshots"][0]["summary"]["operation"]}
    location.write_text(json.dumps(metadata))
    assert errors(validate(str(location), Level.ROWS, LocalBackend(), SnapshotSelection("all"))) == []
