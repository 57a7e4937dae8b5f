"""Scripts: the steps that a writer performs on one table, in a small language that every writer can follow.

A script is JSON (``$defs/script`` of `schemas/protocol.json`; docs/protocol.md describes it) and, here, a value:
`Script` with one record for each operation. `model` computes from the script alone which rows a table must have after
each operation, under which schema, and which rows are still the same rows.
"""

from conformance.scripts.errors import ForbiddenOperation, ScriptError, UnspecifiedOperation
from conformance.scripts.operations import (
    AlterSchema,
    AlterSpec,
    Append,
    ChangeProperties,
    Compact,
    Create,
    Delete,
    DeleteEqual,
    ExpireSnapshots,
    FastForward,
    MakeBranch,
    MakeTag,
    Merge,
    Operation,
    Overwrite,
    PartitionPart,
    ReplaceSort,
    RewriteManifests,
    Rollback,
    Script,
    SortPart,
    Update,
    UpgradeTable,
    Upsert,
)
from conformance.scripts.parsing import parse_script, script_json

__all__ = [
    "AlterSchema",
    "AlterSpec",
    "Append",
    "ChangeProperties",
    "Compact",
    "Create",
    "Delete",
    "DeleteEqual",
    "ExpireSnapshots",
    "FastForward",
    "ForbiddenOperation",
    "MakeBranch",
    "MakeTag",
    "Merge",
    "Operation",
    "Overwrite",
    "PartitionPart",
    "ReplaceSort",
    "RewriteManifests",
    "Rollback",
    "Script",
    "ScriptError",
    "SortPart",
    "UnspecifiedOperation",
    "Update",
    "UpgradeTable",
    "Upsert",
    "parse_script",
    "script_json",
]
