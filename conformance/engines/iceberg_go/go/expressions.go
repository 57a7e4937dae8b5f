package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
)

// Operations on predicates. The evaluation of rows is public. Pruning by metrics, partitions and summaries is private
// and visible only in plans of scans: so tables of one file are made, and a file that is planned is one that might
// match. A file all of whose rows match is one that a delete removes without reading it.

type predicateArgs struct {
	Schema    *iceberg.Schema            `json:"schema"`
	Spec      iceberg.PartitionSpec      `json:"spec"`
	Predicate json.RawMessage            `json:"predicate"`
	Row       map[string]json.RawMessage `json:"row"`
	Partition map[string]json.RawMessage `json:"partition"`
	Kind      string                     `json:"kind"`
	Metrics   fileForm                   `json:"metrics"`
	Summaries []summary                  `json:"summaries"`
}

// record converts a row to the library's form.
type record []any

func (r record) Size() int            { return len(r) }
func (r record) Get(pos int) any      { return r[pos] }
func (r record) Set(pos int, val any) { r[pos] = val }

func recordOf(fields []iceberg.NestedField, values map[string]json.RawMessage) (record, error) {
	made := make(record, len(fields))
	for place, field := range fields {
		value, err := literal(field.Type, values[strconv.Itoa(field.ID)])
		if err != nil {
			return nil, err
		}
		if value != nil {
			made[place] = value.Any()
		}
	}
	return made, nil
}

// predicateOf reads a predicate in the older JSON form, the one that the library has.
func predicateOf(raw json.RawMessage, schema *iceberg.Schema) (iceberg.BooleanExpression, error) {
	for _, newer := range []string{`"reference"`, `"apply"`, `"data-type"`} {
		if bytes.Contains(raw, []byte(newer)) {
			return nil, unsupported("the library reads the older JSON form of predicates")
		}
	}
	predicate, err := iceberg.ParseExpr(raw, schema)
	if err != nil {
		return nil, err
	}
	return predicate, nil
}

func expressionEvaluate(args predicateArgs) (any, error) {
	predicate, err := predicateOf(args.Predicate, args.Schema)
	if err != nil {
		return nil, err
	}
	return matched(args, predicate)
}

// matched returns whether the row matches a predicate.
func matched(args predicateArgs, predicate iceberg.BooleanExpression) (any, error) {
	matches, err := iceberg.ExpressionEvaluator(args.Schema, predicate, true)
	if err != nil {
		return nil, err
	}
	row, err := recordOf(args.Schema.Fields(), args.Row)
	if err != nil {
		return nil, err
	}
	return matches(row)
}

// planned returns whether a scan of a table with one manifest plans anything: its one file, or a manifest that is
// missing.
func planned(args predicateArgs, summaries []summary, file *fileForm) (bool, error) {
	tasks, err := plan(args, summaries, file)
	if file == nil && errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	return len(tasks) > 0, err
}

func plan(args predicateArgs, summaries []summary, file *fileForm) ([]table.FileScanTask, error) {
	var tasks []table.FileScanTask
	err := withTable(args, summaries, file, func(loaded *table.Table, predicate iceberg.BooleanExpression) (err error) {
		tasks, err = loaded.Scan(table.WithRowFilter(predicate)).PlanFiles(context.Background())
		return err
	})
	return tasks, err
}

// withTable calls a function with a table of one manifest, and with the predicate.
func withTable(args predicateArgs, summaries []summary, file *fileForm,
	do func(*table.Table, iceberg.BooleanExpression) error) error {
	predicate, err := predicateOf(args.Predicate, args.Schema)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "iceberg-go-plan")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	listPath, manifestPath := filepath.Join(folder, "list.avro"), filepath.Join(folder, "manifest.avro")
	one, number := int32(1), long(1)
	entry := listed{
		Path: manifestPath, SpecID: int32(args.Spec.ID()), SequenceNumber: &number, MinSequence: &number, SnapshotID: 1,
		AddedFiles: &one, ExistingFiles: new(int32), DeletedFiles: new(int32), AddedRows: &number,
		ExistingRows: new(long), DeletedRows: new(long), Partitions: summaries,
	}
	if file != nil {
		written, err := manifestWrite(manifestArgs{
			Schema: args.Schema, Spec: args.Spec, FormatVersion: 2, SnapshotID: 1,
			Entries: []entryForm{{Status: 1, SnapshotID: &number, DataFile: *file}},
		})
		if err != nil {
			return unsupported("the library does not write the manifest: " + err.Error())
		}
		if entry.Length, err = keep(manifestPath, written); err != nil {
			return err
		}
	}
	list, err := listWrite(manifestArgs{FormatVersion: 2, SnapshotID: 1, SequenceNumber: 1, Manifests: []listed{entry}})
	if err != nil {
		return err
	}
	if _, err := keep(listPath, list); err != nil {
		return err
	}
	metadata, err := tableOf(args, listPath)
	if err != nil {
		return err
	}
	loaded := table.New(table.Identifier{"db", "table"}, metadata, "metadata.json", localFiles, nil)
	return do(loaded, predicate)
}

// keep writes a file of bytes in hexadecimal, and returns its length.
func keep(path string, written any) (long, error) {
	data, err := hex.DecodeString(written.(string))
	if err != nil {
		return 0, err
	}
	return long(len(data)), os.WriteFile(path, data, 0o600)
}

// tableOf returns the metadata of a table with one snapshot.
func tableOf(args predicateArgs, list string) (table.Metadata, error) {
	const stamp = 1515100955770
	text, err := json.Marshal(map[string]any{
		"format-version": 2, "table-uuid": "fb072c92-a02b-11e9-ae9c-1bb7bc9eca94", "location": filepath.Dir(list),
		"last-updated-ms": stamp, "last-sequence-number": 1, "last-column-id": 1_000_000,
		"schemas": []any{args.Schema}, "current-schema-id": args.Schema.ID,
		"partition-specs": []any{args.Spec}, "default-spec-id": args.Spec.ID(), "last-partition-id": 1_000_000,
		"sort-orders":           []any{map[string]any{"order-id": 0, "fields": []any{}}},
		"default-sort-order-id": 0, "current-snapshot-id": 1,
		"refs": map[string]any{"main": map[string]any{"snapshot-id": 1, "type": "branch"}},
		"snapshots": []any{map[string]any{
			"snapshot-id": 1, "sequence-number": 1, "timestamp-ms": stamp, "schema-id": args.Schema.ID,
			"manifest-list": list, "summary": map[string]any{"operation": "append"},
		}},
	})
	if err != nil {
		return nil, err
	}
	return table.ParseMetadataBytes(text)
}

// fileOf returns a data file with metrics and a partition.
func fileOf(metrics fileForm, partition map[string]json.RawMessage) *fileForm {
	metrics.Path, metrics.Format, metrics.Size, metrics.Partition = "data.parquet", "parquet", 10, partition
	metrics.Records = max(metrics.Records, 1)
	return &metrics
}

func metricsEvaluate(args predicateArgs) (any, error) {
	args.Spec = *iceberg.UnpartitionedSpec
	if args.Kind != "inclusive" {
		return removed(args, fileOf(args.Metrics, nil))
	}
	return planned(args, nil, fileOf(args.Metrics, nil))
}

// removed returns whether a delete removes a file that cannot be read, as it does not exist.
func removed(args predicateArgs, file *fileForm) (bool, error) {
	gone := false
	err := withTable(args, nil, file, func(loaded *table.Table, predicate iceberg.BooleanExpression) error {
		transaction := loaded.NewTransaction()
		err := transaction.Delete(context.Background(), predicate, nil)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
		metadata, err := staged(transaction)
		if err != nil {
			return err
		}
		gone = true
		return entriesOf(*metadata.CurrentSnapshot(), func(iceberg.ManifestEntry) { gone = false })
	})
	return gone, err
}

func projectionEvaluate(args predicateArgs) (any, error) {
	if args.Kind != "inclusive" {
		return nil, unsupported("plans show what might match, and the library has no strict projection")
	}
	return planned(args, nil, fileOf(fileForm{}, args.Partition))
}

// summariesEvaluate plans a table whose manifest is missing: the library opens it if its files might match.
func summariesEvaluate(args predicateArgs) (any, error) { return planned(args, args.Summaries, nil) }

// residualEvaluate returns the residual of a task, which has none if it is the whole filter; of a file that is not
// planned no row matches.
func residualEvaluate(args predicateArgs) (any, error) {
	tasks, err := plan(args, nil, fileOf(fileForm{}, args.Partition))
	if err != nil || len(tasks) == 0 {
		return false, err
	}
	if tasks[0].Residual == nil {
		return expressionEvaluate(args)
	}
	return matched(args, tasks[0].Residual)
}
