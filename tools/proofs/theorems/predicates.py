"""The shared part of the theorems about planning: types, transforms, values, and predicates of every form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from spec_ref.core.calendar import UNITS_PER_DAY
from spec_ref.data_types.types import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    STRING,
    TIME,
    TIMESTAMP,
    TIMESTAMP_NS,
    TIMESTAMPTZ,
    TIMESTAMPTZ_NS,
    Type,
    kind,
)
from spec_ref.expressions.bound import BoundComparison, BoundReference, BoundSetTest, BoundTest, BoundTransform
from spec_ref.expressions.predicates import Operation as _O  # noqa: N814
from spec_ref.partitioning.spec import PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import Bucket, Day, Hour, Identity, Month, Transform, Truncate, Void, Year
from tools.proofs.theorem import DECIMAL, World

INSTANTS: tuple[Type, ...] = (DATE, TIMESTAMP, TIMESTAMPTZ, TIMESTAMP_NS, TIMESTAMPTZ_NS)
TEXTS: tuple[Type, ...] = (STRING, BINARY)
TYPES: tuple[Any, ...] = (INT, LONG, DECIMAL, *INSTANTS, TIME, BOOLEAN, *TEXTS, FLOAT, DOUBLE)

LONGEST = 2
"""The maximum length of symbolic strings and bytes: a width may be below, equal to or above it."""

COLUMN, FIELD = 1, 1000
TRANSFORMS = ("identity", "bucket", "truncate", "year", "month", "day", "hour", "void")

ORDERED = (_O.LT, _O.LT_EQ, _O.GT, _O.GT_EQ, _O.EQ, _O.NOT_EQ)
TESTS = (_O.IS_NULL, _O.NOT_NULL)
NAN_TESTS = (_O.IS_NAN, _O.NOT_NAN)
PREFIXES = (_O.STARTS_WITH, _O.NOT_STARTS_WITH)
SETS = (_O.IN, _O.NOT_IN)


def operations(type_: Any) -> tuple[_O, ...]:
    """Return the operations of predicates on a column of a type."""
    found = (*ORDERED, *SETS, *TESTS)
    if type_ in (FLOAT, DOUBLE):
        found += NAN_TESTS
    return found + PREFIXES if type_ == STRING else found


def sources(transform: str) -> tuple[Any, ...]:
    """Return the types that a transform takes."""
    accepted = {
        "identity": TYPES,
        "void": (INT, STRING),
        "bucket": tuple(one for one in TYPES if one not in (BOOLEAN, FLOAT, DOUBLE)),
        "truncate": (INT, LONG, DECIMAL, *TEXTS),
        "year": INSTANTS,
        "month": INSTANTS,
        "day": INSTANTS,
        "hour": INSTANTS[1:],
    }
    return accepted[transform]


def partitioned() -> Iterator[dict[str, Any]]:
    """Yield every transform with every type that it takes, and every operation on the type."""
    for transform in TRANSFORMS:
        for type_ in sources(transform):
            for operation in operations(type_):
                yield {"transform": transform, "type_": type_, "operation": operation}


def bit_count(type_: Type) -> int:
    """Return the number of bits of an integer or instant."""
    return 32 if kind(type_) in ("int", "date") else 64


def value(world: World, name: str, type_: Any, lengths: tuple[int, ...] = tuple(range(LONGEST + 1))) -> Any:
    """Return an arbitrary value of the type, other than null; a string or binary has one of some lengths."""
    match kind(type_):
        case "unknown":
            return None
        case "boolean":
            return world.choose(name, False, True)  # noqa: FBT003
        case "decimal":
            return world.decimal(name, type_.precision, type_.scale)
        case "string":
            return world.text(name, world.choose(f"{name} length", *lengths))
        case "binary":
            return world.binary(name, world.choose(f"{name} length", *lengths))
        case "float" | "double":
            return world.double(name)
        case "time":
            return world.int(name, 0, UNITS_PER_DAY["timestamp"] - 1)
        case _:
            half = 1 << bit_count(type_) - 1
            return world.int(name, -half, half - 1)


def nullable(world: World, name: str, type_: Type, lengths: tuple[int, ...] = tuple(range(LONGEST + 1))) -> Any:
    """Return an arbitrary value of the type, or null."""
    return None if world.choose(f"{name} is null", True, False) else value(world, name, type_, lengths)  # noqa: FBT003


def constant(world: World, name: str, type_: Type) -> Any:
    """Return an arbitrary constant of a bound predicate: a value that is not NaN."""
    found = value(world, name, type_)
    if type_ in (FLOAT, DOUBLE):
        world.assume(found == found)
    return found


def leaf(world: World, operation: _O, type_: Type, term: Any = None) -> Any:
    """Return a predicate of one column, with any constants."""
    term = BoundReference((COLUMN,), ("x",), type_) if term is None else term
    if operation in (*TESTS, *NAN_TESTS):
        return BoundTest(operation, term)
    if operation in SETS:
        return BoundSetTest(operation, term, tuple(constant(world, f"constant {place}", term.type) for place in (1, 2)))
    return BoundComparison(operation, term, constant(world, "constant", term.type))


def transform_named(world: World, name: str, parameter_name: str = "parameter") -> Transform:
    """Return a transform, with any parameter."""
    plain = {"identity": Identity, "year": Year, "month": Month, "day": Day, "hour": Hour, "void": Void}
    if name in plain:
        return plain[name]()
    parameter = world.int(parameter_name, 1, (1 << 31) - 1)
    return Bucket(parameter) if name == "bucket" else Truncate(parameter)


def single_field_spec(transform: Transform) -> PartitionSpec:
    """Return the spec with one field of the column."""
    return PartitionSpec(0, (PartitionField(source_id=COLUMN, field_id=FIELD, name="p", transform=transform),))


OTHER, OTHER_TYPE = COLUMN + 1, DATE
"""A column that no predicate uses, and its type."""


def schema_json(type_: Type) -> dict[str, Any]:
    """Return the schema of the column and of the other one, in the vectors' form."""
    columns = ((COLUMN, "x", type_), (OTHER, "y", OTHER_TYPE))
    fields = [{"id": number, "name": name, "required": False, "type": str(one)} for number, name, one in columns]
    return {"type": "struct", "schema-id": 0, "fields": fields}


def spec_json(spec: PartitionSpec) -> dict[str, Any]:
    """Return a spec, in the vectors' form."""
    fields = [
        {"source-id": one.sources[0], "field-id": one.field_id, "name": one.name, "transform": str(one.transform)}
        for one in spec.fields
    ]
    return {"spec-id": 0, "fields": fields}


def partition_json(type_: Type, spec: PartitionSpec, partition: Mapping[int, Any]) -> dict[str, Any]:
    """Return a partition tuple of a table with the column, in the vectors' form."""
    types = {
        one.field_id: one.transform.result_type(type_ if one.sources == (COLUMN,) else OTHER_TYPE)
        for one in spec.fields
    }
    return {str(field): value_json(types[field], one) for field, one in partition.items()}


def value_json(type_: Type, one: Any) -> Any:
    """Return a value, in the vectors' form."""
    from spec_ref.single_value.json_value import to_json

    return None if one is None else to_json(type_, one)


def predicate_json(predicate: Any) -> Mapping[str, Any]:
    """Return a predicate of the column, in the vectors' form."""
    term: Any = "x"
    if isinstance(predicate.term, BoundTransform):
        term = {"type": "transform", "transform": str(predicate.term.transform), "term": term}
    made: dict[str, Any] = {"type": predicate.operation.value, "term": term}
    if isinstance(predicate, BoundComparison):
        made["value"] = value_json(predicate.term.type, predicate.value)
    if isinstance(predicate, BoundSetTest):
        made["values"] = [value_json(predicate.term.type, one) for one in predicate.values]
    return made
