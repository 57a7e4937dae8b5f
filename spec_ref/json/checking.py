"""Find everything that is wrong with a JSON object, by the field rules that readers use.

A reader raises at the first problem; `collect_violations` records it and continues, and `writer_deviations` records
what a reader tolerates.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import attrs

from spec_ref.core.errors import SpecError, Violation
from spec_ref.core.versions import FormatVersion, Presence
from spec_ref.json.documents import escape_token
from spec_ref.json.reading import (
    ABSENT,
    apply_post_read,
    check_constants,
    field_table,
    member_reader,
    name_member,
    reader,
    retains_unknown,
    unknown_members_reader,
)
from spec_ref.json.wire_types import Converted, Kind, ListOf, MapOf, RecordOf

T = TypeVar("T")

UNREADABLE: Any = object()
"""The result of `collect_violations` for a value that could not be read."""

MAX_PER_LIST = 1000
"""How many broken items of one list or map are reported; if there are more, the rest is not checked."""

MAX_WRITER_DEVIATIONS = 100 * MAX_PER_LIST
"""How many deviations of the items of one list are reported. The limit is high, because one item may have several, and
those of later items should be reported too."""


def collect_violations(
    kind: Kind, value: Any, version: FormatVersion, requirement: str, path: str, found: list[Violation]
) -> Any:
    """Read a JSON value and record everything that is wrong.

    Broken items are left out of lists and maps, so that the valid ones can still be checked.

    Args:
        kind: the kind of the value.
        value: the parsed JSON.
        version: the format version.
        requirement: the code of the row that holds the value.
        path: the JSON pointer of the value.
        found: the list to which violations are appended.

    Returns:
        The value, or `UNREADABLE`.
    """
    match kind:
        case ListOf(item) if type(value) is list:
            items = (
                collect_violations(item, one, version, requirement, f"{path}/{place}", found)
                for place, one in enumerate(value)
            )
            return tuple(one for one in _until_too_many(items, found) if one is not UNREADABLE)
        case MapOf(item) if type(value) is dict:
            members = (
                (name, collect_violations(item, one, version, requirement, f"{path}/{escape_token(name)}", found))
                for name, one in value.items()
            )
            return {name: one for name, one in _until_too_many(members, found) if one is not UNREADABLE}
        case Converted(inner, read):
            before = len(found)
            wire = collect_violations(inner, value, version, requirement, path, found)
            if wire is UNREADABLE or len(found) > before:
                return UNREADABLE
            return _read_or_record(lambda: read(wire, version), path, found)
        case RecordOf() if type(value) is dict:
            before = len(found)
            values = collect_record_violations(kind, value, version, path, found)
            if len(found) > before:
                return UNREADABLE
            return _read_or_record(lambda: apply_post_read(kind, kind.cls(**values), version), path, found)
        case _:
            return _read_or_record(lambda: reader(kind, version, requirement)(value), path, found)


def _until_too_many(items: Iterator[T], found: list[Violation]) -> Iterator[T]:
    most = len(found) + MAX_PER_LIST
    return itertools.takewhile(lambda _: len(found) <= most, items)


def collect_record_violations(
    kind: RecordOf, document: dict[str, Any], version: FormatVersion, path: str, found: list[Violation]
) -> dict[str, Any]:
    """Read the attributes of a record as far as possible, and record everything that is wrong.

    Args:
        kind: the kind of the record.
        document: the JSON object.
        version: the format version.
        path: the JSON pointer of the object.
        found: the list to which violations are appended.

    Returns:
        The attributes by name; `UNREADABLE` for those that cannot be read.
    """
    _read_or_record(lambda: check_constants(kind, document), path, found)
    values: dict[str, Any] = {}
    for row in field_table(kind, version):
        value = document.get(row.rule.name)
        if row.reader_presence is Presence.OMITTED:
            values[row.attribute] = row.default_value()
        elif value is None:
            values[row.attribute] = _read_or_record(lambda row=row: member_reader(row, version)(ABSENT), path, found)  # type: ignore[misc]
        else:
            place, before = f"{path}/{escape_token(row.rule.name)}", len(found)
            values[row.attribute] = collect_violations(row.kind, value, version, row.rule.requirement, place, found)
            found[before:] = [name_member(violation, row.rule.name, place) for violation in found[before:]]
    if retains_unknown(kind):
        values["extra"] = _read_or_record(lambda: unknown_members_reader(kind)(document), path, found)
    return values


def _read_or_record(read: Callable[[], Any], path: str, found: list[Violation]) -> Any:
    try:
        return read()
    except SpecError as error:
        found.append(attrs.evolve(error.violation, path=path + error.violation.path))
        return UNREADABLE


def writer_deviations(kind: Kind, value: Any, version: FormatVersion, path: str = "") -> Iterator[Violation]:
    """Find what a reader tolerates but a writer of the version should have done differently (VER005).

    These are fields that the version omits, and missing fields that it requires but that readers accept as missing,
    because the object may have been carried over from an older version.

    Args:
        kind: the kind of the value.
        value: the parsed JSON.
        version: the format version.
        path: the JSON pointer of the value.

    Yields:
        Each violation.
    """
    match kind:
        case Converted(inner):
            yield from writer_deviations(inner, value, version, path)
        case ListOf(item) if type(value) is list:
            each = (writer_deviations(item, one, version, f"{path}/{place}") for place, one in enumerate(value))
            yield from itertools.islice(itertools.chain.from_iterable(each), MAX_WRITER_DEVIATIONS)
        case MapOf(item) if type(value) is dict:
            for name, one in value.items():
                yield from writer_deviations(item, one, version, f"{path}/{escape_token(name)}")
        case RecordOf() if type(value) is dict:
            for row in field_table(kind, version):
                property_path = f"{path}/{escape_token(row.rule.name)}"
                found = value.get(row.rule.name)
                if (
                    found is None
                    and row.writer_presence is Presence.REQUIRED
                    and row.reader_presence is not Presence.REQUIRED
                ):
                    yield _writer_deviation(
                        row.rule.requirement, f"{row.rule.name} is missing", property_path, version, aspect="left-out"
                    )
                elif found is not None and row.writer_presence is Presence.OMITTED:
                    yield _writer_deviation(
                        "VER005",
                        f"{row.rule.name} is not a field of {kind.title} in this format version",
                        property_path,
                        version,
                    )
                elif found is not None:
                    yield from writer_deviations(row.kind, found, version, property_path)


def _writer_deviation(
    requirement: str, message: str, path: str, version: FormatVersion, *, aspect: str = ""
) -> Violation:
    return Violation(requirement=requirement, message=message, aspect=aspect, path=path, format_version=version)
