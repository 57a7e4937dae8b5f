package org.apache.iceberg;

import conformance.LocalCatalog;
import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.iceberg.catalog.Catalog;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.expressions.Term;
import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.JsonNode;
import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.iceberg.transforms.Transforms;

/**
 * The steps of scripts that write tables. {@code writing.py} follows a script and sends its operations here one by one:
 * those that the library's API performs as they are, the others as SQL statements. Every answer describes the table.
 */
final class ScriptOperations {
  private static final Namespace NAMESPACE = Namespace.of("tables");
  private static final String MAIN = SnapshotRef.MAIN_BRANCH;
  private static final long DAY = 86_400_000;
  private static final Catalog CATALOG = new LocalCatalog();

  private ScriptOperations() {}

  static void addTo(Map<String, Adapter.Operation> operations) {
    operations.put("script.open", ScriptOperations::open);
    operations.put("script.perform", ScriptOperations::perform);
    operations.put("script.execute", ScriptOperations::execute);
    operations.put("script.close", ScriptOperations::close);
  }

  private static TableIdentifier nameOf(JsonNode args) {
    return TableIdentifier.of(NAMESPACE, args.get("name").textValue());
  }

  private static JsonNode open(JsonNode args) throws IOException {
    return describe(CATALOG.registerTable(nameOf(args), args.get("metadata").textValue()));
  }

  private static JsonNode close(JsonNode args) {
    return Adapter.JSON.getNodeFactory().booleanNode(CATALOG.dropTable(nameOf(args), false));
  }

  private static JsonNode perform(JsonNode args) throws IOException {
    JsonNode operation = args.get("operation");
    if (operation.get("op").textValue().equals("create")) {
      return describe(create(nameOf(args), args.get("location").textValue(), operation));
    }
    Table table = CATALOG.loadTable(nameOf(args));
    change(table, operation);
    table.refresh();
    return describe(table);
  }

  /** Runs a statement; {@code properties} of the table are set before, and restored if it is refused. */
  private static JsonNode execute(JsonNode args) throws IOException {
    TableIdentifier name = nameOf(args);
    Table table = CATALOG.loadTable(name);
    String before = metadataFileOf(table);
    Map<String, String> asked = textsOf(args.get("properties"));
    if (!table.properties().entrySet().containsAll(asked.entrySet())) {
      setProperties(table, asked);
    }
    try {
      ScriptStatements.run(args.get("statement").textValue());
    } catch (RuntimeException refusal) {
      LocalCatalog.setMetadataFile(name, before);
      throw refusal;
    }
    table.refresh();
    return describe(table);
  }

  private static String metadataFileOf(Table table) {
    return ((HasTableOperations) table).operations().current().metadataFileLocation();
  }

  /** The table as it is now: its metadata file, the snapshot of each branch and tag, and what statements depend on. */
  private static JsonNode describe(Table table) throws IOException {
    ObjectNode answer = Adapter.JSON.createObjectNode().put("metadata", metadataFileOf(table));
    answer.put("format-version", ((HasTableOperations) table).operations().current().formatVersion());
    answer.set("fields", Adapter.JSON.readTree(SchemaParser.toJson(table.schema())).get("fields"));
    ObjectNode snapshots = answer.putObject("snapshots");
    table.refs().forEach((name, ref) -> snapshots.put(name, ref.snapshotId()));
    return answer;
  }

  private static Table create(TableIdentifier name, String location, JsonNode operation) {
    ObjectNode form = operation.get("schema").deepCopy();
    form.put("schema-id", 0);
    Schema schema = SchemaParser.fromJson(form.toString());
    PartitionSpec.Builder spec = PartitionSpec.builderFor(schema);
    operation.path("partition").forEach(field -> addPartitionField(spec, field));
    SortOrder.Builder order = SortOrder.builderFor(schema);
    addSortFields(order, operation.path("sort"));
    Map<String, String> properties = new HashMap<>();
    properties.put(TableProperties.FORMAT_VERSION, operation.get("format_version").asText());
    properties.putAll(textsOf(operation.path("properties")));
    return CATALOG
        .buildTable(name, schema)
        .withPartitionSpec(spec.build())
        .withSortOrder(order.build())
        .withProperties(properties)
        .withLocation(location)
        .create();
  }

  private static void addPartitionField(PartitionSpec.Builder spec, JsonNode field) {
    String source = field.get("source").textValue();
    String name = field.get("name").textValue();
    String[] transform = field.get("transform").textValue().split("[\\[\\]]"); // bucket[16]
    switch (transform[0]) {
      case "identity":
        spec.identity(source, name);
        break;
      case "year":
        spec.year(source, name);
        break;
      case "month":
        spec.month(source, name);
        break;
      case "day":
        spec.day(source, name);
        break;
      case "hour":
        spec.hour(source, name);
        break;
      case "bucket":
        spec.bucket(source, Integer.parseInt(transform[1]), name);
        break;
      case "truncate":
        spec.truncate(source, Integer.parseInt(transform[1]), name);
        break;
      case "void":
        spec.alwaysNull(source, name);
        break;
      default:
        throw new Adapter.Unsupported("the API makes no partition field with the transform " + transform[0]);
    }
  }

  private static void addSortFields(SortOrderBuilder<?> order, JsonNode fields) {
    for (JsonNode field : fields) {
      String transform = field.path("transform").asText("identity");
      Term term = transform.equals("identity") ? Expressions.ref(sourceOf(field)) : transformed(field);
      boolean nullsLast = field.path("null_order").asText().equals("nulls-last");
      NullOrder nulls = nullsLast ? NullOrder.NULLS_LAST : NullOrder.NULLS_FIRST;
      if (field.path("direction").asText().equals("desc")) {
        order.desc(term, nulls);
      } else {
        order.asc(term, nulls);
      }
    }
  }

  private static String sourceOf(JsonNode field) {
    return field.get("source").textValue();
  }

  private static Term transformed(JsonNode field) {
    return Expressions.transform(sourceOf(field), Transforms.fromString(field.get("transform").textValue()));
  }

  /** Performs an operation, with one commit. */
  private static void change(Table table, JsonNode operation) throws IOException {
    switch (operation.get("op").textValue()) {
      case "alter-schema":
        alterSchema(table, operation.get("changes"));
        break;
      case "alter-spec":
        alterSpec(table, operation.get("changes"));
        break;
      case "sort":
        ReplaceSortOrder order = table.replaceSortOrder();
        addSortFields(order, operation.get("fields"));
        order.commit();
        break;
      case "upgrade":
        setProperties(table, Map.of(TableProperties.FORMAT_VERSION, operation.get("format_version").asText()));
        break;
      case "properties":
        UpdateProperties update = table.updateProperties();
        textsOf(operation.path("set")).forEach(update::set);
        operation.path("remove").forEach(name -> update.remove(name.textValue()));
        update.commit();
        break;
      case "append":
        append(table, operation);
        break;
      case "delete-equal":
        changeByKey(table, operation, operation.get("rows"), Adapter.JSON.createArrayNode());
        break;
      case "upsert":
        changeByKey(table, operation, keysOf(operation), operation.get("rows"));
        break;
      case "branch":
        table.manageSnapshots().createBranch(operation.get("name").textValue(), snapshotOf(table, operation)).commit();
        break;
      case "tag":
        table.manageSnapshots().createTag(operation.get("name").textValue(), snapshotOf(table, operation)).commit();
        break;
      case "fast-forward":
        table.manageSnapshots().fastForwardBranch(MAIN, operation.get("to").textValue()).commit();
        break;
      case "rollback":
        table.manageSnapshots().setCurrentSnapshot(operation.get("snapshot").longValue()).commit();
        break;
      case "expire":
        table.expireSnapshots().expireOlderThan(System.currentTimeMillis() + DAY).retainLast(1).commit();
        break;
      default:
        throw new Adapter.Unsupported("the API does not " + operation.get("op").textValue());
    }
  }

  /** Changes depend on each other, which one update does not support, so each is an update in one transaction. */
  private static void alterSchema(Table table, JsonNode changes) {
    Transaction transaction = table.newTransaction();
    for (JsonNode change : changes) {
      UpdateSchema update = transaction.updateSchema();
      if (change.get("op").textValue().equals("optional")) {
        update.makeColumnOptional(change.get("name").textValue());
      } else {
        MetadataOperations.changeColumn(update, transaction.table().schema(), change);
      }
      update.commit();
    }
    transaction.commitTransaction();
  }

  private static void alterSpec(Table table, JsonNode changes) {
    Transaction transaction = table.newTransaction();
    for (JsonNode change : changes) {
      UpdatePartitionSpec update = transaction.updateSpec();
      String name = change.get("name").textValue();
      switch (change.get("op").textValue()) {
        case "add":
          update.addField(name, transformed(change));
          break;
        case "remove":
          update.removeField(name);
          break;
        default:
          update.renameField(name, change.get("to").textValue());
      }
      update.commit();
    }
    transaction.commitTransaction();
  }

  private static void setProperties(Table table, Map<String, String> properties) {
    UpdateProperties update = table.updateProperties();
    properties.forEach(update::set);
    update.commit();
  }

  private static Map<String, String> textsOf(JsonNode object) {
    Map<String, String> texts = new HashMap<>();
    object.properties().forEach(member -> texts.put(member.getKey(), member.getValue().textValue()));
    return texts;
  }

  private static void append(Table table, JsonNode operation) throws IOException {
    AppendFiles update = onBranch(table.newAppend(), operation);
    ScriptRows.dataFiles(table, operation.get("rows")).forEach(update::appendFile);
    update.commit();
  }

  private static <T extends SnapshotUpdate<T>> T onBranch(T update, JsonNode operation) {
    String branch = operation.path("branch").asText(MAIN);
    return branch.equals(MAIN) ? update : update.toBranch(branch);
  }

  /** Removes the rows with one of the keys by equality deletes, and adds rows. */
  private static void changeByKey(Table table, JsonNode operation, JsonNode keys, JsonNode rows) throws IOException {
    Set<String> names = new HashSet<>();
    keys.get(0).fieldNames().forEachRemaining(names::add);
    if (!names.containsAll(ScriptRows.sourcesOfDeletes(table))) {
      throw new Adapter.Unsupported("equality deletes are of a partition, which the keys do not determine");
    }
    RowDelta update = onBranch(table.newRowDelta(), operation);
    ScriptRows.equalityDeletes(table, keys).forEach(update::addDeletes);
    ScriptRows.dataFiles(table, rows).forEach(update::addRows);
    update.commit();
  }

  private static JsonNode keysOf(JsonNode operation) {
    Set<String> names = new HashSet<>();
    operation.get("on").forEach(name -> names.add(name.textValue()));
    JsonNode keys = operation.get("rows").deepCopy();
    keys.forEach(row -> ((ObjectNode) row).retain(names));
    return keys;
  }

  private static long snapshotOf(Table table, JsonNode operation) {
    if (operation.has("snapshot")) {
      return operation.get("snapshot").longValue();
    } else if (table.currentSnapshot() == null) {
      throw new IllegalArgumentException("main has no snapshot");
    }
    return table.currentSnapshot().snapshotId();
  }
}
