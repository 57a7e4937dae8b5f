"""Reading JSON objects into records fast: converters of cattrs, made from the field tables (Appendix C).

The hooks refuse what `spec_ref.json.reading` refuses, without stating where: on an error, the caller reads the document
again with that module, which finds the place. So a valid document is read in half the time, and an invalid document by
both modules.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeAlias

import attrs
from cattrs import Converter
from cattrs.gen import make_dict_structure_fn, override

from spec_ref.core.errors import SpecError
from spec_ref.core.records import field_rules
from spec_ref.core.versions import FormatVersion, Presence
from spec_ref.json.reading import (
    FieldTableRow,
    check_constants,
    field_table,
    record_reader,
    retains_unknown,
    unknown_members_reader,
)
from spec_ref.json.wire_types import (
    ANY,
    INT,
    INT_MAX,
    INT_MIN,
    LONG,
    LONG_MAX,
    LONG_MIN,
    STRING,
    Converted,
    Kind,
    ListOf,
    MapOf,
    RecordOf,
    ScalarKind,
)

Hook: TypeAlias = Callable[[Any, Any], Any]
"""The function that cattrs calls with a JSON value, and a type, which is not needed here."""

_CONVERTER = Converter(detailed_validation=False)


def read_record(kind: RecordOf, version: FormatVersion, document: Any) -> Any:
    """Read a JSON object into a record.

    Args:
        kind: the kind of the record.
        version: the format version whose rules for readers apply.
        document: the JSON object.

    Returns:
        The record.

    Raises:
        SpecError: the first problem that `record_reader` finds.
    """
    try:
        return _record_hook(kind, version)(document, None)
    except (AttributeError, KeyError, TypeError, ValueError, SpecError):
        return record_reader(kind, version)(document)


def _refuse(value: Any) -> Any:
    raise TypeError(value)


def _scalar_hook(kind: ScalarKind, null: Callable[[Any], Any]) -> Hook:
    """Make the hook of a field that holds a scalar.

    The most frequent kinds have hooks that call no other function for a valid value.

    Args:
        kind: the kind of the field.
        null: called with a value that is not of the kind; it refuses it, or returns the value for null.

    Returns:
        The hook.
    """
    if kind is STRING:
        return lambda value, _: value if type(value) is str else null(value)
    if kind is INT:
        return lambda value, _: value if type(value) is int and INT_MIN <= value <= INT_MAX else null(value)
    if kind is LONG:
        return lambda value, _: value if type(value) is int and LONG_MIN <= value <= LONG_MAX else null(value)
    accepts = kind.accepts
    return lambda value, _: value if accepts(value) else null(value)


def _hook(kind: Kind, version: FormatVersion) -> Hook:
    """Make the hook of a kind; it raises any error for a value that is not of the kind."""
    match kind:
        case ScalarKind():
            return _scalar_hook(kind, _refuse)
        case ListOf(item):
            read_item = _hook(item, version)
            return lambda value, _: (
                tuple([read_item(one, None) for one in value]) if type(value) is list else _refuse(value)
            )
        case MapOf(item):
            read_item = _hook(item, version)
            return lambda value, _: (
                {name: read_item(one, None) for name, one in value.items()} if type(value) is dict else _refuse(value)
            )
        case Converted(inner, read) if inner is ANY:
            return lambda value, _: read(value, version)
        case Converted(inner, read):
            read_wire = _hook(inner, version)
            return lambda value, _: read(read_wire(value, None), version)
        case RecordOf():
            return _record_hook(kind, version)


@functools.cache
def _record_hook(kind: RecordOf, version: FormatVersion) -> Hook:
    defaults = {field.name: field.default for field in attrs.fields(kind.cls)}
    overrides = {"extra": override(omit=True)} if retains_unknown(kind) else {}
    table = field_table(kind, version)
    ignored: dict[str, None] = {}
    for row in table:
        if row.reader_presence is Presence.OMITTED and row.rule.missing is defaults[row.attribute] is not attrs.NOTHING:
            overrides[row.attribute] = override(omit=True)
            continue
        if row.reader_presence is Presence.OMITTED:
            ignored[row.rule.name] = None
        overrides[row.attribute] = override(rename=row.rule.name, struct_hook=_row_hook(row, version))
    structure: Hook = make_dict_structure_fn(kind.cls, _CONVERTER, _cattrs_use_linecache=False, **overrides)  # type: ignore[arg-type]
    added = {row.rule.name: None for row in table if _needs_hook_if_absent(row, defaults[row.attribute])}
    known = frozenset(rule.name for rule in field_rules(kind.cls).values()) | frozenset(kind.constants)
    keeps, unknown, has_constants = retains_unknown(kind), unknown_members_reader(kind), bool(kind.constants)
    as_it_is, cls, finish = not added and not ignored, kind.cls, kind.post_read

    def hook(document: Any, _: Any) -> Any:
        if type(document) is not dict:
            _refuse(document)
        if has_constants:
            check_constants(kind, document)
        made = structure(document if as_it_is else {**added, **document, **ignored}, cls)
        if keeps and not known.issuperset(document):
            made = attrs.evolve(made, extra=unknown(document))
        return made if finish is None else finish(made, version)

    return hook


def _needs_hook_if_absent(row: FieldTableRow, default: Any) -> bool:
    """Decide whether an absent field cannot be left to cattrs, which assigns the default of the attribute."""
    if row.reader_presence is Presence.REQUIRED:
        return default is not attrs.NOTHING
    return row.reader_presence is Presence.OPTIONAL and row.rule.missing is not default


def _row_hook(row: FieldTableRow, version: FormatVersion) -> Hook:
    """Make the hook of a field; null is the same as absent, and what the version omits is always null here."""
    if row.reader_presence is Presence.OMITTED:
        return lambda value, _: row.default_value()
    read = _hook(row.kind, version)
    if row.reader_presence is Presence.REQUIRED:
        if isinstance(row.kind, ScalarKind):
            return read
        return lambda value, _: _refuse(value) if value is None else read(value, None)

    def null(value: Any) -> Any:
        return row.default_value() if value is None else _refuse(value)

    if isinstance(row.kind, ScalarKind):
        return _scalar_hook(row.kind, null)
    return lambda value, _: null(value) if value is None else read(value, None)
