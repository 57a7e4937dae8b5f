//! The exchange form of values (docs/protocol.md), read and written without validation: to refuse a value is
//! up to the library. A value without any form in the library is unsupported.

use iceberg::spec::{Datum, Literal, PrimitiveLiteral, PrimitiveType, Type};
use serde_json::{Value, json};

use crate::{Refusal, unsupported};

const DAY: i64 = 86_400;

/// The library's value of an exchange form, which is not null.
pub fn datum(kind: &PrimitiveType, value: &Value) -> Result<Datum, Refusal> {
    let text = value.as_str();
    let no_form = || Refusal::Unsupported(format!("the library has no form of this as {kind}"));
    let found = match kind {
        PrimitiveType::Boolean => value.as_bool().map(Datum::bool),
        PrimitiveType::Int => value.as_i64().and_then(|whole| i32::try_from(whole).ok()).map(Datum::int),
        PrimitiveType::Long => whole(value).map(Datum::long),
        PrimitiveType::Float => real(value).map(|number| Datum::float(number as f32)),
        PrimitiveType::Double => real(value).map(Datum::double),
        PrimitiveType::Decimal { .. } => {
            let exact = Datum::decimal_from_str(text.ok_or_else(no_form)?).map_err(|_| no_form())?;
            return Ok(exact.to(&Type::Primitive(kind.clone()))?);
        }
        PrimitiveType::Date => text.and_then(days).and_then(|days| i32::try_from(days).ok()).map(Datum::date),
        PrimitiveType::Time => match text.and_then(|text| counted(text, 6)) {
            Some(count) => return Ok(Datum::time_micros(count)?),
            None => None,
        },
        PrimitiveType::Timestamp => text.and_then(|text| instant(text, 6, false)).map(Datum::timestamp_micros),
        PrimitiveType::Timestamptz => text.and_then(|text| instant(text, 6, true)).map(Datum::timestamptz_micros),
        PrimitiveType::TimestampNs => text.and_then(|text| instant(text, 9, false)).map(Datum::timestamp_nanos),
        PrimitiveType::TimestamptzNs => text.and_then(|text| instant(text, 9, true)).map(Datum::timestamptz_nanos),
        PrimitiveType::String => text.map(Datum::string),
        PrimitiveType::Uuid => text.filter(|text| text.len() == 36).and_then(|text| text.parse().ok()).map(Datum::uuid),
        PrimitiveType::Fixed(_) => text.and_then(unhex).map(Datum::fixed),
        PrimitiveType::Binary => text.and_then(unhex).map(Datum::binary),
        #[allow(unreachable_patterns)]
        other => return unsupported(format!("the library has no values of {other}")),
    };
    // Literals of fixed have no length by themselves: the library converts them to the type.
    Ok(found.ok_or_else(no_form)?.to(&Type::Primitive(kind.clone()))?)
}

fn whole(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}

fn real(value: &Value) -> Option<f64> {
    match value.as_str() {
        Some("NaN") => Some(f64::NAN),
        Some("Infinity") => Some(f64::INFINITY),
        Some("-Infinity") => Some(f64::NEG_INFINITY),
        Some(_) => None,
        None => value.as_f64(),
    }
}

pub fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    let pairs = digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    if digits.len() % 2 == 0 { pairs.collect() } else { None }
}

pub fn hex(data: &[u8]) -> String {
    data.iter().map(|byte| format!("{byte:02X}")).collect()
}

fn digits(text: &str) -> Option<i64> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) { None } else { text.parse().ok() }
}

fn days(text: &str) -> Option<i64> {
    let (sign, rest) = match text.as_bytes().first()? {
        b'-' => (-1, &text[1..]),
        b'+' => (1, &text[1..]),
        _ => (1, text),
    };
    let mut parts = rest.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || !(4..=9).contains(&year.len()) || month.len() != 2 || day.len() != 2 {
        return None;
    }
    let date = (sign * digits(year)?, digits(month)?, digits(day)?);
    let found = days_from_civil(date.0, date.1, date.2);
    (civil_from_days(found) == date).then_some(found)
}

/// Days since 1970-01-01 of a day of the Gregorian calendar, by eras of 400 years that begin in March.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, month) = (year.div_euclid(400), (month + 9) % 12);
    let (of_era, of_year) = (year.rem_euclid(400), (153 * month + 2) / 5 + day - 1);
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i64::from(month <= 2), month, day)
}

/// The time since midnight in the unit of the given digits of a second.
fn counted(text: &str, places: u32) -> Option<i64> {
    let (clock, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let parts: Vec<&str> = clock.split(':').collect();
    if !(2..=3).contains(&parts.len()) || parts.iter().any(|part| part.len() != 2) || fraction.len() > places as usize {
        return None;
    }
    let (hour, minute) = (digits(parts[0])?, digits(parts[1])?);
    let second = parts.get(2).map_or(Some(0), |part| digits(part))?;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let fraction = digits(fraction)? * 10_i64.pow(places - fraction.len() as u32);
    Some((hour * 3600 + minute * 60 + second) * 10_i64.pow(places) + fraction)
}

fn instant(text: &str, places: u32, zoned: bool) -> Option<i64> {
    let (date, mut clock) = text.split_once('T')?;
    let mut ahead = 0;
    if zoned {
        let at = clock.rfind(['+', '-'])?;
        let (hour, minute) = clock[at + 1..].split_once(':')?;
        ahead = digits(hour)? * 3600 + digits(minute)? * 60;
        if clock.as_bytes()[at] == b'-' {
            ahead = -ahead;
        }
        clock = &clock[..at];
    }
    let exact = i128::from(days(date)? * DAY - ahead) * 10_i128.pow(places) + i128::from(counted(clock, places)?);
    i64::try_from(exact).ok()
}

/// The exchange form of an answer of the library. What is not a value of the type stays as it is.
pub fn exchange_form(kind: &PrimitiveType, value: &PrimitiveLiteral) -> Value {
    match value {
        PrimitiveLiteral::Boolean(truth) => json!(truth),
        PrimitiveLiteral::Int(number) => integer(kind, i64::from(*number)),
        PrimitiveLiteral::Long(number) => integer(kind, *number),
        PrimitiveLiteral::Float(number) => float(f64::from(number.0)),
        PrimitiveLiteral::Double(number) => float(number.0),
        PrimitiveLiteral::String(text) => json!(text),
        PrimitiveLiteral::Binary(data) => json!(hex(data)),
        PrimitiveLiteral::Int128(unscaled) => match kind {
            PrimitiveType::Decimal { scale, .. } => json!(decimal(*unscaled, *scale)),
            _ => json!(unscaled.to_string()),
        },
        PrimitiveLiteral::UInt128(bits) => json!(uuid::Uuid::from_u128(*bits).to_string()),
        other => json!(format!("{other:?}")),
    }
}

pub fn told_literal(kind: &Type, value: &Literal) -> Value {
    match (kind, value) {
        (Type::Primitive(kind), Literal::Primitive(value)) => exchange_form(kind, value),
        _ => json!(format!("{value:?}")),
    }
}

/// The exchange form of an integer of a type, such as a date.
pub fn integer(kind: &PrimitiveType, value: i64) -> Value {
    match kind {
        PrimitiveType::Long => json!(value.to_string()),
        PrimitiveType::Date => json!(date_text(value)),
        PrimitiveType::Time => json!(time_text(value, 6)),
        PrimitiveType::Timestamp => json!(instant_text(value, 6, "")),
        PrimitiveType::Timestamptz => json!(instant_text(value, 6, "+00:00")),
        PrimitiveType::TimestampNs => json!(instant_text(value, 9, "")),
        PrimitiveType::TimestamptzNs => json!(instant_text(value, 9, "+00:00")),
        _ => json!(value),
    }
}

pub fn float(value: f64) -> Value {
    if value.is_nan() {
        json!("NaN")
    } else if value.is_infinite() {
        json!(if value > 0.0 { "Infinity" } else { "-Infinity" })
    } else {
        json!(value)
    }
}

pub fn decimal(unscaled: i128, scale: u32) -> String {
    let (sign, scale) = (if unscaled < 0 { "-" } else { "" }, scale as usize);
    let digits = format!("{:0>width$}", unscaled.unsigned_abs().to_string(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    if scale == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

fn date_text(days: i64) -> String {
    let (year, month, day) = civil_from_days(days);
    let sign = if year < 0 {
        "-"
    } else if year > 9999 {
        "+"
    } else {
        ""
    };
    format!("{sign}{:04}-{month:02}-{day:02}", year.abs())
}

fn time_text(count: i64, places: u32) -> String {
    let (seconds, fraction) = (count.div_euclid(10_i64.pow(places)), count.rem_euclid(10_i64.pow(places)));
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{hour:02}:{minute:02}:{second:02}.{fraction:0width$}", width = places as usize)
}

fn instant_text(count: i64, places: u32, zone: &str) -> String {
    let day = DAY * 10_i64.pow(places);
    format!("{}T{}{zone}", date_text(count.div_euclid(day)), time_text(count.rem_euclid(day), places))
}
