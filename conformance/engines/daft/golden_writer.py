"""Write golden tables with Daft; run by ``tools/golden/make_writers.py``."""

from __future__ import annotations

from importlib.metadata import version as version_of
from typing import Any


def write(kit: Any) -> None:
    """Write tables whose data files Daft writes and PyIceberg commits."""
    import daft as engine

    made = kit.Tables("daft", version_of("daft"))
    for version in (1, 2):
        table, create = kit.pyiceberg_table(made, version)
        frame = engine.from_arrow(kit.arrow_rows())
        step = kit.attempt("DataFrame.write_iceberg(table)", frame.write_iceberg, table)
        made.record(version, create, [step], None)
    made.close()
