package org.apache.iceberg.data;

import org.apache.iceberg.FileFormat;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableProperties;
import org.apache.iceberg.io.FileWriterFactory;
import org.apache.iceberg.types.Types;

/** The library's own writers of records, whose builder is not public. */
public final class GenericWriters {
  private GenericWriters() {}

  public static FileFormat formatOf(Table table) {
    String name = table.properties().getOrDefault(TableProperties.DEFAULT_FILE_FORMAT, "parquet");
    return FileFormat.fromString(name);
  }

  /** The writers of a table; with a schema of the columns that equality deletes compare, or null. */
  public static FileWriterFactory<Record> of(Table table, Schema equality) {
    GenericFileWriterFactory.Builder builder =
        GenericFileWriterFactory.builderFor(table)
            .dataFileFormat(formatOf(table))
            .deleteFileFormat(formatOf(table))
            .dataSchema(table.schema());
    if (equality != null) {
      int[] ids = equality.columns().stream().mapToInt(Types.NestedField::fieldId).toArray();
      builder.equalityFieldIds(ids).equalityDeleteRowSchema(equality);
    }
    return builder.build();
  }

  /** A value in the library's internal form, converted to that of records. */
  public static Object recordValue(org.apache.iceberg.types.Type type, Object value) {
    return IdentityPartitionConverters.convertConstant(type, value);
  }
}
