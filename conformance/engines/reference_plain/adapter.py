"""The adapter ``reference:plain``: the reference through its definitions alone, without a kernel.

`conformance.operations.forms` lists the functions in which it differs from ``reference``; all others are shared, as is
the code that decodes and encodes data files (`spec_ref.data_files`, through pyarrow) from and to rows of Python values.
"""

from __future__ import annotations

from functools import partial

from conformance.adapter_sdk.serve import serve
from conformance.engines.reference import adapter as reference
from conformance.engines.reference.adapter import REFUSALS
from conformance.operations.forms import PLAIN

__all__ = ["REFUSALS", "implementation", "operations"]

implementation = partial(reference.implementation, PLAIN)
operations = partial(reference.operations, PLAIN)


def main() -> None:
    """Serve the plain form of the reference on standard input and output."""
    serve(implementation(), operations(), REFUSALS)


if __name__ == "__main__":
    main()
