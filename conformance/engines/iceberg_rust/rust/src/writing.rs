//! Tables that are written or changed by a script: one commit for each operation, on a catalog whose metadata files are
//! kept.

use std::sync::Arc;

use arrow_array::{ArrayRef, ListArray, MapArray, RecordBatch, StructArray, new_null_array};
use arrow_array::{
    BinaryArray, BooleanArray, Date32Array, Decimal128Array, FixedSizeBinaryArray, Float32Array, Float64Array,
    Int32Array, Int64Array, LargeBinaryArray, StringArray, Time64MicrosecondArray, TimestampMicrosecondArray,
    TimestampNanosecondArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field, Fields, TimeUnit};
use futures::executor::block_on;
use iceberg::TableUpdate;
use iceberg::arrow::{RecordBatchPartitionSplitter, schema_to_arrow_schema};
use iceberg::io::FileIO;
use iceberg::spec::{
    DataFile, DataFileFormat, NullOrder, PartitionKey, PrimitiveLiteral, Schema, SortOrder, Struct, Type,
};
use iceberg::spec::{TableMetadataBuilder, UnboundPartitionSpec};
use iceberg::table::Table;
use iceberg::transaction::{ApplyTransactionAction, Transaction};
use iceberg::writer::base_writer::data_file_writer::DataFileWriterBuilder;
use iceberg::writer::file_writer::ParquetWriterBuilder;
use iceberg::writer::file_writer::location_generator::{DefaultFileNameGenerator, DefaultLocationGenerator};
use iceberg::writer::file_writer::rolling_writer::RollingFileWriterBuilder;
use iceberg::writer::partitioning::PartitioningWriter;
use iceberg::writer::partitioning::fanout_writer::FanoutWriter;
use iceberg::writer::{IcebergWriter, IcebergWriterBuilder};
use serde_json::{Value, json};

use crate::catalog::OneTable;
use crate::commits::{changed, reference_to, version_of};
use crate::kernels::known_types;
use crate::values::datum;
use crate::{Answer, Refusal, evolution, unsupported};

pub fn write(args: &Value) -> Answer {
    let operations = args["script"]["operations"].as_array().cloned().unwrap_or_default();
    let Some((first, rest)) = operations.split_first() else {
        return Err(Refusal::Arguments("an empty script".into()));
    };
    let catalog = created(first, args["table"].as_str().unwrap_or(""))?;
    let mut steps = Steps { snapshots: vec![None], main: vec![None], locations: vec![catalog.location()?] };
    steps.follow(&catalog, rest)
}

pub fn change(args: &Value) -> Answer {
    let location = args["table"].as_str().unwrap_or("");
    let text = std::fs::read(location.strip_prefix("file://").unwrap_or(location)).unwrap_or_default();
    if let Ok(document) = serde_json::from_slice::<Value>(&text) {
        known_types(&document["schemas"])?; // the library cannot load a table with a type that it lacks
    }
    let catalog = OneTable::open(location)?;
    let id = |value: &Value| value.as_str().and_then(|text| text.parse().ok());
    let main = args["history"].as_array().into_iter().flatten().map(id).collect();
    let operations = args["operations"].as_array().map_or(&[][..], Vec::as_slice);
    Steps { snapshots: vec![], main, locations: vec![] }.follow(&catalog, operations)
}

/// The operations that were done.
struct Steps {
    snapshots: Vec<Option<i64>>,
    /// The snapshot of main after each operation, earlier ones included.
    main: Vec<Option<i64>>,
    locations: Vec<String>,
}

impl Steps {
    fn follow(&mut self, catalog: &OneTable, operations: &[Value]) -> Answer {
        for operation in operations {
            if operation["branch"].as_str().is_some_and(|branch| branch != "main") {
                return unsupported("transactions are of main");
            }
            perform(catalog, operation, &self.main)?;
            let head = catalog.table().metadata().current_snapshot_id();
            self.snapshots.push(head);
            self.main.push(head);
            self.locations.push(catalog.location()?);
        }
        let snapshots = self.snapshots.iter().map(|id| id.map(|id| id.to_string())).collect::<Vec<_>>();
        Ok(json!({"metadata": catalog.location()?, "snapshots": snapshots, "locations": self.locations}))
    }
}

fn created(create: &Value, folder: &str) -> Result<OneTable, Refusal> {
    known_types(&create["schema"])?;
    let schema: Schema = serde_json::from_value(create["schema"].clone())?;
    let mut fields = vec![];
    for field in create["partition"].as_array().into_iter().flatten() {
        let source = source_id(&schema, &field["source"])?;
        fields.push(json!({"source-id": source, "name": field["name"], "transform": field["transform"]}));
    }
    let spec: UnboundPartitionSpec = serde_json::from_value(json!({"spec-id": 0, "fields": fields}))?;
    let order = order(&schema, &create["sort"])?;
    let properties = create["properties"].as_object().into_iter().flatten();
    let properties = properties.map(|(name, value)| (name.clone(), value.as_str().unwrap_or("").to_string())).collect();
    let version = version_of(&create["format_version"])?;
    let builder = TableMetadataBuilder::new(schema, spec, order, folder.to_string(), version, properties)?;
    Ok(OneTable::create(builder.build()?.metadata)?)
}

fn source_id(schema: &Schema, name: &Value) -> Result<i32, Refusal> {
    let found = name.as_str().and_then(|name| schema.field_by_name(name));
    found.map(|field| field.id).ok_or_else(|| Refusal::Invalid(format!("no column {name}")))
}

fn order(schema: &Schema, fields: &Value) -> Result<SortOrder, Refusal> {
    let mut forms = vec![];
    for field in fields.as_array().into_iter().flatten() {
        let down = field["direction"] == json!("desc");
        let nulls = field["null_order"].as_str().unwrap_or(if down { "nulls-last" } else { "nulls-first" });
        forms.push(json!({
            "source-id": source_id(schema, &field["source"])?, "direction": if down { "desc" } else { "asc" },
            "transform": field["transform"].as_str().unwrap_or("identity"), "null-order": nulls,
        }));
    }
    let id = i64::from(!forms.is_empty());
    Ok(serde_json::from_value(json!({"order-id": id, "fields": forms}))?)
}

fn perform(catalog: &OneTable, operation: &Value, main: &[Option<i64>]) -> Result<(), Refusal> {
    let table = catalog.table();
    let transaction = Transaction::new(&table);
    let made = match operation["op"].as_str().unwrap_or("") {
        "append" => {
            let files = block_on(written(&table, operation["rows"].as_array().map_or(&[][..], Vec::as_slice)))?;
            if files.is_empty() {
                return Ok(()); // the library commits no append without files
            }
            transaction.fast_append().add_data_files(files).apply(transaction)?
        }
        "alter-schema" => {
            let changes = operation["changes"].as_array().into_iter().flatten();
            let changes: Vec<&Value> = changes.collect();
            // A transaction takes one change, as it would also require that the table has the schemas in between. So
            // all are tried on a copy first: if one is refused, none is made.
            let copy = OneTable::new(table.metadata().clone(), FileIO::new_with_memory())?;
            return [&copy, catalog].into_iter().try_for_each(|on| {
                changes.iter().try_for_each(|change| {
                    known_types(change)?;
                    evolution::schema_change(on, change)
                })
            });
        }
        "alter-spec" => return alter_spec(catalog, &operation["changes"]),
        "sort" => {
            let mut update = transaction.replace_sort_order();
            for field in operation["fields"].as_array().into_iter().flatten() {
                if field["transform"].as_str().is_some_and(|transform| transform != "identity") {
                    return unsupported("the library's sort orders are of columns as they are");
                }
                let down = field["direction"] == json!("desc");
                let nulls = match field["null_order"].as_str() {
                    Some("nulls-last") => NullOrder::Last,
                    None if down => NullOrder::Last,
                    _ => NullOrder::First,
                };
                let name = field["source"].as_str().unwrap_or("");
                update = if down { update.desc(name, nulls) } else { update.asc(name, nulls) };
            }
            update.apply(transaction)?
        }
        "upgrade" | "properties" | "expire" => changed(transaction, operation, &operation["format_version"])?,
        "branch" | "tag" if table.metadata().format_version() as u8 == 1 => {
            return unsupported("the library's metadata of v1 has no references");
        }
        "branch" | "tag" => {
            let at = match operation["at"].as_u64() {
                Some(at) => main.get(at as usize).copied().flatten(),
                None => table.metadata().current_snapshot_id(),
            };
            let Some(at) = at else { return Err(Refusal::Invalid("main had no snapshot there".into())) };
            let ref_name = operation["name"].as_str().unwrap_or("").to_string();
            let reference = reference_to(at, &operation["op"])?;
            return Ok(catalog.change(None, vec![TableUpdate::SetSnapshotRef { ref_name, reference }])?);
        }
        other => return unsupported(format!("the library's transactions have no {other}")),
    };
    block_on(made.commit(catalog))?;
    Ok(())
}

fn alter_spec(catalog: &OneTable, changes: &Value) -> Result<(), Refusal> {
    let table = catalog.table();
    let metadata = table.metadata();
    let mut fields = serde_json::to_value(metadata.default_partition_spec())?["fields"].take();
    for change in changes.as_array().into_iter().flatten() {
        let mut change = change.clone();
        if change["op"] == "add" {
            change["source"] = json!(source_id(metadata.current_schema(), &change["source"])?);
        }
        let first_version = metadata.format_version() as u8 == 1;
        evolution::edit(fields.as_array_mut().unwrap_or(&mut vec![]), &change, first_version)?;
    }
    evolution::set_spec(catalog, fields)
}

/// Data files with rows, as the library's writers write them.
async fn written(table: &Table, rows: &[Value]) -> Result<Vec<DataFile>, Refusal> {
    let metadata = table.metadata();
    let properties = metadata.table_properties()?;
    if properties.write_format_default != "parquet" {
        return unsupported(format!("the library writes no {}", properties.write_format_default));
    }
    let schema = metadata.current_schema().clone();
    let batch = batch(&schema, rows)?;
    let files = DataFileWriterBuilder::new(RollingFileWriterBuilder::new_with_default_file_size(
        ParquetWriterBuilder::from_table_properties(&properties, schema.clone()),
        table.file_io().clone(),
        DefaultLocationGenerator::new(metadata)?,
        DefaultFileNameGenerator::new(uuid::Uuid::new_v4().to_string(), None, DataFileFormat::Parquet),
    ));
    let spec = metadata.default_partition_spec().clone();
    if spec.is_unpartitioned() {
        // Without a key, files are those of the spec 0, which may be another one.
        let key = PartitionKey::new(spec.as_ref().clone(), schema, Struct::empty());
        let mut writer = files.build(Some(key)).await?;
        writer.write(batch).await?;
        return Ok(writer.close().await?);
    }
    let splitter = RecordBatchPartitionSplitter::try_new_with_computed_values(schema, spec)?;
    let mut writer = FanoutWriter::new(files);
    for (key, part) in splitter.split(&batch)? {
        writer.write(key, part).await?;
    }
    Ok(writer.close().await?)
}

fn batch(schema: &Schema, rows: &[Value]) -> Result<RecordBatch, Refusal> {
    let shape = Arc::new(schema_to_arrow_schema(schema)?);
    let mut columns = vec![];
    for (field, column) in schema.as_struct().fields().iter().zip(shape.fields()) {
        let default = match &field.write_default {
            Some(value) => value.clone().try_into_json(&field.field_type)?,
            None => Value::Null,
        };
        let values: Vec<&Value> = rows.iter().map(|row| row.get(&field.name).unwrap_or(&default)).collect();
        columns.push(array(&field.field_type, column.data_type(), &values)?);
    }
    RecordBatch::try_new(shape, columns).map_err(|error| Refusal::Invalid(error.to_string()))
}

/// Values in exchange form, in which structs have the names of their fields, as an array of Arrow.
fn array(kind: &Type, wanted: &DataType, values: &[&Value]) -> Result<ArrayRef, Refusal> {
    let valid = NullBuffer::from(values.iter().map(|value| !value.is_null()).collect::<Vec<_>>());
    match (kind, wanted) {
        (Type::Struct(of), DataType::Struct(fields)) => {
            let children = of.fields().iter().zip(fields).map(|(field, child)| {
                let members: Vec<&Value> = values.iter().map(|value| &value[&field.name]).collect();
                array(&field.field_type, child.data_type(), &members)
            });
            Ok(Arc::new(StructArray::new(fields.clone(), children.collect::<Result<_, _>>()?, Some(valid))))
        }
        (Type::List(of), DataType::List(element)) => {
            let items = flat(values, |value| value.as_array());
            let child = array(&of.element_field.field_type, element.data_type(), &items)?;
            Ok(Arc::new(ListArray::new(element.clone(), offsets(values, |value| value.as_array()), child, Some(valid))))
        }
        (Type::Map(of), DataType::Map(entries, ordered)) => {
            let DataType::Struct(fields) = entries.data_type() else { return other(wanted) };
            let [keys, items] = ["keys", "values"].map(|name| flat(values, |value| value[name].as_array()));
            let children = vec![
                array(&of.key_field.field_type, fields[0].data_type(), &keys)?,
                array(&of.value_field.field_type, fields[1].data_type(), &items)?,
            ];
            let pairs = StructArray::new(Fields::clone(fields), children, None);
            let offsets = offsets(values, |value| value["keys"].as_array());
            Ok(Arc::new(MapArray::new(Arc::<Field>::clone(entries), offsets, pairs, Some(valid), *ordered)))
        }
        (Type::Primitive(plain), _) => {
            let literals = values.iter().map(|value| match value {
                Value::Null => Ok(None),
                value => Ok(Some(datum(plain, value)?.literal().clone())),
            });
            primitive(wanted, &literals.collect::<Result<Vec<_>, Refusal>>()?)
        }
        _ => other(wanted),
    }
}

fn other<T>(wanted: &DataType) -> Result<T, Refusal> {
    unsupported(format!("no Arrow array of {wanted} is made here"))
}

fn flat<'a>(values: &[&'a Value], items: impl Fn(&'a Value) -> Option<&'a Vec<Value>>) -> Vec<&'a Value> {
    values.iter().filter_map(|value| items(value)).flatten().collect()
}

fn offsets<'a>(values: &[&'a Value], items: impl Fn(&'a Value) -> Option<&'a Vec<Value>>) -> OffsetBuffer<i32> {
    OffsetBuffer::from_lengths(values.iter().map(|value| items(value).map_or(0, Vec::len)))
}

fn primitive(wanted: &DataType, literals: &[Option<PrimitiveLiteral>]) -> Result<ArrayRef, Refusal> {
    use PrimitiveLiteral::{Binary, Boolean, Double, Float, Int, Int128, Long, String, UInt128};
    macro_rules! column {
        ($kind:ty, $($form:pat => $value:expr),+) => {
            literals.iter().map(|one| match one { $(Some($form) => Some($value),)+ _ => None }).collect::<$kind>()
        };
    }
    let octets = || -> Vec<Option<Vec<u8>>> {
        let one = |literal: &Option<PrimitiveLiteral>| match literal {
            Some(Binary(data)) => Some(data.clone()),
            Some(UInt128(bits)) => Some(bits.to_be_bytes().to_vec()),
            _ => None,
        };
        literals.iter().map(one).collect()
    };
    let refused = |error: arrow_schema::ArrowError| Refusal::Invalid(error.to_string());
    Ok(match wanted {
        DataType::Boolean => Arc::new(column!(BooleanArray, Boolean(truth) => *truth)),
        DataType::Int32 => Arc::new(column!(Int32Array, Int(number) => *number)),
        DataType::Int64 => Arc::new(column!(Int64Array, Long(number) => *number)),
        DataType::Float32 => Arc::new(column!(Float32Array, Float(number) => number.0)),
        DataType::Float64 => Arc::new(column!(Float64Array, Double(number) => number.0)),
        DataType::Date32 => Arc::new(column!(Date32Array, Int(days) => *days)),
        DataType::Time64(TimeUnit::Microsecond) => Arc::new(column!(Time64MicrosecondArray, Long(count) => *count)),
        DataType::Timestamp(TimeUnit::Microsecond, zone) => {
            Arc::new(column!(TimestampMicrosecondArray, Long(count) => *count).with_timezone_opt(zone.clone()))
        }
        DataType::Timestamp(TimeUnit::Nanosecond, zone) => {
            Arc::new(column!(TimestampNanosecondArray, Long(count) => *count).with_timezone_opt(zone.clone()))
        }
        DataType::Decimal128(precision, scale) => {
            let made = column!(Decimal128Array, Int128(unscaled) => *unscaled);
            Arc::new(made.with_precision_and_scale(*precision, *scale).map_err(refused)?)
        }
        DataType::Utf8 => Arc::new(column!(StringArray, String(text) => text.as_str())),
        DataType::Binary => Arc::new(octets().iter().map(Option::as_deref).collect::<BinaryArray>()),
        DataType::LargeBinary => Arc::new(octets().iter().map(Option::as_deref).collect::<LargeBinaryArray>()),
        DataType::FixedSizeBinary(size) => {
            let made = FixedSizeBinaryArray::try_from_sparse_iter_with_size(octets().into_iter(), *size);
            Arc::new(made.map_err(refused)?) as ArrayRef
        }
        _ if literals.iter().all(Option::is_none) => new_null_array(wanted, literals.len()),
        _ => return other(wanted),
    })
}
