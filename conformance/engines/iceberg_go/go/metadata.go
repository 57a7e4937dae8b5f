package main

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/apache/iceberg-go/table"
)

// Operations on table metadata. Answers are what the library's objects write as JSON.

type metadataArgs struct {
	Metadata      json.RawMessage `json:"metadata"`
	FormatVersion int             `json:"format_version"`
	Select        []string        `json:"select"`
}

// members are the members of the canonical form of a table.
var members = []string{
	"format-version", "table-uuid", "location", "last-sequence-number", "last-updated-ms", "last-column-id",
	"current-schema-id", "schemas", "default-spec-id", "partition-specs", "last-partition-id", "default-sort-order-id",
	"sort-orders", "properties", "current-snapshot-id", "snapshots", "refs", "snapshot-log", "metadata-log",
	"statistics", "partition-statistics", "next-row-id", "encryption-keys",
}

// parsed reads table metadata: the JSON object, or the text of a file where it holds none.
func parsed(raw json.RawMessage) (table.Metadata, error) {
	var text string
	if err := json.Unmarshal(raw, &text); err == nil {
		return table.ParseMetadataString(text)
	}
	return table.ParseMetadataBytes(raw)
}

func written(metadata table.Metadata) (map[string]any, error) {
	text, err := json.Marshal(metadata)
	if err != nil {
		return nil, err
	}
	form := map[string]any{}
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	return form, decoder.Decode(&form)
}

// canonical returns the canonical form of a table; v1 writes no sequence numbers and references, which the objects
// have.
func canonical(metadata table.Metadata) (map[string]any, error) {
	form, err := written(metadata)
	if err != nil {
		return nil, err
	}
	for name := range form {
		if !slices.Contains(members, name) {
			delete(form, name)
		}
	}
	form["last-sequence-number"] = metadata.LastSequenceNumber()
	if snapshots, ok := form["snapshots"].([]any); ok {
		for place, snapshot := range metadata.Snapshots() {
			snapshots[place].(map[string]any)["sequence-number"] = snapshot.SequenceNumber
		}
	}
	refs := map[string]any{}
	for name, ref := range metadata.Refs() {
		refs[name] = ref
	}
	form["refs"] = refs
	return form, nil
}

func selected(names []string, form map[string]any) map[string]any {
	if names == nil {
		return form
	}
	for name := range form {
		if !slices.Contains(names, name) {
			delete(form, name)
		}
	}
	return form
}

func upgraded(metadata table.Metadata, version int) (table.Metadata, error) {
	if metadata.Version() == version {
		return metadata, nil
	}
	builder, err := table.MetadataBuilderFromBase(metadata, "")
	if err != nil {
		return nil, err
	}
	if err := builder.SetFormatVersion(version); err != nil {
		return nil, err
	}
	return builder.Build()
}

func metadataRead(args metadataArgs) (any, error) {
	metadata, err := parsed(args.Metadata)
	if err != nil {
		return nil, err
	}
	form, err := canonical(metadata)
	return selected(args.Select, form), err
}

func metadataUpgrade(args metadataArgs) (any, error) {
	metadata, err := parsed(args.Metadata)
	if err != nil {
		return nil, err
	}
	if metadata, err = upgraded(metadata, args.FormatVersion); err != nil {
		return nil, err
	}
	form, err := canonical(metadata)
	return selected(args.Select, form), err
}

func metadataWrite(args metadataArgs) (any, error) {
	metadata, err := parsed(args.Metadata)
	if err != nil {
		return nil, err
	}
	if args.FormatVersion < metadata.Version() {
		return nil, unsupported("the library does not write metadata of an older version")
	}
	if metadata, err = upgraded(metadata, args.FormatVersion); err != nil {
		return nil, err
	}
	form, err := written(metadata)
	return selected(args.Select, form), err
}
