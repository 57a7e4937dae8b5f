package main

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"github.com/apache/iceberg-go/table/compaction"
)

// Operations of scripts that the library has under other names: equality deletes, and files that are rewritten.

// deleteEqual deletes the rows that equal one of the given rows in the columns of these.
func deleteEqual(ctx context.Context, loaded *table.Table, transaction *table.Transaction, names []string, rows []row) error {
	schema := loaded.Schema()
	chosen, ids := []iceberg.NestedField{}, []int{}
	for _, field := range schema.Fields() {
		if slices.Contains(names, field.Name) {
			field.WriteDefault = nil
			chosen, ids = append(chosen, field), append(ids, field.ID)
		}
	}
	spec := loaded.Spec()
	for _, field := range spec.Fields() {
		if !slices.Contains(ids, field.SourceIDs[0]) {
			return unsupported("equality deletes belong to a partition, which the keys do not name")
		}
	}
	keys := make([]row, len(rows))
	for place, one := range rows {
		keys[place] = row{}
		for _, field := range chosen {
			if value, given := one[field.Name]; given {
				keys[place][field.Name] = value
			}
		}
	}
	records, err := recordsOf(iceberg.NewSchema(schema.ID, chosen...), keys)
	if err != nil {
		return err
	}
	each := func(yield func(arrow.RecordBatch, error) bool) {
		for records.Next() && yield(records.RecordBatch(), nil) {
		}
	}
	return transaction.CommitEqualityDeletes(ctx, ids, each, nil)
}

// rewritten stages one of the operations, if it is one of them.
func (w *scriptWriter) rewritten(ctx context.Context, loaded *table.Table, transaction *table.Transaction, asked scripted) error {
	switch asked.Op {
	case "delete-equal":
		names := []string{}
		for name := range asked.Rows[0] {
			names = append(names, name)
		}
		return deleteEqual(ctx, loaded, transaction, names, asked.Rows)
	case "upsert":
		if err := deleteEqual(ctx, loaded, transaction, asked.On, asked.Rows); err != nil {
			return err
		}
		rows, err := recordsOf(loaded.Schema(), asked.Rows)
		if err != nil {
			return err
		}
		return transaction.Append(ctx, rows, nil)
	case "rewrite-manifests":
		_, err := transaction.RewriteManifests(ctx)
		return err
	case "compact":
		if branchOf(asked) != "main" {
			return unsupported("the scan that is compacted is of main")
		}
		return compact(ctx, loaded, transaction)
	case "fast-forward":
		var branch string
		if err := json.Unmarshal(asked.To, &branch); err != nil {
			return err
		}
		head := w.catalog.metadata.SnapshotByName(branch)
		if head == nil {
			return unsupported("references are to snapshots")
		}
		update := table.NewSetSnapshotRefUpdate("main", head.SnapshotID, table.BranchRef, 0, 0, 0)
		_, _, err := w.catalog.CommitTable(ctx, raced, nil, []table.Update{update})
		return err
	}
	return unsupported("the library has no " + asked.Op)
}

// compact rewrites the files of the library's plan, for which two files, or one delete, are enough.
func compact(ctx context.Context, loaded *table.Table, transaction *table.Transaction) error {
	config := compaction.DefaultConfig()
	config.MinInputFiles, config.DeleteFileThreshold = 2, 1
	plan, err := compaction.Analyze(ctx, loaded, config)
	if err != nil {
		return err
	}
	groups := []table.CompactionTaskGroup{}
	for _, group := range plan.Groups {
		groups = append(groups, table.CompactionTaskGroup{
			PartitionKey: group.PartitionKey, Tasks: group.Tasks, TotalSizeBytes: group.TotalSizeBytes,
		})
	}
	if len(groups) == 0 {
		return nil
	}
	_, err = transaction.RewriteDataFiles(ctx, groups, table.RewriteDataFilesOptions{})
	return err
}
