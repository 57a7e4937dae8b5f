"""Check that the values of a variant column are within the bounds of its fields (Bounds for Variant; BND007, BND008).

A path leads through arrays: the bounds of a path apply to the elements of every array on the way and at its end. A
field that is absent, or is a variant null, does not count. Values of one equivalence class of the encoding have one
type, see `spec_ref.single_value.variant_bounds`. A value of another class than the bound, or an object, has another
type, and a field with such a value must not have a bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from spec_ref.core.errors import SpecError, Violation, abbreviated_repr, spec_error
from spec_ref.encodings.variant.json_path import parse_normalized_path
from spec_ref.encodings.variant.physical_types import PhysicalType, VariantPrimitive, VariantValue
from spec_ref.single_value.variant_bounds import VariantBound, equivalence_class, primitive_type_and_value


def values_at(node: VariantValue, names: tuple[str, ...]) -> Iterator[VariantValue]:
    """Find the primitives and objects at a path, in the elements of arrays too; variant nulls are omitted.

    Args:
        node: a decoded variant value.
        names: the names of the fields along the path; empty for the node itself.

    Yields:
        Each value at the path.
    """
    if isinstance(node, tuple):
        for element in node:
            yield from values_at(element, names)
    elif names:
        if isinstance(node, dict) and names[0] in node:
            yield from values_at(node[names[0]], names[1:])
    elif not (isinstance(node, VariantPrimitive) and node.physical is PhysicalType.NULL):
        yield node


def check_within_bounds(
    node: VariantValue, lower: VariantBound | None, upper: VariantBound | None
) -> Iterator[Violation]:
    """Find the fields of a value that are beyond the bounds of the column, or have a type different from their bounds.

    Args:
        node: the decoded value.
        lower: the lower bounds of the column, by path; None if it has none.
        upper: the upper bounds, likewise.

    Yields:
        A violation of BND007 for a value beyond a bound, or of BND008 for a type different from the bound's. Its path
        is ``/lower_bounds`` or ``/upper_bounds``, followed by ``#`` and the path of the field.
    """
    for name, bounds, sign in (("lower_bounds", lower, 1), ("upper_bounds", upper, -1)):
        for path, (type_, bound) in (bounds or {}).items():
            for value in values_at(node, parse_normalized_path(path)):
                problem = _problem(value, equivalence_class(type_), bound, sign)
                if problem is not None:
                    code, message = problem
                    found = value.value if isinstance(value, VariantPrimitive) else value
                    beyond = f"at {'least' if sign > 0 else 'most'} {abbreviated_repr(bound)}"
                    expected = f"the type of the bound, {type_}" if code == "BND008" else beyond
                    yield spec_error(code, message, found=found, expected=expected, path=f"/{name}#{path}").violation


def _problem(value: VariantValue, wanted: str, bound: Any, sign: int) -> tuple[str, str] | None:
    try:
        type_, found = primitive_type_and_value(value)
    except SpecError:
        return "BND008", "a field with bounds has an object among its values"
    if equivalence_class(type_) != wanted:
        return "BND008", "a field with bounds has values of another variant type"
    if isinstance(found, float) and math.isnan(found):
        return None
    if (found < bound) if sign > 0 else (found > bound):
        return "BND007", f"a value of a field is {'below its lower' if sign > 0 else 'above its upper'} bound"
    return None
