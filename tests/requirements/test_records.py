"""Records are values: equal ones have one hash, and nothing in them changes."""

import copy
import importlib
import inspect
import pickle
import pkgutil
from collections.abc import Iterator
from typing import Any

import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from immutabledict import immutabledict

import spec_ref
from spec_ref.core.records import EMPTY, field_rules, record
from spec_ref.manifests.data_file import DataFile, FileFormat
from spec_ref.table_metadata import dumps, read_metadata
from spec_ref.table_metadata.metadata import TableMetadata
from tools.metadata_strategies import table_metadata


def classes() -> Iterator[type]:
    for module in pkgutil.walk_packages(spec_ref.__path__, "spec_ref."):
        for cls in vars(importlib.import_module(module.name)).values():
            if inspect.isclass(cls) and attrs.has(cls) and cls.__module__ == module.name:
                yield cls


NO_VALUES = {
    "columnar.encodings.variant.shredding._Dictionary": "the parts of a column while it is read",
    "columnar.scan_planning.planner._Scan": "a scan in progress",
    "encodings.avro.container.Container": "an opened file",
    "manifests.manifest.ManifestHeader": "text of an opened file",
    "columnar.scan_planning.planner._Filter": "caches filters of partition specs",
}
"""Classes that hold a dictionary or a list, and why."""


def filled(cls: type) -> Any:
    """An object of a class, with something that is of the type of each attribute as far as its hash counts."""
    made = object.__new__(cls)
    for field in attrs.fields(cls):
        type_ = str(field.type)
        value: Any = {} if type_.startswith("dict[") else [] if type_.startswith("list[") else 1
        if type_.startswith("Mapping["):
            value = field.converter({}) if field.converter is not None else {}  # type: ignore[misc]
        object.__setattr__(made, field.name, value)
    return made


def full_name(cls: type) -> str:
    return f"{cls.__module__.removeprefix('spec_ref.')}.{cls.__name__}"


@pytest.mark.parametrize(
    "cls", [cls for cls in classes() if cls.__hash__ not in (None, object.__hash__)], ids=full_name
)
def test_what_is_frozen_has_a_hash(cls: type) -> None:
    if full_name(cls) in NO_VALUES and not field_rules(cls):
        with pytest.raises(TypeError, match="unhashable"):
            hash(filled(cls))
    elif full_name(cls) not in NO_VALUES:
        assert hash(filled(cls)) == hash(filled(cls))


def test_records_of_field_tables_have_a_hash() -> None:
    assert [full_name(cls) for cls in classes() if field_rules(cls) and cls.__hash__ is None] == []


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(table_metadata())
def test_equal_tables_have_one_hash(metadata: TableMetadata) -> None:
    again = read_metadata(dumps(metadata))
    same = attrs.evolve(again, schema=None, partition_spec=None)
    assert (same, hash(same)) == (metadata, hash(metadata))
    assert pickle.loads(pickle.dumps(metadata)) == copy.deepcopy(metadata) == metadata


def test_the_mapping_of_a_record_does_not_change() -> None:
    given_ = {1000: "a"}
    file = DataFile(
        file_path="s3://b/f", file_format=FileFormat.AVRO, record_count=1, file_size_in_bytes=1, partition=given_
    )
    given_[1000] = "b"
    assert file.partition == {1000: "a"}
    partition: Any = file.partition
    with pytest.raises(TypeError):
        partition[1000] = "b"
    with pytest.raises(TypeError):
        del partition[1000]
    with pytest.raises(TypeError):
        partition |= {1000: "b"}
    assert [name for name in ("update", "clear", "pop", "popitem", "setdefault") if hasattr(partition, name)] == [
        "update"
    ]
    partition.update({1000: "b"})  # makes a changed copy
    assert file.partition == {1000: "a"}
    assert DataFile(file_path="", file_format=FileFormat.AVRO, record_count=1, file_size_in_bytes=1).partition is EMPTY
    assert type(copy.copy(file.partition)) is immutabledict


@record
class Point:
    x: int
    y: float = attrs.field(eq=abs)
    label: str = attrs.field(default="", eq=False)
    secret: str = attrs.field(default="", repr=False)


@record
class OtherPoint:
    x: int
    y: float


@record
class Alone:
    value: object


@record
class Empty:
    pass


@record
class Special:
    x: int

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 7

    def __repr__(self) -> str:
        return "special"


def test_records_are_compared_by_the_values_that_count() -> None:
    assert Point(1, -2.0, "a") == Point(1, 2.0, "b")
    assert hash(Point(1, -2.0, "a")) == hash(Point(1, 2.0, "b"))
    assert Point(1, 2.0) != Point(2, 2.0)
    assert Point(1, 2.0) != Point(1, 3.0)
    assert Point(1, 2.0, secret="s") != Point(1, 2.0)
    assert Empty() == Empty()
    assert Alone((1,)) == Alone((1,))
    assert Alone(1) != Alone(2)


def test_a_record_equals_no_other_class() -> None:
    assert Point(1, 2.0) != OtherPoint(1, 2.0)
    assert OtherPoint(1, 2.0) != (1, 2.0)
    assert OtherPoint(1, 2.0).__eq__((1, 2.0)) is NotImplemented


def test_a_record_prints_what_it_shows() -> None:
    assert repr(Point(1, 2.0, "a", "s")) == "Point(x=1, y=2.0, label='a')"
    assert repr(Empty()) == "Empty()"


def test_the_methods_that_a_record_defines_are_kept() -> None:
    assert Special(1) == Special(2)
    assert hash(Special(1)) == 7
    assert repr(Special(1)) == "special"


@pytest.mark.parametrize("one", [Point(1, 2.0, "a", "s"), Alone(1), Empty()])
def test_a_pickled_record_is_the_same(one: object) -> None:
    made = pickle.loads(pickle.dumps(one))
    assert made == one
    assert repr(made) == repr(one)
