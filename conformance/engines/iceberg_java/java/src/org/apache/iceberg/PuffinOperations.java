package org.apache.iceberg;

import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.JsonNode;
import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.iceberg.deletes.PositionBitmap;
import org.apache.iceberg.deletes.PositionDeleteIndex;
import org.apache.iceberg.inmemory.InMemoryInputFile;
import org.apache.iceberg.inmemory.InMemoryOutputFile;
import org.apache.iceberg.puffin.Blob;
import org.apache.iceberg.puffin.BlobMetadata;
import org.apache.iceberg.puffin.Puffin;
import org.apache.iceberg.puffin.PuffinCompressionCodec;
import org.apache.iceberg.puffin.PuffinReader;
import org.apache.iceberg.puffin.PuffinWriter;

/** Operations on Puffin files, which are in memory, and on deletion vectors. */
final class PuffinOperations {
  /** The maximum number of listed positions: vectors have no more, and listing takes memory. */
  private static final long MAX_POSITIONS = 1 << 22;

  private static final Pattern OTHER_CARDINALITY = Pattern.compile("Invalid cardinality: ([0-9]+), expected 0$");

  private PuffinOperations() {}

  static void addTo(Map<String, Adapter.Operation> operations) {
    operations.put("puffin.read", PuffinOperations::read);
    operations.put("puffin.write", PuffinOperations::write);
    operations.put("dv.decode", PuffinOperations::decode);
    operations.put("dv.encode", PuffinOperations::encode);
  }

  private static JsonNode read(JsonNode args) throws IOException {
    ObjectNode answer = Adapter.JSON.createObjectNode();
    InMemoryInputFile file = new InMemoryInputFile(ExchangeForm.bytes(args.get("bytes")));
    try (PuffinReader reader = Puffin.read(file).build()) {
      ArrayNode blobs = answer.putArray("blobs");
      for (BlobMetadata blob : reader.fileMetadata().blobs()) {
        ByteBuffer payload = reader.readAll(List.of(blob)).iterator().next().second();
        ObjectNode form = blobs.addObject();
        form.put("type", blob.type()).set("fields", Adapter.JSON.valueToTree(blob.inputFields()));
        form.put("snapshot-id", Long.toString(blob.snapshotId()));
        form.put("sequence-number", Long.toString(blob.sequenceNumber()));
        form.put("offset", Long.toString(blob.offset())).put("length", Long.toString(blob.length()));
        form.put("compression-codec", blob.compressionCodec());
        form.set("properties", Adapter.JSON.valueToTree(blob.properties()));
        form.set("payload", ExchangeForm.hexadecimal(payload));
      }
      answer.set("properties", Adapter.JSON.valueToTree(reader.fileMetadata().properties()));
    }
    return answer;
  }

  private static JsonNode write(JsonNode args) throws IOException {
    InMemoryOutputFile file = new InMemoryOutputFile();
    PuffinWriter writer = Puffin.write(file).setAll(texts(args.get("properties"))).build();
    for (JsonNode form : args.get("blobs")) {
      List<Integer> fields = new ArrayList<>();
      form.get("fields").forEach(field -> fields.add(field.intValue()));
      writer.write(
          new Blob(
              form.get("type").textValue(),
              fields,
              form.get("snapshot-id").asLong(),
              form.get("sequence-number").asLong(),
              ExchangeForm.buffer(form.get("payload")),
              PuffinCompressionCodec.forName(form.get("compression-codec").textValue()),
              texts(form.get("properties"))));
    }
    writer.finish();
    return ExchangeForm.hexadecimal(ByteBuffer.wrap(file.toByteArray()));
  }

  private static Map<String, String> texts(JsonNode given) {
    Map<String, String> made = new LinkedHashMap<>();
    given.properties().forEach(one -> made.put(one.getKey(), one.getValue().textValue()));
    return made;
  }

  /**
   * {@code PositionDeleteIndex.deserialize} compares the cardinality with the one in a manifest. There is no
   * manifest, so the file is described with the cardinality that the library finds, which the first refusal names.
   */
  private static JsonNode decode(JsonNode args) {
    byte[] data = ExchangeForm.bytes(args.get("bytes"));
    PositionDeleteIndex index;
    try {
      index = PositionDeleteIndex.deserialize(data, fileOf(data, 0));
    } catch (RuntimeException refusal) {
      Matcher cardinality = OTHER_CARDINALITY.matcher(String.valueOf(refusal.getMessage()));
      if (!cardinality.find()) {
        throw refusal;
      }
      index = PositionDeleteIndex.deserialize(data, fileOf(data, Long.parseLong(cardinality.group(1))));
    }
    if (index.cardinality() > MAX_POSITIONS) {
      throw new Adapter.Unsupported(index.cardinality() + " positions are too many to list");
    }
    List<long[]> ranges = new ArrayList<>(); // in the given order, so that disorder and repetitions stay visible
    index.forEach(position -> extend(ranges, position));
    ObjectNode form = Adapter.JSON.createObjectNode();
    form.put("cardinality", Long.toString(index.cardinality()));
    ArrayNode pairs = form.putArray("ranges");
    ranges.forEach(range -> pairs.addArray().add(Long.toString(range[0])).add(Long.toString(range[1])));
    return form;
  }

  private static void extend(List<long[]> ranges, long position) {
    long[] last = ranges.isEmpty() ? null : ranges.get(ranges.size() - 1);
    if (last != null && position == last[1] + 1) {
      last[1] = position;
    } else {
      ranges.add(new long[] {position, position});
    }
  }

  private static DeleteFile fileOf(byte[] data, long cardinality) {
    return FileMetadata.deleteFileBuilder(PartitionSpec.unpartitioned())
        .ofPositionDeletes()
        .withFormat("puffin")
        .withPath("s3://b/wh/data.db/table/data/deletes.puffin")
        .withFileSizeInBytes(data.length + 4)
        .withReferencedDataFile("s3://b/wh/data.db/table/data/a.parquet")
        .withContentOffset(4)
        .withContentSizeInBytes(data.length)
        .withRecordCount(cardinality)
        .build();
  }

  private static JsonNode encode(JsonNode args) {
    PositionDeleteIndex index = PositionBitmap.create();
    for (JsonNode range : args.get("ranges")) {
      long last = range.get(1).asLong();
      index.delete(range.get(0).asLong(), last); // without the last, whose successor need not be a long
      index.delete(last);
    }
    return ExchangeForm.hexadecimal(index.serialize());
  }
}
