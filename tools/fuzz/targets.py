"""Everything that reads bytes or text of others, with the errors that it documents."""

from __future__ import annotations

import functools
import io
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.fuzz import mutations
from tools.fuzz.mutations import Mutate

ROOT = Path(__file__).parent.parent.parent
CORPUS = Path(__file__).parent / "corpus"
REGRESSIONS = ROOT / "tests" / "fuzz" / "regressions"
MOST_SEEDS = 120
LARGEST_SEED = 1 << 14


@dataclass(frozen=True)
class Target:
    """A reader, and what it is given."""

    name: str
    load: Callable[[], Callable[[bytes], object]]
    """Imports and makes the reader; it raises nothing but `errors`."""

    seeds: Callable[[], Iterable[bytes]]
    mutate: Mutate = mutations.mutated_bytes
    share: float = 1.0
    """Its share of the time."""

    def kept(self) -> list[bytes]:
        """The inputs to begin with: sound ones, some that reach far, and those that were once wrong."""
        kept = [seed for seed in dict.fromkeys(self.seeds()) if len(seed) <= LARGEST_SEED]
        kept = kept[:: max(1, len(kept) // MOST_SEEDS)] or [b""]
        return kept + read_inputs(CORPUS / f"{self.name}.txt") + self.regressions()

    def regressions(self) -> list[bytes]:
        """The inputs that once were wrong."""
        return read_inputs(REGRESSIONS / f"{self.name}.txt")


def read_inputs(path: Path) -> list[bytes]:
    """The inputs of a file: a line of hexadecimal for each, after which a comment may follow."""
    if not path.exists():
        return []
    lines = (line.partition("#")[0].strip() for line in path.read_text(encoding="utf-8").splitlines())
    return [bytes.fromhex(line.removeprefix("empty")) for line in lines if line]


@functools.cache
def _vectors() -> list[tuple[str, dict[str, Any]]]:
    found = []
    for path in sorted((ROOT / "vectors").glob("*/*.json")):
        if not path.name.endswith(".schema.json"):
            content = json.loads(path.read_bytes())
            found += [(content["operation"], row["args"]) for row in content["vectors"]]
    return found


def _asked(operation: str, member: str) -> Iterator[Any]:
    return (args[member] for name, args in _vectors() if name == operation and member in args)


def _hexadecimal(*operations: str, member: str = "bytes") -> Callable[[], Iterator[bytes]]:
    return lambda: (bytes.fromhex(text) for operation in operations for text in _asked(operation, member))


def _json(*operations: str, member: str) -> Callable[[], Iterator[bytes]]:
    def seeds() -> Iterator[bytes]:
        for operation in operations:
            for value in _asked(operation, member):
                yield value.encode() if isinstance(value, str) and value[:1] == "{" else json.dumps(value).encode()

    return seeds


def _files(*patterns: str, below: str = "vectors/golden") -> Callable[[], Iterator[bytes]]:
    return lambda: (path.read_bytes() for pattern in patterns for path in sorted((ROOT / below).glob(pattern)))


# Readers. Each is made once, and raises only what it documents: what else it raises is a finding.


def refusing(read: Callable[[bytes], object]) -> Callable[[bytes], object]:
    """A reader whose refusals are as they should be."""
    from spec_ref.errors import SpecError

    def run(data: bytes) -> object:
        try:
            return read(data)
        except SpecError as error:
            return str(error)  # telling it must not fail either

    return run


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _metadata() -> Callable[[bytes], object]:
    from spec_ref.table_metadata.reader import read_metadata
    from spec_ref.table_metadata.writer import write_metadata

    return refusing(lambda data: write_metadata(read_metadata(data)))


_documents = _json("metadata.read", "metadata.check", "metadata.write", member="metadata")


def _metadata_check() -> Callable[[bytes], object]:
    from spec_ref.table_metadata.checks import check_metadata

    return lambda data: [str(finding) for finding in check_metadata(data)]


def _manifest() -> Callable[[bytes], object]:
    from spec_ref.manifests import read_manifest

    return refusing(lambda data: sum(1 for _ in read_manifest(data).entries()))


def _manifest_check() -> Callable[[bytes], object]:
    from spec_ref.manifests import check_manifest

    return lambda data: [str(finding) for finding in check_manifest(data)]


def _manifest_list() -> Callable[[bytes], object]:
    from spec_ref.snapshots.manifest_list import read_manifest_list

    return refusing(read_manifest_list)


def _data_file(name: str) -> Callable[[], Callable[[bytes], object]]:
    def load() -> Callable[[bytes], object]:
        from spec_ref.formats.data_files import open_rows
        from spec_ref.manifests.data_file import FileFormat

        def read(data: bytes) -> int:
            opened = open_rows(io.BytesIO(data), FileFormat(name))
            names = [field.name for field in opened.written.struct.fields]
            return sum(batch.num_rows for batch in opened.batches(names, 1000))

        return refusing(read)

    return load


_avro_files = _files("data-files/*.avro", "tables/*/data/*.avro", "tables/*/data/*/*.avro")


def _avro_metrics() -> Callable[[bytes], object]:
    from spec_ref.formats.metrics_avro import avro_metrics

    return refusing(avro_metrics)


def _avro_schema() -> Callable[[bytes], object]:
    from spec_ref.formats.avro_schema import from_avro
    from spec_ref.formats.avro_types import parse_schema

    return refusing(lambda data: from_avro(parse_schema(data, "AVR014")))


def _avro_schemas() -> Iterator[bytes]:
    for data in _hexadecimal("manifest.read", "manifest-list.read")():
        start, end = data.find(b'{"type"'), data.rfind(b"}")
        if 0 < start < end:
            yield data[start : end + 1]
            text, depth = data[start:], 0
            for place, byte in enumerate(text):
                depth += (byte == 0x7B) - (byte == 0x7D)
                if depth == 0:
                    yield text[: place + 1]
                    break


def _puffin() -> Callable[[bytes], object]:
    from spec_ref.formats.puffin import read_puffin

    def read(data: bytes) -> object:
        file = read_puffin(data)
        return [len(file.blob_bytes(blob)) for blob in file.metadata.blobs[:20]]

    return refusing(read)


def _puffin_check() -> Callable[[bytes], object]:
    from spec_ref.formats.puffin_checks import check_puffin

    return lambda data: [str(found) for found in check_puffin(data)]


def _deletion_vector() -> Callable[[bytes], object]:
    from spec_ref.deletes.deletion_vector import decode_deletion_vector

    def read(data: bytes) -> object:
        vector = decode_deletion_vector(data)
        return len(vector.ranges()) if vector.cardinality < 1 << 20 else vector.cardinality

    return refusing(read)


def _theta() -> Callable[[bytes], object]:
    from spec_ref.formats.theta import decode_theta

    return refusing(decode_theta)


def _compressed() -> Callable[[bytes], object]:
    from spec_ref.formats.compression import decompress

    return refusing(lambda data: decompress("lz4" if data[:1] == b"\x04" else "zstd", data, limit=1 << 20))


def _frames() -> Iterator[bytes]:
    from spec_ref.formats.compression import compress

    return (compress(name, text) for name in ("lz4", "zstd") for text in (b"", b"a", b"ab" * 5000, bytes(range(256))))


def _parquet() -> Callable[[bytes], object]:
    from spec_ref.formats.parquet_schema import check_parquet_schema, struct_from_parquet
    from spec_ref.formats.parquet_thrift import read_parquet_schema

    def read(data: bytes) -> object:
        root = read_parquet_schema(data)
        list(check_parquet_schema(root))
        return struct_from_parquet(root)

    return refusing(read)


def _parquet_footers() -> Iterator[bytes]:
    """The footers alone, so that what is broken is what is read."""
    for data in _files("*/*.parquet", "tables/*/data/*.parquet", "tables/*/data/*/*.parquet")():
        size = int.from_bytes(data[-8:-4], "little")
        yield b"PAR1" + data[len(data) - 8 - size :]


_orc_files = _files("data-files/*.orc", "tables/*/data/*.orc", "tables/*/data/*/*.orc")


def _orc_types() -> Callable[[bytes], object]:
    from spec_ref.formats.orc_footer import check_types

    return refusing(lambda data: check_types(io.BytesIO(data)))


def _orc_stripes() -> Callable[[bytes], object]:
    from spec_ref.formats.orc_footer import read_stripes, stream_bytes

    def read(data: bytes) -> object:
        stripes = read_stripes(data)
        return [len(stream_bytes(data, stream, 1 << 20)) for stripe in stripes[:4] for stream in stripe.streams[:20]]

    return refusing(read)


@functools.cache
def _types() -> tuple[Any, ...]:
    from spec_ref.schemas.type_json import type_from_json

    names = (
        "boolean", "int", "long", "float", "double", "date", "time", "timestamp", "timestamptz", "timestamp_ns",
        "timestamptz_ns", "string", "uuid", "fixed[4]", "binary", "decimal(9,2)", "decimal(38,10)", "variant",
        "geometry", "geography", "unknown",
    )  # fmt: skip
    nested = (
        {"type": "list", "element-id": 1, "element": "int", "element-required": False},
        {"type": "map", "key-id": 1, "key": "string", "value-id": 2, "value": "decimal(9,2)", "value-required": True},
        {"type": "struct", "fields": [{"id": 1, "name": "a", "required": True, "type": "timestamptz"}]},
    )
    return tuple(map(type_from_json, (*names, *nested)))


def _typed(read: Callable[[Any, bytes], object]) -> Callable[[bytes], object]:
    """A reader of a value of a type: the first byte chooses the type."""
    types = _types()
    return refusing(lambda data: read(types[data[0] % len(types)], data[1:]) if data else None)


def _single_value() -> Callable[[bytes], object]:
    from spec_ref.single_value.binary import from_binary, to_binary

    return _typed(lambda type_, data: to_binary(type_, from_binary(type_, data)))


def _bound() -> Callable[[bytes], object]:
    from spec_ref.single_value.bounds import decode_bound

    return _typed(decode_bound)


def _json_value() -> Callable[[bytes], object]:
    from spec_ref.json_document import loads
    from spec_ref.single_value.json_value import from_json, to_json

    return _typed(lambda type_, data: to_json(type_, from_json(type_, loads(data))))


def _chosen(operation: str, member: str) -> Callable[[], Iterator[bytes]]:
    def seeds() -> Iterator[bytes]:
        for number, value in enumerate(_asked(operation, member)):
            yield bytes([number % 24]) + (bytes.fromhex(value) if member == "bytes" else json.dumps(value).encode())

    return seeds


def _mutated_typed_json(rng: Any, data: bytes, seeds: Any) -> bytes:
    return bytes([rng.randrange(24)]) + mutations.mutated_json(rng, data[1:], [seed[1:] for seed in seeds[:50]])


def _document(read: Callable[[Any], object]) -> Callable[[bytes], object]:
    from spec_ref.json_document import loads

    return refusing(lambda data: read(loads(data)))


def _type() -> Callable[[bytes], object]:
    from spec_ref.schemas.type_json import type_from_json, type_to_json

    return _document(lambda json_: type_to_json(type_from_json(json_)))


def _predicate() -> Callable[[bytes], object]:
    from spec_ref.expressions.expression_json import predicate_from_json, predicate_to_json

    return _document(lambda json_: predicate_to_json(predicate_from_json(json_)))


def _name_mapping() -> Callable[[bytes], object]:
    from spec_ref.schemas.name_mapping import read_name_mapping

    return refusing(lambda data: read_name_mapping(_text(data)))


def _legacy() -> Callable[[bytes], object]:
    from spec_ref.table_metadata.legacy_json import read_content_file, read_scan_task

    def read(document: Any) -> object:
        return (
            read_scan_task(document) if type(document) is dict and "schema" in document else read_content_file(document)
        )

    return _document(read)


LEGACY = (
    b'{"spec-id":0,"content":"DATA","file-path":"a","file-format":"PARQUET","partition":{"1000":1},'
    b'"file-size-in-bytes":1,"record-count":1,"column-sizes":{"keys":[1],"values":[2]},"lower-bounds":{"keys":[1],'
    b'"values":["00"]},"key-metadata":"00","split-offsets":[1],"sort-order-id":1}'
)


def _variant() -> Callable[[bytes], object]:
    from spec_ref.formats.variant import decode_variant, split_variant

    return refusing(lambda data: decode_variant(split_variant(data)))


def _variant_bound() -> Callable[[bytes], object]:
    from spec_ref.single_value.variant_bounds import decode_variant_bound

    return refusing(decode_variant_bound)


def _variants() -> Iterator[bytes]:
    yield bytes.fromhex("0100000C01")
    for operation, args in _vectors():
        if operation == "bound.decode" and args["type"] == "variant":
            yield bytes.fromhex(args["bytes"])


def _wkb() -> Callable[[bytes], object]:
    from spec_ref.formats.wkb import read_wkb, write_wkb
    from spec_ref.formats.wkt import write_wkt

    def read(data: bytes) -> object:
        geometry = read_wkb(data)
        return write_wkb(geometry), write_wkt(geometry)

    return refusing(read)


def _wkbs() -> Iterator[bytes]:
    from spec_ref.formats.wkb import wkt_to_wkb

    return map(wkt_to_wkb, map(_text, _wkts()))


def _wkts() -> Iterator[bytes]:
    yield from (
        b"POINT (1 2)", b"POINT Z (1 2 3)", b"POINT EMPTY", b"LINESTRING ZM (1 2 3 4, 5 6 7 8)",
        b"POLYGON ((0 0, 1 0, 1 1, 0 0), (0 0, 1 0, 1 1, 0 0))", b"MULTIPOINT M ((1 2 3), (4 5 6))",
        b"MULTIPOLYGON (((0 0, 1 0, 1 1, 0 0)))", b"GEOMETRYCOLLECTION (POINT (1 2))",
        b"GEOMETRYCOLLECTION (GEOMETRYCOLLECTION (POINT (-1e10 .5)))",
    )  # fmt: skip


def _wkt() -> Callable[[bytes], object]:
    from spec_ref.formats.wkt import read_wkt, write_wkt

    return refusing(lambda data: write_wkt(read_wkt(_text(data))))


def _json_path() -> Callable[[bytes], object]:
    from spec_ref.formats.json_path import normalized_path, parse_normalized_path

    return refusing(lambda data: normalized_path(parse_normalized_path(_text(data))))


def _transforms() -> Iterator[bytes]:
    return (text.encode() for text in _asked("transform", "transform"))


def _transform() -> Callable[[bytes], object]:
    from spec_ref.partitioning.transforms import parse_transform

    return refusing(lambda data: str(parse_transform(_text(data))))


def _protocol_line() -> Callable[[bytes], object]:
    from conformance.protocol import Breach, read_answer, read_started

    def read(line: bytes) -> object:
        try:
            _, answer = read_answer(line)
            return read_started(answer)
        except Breach as error:
            return str(error)

    return read


LINES = (
    b'{"seq":0,"ok":{"implementation":"m","version":"1","language":"go","protocol":1,"operations":[]}}',
    b'{"seq":1,"ok":2017239379}',
    b'{"seq":2,"error":{"kind":"invalid","message":"m"}}',
    b'{"seq":3,"unsupported":"no"}',
    b'{"seq":1,"ok":1e400}',
)


class _Given:
    """A file that is not there, as far as its readers look."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def read_bytes(self) -> bytes:
        return self.data

    def __str__(self) -> str:
        return "given"


def _usage(read: Callable[[bytes], object]) -> Callable[[bytes], object]:
    from conformance.failures import UsageError

    def run(data: bytes) -> object:
        try:
            return read(data)
        except UsageError as error:
            return str(error)

    return run


def _vector_file() -> Callable[[bytes], object]:
    from conformance import vectors

    check = vectors._schema(vectors.shipped() / vectors.SCHEMA)
    return _usage(lambda data: list(vectors._load_file(_Given(data), check)))  # type: ignore[arg-type]


def _small_vector_files() -> Iterator[bytes]:
    for path in sorted((ROOT / "vectors").glob("*/*.json")):
        content = json.loads(path.read_bytes())
        if not path.name.endswith(".schema.json"):
            content["vectors"] = sorted(content["vectors"], key=lambda row: len(json.dumps(row)))[:2]
            yield json.dumps(content).encode()


def _results_file() -> Callable[[bytes], object]:
    from conformance import results

    return _usage(lambda data: results.read(_Given(data)))  # type: ignore[arg-type]


RESULTS = (
    b'{"kind":"header","results":1,"tool":"0.1.0","started":"2026-01-01T00:00:00+00:00","command":["run"],'
    b'"vectors":{"folder":"v","on_disk":1,"selected":1}}\n'
    b'{"kind":"case","id":"v","suite":"hashing","operation":"hash","section":"s","requirements":["HSH001"]}\n'
    b'{"kind":"adapter","name":"a","reproduce":"a"}\n'
    b'{"kind":"result","adapter":"a","id":"v","outcome":"passed","status":"passed"}\n'
)


def _deviations() -> Callable[[bytes], object]:
    from conformance.expectations import read_deviations

    return _usage(lambda data: read_deviations(Path("given"), _text(data)))


def _golden_index() -> Callable[[bytes], object]:
    from conformance.golden_tables import checked_index

    return _usage(lambda data: checked_index(data, "given"))


TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        Target("metadata", _metadata, _documents, mutations.mutated_json, 2),
        Target("metadata-check", _metadata_check, _documents, mutations.mutated_json, 2),
        Target("manifest", _manifest, _hexadecimal("manifest.read"), mutations.mutated_avro, 2),
        Target("manifest-check", _manifest_check, _hexadecimal("manifest.check"), mutations.mutated_avro),
        Target("manifest-list", _manifest_list, _hexadecimal("manifest-list.read"), mutations.mutated_avro),
        Target("avro-schema", _avro_schema, _avro_schemas, mutations.mutated_json),
        Target("avro-data", _data_file("avro"), _avro_files, mutations.mutated_avro),
        Target("avro-metrics", _avro_metrics, _avro_files, mutations.mutated_avro, 0.5),
        Target("puffin", _puffin, _hexadecimal("puffin.read"), mutations.mutated_puffin),
        Target("puffin-check", _puffin_check, _hexadecimal("puffin.read"), mutations.mutated_puffin),
        Target("deletion-vector", _deletion_vector, _hexadecimal("dv.decode"), mutations.mutated_vector),
        Target("theta", _theta, _hexadecimal("theta.decode")),
        Target("compressed", _compressed, _frames),
        Target("parquet-footer", _parquet, _parquet_footers, mutations.mutated_footer),
        Target("orc-types", _orc_types, _orc_files, mutations.mutated_orc),
        Target("orc-stripes", _orc_stripes, _orc_files, mutations.mutated_orc),
        Target("single-value", _single_value, _chosen("single-value.decode", "bytes")),
        Target("bound", _bound, _chosen("bound.decode", "bytes")),
        Target("json-value", _json_value, _chosen("json-value.decode", "json"), _mutated_typed_json),
        Target("type", _type, _json("type.parse", member="type"), mutations.mutated_json),
        Target("predicate", _predicate, _json("expression.evaluate", "projection.evaluate", member="predicate"),
               mutations.mutated_json),
        Target("name-mapping", _name_mapping, _json("name-mapping.apply", member="mapping"), mutations.mutated_json),
        Target("legacy-json", _legacy, lambda: (LEGACY,), mutations.mutated_json, 0.5),
        Target("variant", _variant, _variants),
        Target("variant-bound", _variant_bound, _variants),
        Target("wkb", _wkb, _wkbs),
        Target("wkt", _wkt, _wkts),
        Target("json-path", _json_path, lambda: (b"$['a']['b']", b"$", b"$['\\u000b']['\\'']")),
        Target("transform", _transform, _transforms),
        Target("protocol-line", _protocol_line, lambda: LINES, mutations.mutated_json),
        Target("vector-file", _vector_file, _small_vector_files, mutations.mutated_json, 0.5),
        Target("results-file", _results_file, lambda: (RESULTS,), mutations.mutated_bytes, 0.5),
        Target("deviations", _deviations, _files("*.toml", below="conformance/known_deviations"), share=0.5),
        Target("golden-index", _golden_index, _files("tables/*/index.json"), mutations.mutated_json, 0.5),
    )
}  # fmt: skip
"""All targets by name."""
