"""Stores for the commit protocol: the files of a table, and the pointer to its metadata file.

Each store performs the effects of `spec_ref.commits`: on file names, on objects, on a row of a database, or through a
REST catalog.
"""

from conformance.table_io.stores.opening import open_store
from conformance.table_io.stores.registered import RegisteredTable
from conformance.table_io.stores.runner import Store, commit, load, run

__all__ = ["RegisteredTable", "Store", "commit", "load", "open_store", "run"]
