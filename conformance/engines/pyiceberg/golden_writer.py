"""Write golden tables with PyIceberg; run by ``tools/golden/make_writers.py``."""

from __future__ import annotations

from importlib.metadata import version as version_of
from typing import Any


def write(kit: Any) -> None:
    """Write tables with PyIceberg's appends and deletes."""
    made = kit.Tables("pyiceberg", version_of("pyiceberg"))
    for version in (1, 2):
        table, create = kit.pyiceberg_table(made, version)
        steps = [
            kit.attempt("table.append(two rows)", table.append, kit.arrow_rows()),
            kit.attempt("table.delete('id = 2')", table.delete, "id = 2"),
        ]
        made.record(version, create, steps, "copy-on-write")
    made.close()
