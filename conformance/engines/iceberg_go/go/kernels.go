package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/apache/iceberg-go"
)

// Operations on values: transforms, single values in bytes and in JSON, types.

type valueArgs struct {
	Type      json.RawMessage `json:"type"`
	Value     json.RawMessage `json:"value"`
	Transform string          `json:"transform"`
	Bytes     string          `json:"bytes"`
	JSON      json.RawMessage `json:"json"`
}

// columnType returns a type as the library reads it in the field of a schema.
func columnType(raw json.RawMessage) (iceberg.Type, error) {
	var field iceberg.NestedField
	text := fmt.Sprintf(`{"id": 1000000000, "name": "f", "required": false, "type": %s}`, raw)
	err := json.Unmarshal([]byte(text), &field)
	return field.Type, err
}

func transform(args valueArgs) (any, error) {
	source, err := columnType(args.Type)
	if err != nil {
		return nil, err
	}
	function, err := iceberg.ParseTransform(args.Transform)
	if err != nil {
		return nil, err
	}
	if _, unknown := function.(iceberg.UnknownTransform); unknown {
		return nil, fmt.Errorf("unknown transform %s", args.Transform)
	}
	if !function.CanTransform(source) {
		return nil, fmt.Errorf("%s cannot be applied to %s", function, source)
	}
	value, err := ofType(source, args.Value)
	if err != nil {
		return nil, err
	}
	result := function.Apply(iceberg.Optional[iceberg.Literal]{Val: value, Valid: value != nil})
	if !result.Valid {
		return nil, nil
	}
	return exchangeForm(function.ResultType(source), result.Val), nil
}

// valueType returns the type of a value that is converted to and from bytes.
func valueType(raw json.RawMessage) (iceberg.Type, error) {
	typ, err := columnType(raw)
	if err != nil {
		return nil, err
	}
	switch typ.(type) {
	case iceberg.GeometryType, iceberg.GeographyType:
		return nil, unsupported("the values and bounds of geometries are passed on as bytes")
	case iceberg.NestedType, iceberg.VariantType, iceberg.UnknownType:
		return nil, unsupported("no values of " + typ.String() + " are converted")
	}
	return typ, nil
}

// A reading makes a literal of one of the forms of a value, and a writing makes one of the forms of a literal.
type (
	reading func(iceberg.Type, valueArgs) (iceberg.Literal, error)
	writing func(iceberg.Type, iceberg.Literal) (any, error)
)

// converted makes the operation that reads one form and writes another.
func converted(read reading, write writing) func(valueArgs) (any, error) {
	return func(args valueArgs) (any, error) {
		typ, err := valueType(args.Type)
		if err != nil {
			return nil, err
		}
		value, err := read(typ, args)
		if err != nil {
			return nil, err
		}
		return write(typ, value)
	}
}

func fromValue(typ iceberg.Type, args valueArgs) (iceberg.Literal, error) {
	value, err := ofType(typ, args.Value)
	if err == nil && value == nil {
		return nil, unsupported("the library has no literal of null")
	}
	return value, err
}

func fromBytes(typ iceberg.Type, args valueArgs) (iceberg.Literal, error) {
	data, err := hex.DecodeString(args.Bytes)
	if err != nil {
		return nil, err
	}
	return iceberg.LiteralFromBytes(typ, data)
}

func toValue(typ iceberg.Type, value iceberg.Literal) (any, error) {
	return exchangeForm(typ, value), nil
}

func toBytes(_ iceberg.Type, value iceberg.Literal) (any, error) {
	data, err := value.MarshalBinary()
	return upperHex(data), err
}

// ofType returns a literal that the library has converted to the type: those of fixed and decimal know neither length
// nor precision by themselves.
func ofType(typ iceberg.Type, raw json.RawMessage) (iceberg.Literal, error) {
	value, err := literal(typ, raw)
	if err != nil || value == nil {
		return nil, err
	}
	return value.To(typ)
}

func boundEncode(args valueArgs) (any, error) {
	if string(args.Value) == `"NaN"` {
		return nil, unsupported("bounds are made of statistics, which leave NaN out")
	}
	typ, err := columnType(args.Type)
	if err != nil {
		return nil, err
	}
	switch typ.(type) {
	case iceberg.GeometryType:
		return pointBound(typ, args.Value)
	case iceberg.GeographyType:
		return nil, unsupported("the library makes no bounds of geographies, whose edges bend")
	}
	return converted(fromValue, toBytes)(args)
}

// JSON single values are read and written in predicates: {"type": "eq", "term": "f", "value": ...}.

func column(typ iceberg.Type) *iceberg.Schema {
	return iceberg.NewSchema(0, iceberg.NestedField{ID: 1, Name: "f", Type: typ})
}

func fromJSON(typ iceberg.Type, raw json.RawMessage) (iceberg.Literal, error) {
	text := fmt.Sprintf(`{"type": "eq", "term": "f", "value": %s}`, raw)
	predicate, err := iceberg.ParseExpr([]byte(text), column(typ))
	if err != nil {
		return nil, err
	}
	bound, err := iceberg.BindExpr(column(typ), predicate, true)
	if err != nil {
		return nil, err
	}
	if with, ok := bound.(iceberg.BoundLiteralPredicate); ok {
		return with.Literal(), nil
	}
	return nil, fmt.Errorf("%s is no value of %s", raw, typ)
}

func toJSON(typ iceberg.Type, value iceberg.Literal) (any, error) {
	predicate := iceberg.LiteralPredicate(iceberg.OpEQ, iceberg.Reference("f"), value)
	bound, err := iceberg.BindExpr(column(typ), predicate, true)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(bound)
	if err != nil {
		return nil, err
	}
	var form struct {
		Value json.RawMessage `json:"value"`
	}
	if err := json.Unmarshal(text, &form); err != nil || form.Value == nil {
		return nil, fmt.Errorf("%s has no value", text)
	}
	return form.Value, nil
}

func fromText(typ iceberg.Type, args valueArgs) (iceberg.Literal, error) {
	return fromJSON(typ, args.JSON)
}

func typeParse(args valueArgs) (any, error) {
	typ, err := columnType(args.Type)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(iceberg.NestedField{ID: 1, Name: "f", Type: typ})
	if err != nil {
		return nil, err
	}
	var field struct {
		Type json.RawMessage `json:"type"`
	}
	return &field.Type, json.Unmarshal(text, &field)
}
