package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/apache/iceberg-go"
)

// Operations on predicates. The library evaluates rows and projects single predicates in public; what prunes by metrics
// and summaries, and what makes residuals, is private and shows in plans only.

type predicateArgs struct {
	Schema    *iceberg.Schema            `json:"schema"`
	Spec      iceberg.PartitionSpec      `json:"spec"`
	Predicate json.RawMessage            `json:"predicate"`
	Row       map[string]json.RawMessage `json:"row"`
	Partition map[string]json.RawMessage `json:"partition"`
	Kind      string                     `json:"kind"`
}

// record is a row as the library takes it.
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
	if bytes.Contains(raw, []byte(`"reference"`)) || bytes.Contains(raw, []byte(`"apply"`)) {
		return nil, unsupported("the library reads the older JSON form of predicates")
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

func projectionEvaluate(args predicateArgs) (any, error) {
	if args.Kind != "inclusive" {
		return nil, unsupported("transforms project predicates inclusively only")
	}
	predicate, err := predicateOf(args.Predicate, args.Schema)
	if err != nil {
		return nil, err
	}
	bound, err := iceberg.BindExpr(args.Schema, predicate, true)
	if err != nil {
		return nil, err
	}
	single, ok := bound.(iceberg.BoundPredicate)
	if !ok || args.Spec.NumFields() != 1 {
		return nil, unsupported("only single predicates are projected in public, and onto one field")
	}
	field := args.Spec.Field(0)
	projected, err := field.Transform.Project(field.Name, single)
	if err != nil {
		return nil, err
	}
	if projected == nil {
		return true, nil
	}
	partitions := args.Spec.PartitionType(args.Schema)
	matches, err := iceberg.ExpressionEvaluator(iceberg.NewSchema(0, partitions.Fields()...), projected, true)
	if err != nil {
		return nil, err
	}
	row, err := recordOf(partitions.Fields(), args.Partition)
	if err != nil {
		return nil, fmt.Errorf("partition: %w", err)
	}
	return matches(row)
}
