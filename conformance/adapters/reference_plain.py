"""The adapter ``reference:plain``: the reference through its definitions alone, without a kernel.

What it shares with ``reference``, and what it does not, is told by `conformance.adapters.reference_forms`.
"""

from __future__ import annotations

from functools import partial

from conformance.adapters import reference
from conformance.adapters.reference import REFUSALS
from conformance.adapters.reference_forms import PLAIN
from conformance.adapters.serve import serve

__all__ = ["REFUSALS", "implementation", "operations"]

implementation = partial(reference.implementation, PLAIN)
operations = partial(reference.operations, PLAIN)


def main() -> None:
    """Serve it on standard input and output."""
    serve(implementation(), operations(), REFUSALS)


if __name__ == "__main__":
    main()
