"""Run scripts with data frame engines, which write data files; PyIceberg manages the table and commits them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.adapter_sdk.script_steps import MAIN
from conformance.adapter_sdk.serve import Unsupported
from conformance.engines.pyiceberg.adapter import engine_type
from conformance.engines.pyiceberg.writing import PyTable, operations
from spec_ref.core.json_types import Json


def writing_operations(
    name: str, append: Callable[[Any, Any], object]
) -> dict[str, Callable[[dict[str, Any]], object]]:
    """Return the operations of an engine that appends rows to PyIceberg's tables.

    Args:
        name: the name of the engine.
        append: a function of the table and the rows in Arrow.
    """

    class FrameWriter(PyTable):
        """A table whose rows the data frame engine writes."""

        def append(self, operation: Json) -> None:
            if operation.get("branch", MAIN) != MAIN:
                raise Unsupported(f"{name} writes to main only")
            append(self.table, self.rows(operation["rows"]))
            self.table.refresh()

    return operations(engine_type, FrameWriter, name)
