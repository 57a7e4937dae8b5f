"""A reader among the writers: it reads the snapshot that was current when it loaded the table (OCC002)."""

from __future__ import annotations

from typing import Any

from attrs import frozen

from spec_ref.commits import load
from spec_ref.commits.effects import Steps
from spec_ref.commits.reading import FileKey, MetadataFileCache, branch_head, file_key


@frozen
class Read:
    """Read the files of a branch; takes the place of a change."""

    branch: str = "main"


@frozen
class ObservedHead:
    """What a reader saw."""

    location: str
    snapshot_id: int | None
    """None for a table without a snapshot, such as one that replaced another table."""

    live: frozenset[FileKey]


def read_live_files(what: Read) -> Steps[ObservedHead]:
    """Load the table, and list the live files of a branch.

    Raises:
        SpecError: a file does not exist.
    """
    base = yield from load(1)
    assert base is not None
    snapshot = branch_head(base.metadata, what.branch)
    if snapshot is None:
        return ObservedHead(base.location, None, frozenset())
    files = MetadataFileCache()
    live: list[Any] = yield from files.live((yield from files.manifests(snapshot)))
    return ObservedHead(base.location, snapshot.snapshot_id, frozenset(file_key(entry.data_file) for _, entry in live))
