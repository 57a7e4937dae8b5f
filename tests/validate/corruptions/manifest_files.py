"""Corruptions of manifests as files: their headers and Avro schemas (Manifests; Manifest Entry Fields)."""

from __future__ import annotations

import json
from typing import Any

from tests.validate.corruptions import corruption

V2, V3, PARTITIONED = "position-deletes-parquet", "row-lineage-parquet", "partition-identity-v2"

for _key, _code in {
    "schema": "MAN005",
    "partition-spec": "MAN007",
    "partition-spec-id": "MAN008",
    "format-version": "MAN009",
    "content": "MAN010",
}.items():

    @corruption(_code, f"header-without-{_key}", V2)
    def _drop(bench: Any, key: str = _key) -> None:
        del bench.data.metadata[key]


def _header(key: str, value: str) -> Any:
    def mutate(bench: Any) -> None:
        bench.data.metadata[key] = value

    return mutate


corruption("MAN005", "schema-no-json", V2)(_header("schema", "{"))
corruption("MAN005", "schema-no-schema", V2)(_header("schema", '{"type": "struct"}'))
corruption("MAN007", "spec-no-json", V2)(_header("partition-spec", "[{"))
corruption("MAN008", "spec-id-no-number", V2)(_header("partition-spec-id", "zero"))
corruption("MAN009", "version-unknown", V2)(_header("format-version", "12"))
corruption("MAN010", "header-content-unknown", V2)(_header("content", "things"))
corruption("MAN010", "header-content-another", V2)(_header("content", "deletes"))
corruption("MAN003", "spec-id-another", V2)(_header("partition-spec-id", "3"))


@corruption("MAN007", "spec-whole", PARTITIONED)
def _whole(bench: Any) -> None:
    spec = bench.metadata["partition-specs"][-1]
    bench.data.metadata["partition-spec"] = json.dumps(spec)


@corruption("MAN001", "cut", V2)
def _cut(bench: Any) -> None:
    content = bench.data.content()
    bench.replaced[bench.data.path] = content[: len(content) - 20]


@corruption("MAN001", "no-avro", V2)
def _no_avro(bench: Any) -> None:
    bench.replaced[bench.data.path] = b"{}"


@corruption("MAN001", "block-damaged", V2)
def _damaged(bench: Any) -> None:
    content = bytearray(bench.data.content())
    content[-40] ^= 0xFF
    content[-41] ^= 0xFF
    bench.replaced[bench.data.path] = bytes(content)


@corruption("MAN001", "empty", V2)
def _empty(bench: Any) -> None:
    bench.replaced[bench.data.path] = b""


for _names, _code in {
    ("status",): "MAN011",
    ("data_file",): "MAN015",
    ("data_file", "file_path"): "DFL002",
    ("data_file", "file_format"): "DFL003",
    ("data_file", "record_count"): "DFL005",
    ("data_file", "file_size_in_bytes"): "DFL006",
}.items():

    @corruption(_code, f"schema-without-{_names[-1]}", V2)
    def _without(bench: Any, names: tuple[str, ...] = _names) -> None:
        bench.data.drop(*names)

    @corruption(_code, f"schema-{_names[-1]}-without-id", V2)
    def _without_id(bench: Any, names: tuple[str, ...] = _names) -> None:
        del bench.data.field(*names)["field-id"]


@corruption("DFL001", "schema-without-content", V2)
def _without_content(bench: Any) -> None:
    bench.data.drop("data_file", "content")


@corruption("DFL005", "schema-count-a-string", V2)
def _count_text(bench: Any) -> None:
    bench.data.field("data_file", "record_count")["type"] = "string"
    for file in bench.data.files:
        file["record_count"] = str(file["record_count"])
    bench.data.pinned = True
    bench.data.listed["manifest_length"] = len(bench.data.content())


@corruption("DFL016", "schema-bounds-as-strings", V2)
def _bounds_text(bench: Any) -> None:
    field = bench.data.field("data_file", "lower_bounds")
    pair = next(one for one in field["type"] if one != "null")["items"]
    next(one for one in pair["fields"] if one["name"] == "value")["type"] = "string"
    for file in bench.data.files:
        file["lower_bounds"] = None


@corruption("AVR013", "schema-partition-field-without-id", PARTITIONED)
def _partition_id(bench: Any) -> None:
    fields = bench.data.field("data_file", "partition")["type"]["fields"]
    del fields[0]["field-id"]


@corruption("DFL004", "schema-partition-field-of-another-type", PARTITIONED)
def _partition_type(bench: Any) -> None:
    fields = bench.data.field("data_file", "partition")["type"]["fields"]
    fields[1]["type"] = ["null", "string"]
    for file in bench.data.files:
        name = fields[1]["name"]
        file["partition"][name] = None if file["partition"][name] is None else str(file["partition"][name])


@corruption("EVO008", "source-promoted", "partition-identity-v3")
def _promoted(bench: Any) -> None:
    (schema,) = bench.metadata["schemas"]
    fields = [{**field, "type": "timestamp"} if field["name"] == "day" else field for field in schema["fields"]]
    bench.metadata["schemas"].append({**schema, "schema-id": 1, "fields": fields})
    bench.metadata["current-schema-id"] = 1
