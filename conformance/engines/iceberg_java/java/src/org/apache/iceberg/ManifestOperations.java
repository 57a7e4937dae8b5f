package org.apache.iceberg;

import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.JsonNode;
import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.node.TextNode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.encryption.EncryptedFiles;
import org.apache.iceberg.encryption.EncryptedOutputFile;
import org.apache.iceberg.inmemory.InMemoryFileIO;
import org.apache.iceberg.inmemory.InMemoryInputFile;
import org.apache.iceberg.inmemory.InMemoryOutputFile;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.types.Types;

/** Operations on manifests and manifest lists, whose files are in memory. */
final class ManifestOperations {
  private static int files = 0;

  private ManifestOperations() {}

  static void addTo(Map<String, Adapter.Operation> operations) {
    operations.put("manifest.read", ManifestOperations::read);
    operations.put("manifest.write", ManifestOperations::write);
    operations.put("manifest-list.read", ManifestOperations::readList);
    operations.put("manifest-list.write", ManifestOperations::writeList);
  }

  private static Schema schemaOf(JsonNode args) {
    ObjectNode schema = Adapter.JSON.createObjectNode().put("type", "struct").put("schema-id", 0);
    schema.setAll((ObjectNode) args.get("schema"));
    return SchemaParser.fromJson(schema.toString());
  }

  private static JsonNode read(JsonNode args) throws IOException {
    for (JsonNode name : args.path("select")) {
      if (name.asText().equals("header")) {
        throw new Adapter.Unsupported("the library does not show the header of a manifest");
      }
    }
    Schema schema = schemaOf(args);
    Map<Integer, PartitionSpec> specs = new HashMap<>();
    for (JsonNode spec : args.get("specs")) {
      specs.put(spec.get("spec-id").intValue(), PartitionSpecParser.fromJson(schema, spec.toString()));
    }
    byte[] data = ExchangeForm.bytes(args.get("bytes"));
    String path = "memory:/m" + files++ + ".avro";
    InMemoryFileIO io = new InMemoryFileIO();
    io.addFile(path, data);
    try {
      ObjectNode given = args.get("manifest_file").deepCopy();
      ManifestFile manifest = listed(given.put("manifest_path", path).put("manifest_length", data.length));
      boolean deletes = given.path("content").asInt() != 0;
      ManifestReader<?> reader =
          deletes ? ManifestFiles.readDeleteManifest(manifest, io, specs) : ManifestFiles.read(manifest, io, specs);
      ObjectNode answer = Adapter.JSON.createObjectNode();
      addEntries(answer.putArray("entries"), reader, specs.get(given.get("partition_spec_id").intValue()));
      return answer;
    } finally {
      io.deleteFile(path);
    }
  }

  private static <F extends ContentFile<F>> void addEntries(
      ArrayNode answer, ManifestReader<F> reader, PartitionSpec spec) throws IOException {
    try (CloseableIterable<ManifestEntry<F>> entries = reader.entries()) {
      for (ManifestEntry<F> entry : entries) { // one object for all: its answer is made before the next is read
        answer.add(ManifestForms.of(entry, spec));
      }
    }
  }

  private static JsonNode readList(JsonNode args) {
    ObjectNode answer = Adapter.JSON.createObjectNode();
    ArrayNode manifests = answer.putArray("manifests");
    InMemoryInputFile file = new InMemoryInputFile("memory:/l.avro", ExchangeForm.bytes(args.get("bytes")));
    ManifestLists.read(file).forEach(manifest -> manifests.add(ManifestForms.of(manifest)));
    return answer;
  }

  private static Long longOf(JsonNode form, String name) {
    return ExchangeForm.isNull(form.get(name)) ? null : (Long) ExchangeForm.read("long", form.get(name));
  }

  private static Integer intOf(JsonNode form, String name) {
    return ExchangeForm.isNull(form.get(name)) ? null : (Integer) form.get(name).intValue();
  }

  private static long numberOf(JsonNode form, String name) {
    Long given = longOf(form, name);
    return given == null ? ManifestWriter.UNASSIGNED_SEQ : given;
  }

  private static ManifestFile listed(JsonNode form) {
    return new GenericManifestFile(
        form.get("manifest_path").textValue(),
        longOf(form, "manifest_length"),
        form.get("partition_spec_id").intValue(),
        ManifestContent.fromId(form.path("content").asInt()),
        numberOf(form, "sequence_number"),
        numberOf(form, "min_sequence_number"),
        longOf(form, "added_snapshot_id"),
        summariesOf(form.get("partitions")),
        ExchangeForm.buffer(form.get("key_metadata")),
        intOf(form, "added_files_count"),
        longOf(form, "added_rows_count"),
        intOf(form, "existing_files_count"),
        longOf(form, "existing_rows_count"),
        intOf(form, "deleted_files_count"),
        longOf(form, "deleted_rows_count"),
        longOf(form, "first_row_id"));
  }

  private static List<ManifestFile.PartitionFieldSummary> summariesOf(JsonNode forms) {
    if (ExchangeForm.isNull(forms)) {
      return null;
    }
    List<ManifestFile.PartitionFieldSummary> made = new ArrayList<>();
    for (JsonNode form : forms) {
      if (ExchangeForm.isNull(form.get("contains_nan"))) {
        throw new Adapter.Unsupported("a summary is made with contains_nan");
      }
      boolean hasNull = form.get("contains_null").booleanValue();
      ByteBuffer lower = ExchangeForm.buffer(form.get("lower_bound"));
      ByteBuffer upper = ExchangeForm.buffer(form.get("upper_bound"));
      made.add(new GenericPartitionFieldSummary(hasNull, form.get("contains_nan").booleanValue(), lower, upper));
    }
    return made;
  }

  private static JsonNode write(JsonNode args) throws IOException {
    Schema schema = schemaOf(args);
    PartitionSpec spec = PartitionSpecParser.fromJson(schema, args.get("spec").toString());
    boolean deletes = args.get("content").intValue() != 0;
    for (JsonNode form : args.get("entries")) {
      if ((form.get("data_file").path("content").asInt() != 0) != deletes) {
        throw new Adapter.Unsupported("the types of the writers keep data files and delete files apart");
      }
    }
    InMemoryOutputFile output = new InMemoryOutputFile("memory:/w.avro");
    EncryptedOutputFile plain = EncryptedFiles.plainAsEncryptedOutput(output);
    int version = args.get("format_version").intValue();
    Long snapshot = longOf(args, "snapshot_id");
    if (deletes) {
      ManifestWriter<DeleteFile> writer = ManifestFiles.writeDeleteManifest(version, spec, plain, snapshot);
      for (JsonNode form : args.get("entries")) {
        add(writer, form, deleteFileOf(form.get("data_file"), schema, spec));
      }
      writer.close();
    } else {
      ManifestWriter<DataFile> writer = ManifestFiles.write(version, spec, plain, snapshot);
      for (JsonNode form : args.get("entries")) {
        add(writer, form, dataFileOf(form.get("data_file"), schema, spec));
      }
      writer.close();
    }
    return written(output);
  }

  private static JsonNode written(InMemoryOutputFile output) {
    return ExchangeForm.hexadecimal(ByteBuffer.wrap(output.toByteArray()));
  }

  private static <F extends ContentFile<F>> void add(ManifestWriter<F> writer, JsonNode form, F file) {
    int status = form.get("status").intValue();
    if (status == ManifestEntry.Status.ADDED.id()) {
      writer.add(file);
      return;
    }
    Long number = longOf(form, "sequence_number");
    Long fileNumber = longOf(form, "file_sequence_number");
    if (number == null || fileNumber == null) {
      throw new Adapter.Unsupported("the writer takes no existing or deleted file without sequence numbers");
    } else if (status == ManifestEntry.Status.EXISTING.id()) {
      writer.existing(file, longOf(form, "snapshot_id"), number, fileNumber);
    } else {
      writer.delete(file, number, fileNumber);
    }
  }

  private static DataFile dataFileOf(JsonNode form, Schema schema, PartitionSpec spec) {
    if (!ExchangeForm.isNull(form.get("equality_ids"))) {
      throw new Adapter.Unsupported("the builder of data files takes no equality ids");
    } else if (!ExchangeForm.isNull(form.get("referenced_data_file")) || !ExchangeForm.isNull(form.get("content_offset"))) {
      throw new Adapter.Unsupported("the builder of data files takes no members of delete files");
    }
    DataFiles.Builder builder =
        DataFiles.builder(spec)
            .withPath(form.get("file_path").textValue())
            .withFormat(form.get("file_format").textValue())
            .withFileSizeInBytes(longOf(form, "file_size_in_bytes"))
            .withMetrics(PredicateOperations.metricsOf(form))
            .withRecordCount(longOf(form, "record_count"))
            .withEncryptionKeyMetadata(ExchangeForm.buffer(form.get("key_metadata")))
            .withSplitOffsets(offsetsOf(form.get("split_offsets")))
            .withFirstRowId(longOf(form, "first_row_id"));
    if (spec.isPartitioned()) {
      builder.withPartition(partitionOf(form.path("partition"), spec));
    }
    if (form.path("sort_order_id").asInt() != 0) {
      builder.withSortOrder(orderOf(form, schema));
    }
    return builder.build();
  }

  private static DeleteFile deleteFileOf(JsonNode form, Schema schema, PartitionSpec spec) {
    if (!ExchangeForm.isNull(form.get("first_row_id"))) {
      throw new Adapter.Unsupported("the builder of delete files takes no first row id");
    }
    FileMetadata.Builder builder = FileMetadata.deleteFileBuilder(spec);
    if (form.get("content").intValue() == FileContent.POSITION_DELETES.id()) {
      builder.ofPositionDeletes();
    } else {
      builder.ofEqualityDeletes(Adapter.JSON.convertValue(form.path("equality_ids"), int[].class));
    }
    builder
        .withPath(form.get("file_path").textValue())
        .withFormat(form.get("file_format").textValue())
        .withFileSizeInBytes(longOf(form, "file_size_in_bytes"))
        .withMetrics(PredicateOperations.metricsOf(form))
        .withRecordCount(longOf(form, "record_count"))
        .withEncryptionKeyMetadata(ExchangeForm.buffer(form.get("key_metadata")))
        .withSplitOffsets(offsetsOf(form.get("split_offsets")));
    if (spec.isPartitioned()) {
      builder.withPartition(partitionOf(form.path("partition"), spec));
    }
    if (form.path("sort_order_id").asInt() != 0) {
      builder.withSortOrder(orderOf(form, schema));
    }
    if (!ExchangeForm.isNull(form.get("referenced_data_file"))) {
      builder.withReferencedDataFile(form.get("referenced_data_file").textValue());
    }
    if (longOf(form, "content_offset") != null) {
      builder.withContentOffset(longOf(form, "content_offset"));
    }
    if (longOf(form, "content_size_in_bytes") != null) {
      builder.withContentSizeInBytes(longOf(form, "content_size_in_bytes"));
    }
    return builder.build();
  }

  /** A sort order with the id that a file names, the only part that the builders use. */
  private static SortOrder orderOf(JsonNode form, Schema schema) {
    String column = schema.columns().get(0).name();
    return SortOrder.builderFor(schema).withOrderId(form.get("sort_order_id").intValue()).asc(column).build();
  }

  private static List<Long> offsetsOf(JsonNode forms) {
    if (ExchangeForm.isNull(forms)) {
      return null;
    }
    List<Long> made = new ArrayList<>();
    forms.forEach(offset -> made.add((Long) ExchangeForm.read("long", offset)));
    return made;
  }

  private static PartitionData partitionOf(JsonNode form, PartitionSpec spec) {
    PartitionData data = new PartitionData(spec.partitionType());
    List<Types.NestedField> fields = spec.partitionType().fields();
    for (int place = 0; place < fields.size(); place++) {
      String kind = ExchangeForm.kind(fields.get(place).type().toString());
      data.set(place, ExchangeForm.read(kind, form.get(Integer.toString(fields.get(place).fieldId()))));
    }
    return data;
  }

  /** The writer assigns the values that are null in a manifest of the commit. */
  private static JsonNode writeList(JsonNode args) throws IOException {
    InMemoryOutputFile output = new InMemoryOutputFile("memory:/l.avro");
    ManifestListWriter writer =
        Release.manifestListWriter(
            args.get("format_version").intValue(),
            output,
            longOf(args, "snapshot_id"),
            longOf(args, "parent_snapshot_id"),
            longOf(args, "sequence_number"),
            longOf(args, "first_row_id"));
    for (JsonNode form : args.get("manifests")) {
      writer.add(listed(form));
    }
    writer.close();
    return written(output);
  }
}
