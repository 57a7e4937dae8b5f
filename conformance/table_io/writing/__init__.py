"""Writing tables: rows are written to files, on this machine or on a cluster, and committed."""

from typing import Any

from conformance.core.moved_modules import renamed_member
from conformance.table_io.writing.compaction import compact, rewrite_manifests
from conformance.table_io.writing.files import OrphansLeft
from conformance.table_io.writing.merging import WhenMatched, merge
from conformance.table_io.writing.operations import append, delete, delete_keys, overwrite, overwrite_partitions, update
from conformance.table_io.writing.plans import WritePlan, clean_up, list_write_files, plan_write
from conformance.table_io.writing.row_changes import Mode
from conformance.table_io.writing.tables import WritableTable, create_table, open_stored, open_table
from conformance.table_io.writing.write_tasks import write_rows

__all__ = [
    "Mode",
    "OrphansLeft",
    "WhenMatched",
    "WritableTable",
    "WritePlan",
    "append",
    "clean_up",
    "compact",
    "create_table",
    "delete",
    "delete_keys",
    "list_write_files",
    "merge",
    "open_stored",
    "open_table",
    "overwrite",
    "overwrite_partitions",
    "plan_write",
    "rewrite_manifests",
    "update",
    "write_rows",
]

_RENAMED = {"files_of_write": "list_write_files"}


def __getattr__(name: str) -> Any:
    """Return a member by its old name; deprecated for one release."""
    return renamed_member(__name__, _RENAMED, name)
