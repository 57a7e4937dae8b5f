"""The fields that identify a row (Identifier Field IDs).

Engines have to ensure that no two rows have the same identifier; the format does not enforce it (IDF004).
"""

from __future__ import annotations

from collections.abc import Iterator

from spec_ref.core.errors import Description, SpecError, Violation, spec_error
from spec_ref.data_types.types import DOUBLE, FLOAT, ListType, MapType, is_primitive
from spec_ref.schemas.schema import Column, Schema

NON_IDENTIFIER_TYPES = (FLOAT, DOUBLE)
"""The types whose values cannot identify a row (IDF003)."""


def _problem(field_id: int, column: Column | None) -> SpecError | None:
    if column is None:
        return spec_error(
            "IDF001",
            "the schema does not have a field with the identifier field id",
            found=field_id,
            aspect="unknown-field",
        )
    if not is_primitive(column.type):
        return spec_error(
            "IDF001",
            "an identifier field is not primitive",
            found=Description(f"{column.name}: {column.type}"),
            aspect="not-primitive",
        )
    if any(isinstance(parent.type, (ListType, MapType)) for parent in column.parents):
        return spec_error("IDF002", "an identifier field is inside a list or map", found=column.name)
    if column.type in NON_IDENTIFIER_TYPES:
        return spec_error(
            "IDF003",
            "an identifier field is a float or double",
            found=Description(f"{column.name}: {column.type}"),
            aspect="floating-point",
        )
    if not all(around.required for around in (*column.parents, column)):
        return spec_error(
            "IDF003",
            "an identifier field, or a struct that contains it, is optional",
            found=column.name,
            aspect="optional",
        )
    return None


def identifier_problems(schema: Schema) -> Iterator[Violation]:
    """Check the identifier fields of a schema.

    Args:
        schema: the schema.

    Yields:
        A violation of IDF001 to IDF003 for each unsuitable field, with the JSON pointer relative to the schema.
    """
    columns = {column.id: column for column in schema.columns()} if schema.identifier_field_ids else {}
    for place, field_id in enumerate(schema.identifier_field_ids):
        problem = _problem(field_id, columns.get(field_id))
        if problem is not None:
            found = problem.violation
            yield Violation(
                requirement=found.requirement,
                message=found.message,
                aspect=found.aspect,
                found=found.found,
                path=f"/identifier-field-ids/{place}",
            )
