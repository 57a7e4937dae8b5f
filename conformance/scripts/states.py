"""The state of a table after an operation of a script."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from spec_ref.core.json_types import Json


@frozen
class ModelRow:
    """A row of a reading."""

    values: dict[str, Json]
    """A literal for each column of the reading's schema."""

    identity: int
    """The identity of the row, at all times and on all branches."""

    updated: int
    """The index of the operation that added or changed it last."""


@frozen
class Rows:
    """The result of reading a branch, a tag or a snapshot."""

    fields: tuple[Json, ...]
    """The columns of the reading's schema, in JSON; ids are those of the script."""

    rows: tuple[ModelRow, ...]
    """The rows, in no order."""


@frozen
class ScriptState:
    """The table after an operation."""

    format_version: int
    fields: tuple[Json, ...]
    """The columns of the current schema, in JSON; ids are those of the script."""

    spec: tuple[Json, ...]
    """The default partition spec: ``source``, ``transform`` and ``name`` of each field."""

    sort: tuple[Json, ...]
    """The default sort order: ``source``, ``transform``, ``direction`` and ``null_order`` of each field."""

    properties: Mapping[str, str]
    refs: Mapping[str, Rows]
    """The readings of each branch and tag: branches with the current schema, tags with that of the snapshot."""

    ref: str | None = None
    """The branch that the operation wrote to; None for those that do not write rows."""

    changed: bool = False
    """Whether it added, removed or changed rows; if not, it may make no snapshot, or one with the same rows."""

    @property
    def written(self) -> Rows | None:
        """The rows of the branch that the operation wrote to; None if it does not write rows."""
        return None if self.ref is None else self.refs[self.ref]
