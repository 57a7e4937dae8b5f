"""Write golden tables with Polars; run by ``tools/golden/make_writers.py``."""

from __future__ import annotations

from functools import partial
from importlib.metadata import version as version_of
from typing import Any


def write(kit: Any) -> None:
    """Write tables whose data files Polars writes and PyIceberg commits."""
    import polars as engine

    made = kit.Tables("polars", version_of("polars"))
    for version in (1, 2):
        table, create = kit.pyiceberg_table(made, version)
        frame = engine.LazyFrame(engine.from_arrow(kit.arrow_rows()))
        step = kit.attempt(
            "LazyFrame.sink_iceberg(table, mode='append')", partial(frame.sink_iceberg, mode="append"), table
        )
        made.record(version, create, [step], None)
    made.close()
