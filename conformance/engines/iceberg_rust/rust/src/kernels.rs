//! Operations on values: transforms, single values in bytes and in JSON, types.

use std::str::FromStr;

use arrow_array::Array;
use iceberg::arrow::type_to_arrow_type;
use iceberg::spec::{Datum, Literal, NestedField, PrimitiveLiteral, PrimitiveType, Transform, Type};
use iceberg::transform::create_transform_function;
use serde_json::{Value, json};

use crate::values::{datum, exchange_form, hex, unhex};
use crate::{Answer, Refusal, unsupported};

/// A type as the library reads it in the field of a schema.
pub fn column_type(json: &Value) -> Result<Type, Refusal> {
    known_types(&json!({"type": json}))?;
    let field: NestedField =
        serde_json::from_value(json!({"id": 1_000_000_000, "name": "f", "required": false, "type": json}))?;
    Ok(*field.field_type)
}

/// Report a type in JSON that the library does not have as unsupported.
pub fn known_types(json: &Value) -> Result<(), Refusal> {
    const MISSING: &[&str] = &["unknown", "variant", "geometry", "geography"];
    match json {
        Value::Array(items) => items.iter().try_for_each(known_types),
        Value::Object(members) => members.iter().try_for_each(|(name, member)| match member.as_str() {
            Some(text) if ["type", "element", "key", "value"].contains(&name.as_str()) => {
                let text = text.to_lowercase();
                match MISSING.iter().find(|missing| text.split('(').next().map(str::trim) == Some(missing)) {
                    Some(missing) => unsupported(format!("the library has no type {missing}")),
                    None => Ok(()),
                }
            }
            _ => known_types(member),
        }),
        _ => Ok(()),
    }
}

fn primitive(json: &Value) -> Result<PrimitiveType, Refusal> {
    match column_type(json)? {
        Type::Primitive(kind) => Ok(kind),
        nested => unsupported(format!("no values of {nested} are converted")),
    }
}

pub fn transform(args: &Value) -> Answer {
    let transform = Transform::from_str(args["transform"].as_str().unwrap_or(""))?;
    if transform == Transform::Unknown {
        return Err(Refusal::Invalid(format!("unknown transform {}", args["transform"])));
    }
    let source = column_type(&args["type"])?;
    let Type::Primitive(result) = transform.result_type(&source)? else {
        return unsupported("results that are nested");
    };
    let function = create_transform_function(&transform)?;
    if args["value"].is_null() {
        let result = function.transform(arrow_array::new_null_array(&type_to_arrow_type(&source)?, 1))?;
        return if result.is_null(0) { Ok(Value::Null) } else { Ok(json!(format!("{result:?}"))) };
    }
    let Type::Primitive(source) = source else {
        return unsupported("the library has no literals of nested types");
    };
    match function.transform_literal(&datum(&source, &args["value"])?)? {
        Some(value) => Ok(exchange_form(&result, value.literal())),
        None => Ok(Value::Null),
    }
}

fn bytes_of(text: &Value) -> Result<Vec<u8>, Refusal> {
    text.as_str().and_then(unhex).ok_or_else(|| Refusal::Arguments("no hexadecimal bytes".into()))
}

pub fn encode(args: &Value) -> Answer {
    let kind = primitive(&args["type"])?;
    if args["value"].is_null() {
        return unsupported("the library has no literal of null");
    }
    Ok(json!(hex(&datum(&kind, &args["value"])?.to_bytes()?)))
}

pub fn bound_encode(args: &Value) -> Answer {
    match args["value"].as_str() {
        Some("NaN") => unsupported("bounds are made of statistics, which leave NaN out"),
        _ => encode(args),
    }
}

pub fn decode(args: &Value) -> Answer {
    let kind = primitive(&args["type"])?;
    let value = Datum::try_from_bytes(&bytes_of(&args["bytes"])?, kind.clone())?;
    Ok(exchange_form(&kind, value.literal()))
}

pub fn json_encode(args: &Value) -> Answer {
    let kind = primitive(&args["type"])?;
    let value = Datum::try_from_bytes(&bytes_of(&args["bytes"])?, kind.clone())?;
    Ok(Literal::from(value).try_into_json(&Type::Primitive(kind))?)
}

pub fn json_decode(args: &Value) -> Answer {
    let kind = primitive(&args["type"])?;
    match Literal::try_from_json(args["json"].clone(), &Type::Primitive(kind.clone()))? {
        Some(Literal::Primitive(value)) => Ok(json!(hex(&datum_of(&kind, value)?.to_bytes()?))),
        _ => Err(Refusal::Invalid(format!("{} is no value of {kind}", args["json"]))),
    }
}

/// The library's literal with its type, as bytes are made of both.
pub fn datum_of(kind: &PrimitiveType, value: PrimitiveLiteral) -> Result<Datum, Refusal> {
    Ok(match (kind, value) {
        (PrimitiveType::Date, PrimitiveLiteral::Int(days)) => Datum::date(days),
        (PrimitiveType::Time, PrimitiveLiteral::Long(count)) => Datum::time_micros(count)?,
        (PrimitiveType::Timestamp, PrimitiveLiteral::Long(count)) => Datum::timestamp_micros(count),
        (PrimitiveType::Timestamptz, PrimitiveLiteral::Long(count)) => Datum::timestamptz_micros(count),
        (PrimitiveType::TimestampNs, PrimitiveLiteral::Long(count)) => Datum::timestamp_nanos(count),
        (PrimitiveType::TimestamptzNs, PrimitiveLiteral::Long(count)) => Datum::timestamptz_nanos(count),
        (_, PrimitiveLiteral::Boolean(truth)) => Datum::bool(truth),
        (_, PrimitiveLiteral::Int(number)) => Datum::int(number),
        (_, PrimitiveLiteral::Long(number)) => Datum::long(number),
        (_, PrimitiveLiteral::Float(number)) => Datum::float(number.0),
        (_, PrimitiveLiteral::Double(number)) => Datum::double(number.0),
        (_, PrimitiveLiteral::String(text)) => Datum::string(text),
        (PrimitiveType::Fixed(_), PrimitiveLiteral::Binary(data)) => Datum::fixed(data),
        (_, PrimitiveLiteral::Binary(data)) => Datum::binary(data),
        (_, PrimitiveLiteral::UInt128(bits)) => Datum::uuid(uuid::Uuid::from_u128(bits)),
        (PrimitiveType::Decimal { scale, .. }, PrimitiveLiteral::Int128(unscaled)) => {
            let exact = Datum::decimal_from_str(crate::values::decimal(unscaled, *scale))?;
            exact.to(&Type::Primitive(kind.clone()))?
        }
        (_, other) => return unsupported(format!("{other:?} has no bytes")),
    })
}

pub fn json_round_trip(args: &Value) -> Answer {
    let kind = column_type(&args["type"])?;
    match Literal::try_from_json(args["json"].clone(), &kind)? {
        Some(value) => Ok(value.try_into_json(&kind)?),
        None => Ok(Value::Null),
    }
}

pub fn type_parse(args: &Value) -> Answer {
    let field = NestedField::optional(1, "f", column_type(&args["type"])?);
    Ok(serde_json::to_value(&field)?["type"].take())
}
