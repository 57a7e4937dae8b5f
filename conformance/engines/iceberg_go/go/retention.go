package main

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/apache/iceberg-go/table"
)

// Expiry of snapshots, in a transaction that is not committed.

type retentionArgs struct {
	Metadata json.RawMessage `json:"metadata"`
	Now      int64           `json:"now_ms"`
}

// How long before its time a table is prepared for expiry, at least, and how often that is tried with one millisecond
// more, as the library reads the clock.
const (
	leadMs = 3
	tries  = 100
)

// retentionExpire cannot set the clock of the machine. Therefore it moves all times of the table, so that the clock
// shows the requested time from when the library begins until it ends.
func retentionExpire(args retentionArgs) (any, error) {
	for lead := range int64(tries) {
		begin := time.Now().UnixMilli() + leadMs + lead
		moved, err := movedTimes(args.Metadata, begin-args.Now)
		if err != nil {
			return nil, err
		}
		metadata, err := table.ParseMetadataBytes(moved)
		if err != nil {
			return nil, err
		}
		transaction := table.New(raced, metadata, "metadata.json", localFiles, nil).NewTransaction()
		for time.Now().UnixMilli() < begin {
		}
		if err := transaction.ExpireSnapshots(); err != nil {
			return nil, err
		}
		if time.Now().UnixMilli() == begin {
			return remaining(transaction)
		}
	}
	return nil, errors.Join(errArguments, errors.New("the library took longer than a millisecond each time"))
}

func remaining(transaction *table.Transaction) (any, error) {
	metadata, err := staged(transaction)
	if err != nil {
		return nil, err
	}
	ids, names := []long{}, []string{}
	for _, snapshot := range metadata.Snapshots() {
		ids = append(ids, long(snapshot.SnapshotID))
	}
	for name := range metadata.Refs() {
		names = append(names, name)
	}
	return map[string]any{"snapshots": ids, "refs": names}, nil
}

func movedTimes(raw json.RawMessage, by int64) ([]byte, error) {
	decoder := json.NewDecoder(strings.NewReader(string(raw)))
	decoder.UseNumber()
	var document any
	if err := decoder.Decode(&document); err != nil {
		return nil, err
	}
	moveTimes(document, by)
	return json.Marshal(document)
}

func moveTimes(value any, by int64) {
	switch known := value.(type) {
	case []any:
		for _, item := range known {
			moveTimes(item, by)
		}
	case map[string]any:
		for name, member := range known {
			if number, ok := member.(json.Number); ok && (name == "timestamp-ms" || name == "last-updated-ms") {
				if count, err := number.Int64(); err == nil {
					known[name] = count + by
				}
			}
			moveTimes(member, by)
		}
	}
}
