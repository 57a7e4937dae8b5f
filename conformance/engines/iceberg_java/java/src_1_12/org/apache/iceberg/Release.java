package org.apache.iceberg;

import java.nio.ByteBuffer;
import org.apache.iceberg.encryption.AesGcmInputFile;
import org.apache.iceberg.encryption.PlaintextEncryptionManager;
import org.apache.iceberg.geospatial.GeospatialBound;
import org.apache.iceberg.io.InputFile;
import org.apache.iceberg.io.OutputFile;

/** What differs between the releases of the library that the adapter is compiled with: this is 1.12. */
final class Release {
  private Release() {}

  static ManifestListWriter manifestListWriter(
      int version, OutputFile file, Long snapshot, Long parent, Long sequenceNumber, Long firstRowId) {
    return ManifestLists.write(
        version, file, PlaintextEncryptionManager.instance(), snapshot, parent, sequenceNumber, firstRowId);
  }

  static InputFile encryptedFile(InputFile file, byte[] key, byte[] prefix, long length) {
    return new AesGcmInputFile(file, key, prefix, length);
  }

  /** The bound of a point with these coordinates; z and m may be null. */
  static ByteBuffer pointBound(double x, double y, Double z, Double m) {
    if (z == null) {
      return (m == null ? GeospatialBound.createXY(x, y) : GeospatialBound.createXYM(x, y, m)).toByteBuffer();
    }
    return (m == null ? GeospatialBound.createXYZ(x, y, z) : GeospatialBound.createXYZM(x, y, z, m)).toByteBuffer();
  }

  /** The coordinates x, y, z and m of a bound; null where it has none. */
  static Double[] coordinates(ByteBuffer bytes) {
    GeospatialBound bound = GeospatialBound.fromByteBuffer(bytes);
    Double z = bound.hasZ() ? bound.z() : null;
    Double m = bound.hasM() ? bound.m() : null;
    return new Double[] {bound.x(), bound.y(), z, m};
  }
}
