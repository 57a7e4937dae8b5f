"""Reconstruct a shredded variant from the fields that store it (Appendix A, Parquet; Parquet's Variant Shredding).

A shredded variant is a group of ``metadata``, ``value`` and ``typed_value``. What fits the type of ``typed_value`` is
stored there: a primitive as a column of that type, an array as a list, an object as a group of fields; each element and
each field is again a group of ``value`` and ``typed_value``. Everything else is in ``value``, in the encoding of
`spec_ref.encodings.variant.value`. All names are in the one dictionary ``metadata``. This module has the rule for one
value; `spec_ref.data_files.variant_shredding_schema` checks the schema of a file, and
`spec_ref.columnar.encodings.variant.shredding` applies the rule to the rows of an Arrow array.

Decided here, because Parquet's text leaves a choice to readers (contradiction E30):

- These are refused, because readers would return different values: a value beside a typed value that is not an object;
  beside shredded fields, a value that is not an object, or an object with a field that is shredded.
- An object may be in ``value`` alone, and the groups of shredded fields may be optional, though no writer should do so.
- If both are missing where a value is needed, as in a row or in an array, the value is the variant null.
- A decimal has the smallest of the three decimal types that holds the precision of its column.
"""

from __future__ import annotations

from spec_ref.core.errors import spec_error
from spec_ref.encodings.variant.physical_types import PhysicalType, VariantPrimitive, VariantValue

REQUIREMENT = "PQT005"

NULL = VariantPrimitive(PhysicalType.NULL, None)
"""The value to use if a needed value is missing."""


def reconstruct(
    value: VariantValue | None, typed: VariantValue | None, shredded: frozenset[str] = frozenset()
) -> VariantValue | None:
    """Reconstruct a value from the two fields that store it.

    Args:
        value: the value of ``value``; None for null.
        typed: the value of ``typed_value``; for an object, the fields that are not missing. None for null.
        shredded: the names of the fields that ``typed_value`` has columns for.

    Returns:
        The value; None if it is missing.

    Raises:
        SpecError: PQT005 if both have a value, and the values are not parts of one object.
    """
    if typed is None or value is None:
        return value if typed is None else typed
    if not isinstance(typed, dict):
        message = "the variant has both a value and a typed value"
        raise spec_error(REQUIREMENT, message, aspect="two-values", expected="one of them, or an object")
    if not isinstance(value, dict):
        message = "the variant has shredded fields and a value that is not an object"
        raise spec_error(REQUIREMENT, message, aspect="value-not-object", expected="an object")
    if both := shredded & value.keys():
        message = "a shredded field of the variant is also in the value"
        raise spec_error(REQUIREMENT, message, aspect="field-twice", found=min(both), expected="either")
    return {**value, **typed}
