"""Writing tables: rows into files here or on a cluster, and the operations that commit them."""

from conformance.writing.compaction import compact, rewrite_manifests
from conformance.writing.files import OrphansLeft
from conformance.writing.merging import WhenMatched, merge
from conformance.writing.operations import append, delete, delete_keys, overwrite, overwrite_partitions, update
from conformance.writing.plans import WritePlan, clean_up, files_of_write, plan_write
from conformance.writing.row_changes import Mode
from conformance.writing.tables import WritableTable, create_table, open_stored, open_table
from conformance.writing.write_tasks import write_rows

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
    "files_of_write",
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
