"""Commits of PyIceberg to a table of a SQL catalog: fast appends, each acknowledged on standard output.

Arguments: the URI of the catalog, the location of the table, the first part of the files' names, and how many.
"""

from __future__ import annotations

import sys

from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.typedef import Record


def main() -> None:
    uri, location, prefix, count = sys.argv[1:]
    table = SqlCatalog("conformance", uri=uri, warehouse=location).load_table("default.table")
    for number in range(int(count)):
        name = f"{prefix}-{number}"
        file = DataFile.from_args(
            content=DataFileContent.DATA,
            file_path=f"{location}/data/{name}",
            file_format=FileFormat.PARQUET,
            partition=Record("a"),
            record_count=10,
            file_size_in_bytes=1000,
        )
        file.spec_id = 0
        try:
            with table.transaction() as transaction, transaction.update_snapshot().fast_append() as append:
                append.append_data_file(file)
            sys.stdout.write(f"done {name}\n")
        except CommitFailedException:
            sys.stdout.write(f"failed {name}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
