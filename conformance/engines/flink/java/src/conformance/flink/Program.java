package conformance.flink;

import conformance.LocalCatalog;
import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.DeploymentOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.runtime.minicluster.RpcServiceSharing;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.JsonNodeFactory;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.ResultKind;
import org.apache.flink.table.api.Table;
import org.apache.flink.table.api.TableResult;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.api.config.TableConfigOptions;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.DataType;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.apache.flink.types.variant.BinaryVariant;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.flink.CatalogLoader;
import org.apache.iceberg.flink.TableLoader;
import org.apache.iceberg.flink.sink.FlinkSink;

/**
 * Flink for the adapter: it reads requests on standard input, one JSON line each, and answers each with a line.
 *
 * <p>A request has {@code table}, a name, and may have {@code metadata}, the metadata file that the table is to have,
 * and {@code statements} and then a {@code sink}, rows for the sink of the connector. The answer has the {@code rows}
 * of the last statement, and {@code metadata}, the file that the table has then; or {@code thrown}, the messages of
 * the exception and its causes. The arguments are processes: the program ends when one of them does.
 */
public final class Program {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

  private static final String LOOPBACK = "127.0.0.1";

  private final StreamExecutionEnvironment jobs;
  private final StreamTableEnvironment environment;

  /** Start a cluster in this process, which all jobs share: to start one for each job takes ten seconds. */
  private Program() throws Exception {
    Configuration cluster = new Configuration();
    cluster.set(RestOptions.BIND_PORT, "0");
    cluster.set(RestOptions.BIND_ADDRESS, LOOPBACK);
    cluster.set(RestOptions.ADDRESS, LOOPBACK);
    cluster.set(TaskManagerOptions.HOST, LOOPBACK); // otherwise the name of the machine is looked up, which may take long
    cluster.set(TaskManagerOptions.NETWORK_MEMORY_MIN, MemorySize.ofMebiBytes(32));
    cluster.set(TaskManagerOptions.NETWORK_MEMORY_MAX, MemorySize.ofMebiBytes(32));
    MiniCluster started =
        new MiniCluster(
            new MiniClusterConfiguration.Builder()
                .setConfiguration(cluster)
                .setNumTaskManagers(1)
                .setNumSlotsPerTaskManager(4)
                .setRpcServiceSharing(RpcServiceSharing.SHARED)
                .build());
    started.start();

    Configuration settings = new Configuration();
    settings.set(DeploymentOptions.TARGET, "remote");
    settings.set(RestOptions.ADDRESS, LOOPBACK);
    settings.set(RestOptions.PORT, started.getRestAddress().get().getPort());
    settings.set(CoreOptions.DEFAULT_PARALLELISM, 1);
    settings.set(TableConfigOptions.TABLE_DML_SYNC, true);
    settings.set(TableConfigOptions.LOCAL_TIME_ZONE, "UTC");
    jobs = StreamExecutionEnvironment.getExecutionEnvironment(settings);
    jobs.setRuntimeMode(RuntimeExecutionMode.BATCH);
    environment = StreamTableEnvironment.create(jobs, EnvironmentSettings.inBatchMode());
    environment.getConfig().addConfiguration(settings);
    environment.executeSql(
        "CREATE CATALOG c WITH ('type'='iceberg', 'default-database'='d', 'cache-enabled'='false', 'catalog-impl'='"
            + LocalCatalog.class.getName()
            + "')");
    environment.useCatalog("c");
  }

  private ObjectNode answer(JsonNode request) {
    ObjectNode answer = NODES.objectNode();
    TableIdentifier table = TableIdentifier.of("d", request.get("table").textValue());
    if (request.has("metadata")) {
      LocalCatalog.setMetadataFile(table, request.get("metadata").textValue());
    }
    try {
      for (JsonNode statement : request.withArray("statements")) {
        TableResult result = environment.executeSql(statement.textValue());
        if (result.getResultKind() == ResultKind.SUCCESS_WITH_CONTENT && !changes(result)) {
          ArrayNode rows = answer.putArray("rows");
          result.collect().forEachRemaining(row -> rows.add(json(row)));
        }
      }
      if (request.has("sink")) {
        write(table, request.get("sink"));
      }
    } catch (Exception | LinkageError | StackOverflowError thrown) {
      ArrayNode said = answer.putArray("thrown");
      for (Throwable cause = thrown; cause != null && said.size() < 20; cause = cause.getCause()) {
        said.add(cause.toString());
      }
    }
    answer.put("metadata", LocalCatalog.metadataFile(table));
    if (request.path("forget").asBoolean()) {
      LocalCatalog.forget(table);
    }
    return answer;
  }

  /**
   * Let the connector's sink write rows that replace those with their key, or delete them.
   *
   * <p>In its upsert mode, equality deletes have the key columns alone. Otherwise they have all columns of the deleted
   * rows, which scripts do not have.
   */
  private void write(TableIdentifier table, JsonNode asked) throws Exception {
    RowKind kind = asked.get("kind").textValue().equals("UPSERT") ? RowKind.INSERT : RowKind.DELETE;
    List<String> columns = new ArrayList<>();
    asked.get("columns").forEach(column -> columns.add(column.textValue()));
    TableLoader loader =
        TableLoader.fromCatalog(
            CatalogLoader.custom("c", Map.of(), new org.apache.hadoop.conf.Configuration(), LocalCatalog.class.getName()),
            table);
    Table query = environment.sqlQuery(asked.get("query").textValue());
    DataType type = query.getResolvedSchema().toPhysicalRowDataType().bridgedTo(RowData.class);
    DataStream<RowData> rows = environment.toDataStream(query, type);
    DataStream<RowData> changes = rows.map(row -> ofKind(row, kind)).returns(rows.getType());
    FlinkSink.forRowData(changes)
        .tableLoader(loader)
        .equalityFieldColumns(columns)
        .upsert(true)
        .toBranch(asked.get("branch").textValue())
        .append();
    jobs.execute();
  }

  private static RowData ofKind(RowData row, RowKind kind) {
    row.setRowKind(kind);
    return row;
  }

  /** Whether a statement changed rows: then the end of the job is awaited, and the only row of the result is ignored. */
  private static boolean changes(TableResult result) {
    return result.getResolvedSchema().getColumnNames().get(0).startsWith("c.d.");
  }

  /** A value of a row in JSON; the adapter knows its type. */
  private static JsonNode json(Object value) {
    if (value == null) {
      return NODES.nullNode();
    } else if (value instanceof Row row) {
      ArrayNode values = NODES.arrayNode();
      for (int place = 0; place < row.getArity(); place++) {
        values.add(json(row.getField(place)));
      }
      return values;
    } else if (value instanceof Object[] items) {
      ArrayNode values = NODES.arrayNode();
      for (Object item : items) {
        values.add(json(item));
      }
      return values;
    } else if (value instanceof Map<?, ?> map) {
      ArrayNode entries = NODES.arrayNode();
      map.forEach((key, item) -> entries.addArray().add(json(key)).add(json(item)));
      return entries;
    } else if (value instanceof byte[] bytes) {
      return NODES.textNode(HexFormat.of().formatHex(bytes));
    } else if (value instanceof BigDecimal decimal) {
      return NODES.textNode(decimal.toPlainString());
    } else if (value instanceof LocalDate date) {
      return NODES.numberNode(date.toEpochDay());
    } else if (value instanceof LocalTime time) {
      return NODES.numberNode(time.toNanoOfDay());
    } else if (value instanceof LocalDateTime time) {
      return json(time.toInstant(ZoneOffset.UTC));
    } else if (value instanceof Instant instant) {
      return NODES.numberNode(
          BigInteger.valueOf(instant.getEpochSecond())
              .multiply(BigInteger.valueOf(1_000_000_000))
              .add(BigInteger.valueOf(instant.getNano())));
    } else if (value instanceof Float || value instanceof Double) {
      double number = ((Number) value).doubleValue();
      return Double.isFinite(number) ? NODES.numberNode(number) : NODES.textNode(Double.toString(number));
    } else if (value instanceof Number number) {
      return NODES.numberNode(number.longValue());
    } else if (value instanceof BinaryVariant variant) {
      return NODES
          .objectNode()
          .put("metadata", HexFormat.of().formatHex(variant.getMetadata()))
          .put("value", HexFormat.of().formatHex(variant.getValue()));
    } else if (value instanceof Boolean truth) {
      return NODES.booleanNode(truth);
    }
    return NODES.textNode(value.toString());
  }

  /** End with a process that started this one or its starter: also while a job runs. */
  private static void endWith(long starter) {
    if (starter > 1) {
      ProcessHandle.of(starter)
          .map(ProcessHandle::onExit)
          .orElse(CompletableFuture.completedFuture(null))
          .thenRun(() -> Runtime.getRuntime().halt(1));
    }
  }

  public static void main(String[] starters) throws Exception {
    OutputStream answers = new BufferedOutputStream(System.out, 1 << 16);
    System.setOut(System.err);
    for (String starter : starters) {
      endWith(Long.parseLong(starter));
    }
    Program program = new Program();
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8), 1 << 16);
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      answers.write(JSON.writeValueAsBytes(program.answer(JSON.readTree(line))));
      answers.write('\n');
      answers.flush();
    }
    Runtime.getRuntime().halt(0); // threads of Flink may be alive
  }
}
