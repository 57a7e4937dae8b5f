"""Partition specs and sort orders of the model.

Only the standard library and `attrs` are used, as in `conformance.scripts.model`.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence

from attrs import frozen

from conformance.scripts.errors import ForbiddenOperation, UnspecifiedOperation
from conformance.scripts.model_schemas import full_column_name, source_id
from spec_ref.core.json_types import Json

_SORT_DEFAULTS = {"transform": "identity", "direction": "asc", "null_order": "nulls-first"}


@frozen
class FieldSource:
    """A field of a partition spec or sort order: the id of its source, and the rest of its JSON."""

    id: int
    members: Mapping[str, str]


def partition_field(fields: Sequence[Json], part: Json) -> FieldSource:
    """Return a field of a partition spec of a script.

    Args:
        fields: the columns of the table.
        part: the field, in JSON, with the name of its source.

    Raises:
        ForbiddenOperation, ScriptError: the table has no such source.
    """
    return FieldSource(source_id(fields, part["source"]), {name: part[name] for name in ("transform", "name")})


def sort_fields(fields: Sequence[Json], parts: Iterable[Json]) -> tuple[FieldSource, ...]:
    """Return the fields of a sort order of a script; arguments and errors as in `partition_field`."""
    return tuple(
        FieldSource(
            source_id(fields, part["source"]),
            {name: part.get(name, default) for name, default in _SORT_DEFAULTS.items()},
        )
        for part in parts
    )


def name_sources(fields: Sequence[Json], sources: Iterable[FieldSource]) -> tuple[Json, ...]:
    """Return a partition spec or sort order in JSON, with the names that its sources have now."""
    return tuple({"source": full_column_name(fields, source.id), **source.members} for source in sources)


def check_field_names(spec: Sequence[FieldSource]) -> None:
    """Check that the fields of a partition spec have different names.

    Raises:
        ForbiddenOperation: two fields have one name.
    """
    names = [source.members["name"] for source in spec]
    if len(set(names)) < len(names):
        raise ForbiddenOperation("PAR002", f"two partition fields have the same name: {', '.join(names)}")


def check_removed(change: Json, removed: Container[str]) -> None:
    """Check that a change names no removed field; a writer may refuse that, or rename or change the void field.

    Args:
        change: the change of the partition spec, in JSON.
        removed: the names of the fields that were removed in version 1.

    Raises:
        UnspecifiedOperation: it names one.
    """
    if change["op"] == "add" or "to" in change:
        name = change["name"] if change["op"] == "add" else change["to"]
        if name in removed:
            raise UnspecifiedOperation(
                "PAR002", f"version 1 keeps the removed partition field {name!r}, maybe with its name"
            )
    if change["op"] != "add" and change["name"] in removed:
        raise UnspecifiedOperation("PAR010", f"version 1 keeps the removed partition field {change['name']!r} as void")
