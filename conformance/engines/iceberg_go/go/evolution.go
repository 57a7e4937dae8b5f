package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
)

// Evolution of schemas and specs, in transactions that are not committed, and name mappings.

type evolutionArgs struct {
	Schema          map[string]any    `json:"schema"`
	FormatVersion   int               `json:"format_version"`
	LastColumnID    *int              `json:"last_column_id"`
	PartitionFields []map[string]any  `json:"partition_fields"`
	PartitionSpecs  []map[string]any  `json:"partition_specs"`
	DefaultSpecID   *int              `json:"default_spec_id"`
	LastPartitionID *int              `json:"last_partition_id"`
	Changes         []json.RawMessage `json:"changes"`
}

type change struct {
	Op        string          `json:"op"`
	Name      string          `json:"name"`
	Type      json.RawMessage `json:"type"`
	Parent    string          `json:"parent"`
	Required  bool            `json:"required"`
	Doc       string          `json:"doc"`
	Default   json.RawMessage `json:"default"`
	To        string          `json:"to"`
	After     *string         `json:"after"`
	Source    []int           `json:"source"`
	Transform string          `json:"transform"`
}

// evolving begins a transaction on an empty table in the state that the arguments describe.
func evolving(args evolutionArgs) (*table.Transaction, error) {
	schema := args.Schema
	schema["type"] = "struct"
	if _, ok := schema["schema-id"]; !ok {
		schema["schema-id"] = 0
	}
	specs := args.PartitionSpecs
	if specs == nil {
		fields := args.PartitionFields
		if fields == nil {
			fields = []map[string]any{}
		}
		specs = []map[string]any{{"spec-id": 0, "fields": fields}}
	}
	document := map[string]any{
		"format-version": args.FormatVersion, "table-uuid": "fb072c92-a02b-11e9-ae9c-1bb7bc9eca94",
		"location": "s3://b/wh/data.db/table", "last-updated-ms": 1515100955770, "last-sequence-number": 0,
		"schemas": []any{schema}, "current-schema-id": schema["schema-id"], "last-column-id": highestID(schema),
		"partition-specs": specs, "default-spec-id": specs[0]["spec-id"], "last-partition-id": 999, "next-row-id": 0,
		"sort-orders":           []any{map[string]any{"order-id": 0, "fields": []any{}}},
		"default-sort-order-id": 0,
	}
	if args.LastColumnID != nil {
		document["last-column-id"] = *args.LastColumnID
	}
	if args.DefaultSpecID != nil {
		document["default-spec-id"] = *args.DefaultSpecID
	}
	for _, spec := range specs {
		if fmt.Sprint(spec["spec-id"]) == fmt.Sprint(document["default-spec-id"]) {
			document["partition-spec"] = spec["fields"]
		}
		fields, _ := json.Marshal(spec["fields"])
		var ids []struct {
			ID int `json:"field-id"`
		}
		_ = json.Unmarshal(fields, &ids)
		for _, field := range ids {
			document["last-partition-id"] = max(document["last-partition-id"].(int), field.ID)
		}
	}
	if args.LastPartitionID != nil {
		document["last-partition-id"] = *args.LastPartitionID
	}
	switch args.FormatVersion {
	case 1:
		document["schema"] = schema
		delete(document, "last-sequence-number")
		fallthrough
	case 2:
		delete(document, "next-row-id")
	}
	if args.FormatVersion > 1 {
		delete(document, "partition-spec")
	}
	text, err := json.Marshal(document)
	if err != nil {
		return nil, err
	}
	metadata, err := table.ParseMetadataBytes(text)
	if err != nil {
		return nil, err
	}
	return table.New(table.Identifier{"db", "table"}, metadata, "metadata.json", localFiles, nil).NewTransaction(), nil
}

// highestID returns the highest column id anywhere in a schema.
func highestID(value any) int {
	highest := 0
	switch known := value.(type) {
	case []any:
		for _, item := range known {
			highest = max(highest, highestID(item))
		}
	case map[string]any:
		for name, member := range known {
			switch name {
			case "id", "element-id", "key-id", "value-id":
				if id, ok := member.(float64); ok {
					highest = max(highest, int(id))
				}
			case "fields", "type", "element", "key", "value":
				highest = max(highest, highestID(member))
			}
		}
	}
	return highest
}

func staged(transaction *table.Transaction) (table.Metadata, error) {
	made, err := transaction.StagedTable()
	if err != nil {
		return nil, err
	}
	return made.Metadata(), nil
}

// update is a change of a table that is staged in its transaction.
type update interface{ Commit() error }

// evolved returns the metadata of a table after changes, each in a separate update.
func evolved[U update](args evolutionArgs, stage func(*table.Transaction, change) (U, error)) (table.Metadata, error) {
	transaction, err := evolving(args)
	if err != nil {
		return nil, err
	}
	for _, raw := range args.Changes {
		var asked change
		if err := json.Unmarshal(raw, &asked); err != nil {
			return nil, err
		}
		made, err := stage(transaction, asked)
		if err != nil {
			return nil, err
		}
		if err := made.Commit(); err != nil {
			return nil, err
		}
	}
	return staged(transaction)
}

func schemaEvolve(args evolutionArgs) (any, error) {
	metadata, err := evolved(args, schemaChange)
	if err != nil {
		return nil, err
	}
	return map[string]any{"fields": metadata.CurrentSchema().Fields(), "last-column-id": metadata.LastColumnID()}, nil
}

func schemaChange(transaction *table.Transaction, asked change) (*table.UpdateSchema, error) {
	update := transaction.UpdateSchema(true, false)
	path := strings.Split(asked.Name, ".")
	switch asked.Op {
	case "add":
		typ, err := columnType(asked.Type)
		if err != nil {
			return nil, err
		}
		initial, err := defaultOf(typ, asked.Default)
		if err != nil {
			return nil, err
		}
		path = []string{asked.Name}
		if asked.Parent != "" {
			path = append(strings.Split(asked.Parent, "."), asked.Name)
		}
		return update.AddColumn(path, typ, asked.Doc, asked.Required, initial), nil
	case "drop":
		return update.DeleteColumn(path), nil
	case "rename":
		return update.RenameColumn(path, asked.To), nil
	case "promote":
		typ, err := columnType(asked.Type)
		column := table.ColumnUpdate{FieldType: iceberg.Optional[iceberg.Type]{Val: typ, Valid: true}}
		return update.UpdateColumn(path, column), err
	case "move":
		if asked.After == nil {
			return update.MoveFirst(path), nil
		}
		beside := append(slices.Clone(path[:len(path)-1]), *asked.After)
		return update.MoveAfter(path, beside), nil
	}
	metadata, err := staged(transaction)
	if err != nil {
		return nil, err
	}
	typ, found := metadata.CurrentSchema().FindTypeByName(asked.Name)
	if !found {
		return nil, fmt.Errorf("no column %s", asked.Name)
	}
	value, err := defaultOf(typ, asked.Default)
	column := table.ColumnUpdate{WriteDefault: iceberg.Optional[iceberg.Literal]{Val: value, Valid: true}}
	return update.UpdateColumn(path, column), err
}

// defaultOf returns a default value in the library's classes; nil for none.
func defaultOf(typ iceberg.Type, raw json.RawMessage) (iceberg.Literal, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	return fromJSON(typ, raw)
}

func specEvolve(args evolutionArgs) (any, error) {
	metadata, err := evolved(args, specChange)
	if err != nil {
		return nil, err
	}
	spec := metadata.PartitionSpec()
	fields := []iceberg.PartitionField{}
	for _, field := range spec.Fields() {
		fields = append(fields, field)
	}
	return map[string]any{
		"spec-id": spec.ID(), "fields": fields, "last-partition-id": metadata.LastPartitionSpecID(),
	}, nil
}

func specChange(transaction *table.Transaction, asked change) (*table.UpdateSpec, error) {
	update := transaction.UpdateSpec(true)
	switch asked.Op {
	case "remove":
		return update.RemoveField(asked.Name), nil
	case "rename":
		return update.RenameField(asked.Name, asked.To), nil
	case "add":
		metadata, err := staged(transaction)
		if err != nil {
			return nil, err
		}
		if len(asked.Source) != 1 {
			return nil, unsupported("fields of several columns are not added")
		}
		source, found := metadata.CurrentSchema().FindColumnName(asked.Source[0])
		if !found {
			return nil, unsupported("the API names the column, and no column has the id")
		}
		function, err := iceberg.ParseTransform(asked.Transform)
		if err != nil {
			return nil, err
		}
		return update.AddField(source, function, asked.Name), nil
	}
	return nil, unsupported("partition fields are not moved")
}

// Name mapping

type mappingArgs struct {
	Mapping json.RawMessage  `json:"mapping"`
	Columns []map[string]any `json:"columns"`
}

func mappingApply(args mappingArgs) (any, error) {
	raw := args.Mapping
	var text string
	if err := json.Unmarshal(raw, &text); err == nil {
		raw = json.RawMessage(text)
	}
	var mapping iceberg.NameMapping
	if err := json.Unmarshal(raw, &mapping); err != nil {
		return nil, err
	}
	fields, err := json.Marshal(numbered(args.Columns))
	if err != nil {
		return nil, err
	}
	columns, err := iceberg.NewSchemaFromJsonFields(0, string(fields))
	if err != nil {
		return nil, err
	}
	mapped, err := iceberg.ApplyNameMapping(columns, mapping)
	if err != nil {
		return nil, err
	}
	return paths(mapped.Fields(), nil), nil
}

// numbered adds ids to columns without them, which the library's types require.
func numbered(columns []map[string]any) []map[string]any {
	next := 0
	var placed func(any) any
	field := func(column map[string]any) map[string]any {
		next++
		column["id"] = next
		column["type"] = placed(column["type"])
		if _, ok := column["required"]; !ok {
			column["required"] = false
		}
		return column
	}
	placed = func(typ any) any {
		nested, ok := typ.(map[string]any)
		if !ok {
			return typ
		}
		for _, name := range []string{"element", "key", "value"} {
			if inner, ok := nested[name]; ok {
				nested[name] = placed(inner)
				next++
				nested[name+"-id"] = next
				if _, ok := nested[name+"-required"]; !ok && name != "key" {
					nested[name+"-required"] = false
				}
			}
		}
		if inner, ok := nested["fields"].([]any); ok {
			for _, one := range inner {
				field(one.(map[string]any))
			}
		}
		return nested
	}
	for _, column := range columns {
		field(column)
	}
	return columns
}

func paths(fields []iceberg.NestedField, around []string) []map[string]any {
	found := []map[string]any{}
	for _, field := range fields {
		path := append(slices.Clone(around), field.Name)
		var id any
		if field.ID > 0 { // so that the library reports a column without one
			id = field.ID
		}
		found = append(found, map[string]any{"path": path, "field-id": id})
		if nested, ok := field.Type.(iceberg.NestedType); ok {
			found = append(found, paths(nested.Fields(), path)...)
		}
	}
	return found
}
