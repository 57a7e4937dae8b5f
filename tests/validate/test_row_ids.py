"""Row ids over several files: the findings equal those of a check of every row, however facts are split."""

from __future__ import annotations

import collections
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import example, given, settings
from hypothesis import strategies as st

from conformance.validator.check_results import Facts
from conformance.validator.context import Context, Level, ManifestMembership
from conformance.validator.deleted_positions import FactOrigin
from conformance.validator.row_ids import RowIds, check_ids, deleted_facts, live_ids
from conformance.vectors.golden_tables import materialize
from spec_ref.checks.findings import Severity
from spec_ref.core.records import evolve
from spec_ref.manifests.data_file import DataFile, FileContent, FileFormat
from spec_ref.partitioning.spec import UNPARTITIONED, PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import Identity
from spec_ref.table_metadata import read_metadata
from tests.validate.corruptions.data_files import UPGRADED_V3, _lineage, _with_ids, live_and_deleted
from tools.grid.workbench import Workbench

IDS = 40


def test_a_row_id_may_stand_again_where_its_old_row_is_deleted(tmp_path: Path) -> None:
    materialize([UPGRADED_V3])
    bench = Workbench(UPGRADED_V3, tmp_path)
    _lineage(bench, lambda table: _with_ids(table, [live_and_deleted(bench)[1]], None))
    report = bench.validate(Level.ROWS)
    assert [str(finding) for finding in report.findings if finding.severity is Severity.ERROR] == []


BY_A = PartitionSpec(1, (PartitionField(source_id=1, field_id=1000, name="a", transform=Identity()),))
PLACES: list[tuple[PartitionSpec, dict[int, Any]]] = [
    (UNPARTITIONED, {}),
    (BY_A, {1000: None}),
    (BY_A, {1000: math.nan}),
    (BY_A, {1000: -math.nan}),
    (BY_A, {}),
    (evolve(BY_A, spec_id=2), {1000: None}),
]
"""Partitions: the second and the last but one are the same, and so are those of NaN."""

SAME = [0, 1, 2, 2, 1, 3]


def origin(manifest: int, entry: int, sequence: int | None, where: int = 0, **changes: Any) -> FactOrigin:
    """The entry of a file in one of `PLACES`, a data file unless the changes say otherwise."""
    spec, partition = PLACES[where]
    file: dict[str, Any] = {
        "content": FileContent.DATA,
        "file_path": f"f{entry}",
        "file_format": FileFormat.PARQUET,
        "record_count": 9,
        "file_size_in_bytes": 9,
        "partition": partition,
        **changes,
    }
    return FactOrigin(manifest, entry, sequence, DataFile(**file), spec)


def context(buckets: int) -> Context:
    metadata = {
        "format-version": 3,
        "table-uuid": "00000000-0000-0000-0000-000000000001",
        "location": "file:/t",
        "last-updated-ms": 1,
        "last-column-id": 1,
        "last-sequence-number": 9,
        "next-row-id": IDS,
        "current-schema-id": 0,
        "schemas": [
            {"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "a", "required": True, "type": "int"}]}
        ],
        "default-spec-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": []}],
        "last-partition-id": 999,
        "default-sort-order-id": 0,
        "sort-orders": [{"order-id": 0, "fields": []}],
    }
    return Context(read_metadata(metadata), "file:/m", Level.ROWS, id_buckets=buckets)


FILES = st.lists(
    st.tuples(
        st.integers(0, 2),  # manifest
        st.integers(0, IDS // 2),  # first row id
        st.lists(st.none() | st.integers(0, IDS - 1), max_size=8),  # stored ids
        st.none() | st.integers(1, 3),  # sequence number
        st.integers(0, len(SAME) - 1),  # partition
    ),
    max_size=5,
)
DELETES = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.integers(0, 4),
        st.lists(st.integers(0, 8), max_size=4),
        st.none() | st.integers(1, 3),
        st.integers(0, len(SAME) - 1),
    ),
    max_size=4,
)


@settings(max_examples=200, deadline=None)
@example([(0, 0, [None], 1, 1), (0, 10, [0], 2, 0)], [(0, 0, [0], 2, 5)], 1, 4)  # a delete of another spec
@example([(0, 0, [None], 1, 2), (0, 10, [0], 2, 0)], [(0, 0, [0], 2, 3)], 1, 4)  # of the same partition
@example([(0, 0, [None], 1, 1), (0, 10, [0], 2, 0)], [(0, 0, [0], None, 4)], 1, 4)  # of a number that is not known
@given(FILES, DELETES, st.integers(1, 5), st.integers(1, 4))
def test_ids_that_come_twice_are_found_and_no_others(files: Any, deletes: Any, buckets: int, batch: int) -> None:
    known = context(buckets)
    members = ManifestMembership(3, {7: frozenset({0, 1}), 8: frozenset({0, 2})}, (7, 8), ())
    facts: list[Facts] = []
    for number, (manifest, first, stored, sequence, where) in enumerate(files):
        data_file = SimpleNamespace(file_path=f"f{number}", first_row_id=first)
        place: Any = SimpleNamespace(data_file=data_file, origin=origin(manifest, number, sequence, where))
        ids = RowIds(known, place)
        for start in range(0, len(stored), batch):
            part = stored[start : start + batch]
            ids.add(len(part), {2147483540: pa.array(part, pa.int64())})
        facts += ids.facts()
    for number, (manifest, file, positions, sequence, where) in enumerate(deletes):
        by = origin(manifest, 100 + number, sequence, where, content=FileContent.POSITION_DELETES)
        facts += deleted_facts(known, by, pa.array([f"f{file}"] * len(positions)), np.array(positions, np.int64))
    reported = {
        (place.file, int(place.found or "")) for finding in _checked(known, members, facts) for place in finding.places
    }
    wanted: set[int] = set()
    for snapshot_id in members.checked:
        manifests = members.by_snapshot[snapshot_id]
        rows = collections.defaultdict(list)
        for number, (manifest, first, stored, sequence, place) in enumerate(files):
            gone = {
                position
                for by, file, positions, later, where in deletes
                for position in positions
                if file == number
                and by in manifests
                and SAME[where] == SAME[place]
                and (later is None or sequence is None or later >= sequence)
            }
            for position, one in enumerate(stored):
                if manifest in manifests and position not in gone:
                    rows[first + position if one is None else one].append(one is not None)
        wanted |= {one for one, holders in rows.items() if len(holders) > 1 and any(holders)}
    found = {one for _, one in reported}
    assert found <= wanted
    assert bool(found) == bool(wanted)


def _checked(known: Context, members: ManifestMembership, facts: list[Facts]) -> list[Any]:
    by_path: dict[int, list[Facts]] = {}
    for fact in facts:
        by_path.setdefault(fact.bucket, []).append(fact)
    by_id: dict[int, list[Facts]] = {}
    for mine in by_path.values():
        for fact in live_ids(known, members, mine):
            by_id.setdefault(fact.bucket, []).append(fact)
    return [finding for mine in by_id.values() for finding in check_ids(known, members, mine)]


def test_what_is_found_does_not_depend_on_the_order_of_facts() -> None:
    known = context(2)
    members = ManifestMembership(1, {7: frozenset({0})}, (7,), ())
    facts: list[Facts] = []
    for number in range(3):
        data_file = SimpleNamespace(file_path=f"f{number}", first_row_id=None)
        place: Any = SimpleNamespace(data_file=data_file, origin=origin(0, number, 1))
        ids = RowIds(known, place)
        ids.add(3, {2147483540: pa.array([3, 30, 10 + number], pa.int64())})
        facts += ids.facts()
    first, second = (
        sorted((place.file, place.found) for one in _checked(known, members, order) for place in one.places)
        for order in (facts, facts[::-1])
    )
    assert first == second == [("f1", "3"), ("f1", "30"), ("f2", "3"), ("f2", "30")]
