//! Operations on table metadata. Answers are what the library's objects write as JSON.

use iceberg::spec::{FormatVersion, TableMetadata, TableMetadataBuilder};
use serde_json::{Value, json};

use crate::kernels::known_types;
use crate::{Answer, Refusal, unsupported};

/// The members of the canonical form of a table.
const MEMBERS: &[&str] = &[
    "format-version",
    "table-uuid",
    "location",
    "last-sequence-number",
    "last-updated-ms",
    "last-column-id",
    "current-schema-id",
    "schemas",
    "default-spec-id",
    "partition-specs",
    "last-partition-id",
    "default-sort-order-id",
    "sort-orders",
    "properties",
    "current-snapshot-id",
    "snapshots",
    "refs",
    "snapshot-log",
    "metadata-log",
    "statistics",
    "partition-statistics",
    "next-row-id",
    "encryption-keys",
];

/// Table metadata: of the JSON object, or of the text of a file where it holds none.
pub fn parsed(metadata: &Value) -> Result<TableMetadata, Refusal> {
    let text = metadata.as_str().map_or_else(|| metadata.to_string(), str::to_string);
    if let Ok(json) = serde_json::from_str::<Value>(&text) {
        known_types(&json["schema"])?;
        known_types(&json["schemas"])?;
    }
    Ok(serde_json::from_str(&text)?)
}

/// The canonical form; v1 writes neither sequence numbers nor references, which the objects have.
fn canonical(metadata: &TableMetadata) -> Result<Value, Refusal> {
    let mut form = serde_json::to_value(metadata)?;
    let members = form.as_object_mut().ok_or_else(|| Refusal::Arguments("metadata is no object".into()))?;
    members.retain(|name, _| MEMBERS.contains(&name.as_str()));
    members.insert("last-sequence-number".into(), json!(metadata.last_sequence_number()));
    for snapshot in members.get_mut("snapshots").and_then(Value::as_array_mut).into_iter().flatten() {
        let known = snapshot["snapshot-id"].as_i64().and_then(|id| metadata.snapshot_by_id(id));
        snapshot["sequence-number"] = json!(known.map(|one| one.sequence_number()));
    }
    if let (None, Some(main)) = (members.get("refs"), metadata.snapshot_for_ref("main")) {
        members.insert("refs".into(), json!({"main": {"snapshot-id": main.snapshot_id(), "type": "branch"}}));
    }
    Ok(form)
}

fn selected(args: &Value, mut form: Value) -> Value {
    if let (Some(names), Some(members)) = (args["select"].as_array(), form.as_object_mut()) {
        members.retain(|name, _| names.iter().any(|asked| asked == name));
    }
    form
}

fn upgraded(metadata: TableMetadata, version: &Value) -> Result<TableMetadata, Refusal> {
    let version = match version.as_u64() {
        Some(1) => FormatVersion::V1,
        Some(2) => FormatVersion::V2,
        Some(3) => FormatVersion::V3,
        _ => return unsupported(format!("version {version}")),
    };
    if version == metadata.format_version() {
        return Ok(metadata);
    }
    let builder = TableMetadataBuilder::new_from_metadata(metadata, None);
    Ok(builder.upgrade_format_version(version)?.build()?.metadata)
}

pub fn read(args: &Value) -> Answer {
    Ok(selected(args, canonical(&parsed(&args["metadata"])?)?))
}

pub fn upgrade(args: &Value) -> Answer {
    let metadata = upgraded(parsed(&args["metadata"])?, &args["format_version"])?;
    Ok(selected(args, canonical(&metadata)?))
}

pub fn write(args: &Value) -> Answer {
    let metadata = parsed(&args["metadata"])?;
    if args["format_version"].as_u64() < Some(metadata.format_version() as u64) {
        return unsupported("the library does not write metadata of an older version");
    }
    let metadata = upgraded(metadata, &args["format_version"])?;
    Ok(selected(args, serde_json::to_value(&metadata)?))
}
