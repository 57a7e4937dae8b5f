//! Operations on manifests and manifest lists. Records have the names of the spec's tables, 64-bit numbers are decimal
//! strings, and bytes are hexadecimal.

use std::collections::HashMap;
use std::str::FromStr;
use std::sync::Arc;

use bytes::Bytes;
use futures::executor::block_on;
use iceberg::io::FileIO;
use iceberg::spec::{
    DataContentType, DataFile, DataFileBuilder, DataFileFormat, Datum, FieldSummary, FormatVersion, Literal,
    ManifestContentType, ManifestEntry, ManifestFile, ManifestList, ManifestListWriter, ManifestWriterBuilder,
    PartitionSpec, Schema, Struct, StructType, Type,
};
use serde_json::{Map, Value, json};

use crate::values::{datum, hex, told_literal, unhex};
use crate::{Answer, Refusal, unsupported};

const PLACE: &str = "memory:///manifest.avro";
const UNASSIGNED: i64 = -1;

fn given(value: &Value) -> Result<Vec<u8>, Refusal> {
    value.as_str().and_then(unhex).ok_or_else(|| Refusal::Arguments("no hexadecimal bytes".into()))
}

fn long(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}

fn text<T: ToString>(value: Option<T>) -> Value {
    value.map_or(Value::Null, |value| json!(value.to_string()))
}

fn spec_of(form: &Value) -> Result<PartitionSpec, Refusal> {
    Ok(serde_json::from_value(form.clone())?)
}

fn schema_of(form: &Value) -> Result<Arc<Schema>, Refusal> {
    let mut form = form.clone();
    form["type"] = json!("struct");
    if form["schema-id"].is_null() {
        form["schema-id"] = json!(0);
    }
    Ok(Arc::new(serde_json::from_value(form)?))
}

// Reading

pub fn read(args: &Value) -> Answer {
    let data = given(&args["bytes"])?;
    let mut listed = manifest_file(&args["manifest_file"])?;
    listed.manifest_path = PLACE.to_string();
    listed.manifest_length = data.len() as i64;
    let files = FileIO::new_with_memory();
    let manifest = block_on(async {
        files.new_output(PLACE)?.write(Bytes::from(data)).await?;
        listed.load_manifest(&files).await
    })?;
    let specs = args["specs"].as_array().cloned().unwrap_or_default();
    let Some(spec) = specs.iter().find(|spec| spec["spec-id"] == json!(listed.partition_spec_id)) else {
        return unsupported("manifests are read without the specs of the table");
    };
    let partition = spec_of(spec)?.partition_type(&*schema_of(&args["schema"])?)?;
    let entries: Result<Vec<Value>, Refusal> =
        manifest.entries().iter().map(|entry| entry_form(entry, &partition)).collect();
    let mut answer = json!({"entries": entries?});
    if args["select"].as_array().is_some_and(|names| names.iter().any(|name| name == "header")) {
        let header = manifest.metadata();
        answer["header"] = json!({
            "format_version": *header.format_version() as u8, "content": *header.content() as i32,
            "partition_spec_id": header.partition_spec().spec_id(),
        });
    }
    Ok(answer)
}

fn entry_form(entry: &ManifestEntry, partition: &StructType) -> Result<Value, Refusal> {
    let file = entry.data_file();
    let mut values = Map::new();
    for (field, value) in partition.fields().iter().zip(file.partition().iter()) {
        if let Some(value) = value {
            values.insert(field.id.to_string(), told_literal(&field.field_type, value));
        }
    }
    Ok(json!({
        "status": entry.status() as i32, "snapshot_id": text(entry.snapshot_id()),
        "sequence_number": text(entry.sequence_number()), "file_sequence_number": text(entry.file_sequence_number),
        "data_file": {
            "content": file.content_type() as i32, "file_path": file.file_path(),
            "file_format": file.file_format().to_string().to_lowercase(), "partition": values,
            "record_count": file.record_count().to_string(),
            "file_size_in_bytes": file.file_size_in_bytes().to_string(),
            "column_sizes": counts(file.column_sizes()), "value_counts": counts(file.value_counts()),
            "null_value_counts": counts(file.null_value_counts()), "nan_value_counts": counts(file.nan_value_counts()),
            "lower_bounds": bounds(file.lower_bounds())?, "upper_bounds": bounds(file.upper_bounds())?,
            "key_metadata": file.key_metadata().map(hex),
            "split_offsets": file.split_offsets().map(|all| all.iter().map(i64::to_string).collect::<Vec<_>>()),
            "equality_ids": file.equality_ids(), "sort_order_id": file.sort_order_id(),
            "first_row_id": text(file.first_row_id()), "referenced_data_file": file.referenced_data_file(),
            "content_offset": text(file.content_offset()), "content_size_in_bytes": text(file.content_size_in_bytes()),
        },
    }))
}

fn counts(values: &HashMap<i32, u64>) -> Value {
    values.iter().map(|(id, count)| (id.to_string(), json!(count.to_string()))).collect()
}

fn bounds(values: &HashMap<i32, Datum>) -> Answer {
    values.iter().map(|(id, bound)| Ok((id.to_string(), json!(hex(&bound.to_bytes()?))))).collect()
}

/// The version of a manifest list by the columns that its schema has; a reader knows it from the table.
fn version_of(data: &[u8]) -> FormatVersion {
    let has = |column: &str| data.windows(column.len()).any(|window| window == column.as_bytes());
    if has("first_row_id") {
        FormatVersion::V3
    } else if has("sequence_number") {
        FormatVersion::V2
    } else {
        FormatVersion::V1
    }
}

pub fn list_read(args: &Value) -> Answer {
    let data = given(&args["bytes"])?;
    let list = ManifestList::parse_with_version(&data, version_of(&data))?;
    let forms: Vec<Value> = list.entries().iter().map(list_form).collect();
    Ok(json!({"manifests": forms}))
}

fn list_form(one: &ManifestFile) -> Value {
    let summary = |field: &FieldSummary| {
        json!({
            "contains_null": field.contains_null, "contains_nan": field.contains_nan,
            "lower_bound": field.lower_bound.as_ref().map(|bound| hex(bound)),
            "upper_bound": field.upper_bound.as_ref().map(|bound| hex(bound)),
        })
    };
    json!({
        "manifest_path": one.manifest_path, "manifest_length": one.manifest_length.to_string(),
        "partition_spec_id": one.partition_spec_id, "content": one.content as i32,
        "sequence_number": one.sequence_number.to_string(), "min_sequence_number": one.min_sequence_number.to_string(),
        "added_snapshot_id": one.added_snapshot_id.to_string(), "added_files_count": one.added_files_count,
        "existing_files_count": one.existing_files_count, "deleted_files_count": one.deleted_files_count,
        "added_rows_count": text(one.added_rows_count), "existing_rows_count": text(one.existing_rows_count),
        "deleted_rows_count": text(one.deleted_rows_count), "key_metadata": one.key_metadata.as_deref().map(hex),
        "partitions": one.partitions.as_ref().map(|all| all.iter().map(summary).collect::<Vec<_>>()),
        "first_row_id": text(one.first_row_id),
    })
}

// Writing

fn count<N: TryFrom<i64>>(value: &Value) -> Option<N> {
    long(value).and_then(|count| N::try_from(count).ok())
}

fn manifest_file(form: &Value) -> Result<ManifestFile, Refusal> {
    let bytes = |value: &Value| value.as_str().and_then(unhex);
    let summary = |field: &Value| FieldSummary {
        contains_null: field["contains_null"].as_bool().unwrap_or(false),
        contains_nan: field["contains_nan"].as_bool(),
        lower_bound: bytes(&field["lower_bound"]).map(Into::into),
        upper_bound: bytes(&field["upper_bound"]).map(Into::into),
    };
    let number = long(&form["sequence_number"]);
    Ok(ManifestFile {
        manifest_path: form["manifest_path"].as_str().unwrap_or("").to_string(),
        manifest_length: long(&form["manifest_length"]).unwrap_or(0),
        partition_spec_id: form["partition_spec_id"].as_i64().unwrap_or(0) as i32,
        content: ManifestContentType::try_from(form["content"].as_i64().unwrap_or(0) as i32)?,
        sequence_number: number.unwrap_or(UNASSIGNED),
        min_sequence_number: long(&form["min_sequence_number"]).or(number).unwrap_or(UNASSIGNED),
        added_snapshot_id: long(&form["added_snapshot_id"]).unwrap_or(0),
        added_files_count: count(&form["added_files_count"]),
        existing_files_count: count(&form["existing_files_count"]),
        deleted_files_count: count(&form["deleted_files_count"]),
        added_rows_count: count(&form["added_rows_count"]),
        existing_rows_count: count(&form["existing_rows_count"]),
        deleted_rows_count: count(&form["deleted_rows_count"]),
        partitions: form["partitions"].as_array().map(|all| all.iter().map(summary).collect()),
        key_metadata: bytes(&form["key_metadata"]),
        first_row_id: count(&form["first_row_id"]),
    })
}

pub fn write(args: &Value) -> Answer {
    let (schema, spec) = (schema_of(&args["schema"])?, spec_of(&args["spec"])?);
    let partition = spec.partition_type(&schema)?;
    let spec_id = spec.spec_id();
    let files = FileIO::new_with_memory();
    let output = files.new_output(PLACE)?;
    let builder = ManifestWriterBuilder::new(output, long(&args["snapshot_id"]), schema.clone(), spec);
    let mut writer = match (args["format_version"].as_i64(), args["content"].as_i64()) {
        (Some(1), Some(0)) => builder.build_v1(),
        (Some(2), Some(0)) => builder.build_v2_data(),
        (Some(2), _) => builder.build_v2_deletes(),
        (Some(3), Some(0)) => builder.build_v3_data(),
        (Some(3), _) => builder.build_v3_deletes(),
        _ => return unsupported("manifests of v1 with deletes"),
    };
    for entry in args["entries"].as_array().into_iter().flatten() {
        let file = data_file(&entry["data_file"], &schema, &partition, spec_id)?;
        let number = long(&entry["sequence_number"]).unwrap_or(UNASSIGNED);
        let file_number = long(&entry["file_sequence_number"]);
        match entry["status"].as_i64() {
            Some(0) => {
                let snapshot = long(&entry["snapshot_id"]).unwrap_or(UNASSIGNED);
                writer.add_existing_file(file, snapshot, number, file_number)?;
            }
            Some(1) => writer.add_file(file, number)?,
            _ => writer.add_delete_file(file, number, file_number)?,
        }
    }
    block_on(async {
        writer.write_manifest_file().await?;
        Ok(json!(hex(&files.new_input(PLACE)?.read().await?)))
    })
}

pub fn data_file(form: &Value, schema: &Schema, partition: &StructType, spec_id: i32) -> Result<DataFile, Refusal> {
    let mut values: Vec<Option<Literal>> = vec![];
    for field in partition.fields() {
        let value = &form["partition"][field.id.to_string()];
        values.push(match (&*field.field_type, value) {
            (_, Value::Null) => None,
            (Type::Primitive(kind), value) => Some(datum(kind, value)?.into()),
            (other, _) => return unsupported(format!("partition values of {other}")),
        });
    }
    let counts = |name: &str| -> HashMap<i32, u64> {
        let members = form[name].as_object().into_iter().flatten();
        members.filter_map(|(id, value)| Some((id.parse().ok()?, count(value)?))).collect()
    };
    let bounds = |name: &str| -> Result<HashMap<i32, Datum>, Refusal> {
        let mut made = HashMap::new();
        for (id, bound) in form[name].as_object().into_iter().flatten() {
            let id: i32 = id.parse().map_err(|_| Refusal::Arguments("no column id".into()))?;
            let Some(Type::Primitive(kind)) = schema.field_by_id(id).map(|field| &*field.field_type) else {
                return unsupported("bounds have the types of columns, and no column has the id");
            };
            made.insert(id, Datum::try_from_bytes(&given(bound)?, kind.clone())?);
        }
        Ok(made)
    };
    let mut builder = DataFileBuilder::default();
    builder
        .content(DataContentType::try_from(form["content"].as_i64().unwrap_or(0) as i32)?)
        .file_path(form["file_path"].as_str().unwrap_or("").to_string())
        .file_format(DataFileFormat::from_str(form["file_format"].as_str().unwrap_or(""))?)
        .partition(Struct::from_iter(values))
        .partition_spec_id(spec_id)
        .record_count(count(&form["record_count"]).unwrap_or(0))
        .file_size_in_bytes(count(&form["file_size_in_bytes"]).unwrap_or(0))
        .column_sizes(counts("column_sizes"))
        .value_counts(counts("value_counts"))
        .null_value_counts(counts("null_value_counts"))
        .nan_value_counts(counts("nan_value_counts"))
        .lower_bounds(bounds("lower_bounds")?)
        .upper_bounds(bounds("upper_bounds")?)
        .key_metadata(form["key_metadata"].as_str().and_then(unhex))
        .split_offsets(form["split_offsets"].as_array().map(|all| all.iter().filter_map(long).collect()))
        .equality_ids(form["equality_ids"].as_array().map(|all| all.iter().filter_map(count).collect()))
        .first_row_id(long(&form["first_row_id"]))
        .referenced_data_file(form["referenced_data_file"].as_str().map(str::to_string))
        .content_offset(long(&form["content_offset"]))
        .content_size_in_bytes(long(&form["content_size_in_bytes"]));
    if let Some(order) = form["sort_order_id"].as_i64() {
        builder.sort_order_id(order as i32);
    }
    builder.build().map_err(|error| Refusal::Invalid(error.to_string()))
}

pub fn list_write(args: &Value) -> Answer {
    let files = FileIO::new_with_memory();
    let snapshot = long(&args["snapshot_id"]).unwrap_or(0);
    let (parent, number) = (long(&args["parent_snapshot_id"]), long(&args["sequence_number"]).unwrap_or(0));
    let forms = args["manifests"].as_array().cloned().unwrap_or_default();
    let manifests: Result<Vec<ManifestFile>, Refusal> = forms.iter().map(manifest_file).collect();
    let manifests = manifests?;
    block_on(async {
        let output = files.new_output(PLACE)?.writer().await?;
        let mut writer = match args["format_version"].as_i64() {
            Some(1) => ManifestListWriter::v1(output, snapshot, parent),
            Some(2) => ManifestListWriter::v2(output, snapshot, parent, number),
            _ => ManifestListWriter::v3(output, snapshot, parent, number, count(&args["first_row_id"])),
        };
        writer.add_manifests(manifests.into_iter())?;
        writer.close().await?;
        Ok(json!(hex(&files.new_input(PLACE)?.read().await?)))
    })
}
