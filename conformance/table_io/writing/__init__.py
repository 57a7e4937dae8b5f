"""Writing tables: writing rows to files, on this machine or on a cluster, and committing them."""

from conformance.table_io.writing.compaction import compact, rewrite_manifests
from conformance.table_io.writing.files import OrphansLeft
from conformance.table_io.writing.merging import WhenMatched, merge
from conformance.table_io.writing.operations import append, delete, delete_keys, overwrite, overwrite_partitions, update
from conformance.table_io.writing.plans import WritePlan, clean_up, files_of_write, plan_write
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
