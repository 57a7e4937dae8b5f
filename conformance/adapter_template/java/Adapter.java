// An adapter that hashes int, long and string with the Murmur3 below. It needs only the JDK, so it contains a small
// JSON reader; use Jackson instead. README.md beside it describes what comes next.
//
//     java Adapter.java

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

import static java.nio.charset.StandardCharsets.UTF_8;

public class Adapter {
  /** The 32-bit Murmur3 of the x86 variant, seed 0. */
  static int murmur3(byte[] data) {
    ByteBuffer words = ByteBuffer.wrap(Arrays.copyOf(data, data.length + 4)).order(ByteOrder.LITTLE_ENDIAN);
    int state = 0;
    for (int at = 0; at + 4 <= data.length; at += 4) {
      state = Integer.rotateLeft(state ^ mixed(words.getInt()), 13) * 5 + 0xE6546B64;
    }
    state ^= mixed(words.getInt()) ^ data.length; // the tail, with zeros behind it
    state = (state ^ state >>> 16) * 0x85EBCA6B;
    state = (state ^ state >>> 13) * 0xC2B2AE35;
    return state ^ state >>> 16;
  }

  static int mixed(int word) {
    return Integer.rotateLeft(word * 0xCC9E2D51, 15) * 0x1B873593;
  }

  /** A value that is not a text, an object or a list: numbers and constants keep their text. */
  record Other(String text) {}

  /** As much of JSON as requests for hashes need. */
  static class Json {
    private final String text;
    private int at = 0;

    Json(String text) {
      this.text = text;
    }

    /** A String, an Other or a Map, which of a list is empty; null at the end of an object or list. */
    Object read() {
      while (" ,:".indexOf(text.charAt(at)) >= 0) {
        at++;
      }
      char first = text.charAt(at++);
      if (first == '"') {
        return string();
      } else if (first == '}' || first == ']') {
        return null;
      } else if (first != '{' && first != '[') {
        int begin = at - 1;
        while (",]} ".indexOf(text.charAt(at)) < 0) {
          at++;
        }
        return new Other(text.substring(begin, at));
      }
      Map<Object, Object> members = new HashMap<>();
      for (Object item = read(); item != null; item = read()) {
        if (first == '{') {
          members.put(item, read());
        }
      }
      return members;
    }

    private String string() {
      StringBuilder made = new StringBuilder();
      for (char c = text.charAt(at++); c != '"'; c = text.charAt(at++)) {
        if (c == '\\') {
          c = text.charAt(at++);
          int plain = "ntrbf".indexOf(c);
          if (c == 'u') {
            made.append((char) Integer.parseInt(text.substring(at, at += 4), 16));
            continue;
          }
          c = plain < 0 ? c : "\n\t\r\b\f".charAt(plain);
        }
        made.append(c);
      }
      return made.toString();
    }
  }

  /** The answer to one request for a hash; values are read as the protocol says. */
  static String hash(String type, Object value) {
    if (type.equals("string") && value instanceof String) {
      return "\"ok\": " + murmur3(((String) value).getBytes(UTF_8));
    } else if (type.equals("int") || type.equals("long")) {
      String text = value instanceof Other ? ((Other) value).text() : String.valueOf(value);
      if (text.matches("-?[0-9]+") && new BigInteger(text).bitLength() < (type.equals("int") ? 32 : 64)) {
        ByteBuffer bytes = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(Long.parseLong(text));
        return "\"ok\": " + murmur3(bytes.array());
      }
    } else if (!type.equals("string")) {
      return "\"unsupported\": \"hashing this type\"";
    }
    return "\"error\": {\"kind\": \"invalid\", \"message\": \"no value of the type\"}";
  }

  public static void main(String[] unused) throws IOException {
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    PrintStream answers = new PrintStream(System.out, true, UTF_8);
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      Map<?, ?> request = (Map<?, ?>) new Json(line).read();
      Map<?, ?> args = request.get("args") instanceof Map<?, ?> given ? given : Map.of();
      Object op = request.get("op");
      String reply = "\"unsupported\": \"this operation, or a nested type\"";
      if (op.equals("stop")) {
        return;
      } else if (op.equals("start")) {
        reply = "\"ok\": {\"implementation\": \"@NAME@\", \"version\": \"0.0\", \"language\": \"java\", \"protocol\": 1, "
            + "\"format_versions\": [1, 2, 3], \"operations\": [\"hash\"]}";
      } else if (op.equals("hash") && args.get("type") instanceof String type) {
        reply = hash(type, args.get("value"));
      }
      answers.print("{\"seq\": " + ((Other) request.get("seq")).text() + ", " + reply + "}\n");
      answers.flush();
    }
  }
}
