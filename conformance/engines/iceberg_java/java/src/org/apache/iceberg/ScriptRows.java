package org.apache.iceberg;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.iceberg.data.GenericRecord;
import org.apache.iceberg.data.GenericWriters;
import org.apache.iceberg.data.InternalRecordWrapper;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.deletes.EqualityDeleteWriter;
import org.apache.iceberg.encryption.EncryptedFiles;
import org.apache.iceberg.encryption.EncryptedOutputFile;
import org.apache.iceberg.io.DataWriter;
import org.apache.iceberg.io.FileWriterFactory;
import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.JsonNode;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;
import org.apache.iceberg.util.ByteBuffers;
import org.apache.iceberg.util.DateTimeUtil;

/**
 * Rows of scripts, written by the library's own writers, for operations and types that SQL does not have. Rows are JSON
 * objects by column name.
 */
final class ScriptRows {
  private ScriptRows() {}

  /** Data files of rows of the current schema. */
  static List<DataFile> dataFiles(Table table, JsonNode rows) throws IOException {
    FileWriterFactory<Record> writers = GenericWriters.of(table, null);
    List<DataFile> made = new ArrayList<>();
    for (Group group : groupsOf(table.spec(), table.schema(), rows)) {
      DataWriter<Record> writer = writers.newDataWriter(fileOf(table, "data"), table.spec(), group.partition);
      try (writer) {
        group.records.forEach(writer::write);
      }
      made.add(writer.toDataFile());
    }
    return made;
  }

  /**
   * Files of equality deletes by the columns that the rows have: an unpartitioned one for the whole table, where there
   * is such a spec, and otherwise those of every spec, as a delete applies only to data files of the same spec.
   */
  static List<DeleteFile> equalityDeletes(Table table, JsonNode rows) throws IOException {
    List<String> names = new ArrayList<>();
    rows.get(0).fieldNames().forEachRemaining(names::add);
    Schema schema = table.schema().select(names);
    FileWriterFactory<Record> writers = GenericWriters.of(table, schema);
    List<DeleteFile> made = new ArrayList<>();
    for (PartitionSpec spec : specsOfDeletes(table)) {
      for (Group group : groupsOf(spec, schema, rows)) {
        EncryptedOutputFile file = fileOf(table, "equality");
        EqualityDeleteWriter<Record> writer = writers.newEqualityDeleteWriter(file, spec, group.partition);
        try (writer) {
          group.records.forEach(writer::write);
        }
        made.add(writer.toDeleteFile());
      }
    }
    return made;
  }

  /** The columns by whose values the files of equality deletes are partitioned; null for one that was dropped. */
  static List<String> sourcesOfDeletes(Table table) {
    List<String> names = new ArrayList<>();
    for (PartitionSpec spec : specsOfDeletes(table)) {
      List<PartitionField> fields = spec.isPartitioned() ? spec.fields() : List.of();
      fields.forEach(field -> names.add(table.schema().findColumnName(field.sourceId())));
    }
    return names;
  }

  private static Collection<PartitionSpec> specsOfDeletes(Table table) {
    Collection<PartitionSpec> specs = table.specs().values();
    for (PartitionSpec spec : specs) {
      if (spec.isUnpartitioned()) {
        return List.of(spec);
      }
    }
    return specs;
  }

  private static EncryptedOutputFile fileOf(Table table, String kind) {
    String extension = GenericWriters.formatOf(table).name().toLowerCase();
    String path = table.location() + "/data/generic-" + kind + "-" + UUID.randomUUID() + "." + extension;
    return EncryptedFiles.plainAsEncryptedOutput(table.io().newOutputFile(path));
  }

  /** The records of one partition; null where the table is unpartitioned. */
  private static final class Group {
    private final PartitionKey partition;
    private final List<Record> records = new ArrayList<>();

    private Group(PartitionKey partition) {
      this.partition = partition;
    }
  }

  private static Iterable<Group> groupsOf(PartitionSpec spec, Schema schema, JsonNode rows) {
    Map<PartitionKey, Group> groups = new LinkedHashMap<>();
    InternalRecordWrapper wrapper = new InternalRecordWrapper(schema.asStruct());
    for (JsonNode row : rows) {
      Record record = recordOf(schema.asStruct(), row);
      PartitionKey key = null;
      if (spec.isPartitioned()) {
        key = new PartitionKey(spec, schema);
        key.partition(wrapper.wrap(record));
      }
      groups.computeIfAbsent(key, Group::new).records.add(record);
    }
    return groups.values();
  }

  private static Record recordOf(Types.StructType struct, JsonNode row) {
    Record made = GenericRecord.create(struct);
    struct.fields().forEach(field -> made.setField(field.name(), valueOf(field.type(), row.get(field.name()))));
    return made;
  }

  /** A value of a generic record. */
  private static Object valueOf(Type type, JsonNode value) {
    if (ExchangeForm.isNull(value)) {
      return null;
    } else if (type.isStructType()) {
      return recordOf(type.asStructType(), value);
    } else if (type.isListType()) {
      List<Object> items = new ArrayList<>();
      value.forEach(item -> items.add(valueOf(type.asListType().elementType(), item)));
      return items;
    } else if (type.isMapType()) {
      Map<Object, Object> entries = new LinkedHashMap<>();
      for (int place = 0; place < value.get("keys").size(); place++) {
        Object key = valueOf(type.asMapType().keyType(), value.get("keys").get(place));
        entries.put(key, valueOf(type.asMapType().valueType(), value.get("values").get(place)));
      }
      return entries;
    }
    String kind = ExchangeForm.kind(type.toString());
    Object read = ExchangeForm.read(kind, value);
    switch (kind) {
      case "fixed":
        return ByteBuffers.toByteArray((ByteBuffer) read);
      case "timestamp_ns":
        return DateTimeUtil.timestampFromNanos((long) read);
      case "timestamptz_ns":
        return DateTimeUtil.timestamptzFromNanos((long) read);
      default:
        return GenericWriters.recordValue(type, read);
    }
  }
}
