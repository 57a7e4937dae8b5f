//! An adapter that hashes int, long and string with the Murmur3 below. It needs only the compiler, so it contains a small
//! JSON reader; use serde_json instead. README.md beside it describes what comes next.
//!
//!     rustc --edition 2021 -o adapter adapter.rs

use std::io::{self, BufRead, Write};
use std::{iter::Peekable, str::Chars};

/// The 32-bit Murmur3 of the x86 variant, seed 0.
fn murmur3(data: &[u8]) -> i32 {
    let mixed = |word: u32| word.wrapping_mul(0xCC9E2D51).rotate_left(15).wrapping_mul(0x1B873593);
    let chunks = data.chunks_exact(4);
    let mut tail = [0; 4];
    tail[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
    let mut state = chunks.fold(0, |state: u32, chunk| {
        let word = u32::from_le_bytes(chunk.try_into().unwrap());
        (state ^ mixed(word)).rotate_left(13).wrapping_mul(5).wrapping_add(0xE6546B64)
    });
    state ^= mixed(u32::from_le_bytes(tail)) ^ data.len() as u32;
    state = (state ^ state >> 16).wrapping_mul(0x85EBCA6B);
    state = (state ^ state >> 13).wrapping_mul(0xC2B2AE35);
    (state ^ state >> 16) as i32
}

/// As much of JSON as requests for hashes need; numbers and constants keep their text.
enum Json {
    Text(String),
    Other(String),
    List,
    Object(Vec<(String, Json)>),
}

impl Json {
    fn get(&self, name: &str) -> Option<&Json> {
        let Json::Object(members) = self else { return None };
        members.iter().find(|(key, _)| key == name).map(|(_, member)| member)
    }
}

fn read(text: &mut Peekable<Chars>) -> Option<Json> {
    while text.next_if(|c| c.is_whitespace() || *c == ',' || *c == ':').is_some() {}
    match *text.peek()? {
        '"' => string(text).map(Json::Text),
        '{' | '[' => {
            let (object, mut members) = (text.next() == Some('{'), vec![]);
            while let Some(item) = read(text) {
                match item {
                    Json::Text(name) if object => members.push((name, read(text)?)),
                    _ => {}
                }
            }
            text.next();
            Some(if object { Json::Object(members) } else { Json::List })
        }
        '}' | ']' => None,
        _ => Some(Json::Other(std::iter::from_fn(|| text.next_if(|c| !",]} \n".contains(*c))).collect())),
    }
}

fn string(text: &mut Peekable<Chars>) -> Option<String> {
    let mut units: Vec<u16> = vec![];
    let mut pair = [0; 2];
    text.next();
    loop {
        match text.next()? {
            '"' => return String::from_utf16(&units).ok(),
            '\\' => match text.next()? {
                'u' => units.push(u16::from_str_radix(&text.take(4).collect::<String>(), 16).ok()?),
                c => units.push("\n\t\r\u{8}\u{c}".chars().zip("ntrbf".chars()).find(|p| p.1 == c).map_or(c, |p| p.0) as u16),
            },
            c => units.extend_from_slice(c.encode_utf16(&mut pair)),
        }
    }
}

/// The answer to one request for a hash; values are read as the protocol says.
fn hash(kind: &str, value: &Json) -> String {
    let whole = |text: &str| text.parse::<i64>().ok().filter(|_| !text.starts_with('+'));
    let data = match (kind, value) {
        ("string", Json::Text(text)) => Some(text.as_bytes().to_vec()),
        ("int", Json::Other(text)) => whole(text).filter(|n| i32::try_from(*n).is_ok()).map(|n| n.to_le_bytes().to_vec()),
        ("long", Json::Text(text) | Json::Other(text)) => whole(text).map(|n| n.to_le_bytes().to_vec()),
        ("string" | "int" | "long", _) => None,
        _ => return r#""unsupported": "hashing this type""#.to_string(),
    };
    data.map(|data| format!("\"ok\": {}", murmur3(&data)))
        .unwrap_or(r#""error": {"kind": "invalid", "message": "no value of the type"}"#.to_string())
}

fn main() -> io::Result<()> {
    let about = r#""ok": {"implementation": "@NAME@", "version": "0.0", "language": "rust", "protocol": 1,
        "format_versions": [1, 2, 3], "operations": ["hash"]}"#.replace('\n', "");
    for line in io::stdin().lock().lines() {
        let request = read(&mut line?.chars().peekable()).ok_or(io::ErrorKind::InvalidData)?;
        let Some(Json::Other(seq)) = request.get("seq") else { return Err(io::ErrorKind::InvalidData.into()) };
        let args = request.get("args");
        let reply = match (request.get("op"), args.and_then(|a| a.get("type")), args.and_then(|a| a.get("value"))) {
            (Some(Json::Text(op)), ..) if op == "stop" => return Ok(()),
            (Some(Json::Text(op)), ..) if op == "start" => about.clone(),
            (Some(Json::Text(op)), Some(Json::Text(kind)), Some(value)) if op == "hash" => hash(kind, value),
            _ => r#""unsupported": "this operation, or a nested type""#.to_string(),
        };
        writeln!(io::stdout(), "{{\"seq\": {seq}, {reply}}}")?;
    }
    Ok(())
}
