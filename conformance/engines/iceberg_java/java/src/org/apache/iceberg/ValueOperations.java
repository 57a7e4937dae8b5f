package org.apache.iceberg;

import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.JsonNode;
import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.node.IntNode;
import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.node.NullNode;
import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.apache.iceberg.expressions.Literal;
import org.apache.iceberg.transforms.BucketHash;
import org.apache.iceberg.transforms.Transform;
import org.apache.iceberg.transforms.Transforms;
import org.apache.iceberg.types.Conversions;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.util.BinaryUtil;
import org.apache.iceberg.util.BucketUtil;
import org.apache.iceberg.util.UnicodeUtil;

/** Operations on values: hashes, transforms, single values, bounds and types. */
final class ValueOperations {
  /** Types whose values have no exchange form that this API takes. */
  private static final Set<String> UNTOLD = Set.of("geometry", "geography", "variant");

  private static final Set<String> POINTS = Set.of("geometry", "geography");

  private ValueOperations() {}

  static void addTo(Map<String, Adapter.Operation> operations) {
    operations.put("hash", ValueOperations::hash);
    operations.put("transform", ValueOperations::transform);
    operations.put("single-value.encode", ValueOperations::encode);
    operations.put("single-value.decode", ValueOperations::decode);
    operations.put("json-value.encode", ValueOperations::jsonEncode);
    operations.put("json-value.decode", ValueOperations::jsonDecode);
    operations.put("json-value.round-trip", ValueOperations::jsonRoundTrip);
    operations.put("bound.encode", ValueOperations::boundEncode);
    operations.put("bound.decode", ValueOperations::boundDecode);
    operations.put("bound.truncate", ValueOperations::boundTruncate);
    operations.put("type.parse", ValueOperations::typeParse);
  }

  /** A schema of one optional column of a type. */
  private static Schema schemaOf(JsonNode type) {
    ObjectNode schema = Adapter.JSON.createObjectNode().put("type", "struct").put("schema-id", 0);
    ObjectNode field = schema.putArray("fields").addObject();
    field.put("id", 1_000_000_000).put("name", "f").put("required", false).set("type", type);
    return SchemaParser.fromJson(schema.toString());
  }

  static Type typeOf(JsonNode type) {
    return schemaOf(type).columns().get(0).type();
  }

  private static Object valueOf(JsonNode args) {
    String kind = ExchangeForm.kind(args.get("type"));
    if (UNTOLD.contains(kind)) {
      throw new Adapter.Unsupported("values of " + kind + " have no exchange form that this API takes");
    }
    return ExchangeForm.read(kind, args.get("value"));
  }

  private static JsonNode hash(JsonNode args) {
    String kind = ExchangeForm.kind(args.get("type"));
    switch (kind) {
      case "boolean":
      case "unknown":
        throw new Adapter.Unsupported("there is no hash of " + kind);
      case "float":
        return hashed(valueOf(args), value -> BucketUtil.hash((float) value));
      case "double":
        return hashed(valueOf(args), value -> BucketUtil.hash((double) value));
      default:
        Type type = typeOf(args.get("type"));
        Transforms.bucket(1).bind(type); // refuses a type also where the value is null
        return hashed(valueOf(args), value -> BucketHash.of(type, value));
    }
  }

  private static JsonNode hashed(Object value, Function<Object, Integer> hash) {
    return value == null ? NullNode.instance : IntNode.valueOf(hash.apply(value));
  }

  @SuppressWarnings("unchecked")
  private static JsonNode transform(JsonNode args) {
    Transform<Object, Object> transform = (Transform<Object, Object>) Transforms.fromString(args.get("transform").asText());
    Type source = typeOf(args.get("type"));
    if (transform.getClass().getSimpleName().equals("UnknownTransform")) {
      throw new IllegalArgumentException(transform + " is unknown and cannot be applied");
    } else if (!transform.canTransform(source)) {
      throw new IllegalArgumentException(transform + " cannot be applied to " + source);
    }
    String result = ExchangeForm.kind(transform.getResultType(source).toString());
    return ExchangeForm.write(result, transform.bind(source).apply(valueOf(args)));
  }

  private static JsonNode encode(JsonNode args) {
    Type type = typeOf(args.get("type"));
    return ExchangeForm.hexadecimal(Conversions.toByteBuffer(type, valueOf(args)));
  }

  private static Object decoded(JsonNode args) {
    Type type = typeOf(args.get("type"));
    String kind = ExchangeForm.kind(args.get("type"));
    if (UNTOLD.contains(kind)) {
      throw new Adapter.Unsupported(kind + " is not converted to a value");
    }
    return Conversions.fromByteBuffer(type, ExchangeForm.buffer(args.get("bytes")));
  }

  private static JsonNode decode(JsonNode args) {
    return ExchangeForm.write(ExchangeForm.kind(args.get("type")), decoded(args));
  }

  private static JsonNode jsonEncode(JsonNode args) throws IOException {
    Object value = decoded(args);
    Object held = value instanceof CharSequence ? value.toString() : value;
    return Adapter.JSON.readTree(SingleValueParser.toJson(typeOf(args.get("type")), held));
  }

  private static JsonNode jsonDecode(JsonNode args) {
    Type type = typeOf(args.get("type"));
    Object value = SingleValueParser.fromJson(type, args.get("json").toString());
    return ExchangeForm.hexadecimal(Conversions.toByteBuffer(type, value));
  }

  private static JsonNode jsonRoundTrip(JsonNode args) throws IOException {
    Type type = typeOf(args.get("type"));
    Object value = SingleValueParser.fromJson(type, args.get("json").toString());
    return Adapter.JSON.readTree(SingleValueParser.toJson(type, value));
  }

  private static JsonNode boundEncode(JsonNode args) {
    JsonNode value = args.get("value");
    String kind = ExchangeForm.kind(args.get("type"));
    if (Set.of("float", "double").contains(kind) && value.asText().equals("NaN")) {
      throw new Adapter.Unsupported("metrics leave NaN out before a bound is converted");
    } else if (!POINTS.contains(kind) || value.isNull()) {
      return encode(args);
    } else if (!value.has("x") || !value.has("y")) {
      throw new Adapter.Unsupported("a GeospatialBound always has x and y");
    }
    typeOf(args.get("type"));
    double x = coordinate(value, "x");
    double y = coordinate(value, "y");
    Double z = value.has("z") ? (Double) coordinate(value, "z") : null;
    Double m = value.has("m") ? (Double) coordinate(value, "m") : null;
    return ExchangeForm.hexadecimal(Release.pointBound(x, y, z, m));
  }

  private static double coordinate(JsonNode value, String name) {
    Object read = ExchangeForm.read("double", value.get(name));
    if (read == null) {
      throw new Adapter.Unsupported("a GeospatialBound has no coordinates that are null");
    }
    return (double) read;
  }

  private static JsonNode boundDecode(JsonNode args) {
    if (!POINTS.contains(ExchangeForm.kind(args.get("type")))) {
      return decode(args);
    }
    typeOf(args.get("type"));
    ByteBuffer buffer = ExchangeForm.buffer(args.get("bytes")).order(ByteOrder.LITTLE_ENDIAN);
    Double[] coordinates = Release.coordinates(buffer);
    ObjectNode answer = Adapter.JSON.createObjectNode();
    for (int place = 0; place < coordinates.length; place++) {
      if (coordinates[place] != null) {
        answer.set("xyzm".substring(place, place + 1), ExchangeForm.write("double", coordinates[place]));
      }
    }
    return answer;
  }

  private static JsonNode boundTruncate(JsonNode args) {
    String kind = ExchangeForm.kind(args.get("type"));
    boolean lower = args.get("side").asText().equals("lower");
    int width = args.get("width").intValue();
    Object value = kind.equals("string") || kind.equals("binary") ? valueOf(args) : null;
    Literal<?> shortened;
    if (kind.equals("string")) {
      Literal<CharSequence> given = Literal.of((String) value);
      shortened = lower ? UnicodeUtil.truncateStringMin(given, width) : UnicodeUtil.truncateStringMax(given, width);
    } else if (kind.equals("binary")) {
      Literal<ByteBuffer> given = Literal.of((ByteBuffer) value);
      shortened = lower ? BinaryUtil.truncateBinaryMin(given, width) : BinaryUtil.truncateBinaryMax(given, width);
    } else {
      throw new Adapter.Unsupported("bounds of " + kind + " are not shortened");
    }
    return ExchangeForm.write(kind, shortened == null ? null : shortened.value());
  }

  private static JsonNode typeParse(JsonNode args) throws IOException {
    String written = SchemaParser.toJson(schemaOf(args.get("type")));
    return Adapter.JSON.readTree(written).get("fields").get(0).get("type");
  }
}
