"""Temporary folders for the tables that vectors write."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import evolve

from conformance.adapter_sdk.script_steps import WRITING
from conformance.adapter_sdk.serve import perform
from conformance.core.failures import HarnessFault
from conformance.core.lazy_imports import lazy_imports
from conformance.vectors import Vector

with lazy_imports():
    from conformance.adapter_sdk import table_requests
    from conformance.engines.reference import adapter as reference


@contextmanager
def table_folders(vectors: Iterable[Vector]) -> Iterator[tuple[Vector, ...]]:
    """Give each vector that writes a table a separate folder for it; all folders are removed at the end.

    For a vector that changes a table, the reference writes that table first.

    Raises:
        HarnessFault: the reference fails to write the table of a vector.
    """
    every = tuple(vectors)
    if not any(vector.operation.name in WRITING for vector in every):
        yield every
        return
    with tempfile.TemporaryDirectory(prefix="iceberg-conformance-written-", ignore_cleanup_errors=True) as folder:
        root = os.path.realpath(folder)
        yield tuple(
            evolve(vector, args=_request(vector, os.path.join(root, str(number), "table")))
            if vector.operation.name in WRITING
            else vector
            for number, vector in enumerate(every)
        )


def _request(vector: Vector, place: str) -> dict[str, Any]:
    """Return the arguments of a vector, with its table."""
    if vector.operation.name == "table.write":
        return {**vector.args, "table": place}
    table, history = base_table(vector.args["base"], place)
    return {"table": table, "operations": vector.args["operations"], "history": history}


def base_table(script: dict[str, Any], place: str) -> tuple[str, list[str | None]]:
    """Let the reference write the table of a script.

    Returns:
        The metadata file, and the snapshot of the branch main after each operation.

    Raises:
        HarnessFault: the reference fails.
    """
    # Imported here because loading Arrow takes longer than most requests.
    Path(place).parent.mkdir(parents=True, exist_ok=True)
    answer = perform(reference.operations(), "table.write", {"table": place, "script": script}, reference.REFUSALS)
    if "ok" not in answer:
        raise HarnessFault(f"the reference fails to write the table to be changed: {answer}")
    return answer["ok"]["metadata"], _main(answer["ok"]["locations"])


def _main(locations: list[str]) -> list[str | None]:
    """Return the current snapshot of each metadata file."""
    current = (table_requests.metadata(location).get("current-snapshot-id") for location in locations)
    return [None if id_ in (None, -1) else str(id_) for id_ in current]


def clear(vector: Vector) -> None:
    """Remove the table that `table_folders` provided for a vector, after its result is known."""
    if vector.operation.name == "table.write":
        shutil.rmtree(os.path.dirname(vector.args["table"]), ignore_errors=True)
    elif vector.operation.name == "table.change":  # the metadata file is in a folder of the table
        shutil.rmtree(Path(vector.args["table"]).parents[2], ignore_errors=True)
