package org.apache.iceberg;

import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.core.JsonFactory;
import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.core.StreamReadConstraints;
import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.core.StreamWriteConstraints;
import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.JsonNode;
import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.iceberg.exceptions.ValidationException;

/**
 * The adapter of Iceberg's Java library: it reads requests of the protocol (docs/protocol.md) on standard input,
 * one JSON line each, calls the library, and writes one answer line for each on standard output.
 *
 * <p>The program lives in packages of the library, for functions that the spec defines and the library does not make
 * public.
 */
public final class Adapter {
  /** Requests may be long and deep: the library decides what is too deep. */
  static final ObjectMapper JSON =
      new ObjectMapper(
          JsonFactory.builder()
              .streamReadConstraints(
                  StreamReadConstraints.builder()
                      .maxNestingDepth(100_000)
                      .maxNumberLength(100_000)
                      .maxStringLength(1 << 30)
                      .build())
              .streamWriteConstraints(StreamWriteConstraints.builder().maxNestingDepth(100_000).build())
              .build());

  private static final int MAX_MESSAGE = 2000;

  /** Exceptions that mean that the input was refused, and their subclasses. */
  private static final List<Class<? extends Throwable>> REFUSALS =
      List.of(
          IllegalArgumentException.class,
          IllegalStateException.class,
          ArithmeticException.class,
          java.time.DateTimeException.class,
          java.io.UncheckedIOException.class,
          java.nio.BufferUnderflowException.class,
          ValidationException.class,
          IOException.class,
          org.apache.iceberg.exceptions.NotFoundException.class,
          org.apache.iceberg.shaded.org.apache.avro.AvroRuntimeException.class,
          org.apache.iceberg.shaded.org.apache.orc.FileFormatException.class,
          java.util.zip.DataFormatException.class);

  /** Ends of the names of other exceptions that mean a refusal: they are not public, or are of a bundled library. */
  private static final List<String> REFUSING_NAMES = List.of("InvalidRoaringFormat", "MalformedInputException");

  /** Beginnings of the messages of refusals whose exceptions have no separate class. */
  private static final List<String> REFUSING_WORDS =
      List.of(
          "java.lang.NullPointerException: Cannot create expression literal from null",
          "java.lang.RuntimeException: GCM tag check failed",
          "java.lang.RuntimeException: file:"); // "... is not a Parquet file"

  /** One operation: from the arguments of a request to the answer. */
  interface Operation {
    JsonNode answer(JsonNode args) throws Exception;
  }

  /** The input was refused, for the reason in the message. */
  static final class Refused extends RuntimeException {
    Refused(String message) {
      super(message);
    }
  }

  /** The library does not support the request. */
  static final class Unsupported extends UnsupportedOperationException {
    Unsupported(String what) {
      super(what);
    }
  }

  private final Map<String, Operation> operations = new TreeMap<>();

  private Adapter() {
    ValueOperations.addTo(operations);
    PredicateOperations.addTo(operations);
    MetadataOperations.addTo(operations);
    ManifestOperations.addTo(operations);
    PuffinOperations.addTo(operations);
    EncryptionOperations.addTo(operations);
    ScanOperations.addTo(operations);
    CommitOperations.addTo(operations);
    ScriptOperations.addTo(operations);
  }

  private ObjectNode start() {
    ObjectNode answer = JSON.createObjectNode();
    answer.put("implementation", "iceberg-java").put("version", IcebergBuild.version()).put("language", "java");
    answer.put("protocol", 1).putArray("format_versions").add(1).add(2).add(3);
    ArrayNode names = answer.putArray("operations");
    operations.keySet().forEach(names::add);
    return JSON.createObjectNode().set("ok", answer);
  }

  private ObjectNode answer(String name, JsonNode args) {
    ObjectNode reply = JSON.createObjectNode();
    Operation operation = operations.get(name);
    if (operation == null) {
      return reply.put("unsupported", "the operation " + name);
    }
    try {
      return reply.set("ok", operation.answer(args));
    } catch (Unsupported missing) {
      return reply.put("unsupported", shortened(missing.getMessage()));
    } catch (Refused refusal) {
      return refuse(reply, "invalid", refusal.getMessage());
    } catch (UnsupportedOperationException missing) {
      return reply.put("unsupported", shortened(missing.toString()));
    } catch (Exception | StackOverflowError | LinkageError | OutOfMemoryError thrown) {
      return refuse(reply, isRefusal(thrown) ? "invalid" : "internal", thrown.toString());
    }
  }

  private static ObjectNode refuse(ObjectNode reply, String kind, String message) {
    reply.putObject("error").put("kind", kind).put("message", shortened(message));
    return reply;
  }

  private static boolean isRefusal(Throwable thrown) {
    String said = thrown.toString();
    String name = thrown.getClass().getName();
    return REFUSALS.stream().anyMatch(refusal -> refusal.isInstance(thrown))
        || REFUSING_NAMES.stream().anyMatch(name::endsWith)
        || REFUSING_WORDS.stream().anyMatch(said::startsWith);
  }

  private static String shortened(String text) {
    return text.length() <= MAX_MESSAGE ? text : text.substring(0, MAX_MESSAGE);
  }

  public static void main(String[] unused) throws IOException {
    OutputStream answers = new BufferedOutputStream(System.out, 1 << 16);
    System.setOut(System.err); // what the library prints is not an answer
    Adapter adapter = new Adapter();
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8), 1 << 16);
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      JsonNode request = JSON.readTree(line);
      String name = request.get("op").textValue();
      if (name.equals("stop")) {
        break;
      }
      ObjectNode reply = name.equals("start") ? adapter.start() : adapter.answer(name, request.get("args"));
      answers.write(JSON.writeValueAsBytes(reply.set("seq", request.get("seq"))));
      answers.write('\n');
      answers.flush();
    }
    ScriptStatements.stop();
  }
}
