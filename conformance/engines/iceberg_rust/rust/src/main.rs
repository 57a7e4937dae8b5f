//! The adapter of iceberg-rust: it reads requests of the protocol (docs/protocol.md) on standard input, one JSON line
//! each, calls the library, and writes one answer line for each on standard output.

mod catalog;
mod commits;
mod evolution;
mod kernels;
mod manifests;
mod metadata;
mod predicates;
mod puffin;
mod tables;
mod values;
mod writing;

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::panic::{self, AssertUnwindSafe};

use iceberg::ErrorKind;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The answer of an operation that returns no value.
pub enum Refusal {
    Invalid(String),
    Unsupported(String),
    /// A fault of this program: it does not understand the arguments.
    Arguments(String),
}

pub type Answer = Result<Value, Refusal>;

/// The message of the library for snapshots of v1 that it does not support; other errors show it by their kind.
const UNSUPPORTED: &str = "Unsupported v1 snapshot";

impl From<iceberg::Error> for Refusal {
    fn from(error: iceberg::Error) -> Self {
        match error.kind() {
            ErrorKind::FeatureUnsupported => Refusal::Unsupported(error.to_string()),
            _ => refused(error.to_string()),
        }
    }
}

impl From<serde_json::Error> for Refusal {
    fn from(error: serde_json::Error) -> Self {
        refused(error.to_string())
    }
}

impl From<std::io::Error> for Refusal {
    fn from(error: std::io::Error) -> Self {
        refused(error.to_string())
    }
}

fn refused(message: String) -> Refusal {
    if message.contains(UNSUPPORTED) { Refusal::Unsupported(message) } else { Refusal::Invalid(message) }
}

/// Report that the library lacks something.
pub fn unsupported<T>(what: impl ToString) -> Result<T, Refusal> {
    Err(Refusal::Unsupported(what.to_string()))
}

const OPERATIONS: &[(&str, fn(&Value) -> Answer)] = &[
    ("bound.decode", kernels::decode),
    ("bound.encode", kernels::bound_encode),
    ("commit.replay", commits::replay),
    ("expression.evaluate", predicates::evaluate),
    ("json-value.decode", kernels::json_decode),
    ("json-value.encode", kernels::json_encode),
    ("json-value.round-trip", kernels::json_round_trip),
    ("manifest-list.read", manifests::list_read),
    ("manifest-list.write", manifests::list_write),
    ("manifest.read", manifests::read),
    ("manifest.write", manifests::write),
    ("metadata.read", metadata::read),
    ("metadata.upgrade", metadata::upgrade),
    ("metadata.write", metadata::write),
    ("metrics.evaluate", predicates::evaluate_metrics),
    ("partition-spec.evolve", evolution::spec),
    ("projection.evaluate", predicates::evaluate_projection),
    ("puffin.read", puffin::read),
    ("puffin.write", puffin::write),
    ("residual.evaluate", predicates::evaluate_residual),
    ("retention.expire", evolution::expire),
    ("scan.plan", tables::plan),
    ("schema.evolve", evolution::schema),
    ("single-value.decode", kernels::decode),
    ("single-value.encode", kernels::encode),
    ("summaries.evaluate", predicates::evaluate_summaries),
    ("table.read", tables::read),
    ("table.change", writing::change),
    ("table.write", writing::write),
    ("transform", kernels::transform),
    ("type.parse", kernels::type_parse),
];

fn answer(op: &str, args: &Value) -> Value {
    let Some((_, operation)) = OPERATIONS.iter().find(|(name, _)| *name == op) else {
        return json!({"unsupported": format!("the operation {op}")});
    };
    match panic::catch_unwind(AssertUnwindSafe(|| operation(args))) {
        Ok(Ok(value)) => json!({"ok": value}),
        Ok(Err(Refusal::Invalid(message))) => json!({"error": {"kind": "invalid", "message": message}}),
        Ok(Err(Refusal::Unsupported(what))) => json!({"unsupported": what}),
        Ok(Err(Refusal::Arguments(message))) => json!({"error": {"kind": "internal", "message": message}}),
        Err(fault) => {
            let text = fault.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| fault.downcast_ref::<&str>().copied()).unwrap_or("");
            json!({"error": {"kind": "internal", "message": format!("panic: {text}")}})
        }
    }
}

fn start() -> Value {
    json!({"ok": {
        "implementation": "iceberg-rust", "version": env!("ICEBERG_VERSION"), "language": "rust", "protocol": 1,
        "format_versions": [1, 2, 3], "operations": OPERATIONS.iter().map(|(name, _)| name).collect::<Vec<_>>(),
    }})
}

/// A request with its exact doubles. serde_json reads some doubles as the next one unless its feature float_roundtrip is
/// set, which would also change how the library reads JSON.
fn exact(raw: &RawValue) -> Result<Value, serde_json::Error> {
    let text = raw.get();
    match text.as_bytes()[0] {
        b'{' => {
            let members: BTreeMap<String, &RawValue> = serde_json::from_str(text)?;
            members.into_iter().map(|(name, member)| Ok((name, exact(member)?))).collect()
        }
        b'[' => serde_json::from_str::<Vec<&RawValue>>(text)?.into_iter().map(exact).collect(),
        _ => {
            let value: Value = serde_json::from_str(text)?;
            Ok(if value.is_f64() { text.parse::<f64>().ok().into() } else { value })
        }
    }
}

fn main() -> io::Result<()> {
    // The library's tables run their tasks on the runtime that is entered here.
    let runtime = tokio::runtime::Runtime::new()?;
    let _entered = runtime.enter();
    let mut answers = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let request = exact(serde_json::from_str(&line)?)?;
        let mut reply = match request["op"].as_str() {
            Some("stop") => return Ok(()),
            Some("start") => start(),
            op => answer(op.unwrap_or(""), &request["args"]),
        };
        reply["seq"] = request["seq"].clone();
        writeln!(answers, "{reply}")?;
        answers.flush()?;
    }
    Ok(())
}
