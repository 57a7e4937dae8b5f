//! A catalog of one table, in memory. What commits require is checked, and their updates are applied, by the library.

use std::collections::{BTreeMap, HashMap};
use std::str::FromStr;
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use futures::executor::block_on;
use iceberg::io::FileIO;
use iceberg::spec::{TableMetadata, TableMetadataBuilder};
use iceberg::table::Table;
use iceberg::{
    Catalog, Error, ErrorKind, MetadataLocation, Namespace, NamespaceIdent, Result, Runtime, TableCommit,
    TableCreation, TableIdent, TableRequirement, TableUpdate,
};

#[derive(Debug)]
pub struct OneTable {
    state: Mutex<State>,
    /// Whether the metadata file of every commit is written.
    keeps: bool,
}

#[derive(Debug)]
struct State {
    table: Table,
    /// The ids of all snapshots that there ever were, in the order of the commits.
    snapshots: Vec<i64>,
    /// The references that were made, with their types: metadata of v1 does not write them.
    refs: BTreeMap<String, String>,
    /// The time of the last commit, in milliseconds.
    committed_ms: i64,
}

pub fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}

fn table_of(metadata: TableMetadata, location: &str, files: FileIO) -> Result<Table> {
    let ident = TableIdent::from_strs(["db", "table"])?;
    let builder = Table::builder().metadata(metadata).metadata_location(location.to_string()).identifier(ident);
    builder.file_io(files).runtime(Runtime::current()).build()
}

impl OneTable {
    pub fn new(metadata: TableMetadata, files: FileIO) -> Result<Self> {
        let location = MetadataLocation::new_with_metadata(metadata.location(), &metadata).to_string();
        Ok(Self::with(table_of(metadata, &location, files)?, false))
    }

    fn with(table: Table, keeps: bool) -> Self {
        let refs = BTreeMap::from([("main".to_string(), "branch".to_string())]);
        let mut there: Vec<_> =
            table.metadata().snapshots().map(|one| (one.timestamp_ms(), one.snapshot_id())).collect();
        there.sort();
        let snapshots = there.into_iter().map(|(_, id)| id).collect();
        Self { state: Mutex::new(State { table, snapshots, refs, committed_ms: 0 }), keeps }
    }

    /// A new table of local files, whose metadata files are kept.
    pub fn create(metadata: TableMetadata) -> Result<Self> {
        let made = Self { keeps: true, ..Self::new(metadata, FileIO::new_with_fs())? };
        block_on(made.keep(&made.table()))?;
        Ok(made)
    }

    /// The table of a metadata file, whose later ones are kept.
    pub fn open(location: &str) -> Result<Self> {
        let files = FileIO::new_with_fs();
        let metadata = block_on(TableMetadata::read_from(&files, location))?;
        Ok(Self::with(table_of(metadata, location, files)?, true))
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub fn table(&self) -> Table {
        self.state().table.clone()
    }

    pub fn snapshots(&self) -> Vec<i64> {
        self.state().snapshots.clone()
    }

    pub fn refs(&self) -> BTreeMap<String, String> {
        self.state().refs.clone()
    }

    pub fn committed_ms(&self) -> i64 {
        self.state().committed_ms
    }

    /// The current metadata file of the table.
    pub fn location(&self) -> Result<String> {
        self.table().metadata_location_result().map(str::to_string)
    }

    /// Write the metadata file of a state of the table, if files are kept.
    async fn keep(&self, table: &Table) -> Result<()> {
        if !self.keeps {
            return Ok(());
        }
        let location = MetadataLocation::from_str(table.metadata_location_result()?)?;
        table.metadata().write_to(table.file_io(), &location).await
    }

    /// A change that callers request of a catalog, as transactions support neither references nor partition specs.
    pub fn change(&self, requirement: Option<TableRequirement>, updates: Vec<TableUpdate>) -> Result<()> {
        let mut state = self.state();
        let before = state.table.clone();
        if let Some(requirement) = requirement {
            requirement.check(Some(before.metadata()))?;
        }
        let location = before.metadata_location_result()?;
        let mut builder =
            TableMetadataBuilder::new_from_metadata(before.metadata().clone(), Some(location.to_string()));
        for update in updates {
            if let TableUpdate::SetSnapshotRef { ref_name, reference } = &update {
                let kind = if reference.is_branch() { "branch" } else { "tag" };
                state.refs.insert(ref_name.clone(), kind.to_string());
            }
            builder = update.apply(builder)?;
        }
        let metadata = builder.build()?.metadata;
        let next = MetadataLocation::from_str(location)?.with_next_version().to_string();
        let changed = table_of(metadata, &next, before.file_io().clone())?;
        block_on(self.keep(&changed))?;
        state.table = changed;
        Ok(())
    }
}

fn never<T>() -> Result<T> {
    Err(Error::new(ErrorKind::FeatureUnsupported, "this catalog has one table"))
}

#[async_trait]
impl Catalog for OneTable {
    async fn load_table(&self, _: &TableIdent) -> Result<Table> {
        Ok(self.table())
    }

    async fn update_table(&self, commit: TableCommit) -> Result<Table> {
        self.state().committed_ms = now_ms();
        let changed = commit.apply(self.table())?;
        self.keep(&changed).await?;
        let mut state = self.state();
        for snapshot in changed.metadata().snapshots() {
            if !state.snapshots.contains(&snapshot.snapshot_id()) {
                state.snapshots.push(snapshot.snapshot_id());
            }
        }
        state.table = changed.clone();
        Ok(changed)
    }

    async fn list_namespaces(&self, _: Option<&NamespaceIdent>) -> Result<Vec<NamespaceIdent>> {
        never()
    }

    async fn create_namespace(&self, _: &NamespaceIdent, _: HashMap<String, String>) -> Result<Namespace> {
        never()
    }

    async fn get_namespace(&self, _: &NamespaceIdent) -> Result<Namespace> {
        never()
    }

    async fn namespace_exists(&self, _: &NamespaceIdent) -> Result<bool> {
        never()
    }

    async fn update_namespace(&self, _: &NamespaceIdent, _: HashMap<String, String>) -> Result<()> {
        never()
    }

    async fn drop_namespace(&self, _: &NamespaceIdent) -> Result<()> {
        never()
    }

    async fn list_tables(&self, _: &NamespaceIdent) -> Result<Vec<TableIdent>> {
        never()
    }

    async fn create_table(&self, _: &NamespaceIdent, _: TableCreation) -> Result<Table> {
        never()
    }

    async fn drop_table(&self, _: &TableIdent) -> Result<()> {
        never()
    }

    async fn purge_table(&self, _: &TableIdent) -> Result<()> {
        never()
    }

    async fn table_exists(&self, _: &TableIdent) -> Result<bool> {
        never()
    }

    async fn rename_table(&self, _: &TableIdent, _: &TableIdent) -> Result<()> {
        never()
    }

    async fn register_table(&self, _: &TableIdent, _: String) -> Result<Table> {
        never()
    }
}
