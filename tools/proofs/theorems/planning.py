"""Planning a scan of whole snapshots (Scan Planning; Snapshots)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.operations.commits.fixtures import ID, PART, data_path
from conformance.races.suites import TABLES
from conformance.races.table_fixtures import SEVERAL_SPECS
from spec_ref.commits.payloads import encode
from spec_ref.data_types.types import LONG
from spec_ref.expressions.predicates import Comparison, Literal, NamedReference, Operation, Test
from spec_ref.partitioning.transforms import Bucket
from spec_ref.scan_planning.planner import plan
from tools.proofs.theorem import EXHAUSTIVE, World, theorem

_O = Operation

PARTS = {"f1": "a", "f2": "a", "f4": "a", "f5": "a", "f6": "b"}
"""The partition of the column ``part`` that a file is in, by one of three specs."""

BUCKETS = {"f4": 3, "f6": 0}
"""The bucket of the column ``id`` that a file is in, by one of the specs."""

FILES = {*PARTS, "f3"}
"""The files of the table; f3 has the spec without fields."""


def _predicates() -> Iterator[tuple[Any, set[str]]]:
    """Yield predicates, and the files whose partition may have matching rows."""
    part, number = NamedReference("part"), NamedReference("id")
    for one in ("a", "b", "c"):
        yield Comparison(_O.EQ, part, Literal(one)), {file for file in FILES if PARTS.get(file, one) == one}
        yield Comparison(_O.NOT_EQ, part, Literal(one)), {file for file in FILES if PARTS.get(file) != one}
    yield Test(_O.IS_NULL, part), {"f3"}
    yield Test(_O.NOT_NULL, part), FILES
    for one in range(16):
        bucket = Bucket(4).apply(LONG, one)
        yield Comparison(_O.EQ, number, Literal(one)), {file for file in FILES if BUCKETS.get(file, bucket) == bucket}


@theorem("manifests-of-several-specs", "SNP017", "SCN003", method=EXHAUSTIVE, cases=({"version": v} for v in (1, 2, 3)))
def several_specs(world: World, version: int) -> None:
    """A snapshot whose files are in several manifests, of four partition specs, is planned by the spec of each
    manifest: all files are read whose partition may have rows that match, and no others. Every comparison with each
    partition of the table, and with a number for each bucket, is run.
    """
    shared = SEVERAL_SPECS.state(version, TABLES["metastore"])
    metadata = shared.files[shared.pointer or ""]
    specs = {field.source_id for spec in metadata.partition_specs for field in spec.fields}
    world.claim(specs == {ID, PART}, "the table has other specs")

    def read(path: str) -> bytes:
        return encode(shared.files[path], path)

    for predicate, expected in _predicates():
        tasks = plan(metadata, metadata.current_snapshot, predicate, read)
        found = {task.data_file.file_path for task in tasks}
        world.claim(found == {data_path(name) for name in expected}, f"{predicate} reads {sorted(found)}")
