package org.apache.iceberg;

import java.nio.ByteBuffer;
import org.apache.iceberg.io.OutputFile;

/** What differs between the releases of the library that the adapter is compiled with: this is 1.10. */
final class Release {
  private Release() {}

  static ManifestListWriter manifestListWriter(
      int version, OutputFile file, Long snapshot, Long parent, Long sequenceNumber, Long firstRowId) {
    return ManifestLists.write(version, file, snapshot, parent, sequenceNumber, firstRowId);
  }

  static ByteBuffer pointBound(double x, double y, Double z, Double m) {
    throw new Adapter.Unsupported("this version has no bounds of geometries");
  }

  static Double[] coordinates(ByteBuffer bytes) {
    throw new Adapter.Unsupported("this version has no bounds of geometries");
  }
}
