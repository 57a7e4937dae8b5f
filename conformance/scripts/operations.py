"""The operations of a script, as values.

Literals stay JSON: the exchange form of their type (`conformance.operations.wire`), but that a struct is an object by
the names of its fields, since field ids are the writer's to give. Predicates, schemas and default values are the spec's
own JSON. A row is an object by the names of columns; a column that is left out takes its write default, or null.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeAlias

from attrs import field, frozen

from conformance.core.json_types import Json

Row: TypeAlias = Mapping[str, Json]

MAIN = "main"


def _rows() -> Any:
    return field(converter=tuple)


@frozen(kw_only=True)
class PartitionPart:
    """A field of a partition spec, by the name of its source."""

    source: str
    transform: str
    name: str


@frozen(kw_only=True)
class SortPart:
    """A field of a sort order, by the name of its source."""

    source: str
    transform: str = "identity"
    direction: str = "asc"
    null_order: str = "nulls-first"


@frozen(kw_only=True)
class Create:
    """A new table; the first operation of a script, and no other."""

    op: ClassVar[str] = "create"

    format_version: int
    schema: Json
    """In its JSON; a writer may give other field ids."""

    partition: tuple[PartitionPart, ...] = field(default=(), converter=tuple)
    sort: tuple[SortPart, ...] = field(default=(), converter=tuple)
    properties: Mapping[str, str] = field(factory=dict)


@frozen(kw_only=True)
class Append:
    """Rows are added."""

    op: ClassVar[str] = "append"

    rows: tuple[Row, ...] = _rows()
    branch: str = MAIN


@frozen(kw_only=True)
class Overwrite:
    """The rows that match a filter go, others come."""

    op: ClassVar[str] = "overwrite"

    filter: Json
    rows: tuple[Row, ...] = _rows()
    branch: str = MAIN


@frozen(kw_only=True)
class Delete:
    """Delete the rows that match a filter, by rewriting files or by positions."""

    op: ClassVar[str] = "delete"

    filter: Json
    mode: str | None = None
    """``copy-on-write`` or ``merge-on-read``; the writer's choice where None."""

    branch: str = MAIN


@frozen(kw_only=True)
class DeleteEqual:
    """The rows that equal one of some rows, in the columns of these, go by equality deletes; null equals null."""

    op: ClassVar[str] = "delete-equal"

    rows: tuple[Row, ...] = _rows()
    """All have the same columns, and no others."""

    branch: str = MAIN


@frozen(kw_only=True)
class Update:
    """Rows that match a filter get other values in some columns; they stay the same rows."""

    op: ClassVar[str] = "update"

    filter: Json
    set: Row
    mode: str | None = None
    branch: str = MAIN


@frozen(kw_only=True)
class Merge:
    """Rows with the key of a given row get its values and stay the same rows; given rows without such are added.

    Keys that hold null match nothing.
    """

    op: ClassVar[str] = "merge"

    on: tuple[str, ...] = field(converter=tuple)
    rows: tuple[Row, ...] = _rows()
    mode: str | None = None
    branch: str = MAIN


@frozen(kw_only=True)
class Upsert:
    """Rows with the key of a given row go by equality deletes, and all given rows are added as new rows."""

    op: ClassVar[str] = "upsert"

    on: tuple[str, ...] = field(converter=tuple)
    rows: tuple[Row, ...] = _rows()
    branch: str = MAIN


@frozen(kw_only=True)
class Compact:
    """Rewrite all data files without deleted rows; rows keep their values and row ids."""

    op: ClassVar[str] = "compact"

    branch: str = MAIN


@frozen(kw_only=True)
class RewriteManifests:
    """Rewrite the manifests."""

    op: ClassVar[str] = "rewrite-manifests"


@frozen(kw_only=True)
class AlterSchema:
    """The schema evolves; the changes are those of ``schema.evolve`` in the protocol, and ``optional``."""

    op: ClassVar[str] = "alter-schema"

    changes: tuple[Json, ...] = field(converter=tuple)


@frozen(kw_only=True)
class AlterSpec:
    """The partition spec evolves: fields are added by the names of their sources, removed and renamed."""

    op: ClassVar[str] = "alter-spec"

    changes: tuple[Json, ...] = field(converter=tuple)


@frozen(kw_only=True)
class ReplaceSort:
    """The table gets another sort order; without fields it is unsorted."""

    op: ClassVar[str] = "sort"

    fields: tuple[SortPart, ...] = field(converter=tuple)


@frozen(kw_only=True)
class Upgrade:
    """The table gets a higher format version."""

    op: ClassVar[str] = "upgrade"

    format_version: int


@frozen(kw_only=True)
class SetProperties:
    """Properties are set, others removed."""

    op: ClassVar[str] = "properties"

    set: Mapping[str, str] = field(factory=dict)
    remove: tuple[str, ...] = field(default=(), converter=tuple)


@frozen(kw_only=True)
class MakeBranch:
    """A branch is made, at the snapshot of main after an operation, or as it is."""

    op: ClassVar[str] = "branch"

    name: str
    at: int | None = None
    """The index of an operation; main as it is where None."""


@frozen(kw_only=True)
class MakeTag:
    """A tag is made, as `MakeBranch`."""

    op: ClassVar[str] = "tag"

    name: str
    at: int | None = None


@frozen(kw_only=True)
class FastForward:
    """Main moves to the head of a branch that began at main."""

    op: ClassVar[str] = "fast-forward"

    to: str


@frozen(kw_only=True)
class Rollback:
    """Main moves back to its snapshot after an operation."""

    op: ClassVar[str] = "rollback"

    to: int
    """The index of the operation."""


@frozen(kw_only=True)
class Expire:
    """All snapshots go but the heads of branches and those with a tag."""

    op: ClassVar[str] = "expire"


Operation: TypeAlias = (
    Create
    | Append
    | Overwrite
    | Delete
    | DeleteEqual
    | Update
    | Merge
    | Upsert
    | Compact
    | RewriteManifests
    | AlterSchema
    | AlterSpec
    | ReplaceSort
    | Upgrade
    | SetProperties
    | MakeBranch
    | MakeTag
    | FastForward
    | Rollback
    | Expire
)

OPERATIONS: dict[str, type[Operation]] = {
    record.op: record
    for record in (
        Create,
        Append,
        Overwrite,
        Delete,
        DeleteEqual,
        Update,
        Merge,
        Upsert,
        Compact,
        RewriteManifests,
        AlterSchema,
        AlterSpec,
        ReplaceSort,
        Upgrade,
        SetProperties,
        MakeBranch,
        MakeTag,
        FastForward,
        Rollback,
        Expire,
    )
}
"""The record of each operation, by its name in a script."""


@frozen
class Script:
    """What is done to one table, in order."""

    operations: tuple[Operation, ...]
