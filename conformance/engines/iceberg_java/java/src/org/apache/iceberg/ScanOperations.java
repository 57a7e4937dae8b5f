package org.apache.iceberg;

import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.JsonNode;
import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.node.NullNode;
import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.data.GenericScans;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.hadoop.HadoopFileIO;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.types.Types;
import org.apache.iceberg.variants.Variant;

/** Operations on rows: plans of scans, and the rows that the library's own reader reads. */
final class ScanOperations {
  private static final Map<String, Types.NestedField> METADATA_COLUMNS =
      Map.of(
          "_file", MetadataColumns.FILE_PATH,
          "_pos", MetadataColumns.ROW_POSITION,
          "_row_id", MetadataColumns.ROW_ID,
          "_last_updated_sequence_number", MetadataColumns.LAST_UPDATED_SEQUENCE_NUMBER);

  private static FileIO io;

  private ScanOperations() {}

  static void addTo(Map<String, Adapter.Operation> operations) {
    operations.put("scan.plan", ScanOperations::plan);
    operations.put("table.read", ScanOperations::read);
  }

  private static Table tableOf(JsonNode args) {
    String location = args.get("table").textValue();
    if (!new File(location).exists()) {
      throw new IllegalArgumentException(location + ": no such file");
    } else if (io == null) {
      io = new HadoopFileIO(new Configuration());
    }
    return new BaseTable(new StaticTableOperations(location, io), "table");
  }

  /** A scan of the requested state: a branch or tag, a point in time, a snapshot, or the current snapshot. */
  private static TableScan scanOf(Table table, JsonNode args) {
    if (args.has("ref")) {
      String ref = args.get("ref").textValue();
      if (table.refs().get(ref) == null) {
        throw new IllegalArgumentException("no reference " + args.get("ref"));
      }
      return table.newScan().useRef(ref);
    } else if (args.has("timestamp_ms")) {
      return table.newScan().asOfTime(args.get("timestamp_ms").longValue());
    } else if (args.has("snapshot")) {
      return table.newScan().useSnapshot(args.get("snapshot").asLong());
    }
    return table.newScan();
  }

  private static Expression filterOf(JsonNode args, Schema schema) throws IOException {
    if (!args.has("filter")) {
      return Expressions.alwaysTrue();
    }
    JsonNode fields = Adapter.JSON.readTree(SchemaParser.toJson(schema)).get("fields");
    return PredicateOperations.predicateOf(args.get("filter"), fields, schema);
  }

  private static JsonNode plan(JsonNode args) throws IOException {
    Table table = tableOf(args);
    TableScan scan = scanOf(table, args);
    ObjectNode answer = Adapter.JSON.createObjectNode();
    ArrayNode files = answer.putArray("files");
    try (CloseableIterable<FileScanTask> tasks = scan.filter(filterOf(args, scan.schema())).planFiles()) {
      for (FileScanTask task : tasks) {
        ObjectNode file = files.addObject().put("data_file", task.file().location());
        ArrayNode deletes = file.putArray("delete_files");
        for (DeleteFile delete : task.deletes()) {
          ObjectNode one = deletes.addObject().put("path", delete.location());
          if (delete.contentOffset() != null) {
            one.put("content_offset", delete.contentOffset().toString());
          }
        }
      }
    }
    return answer;
  }

  /** Whether the Commons Lang beside Spark has the class with which the library reads variants. */
  private static boolean readsVariants() {
    try {
      Class.forName("org.apache.commons.lang3.stream.Streams").getMethod("of", Iterable.class);
      return true;
    } catch (ReflectiveOperationException missing) {
      return false;
    }
  }

  private static JsonNode read(JsonNode args) throws IOException {
    JsonNode types = args.get("types");
    if (types.toString().contains("variant") && !readsVariants()) {
      throw new Adapter.Unsupported("the Commons Lang beside Spark has not what variants are read with");
    }
    ObjectNode answer = Adapter.JSON.createObjectNode();
    ArrayNode rows = answer.putArray("rows");
    Table table = tableOf(args);
    TableScan scan = scanOf(table, args);
    if (scan.snapshot() == null) {
      return answer;
    }
    List<String> names = new ArrayList<>();
    if (args.has("select")) {
      args.get("select").forEach(name -> names.add(name.asText()));
    } else {
      types.fieldNames().forEachRemaining(names::add);
    }
    Schema schema = scan.schema();
    scan = scan.filter(filterOf(args, schema)).project(projectionOf(schema, names));
    try (CloseableIterable<Record> records = GenericScans.rows(scan)) {
      for (Record record : records) {
        ObjectNode row = rows.addObject();
        for (int place = 0; place < names.size(); place++) {
          row.set(names.get(place), cell(types.get(names.get(place)), record.get(place)));
        }
      }
    }
    return answer;
  }

  private static Schema projectionOf(Schema schema, List<String> names) {
    List<Types.NestedField> fields = new ArrayList<>();
    for (String name : names) {
      Types.NestedField column = schema.asStruct().field(name); // which may have the name of a metadata column
      if (column == null) {
        column = METADATA_COLUMNS.get(name);
      }
      if (column == null) {
        throw new IllegalArgumentException("no column " + name);
      }
      fields.add(column);
    }
    return new Schema(fields);
  }

  /** The exchange form of a value of a generic record. */
  private static JsonNode cell(JsonNode type, Object value) {
    if (value == null) {
      return NullNode.instance;
    }
    String kind = ExchangeForm.kind(type);
    switch (kind) {
      case "struct":
        ObjectNode struct = Adapter.JSON.createObjectNode();
        for (int place = 0; place < type.get("fields").size(); place++) {
          JsonNode field = type.get("fields").get(place);
          struct.set(field.get("id").asText(), cell(field.get("type"), ((Record) value).get(place)));
        }
        return struct;
      case "list":
        ArrayNode items = Adapter.JSON.createArrayNode();
        ((List<?>) value).forEach(item -> items.add(cell(type.get("element"), item)));
        return items;
      case "map":
        ObjectNode map = Adapter.JSON.createObjectNode();
        ArrayNode keys = map.putArray("keys");
        ArrayNode values = map.putArray("values");
        ((Map<?, ?>) value).forEach((key, item) -> {
          keys.add(cell(type.get("key"), key));
          values.add(cell(type.get("value"), item));
        });
        return map;
      case "variant":
        Variant variant = (Variant) value;
        ObjectNode parts = Adapter.JSON.createObjectNode();
        ByteBuffer metadata = ByteBuffer.allocate(variant.metadata().sizeInBytes()).order(ByteOrder.LITTLE_ENDIAN);
        variant.metadata().writeTo(metadata, 0);
        parts.set("metadata", ExchangeForm.hexadecimal(metadata));
        ByteBuffer held = ByteBuffer.allocate(variant.value().sizeInBytes()).order(ByteOrder.LITTLE_ENDIAN);
        variant.value().writeTo(held, 0);
        return parts.set("value", ExchangeForm.hexadecimal(held));
      default:
        // Files from before a promotion of a date to a timestamp are read as dates: the answer is what was read.
        return ExchangeForm.write(value instanceof LocalDate ? "date" : kind, counted(kind, value));
    }
  }

  /** Dates and times as the numbers that the spec counts; other values as they are. */
  private static Object counted(String kind, Object value) {
    if (value instanceof LocalDate) {
      return (int) ((LocalDate) value).toEpochDay();
    } else if (value instanceof LocalTime) {
      return ((LocalTime) value).toNanoOfDay() / 1000;
    } else if (value instanceof OffsetDateTime) {
      OffsetDateTime time = (OffsetDateTime) value;
      return counted(kind, time.toEpochSecond(), time.getNano());
    } else if (value instanceof LocalDateTime) {
      LocalDateTime time = (LocalDateTime) value;
      return counted(kind, time.toEpochSecond(ZoneOffset.UTC), time.getNano());
    }
    return value;
  }

  private static long counted(String kind, long seconds, int nanos) {
    return kind.endsWith("_ns") ? seconds * 1_000_000_000 + nanos : seconds * 1_000_000 + nanos / 1000;
  }
}
