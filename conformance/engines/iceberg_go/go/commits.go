package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/iceberg-go"
	iceio "github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/table"
)

// Races of commits: handles on one table of a catalog in memory. Manifests are written to a temporary folder.

type replayArgs struct {
	FormatVersion int          `json:"format_version"`
	PartitionedBy string       `json:"partitioned_by"`
	Table         string       `json:"table"`
	Base          []raceChange `json:"base"`
	Log           []raceStep   `json:"log"`
}

type raceStep struct {
	Writer string     `json:"writer"`
	Do     string     `json:"do"`
	Change raceChange `json:"change"`
	Reply  *string    `json:"reply"`
}

type raceFile struct {
	Name string  `json:"name"`
	Part *string `json:"part"`
	Rows int64   `json:"rows"`
	Kind string  `json:"kind"`
	Of   string  `json:"of"`
	// The partition spec by its number, and the value of its bucket field.
	Spec   int  `json:"spec"`
	Bucket *int `json:"bucket"`
}

// value returns the value of a partition field of the file.
func (f raceFile) value(field iceberg.PartitionField) (any, error) {
	if _, void := field.Transform.(iceberg.VoidTransform); void {
		return nil, nil
	}
	if field.Name != "part" && field.Name != "score" {
		if f.Bucket == nil {
			return nil, nil
		}
		return int32(*f.Bucket), nil
	}
	if f.Part == nil {
		return nil, nil
	}
	if field.Name == "score" {
		return strconv.ParseFloat(*f.Part, 64)
	}
	return *f.Part, nil
}

type raceChange struct {
	Op        string          `json:"op"`
	Branch    string          `json:"branch"`
	Files     []raceFile      `json:"files"`
	Deletes   []raceFile      `json:"deletes"`
	Remove    []string        `json:"remove"`
	Filter    json.RawMessage `json:"filter"`
	Isolation string          `json:"isolation"`
	Number    *long           `json:"data_sequence_number"`
	Set       map[string]string
	Add       string
	Source    string
	Transform string
	Name      string
	By        string
	At        int
	To        int
	Version   int
}

func created(args replayArgs, serializable bool, folder string) (*memoryCatalog, error) {
	level := "snapshot"
	if serializable {
		level = "serializable"
	}
	properties := iceberg.Properties{
		"commit.retry.num-retries": "4", "commit.retry.min-wait-ms": "1", "commit.retry.max-wait-ms": "2",
		"write.delete.isolation-level": level, "write.update.isolation-level": level,
	}
	catalog := &memoryCatalog{folder: folder}
	if args.Table != "" {
		return catalog, catalog.begin(args.Table, properties)
	}
	fields := []iceberg.NestedField{
		{ID: 1, Name: "id", Type: iceberg.Int64Type{}, Required: true},
		{ID: 2, Name: "part", Type: iceberg.StringType{}},
	}
	partition := iceberg.PartitionField{SourceIDs: []int{2}, FieldID: 1000, Name: "part", Transform: iceberg.IdentityTransform{}}
	spec := iceberg.NewPartitionSpec(partition)
	switch args.PartitionedBy {
	case "nothing":
		spec = *iceberg.UnpartitionedSpec
	case "score":
		fields = append(fields, iceberg.NestedField{ID: 3, Name: "score", Type: iceberg.Float64Type{}})
		partition.SourceIDs, partition.Name = []int{3}, "score"
		spec = iceberg.NewPartitionSpec(partition)
	}
	properties["format-version"] = strconv.Itoa(args.FormatVersion)
	metadata, err := table.NewMetadata(iceberg.NewSchema(0, fields...), &spec, table.UnsortedSortOrder, folder, properties)
	if err != nil {
		return nil, err
	}
	return catalog, catalog.set(metadata)
}

// begin loads the table of a metadata file; new files are written to the folder of the catalog.
func (m *memoryCatalog) begin(place string, properties iceberg.Properties) error {
	text, err := os.ReadFile(place)
	if err != nil {
		return err
	}
	form := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &form); err != nil {
		return err
	}
	for name, value := range map[string]any{"location": m.folder, "properties": properties} {
		if form[name], err = json.Marshal(value); err != nil {
			return err
		}
	}
	if text, err = json.Marshal(form); err != nil {
		return err
	}
	metadata, err := table.ParseMetadataBytes(text)
	if err != nil {
		return err
	}
	for _, snapshot := range metadata.Snapshots() {
		m.snapshots = append(m.snapshots, snapshot.SnapshotID)
	}
	return m.set(metadata)
}

func commitReplay(args replayArgs) (any, error) {
	serializable := false
	for _, one := range args.Base {
		serializable = serializable || one.Isolation == "serializable"
	}
	for _, step := range args.Log {
		if step.Reply != nil {
			return nil, unsupported("what becomes of an answer that is lost is the catalog's, which is not the library's here")
		}
		serializable = serializable || step.Change.Isolation == "serializable"
	}
	folder, err := os.MkdirTemp("", "iceberg-conformance-races-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	catalog, err := created(args, serializable, folder)
	if err != nil {
		return nil, err
	}
	first := &raceWriter{catalog: catalog, byScore: args.PartitionedBy == "score"}
	for _, one := range args.Base {
		if err := errors.Join(first.load(), first.stage(one), first.commit()); err != nil {
			return nil, err
		}
	}
	writers, outcomes := map[string]*raceWriter{}, []string{}
	for _, step := range args.Log {
		writer, known := writers[step.Writer]
		if !known {
			writer = &raceWriter{catalog: catalog, byScore: args.PartitionedBy == "score"}
			writers[step.Writer] = writer
		}
		switch step.Do {
		case "load":
			err = writer.load()
		case "stage":
			err = writer.stage(step.Change)
		default:
			outcome := "committed"
			if writer.commit() != nil { // whatever the error is, the library did not commit
				outcome = "conflict"
			}
			outcomes, err = append(outcomes, outcome), nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s of %s: %w", step.Do, step.Writer, err)
		}
	}
	state, err := catalog.tableForm()
	return map[string]any{"outcomes": outcomes, "table": state}, err
}

// raceWriter is one handle on the table.
type raceWriter struct {
	catalog *memoryCatalog
	table   *table.Table
	pending func() error
	// Whether filters name score instead of part.
	byScore bool
}

func (w *raceWriter) load() (err error) {
	w.table, err = w.catalog.LoadTable(context.Background(), raced)
	return err
}

func (w *raceWriter) commit() error {
	if w.pending == nil {
		return nil
	}
	if err := w.pending(); err != nil {
		return err
	}
	return w.load()
}

// stage plans a change; that a tag is not a branch to commit to is reported at the commit.
func (w *raceWriter) stage(asked raceChange) error {
	err := w.plan(asked)
	for name, ref := range w.table.Metadata().Refs() {
		if err != nil && name == asked.Branch && ref.SnapshotRefType == table.TagRef {
			w.pending = func() error { return err }
			return nil
		}
	}
	return err
}

func (w *raceWriter) plan(asked raceChange) error {
	branch := asked.Branch
	if branch == "" {
		branch = table.MainBranch
	}
	transaction := w.table.NewTransactionOnBranch(branch)
	ctx := context.Background()
	w.pending = func() error { _, err := transaction.Commit(ctx); return err }
	added, err := w.files(asked.Files)
	if err != nil {
		return err
	}
	removed, err := w.known(branch, asked.Remove)
	if err != nil {
		return err
	}
	switch asked.Op {
	case "append", "fast-append":
		if w.table.Metadata().Version() >= 3 { // other appends need row ids from the caller, which only a commit can assign
			return transaction.NewRowDelta(nil).AddRows(added...).Commit(ctx)
		}
		return transaction.AddDataFiles(ctx, added, nil, table.WithoutDuplicateCheck(), table.WithoutAutoNameMapping())
	case "overwrite":
		if asked.Filter != nil {
			return unsupported("files are replaced without a filter that rows are to conflict with")
		}
		return transaction.ReplaceDataFilesWithDataFiles(ctx, removed, added, nil, table.WithoutAutoNameMapping())
	case "delete":
		return transaction.ReplaceFiles(ctx, removed, nil, nil, nil, table.WithoutAutoNameMapping())
	case "delete-where":
		filter, err := w.whereOf(asked.Filter)
		if err != nil {
			return err
		}
		return transaction.Delete(ctx, filter, nil)
	case "rewrite":
		rewrite := transaction.NewRewrite(nil)
		for _, file := range removed {
			rewrite.DeleteFile(file)
		}
		for _, file := range added {
			rewrite.AddDataFile(file)
		}
		if asked.Number != nil {
			rewrite.DataSequenceNumber(int64(*asked.Number))
		}
		return rewrite.Commit(ctx)
	case "row-delta":
		deletes, err := w.files(asked.Deletes)
		if err != nil {
			return err
		}
		if asked.Filter != nil {
			return unsupported("deletes take no filter for rows that would conflict")
		}
		if err := transaction.NewRowDelta(nil).AddRows(added...).AddDeletes(deletes...).Commit(ctx); err != nil {
			w.pending = func() error { return err } // the version of the table has no such deletes
		}
		return nil
	case "schema":
		return transaction.UpdateSchema(true, false).AddColumn([]string{asked.Add}, iceberg.Int32Type{}, "", false, nil).Commit()
	case "spec":
		if len(asked.Remove) > 0 {
			update := transaction.UpdateSpec(true)
			for _, name := range asked.Remove {
				update = update.RemoveField(name)
			}
			return update.Commit()
		}
		function, err := iceberg.ParseTransform(asked.Transform)
		if err != nil {
			return err
		}
		return transaction.UpdateSpec(true).AddField(asked.Source, function, asked.Name).Commit()
	case "sort-order":
		field, _ := w.table.Schema().FindFieldByName(asked.By)
		order, err := table.NewSortOrder(1, []table.SortField{{
			SourceIDs: []int{field.ID}, Transform: iceberg.IdentityTransform{}, Direction: table.SortASC, NullOrder: table.NullsFirst,
		}})
		if err != nil {
			return err
		}
		return transaction.ReplaceSortOrder(order)
	case "properties":
		return errors.Join(removeAll(transaction, asked.Remove), transaction.SetProperties(asked.Set))
	case "upgrade":
		return transaction.UpgradeFormatVersion(asked.Version)
	case "rollback":
		return transaction.RollbackToSnapshot(w.catalog.snapshots[asked.To-1])
	case "expire":
		return transaction.ExpireSnapshots(table.WithOlderThan(0), table.WithRetainLast(1), table.WithPostCommit(false))
	case "branch", "tag", "remove-ref", "statistics":
		return w.stageUpdate(asked)
	}
	return unsupported("the library's transactions have no " + asked.Op)
}

func removeAll(transaction *table.Transaction, names []string) error {
	if len(names) == 0 {
		return nil
	}
	return transaction.RemoveProperties(names)
}

// stageUpdate stages an update that only catalogs offer; its only requirement is that the reference is unchanged.
func (w *raceWriter) stageUpdate(asked raceChange) error {
	var update table.Update = table.NewRemoveSnapshotRefUpdate(asked.Name)
	requirements := []table.Requirement{}
	if asked.Op == "statistics" {
		update = table.NewSetStatisticsUpdate(table.StatisticsFile{
			SnapshotID: w.catalog.snapshots[asked.At-1], StatisticsPath: w.place("statistics"), FileSizeInBytes: 100,
			FileFooterSizeInBytes: 50, BlobMetadata: []table.BlobMetadata{},
		})
	} else {
		var was *int64
		for name, ref := range w.table.Metadata().Refs() {
			if name == asked.Name {
				was = &ref.SnapshotID
			}
		}
		requirements = append(requirements, table.AssertRefSnapshotID(asked.Name, was))
		if asked.Op != "remove-ref" {
			at := w.catalog.snapshots[asked.At-1]
			update = table.NewSetSnapshotRefUpdate(asked.Name, at, table.RefType(asked.Op), 0, 0, 0)
		}
	}
	w.pending = func() error {
		_, _, err := w.catalog.CommitTable(context.Background(), raced, requirements, []table.Update{update})
		return err
	}
	return nil
}

func (w *raceWriter) whereOf(raw json.RawMessage) (iceberg.BooleanExpression, error) {
	if raw == nil {
		return iceberg.AlwaysTrue{}, nil
	}
	var filter struct {
		Part *string `json:"part"`
	}
	if err := json.Unmarshal(raw, &filter); err != nil {
		return nil, err
	}
	name := iceberg.Reference("part")
	if w.byScore {
		name = "score"
	}
	switch {
	case filter.Part == nil:
		return iceberg.IsNull(name), nil
	case !w.byScore:
		return iceberg.EqualTo(name, *filter.Part), nil
	case *filter.Part == "NaN":
		return iceberg.IsNaN(name), nil
	}
	value, err := strconv.ParseFloat(*filter.Part, 64)
	return iceberg.EqualTo(name, value), err
}

func (w *raceWriter) place(name string) string { return filepath.Join(w.catalog.folder, "data", name) }

// files returns data and delete files that nobody wrote, as commits need only their names, partitions and counts.
func (w *raceWriter) files(asked []raceFile) ([]iceberg.DataFile, error) {
	made := []iceberg.DataFile{}
	for _, one := range asked {
		content, format := iceberg.EntryContentData, iceberg.ParquetFile
		switch one.Kind {
		case "position":
			content = iceberg.EntryContentPosDeletes
		case "equality":
			content = iceberg.EntryContentEqDeletes
		case "vector":
			content, format = iceberg.EntryContentPosDeletes, iceberg.PuffinFile
		}
		spec := w.table.Metadata().PartitionSpecs()[one.Spec]
		partition := map[int]any{}
		for _, field := range spec.Fields() {
			value, err := one.value(field)
			if err != nil {
				return nil, err
			}
			partition[field.FieldID] = value
		}
		builder, err := iceberg.NewDataFileBuilder(spec, content, w.place(one.Name), format, partition, nil, nil, one.Rows, 100*one.Rows)
		if err != nil {
			return nil, err
		}
		switch {
		case one.Kind == "" && !w.byScore:
			counts, nulls := map[int]int64{2: one.Rows}, map[int]int64{2: 0}
			if one.Part == nil {
				nulls[2] = one.Rows
			} else {
				bound := map[int][]byte{2: []byte(*one.Part)}
				builder.LowerBoundValues(bound).UpperBoundValues(bound)
			}
			builder.ValueCounts(counts).NullValueCounts(nulls)
		case one.Kind == "" && one.Part != nil && *one.Part == "NaN":
			counts := map[int]int64{3: one.Rows}
			builder.ValueCounts(counts).NaNValueCounts(counts).NullValueCounts(map[int]int64{3: 0})
		case one.Kind == "equality":
			builder.EqualityFieldIDs([]int{1})
		case one.Of != "":
			referenced, err := w.known(table.MainBranch, []string{one.Of})
			if err != nil {
				return nil, err
			}
			place := w.place(one.Of)
			if len(referenced) > 0 { // the files of an existing table are elsewhere
				place = referenced[0].FilePath()
			}
			builder.ReferencedDataFile(place)
		}
		if one.Kind == "vector" {
			builder.ContentOffset(4).ContentSizeInBytes(40)
		}
		made = append(made, builder.Build())
	}
	return made, nil
}

// known returns the files of the loaded table that have the names.
func (w *raceWriter) known(branch string, names []string) ([]iceberg.DataFile, error) {
	found := []iceberg.DataFile{}
	snapshot := w.table.SnapshotByName(branch)
	if snapshot == nil || len(names) == 0 {
		return found, nil
	}
	err := entriesOf(*snapshot, func(entry iceberg.ManifestEntry) {
		if slices.Contains(names, path.Base(entry.DataFile().FilePath())) {
			found = append(found, entry.DataFile())
		}
	})
	return found, err
}

func entriesOf(snapshot table.Snapshot, see func(iceberg.ManifestEntry)) error {
	manifests, err := snapshot.Manifests(iceio.LocalFS{})
	if err != nil {
		return err
	}
	for _, manifest := range manifests {
		for entry, err := range manifest.Entries(iceio.LocalFS{}, true) {
			if err != nil {
				return err
			}
			see(entry)
		}
	}
	return nil
}

func (m *memoryCatalog) tableForm() (map[string]any, error) {
	refs, ranges := map[string]any{}, map[[2]int64]string{}
	rowIDs := "none"
	for name, ref := range m.metadata.Refs() {
		snapshot := m.metadata.SnapshotByID(ref.SnapshotID)
		files := map[string]long{}
		err := entriesOf(*snapshot, func(entry iceberg.ManifestEntry) {
			file := entry.DataFile()
			files[path.Base(file.FilePath())] = long(entry.SequenceNum())
			if snapshot.FirstRowID == nil || file.ContentType() != iceberg.EntryContentData {
				return
			}
			if first := file.FirstRowID(); first == nil {
				rowIDs = "missing"
			} else if other, taken := ranges[[2]int64{*first, *first + file.Count()}]; taken && other != file.FilePath() {
				rowIDs = "overlapping"
			} else {
				ranges[[2]int64{*first, *first + file.Count()}] = file.FilePath()
			}
		})
		if err != nil {
			return nil, err
		}
		line := []any{}
		for at := snapshot; at != nil; {
			if at.Summary == nil {
				line = append(line, nil)
			} else {
				line = append(line, at.Summary.Operation)
			}
			if at.ParentSnapshotID == nil {
				break
			}
			at = m.metadata.SnapshotByID(*at.ParentSnapshotID)
		}
		slices.Reverse(line)
		refs[name] = map[string]any{"type": ref.SnapshotRefType, "operations": line, "files": files}
	}
	schema := m.metadata.CurrentSchema()
	spec, columns, partition, sorted := m.metadata.PartitionSpec(), []string{}, []string{}, []string{}
	for _, field := range schema.Fields() {
		columns = append(columns, field.Name)
	}
	for _, field := range spec.Fields() {
		partition = append(partition, field.Name)
	}
	order := m.metadata.SortOrder()
	for _, field := range order.Fields() {
		name, _ := schema.FindColumnName(field.SourceID())
		sorted = append(sorted, name)
	}
	properties := map[string]string{}
	for name, value := range m.metadata.Properties() {
		if strings.HasPrefix(name, "race.") {
			properties[name] = value
		}
	}
	if rowIDs == "none" && len(ranges) > 0 {
		rowIDs = apart(ranges)
	}
	return map[string]any{
		"format-version": m.metadata.Version(), "last-sequence-number": long(m.metadata.LastSequenceNumber()),
		"columns": columns, "spec": partition, "sort": sorted, "properties": properties, "refs": refs,
		"statistics": m.statistics(), "snapshots": len(m.metadata.Snapshots()), "row-ids": rowIDs,
	}, nil
}

// statistics returns the numbers of the snapshots that have statistics.
func (m *memoryCatalog) statistics() []int {
	numbers := []int{}
	for file := range m.metadata.Statistics() {
		numbers = append(numbers, slices.Index(m.snapshots, file.SnapshotID)+1)
	}
	slices.Sort(numbers)
	return numbers
}

// apart classifies ranges of row ids as disjoint or overlapping.
func apart(ranges map[[2]int64]string) string {
	sorted := [][2]int64{}
	for one := range ranges {
		sorted = append(sorted, one)
	}
	slices.SortFunc(sorted, func(a, b [2]int64) int { return int(a[0] - b[0]) })
	for place := 1; place < len(sorted); place++ {
		if sorted[place-1][1] > sorted[place][0] {
			return "overlapping"
		}
	}
	return "disjoint"
}
