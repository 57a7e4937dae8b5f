package org.apache.iceberg;

import java.nio.ByteBuffer;
import org.apache.iceberg.encryption.AesGcmInputFile;
import org.apache.iceberg.io.InputFile;
import org.apache.iceberg.io.OutputFile;
import org.apache.iceberg.io.SeekableInputStream;

/** What differs between the releases of the library that the adapter is compiled with: this is 1.10. */
final class Release {
  private Release() {}

  static ManifestListWriter manifestListWriter(
      int version, OutputFile file, Long snapshot, Long parent, Long sequenceNumber, Long firstRowId) {
    return ManifestLists.write(version, file, snapshot, parent, sequenceNumber, firstRowId);
  }

  /** The library takes the length from the file, so that the file has to have the trusted one, as files of tables do. */
  static InputFile encryptedFile(InputFile file, byte[] key, byte[] prefix, long length) {
    InputFile trusted =
        new InputFile() {
          @Override
          public long getLength() {
            return length;
          }

          @Override
          public SeekableInputStream newStream() {
            return file.newStream();
          }

          @Override
          public String location() {
            return file.location();
          }

          @Override
          public boolean exists() {
            return file.exists();
          }
        };
    return new AesGcmInputFile(trusted, key, prefix);
  }

  static ByteBuffer pointBound(double x, double y, Double z, Double m) {
    throw new Adapter.Unsupported("this version has no bounds of geometries");
  }

  static Double[] coordinates(ByteBuffer bytes) {
    throw new Adapter.Unsupported("this version has no bounds of geometries");
  }
}
