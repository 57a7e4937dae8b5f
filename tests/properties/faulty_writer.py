"""An adapter that loses the last row of every append after the first one."""

from __future__ import annotations

from typing import Any

from conformance.adapter_sdk.serve import serve
from conformance.engines.reference import adapter as reference


def main() -> None:
    operations: dict[str, Any] = reference.operations()
    right = operations["table.write"]

    def write(args: dict[str, Any]) -> Any:
        made: list[Any] = []
        for one in args["script"]["operations"]:
            late = one["op"] == "append" and any(other["op"] == "append" for other in made)
            made.append({**one, "rows": one["rows"][:-1]} if late else one)
        return right({**args, "script": {"operations": made}})

    serve(reference.implementation(), {**operations, "table.write": write}, reference.REFUSALS)


if __name__ == "__main__":
    main()
