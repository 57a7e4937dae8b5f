"""PyIceberg commits under a lock of the metastore that times out: A pauses with it, B commits, A goes on.

Arguments: the properties of the catalog as JSON, and for how many seconds A pauses. Prints as JSON who was
acknowledged, in this order, and the rows of the table then.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from typing import Any

import pyarrow as pa
from pyiceberg.catalog import load_catalog
from pyiceberg.exceptions import CommitFailedException


def rows(value: int) -> Any:
    """One row."""
    return pa.table({"x": pa.array([value], pa.int64())})


def main() -> None:
    """Let both commit."""
    properties, seconds = json.loads(sys.argv[1]), float(sys.argv[2])
    catalog = load_catalog("a", **properties)
    catalog.create_namespace("db")
    catalog.create_table("db.t", schema=rows(0).schema)
    written = threading.Event()
    acknowledged: list[str] = []
    write = catalog._write_metadata

    def slow(*given: Any, **named: Any) -> None:
        write(*given, **named)
        written.set()
        time.sleep(seconds)

    catalog._write_metadata = slow  # type: ignore[method-assign]

    def late() -> None:
        catalog.load_table("db.t").append(rows(1))
        acknowledged.append("A")

    thread = threading.Thread(target=late)
    thread.start()
    written.wait()
    other = load_catalog("b", **properties)
    while "B" not in acknowledged:
        try:
            other.load_table("db.t").append(rows(2))
        except CommitFailedException:  # A has the lock
            continue
        acknowledged.append("B")
    thread.join()
    found = other.load_table("db.t").scan().to_arrow()["x"].to_pylist()
    sys.stdout.write(json.dumps({"acknowledged": acknowledged, "rows": found}) + "\n")


if __name__ == "__main__":
    main()
