"""Replay the logs of races in ``commit.replay``: code that Python adapters share.

Only the standard library is imported, so that adapters run in the environments of their engines.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

from conformance.adapter_sdk.serve import Arguments
from conformance.core.moved_modules import renamed_member

Change = dict[str, Any]

SCHEMA_FIELDS = (("id", 1, "long", True), ("part", 2, "string", False))
"""The columns of every table: name, id, type, whether required."""

SCORE = ("score", 3, "double", False)
"""The column that partitions a partitioned table."""

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
    """Return the columns of the table that a request describes."""
    return (*SCHEMA_FIELDS, SCORE) if args.get("partitioned_by") == SCORE[0] else SCHEMA_FIELDS


def partition_column(args: Arguments) -> tuple[str, int] | None:
    """Return the name and id of the first partition column; None if the table is unpartitioned."""
    name = args.get("partitioned_by", "part")
    return next(((column, id_) for column, id_, _, _ in columns(args) if column == name), None)


def initial_metadata(args: Arguments) -> dict[str, Any] | None:
    """Return the metadata of the table that a race begins with; None if it begins with an empty table.

    The adapter must not write to the table's location on disk.
    """
    if "table" not in args:
        return None
    metadata: dict[str, Any] = json.loads(Path(args["table"]).read_bytes())
    return metadata


def snapshot_ids(metadata: dict[str, Any] | None) -> list[int]:
    """Return the ids of the snapshots of the initial table, in commit order."""
    return [one["snapshot-id"] for one in metadata["snapshots"]] if metadata else []


def file_name(path: str) -> str:
    """Return the name of a file in requests and answers."""
    return path.rsplit("/", 1)[-1]


def partition_value(name: str, file: Change) -> Any:
    """Return the value of a partition field of a file.

    Args:
        name: the name of the field: ``part`` or ``score``; any other name is that of a bucket field.
        file: the file, as a request gives it.
    """
    if name not in ("part", "score"):
        return file.get("bucket")
    text = file["part"]
    return float(text) if name == "score" and text is not None else text


def filter_column(args: Arguments) -> str:
    """Return the column that a filter compares."""
    return "score" if args.get("partitioned_by") == "score" else "part"


class Conflict(Exception):
    """The implementation did not commit a change because of concurrent commits."""


class CommitWriter(Protocol):
    """A writer of an implementation, with its own view of the table."""

    def load(self) -> None:
        """Load the current state of the table."""

    def stage(self, change: Change) -> None:
        """Plan a change on the loaded state of the table.

        Raises:
            Conflict: the implementation refuses the change at once, which is reported as the outcome of its commit.
        """

    def commit(self, *, reply: str | None = None) -> None:
        """Commit the planned change; the committed state becomes the loaded state.

        Raises:
            Conflict: it was not committed.
        """


def replay_commits(
    args: Arguments, open_writer: Callable[[], CommitWriter], table: Callable[[], dict[str, Any]]
) -> dict[str, Any]:
    """Replay a log, and return the outcome of each commit and the final table.

    Args:
        args: the arguments of the request; the table already exists and is empty.
        open_writer: returns a new writer.
        table: returns the state of the table.
    """
    first = open_writer()
    for change in args["base"]:
        first.load()
        first.stage(change)
        first.commit()
    writers: dict[str, CommitWriter] = {}
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
    """Classify the row id ranges of data files: ``none``, ``disjoint``, ``overlapping`` or ``missing``.

    Args:
        files: path, first row id and number of rows of every data file of the branches and tags whose snapshot has a
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


_RENAMED = {"Writer": "CommitWriter", "given_metadata": "initial_metadata", "replayed": "replay_commits"}


def __getattr__(name: str) -> Any:
    """Return a member by its old name; deprecated for one release."""
    return renamed_member(__name__, _RENAMED, name)
