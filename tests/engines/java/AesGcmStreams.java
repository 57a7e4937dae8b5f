import java.io.File;
import java.nio.file.Files;
import java.util.HexFormat;
import org.apache.iceberg.encryption.AesGcmInputFile;
import org.apache.iceberg.encryption.AesGcmOutputFile;
import org.apache.iceberg.io.PositionOutputStream;
import org.apache.iceberg.io.SeekableInputStream;

/** Encrypts and decrypts files with Iceberg's own streams: a request in each line, an answer in each line. */
public class AesGcmStreams {
  public static void main(String[] unused) throws Exception {
    for (String line : new String(System.in.readAllBytes()).lines().toList()) {
      String answer;
      try {
        answer = answer(line.split(" ", -1));
      } catch (RuntimeException | java.io.IOException error) {
        answer = "refused " + error.getClass().getSimpleName();
      }
      System.out.println(answer);
    }
  }

  /** "write KEY PREFIX FROM TO", or "read KEY PREFIX FROM TO LENGTH START STOP". */
  private static String answer(String[] words) throws java.io.IOException {
    byte[] key = HexFormat.of().parseHex(words[1]);
    byte[] prefix = HexFormat.of().parseHex(words[2]);
    File from = new File(words[3]);
    File to = new File(words[4]);
    if (words[0].equals("write")) {
      try (PositionOutputStream stream =
          new AesGcmOutputFile(org.apache.iceberg.Files.localOutput(to), key, prefix).createOrOverwrite()) {
        stream.write(Files.readAllBytes(from.toPath()));
      }
      return "written";
    }
    long start = Long.parseLong(words[6]);
    int size = Math.toIntExact(Long.parseLong(words[7]) - start);
    AesGcmInputFile file =
        new AesGcmInputFile(org.apache.iceberg.Files.localInput(from), key, prefix, Long.parseLong(words[5]));
    try (SeekableInputStream stream = file.newStream()) {
      stream.seek(start);
      Files.write(to.toPath(), stream.readNBytes(size));
    }
    return "read " + file.getLength();
  }
}
