//! Races of commits: handles on one table of a catalog in memory, whose manifests are in memory too.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use futures::executor::block_on;
use iceberg::io::FileIO;
use iceberg::spec::{DataFile, FormatVersion, ManifestContentType, NullOrder, SnapshotReference, StatisticsFile};
use iceberg::table::Table;
use iceberg::transaction::{ApplyTransactionAction, Transaction};
use iceberg::{TableRequirement, TableUpdate};
use serde_json::{Map, Value, json};

use crate::catalog::OneTable;
use crate::{Answer, Refusal, manifests, metadata, unsupported};

const PARTITION_FIELD: &str = "1000";

/// An empty table, which is partitioned by a column, or by none.
fn created(version: &Value, by: &str) -> Result<OneTable, Refusal> {
    let spec = match by {
        "nothing" => json!([]),
        "score" => json!([{"source-id": 3, "field-id": 1000, "name": "score", "transform": "identity"}]),
        _ => json!([{"source-id": 2, "field-id": 1000, "name": "part", "transform": "identity"}]),
    };
    let mut fields = vec![
        json!({"id": 1, "name": "id", "type": "long", "required": true}),
        json!({"id": 2, "name": "part", "type": "string", "required": false}),
    ];
    if by == "score" {
        fields.push(json!({"id": 3, "name": "score", "type": "double", "required": false}));
    }
    let (columns, last_partition) = (fields.len(), if by == "nothing" { 999 } else { 1000 });
    let schema = json!({"type": "struct", "schema-id": 0, "fields": fields});
    let mut document = json!({
        "format-version": version, "table-uuid": uuid::Uuid::new_v4(), "location": "memory:///races",
        "last-updated-ms": 1515100955770_i64, "last-column-id": columns, "schemas": [schema], "current-schema-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": spec}], "default-spec-id": 0, "last-partition-id": last_partition,
        "sort-orders": [{"order-id": 0, "fields": []}], "default-sort-order-id": 0, "properties": {
            "commit.retry.num-retries": "4", "commit.retry.min-wait-ms": "1", "commit.retry.max-wait-ms": "2",
        },
    });
    match version.as_i64() {
        Some(1) => (document["schema"], document["partition-spec"]) = (schema, spec),
        Some(2) => document["last-sequence-number"] = json!(0),
        _ => (document["last-sequence-number"], document["next-row-id"]) = (json!(0), json!(0)),
    }
    Ok(OneTable::new(metadata::parsed(&document)?, FileIO::new_with_memory())?)
}

/// The table of a metadata file, with its manifests and lists beside it. All of them are read into memory, where new
/// files are written too.
fn given(place: &str) -> Result<OneTable, Refusal> {
    let files = FileIO::new_with_memory();
    for entry in std::fs::read_dir(Path::new(place).parent().unwrap_or(Path::new("/")))? {
        let path = entry?.path();
        block_on(files.new_output(path.to_string_lossy())?.write(std::fs::read(&path)?.into()))?;
    }
    Ok(OneTable::new(metadata::parsed(&json!(std::fs::read_to_string(place)?))?, files)?)
}

pub fn replay(args: &Value) -> Answer {
    let log = args["log"].as_array().cloned().unwrap_or_default();
    if log.iter().any(|step| !step["reply"].is_null()) {
        return unsupported("what becomes of an answer that is lost is the catalog's, which is not the library's here");
    }
    let catalog = match args["table"].as_str() {
        Some(place) => given(place)?,
        None => created(&args["format_version"], args["partitioned_by"].as_str().unwrap_or("part"))?,
    };
    for change in args["base"].as_array().into_iter().flatten() {
        let mut writer = Writer::load(&catalog);
        writer.stage(change)?;
        writer.commit()?;
    }
    let (mut writers, mut outcomes) = (HashMap::new(), vec![]);
    for step in &log {
        let name = step["writer"].as_str().unwrap_or("").to_string();
        match step["do"].as_str() {
            Some("load") => {
                writers.insert(name, Writer::load(&catalog));
            }
            Some("stage") => writers.entry(name).or_insert_with(|| Writer::load(&catalog)).stage(&step["change"])?,
            _ => {
                let writer = writers.entry(name).or_insert_with(|| Writer::load(&catalog));
                // Whatever the error is, the library did not commit.
                outcomes.push(if writer.commit().is_ok() { "committed" } else { "conflict" });
            }
        }
    }
    Ok(json!({"outcomes": outcomes, "table": table_form(&catalog)?}))
}

/// The change that a writer has planned on the table that it loaded.
enum Planned {
    Nothing,
    Transaction(Box<Transaction>),
    /// References are changed by catalogs, at the request of callers.
    Reference(TableRequirement, TableUpdate),
}

struct Writer<'a> {
    catalog: &'a OneTable,
    table: Table,
    planned: Planned,
}

impl<'a> Writer<'a> {
    fn load(catalog: &'a OneTable) -> Self {
        Self { catalog, table: catalog.table(), planned: Planned::Nothing }
    }

    fn commit(&mut self) -> Result<(), Refusal> {
        match std::mem::replace(&mut self.planned, Planned::Nothing) {
            Planned::Nothing => {}
            Planned::Transaction(transaction) => {
                block_on(transaction.commit(self.catalog))?;
            }
            Planned::Reference(requirement, update) => self.catalog.change(Some(requirement), vec![update])?,
        }
        self.table = self.catalog.table();
        Ok(())
    }

    fn stage(&mut self, change: &Value) -> Result<(), Refusal> {
        if change["branch"].as_str().is_some_and(|branch| branch != "main") {
            return unsupported("transactions are of main");
        }
        let transaction = Transaction::new(&self.table);
        let made = match change["op"].as_str().unwrap_or("") {
            "append" | "fast-append" => {
                transaction.fast_append().add_data_files(self.files(change)?).apply(transaction)?
            }
            "schema" => {
                let column = json!({"op": "add", "name": change["add"], "type": "int"});
                crate::evolution::staged(transaction, &column)?
            }
            "sort-order" => {
                let order = transaction.replace_sort_order();
                order.asc(change["by"].as_str().unwrap_or(""), NullOrder::First).apply(transaction)?
            }
            "properties" | "upgrade" | "expire" => changed(transaction, change, &change["version"])?,
            "statistics" => {
                let at = change["at"].as_u64().unwrap_or(1) as usize;
                let file = StatisticsFile {
                    snapshot_id: self.catalog.snapshots()[at - 1],
                    statistics_path: "memory:///races/s.puffin".into(),
                    file_size_in_bytes: 100,
                    file_footer_size_in_bytes: 10,
                    key_metadata: None,
                    blob_metadata: vec![],
                };
                transaction.update_statistics().set_statistics(file).apply(transaction)?
            }
            "branch" | "tag" | "remove-ref" => {
                self.planned = self.reference(change)?;
                return Ok(());
            }
            other => return unsupported(format!("the library's transactions have no {other}")),
        };
        self.planned = Planned::Transaction(Box::new(made));
        Ok(())
    }

    fn reference(&self, change: &Value) -> Result<Planned, Refusal> {
        let name = change["name"].as_str().unwrap_or("").to_string();
        let was = self.table.metadata().snapshot_for_ref(&name).map(|snapshot| snapshot.snapshot_id());
        let requirement = TableRequirement::RefSnapshotIdMatch { r#ref: name.clone(), snapshot_id: was };
        if change["op"] == "remove-ref" {
            return Ok(Planned::Reference(requirement, TableUpdate::RemoveSnapshotRef { ref_name: name }));
        }
        let at = change["at"].as_u64().unwrap_or(1) as usize;
        let reference = reference_to(self.catalog.snapshots()[at - 1], &change["op"])?;
        Ok(Planned::Reference(requirement, TableUpdate::SetSnapshotRef { ref_name: name, reference }))
    }

    /// Data files that nobody wrote, as commits need only their names, partitions and counts.
    fn files(&self, change: &Value) -> Result<Vec<DataFile>, Refusal> {
        let metadata = self.table.metadata();
        let partition = metadata.default_partition_type().clone();
        let by_score = metadata.default_partition_spec().fields().iter().any(|field| field.name == "score");
        let file = |one: &Value| {
            if one["spec"].as_i64().unwrap_or(0) != i64::from(metadata.default_partition_spec_id()) {
                return unsupported("transactions add files of the default partition spec");
            }
            let value = match one["part"].as_str() {
                Some(text) if by_score && text != "NaN" => json!(text.parse::<f64>().unwrap_or(0.0)),
                _ => one["part"].clone(),
            };
            let rows = one["rows"].as_i64().unwrap_or(0);
            let form = json!({
                "content": 0, "file_path": format!("memory:///races/data/{}", one["name"].as_str().unwrap_or("")),
                "file_format": "parquet", "partition": {PARTITION_FIELD: value},
                "record_count": rows.to_string(), "file_size_in_bytes": (100 * rows).to_string(),
            });
            manifests::data_file(&form, metadata.current_schema(), &partition, metadata.default_partition_spec_id())
        };
        change["files"].as_array().into_iter().flatten().map(file).collect()
    }
}

/// A transaction with a change that races and scripts have in common: properties, the format version or expiry.
pub fn changed(transaction: Transaction, change: &Value, version: &Value) -> Result<Transaction, Refusal> {
    Ok(match change["op"].as_str().unwrap_or("") {
        "properties" => {
            let mut update = transaction.update_table_properties();
            for (name, value) in change["set"].as_object().into_iter().flatten() {
                update = update.set(name.clone(), value.as_str().unwrap_or("").to_string());
            }
            for name in change["remove"].as_array().into_iter().flatten() {
                update = update.remove(name.as_str().unwrap_or("").to_string());
            }
            update.apply(transaction)?
        }
        "upgrade" => transaction.upgrade_table_version().set_format_version(version_of(version)?).apply(transaction)?,
        _ => {
            let update = transaction.expire_snapshots().expire_older_than_ms(i64::MAX).retain_last(1);
            update.apply(transaction)?
        }
    })
}

pub fn version_of(version: &Value) -> Result<FormatVersion, Refusal> {
    match version.as_i64() {
        Some(1) => Ok(FormatVersion::V1),
        Some(2) => Ok(FormatVersion::V2),
        Some(3) => Ok(FormatVersion::V3),
        _ => unsupported(format!("version {version}")),
    }
}

pub fn reference_to(snapshot: i64, kind: &Value) -> Result<SnapshotReference, Refusal> {
    Ok(serde_json::from_value(json!({"snapshot-id": snapshot, "type": kind}))?)
}

/// The state of a table: its references with their files, and its shape.
fn table_form(catalog: &OneTable) -> Answer {
    let table = catalog.table();
    let metadata = table.metadata();
    let (mut refs, mut ranges, mut missing) = (Map::new(), BTreeMap::new(), false);
    for (name, kind) in catalog.refs() {
        let Some(snapshot) = metadata.snapshot_for_ref(&name) else { continue };
        let mut files = Map::new();
        let list = block_on(table.manifest_list_reader(snapshot).load())?;
        for manifest in list.entries() {
            // The library shows the row ids of manifests, and not those of files.
            if snapshot.first_row_id().is_some() && manifest.content == ManifestContentType::Data {
                let rows = manifest.added_rows_count.unwrap_or(0) + manifest.existing_rows_count.unwrap_or(0);
                match manifest.first_row_id {
                    Some(first) => ranges.insert(manifest.manifest_path.clone(), (first, first + rows)),
                    None => {
                        missing = true;
                        None
                    }
                };
            }
            for entry in block_on(manifest.load_manifest(table.file_io()))?.entries() {
                if entry.is_alive() {
                    let file = entry.file_path().rsplit('/').next().unwrap_or("").to_string();
                    files.insert(file, json!(entry.sequence_number().unwrap_or(-1).to_string()));
                }
            }
        }
        let (mut line, mut at) = (vec![], Some(snapshot));
        while let Some(snapshot) = at {
            line.push(serde_json::to_value(&snapshot.summary().operation)?);
            at = snapshot.parent_snapshot_id().and_then(|id| metadata.snapshot_by_id(id));
        }
        line.reverse();
        refs.insert(name, json!({"type": kind, "operations": line, "files": files}));
    }
    let schema = metadata.current_schema();
    let sorted = metadata.default_sort_order().fields.iter().map(|field| schema.name_by_field_id(field.source_id));
    let ours = metadata.properties().iter().filter(|(name, _)| name.starts_with("race."));
    let numbers: HashSet<i64> = metadata.statistics_iter().map(|file| file.snapshot_id).collect();
    let statistics: Vec<usize> =
        (1..=catalog.snapshots().len()).filter(|number| numbers.contains(&catalog.snapshots()[number - 1])).collect();
    Ok(json!({
        "format-version": metadata.format_version() as u8,
        "last-sequence-number": metadata.last_sequence_number().to_string(),
        "columns": schema.as_struct().fields().iter().map(|field| &field.name).collect::<Vec<_>>(),
        "spec": metadata.default_partition_spec().fields().iter().map(|field| &field.name).collect::<Vec<_>>(),
        "sort": sorted.collect::<Vec<_>>(), "properties": ours.collect::<HashMap<_, _>>(), "refs": refs,
        "statistics": statistics, "snapshots": metadata.snapshots().len(), "row-ids": row_ids(&ranges, missing),
    }))
}

/// Classify the ranges of row ids of manifests as disjoint or overlapping.
fn row_ids(ranges: &BTreeMap<String, (u64, u64)>, missing: bool) -> &'static str {
    let mut sorted: Vec<_> = ranges.values().collect();
    sorted.sort();
    match sorted.windows(2).any(|two| two[0].1 > two[1].0) {
        _ if missing => "missing",
        _ if sorted.is_empty() => "none",
        true => "overlapping",
        false => "disjoint",
    }
}
