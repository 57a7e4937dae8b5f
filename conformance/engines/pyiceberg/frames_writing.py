"""Scripts by engines of data frames: they write data files, and PyIceberg keeps the table and commits them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.adapter_sdk.script_steps import MAIN
from conformance.adapter_sdk.serve import Unsupported
from conformance.core.json_types import Json
from conformance.engines.pyiceberg.adapter import engine_type
from conformance.engines.pyiceberg.writing import PyTable, operations


def writing(name: str, append: Callable[[Any, Any], object]) -> dict[str, Callable[[dict[str, Any]], object]]:
    """What can be asked of an engine that adds rows to a table of PyIceberg.

    Args:
        name: of the engine.
        append: is given the table, and rows in Arrow.
    """

    class FrameWriter(PyTable):
        """A table whose rows the engine writes."""

        def append(self, operation: Json) -> None:
            if operation.get("branch", MAIN) != MAIN:
                raise Unsupported(f"{name} writes to main only")
            append(self.table, self.rows(operation["rows"]))
            self.table.refresh()

    return operations(engine_type, FrameWriter, name)
