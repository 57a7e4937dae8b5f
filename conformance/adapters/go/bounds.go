package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
)

// Bounds that are shortened: the library does that to the metrics of files that it writes, and nowhere in public. So a file of
// one row is written.

type truncateArgs struct {
	Type  json.RawMessage `json:"type"`
	Value json.RawMessage `json:"value"`
	Width int             `json:"width"`
	Side  string          `json:"side"`
}

func boundTruncate(args truncateArgs) (any, error) {
	typ, err := columnType(args.Type)
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "iceberg-go-bounds")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	schema := iceberg.NewSchema(0, iceberg.NestedField{ID: 1, Name: "f", Type: typ})
	properties := iceberg.Properties{"write.metadata.metrics.default": fmt.Sprintf("truncate(%d)", args.Width)}
	metadata, err := table.NewMetadata(schema, iceberg.UnpartitionedSpec, table.UnsortedSortOrder, folder, properties)
	if err != nil {
		return nil, err
	}
	rows, err := recordsOf(schema, []row{{"f": args.Value}})
	if err != nil {
		return nil, err
	}
	transaction := table.New(raced, metadata, "metadata.json", localFiles, nil).NewTransaction()
	if err := transaction.Append(context.Background(), rows, nil); err != nil {
		return nil, err
	}
	made, err := staged(transaction)
	if err != nil {
		return nil, err
	}
	var bound any
	err = entriesOf(*made.CurrentSnapshot(), func(entry iceberg.ManifestEntry) {
		bounds := entry.DataFile().LowerBoundValues()
		if args.Side == "upper" {
			bounds = entry.DataFile().UpperBoundValues()
		}
		if data, found := bounds[1]; found {
			if value, err := iceberg.LiteralFromBytes(typ, data); err == nil {
				bound = told(typ, value)
			}
		}
	})
	return bound, err
}
