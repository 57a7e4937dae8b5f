"""Runs one faulty adapter over the protocol: ``python -m tests.faulty_adapters NAME``; without a name, lists them."""

from __future__ import annotations

import sys

from conformance.adapter_sdk.serve import serve
from conformance.engines.reference import adapter as reference
from tests import faulty_adapters


def main(arguments: list[str]) -> int:
    """Serve the adapter with the named fault until a stop request."""
    faults = faulty_adapters.faults()
    if len(arguments) != 1 or arguments[0] not in faults:
        listing = "\n".join(f"  {name:48} {fault.operation}" for name, fault in faults.items())
        print(f"usage: python -m tests.faulty_adapters NAME\n\n{listing}", file=sys.stderr)
        return 2
    fault = faults[arguments[0]]
    implementation = {**reference.implementation(), "implementation": f"faulty:{fault.name}"}
    serve(implementation, faulty_adapters.with_fault(reference.operations(), fault), reference.REFUSALS)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
