"""The kernel over the entries of manifests says of deletes that name their data file what `may_apply` says."""

from __future__ import annotations

import struct
from decimal import Decimal
from itertools import product
from typing import Any

import numpy as np
from hypothesis import event, example, given, settings
from hypothesis import strategies as st
from planned_tables import added, data_file

from spec_ref.columnar.manifests.entry_columns import ManifestColumns, column_batches
from spec_ref.columnar.manifests.nullable_arrays import Nullable
from spec_ref.columnar.scan_planning.delete_scope import ScopeColumns, partition_numbers, position_mismatches
from spec_ref.core.records import evolve
from spec_ref.core.versions import V3
from spec_ref.data_types.types import DATE, DOUBLE, INT, LONG, STRING, DecimalType, NestedField, StructType
from spec_ref.manifest_lists.manifest_file import ManifestContent
from spec_ref.manifests import DataFile, FileContent, FileFormat
from spec_ref.manifests.reader import read_manifest
from spec_ref.manifests.writer import write_manifest
from spec_ref.partitioning.spec import PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import parse_transform
from spec_ref.scan_planning.delete_scope import Mismatch, may_apply, mismatches, partition_key
from spec_ref.schemas.schema import Schema

NANS = [struct.unpack(">d", bits)[0] for bits in (b"\x7f\xf8" + bytes(6), b"\xff\xf8" + bytes(5) + b"\x01")]
COLUMNS = (LONG, DOUBLE, STRING, DecimalType(9, 1), INT, DATE)
VALUES: dict[int, tuple[Any, ...]] = {
    1: (None, 0, -1, 1),
    2: (None, 0.0, -0.0, *NANS),
    3: (None, "", "a"),
    4: (None, Decimal("1.0"), Decimal("0.0")),
    5: (None, 0, -(1 << 31), (1 << 31) - 1),
    6: (None, 0, -1, 1 << 20),
}
SCHEMA = Schema(tuple(NestedField(number, f"c{number}", False, type_) for number, type_ in enumerate(COLUMNS, 1)))


def as_spec(spec_id: int, *sources: int, transform: str = "identity") -> PartitionSpec:
    made = [
        PartitionField(
            source_id=source, field_id=1000 + source, name=f"p{source}", transform=parse_transform(transform)
        )
        for source in sources
    ]
    return PartitionSpec(spec_id, tuple(made))


SPECS = [
    as_spec(0),
    as_spec(1, 1),
    as_spec(2, 1),
    as_spec(3, 2, 4),
    as_spec(4, 3),
    as_spec(5, 1, transform="void"),
    as_spec(6, 5, 6),
]


def manifest_columns(file: DataFile, spec: PartitionSpec, *, leaves_out_nulls: bool) -> ManifestColumns:
    """The columns of a manifest that lists one file; its tuples may lack the fields that are null."""
    content = ManifestContent.DATA if file.content is FileContent.DATA else ManifestContent.DELETES
    stored = spec.partition_type(SCHEMA)
    if leaves_out_nulls:
        stored = StructType(tuple(field for field in stored.fields if file.partition.get(field.id) is not None))
        file = evolve(file, partition={field.id: file.partition[field.id] for field in stored.fields})
    data = write_manifest([added(file, 1)], spec, SCHEMA, V3, content, partition=stored)
    (columns,) = column_batches(read_manifest(data, specs={spec.spec_id: spec}))
    return columns


@st.composite
def files(draw: Any) -> tuple[PartitionSpec, dict[int, Any], bool, int | None]:
    """A spec, partition values, whether the manifest leaves out nulls, and a sequence number."""
    spec = draw(st.sampled_from(SPECS))
    values = {
        field.field_id: None if spec.is_unpartitioned else draw(st.sampled_from(VALUES[field.sources[0]]))
        for field in spec.fields
    }
    return spec, values, draw(st.booleans()), draw(st.none() | st.integers(0, 3))


@settings(max_examples=150, deadline=None)
@example([(SPECS[1], {1001: None}, True, 1), (SPECS[1], {1001: None}, False, 1)])
@example([(SPECS[3], {1002: NANS[0], 1004: None}, True, 1), (SPECS[3], {1002: NANS[1], 1004: None}, False, 1)])
@given(st.lists(files(), min_size=2, max_size=6))
def test_the_kernel_says_what_the_rule_says(drawn: list[Any]) -> None:
    known = [scope(*one) for one in drawn]
    places = list(product(range(len(drawn)), repeat=2))
    found = position_mismatches(
        joined([known[delete] for delete, _ in places]), joined([known[data] for _, data in places])
    )
    for number, (delete_place, data_place) in enumerate(places):
        (delete_spec, delete_values, _, delete_number), (spec, values, _, data_number) = (
            drawn[delete_place],
            drawn[data_place],
        )
        data = data_file("a", partition=values)
        vector = evolve(
            data,
            content=FileContent.POSITION_DELETES,
            file_format=FileFormat.PUFFIN,
            partition=delete_values,
            referenced_data_file=data.file_path,
            content_offset=4,
            content_size_in_bytes=40,
        )
        pair = (vector, delete_number, delete_spec, data, data_number, spec, {})
        wanted = set(mismatches(*pair))  # type: ignore[arg-type]
        event(f"{len(wanted)} reasons")
        assert {reason for reason in Mismatch if reason in found and found[reason][number]} == wanted
        assert may_apply(*pair) is not bool(wanted)  # type: ignore[arg-type]


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(SPECS), st.data(), st.sampled_from([1, 30]))
def test_partitions_of_one_manifest_have_the_numbers_of_their_keys(
    spec: PartitionSpec, data: st.DataObject, repetitions: int
) -> None:
    ids = {field.field_id: VALUES[field.sources[0]] for field in spec.fields if not spec.is_unpartitioned}
    drawn = data.draw(
        st.lists(st.fixed_dictionaries({id_: st.sampled_from(own) for id_, own in ids.items()}), min_size=1, max_size=6)
    )
    partitions = [{**dict.fromkeys((field.field_id for field in spec.fields), None), **one} for one in drawn]
    partitions *= repetitions
    entries = [added(data_file(f"d{place}", partition=one), 1) for place, one in enumerate(partitions)]
    manifest = read_manifest(write_manifest(entries, spec, SCHEMA, V3), specs={spec.spec_id: spec})
    numbers = [number for columns in column_batches(manifest) for number in partition_numbers(columns).tolist()]
    by_key: dict[Any, set[int]] = {}
    for entry, number in zip(entries, numbers, strict=True):
        by_key.setdefault(partition_key(entry.data_file, spec), set()).add(number)
    assert all(len(own) == 1 for own in by_key.values())
    assert len(set.union(*by_key.values())) == len(by_key)


def scope(
    spec: PartitionSpec, values: dict[int, Any], leaves_out_nulls: bool, number: int | None
) -> tuple[int, int | None]:
    """The number of a partition, and the sequence number."""
    columns = manifest_columns(data_file("a", partition=values), spec, leaves_out_nulls=leaves_out_nulls)
    return int(partition_numbers(columns)[0]), number


def joined(known: list[tuple[int, int | None]]) -> ScopeColumns:
    partitions, numbers = zip(*known, strict=True)
    valid = np.array([number is not None for number in numbers])
    return ScopeColumns(Nullable(np.array([number or 0 for number in numbers], np.int64), valid), np.array(partitions))


def test_a_field_that_is_not_stored_is_null() -> None:
    """The tuples of an imported manifest may lack a field; its partition is that of null."""
    file = data_file("a", partition={1001: None})
    left_out, stored = (manifest_columns(file, SPECS[1], leaves_out_nulls=out) for out in (True, False))
    keys = {
        partition_key(entry.data_file, SPECS[1]) for one in (left_out, stored) for entry in one.entries(np.arange(1))
    }
    assert len(keys) == 1
    assert partition_numbers(left_out).tolist() == partition_numbers(stored).tolist()
