"""Where tables are written that vectors ask for: in a folder of the tool, which is removed with all that is in it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from attrs import evolve

from conformance.vectors import Vector

WRITING = "table.write"


@contextmanager
def places(vectors: Iterable[Vector]) -> Iterator[tuple[Vector, ...]]:
    """The vectors, of which those that write a table name a place of its own for it; all are removed at the end."""
    every = tuple(vectors)
    if not any(vector.operation.name == WRITING for vector in every):
        yield every
        return
    with tempfile.TemporaryDirectory(prefix="iceberg-conformance-written-", ignore_cleanup_errors=True) as folder:
        root = os.path.realpath(folder)
        yield tuple(
            evolve(vector, args={**vector.args, "table": os.path.join(root, str(number), "table")})
            if vector.operation.name == WRITING
            else vector
            for number, vector in enumerate(every)
        )


def clear(vector: Vector) -> None:
    """Remove the table of a vector that `places` gave, once it is judged."""
    if vector.operation.name == WRITING:
        shutil.rmtree(os.path.dirname(vector.args["table"]), ignore_errors=True)
