package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/iceberg-go"
	iceio "github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/table"
)

// Operations on rows: scans of a metadata file, their plans and the Arrow records that they read.

type scanArgs struct {
	Table     string                     `json:"table"`
	Snapshot  *long                      `json:"snapshot"`
	Ref       *string                    `json:"ref"`
	Timestamp *int64                     `json:"timestamp_ms"`
	Select    []string                   `json:"select"`
	Filter    json.RawMessage            `json:"filter"`
	Types     map[string]json.RawMessage `json:"types"`
}

func localFiles(context.Context) (iceio.IO, error) { return iceio.LocalFS{}, nil }

func scanOf(args scanArgs) (*table.Scan, error) {
	loaded, err := table.NewFromLocation(context.Background(), table.Identifier{"db", "table"}, args.Table, localFiles, nil)
	if err != nil {
		return nil, err
	}
	options := []table.ScanOption{}
	past := loaded.CurrentSnapshot()
	switch {
	case args.Snapshot != nil:
		options = append(options, table.WithSnapshotID(int64(*args.Snapshot)))
		past = loaded.SnapshotByID(int64(*args.Snapshot))
	case args.Timestamp != nil:
		options = append(options, table.WithSnapshotAsOf(*args.Timestamp))
		past = loaded.SnapshotAsOf(*args.Timestamp, true)
	case args.Ref != nil:
		past = loaded.SnapshotByName(*args.Ref)
	}
	if args.Select != nil {
		options = append(options, table.WithSelectedFields(args.Select...))
	}
	if args.Filter != nil {
		schema := loaded.Schema()
		if past != nil && past.SchemaID != nil && (args.Snapshot != nil || args.Timestamp != nil || isTag(loaded, args.Ref)) {
			schema = loaded.Schemas()[*past.SchemaID]
		}
		predicate, err := predicateOf(args.Filter, schema)
		if err != nil {
			return nil, err
		}
		options = append(options, table.WithRowFilter(predicate))
	}
	scan := loaded.Scan(options...)
	if args.Ref != nil {
		return scan.UseRef(*args.Ref)
	}
	return scan, nil
}

func isTag(loaded *table.Table, name *string) bool {
	for found, ref := range loaded.Metadata().Refs() {
		if name != nil && found == *name {
			return ref.SnapshotRefType == table.TagRef
		}
	}
	return false
}

type plannedDelete struct {
	Path   string `json:"path"`
	Offset *long  `json:"content_offset,omitempty"`
}

type plannedFile struct {
	Path    string          `json:"data_file"`
	Deletes []plannedDelete `json:"delete_files"`
}

func scanPlan(args scanArgs) (any, error) {
	scan, err := scanOf(args)
	if err != nil {
		return nil, err
	}
	tasks, err := scan.PlanFiles(context.Background())
	if err != nil {
		return nil, err
	}
	files := []plannedFile{}
	for _, task := range tasks {
		file := plannedFile{task.File.FilePath(), []plannedDelete{}}
		for _, one := range slices.Concat(task.DeleteFiles, task.EqualityDeleteFiles, task.DeletionVectorFiles) {
			file.Deletes = append(file.Deletes, plannedDelete{one.FilePath(), pointer(one.ContentOffset(), toLong)})
		}
		if !slices.ContainsFunc(files, func(other plannedFile) bool { return other.Path == file.Path }) {
			files = append(files, file)
		}
	}
	return map[string]any{"files": files}, nil
}

func tableRead(args scanArgs) (any, error) {
	for _, name := range args.Select {
		if name == "_file" || name == "_pos" {
			return nil, unsupported("the library has no column " + name)
		}
	}
	types := map[string]iceberg.Type{}
	for name, raw := range args.Types {
		typ, err := columnType(raw)
		if err != nil {
			return nil, err
		}
		types[name] = typ
	}
	scan, err := scanOf(args)
	if err != nil {
		return nil, err
	}
	_, batches, err := scan.ToArrowRecords(context.Background())
	if err != nil {
		return nil, err
	}
	rows := []map[string]any{}
	for batch, err := range batches {
		if err != nil {
			return nil, err
		}
		for place := range int(batch.NumRows()) {
			row := map[string]any{}
			for at, field := range batch.Schema().Fields() {
				row[field.Name] = cell(types[field.Name], batch.Column(at), place)
			}
			rows = append(rows, row)
		}
		batch.Release()
	}
	return map[string]any{"rows": rows}, nil
}

// cell returns the exchange form of one value of an Arrow array that stands for the type.
func cell(typ iceberg.Type, column arrow.Array, at int) any {
	if column.IsNull(at) {
		return nil
	}
	switch known := column.(type) {
	case *array.Null:
		return nil
	case array.ExtensionArray:
		if variant, ok := known.(interface{ Storage() arrow.Array }); ok {
			return cell(typ, variant.Storage(), at)
		}
	case *array.Dictionary:
		return cell(typ, known.Dictionary(), known.GetValueIndex(at))
	case *array.Boolean:
		return known.Value(at)
	case *array.Int8:
		return whole(typ, int64(known.Value(at)))
	case *array.Int16:
		return whole(typ, int64(known.Value(at)))
	case *array.Int32:
		return whole(typ, int64(known.Value(at)))
	case *array.Int64:
		return whole(typ, known.Value(at))
	case *array.Date32:
		return whole(typ, int64(known.Value(at)))
	case *array.Time64:
		return counts(typ, int64(known.Value(at)), known.DataType().(*arrow.Time64Type).Unit)
	case *array.Timestamp:
		return counts(typ, int64(known.Value(at)), known.DataType().(*arrow.TimestampType).Unit)
	case *array.Float32:
		return exchangeForm(typ, known.Value(at))
	case *array.Float64:
		return exchangeForm(typ, known.Value(at))
	case *array.Decimal128:
		return decimalText(known.Value(at).BigInt(), int(known.DataType().(*arrow.Decimal128Type).Scale))
	case *array.Decimal64:
		return decimalText(big.NewInt(int64(known.Value(at))), int(known.DataType().(*arrow.Decimal64Type).Scale))
	case *array.Decimal32:
		return decimalText(big.NewInt(int64(known.Value(at))), int(known.DataType().(*arrow.Decimal32Type).Scale))
	case *array.String:
		return known.Value(at)
	case *array.LargeString:
		return known.Value(at)
	case *array.Binary:
		return exchangeForm(typ, known.Value(at))
	case *array.LargeBinary:
		return exchangeForm(typ, known.Value(at))
	case *array.FixedSizeBinary:
		return exchangeForm(typ, known.Value(at))
	case *array.Struct:
		return structCell(typ, known, at)
	case *array.Map:
		first, end := known.ValueOffsets(at)
		keys, values := []any{}, []any{}
		var fields [2]iceberg.Type
		if nested, ok := typ.(*iceberg.MapType); ok {
			fields = [2]iceberg.Type{nested.KeyType, nested.ValueType}
		}
		for place := int(first); place < int(end); place++ {
			keys = append(keys, cell(fields[0], known.Keys(), place))
			values = append(values, cell(fields[1], known.Items(), place))
		}
		return map[string]any{"keys": keys, "values": values}
	case array.ListLike:
		first, end := known.ValueOffsets(at)
		items := []any{}
		var element iceberg.Type
		if nested, ok := typ.(*iceberg.ListType); ok {
			element = nested.Element
		}
		for place := int(first); place < int(end); place++ {
			items = append(items, cell(element, known.ListValues(), place))
		}
		return items
	}
	return fmt.Sprintf("%s %s", column.DataType(), column.ValueStr(at))
}

// structCell returns an object by field id; of a variant, its two buffers.
func structCell(typ iceberg.Type, column *array.Struct, at int) any {
	made := map[string]any{}
	nested, isStruct := typ.(*iceberg.StructType)
	for place, field := range column.DataType().(*arrow.StructType).Fields() {
		name, inner := field.Name, iceberg.Type(iceberg.BinaryType{})
		if isStruct {
			for _, one := range nested.Fields() {
				if one.Name == field.Name {
					name, inner = strconv.Itoa(one.ID), one.Type
				}
			}
		}
		made[name] = cell(inner, column.Field(place), at)
	}
	return made
}

// counts returns the exchange form of dates and times, which Arrow counts in its units.
func counts(typ iceberg.Type, value int64, unit arrow.TimeUnit) any {
	have := 3 * int(unit)
	wanted := 6
	switch typ.(type) {
	case iceberg.TimestampNsType, iceberg.TimestampTzNsType:
		wanted = 9
	}
	if have > wanted {
		if rest := value % power(have-wanted); rest != 0 {
			return fmt.Sprintf("%v and %d of %s", whole(typ, floorDiv(value, power(have-wanted))), rest, unit)
		}
		return whole(typ, value/power(have-wanted))
	}
	return whole(typ, value*power(wanted-have))
}
