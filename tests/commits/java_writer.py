"""Commits of Iceberg-Java to a file-system table: one fast append for each line of standard input, and a line for each.

A line names the file, and whether the table is loaded again before: ``load NAME`` or ``stay NAME``.
"""

from __future__ import annotations

import os
import sys

from conformance.adapter_sdk.jvm import JVM


def main() -> None:
    jvm = JVM(os.environ["ICEBERG_CONFORMANCE_JARS"])
    iceberg = jvm.root.org.apache.iceberg
    tables = iceberg.hadoop.HadoopTables(jvm.root.org.apache.hadoop.conf.Configuration())
    location = sys.argv[1]
    table = tables.load(location)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in sys.stdin:
        how, name = line.split()
        if how == "load":
            table = tables.load(location)
        builder = iceberg.DataFiles.builder(table.spec()).withPath(f"{location}/data/{name}").withFormat("parquet")
        builder = builder.withPartitionPath("part=a").withRecordCount(10).withFileSizeInBytes(1000)
        try:
            table.newFastAppend().appendFile(builder.build()).commit()
            sys.stdout.write(f"done {name}\n")
        except Exception as error:
            sys.stdout.write(f"failed {name} {type(error).__name__} {' '.join(str(error).split())[:2000]}\n")
        sys.stdout.flush()
    jvm.shutdown()


if __name__ == "__main__":
    main()
