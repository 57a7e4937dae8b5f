package org.apache.iceberg;

import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.JsonNode;
import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.node.TextNode;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Predicates in the older JSON form, which the library reads: a column, or a transform of one, against constants. A
 * predicate in the current form is rewritten if the older form can express it; any other stays, for the library to
 * refuse.
 */
final class OlderForm {
  /** The equivalent comparison with its sides exchanged. */
  private static final Map<String, String> MIRRORED =
      Map.of("lt", "gt", "lt-eq", "gt-eq", "gt", "lt", "gt-eq", "lt-eq", "eq", "eq", "not-eq", "not-eq");

  private static final Set<String> TERMS = Set.of("reference", "apply", "transform");

  private OlderForm() {}

  static JsonNode of(JsonNode predicate, JsonNode fields) {
    String name = predicate.path("type").asText();
    if (!predicate.path("type").isTextual()) {
      return predicate;
    } else if (name.equals("not") || name.equals("and") || name.equals("or")) {
      ObjectNode made = predicate.deepCopy();
      for (String side : name.equals("not") ? List.of("child") : List.of("left", "right")) {
        if (predicate.has(side)) {
          made.set(side, of(predicate.get(side), fields));
        }
      }
      return made;
    } else if (predicate.has("left") && predicate.has("right") && MIRRORED.containsKey(name)) {
      return comparison(name, predicate.get("left"), predicate.get("right"), fields);
    } else if (predicate.has("child")) {
      ObjectNode made = Adapter.JSON.createObjectNode().put("type", name);
      made.set("term", term(predicate.get("child"), fields));
      if (predicate.has("values")) {
        made.set("values", constants(predicate.get("values")));
      } else if (predicate.has("value")) {
        made.set("value", constant(predicate.get("value")));
      }
      return made;
    }
    return predicate;
  }

  private static JsonNode comparison(String name, JsonNode left, JsonNode right, JsonNode fields) {
    if (isTerm(left) && isTerm(right)) {
      throw new Adapter.Unsupported("the library compares with constants only");
    } else if (!isTerm(left)) {
      return comparison(MIRRORED.get(name), right, left, fields);
    }
    ObjectNode made = Adapter.JSON.createObjectNode().put("type", name);
    made.set("term", term(left, fields));
    return made.set("value", constant(right));
  }

  private static boolean isTerm(JsonNode expression) {
    return TERMS.contains(expression.path("type").asText());
  }

  /** A constant without its type, if it has one, as the library aligns constants with the column. */
  private static JsonNode constant(JsonNode expression) {
    return expression.isObject() ? expression.get("value") : expression;
  }

  private static JsonNode constants(JsonNode given) {
    JsonNode values = given.isObject() ? given.get("values") : given;
    if (values == null || !values.isArray()) {
      return values;
    }
    ArrayNode made = Adapter.JSON.createArrayNode();
    values.forEach(value -> made.add(constant(value)));
    return made;
  }

  private static JsonNode term(JsonNode expression, JsonNode fields) {
    switch (expression.path("type").asText()) {
      case "reference":
        if (expression.path("name").isTextual()) {
          return expression.get("name");
        }
        for (JsonNode field : fields) {
          if (expression.path("id").isIntegralNumber() && field.get("id").equals(expression.get("id"))) {
            return field.get("name");
          }
        }
        break;
      case "apply":
        JsonNode name = expression.path("function").path("identifier");
        JsonNode arguments = expression.path("arguments");
        int size = arguments.size();
        if (name.size() == 1 && (size == 1 || size == 2 && arguments.get(0).isIntegralNumber())) {
          String transform = name.get(0).asText() + (size == 2 ? "[" + arguments.get(0) + "]" : "");
          ObjectNode made = Adapter.JSON.createObjectNode().put("type", "transform");
          return made.put("transform", transform).set("term", term(arguments.get(size - 1), fields));
        }
        break;
      default:
        break;
    }
    throw new Adapter.Unsupported("the library has predicates of columns and of transforms of columns only");
  }
}
