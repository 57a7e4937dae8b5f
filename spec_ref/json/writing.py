"""Writing records as JSON objects, by the field rules (Writer requirements; Appendix C).

The same rows make two forms: JSON values, one after another, and JSON text, for files. The text of a large table is
written column by column and without intermediate values, which takes half the time.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from json.encoder import encode_basestring
from typing import Any, TypeAlias

from spec_ref.core.errors import SpecError, error_path
from spec_ref.core.records import EMPTY, field_rules
from spec_ref.core.versions import FormatVersion, Presence
from spec_ref.json.documents import DOCUMENT, dumps, escape_token
from spec_ref.json.reading import FieldTableRow, field_table, read_scalar, retains_unknown
from spec_ref.json.wire_types import (
    BOOLEAN,
    INT,
    INT_MAX,
    INT_MIN,
    LONG,
    LONG_MAX,
    LONG_MIN,
    STRING,
    STRING_MAP,
    Converted,
    Kind,
    ListOf,
    MapOf,
    RecordOf,
    ScalarKind,
)

Writer: TypeAlias = Callable[[Any], Any]
ColumnWriter: TypeAlias = Callable[[Sequence[Any]], list[str]]
"""Writes the JSON text of many values of a kind."""


def writer(kind: Kind, version: FormatVersion, requirement: str = DOCUMENT) -> Writer:
    """Make the function that writes a value.

    Args:
        kind: the kind of the value.
        version: the format version to write.
        requirement: the code of the row that holds the value.

    Returns:
        The function; it raises a `SpecError` for a value that the version cannot represent.
    """
    match kind:
        case ScalarKind(name):
            checked = functools.partial(read_scalar, kind.accepts, name, requirement)
            return (lambda value: dict(checked(value))) if kind is STRING_MAP else checked
        case ListOf(item):
            return functools.partial(_write_list, writer(item, version, requirement))
        case MapOf(value):
            return functools.partial(_write_map, writer(value, version, requirement))
        case Converted(inner, _, write):
            inner_writer = writer(inner, version, requirement)
            return lambda value: inner_writer(write(value, version))
        case RecordOf():
            return record_writer(kind, version)


def _write_list(write: Writer, values: tuple[Any, ...]) -> list[Any]:
    done: list[Any] = []
    try:
        for value in values:
            done.append(write(value))  # noqa: PERF401 - on an error, the number of items written so far is its index
    except SpecError:
        with error_path(f"/{len(done)}"):
            raise
    return done


def _write_map(write: Writer, values: dict[str, Any]) -> dict[str, Any]:
    done = {}
    for name, value in values.items():
        with error_path(f"/{escape_token(name)}"):
            done[name] = write(value)
    return done


def _write_row(row: FieldTableRow, version: FormatVersion) -> Writer:
    write = writer(row.kind, version, row.rule.requirement)

    def write_row(value: Any) -> Any:
        if value is None:
            raise row.missing_error(version)
        try:
            return write(value)
        except SpecError:
            with error_path(f"/{escape_token(row.rule.name)}"):
                raise

    return write_row


def _written_rows(kind: RecordOf, version: FormatVersion) -> Iterator[FieldTableRow]:
    """List the rows that a version writes."""
    return (row for row in field_table(kind, version) if row.writer_presence is not Presence.OMITTED or row.is_retained)


def _is_always_written(row: FieldTableRow) -> bool:
    """Decide whether a row is written whatever its value is.

    A required field may be unknown if the object was carried over from a version that did not have it.

    Returns:
        Whether it is.
    """
    return row.writer_presence is Presence.REQUIRED and row.reader_presence is Presence.REQUIRED


def _omitted_value(row: FieldTableRow) -> Any:
    """Find the value other than None that is omitted, because readers assign it; None if there is no such value."""
    return None if row.writer_presence is Presence.REQUIRED else row.default_value()


@functools.cache
def record_writer(kind: RecordOf, version: FormatVersion) -> Writer:
    """Make the function that writes a record as a JSON object, properties in the order of the spec's table.

    Args:
        kind: the kind of the record.
        version: the format version to write.

    Returns:
        The function; it raises a `SpecError` for a record that the version cannot represent.
    """
    table = tuple(
        (
            operator.attrgetter(row.attribute),
            row.rule.name,
            _is_always_written(row),
            _omitted_value(row),
            _write_row(row, version),
        )
        for row in _written_rows(kind, version)
    )
    unknown = _collect_unknown(kind)

    def write(record: Any) -> dict[str, Any]:
        document: dict[str, Any] = dict(kind.constants)
        for get, name, always, left_out, write_row in table:
            value = get(record)
            if always or (value is not None and (left_out is None or value != left_out)):
                document[name] = write_row(value)
        return document | unknown(record)

    return write


def _collect_unknown(kind: RecordOf) -> Callable[[Any], dict[str, Any]]:
    """Collect the unknown properties of a record, as they were read, except those whose name a version defines."""
    if not retains_unknown(kind):
        return lambda _: {}
    known = frozenset(rule.name for rule in field_rules(kind.cls).values()) | frozenset(kind.constants)
    return lambda record: {name: value for name, value in record.extra.items() if name not in known}


# Text


def text_writer(kind: RecordOf, version: FormatVersion) -> Callable[[Any], str]:
    """Make the function that writes a record as JSON text.

    Args:
        kind: the kind of the record.
        version: the format version to write.

    Returns:
        The function; it raises a `SpecError` for a record that the version cannot represent.
    """
    texts = _record_texts(kind, version)

    def write(record: Any) -> str:
        try:
            return texts([record])[0]
        except (AttributeError, SpecError, TypeError):  # the writer of JSON values reports what is wrong, and where
            return dumps(record_writer(kind, version)(record))

    return write


def _string_texts(values: Iterable[Any]) -> list[str]:
    return list(map(encode_basestring, values))


def _texts_if(accepts: Callable[[Any], bool], text: Callable[[Any], str]) -> ColumnWriter:
    def texts(values: Sequence[Any]) -> list[str]:
        if not all(map(accepts, values)):
            raise TypeError(values)
        return list(map(text, values))

    return texts


def _integer_texts(least: int, most: int) -> ColumnWriter:
    def texts(values: Sequence[Any]) -> list[str]:
        if values and (set(map(type, values)) != {int} or min(values) < least or max(values) > most):
            raise TypeError(values)
        return list(map(str, values))

    return texts


class _Names(dict[str, str]):
    """A cache of the JSON text of member names, with the colon: there are few names, and each is repeated often."""

    def __missing__(self, name: str) -> str:
        text = encode_basestring(name) + ":"
        if len(self) < MOST_NAMES and len(name) < LONGEST_NAME:
            self[name] = text
        return text


MOST_NAMES, LONGEST_NAME = 4096, 100
"""The limits of the cache: how many names, and how long in characters."""

_names = _Names()


def _string_map_texts(values: Sequence[Mapping[str, str]]) -> list[str]:
    """Write the texts of objects of strings. Objects with the same names, such as summaries, are written together."""
    shapes: dict[tuple[str, ...], list[int]] = {}
    for place, value in enumerate(values):
        shapes.setdefault(tuple(value), []).append(place)
    texts = ["{}"] * len(values)
    for names, places in shapes.items():
        parts: list[Iterable[str]] = []
        for name, column in zip(names, zip(*(values[place].values() for place in places), strict=True), strict=True):
            parts += itertools.repeat(("," if parts else "{") + _names[name]), map(encode_basestring, column)
        if names:
            made = map("".join, zip(*parts, itertools.repeat("}", len(places))))  # noqa: B905 - the others repeat for ever
            for place, text in zip(places, made, strict=True):
                texts[place] = text
    return texts


_SCALAR_TEXTS: dict[ScalarKind, ColumnWriter] = {
    STRING: _string_texts,
    INT: _integer_texts(INT_MIN, INT_MAX),
    LONG: _integer_texts(LONG_MIN, LONG_MAX),
    BOOLEAN: _texts_if(BOOLEAN.accepts, {True: "true", False: "false"}.__getitem__),
    STRING_MAP: _string_map_texts,
}


def _texts(kind: Kind, version: FormatVersion) -> ColumnWriter:
    """Make the function that writes many values of a kind; a value that is not of the kind is a TypeError."""
    match kind:
        case ScalarKind():
            return _SCALAR_TEXTS.get(kind) or _texts_if(kind.accepts, dumps)
        case ListOf(item):
            return functools.partial(_list_texts, _texts(item, version))
        case MapOf(value):
            return functools.partial(_map_texts, _texts(value, version))
        case Converted(inner, _, write):
            wire = _texts(inner, version)
            return lambda values: wire([write(value, version) for value in values])
        case RecordOf():
            return _record_texts(kind, version)


def _row_texts(row: FieldTableRow, version: FormatVersion) -> ColumnWriter:
    write = _texts(row.kind, version)

    def texts(values: Sequence[Any]) -> list[str]:
        if any(value is None for value in values):  # a field that is missing
            raise TypeError(row.rule.name)
        return write(values)

    return write if isinstance(row.kind, ScalarKind) else texts


def _list_texts(write: ColumnWriter, values: Sequence[Any]) -> list[str]:
    texts = iter(write(list(itertools.chain.from_iterable(values))))
    return [_list_text(list(itertools.islice(texts, len(value)))) for value in values]


def _list_text(items: list[str]) -> str:
    if not items:
        return "[]"
    items[0] = "[" + items[0]  # adding it to the joined text would copy the text
    items[-1] += "]"
    return ",".join(items)


def _map_texts(write: ColumnWriter, values: Sequence[Any]) -> list[str]:
    names = map(_names.__getitem__, itertools.chain.from_iterable(values))
    members = map(operator.add, names, write([member for value in values for member in value.values()]))
    return [f"{{{','.join(itertools.islice(members, len(value)))}}}" for value in values]


def _written_places(values: Sequence[Any], left_out: Any) -> Sequence[int]:
    """Find the indexes of the values of a field that are written."""
    missing = sum(map(operator.is_, values, itertools.repeat(None)))
    if missing == len(values):
        return ()
    if left_out is None:
        return range(len(values)) if not missing else [place for place, value in enumerate(values) if value is not None]
    return [place for place, value in enumerate(values) if value is not None and value != left_out]


@functools.cache
def _record_texts(kind: RecordOf, version: FormatVersion) -> ColumnWriter:
    table = tuple(_written_rows(kind, version))
    columns = tuple((row, f',"{row.rule.name}":', _row_texts(row, version)) for row in table)
    attributes = [*(row.attribute for row in table), *(["extra"] if retains_unknown(kind) else [])]
    getters = tuple(map(operator.attrgetter, attributes))
    constants = ",".join(f'"{name}":"{value}"' for name, value in kind.constants.items())
    begins = bool(constants) or _is_always_written(table[0])
    if not constants and begins:  # the first member is always present, so it needs no comma before it
        columns = ((table[0], columns[0][1][1:], columns[0][2]), *columns[1:])
    unknown = _collect_unknown(kind)

    def texts(records: Sequence[Any]) -> list[str]:
        parts: list[Iterable[str]] = [itertools.repeat("{" + constants)]
        found = [list(map(get, records)) for get in getters]
        for (row, start, write), values in zip(columns, found, strict=False):
            chosen = range(len(values)) if _is_always_written(row) else _written_places(values, _omitted_value(row))
            if len(chosen) == len(values):
                parts += itertools.repeat(start), write(values)
            elif chosen:
                part = [""] * len(values)
                for place, text in zip(chosen, write([values[place] for place in chosen]), strict=True):
                    part[place] = start + text
                parts.append(part)
        if retains_unknown(kind) and any(map(operator.is_not, found[-1], itertools.repeat(EMPTY))):
            parts.append(
                ["".join(f",{_names[name]}{dumps(value)}" for name, value in unknown(one).items()) for one in records]
            )
        made = map("".join, zip(*parts, itertools.repeat("}", len(records))))  # noqa: B905 - the others repeat for ever
        return list(made) if begins else [text.replace(",", "", 1) for text in made]

    return texts
