package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
)

// Tables that are written or changed by a script: one transaction for each operation, on a catalog that keeps every
// metadata file.

type writeArgs struct {
	Table  string `json:"table"`
	Script struct {
		Operations []json.RawMessage `json:"operations"`
	} `json:"script"`
}

type changeArgs struct {
	Table      string            `json:"table"`
	Operations []json.RawMessage `json:"operations"`
	History    []*long           `json:"history"`
}

type scripted struct {
	Op            string            `json:"op"`
	Branch        string            `json:"branch"`
	FormatVersion int               `json:"format_version"`
	Schema        *iceberg.Schema   `json:"schema"`
	Partition     []scriptedField   `json:"partition"`
	Sort          []scriptedField   `json:"sort"`
	Fields        []scriptedField   `json:"fields"`
	Properties    map[string]string `json:"properties"`
	Set           json.RawMessage   `json:"set"`
	Remove        []string          `json:"remove"`
	Rows          []row             `json:"rows"`
	On            []string          `json:"on"`
	Filter        json.RawMessage   `json:"filter"`
	Mode          string            `json:"mode"`
	Changes       []json.RawMessage `json:"changes"`
	Name          string            `json:"name"`
	At            *int              `json:"at"`
	To            json.RawMessage   `json:"to"`
}

type scriptedField struct {
	Source    string `json:"source"`
	Transform string `json:"transform"`
	Name      string `json:"name"`
	Direction string `json:"direction"`
	NullOrder string `json:"null_order"`
}

type row = map[string]json.RawMessage

func tableWrite(args writeArgs) (any, error) {
	return (&scriptWriter{folder: args.Table}).follow(args.Script.Operations)
}

func tableChange(args changeArgs) (any, error) {
	loaded, err := table.NewFromLocation(context.Background(), raced, args.Table, localFiles, nil)
	if err != nil {
		return nil, err
	}
	folder := strings.TrimPrefix(loaded.Metadata().Location(), "file://")
	catalog := &memoryCatalog{
		folder: filepath.Join(folder, "metadata"), place: args.Table, keeps: true, metadata: loaded.Metadata(),
	}
	return (&scriptWriter{folder: folder, catalog: catalog, main: args.History}).follow(args.Operations)
}

type scriptWriter struct {
	folder    string
	catalog   *memoryCatalog
	snapshots []*long
	main      []*long // the snapshot of main after each operation, earlier ones included
	locations []string
}

func (w *scriptWriter) follow(operations []json.RawMessage) (any, error) {
	for _, raw := range operations {
		var asked scripted
		if err := json.Unmarshal(raw, &asked); err != nil {
			return nil, err
		}
		if err := w.perform(asked); err != nil {
			return nil, fmt.Errorf("operation %d, %s: %w", len(w.main), asked.Op, err)
		}
		w.snapshots = append(w.snapshots, w.head(branchOf(asked)))
		w.main = append(w.main, w.head(table.MainBranch))
		w.locations = append(w.locations, w.catalog.location())
	}
	return map[string]any{
		"metadata": w.catalog.location(), "snapshots": w.snapshots, "locations": w.locations,
	}, nil
}

// head returns the current snapshot of a branch.
func (w *scriptWriter) head(branch string) *long {
	if snapshot := w.catalog.metadata.SnapshotByName(branch); snapshot != nil {
		return pointer(&snapshot.SnapshotID, toLong)
	}
	return nil
}

// mainAt returns the snapshot that main had after an operation.
func (w *scriptWriter) mainAt(place int) (*long, error) {
	if place < 0 || place >= len(w.main) || w.main[place] == nil {
		return nil, fmt.Errorf("main had no snapshot after operation %d", place)
	}
	return w.main[place], nil
}

func (w *scriptWriter) perform(asked scripted) error {
	if asked.Op == "create" {
		return w.create(asked)
	}
	if branch := branchOf(asked); branch != table.MainBranch && w.head(branch) == nil { // the library creates it
		return fmt.Errorf("there is no branch %s", branch)
	}
	ctx := context.Background()
	if asked.Op == "delete" && asked.Mode != "" { // a property of the table, which the script does not set
		update := table.NewSetPropertiesUpdate(iceberg.Properties{table.WriteDeleteModeKey: asked.Mode})
		if _, _, err := w.catalog.CommitTable(ctx, raced, nil, []table.Update{update}); err != nil {
			return err
		}
	}
	loaded, err := w.catalog.LoadTable(ctx, raced)
	if err != nil {
		return err
	}
	transaction := loaded.NewTransactionOnBranch(branchOf(asked))
	if asked.Op == "alter-schema" || asked.Op == "alter-spec" {
		return w.alter(ctx, transaction, asked)
	}
	if err := w.stage(ctx, loaded, transaction, asked); err != nil {
		return err
	}
	_, err = transaction.Commit(ctx)
	return err
}

func (w *scriptWriter) stage(ctx context.Context, loaded *table.Table, transaction *table.Transaction, asked scripted) error {
	switch asked.Op {
	case "append":
		if format := loaded.Properties().Get("write.format.default", "parquet"); format != "parquet" {
			return unsupported("the library writes no " + format)
		}
		rows, err := recordsOf(loaded.Schema(), asked.Rows)
		if err != nil {
			return err
		}
		return transaction.Append(ctx, rows, nil)
	case "overwrite", "delete":
		filter, err := predicateOf(asked.Filter, loaded.Schema())
		if err != nil {
			return err
		}
		if asked.Op == "overwrite" {
			rows, err := recordsOf(loaded.Schema(), asked.Rows)
			if err != nil {
				return err
			}
			return transaction.Overwrite(ctx, rows, nil, table.WithOverwriteFilter(filter))
		}
		return transaction.Delete(ctx, filter, nil)
	case "sort":
		order, err := orderOf(loaded.Schema(), asked.Fields)
		if err != nil {
			return err
		}
		return transaction.ReplaceSortOrder(order)
	case "upgrade":
		return transaction.UpgradeFormatVersion(asked.FormatVersion)
	case "properties":
		set := iceberg.Properties{}
		if asked.Set != nil {
			if err := json.Unmarshal(asked.Set, &set); err != nil {
				return err
			}
		}
		if err := removeAll(transaction, asked.Remove); err != nil {
			return err
		}
		return transaction.SetProperties(set)
	case "rollback":
		var to int
		if err := json.Unmarshal(asked.To, &to); err != nil {
			return err
		}
		id, err := w.mainAt(to)
		if err != nil {
			return err
		}
		return transaction.RollbackToSnapshot(int64(*id))
	case "expire":
		return transaction.ExpireSnapshots(table.WithOlderThan(0), table.WithRetainLast(1), table.WithPostCommit(false))
	case "branch", "tag":
		at, err := w.head(table.MainBranch), error(nil)
		if asked.At != nil {
			at, err = w.mainAt(*asked.At)
		}
		if err != nil {
			return err
		}
		if at == nil {
			return errors.New("main has no snapshot")
		}
		update := table.NewSetSnapshotRefUpdate(asked.Name, int64(*at), table.RefType(asked.Op), 0, 0, 0)
		_, _, err = w.catalog.CommitTable(ctx, raced, nil, []table.Update{update})
		return err
	}
	return w.rewritten(ctx, loaded, transaction, asked)
}

// altering is an update of a schema or spec.
type altering interface {
	BuildUpdates() ([]table.Update, []table.Requirement, error)
	Commit() error
}

// alter commits all changes of a schema or spec at once. Each builds on the earlier ones, so each is a separate
// update. A transaction can commit only one, as it would also require that the table has the schemas in between.
func (w *scriptWriter) alter(ctx context.Context, transaction *table.Transaction, asked scripted) error {
	updates, required := []table.Update{}, []table.Requirement{}
	for _, raw := range asked.Changes {
		one, err := alteration(transaction, asked.Op, raw)
		if err != nil {
			return err
		}
		made, requires, err := one.BuildUpdates()
		if err != nil {
			return err
		}
		if len(updates) == 0 {
			required = requires
		}
		updates = append(updates, made...)
		staged, err := alteration(transaction, asked.Op, raw) // as an update can be built only once
		if err != nil {
			return err
		}
		if err := staged.Commit(); err != nil {
			return err
		}
	}
	if len(updates) == 0 {
		return nil
	}
	_, _, err := w.catalog.CommitTable(ctx, raced, required, updates)
	return err
}

func alteration(transaction *table.Transaction, op string, raw json.RawMessage) (altering, error) {
	if op == "alter-spec" {
		var one struct{ Op, Source, Transform, Name, To string }
		if err := json.Unmarshal(raw, &one); err != nil {
			return nil, err
		}
		update := transaction.UpdateSpec(true)
		switch one.Op {
		case "add":
			function, err := iceberg.ParseTransform(one.Transform)
			return update.AddField(one.Source, function, one.Name), err
		case "remove":
			return update.RemoveField(one.Name), nil
		}
		return update.RenameField(one.Name, one.To), nil
	}
	var one change
	if err := json.Unmarshal(raw, &one); err != nil {
		return nil, err
	}
	if one.Op == "optional" {
		column := table.ColumnUpdate{Required: iceberg.Optional[bool]{Val: false, Valid: true}}
		return transaction.UpdateSchema(true, false).UpdateColumn([]string{one.Name}, column), nil
	}
	return schemaChange(transaction, one)
}

func branchOf(asked scripted) string {
	if asked.Branch == "" {
		return table.MainBranch
	}
	return asked.Branch
}

func (w *scriptWriter) create(asked scripted) error {
	options := []iceberg.PartitionOption{}
	for _, field := range asked.Partition {
		function, err := iceberg.ParseTransform(field.Transform)
		if err != nil {
			return err
		}
		options = append(options, iceberg.AddPartitionFieldByName(field.Source, field.Name, function, asked.Schema, nil))
	}
	spec, err := iceberg.NewPartitionSpecOpts(options...)
	if err != nil {
		return err
	}
	order, err := orderOf(asked.Schema, asked.Sort)
	if err != nil {
		return err
	}
	properties := iceberg.Properties{"format-version": strconv.Itoa(asked.FormatVersion)}
	for name, value := range asked.Properties {
		properties[name] = value
	}
	metadata, err := table.NewMetadata(asked.Schema, &spec, order, w.folder, properties)
	if err != nil {
		return err
	}
	w.catalog = &memoryCatalog{folder: filepath.Join(w.folder, "metadata"), keeps: true}
	return w.catalog.set(metadata)
}

func orderOf(schema *iceberg.Schema, fields []scriptedField) (table.SortOrder, error) {
	if len(fields) == 0 {
		return table.UnsortedSortOrder, nil
	}
	made := []table.SortField{}
	for _, one := range fields {
		source, found := schema.FindFieldByName(one.Source)
		if !found {
			return table.UnsortedSortOrder, fmt.Errorf("no column %s", one.Source)
		}
		field := table.SortField{
			SourceIDs: []int{source.ID}, Transform: iceberg.IdentityTransform{}, Direction: table.SortASC, NullOrder: table.NullsFirst,
		}
		if one.Transform != "" {
			function, err := iceberg.ParseTransform(one.Transform)
			if err != nil {
				return table.UnsortedSortOrder, err
			}
			field.Transform = function
		}
		if one.Direction == "desc" {
			field.Direction, field.NullOrder = table.SortDESC, table.NullsLast
		}
		if one.NullOrder != "" {
			field.NullOrder = table.NullOrder(one.NullOrder)
		}
		made = append(made, field)
	}
	return table.NewSortOrder(1, made)
}

// recordsOf returns rows in the library's form.
func recordsOf(schema *iceberg.Schema, rows []row) (array.RecordReader, error) {
	arrowSchema, err := table.SchemaToArrowSchema(schema, nil, true, false)
	if err != nil {
		return nil, err
	}
	builder := array.NewRecordBuilder(memory.DefaultAllocator, arrowSchema)
	defer builder.Release()
	for _, one := range rows {
		for name := range one {
			if _, known := schema.FindFieldByName(name); !known {
				return nil, fmt.Errorf("no column %s", name)
			}
		}
		for place, field := range schema.Fields() {
			value, given := one[field.Name]
			if !given && field.WriteDefault != nil {
				if value, err = json.Marshal(field.WriteDefault); err != nil {
					return nil, err
				}
			}
			if err := put(builder.Field(place), field.Type, value); err != nil {
				return nil, err
			}
		}
	}
	return array.NewRecordReader(arrowSchema, []arrow.RecordBatch{builder.NewRecordBatch()})
}

// put appends a value in exchange form, in which structs have the names of their fields.
func put(builder array.Builder, typ iceberg.Type, raw json.RawMessage) error {
	if len(raw) == 0 || string(raw) == "null" {
		builder.AppendNull()
		return nil
	}
	switch nested := typ.(type) {
	case *iceberg.StructType:
		var members row
		if err := json.Unmarshal(raw, &members); err != nil {
			return err
		}
		into := builder.(*array.StructBuilder)
		into.Append(true)
		for place, field := range nested.Fields() {
			if err := put(into.FieldBuilder(place), field.Type, members[field.Name]); err != nil {
				return err
			}
		}
		return nil
	case *iceberg.ListType:
		var items []json.RawMessage
		if err := json.Unmarshal(raw, &items); err != nil {
			return err
		}
		into := builder.(array.ListLikeBuilder)
		into.Append(true)
		return putAll(into.ValueBuilder(), nested.Element, items)
	case *iceberg.MapType:
		var pairs struct{ Keys, Values []json.RawMessage }
		if err := json.Unmarshal(raw, &pairs); err != nil {
			return err
		}
		into := builder.(*array.MapBuilder)
		into.Append(true)
		if err := putAll(into.KeyBuilder(), nested.KeyType, pairs.Keys); err != nil {
			return err
		}
		return putAll(into.ItemBuilder(), nested.ValueType, pairs.Values)
	case iceberg.GeometryType, iceberg.GeographyType:
		data, err := point(typ, raw)
		if err != nil {
			return err
		}
		return putLiteral(builder, iceberg.BinaryLiteral(data), raw)
	case iceberg.VariantType, iceberg.UnknownType:
		return unsupported("rows with " + typ.String() + " are not made here")
	}
	value, err := literal(typ, raw)
	if err != nil {
		return err
	}
	return putLiteral(builder, value, raw)
}

func putAll(builder array.Builder, typ iceberg.Type, items []json.RawMessage) error {
	for _, item := range items {
		if err := put(builder, typ, item); err != nil {
			return err
		}
	}
	return nil
}

func putLiteral(builder array.Builder, value iceberg.Literal, raw json.RawMessage) error {
	if extension, ok := builder.(interface{ StorageBuilder() array.Builder }); ok {
		return putLiteral(extension.StorageBuilder(), value, raw)
	}
	switch known := value.(type) {
	case iceberg.BoolLiteral:
		builder.(*array.BooleanBuilder).Append(bool(known))
	case iceberg.Int32Literal:
		builder.(*array.Int32Builder).Append(int32(known))
	case iceberg.Int64Literal:
		builder.(*array.Int64Builder).Append(int64(known))
	case iceberg.Float32Literal:
		builder.(*array.Float32Builder).Append(float32(known))
	case iceberg.Float64Literal:
		builder.(*array.Float64Builder).Append(float64(known))
	case iceberg.DecimalLiteral:
		builder.(*array.Decimal128Builder).Append(decimal128.Num(known.Val))
	case iceberg.DateLiteral:
		builder.(*array.Date32Builder).Append(arrow.Date32(known))
	case iceberg.TimeLiteral:
		builder.(*array.Time64Builder).Append(arrow.Time64(known))
	case iceberg.TimestampLiteral:
		builder.(*array.TimestampBuilder).Append(arrow.Timestamp(known))
	case iceberg.TimestampNsLiteral:
		builder.(*array.TimestampBuilder).Append(arrow.Timestamp(known))
	case iceberg.StringLiteral:
		builder.(array.StringLikeBuilder).Append(string(known))
	case iceberg.UUIDLiteral:
		builder.(*array.FixedSizeBinaryBuilder).Append(known[:])
	case iceberg.FixedLiteral:
		builder.(*array.FixedSizeBinaryBuilder).Append(known)
	case iceberg.BinaryLiteral:
		builder.(array.BinaryLikeBuilder).Append(known)
	default:
		return unsupported(fmt.Sprintf("no Arrow value is made of %s %s", hex.EncodeToString(raw), value))
	}
	return nil
}
