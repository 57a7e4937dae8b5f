package conformance;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.BaseMetastoreCatalog;
import org.apache.iceberg.BaseMetastoreTableOperations;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableOperations;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.apache.iceberg.exceptions.NoSuchTableException;
import org.apache.iceberg.hadoop.HadoopFileIO;
import org.apache.iceberg.io.FileIO;

/**
 * The catalog of adapters whose engine runs in a Java virtual machine: local files, and in memory the metadata file of
 * each table.
 *
 * <p>Spark and the tasks of Flink load catalogs by the name of this class. All catalogs share what is in memory, as
 * clients of one server would, so SQL, tasks and the API change the same tables. The library's InMemoryCatalog does not
 * fit: in releases before 1.12 it keeps the files in memory, too.
 */
public final class LocalCatalog extends BaseMetastoreCatalog {
  private static final Map<TableIdentifier, String> LOCATIONS = new ConcurrentHashMap<>();
  private static final FileIO FILES = new HadoopFileIO(new Configuration());

  private String name = "local";

  /** Returns the metadata file of a table, or null if there is no such table. */
  public static String metadataFile(TableIdentifier table) {
    return LOCATIONS.get(table);
  }

  /** Sets the metadata file of a table, new or known. */
  public static void setMetadataFile(TableIdentifier table, String location) {
    LOCATIONS.put(table, location);
  }

  /** Removes a table from the catalog; its files stay. */
  public static boolean forget(TableIdentifier table) {
    return LOCATIONS.remove(table) != null;
  }

  @Override
  public void initialize(String givenName, Map<String, String> properties) {
    name = givenName;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  protected TableOperations newTableOps(TableIdentifier table) {
    return new Operations(table);
  }

  @Override
  protected String defaultWarehouseLocation(TableIdentifier table) {
    throw new UnsupportedOperationException("a table is created with a location");
  }

  @Override
  public List<TableIdentifier> listTables(Namespace namespace) {
    return LOCATIONS.keySet().stream().filter(table -> table.namespace().equals(namespace)).toList();
  }

  /** Removes a table from the catalog; its files stay, also with {@code purge}. */
  @Override
  public boolean dropTable(TableIdentifier table, boolean purge) {
    return forget(table);
  }

  @Override
  public void renameTable(TableIdentifier from, TableIdentifier to) {
    throw new UnsupportedOperationException("tables are not renamed");
  }

  private static final class Operations extends BaseMetastoreTableOperations {
    private final TableIdentifier table;

    private Operations(TableIdentifier table) {
      this.table = table;
    }

    @Override
    protected String tableName() {
      return table.toString();
    }

    @Override
    public FileIO io() {
      return FILES;
    }

    @Override
    protected void doRefresh() {
      String location = LOCATIONS.get(table);
      if (location == null && currentMetadataLocation() != null) {
        throw new NoSuchTableException("no table %s", table);
      } else if (location == null) {
        disableRefresh();
      } else {
        refreshFromMetadataLocation(location, 0);
      }
    }

    @Override
    protected void doCommit(TableMetadata base, TableMetadata metadata) {
      String before = base == null ? null : base.metadataFileLocation();
      String after = writeNewMetadataIfRequired(base == null, metadata);
      boolean swapped =
          before == null ? LOCATIONS.putIfAbsent(table, after) == null : LOCATIONS.replace(table, before, after);
      if (!swapped) {
        throw new CommitFailedException("the metadata file of %s is no longer %s", table, before);
      }
    }
  }
}
