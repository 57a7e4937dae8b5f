package org.apache.iceberg;

import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.JsonNode;
import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.node.NullNode;
import org.apache.iceberg.shaded.org.apache.parquet.shaded.com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.iceberg.types.Types;

/** The content of manifests and manifest lists, with the names of the spec's tables: 64-bit numbers are texts. */
final class ManifestForms {
  private ManifestForms() {}

  static ObjectNode of(ManifestEntry<?> entry, PartitionSpec spec) {
    ObjectNode form = Adapter.JSON.createObjectNode();
    form.put("status", entry.status() == null ? null : entry.status().id());
    form.put("snapshot_id", text(entry.snapshotId()));
    form.put("sequence_number", text(entry.dataSequenceNumber()));
    form.put("file_sequence_number", text(entry.fileSequenceNumber()));
    form.set("data_file", of(entry.file(), spec));
    return form;
  }

  private static String text(Long number) {
    return number == null ? null : number.toString();
  }

  private static ObjectNode of(ContentFile<?> file, PartitionSpec spec) {
    ObjectNode form = Adapter.JSON.createObjectNode();
    form.put("content", file.content().id());
    form.put("file_path", file.location());
    form.put("file_format", file.format().toString().toLowerCase(Locale.ROOT));
    form.set("partition", of(file.partition(), spec));
    form.put("record_count", text(file.recordCount()));
    form.put("file_size_in_bytes", text(file.fileSizeInBytes()));
    form.set("column_sizes", counts(file.columnSizes()));
    form.set("value_counts", counts(file.valueCounts()));
    form.set("null_value_counts", counts(file.nullValueCounts()));
    form.set("nan_value_counts", counts(file.nanValueCounts()));
    form.set("lower_bounds", bounds(file.lowerBounds()));
    form.set("upper_bounds", bounds(file.upperBounds()));
    form.set("key_metadata", ExchangeForm.hexadecimal(file.keyMetadata()));
    form.set("split_offsets", offsets(file.splitOffsets()));
    form.set("equality_ids", Adapter.JSON.valueToTree(file.equalityFieldIds()));
    form.put("sort_order_id", file.sortOrderId());
    form.put("first_row_id", text(file.firstRowId()));
    if (file instanceof DeleteFile) {
      DeleteFile delete = (DeleteFile) file;
      form.put("referenced_data_file", delete.referencedDataFile());
      form.put("content_offset", text(delete.contentOffset()));
      form.put("content_size_in_bytes", text(delete.contentSizeInBytes()));
    }
    return form;
  }

  private static JsonNode counts(Map<Integer, Long> counts) {
    if (counts == null) {
      return NullNode.instance;
    }
    ObjectNode form = Adapter.JSON.createObjectNode();
    counts.forEach((id, count) -> form.put(id.toString(), text(count)));
    return form;
  }

  private static JsonNode bounds(Map<Integer, ByteBuffer> bounds) {
    if (bounds == null) {
      return NullNode.instance;
    }
    ObjectNode form = Adapter.JSON.createObjectNode();
    bounds.forEach((id, bound) -> form.set(id.toString(), ExchangeForm.hexadecimal(bound)));
    return form;
  }

  private static JsonNode offsets(List<Long> offsets) {
    if (offsets == null) {
      return NullNode.instance;
    }
    ArrayNode form = Adapter.JSON.createArrayNode();
    offsets.forEach(offset -> form.add(text(offset)));
    return form;
  }

  private static ObjectNode of(StructLike partition, PartitionSpec spec) {
    ObjectNode form = Adapter.JSON.createObjectNode();
    List<Types.NestedField> fields = spec.partitionType().fields();
    for (int place = 0; place < fields.size(); place++) {
      Object value = partition.get(place, Object.class);
      if (value != null) {
        String kind = ExchangeForm.kind(fields.get(place).type().toString());
        form.set(Integer.toString(fields.get(place).fieldId()), ExchangeForm.write(kind, value));
      }
    }
    return form;
  }

  static ObjectNode of(ManifestFile manifest) {
    ObjectNode form = Adapter.JSON.createObjectNode();
    form.put("manifest_path", manifest.path());
    form.put("manifest_length", text(manifest.length()));
    form.put("partition_spec_id", manifest.partitionSpecId());
    form.put("content", manifest.content().id());
    form.put("sequence_number", text(manifest.sequenceNumber()));
    form.put("min_sequence_number", text(manifest.minSequenceNumber()));
    form.put("added_snapshot_id", text(manifest.snapshotId()));
    form.put("added_files_count", manifest.addedFilesCount());
    form.put("existing_files_count", manifest.existingFilesCount());
    form.put("deleted_files_count", manifest.deletedFilesCount());
    form.put("added_rows_count", text(manifest.addedRowsCount()));
    form.put("existing_rows_count", text(manifest.existingRowsCount()));
    form.put("deleted_rows_count", text(manifest.deletedRowsCount()));
    form.put("first_row_id", text(manifest.firstRowId()));
    form.set("key_metadata", ExchangeForm.hexadecimal(manifest.keyMetadata()));
    form.set("partitions", summaries(manifest.partitions()));
    return form;
  }

  private static JsonNode summaries(List<ManifestFile.PartitionFieldSummary> summaries) {
    if (summaries == null) {
      return NullNode.instance;
    }
    ArrayNode form = Adapter.JSON.createArrayNode();
    for (ManifestFile.PartitionFieldSummary summary : summaries) {
      ObjectNode one = form.addObject();
      one.put("contains_null", summary.containsNull()).put("contains_nan", summary.containsNaN());
      one.set("lower_bound", ExchangeForm.hexadecimal(summary.lowerBound()));
      one.set("upper_bound", ExchangeForm.hexadecimal(summary.upperBound()));
    }
    return form;
  }
}
