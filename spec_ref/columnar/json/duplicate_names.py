"""Detect whether a JSON text repeats a name in one object (RFC 8259, 4), by counting.

A parser that detects repeated names takes half as long again. One that does not drops all but one of the members of a
name, so that the parsed document has fewer members than the text. Both numbers are counted quickly: the count is too
high for some texts and too low for some documents, but never the other way round, so that equal numbers prove that
nothing was dropped.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from spec_ref.core.records import field_rules
from spec_ref.json.wire_types import ANY, STRING_MAP, Kind, ListOf, MapOf, RecordOf, Scalar, Via

CHUNK = 1 << 16
COLON, QUOTE = b':"'


def unrepeated(kind: Kind, text: bytes, document: Any) -> bool:
    """Decide whether a parsed document is known to have all members of its text.

    Args:
        kind: the kind of the document.
        text: the JSON text, in UTF-8.
        document: the parsed document.

    Returns:
        True if no member was dropped; False if that is not known.
    """
    return least_members(kind, document) == most_members(text)


def most_members(text: bytes) -> int:
    """Count the members of the objects in a JSON text, or more.

    It counts the colons after a quote or anything below it, such as whitespace: every member has one. Colons inside of
    strings are counted too if a quote or space precedes them.

    Args:
        text: the JSON text, in UTF-8.

    Returns:
        The count.
    """
    import numpy as np  # here, as only large documents need it

    data = np.frombuffer(text, np.uint8)
    chunks = ((data[start - 1 :][:CHUNK], data[start:][:CHUNK]) for start in range(1, len(data), CHUNK))
    return sum(int(np.count_nonzero((at == COLON) & (before[: len(at)] <= QUOTE))) for before, at in chunks)


def least_members(kind: Kind, document: Any) -> int:
    """Count the members of the objects in a document, or fewer.

    It counts fewer if the document does not follow its kind or has members that no version defines.

    Args:
        kind: the kind of the document.
        document: the parsed document.

    Returns:
        The count.
    """
    try:
        return _members(kind, [document])
    except TypeError:
        return 0


def _members(kind: Kind, values: Sequence[Any]) -> int:
    """Count the members in all values of a kind together, so that functions in C do nearly all of the work."""
    match kind:
        case Via(inner):
            return _members(inner, values)
        case ListOf(item):
            return _members(item, _items(values))
        case MapOf(value):
            return _sizes(values) + _members(value, list(chain.from_iterable(map(dict.values, values))))
        case RecordOf():
            return _sizes(values) + sum(_members(inner, _column(name, values)) for name, inner in _inner(kind))
        case _ if kind is STRING_MAP:
            return _sizes(values)
        case _ if kind is ANY:
            return _any_members(values)
        case _:
            return 0


@functools.cache
def _inner(kind: RecordOf) -> tuple[tuple[str, Kind], ...]:
    """The names of the properties that may hold objects, and their kinds."""
    fields = [(rule.name, kind.kinds.get(name, rule.type)) for name, rule in field_rules(kind.cls).items()]
    return tuple((name, inner) for name, inner in fields if _holds_objects(inner))


def _holds_objects(kind: Kind) -> bool:
    match kind:
        case Via(inner) | ListOf(inner):
            return _holds_objects(inner)
        case Scalar():
            return kind in (STRING_MAP, ANY)
        case _:
            return True


def _sizes(objects: Iterable[Any]) -> int:
    return sum(map(dict.__len__, objects))


def _items(lists: Iterable[Any]) -> list[Any]:
    return list(chain.from_iterable(map(list.__iter__, lists)))


def _column(name: str, objects: Sequence[dict[str, Any]]) -> list[Any]:
    return [value for one in objects if (value := one.get(name)) is not None]


def _any_members(values: Iterable[Any]) -> int:
    total = 0
    while values:
        objects = [value for value in values if type(value) is dict]
        total += _sizes(objects)
        lists = [value for value in values if type(value) is list]
        inner = chain(chain.from_iterable(map(dict.values, objects)), chain.from_iterable(lists))
        values = [value for value in inner if type(value) is dict or type(value) is list]
    return total
