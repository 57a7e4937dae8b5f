//! Operations on Puffin files.

use std::collections::HashMap;

use bytes::Bytes;
use futures::executor::block_on;
use iceberg::compression::CompressionCodec;
use iceberg::io::FileIO;
use iceberg::puffin::{Blob, PuffinReader, PuffinWriter};
use serde_json::{Value, json};

use crate::values::{hex, unhex};
use crate::{Answer, unsupported};

const PLACE: &str = "memory:///file.puffin";

pub fn read(args: &Value) -> Answer {
    let files = FileIO::new_with_memory();
    let data = args["bytes"].as_str().and_then(unhex).unwrap_or_default();
    block_on(async {
        files.new_output(PLACE)?.write(Bytes::from(data)).await?;
        let reader = PuffinReader::new(files.new_input(PLACE)?);
        let footer = reader.file_metadata().await?;
        let mut blobs = vec![];
        for blob in footer.blobs() {
            let read = reader.blob(blob).await?;
            blobs.push(json!({
                "type": blob.blob_type(), "fields": blob.fields(), "snapshot-id": blob.snapshot_id().to_string(),
                "sequence-number": blob.sequence_number().to_string(), "offset": blob.offset().to_string(),
                "length": blob.length().to_string(), "compression-codec": codec_name(blob.compression_codec()),
                "properties": blob.properties(), "payload": hex(read.data()),
            }));
        }
        Ok(json!({"blobs": blobs, "properties": footer.properties()}))
    })
}

fn codec_name(codec: CompressionCodec) -> Option<&'static str> {
    match codec {
        CompressionCodec::None => None,
        CompressionCodec::Lz4 => Some("lz4"),
        CompressionCodec::Zstd(_) => Some("zstd"),
        _ => Some("another"),
    }
}

pub fn write(args: &Value) -> Answer {
    let files = FileIO::new_with_memory();
    block_on(async {
        let output = files.new_output(PLACE)?;
        let mut writer = PuffinWriter::new(&output, texts(&args["properties"]), false).await?;
        for blob in args["blobs"].as_array().into_iter().flatten() {
            let codec = match blob["compression-codec"].as_str() {
                None => CompressionCodec::None,
                Some("lz4") => CompressionCodec::Lz4,
                Some("zstd") => CompressionCodec::zstd_default(),
                Some(other) => return unsupported(format!("the codec {other}")),
            };
            let made = Blob::builder()
                .r#type(blob["type"].as_str().unwrap_or("").to_string())
                .fields(
                    blob["fields"].as_array().into_iter().flatten().map(|id| id.as_i64().unwrap_or(0) as i32).collect(),
                )
                .snapshot_id(long(&blob["snapshot-id"]))
                .sequence_number(long(&blob["sequence-number"]))
                .data(blob["payload"].as_str().and_then(unhex).unwrap_or_default())
                .properties(texts(&blob["properties"]))
                .build();
            writer.add(made, codec).await?;
        }
        writer.close().await?;
        Ok(json!(hex(&files.new_input(PLACE)?.read().await?)))
    })
}

fn long(value: &Value) -> i64 {
    value.as_str().and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn texts(value: &Value) -> HashMap<String, String> {
    let members = value.as_object().into_iter().flatten();
    members.map(|(name, text)| (name.clone(), text.as_str().unwrap_or("").to_string())).collect()
}
