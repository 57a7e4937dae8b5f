"""The decorator and the field declaration for every record of the spec.

A record is an immutable ``attrs`` class. A field that the spec lists in a table is declared with `spec_field`, which
has the whole row: the name on the wire, the field id, what a writer and a reader of each format version do, and the
value for a missing field. Readers, writers, JSON Schemas, Avro schemas and the trace derive from it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, TypeAlias, TypeVar, dataclass_transform, overload

import attrs
from immutabledict import immutabledict

from spec_ref.core.versions import OMITTED, V1, FieldRule, Presence, ReaderRules

RULE = "spec_ref.field_rule"
"""The key of a field's `FieldRule` in the metadata of its ``attrs`` attribute."""

T = TypeVar("T")

EMPTY: immutabledict[Any, Any] = immutabledict()
"""The default of every mapping that may be empty."""


def freeze(value: Any) -> Any:
    """Make a mapping immutable; other values, and null, are returned as they are.

    Args:
        value: the value of an attribute.

    Returns:
        The immutable value.
    """
    if value is None or type(value) is immutabledict:
        return value
    return immutabledict(value) if type(value) is dict or isinstance(value, Mapping) else value


def spec_field(
    name: str,
    *,
    v1: Presence,
    v2: Presence,
    v3: Presence,
    requirement: str,
    read: ReaderRules = None,
    id: int | None = None,
    type: Any = None,
    missing: Any = attrs.NOTHING,
    default: Any = attrs.NOTHING,
    converter: Callable[[Any], Any] | None = None,
    eq: Callable[[Any], Any] | None = None,
) -> Any:
    """Declare one row of a field table of the spec.

    Args:
        name: the JSON property or Avro field name.
        v1: what a v1 writer does with the field.
        v2: what a v2 writer does with the field.
        v3: what a v3 writer does with the field.
        requirement: the code of the row in the register.
        read: what readers do if it differs from what writers do: for every version, or by version.
        id: the Iceberg field id, for records that are stored in Avro.
        type: the type on the wire, as the wire format defines it (an Iceberg type, or a JSON kind).
        missing: the value that a reader assigns if the version may leave the field out; ``default`` if not given.
        default: the default of the Python attribute; ``missing`` if not given.
        converter: applied to the value at construction, as in ``attrs.field``.
        eq: returns, for a value, the key by which records are compared; None compares the value itself.

    Returns:
        The declaration of the attribute.
    """
    absent = default if missing is attrs.NOTHING else missing
    rule = FieldRule(
        name=name, v1=v1, v2=v2, v3=v3, reader_presences=read, requirement=requirement, id=id, type=type, missing=absent
    )
    return attrs.field(
        default=missing if default is attrs.NOTHING else default,
        converter=converter,
        eq=True if eq is None else eq,
        metadata={RULE: rule},
    )


def _as_values(_: type, fields: list[attrs.Attribute[Any]]) -> list[attrs.Attribute[Any]]:
    """Freeze mappings, and leave JSON values that may hold lists and objects out of the hash."""
    made = []
    for field in fields:
        if str(field.type).startswith("Mapping[") and field.converter is None:
            field = field.evolve(converter=freeze)
        made.append(field.evolve(hash=False) if str(field.type) == "Any" else field)
    return made


def _refuse_subclass(cls: type, /, **_: object) -> NoReturn:
    message = f"{cls.__mro__[1].__name__} is a record of the spec and final: compose it, do not subclass it"
    raise TypeError(message)


_Values: TypeAlias = Callable[[Any], tuple[Any, ...]]


def _values_of(names: Sequence[str]) -> _Values:
    """Make the function that returns the values of some attributes."""
    if len(names) > 1:
        return operator.attrgetter(*names)
    return lambda record: tuple(getattr(record, name) for name in names)


def _compared_values(fields: Sequence[Any]) -> _Values:
    """Make the function that returns what records are compared by: the values of fields, or the keys of values."""
    values = _values_of([field.name for field in fields])
    if not any(field.eq_key for field in fields):
        return values
    keys = [field.eq_key for field in fields]
    return lambda record: tuple(
        value if key is None else key(value) for key, value in zip(keys, values(record), strict=True)
    )


def _add_methods(cls: type) -> None:
    """Compare, hash, print and pickle records by their values.

    ``attrs`` would compile the first three for each class, which takes longer than all else that importing one does.
    """
    fields = attrs.fields(cls)
    compared = _compared_values([field for field in fields if field.eq])
    hashed = _compared_values([field for field in fields if (field.eq if field.hash is None else field.hash)])
    seed = hash(cls.__qualname__)
    shown = [field.name for field in fields if field.repr]

    def is_equal(self: Any, other: object) -> Any:
        return compared(self) == compared(other) if other.__class__ is self.__class__ else NotImplemented

    def hash_value(self: Any) -> int:
        return hash((seed, hashed(self)))

    def show(self: Any) -> str:
        return f"{cls.__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    made: Any = cls
    if "__eq__" not in vars(cls):
        made.__eq__, made.__hash__ = is_equal, hash_value
    if "__repr__" not in vars(cls):
        made.__repr__ = show
    _pickle_as_tuple(cls)


def _pickle_as_tuple(cls: type) -> None:
    """Let pickles of a record have its values without their names, which takes half of the time and of the bytes."""
    names = [field.name for field in attrs.fields(cls)]
    get_state = _values_of(names)
    assign = [getattr(cls, name).__set__ for name in names]

    def set_state(self: Any, state: tuple[Any, ...]) -> None:
        for assign_one, value in zip(assign, state, strict=True):
            assign_one(self, value)

    made: Any = cls
    made.__getstate__, made.__setstate__ = lambda self: get_state(self), set_state


@overload
def record(cls: type[T], /) -> type[T]: ...


@overload
def record(*, kw_only: bool = False) -> Callable[[type[T]], type[T]]: ...


@dataclass_transform(frozen_default=True, kw_only_default=False, field_specifiers=(spec_field, attrs.field))
def record(cls: type[T] | None = None, /, *, kw_only: bool = False) -> type[T] | Callable[[type[T]], type[T]]:
    """Make a class an immutable, slotted, final record.

    Args:
        cls: the class, if the decorator is used without arguments.
        kw_only: whether the attributes are passed by keyword only, so that the table may have optional rows before
            required ones, in the order of the spec.

    Returns:
        The record class, or the decorator.
    """

    def make(cls: type[T]) -> type[T]:
        # Values need no weak references; without a slot for them, a record consists of its fields only.
        made = attrs.frozen(kw_only=kw_only, weakref_slot=False, eq=False, repr=False, field_transformer=_as_values)(
            cls
        )
        made.__init_subclass__ = classmethod(_refuse_subclass)  # type: ignore[assignment]
        _add_methods(made)
        return made

    return make if cls is None else make(cls)


def field_rules(cls: type) -> dict[str, FieldRule]:
    """Read the field table of a record.

    Args:
        cls: the record class.

    Returns:
        The rules by attribute, in the order of the spec's table.
    """
    return {a.name: a.metadata[RULE] for a in attrs.fields(cls) if RULE in a.metadata}


def ids_added_after_v1(*classes: type) -> frozenset[int]:
    """Collect the ids of fields that v1 does not have, by which files that do not state their version are recognized.

    Args:
        classes: the record classes of the file.

    Returns:
        The field ids.
    """
    rules = [rule for cls in classes for rule in field_rules(cls).values() if rule.writer_presence(V1) is OMITTED]
    return frozenset(rule.id for rule in rules if rule.id is not None)


def evolve(value: T, /, **changes: Any) -> T:
    """Copy a record with some attributes changed; type checkers do not know that a record is an ``attrs`` class.

    Args:
        value: the record.
        changes: the new values by attribute.

    Returns:
        The changed copy.
    """
    changed: T = attrs.evolve(value, **changes)  # type: ignore[misc]
    return changed
