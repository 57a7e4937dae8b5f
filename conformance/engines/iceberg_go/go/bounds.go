package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
)

// Bounds that the library computes only for files that it writes, without a public function: shortened ones, and those
// of geometries. Therefore a file of one row is written.

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
	lower, upper, err := boundsOf(typ, args.Value, fmt.Sprintf("truncate(%d)", args.Width))
	if args.Side == "upper" {
		lower = upper
	}
	if err != nil || lower == nil {
		return nil, err
	}
	value, err := iceberg.LiteralFromBytes(typ, lower)
	return exchangeForm(typ, value), err
}

// boundsOf returns the bounds of a file of one row; nil if it has none.
func boundsOf(typ iceberg.Type, value json.RawMessage, metrics string) (lower, upper []byte, err error) {
	folder, err := os.MkdirTemp("", "iceberg-go-bounds")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(folder)
	schema := iceberg.NewSchema(0, iceberg.NestedField{ID: 1, Name: "f", Type: typ})
	properties := iceberg.Properties{"format-version": "3", "write.metadata.metrics.default": metrics}
	metadata, err := table.NewMetadata(schema, iceberg.UnpartitionedSpec, table.UnsortedSortOrder, folder, properties)
	if err != nil {
		return nil, nil, err
	}
	rows, err := recordsOf(schema, []row{{"f": value}})
	if err != nil {
		return nil, nil, err
	}
	transaction := table.New(raced, metadata, "metadata.json", localFiles, nil).NewTransaction()
	if err := transaction.Append(context.Background(), rows, nil); err != nil {
		return nil, nil, err
	}
	made, err := staged(transaction)
	if err != nil {
		return nil, nil, err
	}
	err = entriesOf(*made.CurrentSnapshot(), func(entry iceberg.ManifestEntry) {
		lower, upper = entry.DataFile().LowerBoundValues()[1], entry.DataFile().UpperBoundValues()[1]
	})
	return lower, upper, err
}

// pointBound returns the bound of a column that has one point.
func pointBound(typ iceberg.Type, value json.RawMessage) (any, error) {
	lower, _, err := boundsOf(typ, value, "full")
	if err == nil && lower == nil {
		err = fmt.Errorf("%s has no bound", value)
	}
	return upperHex(lower), err
}

// point returns the well-known binary of coordinates.
func point(typ iceberg.Type, raw json.RawMessage) ([]byte, error) {
	var at struct{ X, Y, Z, M *float64 }
	if err := json.Unmarshal(raw, &at); err != nil || at.X == nil || at.Y == nil {
		return nil, noForm(typ)
	}
	kind, coordinates := uint32(1), []float64{*at.X, *at.Y}
	for place, more := range []*float64{at.Z, at.M} {
		if more != nil {
			kind, coordinates = kind+1000*uint32(place+1), append(coordinates, *more)
		}
	}
	data := binary.LittleEndian.AppendUint32([]byte{1}, kind)
	for _, one := range coordinates {
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(one))
	}
	return data, nil
}
