"""Manifests that are selected in columns are those that the definition selects, and it refuses the same lists."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any
from unittest import mock

import attrs
import numpy as np
import pytest
from expression_cases import POOLS, predicates, schemas, specs
from hypothesis import event, given, settings
from hypothesis import strategies as st
from planned_tables import LIST, Table, added, data_file, is_same
from test_projection import leaves

from spec_ref.avro_mapping.row_writer import RowWriter
from spec_ref.avro_mapping.rows import record_struct
from spec_ref.avro_mapping.schema import schema_json
from spec_ref.columnar.expressions.metrics_evaluation import matching_files
from spec_ref.columnar.manifest_lists import reader as columnar
from spec_ref.columnar.manifest_lists.reader import list_columns
from spec_ref.columnar.scan_planning.manifest_selection import SummaryStatistics, select_manifests
from spec_ref.columnar.scan_planning.planner import plan
from spec_ref.core.errors import SpecError
from spec_ref.core.records import evolve
from spec_ref.core.versions import V1, V2, V3, FormatVersion
from spec_ref.data_types.types import StructType, Type
from spec_ref.encodings.avro.container import write_container
from spec_ref.encodings.avro.types import from_json
from spec_ref.encodings.avro.values_writer import encoder
from spec_ref.expressions.binding import bind
from spec_ref.expressions.metrics_evaluation import evaluate_summaries
from spec_ref.expressions.predicates import FALSE, And, Comparison, Literal, NamedReference, Operation
from spec_ref.expressions.predicates import Test as UnaryTest
from spec_ref.json import documents
from spec_ref.manifest_lists.manifest_file import FieldSummary, ManifestContent, ManifestFile
from spec_ref.manifest_lists.reader import read_manifest_list
from spec_ref.manifest_lists.writer import write_manifest_list
from spec_ref.partitioning.spec import UNPARTITIONED, PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import Identity, UnknownTransform
from spec_ref.scan_planning import planner
from spec_ref.scan_planning.manifest_selection import ManifestSelection
from spec_ref.schemas.schema import Schema
from spec_ref.single_value.bounds import encode_bound

FLAG = st.booleans()
RARELY = st.integers(0, 29).map(lambda number: number == 0)

# Lists


def _listed_bounds(type_: Type | None) -> st.SearchStrategy[bytes | None]:
    """Bounds of a type, some of them missing; also bytes that may be none of it, and NaN."""
    odd = [b"", b"\0\0\xc0\x7f", b"\xff" * 8, b"\0" * 4, b"\xff" * 3, b"ab" * 12, b"\xc3\xa9" * 9]
    if type_ is None or type_ not in POOLS:
        return st.sampled_from([None, *odd])
    known = [encode_bound(type_, value) for value in POOLS[type_] if value == value]
    return st.sampled_from([None, odd, *[known] * 8]).flatmap(
        lambda pool: st.none() if pool is None else st.sampled_from(pool)
    )


@st.composite
def _summary(draw: Any, type_: Type | None) -> FieldSummary:
    bounds = draw(st.sampled_from([st.none(), _listed_bounds(type_), _listed_bounds(type_)]))
    return FieldSummary(
        contains_null=draw(FLAG),
        contains_nan=draw(st.sampled_from([None, False, True])),
        lower_bound=draw(bounds),
        upper_bound=draw(bounds),
    )


def _partition_types(spec: PartitionSpec, schema: Schema) -> list[Type | None]:
    types = {column.id: column.type for column in schema.columns()}
    return [
        None if isinstance(field.transform, UnknownTransform) else field.transform.result_type(types[field.sources[0]])
        for field in spec.fields
    ]


@st.composite
def _manifest(draw: Any, table: Sequence[PartitionSpec], schema: Schema, number: int) -> ManifestFile:
    spec = draw(st.sampled_from(table))
    types = _partition_types(spec, schema)
    partitions = draw(st.sampled_from([types, types, types, types[1:], [*types, None], None]))
    count = st.sampled_from([None, 0, 1])
    return ManifestFile(
        manifest_path=f"s3://b/é/m{number}.avro" if draw(RARELY) else f"s3://b/t/metadata/m{number}.avro",
        manifest_length=draw(st.integers(0, 1 << 40)),
        partition_spec_id=99 if draw(RARELY) else spec.spec_id,
        content=draw(st.sampled_from([ManifestContent.DATA] * 3 + [ManifestContent.DELETES])),
        sequence_number=draw(st.integers(0, 9)),
        added_snapshot_id=number,
        added_files_count=draw(count),
        existing_files_count=draw(count),
        partitions=None if partitions is None else tuple(draw(_summary(type_)) for type_ in partitions),
        key_metadata=draw(st.sampled_from([None, b"k"])),
        first_row_id=draw(st.sampled_from([None, 7])),
    )


def _inner(type_: Any) -> Any:
    return next(branch for branch in type_ if branch != "null") if isinstance(type_, list) else type_


@attrs.frozen
class Foreign:
    """The schema of another writer, and how a row of ours is written with it."""

    nullable: bool = False
    """Whether every field, and the elements of lists, may be null."""

    longs: bool = False
    """Whether ints are written as longs."""

    extra: bool = False
    """Whether there is a string of another writer in front."""

    def schema(self, json: Any) -> Any:
        for field in json["fields"]:
            type_ = field["type"]
            if self.longs and _inner(type_) == "int":
                type_ = ["null", "long"] if isinstance(type_, list) else "long"
            if self.nullable and not isinstance(type_, list):
                type_ = ["null", type_]
            array = _inner(type_)
            if isinstance(array, dict) and array.get("type") == "array":
                element = self.schema(array["items"])
                changed = {**array, "items": ["null", element] if self.nullable else element}
                type_ = ["null", changed] if isinstance(type_, list) else changed
            field["type"] = type_
        if self.extra and json["name"] == "manifest_file":
            json["fields"].insert(0, {"name": "note", "type": "string", "field-id": 9000})
        return json


def _encoded(
    rows: Sequence[tuple[Any, ...]], version: FormatVersion, foreign: Foreign, block: int, replaced: tuple[str, str]
) -> bytes:
    """Write a list with a foreign schema, with some bytes replaced by as many others."""
    old, new = (text.encode("latin-1") for text in replaced)
    struct = record_struct(ManifestFile, version, StructType(()))
    json = foreign.schema(schema_json(struct, "manifest_file", {508: "r508"}))
    encode = encoder(from_json(json, "MLS002"))
    blocks = []
    for start in range(0, len(rows), block):
        payload = bytearray()
        for number, row in enumerate(rows[start : start + block], start):
            encode((f"note {number}", *row) if foreign.extra else row, payload)
        blocks.append((len(rows[start : start + block]), bytes(payload).replace(old, new) if old else bytes(payload)))
    return write_container({"avro.schema": documents.dumps(json)}, blocks, codec="null", sync=bytes(16))


FAULTS = ("null", "null in a summary", "element", "number", "text", "another text")


@st.composite
def cases(draw: Any) -> Any:
    """A predicate, specs, a version and the bytes of a list, which may be faulty."""
    schema = draw(schemas())
    table = [evolve(draw(specs(schema)), spec_id=number) for number in range(draw(st.integers(1, 3)))]
    version = draw(st.sampled_from([V1, V2, V2, V3, V3]))
    several = [draw(_manifest(table, schema, number)) for number in range(draw(st.integers(1, 5)))]
    manifests = several * draw(st.sampled_from([1, 9, 30]))
    write = RowWriter(ManifestFile, version, StructType(()))
    if version is not V1:  # which requires counts
        manifests = [evolve(one, **{name: getattr(one, name) or 0 for name in _COUNTS}) for one in manifests]
    rows = [write(one) for one in manifests]
    fault = draw(st.sampled_from(FAULTS)) if draw(FLAG) else None
    foreign = Foreign(
        nullable=fault in ("null", "null in a summary", "element") or draw(FLAG),
        longs=fault == "number" or draw(FLAG),
        extra=fault == "another text" or draw(FLAG),
    )
    place = draw(st.integers(0, len(rows) - 1))
    row, replaced = list(rows[place]), ("", "")
    match fault:
        case "null":
            row[draw(st.integers(0, 5))] = None
        case "null in a summary":
            row = [[(None, *value[0][1:]), *value[1:]] if isinstance(value, list) and value else value for value in row]
        case "element":
            row = [[None] if isinstance(value, list) else value for value in row]
        case "number":
            row[draw(st.integers(2, 3))] = draw(st.sampled_from([2, -1, 1 << 31]))
        case "text":
            replaced = ("metadata/m", "metadata/\xff")
        case "another text":
            replaced = ("note", "not\xff")
    rows[place] = tuple(row)
    data = _encoded(rows, version, foreign, draw(st.sampled_from([1, 3, 500])), replaced)
    predicate = FALSE if draw(st.integers(0, 5)) == 0 else bind(draw(predicates(schema)), schema)
    return predicate, {spec.spec_id: spec for spec in table}, version, data, draw(FLAG)


_COUNTS = (
    "added_files_count",
    "existing_files_count",
    "deleted_files_count",
    "added_rows_count",
    "existing_rows_count",
    "deleted_rows_count",
)


@pytest.fixture(scope="module", autouse=True)
def in_columns() -> Iterator[None]:
    """Read short lists in columns, too."""
    with mock.patch.object(columnar, "FEW_MANIFESTS", 0):
        yield


@settings(max_examples=200, deadline=None)
@given(cases())
def test_manifests_are_selected_as_the_definition_selects_them(case: Any) -> None:
    predicate, table, version, data, tolerate = case
    batches = list_columns(data, format_version=version)
    try:
        listed = read_manifest_list(data, format_version=version)
    except SpecError:
        event("a list that is refused")
        assert batches is None
        return
    assert batches is not None
    assert [one for batch in batches for one in batch.manifests(np.arange(len(batch)))] == list(listed)
    for content in ManifestContent:
        selection = ManifestSelection(predicate, table, version, tolerate_truncated_times=tolerate)
        try:
            expected = list(selection.select(listed, content, None))
        except SpecError as error:
            event(f"refused: {error.violation.requirement}")
            with pytest.raises(SpecError):
                _selected(batches, content, predicate, table, version, tolerate=tolerate)
            continue
        event("all are selected" if len(expected) == len(listed) else "some are left out")
        assert _selected(batches, content, predicate, table, version, tolerate=tolerate) == expected


def _selected(batches: Any, content: Any, predicate: Any, table: Any, version: Any, *, tolerate: bool) -> list[Any]:
    return [
        manifest
        for batch in batches
        for manifest in select_manifests(batch, content, predicate, table, version, tolerate_truncated_times=tolerate)
    ]


@pytest.mark.parametrize("type_", POOLS, ids=str)
def test_every_leaf_over_all_summaries(type_: Type) -> None:
    known = [encode_bound(type_, value) for value in POOLS[type_] if value == value]
    bounds = list(itertools.product([None, known[0], known[-1]], repeat=2))
    summaries = [
        FieldSummary(contains_null=null, contains_nan=nan, lower_bound=lower, upper_bound=upper)
        for null, nan, (lower, upper) in itertools.product((False, True), (None, False, True), bounds)
    ]
    write = RowWriter(ManifestFile, V3, StructType(()))
    rows = [write(evolve(LISTED, partitions=(summary,))) for summary in summaries]
    batches = list_columns(_encoded(rows, V3, Foreign(), 500, ("", "")), format_version=V3)
    assert batches is not None
    (columns,) = batches
    spec = PartitionSpec(0, (PartitionField(source_id=1, field_id=1, name="p", transform=Identity()),))
    statistics = SummaryStatistics(columns, spec, {1: type_})
    for leaf in leaves(type_):
        expected = [place for place, one in enumerate(summaries) if evaluate_summaries(leaf, [one], [1]).might_match]
        assert matching_files(leaf, statistics, np.arange(len(summaries))).tolist() == expected, leaf


@pytest.mark.parametrize("fault", [("x33", "x\xff3"), ("note 33", "note \xff3")])
def test_text_that_is_not_utf8_is_left_to_the_definition_which_refuses_it(fault: tuple[str, str]) -> None:
    write = RowWriter(ManifestFile, V3, StructType(()))
    rows = [write(evolve(LISTED, manifest_path=f"s3://b/x{number}.avro")) for number in range(40)]
    sound, damaged = (_encoded(rows, V3, Foreign(extra=True), 500, replaced) for replaced in (("", ""), fault))
    assert list_columns(sound, format_version=V3) is not None
    assert list_columns(damaged, format_version=V3) is None
    with pytest.raises(SpecError):
        read_manifest_list(damaged, format_version=V3)


@pytest.mark.parametrize("partitions", [None, ()])
def test_a_filter_that_nothing_matches_leaves_out_manifests_with_summaries_only(partitions: tuple[()] | None) -> None:
    data = write_manifest_list([evolve(LISTED, partitions=partitions)] * 30, V3)
    batches, table = list_columns(data), {0: UNPARTITIONED}
    selection = ManifestSelection(FALSE, table, V3)
    expected = list(selection.select(read_manifest_list(data), ManifestContent.DATA, None))
    assert len(expected) == (30 if partitions is None else 0)
    assert _selected(batches, ManifestContent.DATA, FALSE, table, V3, tolerate=False) == expected


LISTED = ManifestFile(
    manifest_path="s3://b/m.avro",
    manifest_length=1,
    partition_spec_id=0,
    added_snapshot_id=1,
    added_files_count=1,
    existing_files_count=0,
    deleted_files_count=0,
    added_rows_count=1,
    existing_rows_count=0,
    deleted_rows_count=0,
)

# Plans

SPEC = PartitionSpec(0, (PartitionField(source_id=1, field_id=1000, name="id", transform=Identity()),))
RANGE = And(
    Comparison(Operation.GT_EQ, NamedReference("id"), Literal(20)),
    Comparison(Operation.LT, NamedReference("id"), Literal(23)),
)


def _table(manifests: int = 40) -> Table:
    table = Table(specs=(SPEC,))
    for number in range(manifests):
        table.manifest([added(data_file(f"f{number}", partition={1000: number}))], SPEC)
    return table


def test_a_long_list_is_read_once_and_only_selected_manifests_are() -> None:
    table, read = _table(), []

    def read_file(path: str) -> bytes:
        read.append(path)
        return table.read_file(path)

    tasks = list(plan(table.metadata, table.snapshot, RANGE, read_file))
    assert [task.data_file.partition for task in tasks] == [{1000: 20}, {1000: 21}, {1000: 22}]
    assert read == [LIST, *(f"s3://bucket/t/metadata/m{number}.avro" for number in (20, 21, 22))]


@pytest.mark.parametrize("predicate", [RANGE, UnaryTest(Operation.IS_NULL, NamedReference("id"))])
def test_a_long_list_that_is_refused_is_read_once_and_the_error_has_the_place_of_the_definition(predicate: Any) -> None:
    table, read = _table(), []
    table.listed[33] = evolve(table.listed[33], partitions=(FieldSummary(contains_null=False, lower_bound=b"123"),))
    snapshot = table.snapshot

    def read_file(path: str) -> bytes:
        read.append(path)
        return table.read_file(path)

    found = []
    for way in (planner.plan, plan):
        read.clear()
        with pytest.raises(SpecError) as error:
            list(way(table.metadata, snapshot, predicate, read_file))
        assert read == [LIST]
        found.append(error.value.violation)
    assert is_same(*found)
    assert (found[0].file, found[0].path.split("/")[1]) == (LIST, "33")


@pytest.mark.parametrize("cut", [1, 20, 100])
def test_a_list_that_is_cut_off_is_left_to_the_definition(cut: int) -> None:
    data = write_manifest_list(_table().listed, V2)
    assert list_columns(data) is not None
    assert list_columns(data[:-cut]) is None
