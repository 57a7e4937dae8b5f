"""Writing records as JSON objects, by the field rules (Writer requirements; Appendix C).

The same rows make two forms: JSON values, for who wants to look at them, and JSON text, for files: the text of a large
table takes half the time when no values are made on the way.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from json.encoder import encode_basestring
from typing import Any, TypeAlias

from spec_ref.core.errors import SpecError, at
from spec_ref.core.records import field_rules
from spec_ref.core.versions import FormatVersion, Presence
from spec_ref.json.documents import DOCUMENT, dumps, escaped
from spec_ref.json.reading import Row, keeps_unknown, read_scalar, rows
from spec_ref.json.wire_types import CONDITION_NAMES, Kind, ListOf, MapOf, RecordOf, Scalar, Via

Writer: TypeAlias = Callable[[Any], Any]


class _Names(dict[str, str]):
    """The text of names of members, with the colon, remembered: there are few of them, and each many times."""

    def __missing__(self, name: str) -> str:
        text = encode_basestring(name) + ":"
        if len(self) < MOST_NAMES and len(name) < LONGEST_NAME:
            self[name] = text
        return text


MOST_NAMES, LONGEST_NAME = 4096, 100
"""How much is remembered, whatever the tables are that a process gets to see."""

_names = _Names()


def string_map(values: Mapping[str, str]) -> str:
    """An object of strings as JSON text; a value that is no string is a TypeError."""
    names, string = _names, encode_basestring
    return f"{{{','.join([f'{names[name]}{string(value)}' for name, value in values.items()])}}}"


WORDS: dict[str, Any] = {
    **CONDITION_NAMES,
    "boolean": {True: "true", False: "false"},
    "string": encode_basestring,
    "string_map": string_map,
    "dumps": dumps,
}
"""What the conditions and texts of kinds may call."""


def writer(kind: Kind, version: FormatVersion, requirement: str = DOCUMENT, *, text: bool = False) -> Writer:
    """The function that writes a value, and raises a `SpecError` for one that the version cannot hold.

    Args:
        kind: what the value is.
        version: the format version that is written.
        requirement: the code of the row that the value stands in.
        text: whether to write JSON text; otherwise JSON values.
    """
    match kind:
        case Scalar(name):
            checked = functools.partial(read_scalar, kind.accepts, name, requirement)
            if not text:
                return checked
            shown: Writer = eval(f"lambda v: f'{{{kind.text.format(v='v')}}}'", WORDS)  # noqa: S307
            return lambda value: shown(checked(value))
        case ListOf(item):
            items = functools.partial(_write_list, writer(item, version, requirement, text=text))
            return (lambda values: _list_text(items(values))) if text else items
        case MapOf(value):
            members = functools.partial(_write_map, writer(value, version, requirement, text=text))
            return (lambda values: _members_text(members(values))) if text else members
        case Via(inner, _, write):
            inner_writer = writer(inner, version, requirement, text=text)
            return lambda value: inner_writer(write(value, version))
        case RecordOf():
            return record_writer(kind, version, text=text)


def _list_text(items: list[str]) -> str:
    if not items:
        return "[]"
    items[0] = "[" + items[0]  # rather than before the whole text, which would be copied
    items[-1] += "]"
    return ",".join(items)


def _members_text(members: dict[str, str]) -> str:
    return "{" + ",".join([f"{encode_basestring(name)}:{text}" for name, text in members.items()]) + "}"


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


def _write_row(row: Row, version: FormatVersion, *, text: bool) -> Writer:
    write = writer(row.kind, version, row.rule.requirement, text=text)

    def write_row(value: Any) -> Any:
        if value is None:
            raise row.missing(version)
        try:
            return write(value)
        except SpecError:
            with at(f"/{escaped(row.rule.name)}"):
                raise

    return write_row


def _condition(row: Row, v: str) -> str | None:
    """When a row is written; None for always."""
    if row.write is Presence.REQUIRED and row.read is Presence.REQUIRED:
        return None
    if row.write is Presence.REQUIRED or row.absent() is None:
        # A required field may be unknown where the object was carried from a version that did not have it.
        return f"{v} is not None"
    return f"{v} is not None and {v} != absent_{v}"


def record_writer(kind: RecordOf, version: FormatVersion, *, text: bool = False) -> Writer:
    """The function that writes a record, properties in the order of the spec's table."""
    return _text_writer(kind, version) if text else _value_writer(kind, version)


def _written(
    kind: RecordOf, version: FormatVersion, *, text: bool
) -> Iterator[tuple[Row, str, str | None, Writer, Any]]:
    """The rows that a version writes: the row, its variable, when it is written, its writer, and its default."""
    for index, row in enumerate(rows(kind, version)):
        if row.write is not Presence.OMITTED or row.retained:
            yield row, f"v{index}", _condition(row, f"v{index}"), _write_row(row, version, text=text), row.absent()


@functools.cache
def _value_writer(kind: RecordOf, version: FormatVersion) -> Writer:
    names: dict[str, Any] = {**WORDS, "unknown": _unknown_of(kind)}
    lines = ["def write(r):", f" o = {dict(kind.constants)!r}"]
    for row, v, condition, write_row, absent in _written(kind, version, text=False):
        names.update({f"write_{v}": write_row, f"absent_{v}": absent})
        test = row.kind.test.format(v=v) if isinstance(row.kind, Scalar) else "False"
        lines.append(f" {v} = r.{row.attribute}")
        lines += [f" if {condition}:"] if condition else [" if True:"]
        lines.append(f"  o[{row.rule.name!r}] = {v} if {test} else write_{v}({v})")
    lines += [" if r.extra: o.update(unknown(r.extra))"] if keeps_unknown(kind) else []
    return _compiled([*lines, " return o"], names)


@functools.cache
def _text_writer(kind: RecordOf, version: FormatVersion) -> Writer:
    names: dict[str, Any] = {**WORDS, "members": _members, "unknown": _unknown_of(kind)}
    names["again"] = _value_writer(kind, version)
    lines = ["def write(r):", " try:"]
    parts = [f',"{name}":"{value}"' for name, value in kind.constants.items()]
    for row, v, condition, write_row, absent in _written(kind, version, text=True):
        names.update({f"write_{v}": write_row, f"absent_{v}": absent})
        start = f',"{row.rule.name}":'
        if isinstance(row.kind, Scalar):
            shown, test = row.kind.text.format(v=v), row.kind.text_test.format(v=v)
        else:
            shown, test = f"write_{v}({v})", "True"
        lines.append(f"  {v} = r.{row.attribute}")
        if condition:
            lines.append(f"  if not ({condition}): s{v} = {v} = ''")
            lines.append(f"  elif {test}: s{v}, {v} = {start!r}, {shown}")
            lines.append(f"  else: write_{v}({v})")
            parts.append(f"{{s{v}}}{{{v}}}")
        else:
            lines.append(f"  if not ({test}): write_{v}({v})")
            parts.append(f"{start}{{{shown}}}")
    if keeps_unknown(kind):
        lines.append("  more = members(unknown(r.extra)) if r.extra else ''")
        parts.append("{more}")
    first_is_sure = parts[0].startswith(",")
    made = "".join(parts)
    lines.append(f"  return f'{{{{{made[1:]}}}}}'" if first_is_sure else f"  return '{{' + f'{made}'[1:] + '}}'")
    # Escaping a string tells whether it is one, so that the conditions need not; the values then tell what is wrong.
    lines.append(" except TypeError: return dumps(again(r))")
    return _compiled(lines, names)


def _compiled(lines: list[str], names: dict[str, Any]) -> Writer:
    exec("\n".join(lines), names)  # noqa: S102 - the lines are made of the field tables alone
    made: Writer = names["write"]
    return made


def _members(values: dict[str, Any]) -> str:
    """Members to append to the text of an object, each after a comma."""
    return "".join(f",{encode_basestring(name)}:{dumps(value)}" for name, value in values.items())


def _unknown_of(kind: RecordOf) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """Takes the properties that no version knows, as they were read; a name that a version knows is not one of them."""
    known = frozenset(rule.name for rule in field_rules(kind.cls).values()) | frozenset(kind.constants)
    return lambda extra: {name: value for name, value in extra.items() if name not in known}
