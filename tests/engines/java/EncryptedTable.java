package org.apache.iceberg;

import java.io.File;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.data.GenericRecord;
import org.apache.iceberg.data.GenericWriters;
import org.apache.iceberg.data.IcebergGenerics;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.deletes.BaseDVFileWriter;
import org.apache.iceberg.deletes.DVFileWriter;
import org.apache.iceberg.deletes.EqualityDeleteWriter;
import org.apache.iceberg.encryption.Ciphers;
import org.apache.iceberg.encryption.EncryptedKey;
import org.apache.iceberg.encryption.EncryptedOutputFile;
import org.apache.iceberg.encryption.EncryptingFileIO;
import org.apache.iceberg.encryption.EncryptionManager;
import org.apache.iceberg.encryption.EncryptionUtil;
import org.apache.iceberg.encryption.KeyManagementClient;
import org.apache.iceberg.hadoop.HadoopFileIO;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.io.DataWriter;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.io.LocationProvider;
import org.apache.iceberg.io.OutputFileFactory;
import org.apache.iceberg.types.Types;

/**
 * Writes an encrypted table with two snapshots, as a catalog with a key service does: arguments are a folder and a format. With
 * the argument "deletes", two more snapshots delete the row 1 with an equality delete and the row 3 with a deletion vector; this
 * table is not read back, as the library's generic reader opens delete files without decrypting them. With "read" and a metadata
 * file, it prints the rows of each snapshot of that table, adds the row -1, and prints the new metadata file.
 */
public final class EncryptedTable {
  private static final Schema SCHEMA =
      new Schema(
          Types.NestedField.required(1, "id", Types.LongType.get()),
          Types.NestedField.optional(2, "name", Types.StringType.get()));

  /** A key service with one master key, as the unit tests of the library have. */
  static final class MemoryKeys implements KeyManagementClient {
    private static final byte[] MASTER = "0123456789012345".getBytes(StandardCharsets.UTF_8);

    @Override
    public void initialize(Map<String, String> properties) {}

    @Override
    public ByteBuffer wrapKey(ByteBuffer key, String wrappingKeyId) {
      return ByteBuffer.wrap(new Ciphers.AesGcmEncryptor(MASTER).encrypt(key.array(), null));
    }

    @Override
    public ByteBuffer unwrapKey(ByteBuffer wrapped, String wrappingKeyId) {
      return ByteBuffer.wrap(new Ciphers.AesGcmDecryptor(MASTER).decrypt(wrapped.array(), null));
    }
  }

  /** Keeps metadata files in a folder, and the keys of the table in them. */
  static final class Operations implements TableOperations {
    private final String folder;
    private final FileIO files = new HadoopFileIO(new Configuration());
    private final EncryptionManager manager;
    private TableMetadata current;
    private int version;

    /** Opens a table that has encrypted snapshots. */
    Operations(String location) {
      this.current = TableMetadataParser.read(files, location);
      this.folder = current.location();
      this.version = Integer.parseInt(location.replaceAll(".*/v?0*([0-9]+)[^/]*", "$1"));
      this.manager =
          EncryptionUtil.createEncryptionManager(current.encryptionKeys(), current.properties(), new MemoryKeys());
    }

    Operations(String folder, TableMetadata first) {
      this.folder = folder;
      this.manager = EncryptionUtil.createEncryptionManager(List.of(), first.properties(), new MemoryKeys());
      commit(null, first);
    }

    @Override
    public TableMetadata current() {
      return current;
    }

    @Override
    public TableMetadata refresh() {
      return current;
    }

    @Override
    public void commit(TableMetadata base, TableMetadata changed) {
      TableMetadata.Builder builder = TableMetadata.buildFrom(changed);
      for (EncryptedKey key : EncryptionUtil.encryptionKeys(manager).values()) {
        builder.addEncryptionKey(key);
      }
      String location = metadataFileLocation("v" + ++version + ".metadata.json");
      TableMetadataParser.overwrite(builder.build(), files.newOutputFile(location));
      this.current = TableMetadataParser.read(files, location);
    }

    @Override
    public FileIO io() {
      return EncryptingFileIO.combine(files, manager);
    }

    @Override
    public EncryptionManager encryption() {
      return manager;
    }

    @Override
    public String metadataFileLocation(String name) {
      return folder + "/metadata/" + name;
    }

    @Override
    public LocationProvider locationProvider() {
      return LocationProviders.locationsFor(folder, Map.of());
    }
  }

  public static void main(String[] args) throws Exception {
    if (args[0].equals("read")) {
      read(args[1]);
      return;
    }
    String folder = new File(args[0]).getAbsoluteFile().toURI().toString().replaceAll("/$", "");
    Map<String, String> properties =
        Map.of("encryption.key-id", "keyA", "format-version", "3", "write.format.default", args[1]);
    TableMetadata first =
        TableMetadata.newTableMetadata(SCHEMA, PartitionSpec.unpartitioned(), folder, properties);
    Table table = new BaseTable(new Operations(folder, first), "encrypted");
    append(table, 0);
    DataFile second = append(table, 3);
    if (args.length > 2 && args[2].equals("deletes")) {
      deleteById(table, 1);
      deletePosition(table, second, 0);
      return;
    }
    long rows = 0;
    try (CloseableIterable<Record> found = IcebergGenerics.read(table).build()) {
      for (Record record : found) {
        rows++;
      }
    }
    System.out.println(rows);
  }

  private static void read(String location) throws Exception {
    Operations operations = new Operations(location);
    Table table = new BaseTable(operations, "encrypted");
    for (Snapshot snapshot : table.snapshots()) {
      TreeMap<Long, String> rows = new TreeMap<>();
      try (CloseableIterable<Record> found = IcebergGenerics.read(table).useSnapshot(snapshot.snapshotId()).build()) {
        for (Record record : found) {
          rows.put((Long) record.getField("id"), (String) record.getField("name"));
        }
      }
      System.out.println(rows);
    }
    EncryptedOutputFile file = newFile(table);
    DataWriter<Record> writer = GenericWriters.of(table, null).newDataWriter(file, table.spec(), null);
    try (writer) {
      writer.write(GenericRecord.create(SCHEMA).copy("id", -1L, "name", "of Java"));
    }
    table.newAppend().appendFile(writer.toDataFile()).commit();
    System.out.println(operations.metadataFileLocation("v" + operations.version + ".metadata.json"));
  }

  private static DataFile append(Table table, long start) throws Exception {
    EncryptedOutputFile file = newFile(table);
    DataWriter<Record> writer =
        GenericWriters.of(table, null).newDataWriter(file, table.spec(), null);
    try (writer) {
      for (long id = start; id < start + 3; id++) {
        GenericRecord record = GenericRecord.create(SCHEMA);
        record.setField("id", id);
        record.setField("name", id == 4 ? null : "name " + id);
        writer.write(record);
      }
    }
    table.newFastAppend().appendFile(writer.toDataFile()).commit();
    return writer.toDataFile();
  }

  private static EncryptedOutputFile newFile(Table table) {
    FileFormat format = FileFormat.fromString(table.properties().get("write.format.default"));
    String name = table.locationProvider().newDataLocation(format.addExtension(UUID.randomUUID().toString()));
    return ((EncryptingFileIO) table.io()).newEncryptingOutputFile(name);
  }

  private static void deleteById(Table table, long id) throws Exception {
    Schema equality = SCHEMA.select("id");
    EqualityDeleteWriter<Record> writer =
        GenericWriters.of(table, equality).newEqualityDeleteWriter(newFile(table), table.spec(), null);
    try (writer) {
      writer.write(GenericRecord.create(equality).copy("id", id));
    }
    table.newRowDelta().addDeletes(writer.toDeleteFile()).commit();
  }

  private static void deletePosition(Table table, DataFile file, long position) throws Exception {
    OutputFileFactory files = OutputFileFactory.builderFor(table, 1, 1).format(FileFormat.PUFFIN).build();
    DVFileWriter writer = new BaseDVFileWriter(files, path -> null);
    try (writer) {
      writer.delete(file.location(), position, table.spec(), null);
    }
    RowDelta delta = table.newRowDelta();
    writer.result().deleteFiles().forEach(delta::addDeletes);
    delta.commit();
  }
}
