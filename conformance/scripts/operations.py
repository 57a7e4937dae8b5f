"""The operations of a script, as values.

Literals stay JSON: the exchange form of their type (`conformance.operations.wire`), except that a struct is an object
by the names of its fields, as the writer assigns field ids. Predicates, schemas and default values are in the JSON of
the spec. A row is an object by the names of columns; a missing column gets its write default, or null.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeAlias

from attrs import field, frozen

from spec_ref.core.json_types import Json

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
    """Create the table; always and only the first operation of a script."""

    op: ClassVar[str] = "create"

    format_version: int
    schema: Json
    """The schema in JSON; a writer may assign different field ids."""

    partition: tuple[PartitionPart, ...] = field(default=(), converter=tuple)
    sort: tuple[SortPart, ...] = field(default=(), converter=tuple)
    properties: Mapping[str, str] = field(factory=dict)


@frozen(kw_only=True)
class Append:
    """Add rows."""

    op: ClassVar[str] = "append"

    rows: tuple[Row, ...] = _rows()
    branch: str = MAIN


@frozen(kw_only=True)
class Overwrite:
    """Delete the rows that match a filter, and add others."""

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
    """``copy-on-write`` or ``merge-on-read``; None for the writer's choice."""

    branch: str = MAIN


@frozen(kw_only=True)
class DeleteEqual:
    """Delete by equality every row that equals a given row in the columns that are given; null equals null."""

    op: ClassVar[str] = "delete-equal"

    rows: tuple[Row, ...] = _rows()
    """All rows have the same columns."""

    branch: str = MAIN


@frozen(kw_only=True)
class Update:
    """Change some columns of the rows that match a filter; they keep their identity."""

    op: ClassVar[str] = "update"

    filter: Json
    set: Row
    mode: str | None = None
    branch: str = MAIN


@frozen(kw_only=True)
class Merge:
    """Update the rows that have the key of a given row, and add the given rows whose key is new.

    Updated rows keep their identity. Keys with null match nothing.
    """

    op: ClassVar[str] = "merge"

    on: tuple[str, ...] = field(converter=tuple)
    rows: tuple[Row, ...] = _rows()
    mode: str | None = None
    branch: str = MAIN


@frozen(kw_only=True)
class Upsert:
    """Delete rows with the key of a given row by equality deletes, and add all given rows as new rows."""

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
    """Evolve the schema; the changes are those of ``schema.evolve`` in the protocol, and ``optional``."""

    op: ClassVar[str] = "alter-schema"

    changes: tuple[Json, ...] = field(converter=tuple)


@frozen(kw_only=True)
class AlterSpec:
    """Evolve the partition spec: add fields by the names of their sources, remove and rename fields."""

    op: ClassVar[str] = "alter-spec"

    changes: tuple[Json, ...] = field(converter=tuple)


@frozen(kw_only=True)
class ReplaceSort:
    """Replace the sort order; without fields the table is unsorted."""

    op: ClassVar[str] = "sort"

    fields: tuple[SortPart, ...] = field(converter=tuple)


@frozen(kw_only=True)
class UpgradeTable:
    """Upgrade the format version."""

    op: ClassVar[str] = "upgrade"

    format_version: int


@frozen(kw_only=True)
class ChangeProperties:
    """Set and remove properties."""

    op: ClassVar[str] = "properties"

    set: Mapping[str, str] = field(factory=dict)
    remove: tuple[str, ...] = field(default=(), converter=tuple)


@frozen(kw_only=True)
class MakeBranch:
    """Create a branch, at the snapshot of main after an operation, or at the current one."""

    op: ClassVar[str] = "branch"

    name: str
    at: int | None = None
    """The index of an operation; None for the current snapshot of main."""


@frozen(kw_only=True)
class MakeTag:
    """Create a tag, as for `MakeBranch`."""

    op: ClassVar[str] = "tag"

    name: str
    at: int | None = None


@frozen(kw_only=True)
class FastForward:
    """Move main to the head of a branch that started at main."""

    op: ClassVar[str] = "fast-forward"

    to: str


@frozen(kw_only=True)
class Rollback:
    """Move main back to its snapshot after an operation."""

    op: ClassVar[str] = "rollback"

    to: int
    """The index of the operation."""


@frozen(kw_only=True)
class ExpireSnapshots:
    """Expire all snapshots except the heads of branches and those with a tag."""

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
    | UpgradeTable
    | ChangeProperties
    | MakeBranch
    | MakeTag
    | FastForward
    | Rollback
    | ExpireSnapshots
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
        UpgradeTable,
        ChangeProperties,
        MakeBranch,
        MakeTag,
        FastForward,
        Rollback,
        ExpireSnapshots,
    )
}
"""The class of each operation, by its name in a script."""


@frozen
class Script:
    """The operations on one table, in order."""

    operations: tuple[Operation, ...]
