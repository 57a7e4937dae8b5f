package org.apache.iceberg;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.apache.iceberg.exceptions.ValidationException;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.inmemory.InMemoryCatalog;
import org.apache.iceberg.inmemory.InMemoryFileIO;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.JsonNode;
import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.iceberg.types.Types;

/**
 * Races of commits: handles on one table of the library's catalog in memory, which checks and swaps for all. The README
 * of the family of operations describes logs.
 */
final class CommitOperations {
  /** The properties of a new table: attempts follow each other at once. */
  private static final Map<String, String> PROPERTIES =
      Map.of("commit.retry.num-retries", "4", "commit.retry.min-wait-ms", "1", "commit.retry.max-wait-ms", "2");

  /** The beginning of the names of the properties that an answer has. */
  private static final String PREFIX = "race.";

  private static final Namespace NAMESPACE = Namespace.of("races");
  private static final long DAY = 86_400_000;

  private static InMemoryCatalog catalog;
  private static int tables;

  private CommitOperations() {}

  static void addTo(Map<String, Adapter.Operation> operations) {
    operations.put("commit.replay", CommitOperations::replay);
  }

  /** The library did not commit a change, because of concurrent commits. */
  private static final class Conflict extends RuntimeException {
    Conflict(Throwable cause) {
      super(cause);
    }
  }

  private static boolean isPartitionedByScore(JsonNode args) {
    return args.path("partitioned_by").asText().equals("score");
  }

  private static Schema schemaOf(JsonNode args) {
    List<Types.NestedField> fields = new ArrayList<>();
    fields.add(Types.NestedField.required(1, "id", Types.LongType.get()));
    fields.add(Types.NestedField.optional(2, "part", Types.StringType.get()));
    if (isPartitionedByScore(args)) {
      fields.add(Types.NestedField.optional(3, "score", Types.DoubleType.get()));
    }
    return new Schema(fields);
  }

  private static PartitionSpec specOf(JsonNode args, Schema schema) {
    String name = args.has("partitioned_by") ? args.get("partitioned_by").textValue() : "part";
    PartitionSpec.Builder builder = PartitionSpec.builderFor(schema);
    return name == null || schema.findField(name) == null ? builder.build() : builder.identity(name).build();
  }

  private static JsonNode replay(JsonNode args) throws IOException {
    for (JsonNode step : args.get("log")) {
      if (step.has("reply")) {
        throw new Adapter.Unsupported("answers of the catalog cannot be lost here");
      }
    }
    if (catalog == null) {
      catalog = new InMemoryCatalog();
      catalog.initialize("races", new HashMap<>());
      catalog.createNamespace(NAMESPACE);
    }
    TableIdentifier name = TableIdentifier.of(NAMESPACE, "table" + tables++);
    List<Long> snapshots = new ArrayList<>(); // in the order of their commits
    if (args.has("table")) {
      Path file = Path.of(args.get("table").textValue());
      for (JsonNode snapshot : Adapter.JSON.readTree(Files.readAllBytes(file)).path("snapshots")) {
        snapshots.add(snapshot.get("snapshot-id").longValue());
      }
      register(name, file);
    } else {
      Map<String, String> properties = new HashMap<>(PROPERTIES);
      properties.put("format-version", args.get("format_version").asText());
      Schema schema = schemaOf(args);
      catalog.createTable(name, schema, specOf(args, schema), properties);
    }
    try {
      ObjectNode answer = Adapter.JSON.createObjectNode();
      follow(args, name, snapshots, answer.putArray("outcomes"));
      return answer.set("table", tableForm(name, snapshots));
    } finally {
      catalog.dropTable(name, false);
    }
  }

  /** Makes a table from a metadata file and the files beside it; the files of the catalog are in memory. */
  private static void register(TableIdentifier name, Path metadataFile) throws IOException {
    InMemoryFileIO files = new InMemoryFileIO();
    try (Stream<Path> beside = Files.list(metadataFile.getParent())) {
      for (Path path : beside.filter(Files::isRegularFile).toList()) {
        files.addFile(path.toString(), Files.readAllBytes(path));
      }
    }
    catalog.registerTable(name, metadataFile.toString());
  }

  private static void follow(JsonNode args, TableIdentifier name, List<Long> snapshots, ArrayNode outcomes) {
    Handle first = new Handle(args, name, snapshots);
    for (JsonNode change : args.get("base")) {
      first.load();
      first.stage(change);
      first.commit();
    }
    Map<String, Handle> handles = new HashMap<>();
    Set<String> refused = new HashSet<>(); // at once; the answer says so where they would commit
    for (JsonNode step : args.get("log")) {
      String writer = step.get("writer").asText();
      Handle handle = handles.computeIfAbsent(writer, unused -> new Handle(args, name, snapshots));
      try {
        switch (step.get("do").asText()) {
          case "load":
            handle.load();
            break;
          case "stage":
            refused.remove(writer);
            handle.stage(step.get("change"));
            break;
          default:
            if (!refused.contains(writer)) {
              handle.commit();
            }
            outcomes.add(refused.contains(writer) ? "conflict" : "committed");
        }
      } catch (Conflict lost) {
        if (step.get("do").asText().equals("stage")) {
          refused.add(writer);
        } else {
          outcomes.add("conflict");
        }
      }
    }
  }

  private static ObjectNode tableForm(TableIdentifier name, List<Long> snapshots) throws IOException {
    BaseTable table = (BaseTable) catalog.loadTable(name);
    TableMetadata metadata = table.operations().current();
    JsonNode written = Adapter.JSON.readTree(TableMetadataParser.toJson(metadata));
    Map<Long, JsonNode> byId = new HashMap<>();
    written.get("snapshots").forEach(one -> byId.put(one.get("snapshot-id").longValue(), one));
    ObjectNode answer = Adapter.JSON.createObjectNode();
    answer.set("format-version", written.get("format-version"));
    answer.put("last-sequence-number", Long.toString(metadata.lastSequenceNumber()));
    ArrayNode columns = answer.putArray("columns");
    metadata.schema().columns().forEach(field -> columns.add(field.name()));
    ArrayNode spec = answer.putArray("spec");
    metadata.spec().fields().forEach(field -> spec.add(field.name()));
    ArrayNode sort = answer.putArray("sort");
    metadata.sortOrder().fields().forEach(field -> sort.add(metadata.schema().findField(field.sourceId()).name()));
    ObjectNode properties = answer.putObject("properties");
    metadata.properties().forEach(
        (key, value) -> {
          if (key.startsWith(PREFIX)) {
            properties.put(key, value);
          }
        });
    RowIds rowIds = new RowIds();
    ObjectNode refs = answer.putObject("refs");
    for (Map.Entry<String, SnapshotRef> ref : metadata.refs().entrySet()) {
      ObjectNode form = refs.putObject(ref.getKey()).put("type", ref.getValue().isBranch() ? "branch" : "tag");
      long id = ref.getValue().snapshotId();
      List<String> line = new ArrayList<>();
      for (JsonNode at = byId.get(id); at != null; at = parent(at, byId)) {
        line.add(0, at.get("summary").get("operation").asText());
      }
      form.set("operations", Adapter.JSON.valueToTree(line));
      boolean hasRowIds = byId.get(id).hasNonNull("first-row-id");
      putFiles(form.putObject("files"), table.io(), metadata, id, hasRowIds ? rowIds : null);
    }
    ArrayNode statistics = answer.putArray("statistics");
    metadata.statisticsFiles().stream()
        .map(one -> snapshots.indexOf(one.snapshotId()) + 1)
        .sorted()
        .forEach(statistics::add);
    answer.put("snapshots", written.get("snapshots").size());
    return answer.put("row-ids", rowIds.relation());
  }

  private static JsonNode parent(JsonNode snapshot, Map<Long, JsonNode> byId) {
    JsonNode parent = snapshot.get("parent-snapshot-id");
    return parent == null ? null : byId.get(parent.longValue());
  }

  private static void putFiles(ObjectNode answer, FileIO io, TableMetadata metadata, long snapshotId, RowIds rowIds)
      throws IOException {
    Snapshot snapshot = metadata.snapshot(snapshotId);
    for (ManifestFile manifest : snapshot.dataManifests(io)) {
      try (CloseableIterable<DataFile> files = ManifestFiles.read(manifest, io, metadata.specsById())) {
        for (DataFile file : files) {
          answer.put(fileName(file), String.valueOf(file.dataSequenceNumber()));
          if (rowIds != null) {
            rowIds.add(file);
          }
        }
      }
    }
    for (ManifestFile manifest : snapshot.deleteManifests(io)) {
      try (CloseableIterable<DeleteFile> files =
          ManifestFiles.readDeleteManifest(manifest, io, metadata.specsById())) {
        files.forEach(file -> answer.put(fileName(file), String.valueOf(file.dataSequenceNumber())));
      }
    }
  }

  /** The name that requests and answers have for a file. */
  private static String fileName(ContentFile<?> file) {
    return file.location().substring(file.location().lastIndexOf('/') + 1);
  }

  /** Classifies the row ids of data files: none, disjoint, overlapping or missing. */
  private static final class RowIds {
    private final TreeMap<Long, Long> ends = new TreeMap<>(); // by first id
    private final Map<Long, String> paths = new HashMap<>(); // of the file that has a range
    private boolean missing = false;
    private boolean shared = false;

    void add(DataFile file) {
      if (file.firstRowId() == null) {
        missing = true;
        return;
      }
      long end = file.firstRowId() + file.recordCount();
      String known = paths.putIfAbsent(file.firstRowId(), file.location());
      Long knownEnd = ends.put(file.firstRowId(), end);
      shared |= known != null && (!known.equals(file.location()) || knownEnd != end);
    }

    String relation() {
      if (missing) {
        return "missing";
      } else if (ends.isEmpty()) {
        return "none";
      }
      long reached = Long.MIN_VALUE;
      for (Map.Entry<Long, Long> range : ends.entrySet()) {
        shared |= range.getKey() < reached;
        reached = range.getValue();
      }
      return shared ? "overlapping" : "disjoint";
    }
  }

  /** A handle on the table, which knows nothing of others. */
  private static final class Handle {
    private final JsonNode args;
    private final TableIdentifier name;
    private final List<Long> snapshots;
    private Table table;
    private PendingUpdate<?> update;

    private Handle(JsonNode args, TableIdentifier name, List<Long> snapshots) {
      this.args = args;
      this.name = name;
      this.snapshots = snapshots;
    }

    void load() {
      table = catalog.loadTable(name);
    }

    /** Plans a change with the API for it; the library may refuse it at once. */
    void stage(JsonNode change) {
      losing(() -> update = planned(change));
    }

    void commit() {
      losing(() -> update.commit());
      table.refresh();
      List<Snapshot> fresh = new ArrayList<>();
      table.snapshots().forEach(one -> fresh.add(one));
      fresh.removeIf(one -> snapshots.contains(one.snapshotId()));
      fresh.sort(Comparator.comparingLong(Snapshot::timestampMillis));
      fresh.forEach(one -> snapshots.add(one.snapshotId()));
    }

    private static void losing(Runnable work) {
      try {
        work.run();
      } catch (CommitFailedException | ValidationException | IllegalArgumentException lost) {
        throw new Conflict(lost);
      } catch (Adapter.Unsupported missing) {
        throw missing;
      } catch (RuntimeException broken) { // whatever it is, it does not say that the log was wrong
        throw new RuntimeException(broken.toString(), broken);
      }
    }

    private PendingUpdate<?> planned(JsonNode change) {
      switch (change.get("op").asText()) {
        case "append":
          return append(table.newAppend(), change);
        case "fast-append":
          return append(table.newFastAppend(), change);
        case "overwrite":
          return overwrite(change);
        case "delete":
          DeleteFiles delete = table.newDelete();
          known(change).forEach(delete::deleteFile);
          return onBranch(delete.validateFilesExist(), change);
        case "delete-where":
          return onBranch(table.newDelete().deleteFromRowFilter(filterOf(change)), change);
        case "rewrite":
          return rewrite(change);
        case "row-delta":
          return rowDelta(change);
        default:
          return plannedMetadata(change);
      }
    }

    private PendingUpdate<?> plannedMetadata(JsonNode change) {
      switch (change.get("op").asText()) {
        case "schema":
          return table.updateSchema().addColumn(change.get("add").asText(), Types.IntegerType.get());
        case "spec":
          return specChange(change);
        case "sort-order":
          return table.replaceSortOrder().asc(Expressions.ref(change.get("by").asText()), NullOrder.NULLS_FIRST);
        case "properties":
          UpdateProperties properties = table.updateProperties();
          change.path("set").properties().forEach(one -> properties.set(one.getKey(), one.getValue().asText()));
          change.path("remove").forEach(one -> properties.remove(one.asText()));
          return properties;
        case "branch":
          return table.manageSnapshots().createBranch(change.get("name").asText(), snapshotAt(change, "at"));
        case "tag":
          return table.manageSnapshots().createTag(change.get("name").asText(), snapshotAt(change, "at"));
        case "remove-ref":
          String removed = change.get("name").asText();
          SnapshotRef ref = table.refs().get(removed);
          ManageSnapshots manage = table.manageSnapshots();
          return ref != null && ref.isTag() ? manage.removeTag(removed) : manage.removeBranch(removed);
        case "rollback":
          return table.manageSnapshots().setCurrentSnapshot(snapshotAt(change, "to"));
        case "statistics":
          StatisticsFile file =
              new GenericStatisticsFile(snapshotAt(change, "at"), pathOf("statistics"), 100, 50, List.of());
          return table.updateStatistics().setStatistics(file);
        case "expire":
          long later = System.currentTimeMillis() + DAY;
          return table.expireSnapshots().expireOlderThan(later).retainLast(1).cleanExpiredFiles(false);
        case "upgrade":
          return table.updateProperties().set("format-version", change.get("version").asText());
        default:
          throw new Adapter.Unsupported("the change " + change.get("op"));
      }
    }

    private long snapshotAt(JsonNode change, String member) {
      return snapshots.get(change.get(member).intValue() - 1);
    }

    private UpdatePartitionSpec specChange(JsonNode change) {
      UpdatePartitionSpec spec = table.updateSpec();
      if (change.has("remove")) {
        change.get("remove").forEach(one -> spec.removeField(one.asText()));
        return spec;
      }
      String transform = change.get("transform").asText();
      int buckets = Integer.parseInt(transform.substring("bucket[".length(), transform.length() - 1));
      return spec.addField(change.get("name").asText(), Expressions.bucket(change.get("source").asText(), buckets));
    }

    private PendingUpdate<?> append(AppendFiles append, JsonNode change) {
      fresh(change).forEach(append::appendFile);
      return onBranch(append, change);
    }

    private PendingUpdate<?> overwrite(JsonNode change) {
      OverwriteFiles overwrite = table.newOverwrite();
      if (startOf(change) != null) {
        overwrite.validateFromSnapshot(startOf(change));
      }
      fresh(change).forEach(overwrite::addFile);
      known(change).forEach(overwrite::deleteFile);
      if (change.has("isolation")) {
        overwrite.conflictDetectionFilter(filterOf(change)).validateNoConflictingDeletes();
        if (isSerializable(change)) {
          overwrite.validateNoConflictingData();
        }
      }
      return onBranch(overwrite, change);
    }

    private PendingUpdate<?> rewrite(JsonNode change) {
      RewriteFiles rewrite = table.newRewrite();
      if (startOf(change) != null) {
        rewrite.validateFromSnapshot(startOf(change));
      }
      known(change).forEach(rewrite::deleteFile);
      fresh(change).forEach(rewrite::addFile);
      if (change.has("data_sequence_number")) {
        rewrite.dataSequenceNumber(change.get("data_sequence_number").asLong());
      }
      return rewrite;
    }

    private PendingUpdate<?> rowDelta(JsonNode change) {
      RowDelta delta = table.newRowDelta();
      if (startOf(change) != null) {
        delta.validateFromSnapshot(startOf(change));
      }
      fresh(change).forEach(delta::addRows);
      change.path("deletes").forEach(file -> delta.addDeletes(deleteFileOf(file)));
      if (change.has("referenced")) {
        List<String> paths = new ArrayList<>();
        change.get("referenced").forEach(file -> paths.add(pathOf(file.asText())));
        delta.validateDataFilesExist(paths).validateDeletedFiles();
      }
      if (change.has("isolation")) {
        delta.conflictDetectionFilter(filterOf(change)).validateNoConflictingDeleteFiles();
        if (isSerializable(change)) {
          delta.validateNoConflictingDataFiles();
        }
      }
      return onBranch(delta, change);
    }

    private static boolean isSerializable(JsonNode change) {
      return change.get("isolation").asText().equals("serializable");
    }

    private static <T extends SnapshotUpdate<T>> T onBranch(T update, JsonNode change) {
      return change.has("branch") ? update.toBranch(change.get("branch").asText()) : update;
    }

    /** The snapshot that a change begins with, for validation; null if its branch has none. */
    private Long startOf(JsonNode change) {
      SnapshotRef ref = table.refs().get(change.path("branch").asText("main"));
      return ref == null ? null : (Long) ref.snapshotId();
    }

    private String pathOf(String file) {
      return table.location() + "/data/" + file;
    }

    private PartitionSpec specOf(JsonNode file) {
      return table.specs().get(file.path("spec").asInt());
    }

    /** The value that a file has of a partition field: of part, of score, or of another one, which is a bucket. */
    private static Object partitionValue(String field, JsonNode file) {
      if (!field.equals("part") && !field.equals("score")) {
        return file.hasNonNull("bucket") ? (Integer) file.get("bucket").intValue() : null;
      } else if (file.get("part").isNull()) {
        return null;
      }
      String text = file.get("part").asText();
      return field.equals("score") ? (Object) number(text) : text;
    }

    private static Double number(String text) {
      switch (text.toLowerCase()) {
        case "nan":
          return Double.NaN;
        case "inf":
        case "infinity":
          return Double.POSITIVE_INFINITY;
        case "-inf":
        case "-infinity":
          return Double.NEGATIVE_INFINITY;
        default:
          return Double.valueOf(text);
      }
    }

    /** The partition that a request gives a file; null in an unpartitioned table. */
    private static PartitionData partitionOf(PartitionSpec spec, JsonNode file) {
      if (spec.fields().isEmpty()) {
        return null;
      }
      PartitionData values = new PartitionData(spec.partitionType());
      for (int place = 0; place < spec.fields().size(); place++) {
        PartitionField field = spec.fields().get(place);
        values.set(place, field.transform().isVoid() ? null : partitionValue(field.name(), file));
      }
      return values;
    }

    private List<DataFile> fresh(JsonNode change) {
      List<DataFile> made = new ArrayList<>();
      change.path("files").forEach(file -> made.add(dataFileOf(file)));
      return made;
    }

    private DataFile dataFileOf(JsonNode file) {
      PartitionSpec spec = specOf(file);
      PartitionData partition = partitionOf(spec, file);
      DataFiles.Builder builder = DataFiles.builder(spec).withPath(pathOf(file.get("name").asText()));
      if (partition != null) {
        builder.withPartition(partition);
      }
      long rows = file.get("rows").longValue();
      return builder.withFormat("parquet").withRecordCount(rows).withFileSizeInBytes(100 * rows).build();
    }

    private DeleteFile deleteFileOf(JsonNode file) {
      PartitionSpec spec = specOf(file);
      PartitionData partition = partitionOf(spec, file);
      String kind = file.get("kind").asText();
      FileMetadata.Builder builder = FileMetadata.deleteFileBuilder(spec);
      builder = kind.equals("equality") ? builder.ofEqualityDeletes(1) : builder.ofPositionDeletes();
      builder.withPath(pathOf(file.get("name").asText())).withFormat(kind.equals("vector") ? "puffin" : "parquet");
      if (partition != null) {
        builder.withPartition(partition);
      }
      builder.withRecordCount(file.get("rows").longValue()).withFileSizeInBytes(50);
      if (file.has("of")) {
        builder.withReferencedDataFile(pathOf(file.get("of").asText()));
      }
      if (kind.equals("vector")) {
        builder.withContentOffset(4).withContentSizeInBytes(40);
      }
      return builder.build();
    }

    /** The files to remove, as the loaded table has them. */
    private List<DataFile> known(JsonNode change) {
      Set<String> paths = new HashSet<>();
      change.path("remove").forEach(file -> paths.add(pathOf(file.asText())));
      List<DataFile> found = new ArrayList<>();
      for (ManifestFile manifest : table.currentSnapshot().dataManifests(table.io())) {
        try (CloseableIterable<DataFile> files = ManifestFiles.read(manifest, table.io(), table.specs())) {
          for (DataFile file : files) {
            if (paths.contains(file.location())) {
              found.add(file.copy());
            }
          }
        } catch (IOException broken) {
          throw new java.io.UncheckedIOException(broken);
        }
      }
      return found;
    }

    private Expression filterOf(JsonNode change) {
      if (!change.has("filter")) {
        return Expressions.alwaysTrue();
      }
      String column = isPartitionedByScore(args) ? "score" : "part";
      Object value = partitionValue(column, change.get("filter"));
      if (value == null) {
        return Expressions.isNull(column);
      }
      boolean isNaN = value instanceof Double && ((Double) value).isNaN();
      return isNaN ? Expressions.isNaN(column) : Expressions.equal(column, value);
    }
  }
}
