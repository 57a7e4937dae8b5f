package org.apache.iceberg.data;

import org.apache.iceberg.TableScan;
import org.apache.iceberg.io.CloseableIterable;

/** The library's own reader of the rows of a scan: IcebergGenerics takes snapshots but no branches. */
public final class GenericScans {
  private GenericScans() {}

  public static CloseableIterable<Record> rows(TableScan scan) {
    return new TableScanIterable(scan, false);
  }
}
