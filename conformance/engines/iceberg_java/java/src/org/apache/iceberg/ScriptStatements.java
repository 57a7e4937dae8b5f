package org.apache.iceberg;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.spark.sql.SparkSession;

/**
 * Spark, for operations of scripts that are SQL. It starts in this virtual machine with the first statement; its
 * settings are properties of the virtual machine.
 */
final class ScriptStatements {
  /** Parts of messages of Spark and Iceberg that mean "not supported". */
  private static final Pattern UNSUPPORTED =
      Pattern.compile(
          "Cannot delete file where some, but not all, rows match filter|UnsupportedOperationException|not supported"
              + "|\\[UNSUPPORTED_|Unsupported|cannot translate expression to source filter");

  private static SparkSession session;

  private ScriptStatements() {}

  static void run(String statement) {
    if (session == null) {
      session = SparkSession.builder().getOrCreate();
      session.sparkContext().setLogLevel("OFF");
    }
    try {
      session.sql(statement).collectAsList();
    } catch (Exception | AssertionError thrown) { // Spark's methods throw checked exceptions without declaring them
      String messages = messagesOf(thrown);
      if (UNSUPPORTED.matcher(messages).find()) {
        throw new Adapter.Unsupported(messages);
      }
      throw new Adapter.Refused(messages);
    }
  }

  /** Stops Spark, which removes its temporary files. */
  static void stop() {
    if (session != null) {
      session.stop();
    }
  }

  /** The first line of the message of an exception and of each of its causes. */
  private static String messagesOf(Throwable thrown) {
    Set<String> lines = new LinkedHashSet<>();
    for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
      lines.add(cause.toString().split("\n", 2)[0]);
    }
    return String.join(" <- ", lines);
  }
}
