"""Partition specs: their JSON by version, equivalence, and evolution with the rules of v1 and of v2 and later."""

from typing import Any

import pytest

from spec_ref.core.errors import SpecError
from spec_ref.core.versions import V1, V2, V3, FormatVersion
from spec_ref.data_types import types as t
from spec_ref.json.reading import reader
from spec_ref.json.writing import writer
from spec_ref.partitioning.evolution import (
    AddPartitionField,
    MovePartitionField,
    PartitionChange,
    RemovePartitionField,
    RenamePartitionField,
    SpecEvolutionContext,
    evolve_spec,
)
from spec_ref.partitioning.spec import SPEC, PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import UnknownTransform, Void, parse_transform
from spec_ref.schemas.schema import Schema

SCHEMA = Schema(
    (
        t.NestedField(1, "id", True, t.LONG, None, None, None),
        t.NestedField(4, "ts", False, t.TIMESTAMP, None, None, None),
        t.NestedField(5, "l", False, t.ListType(6, t.LONG), None, None, None),
        t.NestedField(7, "v", False, t.VARIANT, None, None, None),
    )
)


def field(source: int, field_id: int, name: str, transform: str) -> PartitionField:
    return PartitionField(source_id=source, field_id=field_id, name=name, transform=parse_transform(transform))


# Appendix C, Partition Specs: the example of the fields of a spec.
EXAMPLE = {
    "spec-id": 0,
    "fields": [
        {"source-id": 4, "field-id": 1000, "name": "ts_day", "transform": "day"},
        {"source-id": 1, "field-id": 1001, "name": "id_bucket", "transform": "bucket[16]"},
    ],
}
SPEC0 = PartitionSpec(0, (field(4, 1000, "ts_day", "day"), field(1, 1001, "id_bucket", "bucket[16]")))


def history(version: FormatVersion, *specs: PartitionSpec, last: int = 1001) -> SpecEvolutionContext:
    return SpecEvolutionContext(version, SCHEMA, specs or (SPEC0,), last)


def code(*changes: PartitionChange, version: FormatVersion = V2) -> str:
    with pytest.raises(SpecError) as error:
        evolve_spec(SPEC0, changes, history(version))
    return error.value.violation.requirement


@pytest.mark.parametrize("version", FormatVersion)
def test_the_example_of_the_spec_is_read(version: FormatVersion) -> None:  # PAR023
    assert reader(SPEC, version)(EXAMPLE) == SPEC0


@pytest.mark.parametrize("version", FormatVersion)
def test_ids_are_written_in_every_version(version: FormatVersion) -> None:
    """Also in v1, which has no such member: most engines cannot read specs without ids."""
    assert writer(SPEC, version)(SPEC0) == EXAMPLE


def test_v1_counts_ids_that_are_not_there() -> None:
    fields = [{name: value for name, value in one.items() if name != "field-id"} for one in EXAMPLE["fields"]]
    assert reader(SPEC, V1)({**EXAMPLE, "fields": fields}) == SPEC0


def test_v1_keeps_ids_that_its_readers_would_count_otherwise() -> None:
    spec = PartitionSpec(0, (field(1, 1005, "p", "identity"),))
    assert reader(SPEC, V1)(writer(SPEC, V1)(spec)) == spec


def test_unknown_and_multi_argument_transforms_are_kept() -> None:
    json = {"spec-id": 0, "fields": [{"source-ids": [1, 4], "field-id": 1000, "name": "z", "transform": "zorder[3]"}]}
    spec = reader(SPEC, V3)(json)
    assert spec.fields[0].transform == UnknownTransform("zorder[3]")
    assert (spec.fields[0].sources, spec.is_writable) == ((1, 4), False)
    assert writer(SPEC, V3)(spec) == json
    assert spec.partition_type(SCHEMA).fields[0].type == t.UNKNOWN


def test_sources_of_several_columns_need_v3() -> None:
    spec = PartitionSpec(0, (PartitionField(source_ids=(1, 4), field_id=1000, name="z", transform=Void()),))
    with pytest.raises(SpecError, match=r"/source-id: PAR017: .*\(format version 2\)"):
        writer(SPEC, V2)(spec)


def test_a_new_field_gets_an_id_above_all_and_an_old_one_its_own() -> None:
    spec, last = evolve_spec(SPEC0, [RemovePartitionField("ts_day")], history(V2))
    assert (spec.spec_id, [one.field_id for one in spec.fields], last) == (1, [1001], 1001)
    table = history(V2, SPEC0, spec)
    added, last = evolve_spec(spec, [AddPartitionField((4,), parse_transform("hour"), "ts_hour")], table)
    assert ([one.field_id for one in added.fields], last) == ([1001, 1002], 1002)
    again, last = evolve_spec(spec, [AddPartitionField((4,), parse_transform("day"), "ts_day")], table)
    assert ([one.field_id for one in again.fields], last) == ([1001, 1000], 1001)


def test_a_field_that_is_added_again_does_not_get_the_id_of_a_renamed_one() -> None:
    renamed, last = evolve_spec(SPEC0, [RenamePartitionField("ts_day", "d")], history(V2))
    change = AddPartitionField((4,), parse_transform("day"), "ts_day")
    both, last = evolve_spec(renamed, [change], history(V2, SPEC0, renamed, last=last))
    assert [(one.name, one.field_id) for one in both.fields] == [("d", 1000), ("id_bucket", 1001), ("ts_day", 1002)]
    assert last == 1002


@pytest.mark.parametrize("stored", [(1001,), (1001, 1000), (1005, 1001)])
def test_v1_gives_no_id_twice_where_ids_are_stored_that_are_not_places(stored: tuple[int, ...]) -> None:
    fields = (field(1, stored[0], "a", "identity"), field(1, stored[-1], "b", "bucket[4]"))[: len(stored)]
    spec = PartitionSpec(1, fields)
    change = AddPartitionField((4,), parse_transform("day"), "d")
    added, last = evolve_spec(spec, [change], history(V1, SPEC0, spec, last=max(stored)))
    assert [one.field_id for one in added.fields] == [*stored, max(stored) + 1]
    assert last == max(stored) + 1


def test_a_transform_has_one_argument() -> None:
    for sources in ((), (1, 4)):
        assert code(AddPartitionField(sources, parse_transform("bucket[4]"), "b")) == "PAR022"


def test_a_spec_equal_to_an_existing_one_is_that_one() -> None:
    spec, _ = evolve_spec(SPEC0, [RemovePartitionField("ts_day")], history(V2))
    moved, _ = evolve_spec(SPEC0, [MovePartitionField("ts_day", 1)], history(V2))
    back, _ = evolve_spec(moved, [MovePartitionField("ts_day", 0)], history(V2, SPEC0, spec, moved))
    assert back is SPEC0
    assert moved.spec_id == 1


def test_equivalence_asks_for_sources_transform_and_name_in_order() -> None:
    same = PartitionSpec(7, (field(4, 1005, "ts_day", "day"), field(1, 1006, "id_bucket", "bucket[16]")))
    assert SPEC0.is_equivalent_to(same)
    for other in (
        (field(4, 1000, "ts_day", "hour"), SPEC0.fields[1]),
        (field(4, 1000, "other", "day"), SPEC0.fields[1]),
        (field(1, 1000, "ts_day", "day"), SPEC0.fields[1]),
        SPEC0.fields[::-1],
        SPEC0.fields[:1],
    ):
        assert not SPEC0.is_equivalent_to(PartitionSpec(0, other))


def test_v1_makes_a_removed_field_void_and_appends() -> None:
    spec, _ = evolve_spec(SPEC0, [RemovePartitionField("ts_day")], history(V1))
    assert [(one.field_id, str(one.transform)) for one in spec.fields] == [(1000, "void"), (1001, "bucket[16]")]
    change = AddPartitionField((4,), parse_transform("hour"), "ts_hour")
    added, last = evolve_spec(spec, [change], history(V1, SPEC0, spec))
    assert ([one.field_id for one in added.fields], last) == ([1000, 1001, 1002], 1002)
    assert code(MovePartitionField("ts_day", 1), version=V1) == "PAR015"
    gone, _ = evolve_spec(spec, [RemovePartitionField("id_bucket")], history(V1, SPEC0, spec))
    assert gone.is_unpartitioned


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (AddPartitionField((4,), parse_transform("zorder"), "z"), "PAR007"),
        (AddPartitionField((1,), parse_transform("day"), "d"), "TRN012"),
        (AddPartitionField((9,), parse_transform("identity"), "d"), "PAR004"),
        (AddPartitionField((6,), parse_transform("identity"), "d"), "PAR004"),
        (AddPartitionField((5,), parse_transform("void"), "d"), "PAR004"),
        (AddPartitionField((7,), parse_transform("identity"), "d"), "PAR004"),
        (AddPartitionField((1,), parse_transform("identity"), "ts_day"), "PAR002"),
        (RenamePartitionField("ts_day", "id_bucket"), "PAR002"),
        (RenamePartitionField("nothing", "x"), "PAR010"),
        (RemovePartitionField("nothing"), "PAR010"),
        (MovePartitionField("ts_day", 2), "PAR010"),
    ],
)
def test_changes_that_are_not_allowed(change: PartitionChange, expected: str) -> None:
    assert code(change) == expected


def test_a_renamed_field_keeps_its_id() -> None:
    spec, _ = evolve_spec(SPEC0, [RenamePartitionField("ts_day", "d")], history(V3))
    assert [(one.name, one.field_id) for one in spec.fields] == [("d", 1000), ("id_bucket", 1001)]


@pytest.mark.parametrize(("transform", "type_"), [("day", t.DATE), ("identity", t.TIMESTAMP), ("hour", t.INT)])
def test_partition_types_are_those_of_the_transforms(transform: str, type_: t.Type) -> None:
    (made,) = PartitionSpec(0, (field(4, 1000, "p", transform),)).partition_type(SCHEMA).fields
    assert (made.id, made.required, made.type) == (1000, False, type_)


def test_a_field_says_its_sources_once() -> None:
    given: dict[str, Any] = {"field_id": 1, "name": "p", "transform": Void()}
    for sources in ({}, {"source_id": 1, "source_ids": (1, 2)}, {"source_ids": ()}):
        with pytest.raises(SpecError, match="PAR022"):
            PartitionField(**sources, **given)
