package org.apache.iceberg;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.apache.iceberg.exceptions.NoSuchTableException;
import org.apache.iceberg.hadoop.HadoopFileIO;
import org.apache.iceberg.io.FileIO;

/**
 * The catalog of the tables that scripts write: local files, and the metadata file of each table in memory.
 *
 * <p>Spark loads its own catalog by the name of this class. All catalogs share what is in memory, so statements and the
 * API change the same tables. The library's InMemoryCatalog does not fit: in releases before 1.12 it keeps the files in
 * memory, too.
 */
public final class ScriptCatalog extends BaseMetastoreCatalog {
  private static final Map<TableIdentifier, String> LOCATIONS = new ConcurrentHashMap<>();
  private static final FileIO FILES = new HadoopFileIO(new Configuration());

  private String name = "scripts";

  /** Removes the table's commits after the one that wrote this metadata file. */
  static void restore(TableIdentifier table, String metadataFile) {
    LOCATIONS.put(table, metadataFile);
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

  /** Removes a table from the catalog; its files stay. */
  @Override
  public boolean dropTable(TableIdentifier table, boolean purge) {
    return LOCATIONS.remove(table) != null;
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
