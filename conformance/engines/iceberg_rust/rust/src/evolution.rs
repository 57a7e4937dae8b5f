//! Evolution of schemas in transactions, of specs in metadata, which takes whole ones, and the expiry of snapshots.

use futures::executor::block_on;
use iceberg::io::FileIO;
use iceberg::spec::{Literal, Type, UnboundPartitionSpec};
use iceberg::transaction::{AddColumn, ApplyTransactionAction, Transaction};
use iceberg::{Catalog, TableUpdate};
use serde_json::{Value, json};

use crate::catalog::{OneTable, now_ms};
use crate::kernels::{column_type, known_types};
use crate::{Answer, Refusal, metadata, unsupported};

/// An empty table in the state that the arguments describe.
fn evolving(args: &Value) -> Result<OneTable, Refusal> {
    known_types(&args["schema"])?;
    known_types(&args["changes"])?;
    let mut schema = args["schema"].clone();
    schema["type"] = json!("struct");
    if schema["schema-id"].is_null() {
        schema["schema-id"] = json!(0);
    }
    let fields = if args["partition_fields"].is_null() { json!([]) } else { args["partition_fields"].clone() };
    let specs = match &args["partition_specs"] {
        Value::Null => json!([{"spec-id": 0, "fields": fields}]),
        specs => specs.clone(),
    };
    let default = if args["default_spec_id"].is_null() { &specs[0]["spec-id"] } else { &args["default_spec_id"] };
    let of_specs = specs.as_array().into_iter().flatten().flat_map(|spec| spec["fields"].as_array());
    let ids = of_specs.flatten().filter_map(|field| field["field-id"].as_i64());
    let last = args["last_partition_id"].as_i64().unwrap_or_else(|| ids.max().unwrap_or(999));
    let mut document = json!({
        "format-version": args["format_version"], "table-uuid": "fb072c92-a02b-11e9-ae9c-1bb7bc9eca94",
        "location": "memory:///table", "last-updated-ms": 1515100955770_i64, "last-sequence-number": 0,
        "schemas": [schema], "current-schema-id": schema["schema-id"],
        "last-column-id": args["last_column_id"].as_i64().unwrap_or_else(|| highest_id(&schema)),
        "partition-specs": specs, "default-spec-id": default, "last-partition-id": last, "next-row-id": 0,
        "sort-orders": [{"order-id": 0, "fields": []}], "default-sort-order-id": 0,
    });
    if let (Some(members), Some(version)) = (document.as_object_mut(), args["format_version"].as_i64()) {
        if version < 3 {
            members.remove("next-row-id");
        }
        if version < 2 {
            members.remove("last-sequence-number");
            members.insert("schema".into(), schema);
            let current = specs.as_array().into_iter().flatten().find(|spec| &spec["spec-id"] == default);
            members.insert("partition-spec".into(), current.map_or(json!([]), |spec| spec["fields"].clone()));
        }
    }
    Ok(OneTable::new(metadata::parsed(&document)?, FileIO::new_with_memory())?)
}

/// The highest column id anywhere in a schema.
fn highest_id(value: &Value) -> i64 {
    match value {
        Value::Array(items) => items.iter().map(highest_id).max().unwrap_or(0),
        Value::Object(members) => {
            let of_member = |(name, member): (&String, &Value)| match name.as_str() {
                "id" | "element-id" | "key-id" | "value-id" => member.as_i64().unwrap_or(0),
                "fields" | "type" | "element" | "key" | "value" => highest_id(member),
                _ => 0,
            };
            members.iter().map(of_member).max().unwrap_or(0)
        }
        _ => 0,
    }
}

fn changes(args: &Value) -> impl Iterator<Item = &Value> {
    args["changes"].as_array().into_iter().flatten()
}

pub fn schema(args: &Value) -> Answer {
    let catalog = evolving(args)?;
    changes(args).try_for_each(adds_or_drops)?;
    for change in changes(args) {
        schema_change(&catalog, change)?;
    }
    let metadata = catalog.table().metadata().clone();
    let fields = serde_json::to_value(metadata.current_schema())?["fields"].take();
    Ok(json!({"fields": fields, "last-column-id": metadata.last_column_id()}))
}

fn adds_or_drops(change: &Value) -> Result<(), Refusal> {
    match change["op"].as_str() {
        Some("add" | "drop") => Ok(()),
        _ => unsupported("the library's updates of schemas add and delete columns, and do nothing else"),
    }
}

/// Commit one change of the schema.
pub fn schema_change(catalog: &OneTable, change: &Value) -> Result<(), Refusal> {
    block_on(staged(Transaction::new(&catalog.table()), change)?.commit(catalog))?;
    Ok(())
}

/// A transaction with one change of the schema.
pub fn staged(transaction: Transaction, change: &Value) -> Result<Transaction, Refusal> {
    adds_or_drops(change)?;
    let update = transaction.update_schema();
    let update = match change["op"].as_str() {
        Some("add") => update.add_column(column(change)?),
        _ => update.delete_column(change["name"].as_str().unwrap_or("")),
    };
    Ok(update.apply(transaction)?)
}

fn column(change: &Value) -> Result<AddColumn, Refusal> {
    let kind = column_type(&change["type"])?;
    let default = default_of(&change["default"], &kind)?;
    let name = change["name"].as_str().unwrap_or("");
    let made = AddColumn::builder().name(name).field_type(kind).required(change["required"] == json!(true));
    Ok(match (change["parent"].as_str(), change["doc"].as_str(), default) {
        (None, None, None) => made.build(),
        (None, None, Some(value)) => made.initial_default(value.clone()).write_default(value).build(),
        (None, Some(doc), None) => made.doc(doc).build(),
        (None, Some(doc), Some(value)) => made.doc(doc).initial_default(value.clone()).write_default(value).build(),
        (Some(parent), None, None) => made.parent(parent).build(),
        (Some(parent), None, Some(value)) => {
            made.parent(parent).initial_default(value.clone()).write_default(value).build()
        }
        (Some(parent), Some(doc), None) => made.parent(parent).doc(doc).build(),
        (Some(parent), Some(doc), Some(value)) => {
            made.parent(parent).doc(doc).initial_default(value.clone()).write_default(value).build()
        }
    })
}

fn default_of(json: &Value, kind: &Type) -> Result<Option<Literal>, Refusal> {
    if json.is_null() { Ok(None) } else { Ok(Literal::try_from_json(json.clone(), kind)?) }
}

/// The fields of the default spec, edited as a caller does: metadata takes whole specs, gives fields their ids, and
/// finds those again that it had.
pub fn spec(args: &Value) -> Answer {
    let catalog = evolving(args)?;
    let before = catalog.table().metadata().clone();
    let mut fields = serde_json::to_value(before.default_partition_spec())?["fields"].take();
    for change in changes(args) {
        edit(fields.as_array_mut().unwrap_or(&mut vec![]), change, args["format_version"] == json!(1))?;
    }
    set_spec(&catalog, fields)?;
    let after = catalog.table().metadata().clone();
    let mut made = serde_json::to_value(after.default_partition_spec())?;
    made["last-partition-id"] = json!(after.last_partition_id());
    Ok(made)
}

/// Make a spec of some fields, of which new ones have no id, the table's default.
pub fn set_spec(catalog: &OneTable, fields: Value) -> Result<(), Refusal> {
    let spec: UnboundPartitionSpec = serde_json::from_value(json!({"fields": fields}))?;
    Ok(catalog.change(None, vec![TableUpdate::AddSpec { spec }, TableUpdate::SetDefaultSpec { spec_id: -1 }])?)
}

pub fn edit(fields: &mut Vec<Value>, change: &Value, first_version: bool) -> Result<(), Refusal> {
    let place = |name: &Value, fields: &[Value]| match fields.iter().position(|field| &field["name"] == name) {
        Some(place) => Ok(place),
        None => unsupported("metadata takes whole specs, which have no field of the name to be changed"),
    };
    match change["op"].as_str() {
        Some("add") => {
            let source = match &change["source"] {
                Value::Array(ids) if ids.len() == 1 => &ids[0],
                Value::Array(_) => return unsupported("partition fields have one source"),
                id => id,
            };
            fields.push(json!({"source-id": source, "name": change["name"], "transform": change["transform"]}));
        }
        Some("remove") if first_version => {
            return unsupported(
                "metadata takes whole specs: the void field in the place of one that goes is the caller's",
            );
        }
        Some("remove") => {
            fields.remove(place(&change["name"], fields)?);
        }
        Some("rename") => {
            let at = place(&change["name"], fields)?;
            fields[at]["name"] = change["to"].clone();
        }
        _ => return unsupported("metadata takes whole specs: the order of their fields is the caller's"),
    }
    Ok(())
}

// Retention

/// How long before its time a table is prepared for expiry, at least, and how often that is tried with a millisecond
/// more, as a commit reads the clock.
const LEAD_MS: i64 = 5;
const TRIES: i64 = 100;

/// The clock of the machine cannot be set. Therefore all times of the table are moved, so that the clock shows the
/// requested time from when the commit begins until the catalog changes the table.
pub fn expire(args: &Value) -> Answer {
    let asked = args["now_ms"].as_i64().ok_or_else(|| Refusal::Arguments("no time".into()))?;
    known_types(&args["metadata"]["schemas"])?;
    for more in 0..TRIES {
        let begin = now_ms() + LEAD_MS + more;
        let mut document = args["metadata"].clone();
        move_times(&mut document, begin - asked);
        let catalog = OneTable::new(metadata::parsed(&document)?, FileIO::new_with_memory())?;
        let transaction = Transaction::new(&catalog.table());
        let transaction = transaction.expire_snapshots().apply(transaction)?;
        while now_ms() < begin {}
        let ended = block_on(transaction.commit(&catalog as &dyn Catalog));
        if [0, begin].contains(&catalog.committed_ms()) {
            ended?; // a commit that does not reach the catalog was refused
            return remaining(&catalog, &args["metadata"]);
        }
    }
    Err(Refusal::Arguments("the library took longer than a millisecond each time".into()))
}

fn move_times(value: &mut Value, by: i64) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| move_times(item, by)),
        Value::Object(members) => {
            for (name, member) in members {
                match (name.as_str(), member.as_i64()) {
                    ("timestamp-ms" | "last-updated-ms", Some(time)) => *member = json!(time + by),
                    _ => move_times(member, by),
                }
            }
        }
        _ => {}
    }
}

fn remaining(catalog: &OneTable, before: &Value) -> Answer {
    let metadata = catalog.table().metadata().clone();
    let snapshots: Vec<String> = metadata.snapshots().map(|one| one.snapshot_id().to_string()).collect();
    let named = before["refs"].as_object().into_iter().flat_map(|refs| refs.keys().cloned());
    let mut refs: Vec<String> = named.chain(["main".to_string()]).collect();
    refs.retain(|name| metadata.snapshot_for_ref(name).is_some());
    refs.sort();
    refs.dedup();
    Ok(json!({"snapshots": snapshots, "refs": refs}))
}
