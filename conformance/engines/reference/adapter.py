"""The adapters of the reference implementation, `spec_ref`: ``reference`` and ``reference:plain``.

They differ only in the functions that `conformance.operations.forms` lists. Answers come from ``reference.py`` of each
family of operations.

An operation raises `SpecError` for input that the spec refuses: pass `REFUSALS` to `serve` with the operations.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from conformance.adapter_sdk.serve import Arguments, serve
from conformance.operations.families import Family, families
from conformance.operations.forms import FAST, PLAIN, functions
from conformance.version import tool_version
from spec_ref.core.errors import SpecError

REFUSALS = (SpecError,)
"""The exceptions of the operations for input that the spec forbids."""


NAMES = {FAST: "reference", PLAIN: "reference:plain"}
"""The adapter of each form of the reference."""


def implementation(form: str = FAST) -> dict[str, Any]:
    """Return the description of the implementation for ``start``."""
    return {"implementation": NAMES[form], "version": tool_version(), "format_versions": [1, 2, 3]}


def operations(form: str = FAST) -> dict[str, Callable[[Arguments], object]]:
    """Return the operations by name.

    Args:
        form: the form of the reference, `FAST` or `PLAIN` (`conformance.operations.forms`).
    """
    return {
        name: _import_on_first_call(family, name, form)
        for family in families()
        if family.has_module("reference")
        for name in family.operations
    }


def _import_on_first_call(family: Family, name: str, form: str) -> Callable[[Arguments], object]:
    """Return an operation that imports its module on first use, as some imports take longer than the answer."""

    @cache
    def operation() -> Callable[[Arguments], object]:
        found: dict[str, Callable[[Arguments], object]] = family.load_module("reference").operations(functions(form))
        return found[name]

    return lambda args: operation()(args)


def main() -> None:
    """Serve the reference on standard input and output."""
    serve(implementation(), operations(), REFUSALS)


if __name__ == "__main__":
    main()
