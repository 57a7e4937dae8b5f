"""Runs one faulty adapter over the protocol: ``python -m conformance.smoke NAME``; without a name, lists them."""

from __future__ import annotations

import sys

from conformance import smoke
from conformance.adapters.serve import serve
from conformance.engines.reference import adapter as reference


def main(arguments: list[str]) -> int:
    """Serve the adapter with the named fault until it is told to stop."""
    faults = smoke.faults()
    if len(arguments) != 1 or arguments[0] not in faults:
        listing = "\n".join(f"  {name:48} {fault.operation}" for name, fault in faults.items())
        print(f"usage: python -m conformance.smoke NAME\n\n{listing}", file=sys.stderr)
        return 2
    fault = faults[arguments[0]]
    implementation = {**reference.implementation(), "implementation": f"smoke:{fault.name}"}
    serve(implementation, smoke.with_fault(reference.operations(), fault), reference.REFUSALS)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
