package org.apache.iceberg;

import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.JsonNode;
import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.node.BooleanNode;
import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.node.DoubleNode;
import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.node.IntNode;
import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.node.LongNode;
import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.node.NullNode;
import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.node.TextNode;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.util.HexFormat;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.iceberg.util.ByteBuffers;

/**
 * The exchange form of values (docs/protocol.md), read and written without validation: to refuse a value is
 * up to the library. A value without any form in the library is unsupported.
 */
final class ExchangeForm {
  private static final Pattern INTEGER = Pattern.compile("-?[0-9]{1,40}");
  private static final Pattern DATE = Pattern.compile("([+-]?[0-9]{4,9})-([0-9]{2})-([0-9]{2})");
  private static final Pattern TIME =
      Pattern.compile("([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\\.([0-9]{1,9}))?)?");
  private static final Pattern ZONE = Pattern.compile("(.*)([+-])([0-9]{2}):([0-9]{2})");
  private static final Pattern UUID_FORM = Pattern.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}");
  private static final Map<String, Double> FLOATS =
      Map.of("NaN", Double.NaN, "Infinity", Double.POSITIVE_INFINITY, "-Infinity", Double.NEGATIVE_INFINITY);
  private static final HexFormat HEX = HexFormat.of().withUpperCase();
  private static final long DAY = 86_400;

  private ExchangeForm() {}

  /** The name of a type without its parameters; of a nested type, its {@code type}. */
  static String kind(JsonNode type) {
    return kind(type.isObject() ? type.path("type").asText() : type.asText());
  }

  static String kind(String type) {
    return type.split("[\\[(]", 2)[0].strip().toLowerCase();
  }

  static byte[] bytes(JsonNode hexadecimal) {
    return HEX.parseHex(hexadecimal.textValue());
  }

  static ByteBuffer buffer(JsonNode hexadecimal) {
    return isNull(hexadecimal) ? null : ByteBuffer.wrap(bytes(hexadecimal));
  }

  static JsonNode hexadecimal(ByteBuffer buffer) {
    return buffer == null ? NullNode.instance : TextNode.valueOf(HEX.formatHex(ByteBuffers.toByteArray(buffer)));
  }

  static boolean isNull(JsonNode json) {
    return json == null || json.isNull() || json.isMissingNode();
  }

  /** A value as the library holds values of the type inside; null for null. */
  static Object read(String kind, JsonNode json) {
    if (isNull(json)) {
      return null;
    }
    Object value = null;
    try {
      value = readPresent(kind, json);
    } catch (IllegalArgumentException | ArithmeticException | DateTimeException refusal) {
      // thrown below, as for values without a form
    }
    if (value == null) {
      throw new Adapter.Unsupported("the library has no form of this as " + kind);
    }
    return value;
  }

  private static Object readPresent(String kind, JsonNode json) {
    String text = json.textValue();
    switch (kind) {
      case "boolean":
        return json.isBoolean() ? json.booleanValue() : null;
      case "int":
        return json.isIntegralNumber() ? json.bigIntegerValue().intValueExact() : null;
      case "long":
        if (json.isIntegralNumber()) {
          return json.bigIntegerValue().longValueExact();
        }
        return text != null && INTEGER.matcher(text).matches() ? new BigInteger(text).longValueExact() : null;
      case "float":
        Double wide = real(json);
        return wide == null ? null : (Object) wide.floatValue();
      case "double":
        return real(json);
      case "decimal":
        return text == null ? null : new BigDecimal(text);
      case "date":
        return text == null ? null : Math.toIntExact(days(text));
      case "time":
        return text == null ? null : count(text, 6).longValueExact();
      case "timestamp":
      case "timestamptz":
        return text == null ? null : instant(text, 6, kind.contains("tz"));
      case "timestamp_ns":
      case "timestamptz_ns":
        return text == null ? null : instant(text, 9, kind.contains("tz"));
      case "string":
        return text;
      case "uuid":
        return text != null && UUID_FORM.matcher(text).matches() ? UUID.fromString(text) : null;
      case "fixed":
      case "binary":
        return text == null ? null : ByteBuffer.wrap(HEX.parseHex(text));
      default:
        return null;
    }
  }

  private static Double real(JsonNode json) {
    return json.isTextual() ? FLOATS.get(json.textValue()) : json.isNumber() ? json.doubleValue() : null;
  }

  private static long days(String text) {
    Matcher part = matched(DATE, text);
    int year = Integer.parseInt(part.group(1));
    return LocalDate.of(year, Integer.parseInt(part.group(2)), Integer.parseInt(part.group(3))).toEpochDay();
  }

  private static Matcher matched(Pattern form, String text) {
    Matcher found = form.matcher(text);
    if (!found.matches()) {
      throw new IllegalArgumentException(text);
    }
    return found;
  }

  /** The time since midnight in seconds, or in the unit of {@code digits} digits of a second. */
  private static BigInteger count(String text, int digits) {
    Matcher part = matched(TIME, text);
    long hour = Long.parseLong(part.group(1));
    long minute = Long.parseLong(part.group(2));
    long second = part.group(3) == null ? 0 : Long.parseLong(part.group(3));
    String fraction = part.group(4) == null ? "" : part.group(4);
    if (hour > 23 || minute > 59 || second > 59 || fraction.length() > digits) {
      throw new IllegalArgumentException(text);
    }
    long units = Long.parseLong((fraction + "0".repeat(digits - fraction.length())));
    return BigInteger.valueOf((hour * 60 + minute) * 60 + second).multiply(power(digits)).add(BigInteger.valueOf(units));
  }

  private static long instant(String text, int digits, boolean zoned) {
    int middle = text.indexOf('T');
    String clock = middle < 0 ? "" : text.substring(middle + 1);
    long ahead = 0;
    if (zoned) {
      Matcher zone = matched(ZONE, clock);
      clock = zone.group(1);
      ahead = Long.parseLong(zone.group(3)) * 3600 + Long.parseLong(zone.group(4)) * 60;
      ahead = zone.group(2).equals("-") ? -ahead : ahead;
    }
    long seconds = days(middle < 0 ? text : text.substring(0, middle)) * DAY - ahead;
    return BigInteger.valueOf(seconds).multiply(power(digits)).add(count(clock, digits)).longValueExact();
  }

  private static BigInteger power(int digits) {
    return BigInteger.TEN.pow(digits);
  }

  /** The exchange form of an answer of the library; what is not a value of the type stays as it is. */
  static JsonNode write(String kind, Object value) {
    if (value == null) {
      return NullNode.instance;
    } else if (value instanceof Boolean) {
      return BooleanNode.valueOf((Boolean) value);
    } else if (value instanceof Integer || value instanceof Long) {
      return whole(kind, ((Number) value).longValue());
    } else if (value instanceof Float || value instanceof Double) {
      double number = ((Number) value).doubleValue();
      return Double.isFinite(number) ? DoubleNode.valueOf(number) : TextNode.valueOf(Double.toString(number));
    } else if (value instanceof BigDecimal && ((BigDecimal) value).scale() >= 0) {
      return TextNode.valueOf(((BigDecimal) value).toPlainString());
    } else if (value instanceof byte[]) {
      return write(kind, ByteBuffer.wrap((byte[]) value));
    } else if (value instanceof ByteBuffer) {
      ByteBuffer left = ((ByteBuffer) value).duplicate();
      boolean isUUID = kind.equals("uuid") && left.remaining() == 16;
      return isUUID ? TextNode.valueOf(new UUID(left.getLong(), left.getLong()).toString()) : hexadecimal(left);
    }
    return TextNode.valueOf(value.toString()); // texts, however they are held, and UUIDs
  }

  private static JsonNode whole(String kind, long value) {
    switch (kind) {
      case "long":
        return TextNode.valueOf(Long.toString(value));
      case "date":
        return TextNode.valueOf(date(value));
      case "time":
        return 0 <= value && value < DAY * 1_000_000 ? TextNode.valueOf(time(value, 6)) : LongNode.valueOf(value);
      case "timestamp":
      case "timestamptz":
        return instant(kind, value, 6);
      case "timestamp_ns":
      case "timestamptz_ns":
        return instant(kind, value, 9);
      default:
        return value == (int) value ? IntNode.valueOf((int) value) : LongNode.valueOf(value);
    }
  }

  private static JsonNode instant(String kind, long value, int digits) {
    long units = DAY * power(digits).longValue();
    String text = date(Math.floorDiv(value, units)) + "T" + time(Math.floorMod(value, units), digits);
    return TextNode.valueOf(kind.contains("tz") ? text + "+00:00" : text);
  }

  private static String date(long days) {
    LocalDate date = LocalDate.ofEpochDay(days);
    String sign = date.getYear() < 0 ? "-" : date.getYear() > 9999 ? "+" : "";
    return String.format("%s%04d-%02d-%02d", sign, Math.abs(date.getYear()), date.getMonthValue(), date.getDayOfMonth());
  }

  private static String time(long count, int digits) {
    long unit = power(digits).longValue();
    long seconds = count / unit;
    String fraction = String.format("%0" + digits + "d", count % unit);
    return String.format("%02d:%02d:%02d.%s", seconds / 3600, seconds / 60 % 60, seconds % 60, fraction);
  }
}
