"""One codec between JSON objects and records, derived from the field rules (Writer requirements; Appendix C).

For a kind of record and a format version, `reader` and `writer` generate one Python function from the rows of the
record's field table: which property, what it holds, and what that version does with it. Nothing else decides about
versions. `collect` walks the same rows without stopping at the first thing that is wrong.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from typing import Any

import attrs

from spec_ref.errors import SpecError, Violation, at, violation
from spec_ref.json_document import DOCUMENT, escaped
from spec_ref.json_kinds import Kept, Kind, ListOf, MapOf, RecordOf, Scalar, Via, holds_strings
from spec_ref.records import RULE, field_rules
from spec_ref.versions import FieldRule, FormatVersion, Rule

ABSENT: Any = object()
BROKEN: Any = object()
"""What `collect` gives for a value that could not be read."""

Reader = Callable[[Any], Any]
Writer = Callable[[Any], Any]


@attrs.frozen
class Row:
    """A row of a field table, for one format version."""

    attribute: str
    rule: FieldRule
    kind: Kind
    read: Rule
    write: Rule
    kept: bool
    """Whether the row is kept although the version omits it (`Kept`)."""

    def absent(self) -> Any:
        """What a reader takes where the field is missing."""
        missing = self.rule.missing
        if isinstance(missing, attrs.Factory):  # type: ignore[arg-type]
            return missing.factory()
        return None if missing is attrs.NOTHING else missing

    def missing(self, version: FormatVersion) -> SpecError:
        return violation(
            self.rule.requirement,
            f"{self.rule.name} is missing",
            expected=f"a required {self.rule.name}",
            path=f"/{escaped(self.rule.name)}",
            format_version=version,
        )


@functools.cache
def rows(kind: RecordOf, version: FormatVersion) -> tuple[Row, ...]:
    """The rows of a record's table as one format version sees them."""
    made = []
    for attribute, rule in field_rules(kind.cls).items():
        field_kind = kind.kinds.get(attribute, rule.type)
        kept = isinstance(field_kind, Kept)
        if isinstance(field_kind, Kept):
            field_kind = field_kind.kind
        reads = rule.read(version) if kind.carried else rule.write(version)
        if reads is Rule.OMITTED and kept:
            reads = Rule.OPTIONAL
        made.append(Row(attribute, rule, field_kind, reads, rule.write(version), kept))
    return tuple(made)


def wrong(kind_name: str, requirement: str, value: Any) -> SpecError:
    """The error for a value of another kind."""
    return violation(requirement, "the value is of the wrong kind", found=value, expected=kind_name)


def finite(value: Any) -> Any:
    """A JSON value that the spec does not know, kept as it is; a number no double can hold is refused."""
    pending = [value]
    while pending:
        item = pending.pop()
        if type(item) is float and not math.isfinite(item):
            raise violation(DOCUMENT, "a number is too large for a double", found=item)
        if type(item) is dict:
            pending.extend(item.values())
        elif type(item) is list:
            pending.extend(item)
    return value


# Reading


def reader(kind: Kind, version: FormatVersion, requirement: str = DOCUMENT) -> Reader:
    """The function that reads a JSON value of the kind, and raises a `SpecError` at the first thing wrong.

    ``requirement`` is the code of the row that the value stands in.
    """
    match kind:
        case Scalar(name):
            return functools.partial(_read_scalar, kind.accepts, name, requirement)
        case ListOf(item):
            return functools.partial(_read_list, reader(item, version, requirement), requirement)
        case MapOf(value):
            return functools.partial(_read_map, reader(value, version, requirement), requirement)
        case Via(inner, read):
            inner_reader = reader(inner, version, requirement)
            return lambda value: read(inner_reader(value), version)
        case Kept(inner):
            return reader(inner, version, requirement)
        case RecordOf():
            return record_reader(kind, version)


def _read_scalar(accepts: Callable[[Any], bool], name: str, requirement: str, value: Any) -> Any:
    if not accepts(value):
        raise wrong(name, requirement, value)
    return value


def _read_list(read: Reader, requirement: str, value: Any) -> tuple[Any, ...]:
    if type(value) is not list:
        raise wrong("a list", requirement, value)
    done: list[Any] = []
    try:
        for item in value:
            done.append(read(item))  # noqa: PERF401 - the length done so far is the place of an error
    except SpecError:
        with at(f"/{len(done)}"):
            raise
    return tuple(done)


def _read_map(read: Reader, requirement: str, value: Any) -> dict[str, Any]:
    if type(value) is not dict:
        raise wrong("an object", requirement, value)
    done = {}
    for name, item in value.items():
        with at(f"/{escaped(name)}"):
            done[name] = read(item)
    return done


def _read_row(row: Row, version: FormatVersion) -> Reader:
    """Reads what stands in a row, or `ABSENT`; null is the same as absent."""
    read = reader(row.kind, version, row.rule.requirement)

    def read_row(value: Any) -> Any:
        if value is ABSENT or value is None:
            if row.read is Rule.REQUIRED:
                raise row.missing(version)
            return row.absent()
        try:
            return read(value)
        except SpecError:
            with at(f"/{escaped(row.rule.name)}"):
                raise

    return read_row


def _unknown(kind: RecordOf) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Takes the properties that no version knows, which a newer writer may have added, out of an object."""
    known = frozenset(rule.name for rule in field_rules(kind.cls).values()) | frozenset(kind.constants)

    def unknown(document: dict[str, Any]) -> dict[str, Any]:
        kept = {}
        for name, value in document.items():
            if name not in known:
                with at(f"/{escaped(name)}"):
                    kept[name] = finite(value)
        return kept

    return unknown


def _constant(kind: RecordOf, document: dict[str, Any]) -> None:
    for name, expected in kind.constants.items():
        if document.get(name) != expected:
            found = document.get(name)
            message = f"{name} is {expected} in {kind.title}"
            raise violation(kind.requirement, message, found=found, expected=expected, path=f"/{name}")


def finished(kind: RecordOf, made: Any, version: FormatVersion) -> Any:
    """The record that is meant by the record of what was read."""
    return kind.finish(made, version) if kind.finish else made


def _keeps_unknown(kind: RecordOf) -> bool:
    return any(field.name == "extra" for field in attrs.fields(kind.cls))


def _plain(kind: RecordOf) -> bool:
    """Whether the constructor does nothing but fill the slots, so that a generated reader may do it, faster."""
    return not (
        hasattr(kind.cls, "__attrs_post_init__")
        or any(field.converter or field.validator or not field.init for field in attrs.fields(kind.cls))
        or any(RULE not in field.metadata and field.name != "extra" for field in attrs.fields(kind.cls))
    )


@functools.cache
def record_reader(kind: RecordOf, version: FormatVersion) -> Reader:
    """Generate the function that reads a JSON object into a record."""
    table = rows(kind, version)
    names: dict[str, Any] = {"ABSENT": ABSENT, "holds_strings": holds_strings, "unknown": _unknown(kind)}
    names["other"] = lambda value: wrong(f"{kind.title}, an object", kind.requirement, value)
    names["constant"] = functools.partial(_constant, kind)
    names.update(make=kind.cls, finish=kind.finish, version=version)
    present = sum(row.read is not Rule.OMITTED for row in table) + len(kind.constants)
    lines = ["def read(o):", " if type(o) is not dict: raise other(o)", " get = o.get", f" n = {present}"]
    lines += [" constant(o)"] if kind.constants else []
    values = []
    for index, row in enumerate(table):
        v = f"v{index}"
        if row.read is Rule.OMITTED:
            names[f"absent{index}"] = row.absent
            lines.append(f" {v} = absent{index}()")
        else:
            names[f"row{index}"] = _read_row(row, version)
            test = row.kind.test.format(v=v) if isinstance(row.kind, Scalar) else "False"
            lines.append(f" {v} = get({row.rule.name!r}, ABSENT)")
            lines.append(f" if not ({test}):")
            lines.append(f"  if {v} is ABSENT: n -= 1")
            lines.append(f"  {v} = row{index}({v})")
        values.append((row.attribute, v))
    if _keeps_unknown(kind):
        # An object with as many properties as rows were found has no others: only then is it worth looking for them.
        lines.append(" extra = {} if len(o) == n else unknown(o)")
        values.append(("extra", "extra"))
    if _plain(kind):
        names.update(new=object.__new__, cls=kind.cls)
        names.update({f"set_{name}": getattr(kind.cls, name).__set__ for name, _ in values})
        lines.append(" r = new(cls)")
        lines += [f" set_{name}(r, {v})" for name, v in values]
    else:
        lines.append(f" r = make({', '.join(f'{name}={v}' for name, v in values)})")
    lines.append(" return finish(r, version)" if kind.finish else " return r")
    exec("\n".join(lines), names)  # noqa: S102 - the lines are made of the field tables alone
    made: Reader = names["read"]
    return made


# Writing


def writer(kind: Kind, version: FormatVersion, requirement: str = DOCUMENT) -> Writer:
    """The function that writes a value as JSON, and raises a `SpecError` for a value that the version cannot hold."""
    match kind:
        case Scalar(name):
            return functools.partial(_read_scalar, kind.accepts, name, requirement)
        case ListOf(item):
            return functools.partial(_write_list, writer(item, version, requirement))
        case MapOf(value):
            return functools.partial(_write_map, writer(value, version, requirement))
        case Via(inner, _, write):
            inner_writer = writer(inner, version, requirement)
            return lambda value: inner_writer(write(value, version))
        case Kept(inner):
            return writer(inner, version, requirement)
        case RecordOf():
            return record_writer(kind, version)


def _write_list(write: Writer, values: tuple[Any, ...]) -> list[Any]:
    done: list[Any] = []
    try:
        for value in values:
            done.append(write(value))  # noqa: PERF401 - the length done so far is the place of an error
    except SpecError:
        with at(f"/{len(done)}"):
            raise
    return done


def _write_map(write: Writer, values: dict[str, Any]) -> dict[str, Any]:
    done = {}
    for name, value in values.items():
        with at(f"/{escaped(name)}"):
            done[name] = write(value)
    return done


def _write_row(row: Row, version: FormatVersion) -> Writer:
    write = writer(row.kind, version, row.rule.requirement)

    def write_row(value: Any) -> Any:
        if value is None:
            raise row.missing(version)
        try:
            return write(value)
        except SpecError:
            with at(f"/{escaped(row.rule.name)}"):
                raise

    return write_row


@functools.cache
def record_writer(kind: RecordOf, version: FormatVersion) -> Writer:
    """Generate the function that writes a record as a JSON object, properties in the order of the spec's table."""
    names: dict[str, Any] = {"holds_strings": holds_strings}
    lines = ["def write(r):", f" o = {dict(kind.constants)!r}"]
    for index, row in enumerate(rows(kind, version)):
        if row.write is Rule.OMITTED and not row.kept:
            continue
        names[f"row{index}"] = _write_row(row, version)
        names[f"absent{index}"] = row.absent()
        test = row.kind.test.format(v="v") if isinstance(row.kind, Scalar) else "False"
        lines.append(f" v = r.{row.attribute}")
        indent = " "
        if row.write is not Rule.REQUIRED or row.read is not Rule.REQUIRED:
            # A required field may be unknown where the object was carried from a version that did not have it.
            indent = "  "
            differs = "" if row.write is Rule.REQUIRED or row.absent() is None else f" and v != absent{index}"
            lines.append(f" if v is not None{differs}:")
        lines.append(f"{indent}o[{row.rule.name!r}] = v if {test} else row{index}(v)")
    if _keeps_unknown(kind):
        lines.append(" if r.extra: o.update({name: value for name, value in r.extra.items() if name not in o})")
    lines.append(" return o")
    exec("\n".join(lines), names)  # noqa: S102 - the lines are made of the field tables alone
    made: Writer = names["write"]
    return made


# Collecting


def collect(kind: Kind, value: Any, version: FormatVersion, requirement: str, path: str, found: list[Violation]) -> Any:
    """Read a JSON value, note everything that is wrong, and give the value or `BROKEN`.

    Broken items are left out of lists and maps, so that the sound ones can still be looked at.
    """
    match kind:
        case Kept(inner):
            return collect(inner, value, version, requirement, path, found)
        case ListOf(item) if type(value) is list:
            items = (
                collect(item, one, version, requirement, f"{path}/{place}", found) for place, one in enumerate(value)
            )
            return tuple(one for one in items if one is not BROKEN)
        case MapOf(item) if type(value) is dict:
            members = {
                name: collect(item, one, version, requirement, f"{path}/{escaped(name)}", found)
                for name, one in value.items()
            }
            return {name: one for name, one in members.items() if one is not BROKEN}
        case Via(inner, read):
            before = len(found)
            wire = collect(inner, value, version, requirement, path, found)
            if wire is BROKEN or len(found) > before:
                return BROKEN
            return _noted(lambda: read(wire, version), path, found)
        case RecordOf() if type(value) is dict:
            before = len(found)
            values = collect_rows(kind, value, version, path, found)
            if len(found) > before:
                return BROKEN
            return _noted(lambda: finished(kind, kind.cls(**values), version), path, found)
        case _:
            return _noted(lambda: reader(kind, version, requirement)(value), path, found)


def collect_rows(
    kind: RecordOf, document: dict[str, Any], version: FormatVersion, path: str, found: list[Violation]
) -> dict[str, Any]:
    """The attributes of a record as far as they can be read, by name; those that cannot are `BROKEN`."""
    _noted(lambda: _constant(kind, document), path, found)
    values: dict[str, Any] = {}
    for row in rows(kind, version):
        value = document.get(row.rule.name)
        if row.read is Rule.OMITTED:
            values[row.attribute] = row.absent()
        elif value is None:
            values[row.attribute] = _noted(lambda row=row: _read_row(row, version)(ABSENT), path, found)  # type: ignore[misc]
        else:
            place = f"{path}/{escaped(row.rule.name)}"
            values[row.attribute] = collect(row.kind, value, version, row.rule.requirement, place, found)
    if _keeps_unknown(kind):
        values["extra"] = _noted(lambda: _unknown(kind)(document), path, found)
    return values


def _noted(read: Callable[[], Any], path: str, found: list[Violation]) -> Any:
    try:
        return read()
    except SpecError as error:
        found.append(attrs.evolve(error.violation, path=path + error.violation.path))
        return BROKEN


# A writer's duties


def duties(kind: Kind, value: Any, version: FormatVersion, path: str = "") -> Iterator[Violation]:
    """What a reader bears but a writer of the version should have done otherwise (VER005).

    Told are fields that the version leaves out, and fields that it requires and that are missing only because the object
    may be carried from an older version.
    """
    match kind:
        case Kept(inner) | Via(inner):
            yield from duties(inner, value, version, path)
        case ListOf(item) if type(value) is list:
            for place, one in enumerate(value):
                yield from duties(item, one, version, f"{path}/{place}")
        case MapOf(item) if type(value) is dict:
            for name, one in value.items():
                yield from duties(item, one, version, f"{path}/{escaped(name)}")
        case RecordOf() if type(value) is dict:
            for row in rows(kind, version):
                place = f"{path}/{escaped(row.rule.name)}"
                found = value.get(row.rule.name)
                if found is None and row.write is Rule.REQUIRED and row.read is not Rule.REQUIRED:
                    yield _duty(row.rule.requirement, f"{row.rule.name} is missing", place, version)
                elif found is not None and row.write is Rule.OMITTED:
                    yield _duty("VER005", f"the version has no {row.rule.name} in {kind.title}", place, version)
                elif found is not None:
                    yield from duties(row.kind, found, version, place)


def _duty(requirement: str, message: str, path: str, version: FormatVersion) -> Violation:
    return Violation(requirement=requirement, message=message, path=path, format_version=version)
