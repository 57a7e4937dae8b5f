"""The decorator and the field declaration that every record of the spec is made with.

A record is an immutable ``attrs`` class. A field that the spec lists in a table is declared with `spec_field`, which
carries the whole row: the name on the wire, the field id, what a writer and a reader of each format version do, and
what a reader takes when the field is missing. Readers, writers, JSON Schemas, Avro schemas and the trace derive from
it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, TypeVar, dataclass_transform, overload

import attrs

from spec_ref.core.versions import FieldRule, FormatVersion, Presence, ReaderRules

RULE = "spec_ref.field_rule"
"""The key under which a field's `FieldRule` stands in the metadata of its ``attrs`` attribute."""

T = TypeVar("T")


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
) -> Any:
    """Declare one row of a field table of the spec.

    Args:
        name: the JSON property or Avro field name.
        v1: what a v1 writer does with the field.
        v2: what a v2 writer does.
        v3: what a v3 writer does.
        requirement: the code of the row in the register.
        read: what readers do where it differs from what writers do: for every version, or by version.
        id: the Iceberg field id, for records that are stored in Avro.
        type: the type on the wire; its meaning belongs to the wire format (an Iceberg type, or a JSON codec).
        missing: what a reader takes where the version it reads may leave the field out; ``default`` where not given.
        default: the default of the Python attribute; ``missing`` where not given.
        converter: applied to the value at construction, as in ``attrs.field``.
    """
    absent = default if missing is attrs.NOTHING else missing
    rule = FieldRule(
        name=name, v1=v1, v2=v2, v3=v3, reads=read, requirement=requirement, id=id, type=type, missing=absent
    )
    return attrs.field(
        default=missing if default is attrs.NOTHING else default,
        converter=converter,
        metadata={RULE: rule},
    )


def _refuse_subclass(cls: type, /, **_: object) -> NoReturn:
    message = f"{cls.__mro__[1].__name__} is a record of the spec and final: compose it, do not subclass it"
    raise TypeError(message)


@overload
def record(cls: type[T], /) -> type[T]: ...


@overload
def record(*, kw_only: bool = False) -> Callable[[type[T]], type[T]]: ...


@dataclass_transform(frozen_default=True, kw_only_default=False, field_specifiers=(spec_field, attrs.field))
def record(cls: type[T] | None = None, /, *, kw_only: bool = False) -> type[T] | Callable[[type[T]], type[T]]:
    """Make a class an immutable, slotted, final record.

    With ``kw_only`` the table may have optional rows before required ones, in the order of the spec.
    """

    def make(cls: type[T]) -> type[T]:
        # Without a slot for weak references, which nobody needs to a value, a record is nothing but its fields.
        made = attrs.frozen(slots=True, kw_only=kw_only, weakref_slot=False)(cls)
        made.__init_subclass__ = classmethod(_refuse_subclass)  # type: ignore[assignment]
        return made

    return make if cls is None else make(cls)


def field_rules(cls: type) -> dict[str, FieldRule]:
    """The rules of a record by Python attribute name, in the order of the spec's table."""
    return {a.name: a.metadata[RULE] for a in attrs.fields(cls) if RULE in a.metadata}


def written_fields(cls: type, version: FormatVersion) -> dict[str, FieldRule]:
    """The fields that a writer of ``version`` may write."""
    return {name: rule for name, rule in field_rules(cls).items() if rule.write(version) is not Presence.OMITTED}


def evolve(value: T, /, **changes: Any) -> T:
    """The record with some attributes changed; type checkers do not know that a record is an ``attrs`` class."""
    changed: T = attrs.evolve(value, **changes)  # type: ignore[misc]
    return changed
