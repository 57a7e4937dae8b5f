//! Operations on rows: scans of a metadata file, their plans and the Arrow batches that they read.

use std::collections::{HashMap, HashSet};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    Time64MicrosecondType, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
};
use arrow_array::{Array, ArrayRef, RecordBatch, StructArray};
use arrow_schema::{DataType, TimeUnit};
use futures::TryStreamExt;
use futures::executor::block_on;
use iceberg::TableIdent;
use iceberg::expr::{Predicate, Reference};
use iceberg::io::FileIO;
use iceberg::scan::{FileScanTask, TableScan};
use iceberg::spec::{DataFileFormat, Datum, FormatVersion, Literal, ManifestContentType, PrimitiveType, Schema, Type};
use iceberg::table::{StaticTable, Table};
use serde_json::{Map, Value, json};

use crate::kernels::{column_type, datum_of};
use crate::values::{decimal, float, hex, integer};
use crate::{Answer, Refusal, unsupported};

async fn load(args: &Value) -> Result<StaticTable, Refusal> {
    let location = args["table"].as_str().unwrap_or("");
    let ident = TableIdent::from_strs(["db", "table"])?;
    Ok(StaticTable::from_metadata_file(location, ident, FileIO::new_with_fs()).await?)
}

fn scan(args: &Value, table: &StaticTable) -> Result<TableScan, Refusal> {
    let metadata = table.metadata();
    let mut builder = table.scan();
    let mut schema = metadata.current_schema().clone();
    let mut snapshot = None;
    if let Some(id) = args["snapshot"].as_str().and_then(|text| text.parse().ok()) {
        builder = builder.snapshot_id(id);
        snapshot = metadata.snapshot_by_id(id);
    }
    if !args["timestamp_ms"].is_null() {
        return unsupported("the library does not read a snapshot by time");
    }
    if let Some(name) = args["ref"].as_str() {
        let Some(found) = metadata.snapshot_for_ref(name) else {
            return Err(Refusal::Invalid(format!("no reference {name}")));
        };
        builder = builder.snapshot_id(found.snapshot_id());
        if serde_json::to_value(&*metadata)?["refs"][name]["type"] == "tag" {
            snapshot = Some(found);
        }
    }
    if let Some(names) = args["select"].as_array() {
        for name in ["_row_id", "_last_updated_sequence_number", "_pos"] {
            if names.iter().any(|asked| asked == name) {
                return unsupported(format!("the library does not read the column {name}"));
            }
        }
        builder = builder.select(names.iter().filter_map(Value::as_str));
    }
    if !args["filter"].is_null() {
        if let Some(found) = snapshot {
            schema = found.schema(&metadata)?;
        }
        builder = builder.with_filter(predicate(&args["filter"], &schema)?);
    }
    Ok(builder.build()?)
}

/// A predicate of the older JSON form in the library's classes, whose constants it reads itself.
pub fn predicate(form: &Value, schema: &Schema) -> Result<Predicate, Refusal> {
    if let Some(always) = form.as_bool() {
        return Ok(if always { Predicate::AlwaysTrue } else { Predicate::AlwaysFalse });
    }
    let side = |name: &str| predicate(&form[name], schema);
    let name = form["type"].as_str().unwrap_or("");
    match name {
        "not" => return Ok(!side("child")?),
        "and" => return Ok(side("left")?.and(side("right")?)),
        "or" => return Ok(side("left")?.or(side("right")?)),
        _ => {}
    }
    let Some(column) = form["term"].as_str() else {
        return unsupported("the library has predicates of columns only");
    };
    let constant = |value: &Value| -> Result<Datum, Refusal> {
        let Some(field) = schema.field_by_name(column) else {
            return Err(Refusal::Invalid(format!("no column {column}")));
        };
        match (&*field.field_type, Literal::try_from_json(value.clone(), &field.field_type)?) {
            (Type::Primitive(kind), Some(Literal::Primitive(value))) => datum_of(kind, value),
            _ => Err(Refusal::Invalid(format!("{value} is no constant of {column}"))),
        }
    };
    let values = || form["values"].as_array().into_iter().flatten().map(constant).collect::<Result<Vec<_>, _>>();
    let term = Reference::new(column);
    Ok(match name {
        "is-null" => term.is_null(),
        "not-null" => term.is_not_null(),
        "is-nan" => term.is_nan(),
        "not-nan" => term.is_not_nan(),
        "lt" => term.less_than(constant(&form["value"])?),
        "lt-eq" => term.less_than_or_equal_to(constant(&form["value"])?),
        "gt" => term.greater_than(constant(&form["value"])?),
        "gt-eq" => term.greater_than_or_equal_to(constant(&form["value"])?),
        "eq" => term.equal_to(constant(&form["value"])?),
        "not-eq" => term.not_equal_to(constant(&form["value"])?),
        "starts-with" => term.starts_with(constant(&form["value"])?),
        "not-starts-with" => term.not_starts_with(constant(&form["value"])?),
        "in" => term.is_in(values()?),
        "not-in" => term.is_not_in(values()?),
        other => return unsupported(format!("the predicate {other}")),
    })
}

async fn tasks(scan: &TableScan) -> Result<Vec<FileScanTask>, Refusal> {
    Ok(scan.plan_files().await?.try_collect().await?)
}

pub fn plan(args: &Value) -> Answer {
    let (tasks, version) = block_on(async {
        let table = load(args).await?;
        Ok::<_, Refusal>((tasks(&scan(args, &table)?).await?, table.metadata().format_version()))
    })?;
    let mut files: Vec<Value> = vec![];
    for task in tasks {
        if version == FormatVersion::V3 && !task.deletes.is_empty() {
            return unsupported("plans do not distinguish deletion vectors from other deletes");
        }
        let deletes: Vec<Value> = task.deletes.iter().map(|one| json!({"path": one.file_path})).collect();
        if !files.iter().any(|file| file["data_file"] == json!(task.data_file_path)) {
            files.push(json!({"data_file": task.data_file_path, "delete_files": deletes}));
        }
    }
    Ok(json!({"files": files}))
}

/// The scan's delete files that are not Parquet: tasks do not say the format, and names need not.
async fn other_delete_files(table: &Table, scan: &TableScan) -> Result<HashSet<String>, Refusal> {
    let mut paths = HashSet::new();
    let Some(snapshot) = scan.snapshot() else { return Ok(paths) };
    let list = table.manifest_list_reader(snapshot).load().await?;
    for manifest in list.entries().iter().filter(|one| one.content == ManifestContentType::Deletes) {
        for entry in manifest.load_manifest(table.file_io()).await?.entries() {
            if entry.file_format() != DataFileFormat::Parquet {
                paths.insert(entry.file_path().to_string());
            }
        }
    }
    Ok(paths)
}

pub fn read(args: &Value) -> Answer {
    let mut types = HashMap::new();
    for (name, json) in args["types"].as_object().into_iter().flatten() {
        types.insert(name.clone(), column_type(json)?);
    }
    let batches: Vec<RecordBatch> = block_on(async {
        let table = load(args).await?;
        let scan = scan(args, &table)?;
        let unreadable = other_delete_files(&table.into_table(), &scan).await?;
        for task in tasks(&scan).await? {
            let deletes = task.deletes.iter().all(|delete| !unreadable.contains(&delete.file_path));
            if task.data_file_format != DataFileFormat::Parquet || !deletes {
                return unsupported("the library reads no files but Parquet");
            }
        }
        Ok::<_, Refusal>(scan.to_arrow().await?.try_collect().await?)
    })?;
    let mut rows: Vec<Value> = vec![];
    for batch in batches {
        for at in 0..batch.num_rows() {
            let mut row = Map::new();
            for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
                row.insert(field.name().clone(), cell(types.get(field.name()), column, at));
            }
            rows.push(Value::Object(row));
        }
    }
    Ok(json!({"rows": rows}))
}

/// The exchange form of one value of an Arrow array that stands for the type.
fn cell(kind: Option<&Type>, column: &ArrayRef, at: usize) -> Value {
    if column.is_null(at) {
        return Value::Null;
    }
    let plain = match kind {
        Some(Type::Primitive(plain)) => plain.clone(),
        _ => PrimitiveType::Binary,
    };
    match column.data_type() {
        DataType::Boolean => json!(column.as_boolean().value(at)),
        DataType::Int8 => integer(&plain, column.as_primitive::<Int8Type>().value(at).into()),
        DataType::Int16 => integer(&plain, column.as_primitive::<Int16Type>().value(at).into()),
        DataType::Int32 => integer(&plain, column.as_primitive::<Int32Type>().value(at).into()),
        DataType::Int64 => integer(&plain, column.as_primitive::<Int64Type>().value(at)),
        DataType::Date32 => integer(&plain, column.as_primitive::<Date32Type>().value(at).into()),
        DataType::Time64(TimeUnit::Microsecond) => {
            integer(&plain, column.as_primitive::<Time64MicrosecondType>().value(at))
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            counted(&plain, column.as_primitive::<TimestampMillisecondType>().value(at), 3)
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            counted(&plain, column.as_primitive::<TimestampMicrosecondType>().value(at), 6)
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            counted(&plain, column.as_primitive::<TimestampNanosecondType>().value(at), 9)
        }
        DataType::Float32 => float(column.as_primitive::<Float32Type>().value(at).into()),
        DataType::Float64 => float(column.as_primitive::<Float64Type>().value(at)),
        DataType::Decimal128(_, scale) => {
            json!(decimal(column.as_primitive::<Decimal128Type>().value(at), *scale as u32))
        }
        DataType::Utf8 => json!(column.as_string::<i32>().value(at)),
        DataType::LargeUtf8 => json!(column.as_string::<i64>().value(at)),
        DataType::Binary => octets(&plain, column.as_binary::<i32>().value(at)),
        DataType::LargeBinary => octets(&plain, column.as_binary::<i64>().value(at)),
        DataType::FixedSizeBinary(_) => octets(&plain, column.as_fixed_size_binary().value(at)),
        DataType::Struct(_) => struct_cell(kind, column.as_struct(), at),
        DataType::List(_) => list_cell(kind, &column.as_list::<i32>().value(at)),
        DataType::LargeList(_) => list_cell(kind, &column.as_list::<i64>().value(at)),
        DataType::Map(_, _) => {
            let entries = column.as_map().value(at);
            let (keys, values) = match kind {
                Some(Type::Map(map)) => (Some(&*map.key_field.field_type), Some(&*map.value_field.field_type)),
                _ => (None, None),
            };
            json!({
                "keys": (0..entries.len()).map(|place| cell(keys, entries.column(0), place)).collect::<Vec<_>>(),
                "values": (0..entries.len()).map(|place| cell(values, entries.column(1), place)).collect::<Vec<_>>(),
            })
        }
        DataType::RunEndEncoded(_, _) => {
            let runs = column.as_any().downcast_ref::<arrow_array::RunArray<Int32Type>>();
            runs.map_or(Value::Null, |runs| cell(kind, runs.values(), runs.get_physical_index(at)))
        }
        other => json!(format!("a value of {other}")),
    }
}

fn octets(kind: &PrimitiveType, data: &[u8]) -> Value {
    match (kind, uuid::Uuid::from_slice(data)) {
        (PrimitiveType::Uuid, Ok(found)) => json!(found.to_string()),
        _ => json!(hex(data)),
    }
}

fn list_cell(kind: Option<&Type>, elements: &ArrayRef) -> Value {
    let element = match kind {
        Some(Type::List(list)) => Some(&*list.element_field.field_type),
        _ => None,
    };
    (0..elements.len()).map(|place| cell(element, elements, place)).collect()
}

/// An object by field id.
fn struct_cell(kind: Option<&Type>, column: &StructArray, at: usize) -> Value {
    let mut made = Map::new();
    for (field, child) in column.fields().iter().zip(column.columns()) {
        let known = match kind {
            Some(Type::Struct(nested)) => nested.fields().iter().find(|one| one.name == *field.name()),
            _ => None,
        };
        let name = known.map_or(field.name().clone(), |one| one.id.to_string());
        made.insert(name, cell(known.map(|one| &*one.field_type), child, at));
    }
    Value::Object(made)
}

/// The exchange form of dates and times, which Arrow counts in its units.
fn counted(kind: &PrimitiveType, value: i64, have: u32) -> Value {
    let wanted = match kind {
        PrimitiveType::TimestampNs | PrimitiveType::TimestamptzNs => 9,
        _ => 6,
    };
    if have <= wanted {
        return integer(kind, value * 10_i64.pow(wanted - have));
    }
    let unit = 10_i64.pow(have - wanted);
    match value.rem_euclid(unit) {
        0 => integer(kind, value.div_euclid(unit)),
        rest => json!(format!("{} and {rest} more", integer(kind, value.div_euclid(unit)))),
    }
}
