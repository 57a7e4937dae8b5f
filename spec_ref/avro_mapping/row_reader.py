"""Make records of the spec from rows of Avro files, by their field rules.

The rows may be of any writer: fields are found by id, whatever names, optionality and order the schema has.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Iterable, Mapping
from typing import Any

import attrs
from immutabledict import immutabledict

from spec_ref.avro_mapping.rows import EnumAsInt, EnumAsString, NeverWritten, PartitionTuple, RecordStruct
from spec_ref.avro_mapping.schema import Convert
from spec_ref.avro_mapping.stored_types import split_optional, value_reader
from spec_ref.core.errors import Description, SpecError, error_path, spec_error
from spec_ref.core.records import field_rules, freeze
from spec_ref.core.versions import OMITTED, REQUIRED, FieldRule, FormatVersion
from spec_ref.data_types.types import INT, LONG, ListType, MapType, StructType, Type
from spec_ref.encodings.avro.types import NULL, Array, AvroType, Fixed, Primitive, Record


@attrs.frozen
class ReadField:
    """A field of the file that stores an attribute."""

    attribute: str
    rule: FieldRule
    place: int
    """Its index in the file's record."""

    nullable: bool
    required: bool
    """Whether null is refused, as the version's readers require the field."""

    convert: Convert | None


class RowReader:
    """Makes records from rows that were written with any schema, by field id."""

    def __init__(
        self,
        cls: type,
        record: Record,
        version: FormatVersion,
        partition_ids: tuple[int, ...] | None = None,
    ) -> None:
        """Resolve the record's fields in the schema of a file.

        Args:
            cls: the record class.
            record: its Avro record in the schema of the file.
            version: the format version of the file.
            partition_ids: the ids of the fields of the partition spec, for files of v1 that do not store them.

        Raises:
            SpecError: AVR013 if no field has an id; the code of a field that the version's readers require and the file
                does not have, or whose type is wrong.
        """
        self.cls = cls
        self.record = record
        self.version = version
        self.partition_ids = partition_ids
        places = record.by_id()
        if not places and record.fields:
            raise spec_error(
                "AVR013",
                "the Avro schema has no field ids",
                found=[field.name for field in record.fields],
                expected="ids, as fields are found by id",
            )
        fields: list[ReadField] = []
        self.missing: dict[str, Any] = {}
        for attribute, rule in field_rules(cls).items():
            place = places.get(rule.id) if rule.id is not None else None
            if place is None or rule.reader_presence(version) is OMITTED:
                self._refuse_if_required(attribute, rule)
                continue
            field = record.fields[place]
            with error_path(f"/{field.name}"):
                inner, required = split_optional(field.type)
                if inner == NULL:
                    self._refuse_if_required(attribute, rule)
                    continue
                needed = rule.reader_presence(version) is REQUIRED
                convert = self._reader(rule, inner)
                fields.append(ReadField(attribute, rule, place, not required, needed, convert))
        self.fields = tuple(fields)

    def __reduce__(self) -> tuple[object, ...]:
        return _shared_reader, (self.cls, self.record, self.version, self.partition_ids)

    def _refuse_if_required(self, attribute: str, rule: FieldRule) -> None:
        if rule.reader_presence(self.version) is REQUIRED:
            raise spec_error(
                rule.requirement,
                f"the column {rule.name} is missing",
                expected=f"a field with id {rule.id}",
                aspect="column-missing",
            )
        self.missing[attribute] = rule.missing

    def __call__(self, row: tuple[Any, ...]) -> Any:
        """Make the record of a row.

        Args:
            row: the values of the file's record, in its order.

        Returns:
            The record.

        Raises:
            SpecError: the code of a field whose value is required but null, or is not one of the allowed values.
        """
        values = dict(self.missing)
        for field in self.fields:
            value = row[field.place]
            if value is None:
                if field.required:
                    name = field.rule.name
                    raise spec_error(
                        field.rule.requirement, f"{name} is null", expected=f"a {name}", path=f"/{name}", aspect="null"
                    )
                values[field.attribute] = field.rule.missing
            elif field.convert is None:
                values[field.attribute] = value
            else:
                try:
                    values[field.attribute] = field.convert(value)
                except SpecError:
                    with error_path(f"/{field.rule.name}"):
                        raise
        return self.cls(**values)

    def _reader(self, rule: FieldRule, type_: AvroType) -> Convert | None:
        wire = rule.type.wire if isinstance(rule.type, NeverWritten) else rule.type
        match wire:
            case EnumAsInt(choices):
                _expect(rule, type_, "int", "long")
                return _choice({choice.value: choice for choice in choices}, rule)
            case EnumAsString(choices):
                _expect(rule, type_, "string")
                return _name(choices, rule)
            case RecordStruct(cls, element_id):
                record = (
                    split_optional(type_.items)[0] if element_id is not None and isinstance(type_, Array) else type_
                )
                if not isinstance(record, Record) or (element_id is not None) != isinstance(type_, Array):
                    raise _wrong_type_error(rule, type_, "a record" if element_id is None else "an array of records")
                row = RowReader(cls, record, self.version, self.partition_ids)
                return row if element_id is None else _rows(row)
            case PartitionTuple():
                if not isinstance(type_, Record):
                    raise _wrong_type_error(rule, type_, "a record")
                read = value_reader(partition_record(type_, self.partition_ids), StructType(()))
                return lambda values: freeze(read(values))  # type: ignore[misc]  # a struct always has a reader
            case MapType(key_id, key, value_id, value):
                return _map_reader(rule, type_, (key_id, key), (value_id, value))
            case ListType(_, element):
                if not isinstance(type_, Array):
                    raise _wrong_type_error(rule, type_, "an array")
                inner, required = split_optional(type_.items)
                check = _primitive_reader(rule, inner, element)
                return _list(rule, check, required=required)
            case _:
                return _primitive_reader(rule, type_, wire)


def _rows(row: RowReader) -> Convert:
    def read(rows: list[Any]) -> tuple[Any, ...]:
        made = []
        for place, one in enumerate(rows):
            with error_path(f"/{place}"):
                if one is None:
                    raise spec_error("MLS016", "an element is null", aspect="null-inside")
                made.append(row(one))
        return tuple(made)

    return read


def partition_record(record: Record, ids: tuple[int, ...] | None) -> Record:
    """Give every field of the record of partition values an id; files of v1 may have none and are read by position.

    Args:
        record: the Avro record of the partition values.
        ids: the ids of the fields of the partition spec; None if they are not known.

    Returns:
        The record with ids.

    Raises:
        SpecError: AVR013 if a field has no id and the ids of the spec do not supply them.
    """
    if all(field.id is not None for field in record.fields):
        return record
    if ids is None or len(ids) != len(record.fields) or any(field.id is not None for field in record.fields):
        raise spec_error(
            "AVR013",
            "a partition field has no field-id",
            found=[field.name for field in record.fields],
            expected="the ids of the partition fields",
        )
    fields = (attrs.evolve(field, id=known) for field, known in zip(record.fields, ids, strict=True))
    return Record(record.name, tuple(fields))


@functools.lru_cache(maxsize=32)
def _shared_reader(
    cls: type, record: Record, version: FormatVersion, partition_ids: tuple[int, ...] | None
) -> RowReader:
    """Make the reader of a pickle, once for the many pickles that have the same one."""
    return RowReader(cls, record, version, partition_ids)


def _wrong_type_error(rule: FieldRule, type_: AvroType, expected: str) -> SpecError:
    found = type_.name if isinstance(type_, Primitive) else type(type_).__name__.lower()
    return spec_error(
        rule.requirement,
        f"{rule.name} has the wrong type",
        found=Description(found),
        expected=expected,
        aspect="wrong-type",
    )


def _expect(rule: FieldRule, type_: AvroType, *names: str) -> None:
    if not isinstance(type_, Primitive) or type_.name not in names:
        raise _wrong_type_error(rule, type_, " or ".join(names))


_BITS = {INT: 31, LONG: 63}


def _primitive_reader(rule: FieldRule, type_: AvroType, expected: Type) -> Convert | None:
    """Read a value of a primitive type. An int is read as a long too, and a long as an int if it is in range."""
    if expected in _BITS:
        _expect(rule, type_, "int", "long")
        return _in_range(rule) if expected == INT and isinstance(type_, Primitive) and type_.name == "long" else None
    if isinstance(type_, Fixed) and str(expected) == "binary":
        return None
    _expect(rule, type_, {"binary": "bytes"}.get(str(expected), str(expected)))
    return None


def _in_range(rule: FieldRule) -> Convert:
    def read(value: int) -> int:
        if not -(1 << 31) <= value < 1 << 31:
            raise spec_error(
                rule.requirement, "the value does not fit an int", found=value, expected="32 bits", aspect="wrong-type"
            )
        return value

    return read


def _unknown_value_error(rule: FieldRule, found: object, known: Iterable[str]) -> SpecError:
    message = f"{rule.name} has an unknown value"
    return spec_error(rule.requirement, message, found=found, expected=", ".join(known), aspect="unknown-value")


def _choice(choices: Mapping[int, enum.IntEnum], rule: FieldRule) -> Convert:
    def read(value: int) -> enum.IntEnum:
        found = choices.get(value)
        if found is None:
            raise _unknown_value_error(rule, value, (f"{choice.value} {choice.name}" for choice in choices.values()))
        return found

    return read


def _name(choices: type[enum.Enum], rule: FieldRule) -> Convert:
    known: dict[str, enum.Enum] = {}
    for choice in choices:
        known[choice.value] = known[choice.value.upper()] = choice

    def read(value: str) -> enum.Enum:
        found = known.get(value) or known.get(value.lower())
        if found is None:
            raise _unknown_value_error(rule, value, (str(choice.value) for choice in choices))
        return found

    return read


def _list(rule: FieldRule, convert: Convert | None, *, required: bool) -> Convert:
    if required and convert is None:
        return tuple

    def read(items: list[Any]) -> tuple[Any, ...]:
        if None in items:
            raise spec_error(rule.requirement, "an element is null", found=items, aspect="null-inside")
        return tuple(items) if convert is None else tuple(map(convert, items))

    return read


@attrs.frozen
class MapReader:
    """Makes a map from the list of its entries."""

    rule: FieldRule
    convert_key: Convert | None
    is_swapped: bool
    """Whether the value of an entry is before its key."""

    required: bool
    """Whether the values are required."""

    @property
    def is_plain(self) -> bool:
        """Whether the map has the entries as they are, if none of them has a null."""
        return not self.is_swapped and self.convert_key is None

    def __call__(self, pairs: list[Any]) -> Mapping[Any, Any]:
        """Make the map.

        Args:
            pairs: the two fields of each entry.

        Returns:
            The immutable map.

        Raises:
            SpecError: the code of the field if an entry, a key or a required value is null.
        """
        if self.is_swapped:
            pairs = [pair and pair[::-1] for pair in pairs]
        try:
            made = dict(pairs)
        except TypeError:
            raise self._null_error(pairs) from None
        if (not self.required and None in made.values()) or None in made:
            raise self._null_error(made)
        convert = self.convert_key
        return immutabledict(made if convert is None else {convert(one): made[one] for one in made})

    def _null_error(self, found: object) -> SpecError:
        return spec_error(self.rule.requirement, "an entry of the map is null", found=found, aspect="null-inside")


def _map_reader(rule: FieldRule, type_: AvroType, key: tuple[int, Type], value: tuple[int, Type]) -> MapReader:
    record = split_optional(type_.items)[0] if isinstance(type_, Array) else None
    if not isinstance(record, Record) or len(record.fields) != 2:
        raise _wrong_type_error(rule, type_, "an array of records of a key and a value")
    is_swapped = (record.fields[0].id, record.fields[1].id) == (value[0], key[0])
    ordered = record.fields[::-1] if is_swapped else record.fields
    (key_type, _), (value_type, required) = split_optional(ordered[0].type), split_optional(ordered[1].type)
    convert_key = _primitive_reader(rule, key_type, key[1])
    convert_value = _primitive_reader(rule, value_type, value[1])
    assert convert_value is None
    return MapReader(rule, convert_key, is_swapped, required)
