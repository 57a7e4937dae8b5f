"""Compare answers about tables: metadata, evolved schemas and specs, expired snapshots, applied name mappings.

Both sides are normalized where the spec leaves a choice: the order of lists whose items have ids,
whether an absent member is left out or empty, which new ids evolution chooses, and the spelling of types.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from conformance.core.json_text import dump_json
from conformance.operations.comparison import (
    MAX_DIFFERENCES,
    Comparator,
    Differences,
    json_differences,
    unordered_comparator,
)
from conformance.operations.table_metadata.wire import LONGS
from spec_ref.core.errors import SpecError
from spec_ref.core.records import evolve
from spec_ref.data_types.types import ListType, MapType, StructType, Type
from spec_ref.schemas.type_json import type_from_json, type_to_json

Form = dict[str, Any]

BY_ID: dict[str, tuple[str, ...]] = {
    "schemas": ("schema-id",),
    "partition-specs": ("spec-id",),
    "sort-orders": ("order-id",),
    "snapshots": ("snapshot-id",),
    "statistics": ("snapshot-id", "statistics-path"),
    "partition-statistics": ("snapshot-id", "statistics-path"),
    "encryption-keys": ("key-id",),
}
"""Lists whose order does not matter, and the keys that sort their items."""

OPAQUE = frozenset({"initial-default", "write-default"})
"""Members that are single values, whose nulls and empty collections are kept."""

NO_SNAPSHOT = -1
"""The id that engines write before v3 for "no current snapshot", instead of null or nothing (contradiction C17)."""


def _differences(expected: Any, got: Any) -> Differences:
    return tuple(islice(json_differences(expected, got), MAX_DIFFERENCES))


def _compact(value: Any) -> Any:
    """Return JSON without nulls and empty collections, which mean the same as absent members."""
    if isinstance(value, dict):
        members = {name: item if name in OPAQUE else _compact(item) for name, item in value.items()}
        return {
            name: item
            for name, item in members.items()
            if item is not None and (name in OPAQUE or (item != [] and item != {}))
        }
    return [_compact(item) for item in value] if isinstance(value, list) else value


def _sorted_lists(form: Form) -> Form:
    def key(item: Any, names: tuple[str, ...]) -> list[str]:
        return [dump_json(item.get(name)) for name in names] if isinstance(item, dict) else [dump_json(item)]

    return {
        name: sorted(member, key=lambda item, by=BY_ID[name]: key(item, by))  # type: ignore[misc]
        if name in BY_ID and isinstance(member, list)
        else member
        for name, member in form.items()
    }


def _with_text_longs(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: str(item) if name in LONGS and type(item) is int else _with_text_longs(item)
            for name, item in value.items()
        }
    return [_with_text_longs(item) for item in value] if isinstance(value, list) else value


def _fields(fields: Any) -> Any:
    """Return fields with types and defaults in canonical spelling; unchanged if they cannot be read."""
    try:
        struct = type_to_json(_drop_unknown_members(type_from_json({"type": "struct", "fields": fields})))
    except SpecError:
        return fields
    assert isinstance(struct, dict)
    return struct["fields"]


def _drop_unknown_members(type_: Type) -> Type:
    """Return the type without members that a newer writer added, which the canonical form leaves out."""
    match type_:
        case StructType(fields):
            known = tuple(evolve(field, type=_drop_unknown_members(field.type), extra={}) for field in fields)
            return evolve(type_, fields=known, extra={})
        case ListType(_, element):
            return evolve(type_, element=_drop_unknown_members(element), extra={})
        case MapType(_, key, _, value):
            return evolve(type_, key=_drop_unknown_members(key), value=_drop_unknown_members(value), extra={})
        case _:
            return type_


def _schema(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return schema
    form = {name: member for name, member in schema.items() if name != "type"}
    if "fields" in form:
        form["fields"] = _fields(form["fields"])
    if isinstance(form.get("identifier-field-ids"), list):
        form["identifier-field-ids"] = sorted(form["identifier-field-ids"], key=dump_json)
    return form


def _table(form: Any) -> Any:
    """Normalize what the canonical form and the JSON of metadata have in common."""
    if not isinstance(form, dict):
        return form
    made = dict(form)
    if isinstance(made.get("schemas"), list):
        made["schemas"] = [_schema(schema) for schema in made["schemas"]]
    if "schema" in made:
        made["schema"] = _schema(made["schema"])
    if isinstance(made.get("table-uuid"), str):
        made["table-uuid"] = made["table-uuid"].lower()
    return _compact(_sorted_lists(made))


def _select_members(args: Form, form: Any) -> Any:
    names = args.get("select")
    return form if names is None or not isinstance(form, dict) else {n: form[n] for n in form if n in names}


def compare_tables(args: Form, expected: Any, got: Any) -> Differences:
    """Compare the canonical form of a table, or the selected members."""
    sides = (_table(_with_text_longs(_select_members(args, side))) for side in (expected, got))
    return _differences(*sides)


def compare_table_json(args: Form, expected: Any, got: Any) -> Differences:
    """Compare the metadata JSON that a writer produced, or the selected members."""
    sides = (_table(_without_implied(_select_members(args, side))) for side in (expected, got))
    return _differences(*sides)


def _without_implied(document: Any) -> Any:
    """Return metadata without optional members: "no current snapshot", and a main branch that only repeats it."""
    if not isinstance(document, dict):
        return document
    refs = document.get("refs")
    if isinstance(refs, dict):
        plain = {"snapshot-id", "type"}
        kept = {name: ref for name, ref in refs.items() if name != "main" or set(_compact(ref)) != plain}
        document = {**document, "refs": kept}
    return {name: member for name, member in document.items() if name != "current-snapshot-id" or member != NO_SNAPSHOT}


# Evolution: new ids are compared by position, as a writer may choose any unused ids.


def field_id_places(fields: Any) -> Iterator[tuple[Form, str]]:
    """Yield the places of all field, element, key and value ids, in the order of the schema."""
    for field in fields:
        yield field, "id"
        yield from _nested_ids(field.get("type"))


def _nested_ids(type_: Any) -> Iterator[tuple[Form, str]]:
    if not isinstance(type_, dict):
        return
    yield from ((type_, name) for name in ("element-id", "key-id", "value-id") if name in type_)
    for name in ("element", "key", "value"):
        yield from _nested_ids(type_.get(name))
    if "fields" in type_:
        yield from field_id_places(type_["fields"])


def _renumber(places: list[tuple[Form, str]], last: int) -> int:
    """Renumber the ids above ``last`` as ``last + 1`` and so on, and return the highest id."""
    given: dict[Any, int] = {}
    for holder, name in places:
        found = holder.get(name)
        if type(found) is int and found > last:
            holder[name] = given.setdefault(found, last + 1 + len(given))
    return last + len(given)


def _highest(stated: Any, places: list[tuple[Form, str]], last: int) -> Any:
    """Renumber new ids; return the highest one if the stated last id is valid, else the stated one."""
    used = max((holder[name] for holder, name in places if type(holder.get(name)) is int), default=last)
    highest = _renumber(places, last)
    return highest if type(stated) is int and stated >= max(used, last) else stated


def compare_evolved_schemas(args: Form, expected: Any, got: Any) -> Differences:
    """Compare the fields of an evolved schema, and the last column id."""

    def form(answer: Form) -> Form:
        fields = _compact(_fields(answer["fields"]))
        last = _highest(answer["last-column-id"], list(field_id_places(fields)), args["last_column_id"])
        return {"fields": fields, "last-column-id": last}

    return _differences(form(expected), form(got))


def compare_evolved_specs(args: Form, expected: Any, got: Any) -> Differences:
    """Compare the fields of an evolved spec, whether the table already had it, and the last partition field id."""
    known = [spec["spec-id"] for spec in args["partition_specs"]]

    def form(answer: Form) -> Form:
        fields = [dict(field) for field in answer["fields"]]
        places = [(field, "field-id") for field in fields]
        last = _highest(answer["last-partition-id"], places, args["last_partition_id"])
        spec_id = answer["spec-id"] if answer["spec-id"] in known else "new"
        return {"spec-id": spec_id, "fields": _compact(fields), "last-partition-id": last}

    return _differences(form(expected), form(got))


COMPARATORS: dict[str, Comparator] = {
    "metadata.read": compare_tables,
    "metadata.write": compare_table_json,
    "metadata.upgrade": compare_tables,
    "metadata.check": unordered_comparator(),
    "schema.evolve": compare_evolved_schemas,
    "partition-spec.evolve": compare_evolved_specs,
    "retention.expire": unordered_comparator("snapshots", "refs"),
    "name-mapping.apply": unordered_comparator(),
}
"""The comparator of each operation."""
