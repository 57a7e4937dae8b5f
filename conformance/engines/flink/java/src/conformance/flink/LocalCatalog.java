package conformance.flink;

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
 * A catalog of local tables: the metadata file of each, in memory.
 *
 * <p>Every task of a job loads a catalog of its own; they share what is in memory, as clients of one server would.
 */
public final class LocalCatalog extends BaseMetastoreCatalog {
  /** The metadata file that each table has now. */
  static final Map<String, String> LOCATIONS = new ConcurrentHashMap<>();

  private String name;

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
    return new Operations(table.name());
  }

  @Override
  protected String defaultWarehouseLocation(TableIdentifier table) {
    throw new UnsupportedOperationException("a table is made with a location");
  }

  @Override
  public List<TableIdentifier> listTables(Namespace namespace) {
    return LOCATIONS.keySet().stream().map(table -> TableIdentifier.of(namespace, table)).toList();
  }

  @Override
  public boolean dropTable(TableIdentifier table, boolean purge) {
    return LOCATIONS.remove(table.name()) != null;
  }

  @Override
  public void renameTable(TableIdentifier from, TableIdentifier to) {
    throw new UnsupportedOperationException("tables are not renamed");
  }

  private static final class Operations extends BaseMetastoreTableOperations {
    private final String table;
    private final FileIO io = new HadoopFileIO(new Configuration());

    private Operations(String table) {
      this.table = table;
    }

    @Override
    protected String tableName() {
      return table;
    }

    @Override
    public FileIO io() {
      return io;
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
      boolean first = before == null ? LOCATIONS.putIfAbsent(table, after) == null : LOCATIONS.replace(table, before, after);
      if (!first) {
        throw new CommitFailedException("%s has another metadata file than %s", table, before);
      }
    }
  }
}
