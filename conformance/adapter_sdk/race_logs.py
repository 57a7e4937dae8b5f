"""Logs of races, as ``commit.replay`` asks for them: what adapters in Python share.

Only the standard library is imported, so that adapters run in the environment of the engine they speak for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

from conformance.adapter_sdk.serve import Arguments

Change = dict[str, Any]

SCHEMA_FIELDS = (("id", 1, "long", True), ("part", 2, "string", False))
"""The columns of every table: name, id, type, whether required."""

SCORE = ("score", 3, "double", False)
"""The column of a table that is partitioned by it."""

PARTITION_FIELD = 1000
"""The id of the field of the first partition spec."""

PROPERTIES = {
    "commit.retry.num-retries": "4",
    "commit.retry.min-wait-ms": "1",
    "commit.retry.max-wait-ms": "2",
}
PREFIX = "race."
"""The prefix of the properties that an answer includes."""

COMMITTED, CONFLICT = "committed", "conflict"


def columns(args: Arguments) -> tuple[tuple[str, int, str, bool], ...]:
    """The columns of the table that a request asks for."""
    return (*SCHEMA_FIELDS, SCORE) if args.get("partitioned_by") == SCORE[0] else SCHEMA_FIELDS


def partition_column(args: Arguments) -> tuple[str, int] | None:
    """The name and id of the column that the table is partitioned by at first; None for no partitions."""
    name = args.get("partitioned_by", "part")
    return next(((column, id_) for column, id_, _, _ in columns(args) if column == name), None)


def given_metadata(args: Arguments) -> dict[str, Any] | None:
    """The metadata of the table that a race begins with; None where it begins with an empty one.

    Nothing may be written to its location on disk.
    """
    if "table" not in args:
        return None
    metadata: dict[str, Any] = json.loads(Path(args["table"]).read_bytes())
    return metadata


def snapshot_ids(metadata: dict[str, Any] | None) -> list[int]:
    """The ids of the snapshots of a table that a race begins with, in the order of their commits."""
    return [one["snapshot-id"] for one in metadata["snapshots"]] if metadata else []


def file_name(path: str) -> str:
    """The name that requests and answers have for a file."""
    return path.rsplit("/", 1)[-1]


def partition_value(name: str, file: Change) -> Any:
    """The value that a file has of a partition field.

    Args:
        name: the name of the field: ``part``, ``score``, or another one, which is a bucket.
        file: the file, as a request gives it.
    """
    if name not in ("part", "score"):
        return file.get("bucket")
    text = file["part"]
    return float(text) if name == "score" and text is not None else text


def filter_column(args: Arguments) -> str:
    """The column whose value a filter names."""
    return "score" if args.get("partitioned_by") == "score" else "part"


class Conflict(Exception):
    """The implementation did not commit a change, because of what others committed."""


class Writer(Protocol):
    """One handle of an implementation on the table."""

    def load(self) -> None:
        """Read the table as it is now."""

    def stage(self, change: Change) -> None:
        """Plan a change on the table as it was loaded.

        Raises:
            Conflict: it is refused at once, which is reported at its commit.
        """

    def commit(self, *, reply: str | None = None) -> None:
        """Commit the planned change; the table as it then is becomes the loaded one.

        Raises:
            Conflict: it was not committed.
        """


def replayed(args: Arguments, open_writer: Callable[[], Writer], table: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Follow a log, and return the outcome of each commit and the final table.

    Args:
        args: the arguments of the request; the table has been made, and is empty.
        open_writer: opens one more handle.
        table: what the table is.
    """
    first = open_writer()
    for change in args["base"]:
        first.load()
        first.stage(change)
        first.commit()
    writers: dict[str, Writer] = {}
    refused: set[str] = set()
    ended = []
    for step in args["log"]:
        name = step["writer"]
        if name not in writers:
            writers[name] = open_writer()
        writer = writers[name]
        if step["do"] == "load":
            writer.load()
        elif step["do"] == "stage":
            refused.discard(name)
            try:
                writer.stage(step["change"])
            except Conflict:
                refused.add(name)
        elif name in refused:
            ended.append(CONFLICT)
        else:
            try:
                writer.commit(reply=step.get("reply"))
            except Conflict:
                ended.append(CONFLICT)
            else:
                ended.append(COMMITTED)
    return {"outcomes": ended, "table": table()}


def row_ids(files: Iterable[tuple[str, int | None, int]]) -> str:
    """Compare the row ids of data files with each other: ``none``, ``disjoint``, ``overlapping`` or ``missing``.

    Args:
        files: path, first row id and rows of every data file of the branches and tags whose snapshot has a
            ``first-row-id``.
    """
    ranges: dict[tuple[int, int], str] = {}
    for path, first, rows in files:
        if first is None:
            return "missing"
        if ranges.setdefault((first, first + rows), path) != path:
            return "overlapping"
    ordered = sorted(ranges)
    if not ranges:
        return "none"
    overlap = any(end > start for (_, end), (start, _) in pairwise(ordered))
    return "overlapping" if overlap else "disjoint"
