"""The adapters of the reference implementation, `spec_ref`: ``reference`` and ``reference:plain``.

They differ in what `conformance.operations.forms` lists, and nowhere else. What is answered is ``reference.py`` of each
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
"""What the operations raise where the spec refuses the input."""


NAMES = {FAST: "reference", PLAIN: "reference:plain"}
"""The adapters, by the form of the reference that each runs."""


def implementation(form: str = FAST) -> dict[str, Any]:
    """Who answers."""
    return {"implementation": NAMES[form], "version": tool_version(), "format_versions": [1, 2, 3]}


def operations(form: str = FAST) -> dict[str, Callable[[Arguments], object]]:
    """What can be asked of the reference, by name.

    Args:
        form: which of its two forms answers, `FAST` or `PLAIN` (`conformance.operations.forms`).
    """
    return {
        name: _when_asked(family, name, form)
        for family in families()
        if family.has("reference")
        for name in family.operations
    }


def _when_asked(family: Family, name: str, form: str) -> Callable[[Arguments], object]:
    """An operation whose module is loaded with the first question, as some take longer to load than to answer."""

    @cache
    def operation() -> Callable[[Arguments], object]:
        found: dict[str, Callable[[Arguments], object]] = family.load("reference").operations(functions(form))
        return found[name]

    return lambda args: operation()(args)


def main() -> None:
    """Serve the reference on standard input and output."""
    serve(implementation(), operations(), REFUSALS)


if __name__ == "__main__":
    main()
