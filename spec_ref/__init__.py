"""Apache Iceberg's table spec as code: one module for each section, for format versions 1, 2 and 3.

This package works on bytes, objects and Arrow arrays. It does not import Spark, opens no network connection, reads no
clock and has no command line; all of that is in `conformance`. The names below are those of `spec_ref.api`, which is
imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spec_ref.api import (
        FormatVersion,
        PartitionSpec,
        Predicate,
        Schema,
        SpecError,
        TableMetadata,
        Transform,
        Type,
        Violation,
        apply_transform,
        check_metadata,
        col,
        hash_value,
        parse_transform,
        parse_type,
        read_metadata,
    )

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


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from spec_ref import api  # noqa: PLC0415 - loads everything that is public, so only on first use

    return getattr(api, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
