package org.apache.iceberg;

import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.JsonNode;
import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.expressions.Literal;
import org.apache.iceberg.inmemory.InMemoryFileIO;
import org.apache.iceberg.mapping.MappedField;
import org.apache.iceberg.mapping.NameMapping;
import org.apache.iceberg.mapping.NameMappingParser;
import org.apache.iceberg.transforms.Transforms;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;

/** Operations on tables: the library's parsers, its builder of metadata, and the updates behind its API. */
final class MetadataOperations {
  private static final String PLACE = "s3://b/wh/data.db/table/metadata/v1.metadata.json";
  private static final int NO_PARTITION_FIELDS = 999;

  /** The members of metadata outside of the canonical form: older ones, which repeat others. */
  private static final List<String> OLDER_MEMBERS = List.of("schema", "partition-spec");

  private MetadataOperations() {}

  static void addTo(Map<String, Adapter.Operation> operations) {
    operations.put("metadata.read", args -> selected(args, canonical(parsed(args))));
    operations.put("metadata.write", args -> selected(args, written(upgraded(args))));
    operations.put("metadata.upgrade", args -> selected(args, canonical(upgraded(args))));
    operations.put("schema.evolve", MetadataOperations::evolveSchema);
    operations.put("partition-spec.evolve", MetadataOperations::evolveSpec);
    operations.put("retention.expire", MetadataOperations::expire);
    operations.put("name-mapping.apply", MetadataOperations::applyMapping);
  }

  private static String text(JsonNode document) {
    return document.isTextual() ? document.textValue() : document.toString();
  }

  private static TableMetadata parsed(JsonNode args) {
    return TableMetadataParser.fromJson(text(args.get("metadata")));
  }

  private static TableMetadata upgraded(JsonNode args) {
    int version = args.get("format_version").intValue();
    return TableMetadata.buildFrom(parsed(args)).upgradeFormatVersion(version).build();
  }

  private static ObjectNode written(TableMetadata metadata) throws IOException {
    return (ObjectNode) Adapter.JSON.readTree(TableMetadataParser.toJson(metadata));
  }

  /** The written form; that of v1 has no sequence numbers, which the objects have. */
  private static ObjectNode canonical(TableMetadata metadata) throws IOException {
    ObjectNode form = written(metadata).remove(OLDER_MEMBERS);
    form.put("last-sequence-number", Long.toString(metadata.lastSequenceNumber()));
    if (metadata.currentSnapshot() == null) {
      form.remove("current-snapshot-id"); // -1 before v3
    }
    for (JsonNode snapshot : form.path("snapshots")) {
      long number = metadata.snapshot(snapshot.get("snapshot-id").longValue()).sequenceNumber();
      ((ObjectNode) snapshot).put("sequence-number", number);
    }
    return form;
  }

  private static JsonNode selected(JsonNode args, ObjectNode form) {
    if (!args.has("select")) {
      return form;
    }
    Set<String> names = new HashSet<>();
    args.get("select").forEach(name -> names.add(name.asText()));
    return form.retain(names);
  }

  /** Metadata of an empty table in the state that the arguments of an evolution describe. */
  private static ObjectNode tableOf(JsonNode args) {
    int version = args.get("format_version").intValue();
    ObjectNode schema = args.get("schema").deepCopy();
    schema.put("type", "struct");
    if (!schema.has("schema-id")) {
      schema.put("schema-id", 0);
    }
    ArrayNode specs = args.has("partition_specs") ? args.get("partition_specs").deepCopy() : onlySpec(args);
    JsonNode defaultId = args.path("default_spec_id").isMissingNode() ? specs.get(0).get("spec-id") : args.get("default_spec_id");
    ObjectNode table = Adapter.JSON.createObjectNode();
    table.put("format-version", version).put("table-uuid", "fb072c92-a02b-11e9-ae9c-1bb7bc9eca94");
    table.put("location", "s3://b/wh/data.db/table").put("last-updated-ms", 1515100955770L);
    table.put("last-column-id", args.path("last_column_id").asInt(highest(schema)));
    table.putArray("schemas").add(schema);
    table.set("current-schema-id", schema.get("schema-id"));
    table.set("partition-specs", specs);
    table.set("default-spec-id", defaultId);
    table.put("last-partition-id", args.path("last_partition_id").asInt(lastPartitionId(specs)));
    table.putArray("sort-orders").addObject().put("order-id", 0).putArray("fields");
    table.put("default-sort-order-id", 0);
    if (version == 1) {
      table.set("schema", schema);
      specs.forEach(spec -> setIfDefault(table, spec, defaultId));
    } else {
      table.put("last-sequence-number", 0);
    }
    if (version >= 3) {
      table.put("next-row-id", 0);
    }
    return table;
  }

  private static ArrayNode onlySpec(JsonNode args) {
    ArrayNode specs = Adapter.JSON.createArrayNode();
    ObjectNode spec = specs.addObject().put("spec-id", 0);
    spec.set("fields", args.has("partition_fields") ? args.get("partition_fields") : Adapter.JSON.createArrayNode());
    return specs;
  }

  private static void setIfDefault(ObjectNode table, JsonNode spec, JsonNode defaultId) {
    if (spec.get("spec-id").equals(defaultId)) {
      table.set("partition-spec", spec.get("fields"));
    }
  }

  private static int lastPartitionId(JsonNode specs) {
    int last = -1;
    for (JsonNode id : specs.findValues("field-id")) {
      last = Math.max(last, id.intValue());
    }
    return last < 0 ? NO_PARTITION_FIELDS : last;
  }

  /** The highest column id anywhere in a schema. */
  private static int highest(JsonNode schema) {
    int found = 0;
    for (String name : List.of("id", "element-id", "key-id", "value-id")) {
      for (JsonNode id : schema.findParents(name)) {
        found = Math.max(found, id.get(name).intValue());
      }
    }
    return found;
  }

  /** The operations of a table for an update: its metadata is in memory, as nothing is committed. */
  private static TableOperations operationsOf(String metadata) {
    InMemoryFileIO io = new InMemoryFileIO();
    io.addFile(PLACE, metadata.getBytes(StandardCharsets.UTF_8));
    return new StaticTableOperations(PLACE, io);
  }

  private static JsonNode evolveSchema(JsonNode args) throws IOException {
    TableOperations operations = operationsOf(tableOf(args).toString());
    TableMetadata metadata = operations.current();
    for (JsonNode change : args.get("changes")) { // one update for every change
      SchemaUpdate update = new SchemaUpdate(operations);
      changeColumn(update, metadata.schema(), change);
      metadata = metadata.updateSchema(update.apply());
      operations = operationsOf(written(metadata).toString());
      metadata = operations.current();
    }
    ObjectNode answer = Adapter.JSON.createObjectNode();
    answer.set("fields", Adapter.JSON.readTree(SchemaParser.toJson(metadata.schema())).get("fields"));
    return answer.put("last-column-id", metadata.lastColumnId());
  }

  static void changeColumn(UpdateSchema update, Schema schema, JsonNode change) {
    String name = change.get("name").asText();
    switch (change.get("op").asText()) {
      case "add":
        Type added = ValueOperations.typeOf(change.get("type"));
        Literal<?> value = defaultOf(added, change.get("default"));
        if (change.path("required").asBoolean()) {
          update.addRequiredColumn(textOf(change, "parent"), name, added, textOf(change, "doc"), value);
        } else {
          update.addColumn(textOf(change, "parent"), name, added, textOf(change, "doc"), value);
        }
        break;
      case "drop":
        update.deleteColumn(name);
        break;
      case "rename":
        update.renameColumn(name, change.get("to").asText());
        break;
      case "promote":
        Type promoted = ValueOperations.typeOf(change.get("type"));
        if (!promoted.isPrimitiveType()) {
          throw new Adapter.Unsupported("the API changes a type into primitive types only");
        }
        update.updateColumn(name, promoted.asPrimitiveType());
        break;
      case "move":
        if (change.get("after").isNull()) {
          update.moveFirst(name);
        } else { // a sibling, by its full name
          update.moveAfter(name, name.substring(0, name.lastIndexOf('.') + 1) + change.get("after").asText());
        }
        break;
      default:
        Types.NestedField field = schema.findField(name);
        update.updateColumnDefault(name, field == null ? null : defaultOf(field.type(), change.get("default")));
    }
  }

  private static String textOf(JsonNode change, String member) {
    return change.path(member).textValue();
  }

  private static Literal<?> defaultOf(Type type, JsonNode value) {
    if (ExchangeForm.isNull(value)) {
      return null;
    } else if (type.isNestedType()) {
      throw new Adapter.Unsupported("the API has no defaults of nested types");
    }
    return Expressions.lit(SingleValueParser.fromJson(type, value.toString()));
  }

  private static JsonNode evolveSpec(JsonNode args) throws IOException {
    TableOperations operations = operationsOf(tableOf(args).toString());
    TableMetadata metadata = operations.current();
    for (JsonNode change : args.get("changes")) {
      BaseUpdatePartitionSpec update = new BaseUpdatePartitionSpec(operations);
      changePartitionField(update, metadata.schema(), change);
      metadata = metadata.updatePartitionSpec(update.apply());
      operations = operationsOf(written(metadata).toString());
      metadata = operations.current();
    }
    ObjectNode spec = (ObjectNode) Adapter.JSON.readTree(PartitionSpecParser.toJson(metadata.spec()));
    return spec.put("last-partition-id", metadata.lastAssignedPartitionId());
  }

  private static void changePartitionField(BaseUpdatePartitionSpec update, Schema schema, JsonNode change) {
    String name = textOf(change, "name");
    switch (change.get("op").asText()) {
      case "add":
        if (change.get("source").size() != 1) {
          throw new Adapter.Unsupported("the library has no transforms of several columns");
        }
        String source = schema.findColumnName(change.get("source").get(0).intValue());
        if (source == null) {
          throw new Adapter.Unsupported("the API names the column, and no column has the id");
        }
        update.addField(name, Expressions.transform(source, Transforms.fromString(change.get("transform").asText())));
        break;
      case "remove":
        update.removeField(name);
        break;
      case "rename":
        update.renameField(name, change.get("to").asText());
        break;
      default:
        throw new Adapter.Unsupported("the library does not move partition fields");
    }
  }

  /** Expires snapshots at a time: the clock is set by the two times that the update takes when it is made. */
  private static JsonNode expire(JsonNode args) throws Exception {
    RemoveSnapshots update = new RemoveSnapshots(operationsOf(text(args.get("metadata"))));
    Field now = RemoveSnapshots.class.getDeclaredField("now");
    Field older = RemoveSnapshots.class.getDeclaredField("defaultExpireOlderThan");
    now.setAccessible(true);
    older.setAccessible(true);
    long ahead = args.get("now_ms").longValue() - now.getLong(update);
    now.setLong(update, args.get("now_ms").longValue());
    older.setLong(update, older.getLong(update) + ahead);
    var apply = RemoveSnapshots.class.getDeclaredMethod("internalApply");
    apply.setAccessible(true);
    ObjectNode document;
    try {
      document = written((TableMetadata) apply.invoke(update));
    } catch (java.lang.reflect.InvocationTargetException thrown) {
      throw thrown.getCause() instanceof Exception ? (Exception) thrown.getCause() : thrown;
    }
    ObjectNode answer = Adapter.JSON.createObjectNode();
    ArrayNode snapshots = answer.putArray("snapshots");
    document.get("snapshots").forEach(snapshot -> snapshots.add(snapshot.get("snapshot-id").asText()));
    ArrayNode refs = answer.putArray("refs");
    document.get("refs").fieldNames().forEachRemaining(refs::add);
    return answer;
  }

  private static JsonNode applyMapping(JsonNode args) {
    NameMapping mapping = NameMappingParser.fromJson(text(args.get("mapping")));
    ArrayNode answer = Adapter.JSON.createArrayNode();
    addColumns(answer, mapping, List.of(), args.get("columns"));
    return answer;
  }

  /** Adds the columns of a file at every level to the answer, each before those inside it. */
  private static void addColumns(ArrayNode answer, NameMapping mapping, List<String> around, JsonNode columns) {
    for (JsonNode column : columns) {
      addColumn(answer, mapping, around, column.get("name").asText(), column.get("type"));
    }
  }

  private static void addColumn(ArrayNode answer, NameMapping mapping, List<String> around, String name, JsonNode type) {
    List<String> path = new ArrayList<>(around);
    path.add(name);
    ObjectNode one = answer.addObject();
    ArrayNode names = one.putArray("path");
    path.forEach(names::add);
    MappedField field = mapping.find(path);
    one.put("field-id", field == null ? null : field.id());
    if (type.has("fields")) {
      addColumns(answer, mapping, path, type.get("fields"));
      return;
    }
    for (String part : List.of("element", "key", "value")) {
      if (type.has(part)) {
        addColumn(answer, mapping, path, part, type.get(part));
      }
    }
  }
}
