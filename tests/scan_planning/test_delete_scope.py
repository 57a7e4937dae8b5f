"""`DeleteFileIndex` finds the deletes that `may_apply` accepts, over random specs, partitions, numbers and deletes.

Scans find those that the text says, case by case, and no longer where a fault is planted in the rule.
"""

from __future__ import annotations

import struct
from decimal import Decimal
from typing import Any

import delete_scope_faults as faults
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from planned_tables import Table, added, data_file

from spec_ref.columnar.scan_planning.delete_file_index import DeleteFileIndex
from spec_ref.core.errors import SpecError
from spec_ref.core.records import evolve
from spec_ref.data_types.types import DOUBLE, LONG, STRING, NestedField
from spec_ref.expressions.predicates import TRUE
from spec_ref.manifests.data_file import DataFile, FileContent, FileFormat
from spec_ref.partitioning.spec import PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import parse_transform
from spec_ref.scan_planning import planner
from spec_ref.scan_planning.delete_scope import FILE_PATH, may_apply
from spec_ref.scan_planning.tasks import ScanDelete
from spec_ref.schemas.schema import Schema
from spec_ref.single_value.binary import to_binary

TYPES = {1: LONG, 2: DOUBLE, 3: STRING}
PATHS = ("a", "aa", "ab", "b")
NANS = [struct.unpack(">d", bits)[0] for bits in (b"\x7f\xf8" + bytes(6), b"\xff\xf8" + bytes(5) + b"\x01")]
VALUES = (None, 0.0, -0.0, *NANS, 1, "x", b"x", Decimal("1.0"))

transforms = st.sampled_from(["identity", "void", "bucket[4]", "zorder[7]"]).map(parse_transform)


@st.composite
def partition_specs(draw: Any) -> dict[int, PartitionSpec]:
    made = {}
    for spec_id in range(draw(st.integers(1, 3))):
        found = draw(st.lists(transforms, max_size=2))
        fields = [
            PartitionField(source_id=1, field_id=1000 + number, name=f"p{number}", transform=transform)
            for number, transform in enumerate(found)
        ]
        made[spec_id] = PartitionSpec(spec_id, tuple(fields))
    return made


def partitions(spec: PartitionSpec) -> st.SearchStrategy[dict[int, Any]]:
    return st.fixed_dictionaries({}, optional={one.field_id: st.sampled_from(VALUES) for one in spec.fields})


@st.composite
def metrics(draw: Any) -> dict[str, Any]:
    """Counts and bounds of some columns; bounds may contradict each other."""
    ids = draw(st.sets(st.sampled_from([1, 2, 3])))
    samples = {1: (0, 1, 2), 2: (-0.0, 0.0, 1.0), 3: ("a", "b")}
    bound = {id_: [to_binary(TYPES[id_], value) for value in samples[id_]] for id_ in samples}
    fields: dict[str, Any] = {
        name: {id_: draw(st.sampled_from(bound[id_])) for id_ in ids if draw(st.booleans())}
        for name in ("lower_bounds", "upper_bounds")
    }
    for name in ("value_counts", "null_value_counts", "nan_value_counts"):
        fields[name] = {id_: draw(st.integers(0, 2)) for id_ in ids if draw(st.booleans())}
    return {name: value or None for name, value in fields.items()}


@st.composite
def deletes(draw: Any, specs: dict[int, PartitionSpec], number: int) -> ScanDelete:
    spec = specs[draw(st.sampled_from(sorted(specs)))]
    kind = draw(st.sampled_from(["equality", "positions", "positions-of-file", "vector"]))
    more: dict[str, Any] = {}
    if kind == "equality":
        more = draw(metrics()) | {"equality_ids": tuple(sorted(draw(st.sets(st.sampled_from([1, 2, 3]), min_size=1))))}
    elif kind == "positions":
        for name in ("lower_bounds", "upper_bounds"):
            path = draw(st.sampled_from([None, *PATHS]))
            more[name] = None if path is None else {FILE_PATH: path.encode()}
    else:
        more = {"referenced_data_file": draw(st.sampled_from(PATHS))}
    if kind == "vector":
        more |= {"content_offset": 4, "content_size_in_bytes": 40}
    file = DataFile(
        content=FileContent.EQUALITY_DELETES if kind == "equality" else FileContent.POSITION_DELETES,
        file_path=f"delete-{number}",
        file_format=FileFormat.PUFFIN if kind == "vector" else FileFormat.PARQUET,
        partition=draw(partitions(spec)),
        record_count=1,
        file_size_in_bytes=10,
        **more,
    )
    return ScanDelete(file, spec.spec_id, draw(st.integers(0, 3)))


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_the_index_gives_what_the_rule_gives(data: Any) -> None:
    specs = data.draw(partition_specs())
    listed = [data.draw(deletes(specs, number)) for number in range(data.draw(st.integers(0, 8)))]
    index = DeleteFileIndex(specs, TYPES)
    for delete in listed:
        index.add(delete)
    for path in PATHS:
        spec = specs[data.draw(st.sampled_from(sorted(specs)))]
        number = data.draw(st.integers(0, 3))
        partition = data.draw(
            st.sampled_from([dict(one.data_file.partition) for one in listed]) if listed else partitions(spec)
        )
        file = DataFile(
            content=FileContent.DATA,
            file_path=path,
            file_format=FileFormat.PARQUET,
            partition=partition,
            record_count=2,
            file_size_in_bytes=10,
            **data.draw(metrics()),
        )
        applied = []
        for one in listed:
            own = specs[one.partition_spec_id]
            if may_apply(one.data_file, one.data_sequence_number, own, file, number, spec, TYPES):
                applied.append(one)
        vectors = [one for one in applied if one.data_file.is_deletion_vector]
        if len(vectors) > 1:
            event("several vectors")
            with pytest.raises(SpecError, match="DEL003"):
                index.deletes_for(file, number, spec)
            continue
        replaced = FileContent.POSITION_DELETES if vectors else None
        expected = [one for one in applied if one in vectors or one.data_file.content is not replaced]
        event(f"{min(len(expected), 2)} deletes")
        assert list(index.deletes_for(file, number, spec)) == expected


def test_what_is_not_known_may_apply() -> None:
    """Without a sequence number a delete counts as one that applies."""
    spec = PartitionSpec(0)
    file = DataFile(
        content=FileContent.DATA, file_path="a", file_format=FileFormat.PARQUET, record_count=1, file_size_in_bytes=1
    )
    delete = DataFile(
        content=FileContent.EQUALITY_DELETES,
        file_path="d",
        file_format=FileFormat.PARQUET,
        equality_ids=(1,),
        record_count=1,
        file_size_in_bytes=1,
    )
    assert may_apply(delete, None, spec, file, 1, spec, TYPES)
    assert may_apply(delete, 1, spec, file, None, spec, TYPES)
    assert not may_apply(delete, 1, spec, file, 1, spec, TYPES)


BY_VALUE = PartitionSpec(
    0, (PartitionField(source_id=2, field_id=1000, name="v", transform=parse_transform("identity")),)
)
AGAIN, NONE = evolve(BY_VALUE, spec_id=1), PartitionSpec(2)
VOID = PartitionSpec(3, (PartitionField(source_id=2, field_id=1001, name="w", transform=parse_transform("void")),))
SCHEMA = Schema((NestedField(1, "id", True, LONG), NestedField(2, "v", False, DOUBLE)))
ONE, NAN, OTHER_NAN, NULL = ({1000: value} for value in (1.0, *NANS, None))
E, P, V = "equality", "positions", "vector"

# name: kind of delete, its spec, partition and number; spec, partition and number of the data file; does it apply
CASES: dict[str, tuple[str, PartitionSpec, dict[int, Any], int, PartitionSpec, dict[int, Any], int, bool]] = {
    "same": (P, BY_VALUE, ONE, 2, BY_VALUE, ONE, 1, True),
    "other": (P, BY_VALUE, ONE, 2, BY_VALUE, NULL, 1, False),
    "spec": (P, AGAIN, ONE, 2, BY_VALUE, ONE, 1, False),
    "spec, equality": (E, AGAIN, ONE, 2, BY_VALUE, ONE, 1, False),
    "spec, vector": (V, AGAIN, ONE, 2, BY_VALUE, ONE, 1, False),
    "NaN": (E, BY_VALUE, NAN, 2, BY_VALUE, OTHER_NAN, 1, True),
    "NaN, vector": (V, BY_VALUE, NAN, 2, BY_VALUE, OTHER_NAN, 1, True),
    "null": (P, BY_VALUE, NULL, 2, BY_VALUE, NULL, 1, True),
    "same commit": (P, BY_VALUE, ONE, 2, BY_VALUE, ONE, 2, True),
    "same commit, vector": (V, BY_VALUE, ONE, 2, BY_VALUE, ONE, 2, True),
    "same commit, equality": (E, BY_VALUE, ONE, 2, BY_VALUE, ONE, 2, False),
    "older": (V, BY_VALUE, ONE, 1, BY_VALUE, ONE, 2, False),
    "older, equality": (E, NONE, {}, 1, BY_VALUE, ONE, 2, False),
    "global": (E, NONE, {}, 2, BY_VALUE, ONE, 1, True),
    "global, void": (E, VOID, {1001: None}, 2, BY_VALUE, ONE, 1, True),
    "unpartitioned positions": (P, NONE, {}, 2, BY_VALUE, ONE, 1, False),
}

FAULTS = {
    faults.spec_ignored: {"spec", "spec, equality", "spec, vector"},
    faults.partition_ignored: {"other"},
    faults.nan_never_equal: {"NaN", "NaN, vector"},
    faults.null_never_equal: {"null"},
    faults.equality_of_the_same_commit: {"same commit, equality"},
    faults.positions_of_older_data_alone: {"same commit", "same commit, vector"},
    faults.numbers_ignored: {"same commit, equality", "older", "older, equality"},
    faults.no_global_deletes: {"global", "global, void"},
}


def is_planned(case: tuple[Any, ...]) -> bool:
    """Whether the definition of planning plans the delete of a case."""
    kind, delete_spec, delete_partition, delete_number, spec, partition, number, _ = case
    table = Table(schema=SCHEMA, specs=(BY_VALUE, AGAIN, NONE, VOID))
    data = data_file("data", partition=partition)
    more: dict[str, Any] = {"content": FileContent.POSITION_DELETES}
    if kind == E:
        more = {"content": FileContent.EQUALITY_DELETES, "equality_ids": (1,)}
    elif kind == V:
        more |= {
            "file_format": FileFormat.PUFFIN,
            "referenced_data_file": data.file_path,
            "content_offset": 4,
            "content_size_in_bytes": 40,
        }
    table.manifest([added(data, number)], spec)
    table.deletes([added(data_file("delete", partition=delete_partition, **more), delete_number)], delete_spec)
    (task,) = planner.plan(table.metadata, table.snapshot, TRUE, table.read_file)
    return bool(task.deletes)


@pytest.mark.parametrize("name", CASES)
def test_scans_apply_what_the_text_says(name: str) -> None:
    assert is_planned(CASES[name]) is CASES[name][-1]


@pytest.mark.parametrize("fault", FAULTS)
def test_scans_show_a_fault_of_the_rule(fault: faults.Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    fault(monkeypatch)
    assert {name for name, case in CASES.items() if is_planned(case) is not case[-1]} == FAULTS[fault]
