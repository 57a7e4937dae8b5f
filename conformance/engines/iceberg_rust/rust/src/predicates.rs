//! Operations on predicates. The library's evaluators are private and visible only in plans of scans: so tables of one
//! file are made in memory, and a file that is planned is one whose metrics, partition or manifest might match.

use std::str::FromStr;
use std::sync::Arc;

use bytes::Bytes;
use futures::TryStreamExt;
use futures::executor::block_on;
use iceberg::TableIdent;
use iceberg::expr::{Bind, Predicate};
use iceberg::io::FileIO;
use iceberg::spec::{NestedField, Schema, Transform};
use iceberg::table::StaticTable;
use serde_json::{Map, Value, json};

use crate::kernels::known_types;
use crate::values::unhex;
use crate::{Answer, Refusal, manifests, metadata, tables, unsupported};

const LIST: &str = "memory:///list.avro";
const MANIFEST: &str = "memory:///manifest.avro";
const FIRST_PARTITION_FIELD: i64 = 1000;

/// Metadata of a table with one snapshot.
fn table_json(schema: &Value, spec: &Value) -> Value {
    let mut schema = schema.clone();
    schema["type"] = json!("struct");
    schema["schema-id"] = json!(0);
    json!({
        "format-version": 2, "table-uuid": "fb072c92-a02b-11e9-ae9c-1bb7bc9eca94", "location": "memory:///table",
        "last-updated-ms": 1515100955770_i64, "last-sequence-number": 1, "last-column-id": 1_000_000,
        "schemas": [schema], "current-schema-id": 0, "partition-specs": [spec], "default-spec-id": spec["spec-id"],
        "last-partition-id": 1_000_000, "sort-orders": [{"order-id": 0, "fields": []}], "default-sort-order-id": 0,
        "current-snapshot-id": 1, "refs": {"main": {"snapshot-id": 1, "type": "branch"}},
        "snapshots": [{
            "snapshot-id": 1, "sequence-number": 1, "timestamp-ms": 1515100955770_i64, "schema-id": 0,
            "manifest-list": LIST, "summary": {"operation": "append"},
        }],
    })
}

fn bytes(hexadecimal: &Value) -> Bytes {
    hexadecimal.as_str().and_then(unhex).unwrap_or_default().into()
}

/// The filter of a scan: in its JSON form, or in the library's classes.
enum Filter<'a> {
    Form(&'a Value),
    Made(Predicate),
}

/// The plan of a table with one manifest, which has one file or, without a file, is missing.
struct Planned<'a> {
    schema: &'a Value,
    filter: Filter<'a>,
    spec: Value,
    summaries: Value,
    file: Option<Value>,
}

impl Planned<'_> {
    fn matches(self) -> Result<bool, Refusal> {
        known_types(self.schema)?;
        let (schema, files) = (self.schema, FileIO::new_with_memory());
        let mut length = 0;
        if let Some(file) = &self.file {
            let manifest = manifests::write(&json!({
                "format_version": 2, "content": 0, "schema": schema, "spec": self.spec, "snapshot_id": "1",
                "entries": [{"status": 1, "snapshot_id": "1", "sequence_number": "1", "data_file": file}],
            }));
            let data = bytes(&manifest.map_err(unwritten)?);
            length = data.len();
            block_on(async { files.new_output(MANIFEST)?.write(data).await })?;
        }
        let list = manifests::list_write(&json!({
            "format_version": 2, "snapshot_id": "1", "sequence_number": "1", "manifests": [{
                "manifest_path": MANIFEST, "manifest_length": length.to_string(), "content": 0,
                "partition_spec_id": self.spec["spec-id"], "sequence_number": "1", "min_sequence_number": "1",
                "added_snapshot_id": "1", "added_files_count": 1, "existing_files_count": 0, "deleted_files_count": 0,
                "added_rows_count": "1", "existing_rows_count": "0", "deleted_rows_count": "0",
                "partitions": self.summaries,
            }],
        }))?;
        block_on(async {
            files.new_output(LIST)?.write(bytes(&list)).await?;
            let table = metadata::parsed(&table_json(schema, &self.spec))?;
            let filter = match self.filter {
                Filter::Form(form) => tables::predicate(form, table.current_schema())?,
                Filter::Made(predicate) => predicate,
            };
            let table = StaticTable::from_metadata(table, TableIdent::from_strs(["db", "table"])?, files).await?;
            let scan = table.scan().with_filter(filter).build()?;
            let planned = async { scan.plan_files().await?.try_collect::<Vec<_>>().await }.await;
            match planned {
                Err(error) if self.file.is_none() && error.to_string().contains(MANIFEST) => Ok(true),
                planned => Ok(!planned?.is_empty()),
            }
        })
    }
}

/// An answer for tables that cannot be written here, whose files other operations test.
fn unwritten(refusal: Refusal) -> Refusal {
    match refusal {
        Refusal::Invalid(why) => Refusal::Unsupported(format!("the library does not write the manifest: {why}")),
        other => other,
    }
}

fn unpartitioned() -> Value {
    json!({"spec-id": 0, "fields": []})
}

fn file_of(metrics: &Value, partition: &Value) -> Option<Value> {
    let mut file = json!({"content": 0, "file_path": "memory:///data.parquet", "file_format": "parquet",
                          "file_size_in_bytes": "10", "record_count": "1", "partition": partition});
    for (name, member) in metrics.as_object().into_iter().flatten() {
        file[name] = member.clone();
    }
    Some(file)
}

/// By the metrics of a file.
pub fn evaluate_metrics(args: &Value) -> Answer {
    if args["kind"] != "inclusive" {
        return unsupported("plans show what might match, not what surely does");
    }
    let file = file_of(&args["metrics"], &Value::Null);
    Ok(json!(of(args, unpartitioned(), Value::Null, file).matches()?))
}

fn of(args: &Value, spec: Value, summaries: Value, file: Option<Value>) -> Planned<'_> {
    Planned { schema: &args["schema"], filter: Filter::Form(&args["predicate"]), spec, summaries, file }
}

/// By the partition of a file; strictly, by the projection of the transform, evaluated on the partition as a row.
pub fn evaluate_projection(args: &Value) -> Answer {
    if args["kind"] == "inclusive" {
        let (spec, file) = (args["spec"].clone(), file_of(&Value::Null, &args["partition"]));
        return Ok(json!(of(args, spec, Value::Null, file).matches()?));
    }
    known_types(&args["schema"])?;
    let fields = args["spec"]["fields"].as_array().map_or(&[][..], Vec::as_slice);
    let ([field], false) = (fields, ["and", "or", "not"].iter().any(|name| args["predicate"]["type"] == *name)) else {
        return unsupported("the library projects one predicate by one transform; the rest of a projection is private");
    };
    let schema = Arc::new(columns(&args["schema"])?);
    let predicate = tables::predicate(&args["predicate"], &schema)?.bind(schema.clone(), true)?;
    let transform = Transform::from_str(field["transform"].as_str().unwrap_or(""))?;
    let name = field["name"].as_str().unwrap_or("");
    let Some(projected) = transform.strict_project(name, &predicate)? else {
        return Ok(json!(false));
    };
    let Some(source) = field["source-id"].as_i64().and_then(|id| schema.field_by_id(id as i32)) else {
        return unsupported("a spec without its source");
    };
    let result = NestedField::optional(1, name, transform.result_type(&source.field_type)?);
    let row = json!({"1": args["partition"][field["field-id"].to_string()]});
    as_partition(&json!({"fields": [serde_json::to_value(result)?]}), Filter::Made(projected), &row)
}

/// By the summaries of a manifest, which is missing: the library opens it if its files might match.
pub fn evaluate_summaries(args: &Value) -> Answer {
    Ok(json!(of(args, args["spec"].clone(), args["summaries"].clone(), None).matches()?))
}

/// By the filter of the task of a file that is planned, which is the whole one; no row of a file that is not planned
/// matches.
pub fn evaluate_residual(args: &Value) -> Answer {
    let file = file_of(&Value::Null, &args["partition"]);
    if !of(args, args["spec"].clone(), Value::Null, file).matches()? { Ok(json!(false)) } else { evaluate(args) }
}

pub fn evaluate(args: &Value) -> Answer {
    as_partition(&args["schema"], Filter::Form(&args["predicate"]), &args["row"])
}

fn columns(schema: &Value) -> Result<Schema, Refusal> {
    let mut schema = schema.clone();
    schema["type"] = json!("struct");
    Ok(serde_json::from_value(schema)?)
}

/// By a partition that has the values of the row, as the identity of a value is projected to the predicate itself.
fn as_partition(schema: &Value, filter: Filter<'_>, row: &Value) -> Answer {
    known_types(schema)?;
    let (mut fields, mut partition) = (vec![], Map::new());
    for (place, column) in columns(schema)?.as_struct().fields().iter().enumerate() {
        if !column.field_type.is_primitive() {
            return unsupported("rows are asked about as partitions, which have no nested values");
        }
        let id = FIRST_PARTITION_FIELD + place as i64;
        let name = format!("{}_value", column.name);
        fields.push(json!({"source-id": column.id, "field-id": id, "name": name, "transform": "identity"}));
        partition.insert(id.to_string(), row[column.id.to_string()].clone());
    }
    let (spec, file) = (json!({"spec-id": 0, "fields": fields}), file_of(&Value::Null, &Value::Object(partition)));
    Ok(json!(Planned { schema, filter, spec, summaries: Value::Null, file }.matches()?))
}
