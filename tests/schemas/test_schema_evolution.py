"""Schema evolution: the allowed changes in each version, and what they keep."""

from typing import Any

import attrs
import pytest

from spec_ref.core.errors import SpecError
from spec_ref.core.records import evolve
from spec_ref.core.versions import V1, V2, V3, FormatVersion
from spec_ref.data_types import types as t
from spec_ref.data_types.promotion import is_promotable
from spec_ref.partitioning import evolution as partitioning
from spec_ref.partitioning.evolution import keeps_partition_values
from spec_ref.partitioning.spec import PartitionField
from spec_ref.partitioning.transforms import Transform, parse_transform
from spec_ref.schemas.evolution import (
    AddColumn,
    Change,
    DropColumn,
    MakeOptional,
    MoveColumn,
    PromoteColumn,
    RenameColumn,
    SchemaEvolutionContext,
    SetWriteDefault,
    evolve_schema,
    history_problems,
)
from spec_ref.schemas.reserved_field_ids import MAX_TABLE_FIELD_ID
from spec_ref.schemas.schema import Schema
from spec_ref.sorting import order as sorting
from spec_ref.sorting.order import SortField


def field(id: int, name: str, type_: t.Type, required: bool = False, **more: Any) -> t.NestedField:
    return t.NestedField(id, name, required, type_, more.get("doc"), more.get("initial"), more.get("write"))


POINT = t.StructType((field(5, "x", t.FLOAT), field(6, "y", t.FLOAT)))
SCHEMA = Schema(
    (
        field(1, "id", t.INT, required=True),
        field(2, "day", t.DATE),
        field(3, "price", t.DecimalType(9, 2)),
        field(4, "point", POINT),
        field(7, "tags", t.ListType(8, t.StructType((field(9, "tag", t.STRING),)))),
    ),
    0,
    (1,),
)


@attrs.frozen
class Table:
    """A table whose schema changes: what limits the changes."""

    version: FormatVersion = V3
    last_column_id: int = 9
    partition_fields: tuple[PartitionField, ...] = ()
    old_partition_fields: tuple[PartitionField, ...] = ()
    sort_fields: tuple[SortField, ...] = ()


TABLE = Table()


def evolved(*changes: Change, table: Table = TABLE, schema: Schema = SCHEMA) -> Schema:
    made, _ = evolve_schema(schema, changes, SchemaEvolutionContext(table.version, table.last_column_id), schema_id=1)
    partitioning.check_schema_change(schema, made, table.partition_fields, table.old_partition_fields)
    sorting.check_schema_change(schema, made, table.sort_fields)
    return made


def code(*changes: Change, table: Table = TABLE, schema: Schema = SCHEMA) -> str:
    with pytest.raises(SpecError) as error:
        evolved(*changes, table=table, schema=schema)
    return error.value.violation.requirement


def version(number: FormatVersion) -> Table:
    return evolve(TABLE, version=number)


def sourced(transform: str, source: int = 2) -> Table:
    made = PartitionField(source_id=source, field_id=1000, name="p", transform=parse_transform(transform))
    return evolve(TABLE, partition_fields=(made,))


PROMOTIONS = [
    (t.INT, t.LONG, V1),
    (t.FLOAT, t.DOUBLE, V1),
    (t.DecimalType(9, 2), t.DecimalType(18, 2), V1),
    (t.DATE, t.TIMESTAMP, V3),
    (t.DATE, t.TIMESTAMP_NS, V3),
    (t.UNKNOWN, t.INT, V3),
    (t.UNKNOWN, t.GeometryType(), V3),
]


@pytest.mark.parametrize(("old", "new", "since"), PROMOTIONS)
@pytest.mark.parametrize("now", FormatVersion)
def test_promotions_are_those_of_the_table(old: t.Type, new: t.Type, since: FormatVersion, now: FormatVersion) -> None:
    assert is_promotable(old, new, now) is (now >= since)
    assert not is_promotable(new, old, now)
    assert not is_promotable(old, old, now)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (t.INT, t.STRING),
        (t.INT, t.DOUBLE),
        (t.DATE, t.TIMESTAMPTZ),
        (t.DATE, t.TIMESTAMPTZ_NS),
        (t.TIMESTAMP, t.TIMESTAMP_NS),
        (t.DecimalType(9, 2), t.DecimalType(18, 3)),
        (t.DecimalType(9, 2), t.DecimalType(8, 2)),
        (t.FixedType(4), t.FixedType(8)),
        (t.STRING, t.BINARY),
        (t.LONG, t.TIMESTAMP),
    ],
)
def test_no_other_type_becomes_another(old: t.Type, new: t.Type) -> None:
    assert not is_promotable(old, new, V3)


# Derived: a date d has day ordinal d; as a timestamp it is midnight of that day, so year, month and day are the same,
# while identity gives d against d * 86_400_000_000, and bucket the hashes of those two numbers.
@pytest.mark.parametrize(
    ("transform", "kept"),
    [
        ("identity", False),
        ("bucket[16]", False),
        ("year", True),
        ("month", True),
        ("day", True),
        ("void", True),
        ("zorder", False),
    ],
)
@pytest.mark.parametrize("new", [t.TIMESTAMP, t.TIMESTAMP_NS])
def test_a_date_under_a_transform_is_promoted_only_if_its_values_stay(transform: str, kept: bool, new: t.Type) -> None:
    made: Transform = parse_transform(transform)
    assert keeps_partition_values(made, t.DATE, new) is kept
    change = PromoteColumn("day", new)
    if kept:
        assert evolved(change, table=sourced(transform)).fields[1].type == new
        for days in (-141_428, -1, 0, 20_000):
            units = 86_400_000_000 if new == t.TIMESTAMP else 86_400_000_000_000
            if abs(days * units) < 1 << 63:
                assert made.apply(t.DATE, days) == made.apply(new, days * units)
    else:
        assert code(change, table=sourced(transform)) == "EVO008"


def test_an_int_under_a_bucket_becomes_long() -> None:
    assert evolved(PromoteColumn("id", t.LONG), table=sourced("bucket[16]", 1)).fields[0].type == t.LONG
    assert parse_transform("bucket[16]").apply(t.INT, 34) == parse_transform("bucket[16]").apply(t.LONG, 34)


def test_a_new_column_and_all_inside_it_get_new_ids() -> None:
    nested = t.MapType(1, t.STRING, 2, t.ListType(3, t.StructType((field(4, "a", t.INT),))))
    made, last = evolve_schema(SCHEMA, [AddColumn("m", nested)], SchemaEvolutionContext(V3, 9), schema_id=1)
    ids = [column.id for column in made.columns()]
    assert len(set(ids)) == len(ids)
    assert set(ids) - {column.id for column in SCHEMA.columns()} == {10, 11, 12, 13, 14}
    assert (last, made.schema_id) == (14, 1)
    assert evolved(AddColumn("z", t.INT, parent="point")).find_name("point.z") is not None
    assert evolved(AddColumn("z", t.INT, parent="tags.element")).find_name("tags.element.z") is not None


def test_an_id_is_never_given_twice() -> None:
    made, last = evolve_schema(
        SCHEMA,
        [AddColumn("a", t.INT), DropColumn("a"), AddColumn("a", t.INT)],
        SchemaEvolutionContext(V3, 9),
        schema_id=1,
    )
    assert made.fields[-1].id == last == 11


def test_a_required_column_needs_a_default_and_a_version_that_has_them() -> None:
    assert code(AddColumn("n", t.INT, required=True)) == "EVO015"
    assert code(AddColumn("n", t.INT, required=True), table=version(V2)) == "EVO015"
    assert code(AddColumn("n", t.INT, default=3), table=version(V2)) == "VER004"
    added = evolved(AddColumn("n", t.INT, required=True, default=3)).fields[-1]
    assert (added.initial_default, added.write_default) == (3, 3)


def test_a_required_field_becomes_optional_unless_it_identifies_rows() -> None:
    required = Schema((field(1, "id", t.INT, required=True), field(2, "p", t.STRING, required=True)), 0, (1,))
    made = evolved(MakeOptional("p"), schema=required)
    assert [one.required for one in made.fields] == [True, False]
    assert evolved(MakeOptional("p"), schema=made).fields == made.fields
    assert code(MakeOptional("id"), schema=required) == "IDF003"
    assert code(MakeOptional("tags.element")) == code(MakeOptional("gone")) == "EVO001"


def test_the_write_default_changes_and_the_initial_default_does_not() -> None:
    first = evolved(AddColumn("n", t.INT, required=True, default=3))
    changed = evolved(SetWriteDefault("n", 4), schema=first).fields[-1]
    assert (changed.initial_default, changed.write_default) == (3, 4)
    assert code(SetWriteDefault("n", None), schema=first) == "EVO015"


@pytest.mark.parametrize(
    ("type_", "default", "expected"),
    [
        (t.VARIANT, b"", "DEF008"),
        (t.GeometryType(), b"", "DEF008"),
        (t.UNKNOWN, 1, "DEF008"),
        (POINT, {5: 1.0}, "DEF009"),
    ],
)
def test_defaults_that_a_type_may_not_have(type_: t.Type, default: Any, expected: str) -> None:
    assert code(AddColumn("n", type_, default=default)) == expected


def test_a_struct_defaults_to_an_empty_struct() -> None:
    assert evolved(AddColumn("p", POINT, required=True, default={})).fields[-1].initial_default == {}


def test_a_struct_that_rows_of_before_have_has_a_value_for_each_required_field() -> None:
    bare, filled = (t.StructType((field(1, "x", t.INT, required=True, initial=one),)) for one in (None, 3))
    for inner in (bare, t.StructType((field(1, "s", bare, required=True, initial={}),))):
        for required in (True, False):
            assert code(AddColumn("p", inner, required=required, default={})) == "EVO015"
        assert evolved(AddColumn("p", inner)).fields[-1].type.fields  # type: ignore[union-attr]
    assert evolved(AddColumn("p", filled, default={})).fields[-1].initial_default == {}
    optional = t.StructType((field(1, "s", bare),))
    assert evolved(AddColumn("p", optional, default={})).fields[-1].initial_default == {}


@pytest.mark.parametrize("more", [{"initial": 3}, {"write": 3}])
def test_a_default_inside_a_new_column_needs_a_version_that_has_them(more: dict[str, int]) -> None:
    struct = t.StructType((field(1, "x", t.INT, **more),))
    for type_ in (struct, t.ListType(1, struct)):
        assert code(AddColumn("p", type_), table=version(V2)) == "VER004"
        assert evolved(AddColumn("p", type_)).fields[-1].name == "p"
    wrong = t.StructType((field(1, "x", t.INT, **dict.fromkeys(more, "3")),))
    assert code(AddColumn("p", wrong)) == "TYP009"


def test_ids_of_metadata_columns_are_not_given() -> None:
    table = evolve(TABLE, last_column_id=MAX_TABLE_FIELD_ID - 2)
    pair = t.StructType((field(1, "x", t.INT),))
    assert evolved(AddColumn("p", pair), table=table).highest_field_id() == MAX_TABLE_FIELD_ID
    assert code(AddColumn("p", pair), AddColumn("q", t.INT), table=table) == "RES001"


def test_sources_of_older_specs_are_dropped_but_not_promoted() -> None:
    (old,) = sourced("bucket[8]").partition_fields
    table = evolve(TABLE, old_partition_fields=(old,))
    assert code(PromoteColumn("day", t.TIMESTAMP), table=table) == "EVO008"
    assert evolved(DropColumn("day"), table=table).find(2) is None


def test_a_source_of_the_sort_order_stays() -> None:
    def by(transform: str) -> Table:
        return evolve(TABLE, sort_fields=(SortField(source_id=5, transform=parse_transform(transform)),))

    for name in ("point", "point.x"):
        assert code(DropColumn(name), table=by("identity")) == "PAR004"
        assert evolved(DropColumn(name), table=by("void")).find(5) is None
    assert evolved(DropColumn("point.y"), table=by("identity")).find(6) is None


def test_renaming_and_moving_keep_ids_and_parents() -> None:
    made = evolved(RenameColumn("point.x", "lat"), MoveColumn("id", 2), MoveColumn("point.lat", 1))
    assert [one.id for one in made.fields] == [2, 3, 1, 4, 7]
    assert [column.id for column in made.columns() if column.parents and column.parents[0].id == 4] == [6, 5]
    assert code(RenameColumn("id", "day")) == "TYP002"
    assert code(RenameColumn("tags.element", "e")) == "EVO001"
    assert code(MoveColumn("id", 5)) == "EVO001"


def test_an_identifier_and_a_source_stay() -> None:
    assert code(DropColumn("id")) == "IDF001"
    assert code(DropColumn("day"), table=sourced("identity")) == "PAR004"
    assert evolved(DropColumn("day"), table=sourced("void")).find(2) is None
    assert evolved(DropColumn("point")).find_name("point.x") is None


def test_new_types_need_a_new_table() -> None:
    assert code(AddColumn("v", t.VARIANT), table=version(V2)) == "VER004"
    assert code(AddColumn("v", t.ListType(1, t.TIMESTAMP_NS, element_required=False)), table=version(V2)) == "VER004"
    assert code(PromoteColumn("day", t.TIMESTAMP), table=version(V2)) == "EVO005"


@pytest.mark.parametrize(
    ("name", "new", "expected"),
    [
        ("id", t.DOUBLE, "EVO003"),
        ("id", POINT, "EVO013"),
        ("point", t.LONG, "EVO013"),
        ("day", t.TIMESTAMPTZ, "EVO005"),
        ("day", t.TIMESTAMPTZ_NS, "EVO005"),
        ("day", t.LONG, "EVO003"),
        ("day", t.VARIANT, "EVO003"),
    ],
)
def test_a_promotion_is_refused_by_the_rule_about_its_types(name: str, new: t.Type, expected: str) -> None:
    assert code(PromoteColumn(name, new)) == expected


def test_a_column_is_not_added_to_a_primitive() -> None:
    assert code(AddColumn("x", t.INT, parent="day")) == "EVO013"
    assert code(AddColumn("x", t.INT, parent="tags")) == "EVO001"


def test_a_promoted_default_keeps_its_meaning_or_fails() -> None:
    dated = evolved(AddColumn("d", t.DATE, default=1))
    assert evolved(PromoteColumn("d", t.TIMESTAMP), schema=dated).fields[-1].initial_default == 86_400_000_000
    far = evolved(AddColumn("d", t.DATE, default=200_000))
    assert code(PromoteColumn("d", t.TIMESTAMP_NS), schema=far) == "EVO006"


def problems(*schemas: Schema) -> list[tuple[int, str]]:
    return [(place, problem.violation.requirement) for place, problem in history_problems(schemas, V3)]


@pytest.mark.parametrize(
    ("new", "default", "expected"),
    [
        (t.FLOAT, -0.0, []),
        (t.FLOAT, 0.0, [(1, "DEF003")]),
        (t.DOUBLE, -0.0, []),
        (t.DOUBLE, 0.0, [(1, "DEF003")]),
    ],
)
def test_the_sign_of_zero_is_part_of_an_initial_default(new: t.Type, default: float, expected: list[Any]) -> None:
    first = Schema(fields=(field(1, "f", t.FLOAT, initial=-0.0),), schema_id=0)
    second = Schema(fields=(field(1, "f", new, initial=default),), schema_id=1)
    assert problems(first, second) == expected


def test_a_write_default_of_the_other_zero_is_a_change() -> None:
    first = evolved(AddColumn("f", t.DOUBLE, default=0.0))
    assert evolved(SetWriteDefault("f", -0.0), schema=first) != first


@pytest.mark.parametrize(
    "nested",
    [
        t.StructType((field(2, "a", t.INT),)),
        t.ListType(2, t.INT),
        t.MapType(2, t.STRING, 3, t.INT),
        t.VARIANT,
    ],
    ids=lambda nested: type(nested).__name__,
)
def test_a_change_that_the_text_leaves_open_is_no_problem(nested: t.Type) -> None:
    # B36: "any type" is in a table of primitive types
    unknown, known = (Schema(fields=(field(1, "u", type_),), schema_id=0) for type_ in (t.UNKNOWN, nested))
    assert problems(unknown, known) == problems(known, unknown) == []
    number = Schema(fields=(field(1, "u", t.INT),), schema_id=0)
    assert problems(number, known) == problems(known, number) == [(1, "EVO013")]
    assert [one.violation.requirement for _, one in history_problems((unknown, known), V2)] == ["EVO013"]


def test_a_history_of_evolutions_has_no_problem_in_either_direction() -> None:
    changed = evolved(PromoteColumn("id", t.LONG), RenameColumn("day", "d"), AddColumn("n", t.INT), DropColumn("price"))
    assert problems(SCHEMA, changed) == []
    assert problems(changed, SCHEMA) == []


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        (field(1, "id", t.STRING), "EVO003"),
        (field(1, "id", t.StructType((field(20, "id", t.INT),))), "EVO013"),
        (field(1, "id", t.INT, initial=3), "DEF003"),
        (field(20, "s", t.StructType((field(1, "id", t.INT),))), "EVO012"),
    ],
)
def test_what_no_evolution_does_is_found_in_a_history(changed: t.NestedField, expected: str) -> None:
    assert (1, expected) in problems(SCHEMA, Schema((changed,), 1))


def test_records_are_values() -> None:
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        SCHEMA.schema_id = 3


@pytest.mark.parametrize(
    "changes",
    [
        (AddColumn("point.x", t.INT),),
        (RenameColumn("day", "point.x"),),
        (AddColumn("a.b", t.INT), AddColumn("a", t.StructType((field(0, "b", t.INT),)))),
        (AddColumn("tags.element", t.INT),),
    ],
)
def test_no_change_gives_two_columns_one_full_name(changes: tuple[Change, ...]) -> None:
    assert code(*changes) == "TYP002"


def test_two_columns_with_one_full_name_can_be_renamed_apart_and_not_be_named() -> None:
    shared = Schema((*SCHEMA.fields, field(10, "point.x", t.INT), field(11, "point.x y", t.INT)), 0)
    table = Table(last_column_id=11)
    for change in (RenameColumn("point.x", "x"), DropColumn("point.x"), PromoteColumn("point.x", t.LONG)):
        assert code(change, schema=shared, table=table) == "TYP002"
    assert evolved(RenameColumn("point", "place"), schema=shared, table=table).shared_full_names() == []
    assert evolved(RenameColumn("day", "date"), schema=shared, table=table).shared_full_names() == ["point.x"]
