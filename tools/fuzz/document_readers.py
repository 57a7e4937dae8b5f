"""Readers of JSON and TOML documents: table metadata, and files that the tool itself reads."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tools.fuzz import mutations
from tools.fuzz.target import ROOT, Target, decode_text, document, files, json_members, refusal, return_refusals


def _metadata() -> Callable[[bytes], object]:
    from spec_ref.table_metadata.reader import read_metadata
    from spec_ref.table_metadata.writer import write_metadata

    return return_refusals(lambda data: write_metadata(read_metadata(data)))


_documents = json_members("metadata.read", "metadata.check", "metadata.write", member="metadata")


def _metadata_check() -> Callable[[bytes], object]:
    from spec_ref.table_metadata.checks import check_metadata

    return lambda data: [str(finding) for finding in check_metadata(data)]


def _name_mapping() -> Callable[[bytes], object]:
    from spec_ref.schemas.name_mapping import read_name_mapping

    return return_refusals(lambda data: read_name_mapping(decode_text(data)))


def _legacy() -> Callable[[bytes], object]:
    from spec_ref.table_metadata.legacy_json import read_content_file, read_scan_task

    def read(document: Any) -> object:
        return (
            read_scan_task(document) if type(document) is dict and "schema" in document else read_content_file(document)
        )

    return document(read)


LEGACY = (
    b'{"spec-id":0,"content":"DATA","file-path":"a","file-format":"PARQUET","partition":{"1000":1},'
    b'"file-size-in-bytes":1,"record-count":1,"column-sizes":{"keys":[1],"values":[2]},"lower-bounds":{"keys":[1],'
    b'"values":["00"]},"key-metadata":"00","split-offsets":[1],"sort-order-id":1}'
)


def _protocol_line() -> Callable[[bytes], object]:
    from conformance.operations.protocol import Breach, read_answer, read_started

    def read(line: bytes) -> object:
        try:
            _, answer = read_answer(line)
            return read_started(answer)
        except Breach as error:
            return refusal(error)

    return read


LINES = (
    b'{"seq":0,"ok":{"implementation":"m","version":"1","language":"go","protocol":1,"operations":[]}}',
    b'{"seq":1,"ok":2017239379}',
    b'{"seq":2,"error":{"kind":"invalid","message":"m"}}',
    b'{"seq":3,"unsupported":"no"}',
    b'{"seq":1,"ok":1e400}',
)


class _Given:
    """A path whose content is in memory: it has the methods that readers use."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def read_bytes(self) -> bytes:
        return self.data

    def __str__(self) -> str:
        return "given"


def usage(read: Callable[[bytes], object]) -> Callable[[bytes], object]:
    """Wrap a reader of the tool's own files so that it returns a `Refusal` for each `UsageError`."""
    from conformance.core.failures import UsageError

    def run(data: bytes) -> object:
        try:
            return read(data)
        except UsageError as error:
            return refusal(error)

    return run


def _vector_file() -> Callable[[bytes], object]:
    from conformance import vectors
    from conformance.vectors.golden_places import named_location

    golden = named_location(vectors.shipped())
    return usage(lambda data: list(vectors._load_file(_Given(data), golden)))  # type: ignore[arg-type]


def _small_vector_files() -> Iterator[bytes]:
    for path in sorted((ROOT / "vectors").glob("*/*.json")):
        content = json.loads(path.read_bytes())
        if not path.name.endswith(".schema.json"):
            content["vectors"] = sorted(content["vectors"], key=lambda row: len(json.dumps(row)))[:2]
            yield json.dumps(content).encode()


def _results_file() -> Callable[[bytes], object]:
    from conformance.runner import results

    return usage(lambda data: results.read(_Given(data)))  # type: ignore[arg-type]


RESULTS = (
    b'{"kind":"header","results":1,"tool":"0.1.0","started":"2026-01-01T00:00:00+00:00","command":["run"],'
    b'"vectors":{"folder":"v","on_disk":1,"selected":1}}\n'
    b'{"kind":"case","id":"v","suite":"hashing","operation":"hash","section":"s","requirements":["HSH001"]}\n'
    b'{"kind":"adapter","name":"a","reproduce":"a"}\n'
    b'{"kind":"result","adapter":"a","id":"v","outcome":"passed","status":"passed"}\n'
)


def _deviations() -> Callable[[bytes], object]:
    from conformance.runner.expectations import read_deviations

    return usage(lambda data: read_deviations(Path("given"), decode_text(data)))


def _entries() -> Iterator[bytes]:
    """Yield what each engine's file of known deviations holds before its first section that is no `deviation`."""
    for text in files("*/deviations.toml", below="conformance/engines")():
        yield re.split(rb"(?m)^\[\[(?!deviation\])", text)[0]


def _golden_index() -> Callable[[bytes], object]:
    from conformance.vectors.golden_tables import parse_index

    return usage(lambda data: parse_index(data, "given"))


TARGETS = (
    Target("metadata", _metadata, _documents, mutations.mutate_json, 2),
    Target("metadata-check", _metadata_check, _documents, mutations.mutate_json, 2),
    Target("name-mapping", _name_mapping, json_members("name-mapping.apply", member="mapping"), mutations.mutate_json),
    Target("legacy-json", _legacy, lambda: (LEGACY,), mutations.mutate_json, 0.5),
    Target("protocol-line", _protocol_line, lambda: LINES, mutations.mutate_json),
    Target("vector-file", _vector_file, _small_vector_files, mutations.mutate_json, 0.5),
    Target("results-file", _results_file, lambda: (RESULTS,), mutations.mutate_bytes, 0.5),
    Target("deviations", _deviations, _entries, share=0.5),
    Target("golden-index", _golden_index, files("tables/*/index.json"), mutations.mutate_json, 0.5),
)
