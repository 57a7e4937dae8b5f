"""The public names of `import spec_ref`: functions over values, types and documents, which accept Python's own objects.

They do not open tables; `import conformance` has functions that do.
"""

from __future__ import annotations

from typing import Any

from spec_ref import hashing
from spec_ref.core.errors import SpecError, Violation
from spec_ref.core.versions import FormatVersion
from spec_ref.data_types.python_values import from_python
from spec_ref.data_types.types import Type
from spec_ref.expressions.columns import col
from spec_ref.expressions.predicates import Predicate
from spec_ref.partitioning.spec import PartitionSpec
from spec_ref.partitioning.transforms import Transform, parse_transform
from spec_ref.schemas.schema import Schema
from spec_ref.schemas.type_json import type_from_json
from spec_ref.table_metadata import TableMetadata, check_metadata, read_metadata


def parse_type(type_: str | dict[str, Any]) -> Type:
    """Parse a type.

    Args:
        type_: the type as the JSON of a schema states it (Appendix C): a name such as ``decimal(9,2)``, or a JSON
            object for a nested type.

    Returns:
        The type.

    Raises:
        SpecError: the code of the broken requirement.
    """
    return type_from_json(type_)


def hash_value(type_: Type | str, value: Any) -> int | None:
    """Compute the 32-bit hash of a value that bucket transforms use (Appendix B).

    Args:
        type_: the type of the value, or its text.
        value: a value of the type, as `spec_ref.data_types.python_values.from_python` accepts it.

    Returns:
        The hash as a signed 32-bit integer; None for null.

    Raises:
        SpecError: HSH009 if the type has no hash; the code of the type if ``value`` is not a value of it.
        TypeError: ``type_`` is neither a type nor a text.
    """
    type_ = _as_type(type_)
    return hashing.hash_value(type_, from_python(type_, value))


def apply_transform(transform: Transform | str, type_: Type | str, value: Any) -> Any:
    """Compute the partition value of a value (Partition Transforms).

    Args:
        transform: the transform, or its text, such as ``bucket[16]``.
        type_: the type of the value, or its text.
        value: a value of the type, as `spec_ref.data_types.python_values.from_python` accepts it.

    Returns:
        The partition value, as `spec_ref.data_types.values` represents values of the result type; None for null.

    Raises:
        SpecError: the code of the transform if it does not apply to the type; the code of the type if ``value`` is not
            a value of it.
        TypeError: ``transform`` is neither a transform nor a text, or ``type_`` is neither a type nor a text.
    """
    transform = parse_transform(transform) if isinstance(transform, str) else transform
    if not isinstance(transform, Transform):
        raise TypeError(f"the transform must be a Transform or its text, not {type(transform).__name__}")
    type_ = _as_type(type_)
    return transform.apply(type_, from_python(type_, value))


def _as_type(type_: Type | str) -> Type:
    if isinstance(type_, str):
        return parse_type(type_)
    if not isinstance(type_, Type):
        raise TypeError(f"the type must be a Type or its text, not {type(type_).__name__}")
    return type_


__all__ = [
    "FormatVersion",
    "PartitionSpec",
    "Predicate",
    "Schema",
    "SpecError",
    "TableMetadata",
    "Transform",
    "Type",
    "Violation",
    "apply_transform",
    "check_metadata",
    "col",
    "hash_value",
    "parse_transform",
    "parse_type",
    "read_metadata",
]
