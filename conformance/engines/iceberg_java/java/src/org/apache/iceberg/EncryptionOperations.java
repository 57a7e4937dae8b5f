package org.apache.iceberg;

import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Map;
import org.apache.iceberg.encryption.AesGcmOutputFile;
import org.apache.iceberg.inmemory.InMemoryInputFile;
import org.apache.iceberg.inmemory.InMemoryOutputFile;
import org.apache.iceberg.io.PositionOutputStream;
import org.apache.iceberg.io.SeekableInputStream;

/** Operations on encrypted files, which are in memory. */
final class EncryptionOperations {
  private EncryptionOperations() {}

  static void addTo(Map<String, Adapter.Operation> operations) {
    operations.put("gcm.decrypt", EncryptionOperations::decrypt);
    operations.put("gcm.encrypt", EncryptionOperations::encrypt);
  }

  private static JsonNode decrypt(JsonNode args) throws IOException {
    InMemoryInputFile file = new InMemoryInputFile(ExchangeForm.bytes(args.get("bytes")));
    byte[] key = ExchangeForm.bytes(args.get("key"));
    byte[] prefix = ExchangeForm.bytes(args.get("aad-prefix"));
    long length = Long.parseLong(args.get("length").textValue());
    try (SeekableInputStream stream = Release.encryptedFile(file, key, prefix, length).newStream()) {
      ByteBuffer content = ByteBuffer.wrap(stream.readAllBytes());
      return Adapter.JSON.createObjectNode().set("bytes", ExchangeForm.hexadecimal(content));
    }
  }

  private static JsonNode encrypt(JsonNode args) throws IOException {
    InMemoryOutputFile file = new InMemoryOutputFile();
    byte[] key = ExchangeForm.bytes(args.get("key"));
    byte[] prefix = ExchangeForm.bytes(args.get("aad-prefix"));
    try (PositionOutputStream stream = new AesGcmOutputFile(file, key, prefix).create()) {
      stream.write(ExchangeForm.bytes(args.get("bytes")));
    }
    return ExchangeForm.hexadecimal(ByteBuffer.wrap(file.toByteArray()));
  }
}
