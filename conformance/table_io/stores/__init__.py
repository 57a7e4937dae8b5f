"""Real stores for the commit protocol: where metadata files are, and what points to the table's.

Each store performs the effects of `spec_ref.commits` on something real: files and their names, or a row of a database.
"""

from conformance.table_io.stores.opening import open_store
from conformance.table_io.stores.registered import RegisteredTable
from conformance.table_io.stores.runner import Store, commit, load, run

__all__ = ["RegisteredTable", "Store", "commit", "load", "open_store", "run"]
