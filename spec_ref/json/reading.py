"""Reading JSON objects into records, by the field rules (Writer requirements; Appendix C).

For a kind of record and a format version, `record_reader` follows the rows of the record's field table: which property,
its value, and what that version does with it. Nothing else decides about versions. `spec_ref.json.structuring` makes
the same records faster, `spec_ref.json.writing` writes them, and `spec_ref.json.checking` does not stop at the first
problem.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Collection
from typing import Any

import attrs

from spec_ref.core.errors import SpecError, Violation, error_path, spec_error
from spec_ref.core.records import field_rules
from spec_ref.core.versions import FieldRule, FormatVersion, Presence
from spec_ref.json.documents import DOCUMENT, escape_token
from spec_ref.json.wire_types import ANY, Converted, Kind, ListOf, MapOf, RecordOf, ScalarKind

ABSENT: Any = object()
Reader = Callable[[Any], Any]


@attrs.frozen
class FieldTableRow:
    """A row of a field table, for one format version."""

    attribute: str
    rule: FieldRule
    kind: Kind
    reader_presence: Presence
    writer_presence: Presence

    @property
    def is_retained(self) -> bool:
        """Whether a reader keeps the field although its version omits it.

        Metadata of an upgraded table, and of engines that write a field before its version, holds such fields, and
        dropping them would lose data (contradiction C17; Appendix E, Version 2). A writer of the version writes the
        field only where a reader would otherwise assign another value.
        """
        return self.writer_presence is Presence.OMITTED and self.reader_presence is not Presence.OMITTED

    def default_value(self) -> Any:
        """Make the value that a reader assigns if the field is missing."""
        missing = self.rule.missing
        if isinstance(missing, attrs.Factory):  # type: ignore[arg-type]
            return missing.factory()
        return None if missing is attrs.NOTHING else missing

    def missing_error(self, version: FormatVersion) -> SpecError:
        """Make the error for a missing field.

        Args:
            version: the format version.

        Returns:
            The error, with the code of the row.
        """
        return spec_error(
            self.rule.requirement,
            f"{self.rule.name} is missing",
            expected=f"the required member {self.rule.name}",
            path=f"/{escape_token(self.rule.name)}",
            format_version=version,
            aspect="missing",
        )


@functools.cache
def field_table(kind: RecordOf, version: FormatVersion) -> tuple[FieldTableRow, ...]:
    """Find the rows of a record's field table for one format version.

    Args:
        kind: the kind of the record.
        version: the format version.

    Returns:
        The rows, in the order of the spec's table.
    """
    made = []
    for attribute, rule in field_rules(kind.cls).items():
        field_kind = kind.kinds.get(attribute, rule.type)
        made.append(
            FieldTableRow(attribute, rule, field_kind, rule.reader_presence(version), rule.writer_presence(version))
        )
    return tuple(made)


def wrong_type_error(kind_name: str, requirement: str, value: Any) -> SpecError:
    """Make the error for a value of the wrong kind.

    Args:
        kind_name: the expected kind, in words.
        requirement: the code of the row that holds the value.
        value: the value; it is abbreviated.

    Returns:
        The error.
    """
    return spec_error(requirement, "the value has the wrong type", found=value, expected=kind_name, aspect="wrong-type")


_FAULTS_OF_VALUES = {"wrong-type": "has the wrong type", "unknown-value": "has an unknown value"}
"""The error of a whole value, by the aspect of the violation."""


def name_member(violation: Violation, name: str, path: str = "") -> Violation:
    """Name a member in the message of a violation that concerns its whole value.

    Args:
        violation: the violation, whose message may say "the value" instead of the name of the member.
        name: the name of the member.
        path: the path of the member, as in the violation.

    Returns:
        The violation, with a new message if its path is that of the member.
    """
    fault = _FAULTS_OF_VALUES.get(violation.aspect)
    if fault is None or violation.path != path:
        return violation
    return attrs.evolve(violation, message=f"{name} {fault}")


def check_finite(value: Any) -> Any:
    """Check a JSON value that the spec does not define, which is kept unchanged.

    Args:
        value: the parsed JSON.

    Returns:
        The same value.

    Raises:
        SpecError: TMD029 for a number that is too large for a double.
    """
    pending = [value]
    while pending:
        item = pending.pop()
        if type(item) is float and not math.isfinite(item):
            raise spec_error(DOCUMENT, "a number is too large for a double", found=item)
        if type(item) is dict:
            pending.extend(item.values())
        elif type(item) is list:
            pending.extend(item)
    return value


# Reading


def reader(kind: Kind, version: FormatVersion, requirement: str = DOCUMENT) -> Reader:
    """Make the function that reads a JSON value of a kind.

    Args:
        kind: the kind of the value.
        version: the format version.
        requirement: the code of the row that holds the value.

    Returns:
        The function; it raises a `SpecError` at the first problem.
    """
    match kind:
        case ScalarKind(name):
            return functools.partial(read_scalar, kind.accepts, name, requirement)
        case ListOf(item):
            return functools.partial(_read_list, reader(item, version, requirement), requirement)
        case MapOf(value):
            return functools.partial(_read_map, reader(value, version, requirement), requirement)
        case Converted(inner, read) if inner is ANY:
            return lambda value: read(value, version)
        case Converted(inner, read):
            inner_reader = reader(inner, version, requirement)
            return lambda value: read(inner_reader(value), version)
        case RecordOf():
            return record_reader(kind, version)


def read_scalar(accepts: Callable[[Any], bool], name: str, requirement: str, value: Any) -> Any:
    """Read a scalar.

    Args:
        accepts: decides whether a value is of the kind.
        name: the name of the kind, in words.
        requirement: the code of the row that holds the value.
        value: the parsed JSON.

    Returns:
        The same value.

    Raises:
        SpecError: ``requirement`` if the value is not of the kind.
    """
    if not accepts(value):
        raise wrong_type_error(name, requirement, value)
    return value


def _read_list(read: Reader, requirement: str, value: Any) -> tuple[Any, ...]:
    if type(value) is not list:
        raise wrong_type_error("a list", requirement, value)
    done: list[Any] = []
    try:
        for item in value:
            done.append(read(item))  # noqa: PERF401 - on an error, the number of items read so far is its index
    except SpecError:
        with error_path(f"/{len(done)}"):
            raise
    return tuple(done)


def _read_map(read: Reader, requirement: str, value: Any) -> dict[str, Any]:
    if type(value) is not dict:
        raise wrong_type_error("an object", requirement, value)
    done = {}
    for name, item in value.items():
        with error_path(f"/{escape_token(name)}"):
            done[name] = read(item)
    return done


def member_reader(row: FieldTableRow, version: FormatVersion) -> Reader:
    """Make the function that reads the value of a row; null is the same as absent.

    Args:
        row: the row.
        version: the format version.

    Returns:
        The function; its argument is the value or `ABSENT`, and it raises a `SpecError` at the first problem.
    """
    if row.reader_presence is Presence.OMITTED:
        return lambda _: row.default_value()
    read = reader(row.kind, version, row.rule.requirement)

    def read_row(value: Any) -> Any:
        if value is ABSENT or value is None:
            if row.reader_presence is Presence.REQUIRED:
                raise row.missing_error(version)
            return row.default_value()
        try:
            return read(value)
        except SpecError as error:
            with error_path(f"/{escape_token(row.rule.name)}"):
                raise SpecError(name_member(error.violation, row.rule.name)) from error.__cause__

    return read_row


def unknown_members_reader(kind: RecordOf) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Make the function that collects the unknown properties of an object, which a newer writer may have added.

    Args:
        kind: the kind of the record.

    Returns:
        The function, from the JSON object to its unknown members.
    """
    known = frozenset(rule.name for rule in field_rules(kind.cls).values()) | frozenset(kind.constants)
    return functools.partial(unknown_members, known)


def unknown_members(known: Collection[str], document: dict[str, Any]) -> dict[str, Any]:
    """Collect the members of an object except known ones.

    Args:
        known: the names of the known members.
        document: the JSON object.

    Returns:
        The other members.

    Raises:
        SpecError: TMD029 for a number that is too large for a double.
    """
    kept = {}
    for name, value in document.items():
        if name not in known:
            with error_path(f"/{escape_token(name)}"):
                kept[name] = check_finite(value)
    return kept


def check_constants(kind: RecordOf, document: dict[str, Any]) -> None:
    """Check the properties of an object that identify its kind.

    Args:
        kind: the kind of the record.
        document: the JSON object.

    Raises:
        SpecError: the requirement of the kind if a property is missing or has another value.
    """
    for name, expected in kind.constants.items():
        if document.get(name) != expected:
            found = document.get(name)
            message = f"{name} of {kind.title} is wrong"
            raise spec_error(kind.requirement, message, found=found, expected=expected, path=f"/{name}")


def apply_post_read(kind: RecordOf, record: Any, version: FormatVersion) -> Any:
    """Post-process a decoded record.

    Args:
        kind: the kind of the record.
        record: the record as decoded.
        version: the format version.

    Returns:
        The final record.
    """
    return kind.post_read(record, version) if kind.post_read else record


def retains_unknown(kind: RecordOf) -> bool:
    """Decide whether a record keeps properties that no version defines.

    Args:
        kind: the kind of the record.

    Returns:
        Whether it has the attribute ``extra``.
    """
    return any(field.name == "extra" for field in attrs.fields(kind.cls))


@functools.cache
def record_reader(kind: RecordOf, version: FormatVersion) -> Reader:
    """Make the function that reads a JSON object into a record.

    Args:
        kind: the kind of the record.
        version: the format version.

    Returns:
        The function; it raises a `SpecError` at the first problem.
    """
    table = tuple((row.attribute, row.rule.name, member_reader(row, version)) for row in field_table(kind, version))
    unknown = unknown_members_reader(kind) if retains_unknown(kind) else None

    def read(document: Any) -> Any:
        if type(document) is not dict:
            raise wrong_type_error(f"{kind.title}, an object", kind.requirement, document)
        check_constants(kind, document)
        values = {attribute: read_row(document.get(name, ABSENT)) for attribute, name, read_row in table}
        if unknown is not None:
            values["extra"] = unknown(document)
        return apply_post_read(kind, kind.cls(**values), version)

    return read
