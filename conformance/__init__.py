"""iceberg-conformance: run golden vectors against any implementation of Apache Iceberg, and validate tables.

The names here are those of `conformance.api`, which is imported when they are used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.core import moved_modules

if TYPE_CHECKING:
    from conformance.api import (
        Finding,
        NotExamined,
        Run,
        Severity,
        SpecError,
        Table,
        ToolError,
        UsageError,
        load_table,
        parse_filter,
        plan,
        read_metadata,
        read_table,
        run_vectors,
        validate,
    )

__all__ = [
    "Finding",
    "NotExamined",
    "Run",
    "Severity",
    "SpecError",
    "Table",
    "ToolError",
    "UsageError",
    "load_table",
    "parse_filter",
    "plan",
    "read_metadata",
    "read_table",
    "run_vectors",
    "validate",
]


moved_modules.install_aliases()


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from conformance import api  # noqa: PLC0415 - loads everything that is public, so only when it is used

    return getattr(api, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
