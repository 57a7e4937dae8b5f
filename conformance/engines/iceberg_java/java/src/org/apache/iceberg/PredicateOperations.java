package org.apache.iceberg;

import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.JsonNode;
import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.node.BooleanNode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.apache.iceberg.data.GenericRecord;
import org.apache.iceberg.expressions.Evaluator;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.expressions.ExpressionParser;
import org.apache.iceberg.expressions.InclusiveMetricsEvaluator;
import org.apache.iceberg.expressions.ManifestEvaluator;
import org.apache.iceberg.expressions.Projections;
import org.apache.iceberg.expressions.ResidualEvaluator;
import org.apache.iceberg.expressions.StrictMetricsEvaluator;
import org.apache.iceberg.types.Types;

/** Operations on predicates: the library's parser of them, its evaluators and projections. */
final class PredicateOperations {
  private static final boolean CASE_SENSITIVE = true;

  private PredicateOperations() {}

  static void addTo(Map<String, Adapter.Operation> operations) {
    operations.put("expression.evaluate", PredicateOperations::evaluate);
    operations.put("metrics.evaluate", PredicateOperations::evaluateMetrics);
    operations.put("projection.evaluate", PredicateOperations::evaluateProjection);
    operations.put("residual.evaluate", PredicateOperations::evaluateResidual);
    operations.put("summaries.evaluate", PredicateOperations::evaluateSummaries);
  }

  static Expression predicateOf(JsonNode predicate, JsonNode fields, Schema schema) {
    return ExpressionParser.fromJson(OlderForm.of(predicate, fields).toString(), schema);
  }

  private static Expression predicateOf(JsonNode args, Schema schema) {
    return predicateOf(args.get("predicate"), args.get("schema").get("fields"), schema);
  }

  private static Schema schemaOf(JsonNode args) {
    return SchemaParser.fromJson(args.get("schema").toString());
  }

  private static PartitionSpec specOf(JsonNode args, Schema schema) {
    return PartitionSpecParser.fromJson(schema, args.get("spec").toString());
  }

  /** A record of values, by field id, as the library holds them inside: what its evaluators take. */
  private static GenericRecord recordOf(Types.StructType struct, JsonNode values) {
    GenericRecord record = GenericRecord.create(struct);
    for (int place = 0; place < struct.fields().size(); place++) {
      Types.NestedField field = struct.fields().get(place);
      String kind = ExchangeForm.kind(field.type().toString());
      record.set(place, ExchangeForm.read(kind, values.get(Integer.toString(field.fieldId()))));
    }
    return record;
  }

  private static JsonNode matches(Types.StructType struct, Expression predicate, JsonNode values) {
    GenericRecord record = recordOf(struct, values);
    return BooleanNode.valueOf(new Evaluator(struct, predicate).eval(record));
  }

  private static JsonNode evaluate(JsonNode args) {
    Schema schema = schemaOf(args);
    return matches(schema.asStruct(), predicateOf(args, schema), args.get("row"));
  }

  private static JsonNode evaluateMetrics(JsonNode args) {
    Schema schema = schemaOf(args);
    Expression predicate = predicateOf(args, schema);
    DataFile file =
        DataFiles.builder(PartitionSpec.unpartitioned())
            .withPath("/data.parquet")
            .withFormat("parquet")
            .withFileSizeInBytes(10)
            .withMetrics(metricsOf(args.get("metrics")))
            .build();
    boolean inclusive = args.get("kind").asText().equals("inclusive");
    return BooleanNode.valueOf(
        inclusive
            ? new InclusiveMetricsEvaluator(schema, predicate).eval(file)
            : new StrictMetricsEvaluator(schema, predicate).eval(file));
  }

  /** The metrics of a file, whose members have the names of the spec. */
  static Metrics metricsOf(JsonNode given) {
    Function<JsonNode, Long> count = value -> (Long) ExchangeForm.read("long", value);
    Function<JsonNode, ByteBuffer> bound = ExchangeForm::buffer;
    return new Metrics(
        count.apply(given.get("record_count")),
        byId(given.get("column_sizes"), count),
        byId(given.get("value_counts"), count),
        byId(given.get("null_value_counts"), count),
        byId(given.get("nan_value_counts"), count),
        byId(given.get("lower_bounds"), bound),
        byId(given.get("upper_bounds"), bound));
  }

  private static <V> Map<Integer, V> byId(JsonNode given, Function<JsonNode, V> read) {
    if (ExchangeForm.isNull(given)) {
      return null;
    }
    Map<Integer, V> made = new HashMap<>();
    given.properties().forEach(one -> made.put(Integer.valueOf(one.getKey()), read.apply(one.getValue())));
    return made;
  }

  private static JsonNode evaluateProjection(JsonNode args) {
    Schema schema = schemaOf(args);
    PartitionSpec spec = specOf(args, schema);
    boolean inclusive = args.get("kind").asText().equals("inclusive");
    Expression predicate = predicateOf(args, schema);
    Expression projected = (inclusive ? Projections.inclusive(spec) : Projections.strict(spec)).project(predicate);
    return matches(spec.partitionType(), projected, args.get("partition"));
  }

  private static JsonNode evaluateResidual(JsonNode args) {
    Schema schema = schemaOf(args);
    PartitionSpec spec = specOf(args, schema);
    ResidualEvaluator evaluator = ResidualEvaluator.of(spec, predicateOf(args, schema), CASE_SENSITIVE);
    Expression residual = evaluator.residualFor(recordOf(spec.partitionType(), args.get("partition")));
    return matches(schema.asStruct(), residual, args.get("row"));
  }

  private static JsonNode evaluateSummaries(JsonNode args) {
    Schema schema = schemaOf(args);
    PartitionSpec spec = specOf(args, schema);
    List<ManifestFile.PartitionFieldSummary> summaries = new ArrayList<>();
    args.get("summaries").forEach(given -> summaries.add(summaryOf(given)));
    ManifestFile manifest =
        new GenericManifestFile(
            "manifest.avro", 0, spec.specId(), ManifestContent.DATA, 0, 0, 0L, summaries,
            null, null, null, null, null, null, null, null);
    Expression predicate = predicateOf(args, schema);
    return BooleanNode.valueOf(ManifestEvaluator.forRowFilter(predicate, spec, CASE_SENSITIVE).eval(manifest));
  }

  /** A summary, filled by position as the reader of manifest lists fills it: its constructors require a NaN flag. */
  private static ManifestFile.PartitionFieldSummary summaryOf(JsonNode given) {
    GenericPartitionFieldSummary summary = new GenericPartitionFieldSummary();
    summary.put(0, ExchangeForm.read("boolean", given.get("contains_null")));
    summary.put(1, ExchangeForm.read("boolean", given.get("contains_nan")));
    summary.put(2, ExchangeForm.buffer(given.get("lower_bound")));
    summary.put(3, ExchangeForm.buffer(given.get("upper_bound")));
    return summary;
  }
}
