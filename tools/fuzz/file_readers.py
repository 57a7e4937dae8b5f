"""Readers of whole files: manifests, data files, Puffin files and their contents."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator

from tools.fuzz import mutations
from tools.fuzz.target import Target, files, hexadecimal, return_refusals


def _manifest() -> Callable[[bytes], object]:
    from spec_ref.manifests import read_manifest

    return return_refusals(lambda data: sum(1 for _ in read_manifest(data).entries()))


def _manifest_check() -> Callable[[bytes], object]:
    from spec_ref.manifests import check_manifest

    return lambda data: [str(finding) for finding in check_manifest(data)]


def _manifest_list() -> Callable[[bytes], object]:
    from spec_ref.manifest_lists.reader import read_manifest_list

    return return_refusals(read_manifest_list)


def _data_file(name: str) -> Callable[[], Callable[[bytes], object]]:
    def load() -> Callable[[bytes], object]:
        from spec_ref.data_files.reader import open_rows
        from spec_ref.manifests.data_file import FileFormat

        def read(data: bytes) -> int:
            opened = open_rows(io.BytesIO(data), FileFormat(name))
            names = [field.name for field in opened.columns.struct.fields]
            return sum(batch.num_rows for batch in opened.batches(names, 1000))

        return return_refusals(read)

    return load


_avro_files = files("data-files/*.avro", "tables/*/data/*.avro", "tables/*/data/*/*.avro")


def _avro_metrics() -> Callable[[bytes], object]:
    from spec_ref.data_files.avro_metrics import avro_metrics

    return return_refusals(avro_metrics)


def _avro_schema() -> Callable[[bytes], object]:
    from spec_ref.avro_mapping.stored_types import type_from_avro
    from spec_ref.encodings.avro.types import parse_schema

    return return_refusals(lambda data: type_from_avro(parse_schema(data, "AVR014")))


def _avro_schemas() -> Iterator[bytes]:
    for data in hexadecimal("manifest.read", "manifest-list.read")():
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
    from spec_ref.encodings.puffin.file import read_puffin

    def read(data: bytes) -> object:
        file = read_puffin(data)
        return [len(file.blob_bytes(blob)) for blob in file.metadata.blobs[:20]]

    return return_refusals(read)


def _puffin_check() -> Callable[[bytes], object]:
    from spec_ref.statistics.puffin_checks import check_puffin

    return lambda data: [str(found) for found in check_puffin(data)]


def _deletion_vector() -> Callable[[bytes], object]:
    from spec_ref.columnar.deletes.deletion_vector import decode_deletion_vector, position_ranges

    def read(data: bytes) -> object:
        vector = decode_deletion_vector(data)
        return len(position_ranges(vector)) if vector.cardinality < 1 << 20 else vector.cardinality

    return return_refusals(read)


def _theta() -> Callable[[bytes], object]:
    from spec_ref.statistics.theta import decode_theta

    return return_refusals(decode_theta)


def _decompression() -> Callable[[bytes], object]:
    from spec_ref.encodings.puffin.compression import decompress

    return return_refusals(lambda data: decompress("lz4" if data[:1] == b"\x04" else "zstd", data, limit=1 << 20))


def _frames() -> Iterator[bytes]:
    from spec_ref.encodings.puffin.compression import compress

    return (compress(name, text) for name in ("lz4", "zstd") for text in (b"", b"a", b"ab" * 5000, bytes(range(256))))


def _parquet() -> Callable[[bytes], object]:
    from spec_ref.data_files.parquet_schema import check_parquet_schema, struct_from_parquet
    from spec_ref.data_files.parquet_thrift import read_parquet_schema

    def read(data: bytes) -> object:
        root = read_parquet_schema(data)
        list(check_parquet_schema(root))
        return struct_from_parquet(root)

    return return_refusals(read)


def _parquet_footers() -> Iterator[bytes]:
    """Yield the footers alone, so that mutations change what is read."""
    for data in files("*/*.parquet", "tables/*/data/*.parquet", "tables/*/data/*/*.parquet")():
        size = int.from_bytes(data[-8:-4], "little")
        yield b"PAR1" + data[len(data) - 8 - size :]


_orc_files = files("data-files/*.orc", "tables/*/data/*.orc", "tables/*/data/*/*.orc")


def _orc_types() -> Callable[[bytes], object]:
    from spec_ref.data_files.orc_footer import check_types

    return return_refusals(lambda data: check_types(io.BytesIO(data)))


def _orc_stripes() -> Callable[[bytes], object]:
    from spec_ref.data_files.orc_footer import read_stripes, stream_bytes

    def read(data: bytes) -> object:
        stripes = read_stripes(data)
        return [len(stream_bytes(data, stream, 1 << 20)) for stripe in stripes[:4] for stream in stripe.streams[:20]]

    return return_refusals(read)


TARGETS = (
    Target("manifest", _manifest, hexadecimal("manifest.read"), mutations.mutate_avro, 2),
    Target("manifest-check", _manifest_check, hexadecimal("manifest.check"), mutations.mutate_avro),
    Target("manifest-list", _manifest_list, hexadecimal("manifest-list.read"), mutations.mutate_avro),
    Target("avro-schema", _avro_schema, _avro_schemas, mutations.mutate_json),
    Target("avro-data", _data_file("avro"), _avro_files, mutations.mutate_avro),
    Target("avro-metrics", _avro_metrics, _avro_files, mutations.mutate_avro, 0.5),
    Target("puffin", _puffin, hexadecimal("puffin.read"), mutations.mutate_puffin),
    Target("puffin-check", _puffin_check, hexadecimal("puffin.read"), mutations.mutate_puffin),
    Target("deletion-vector", _deletion_vector, hexadecimal("dv.decode"), mutations.mutate_vector),
    Target("theta", _theta, hexadecimal("theta.decode")),
    Target("compressed", _decompression, _frames),
    Target("parquet-footer", _parquet, _parquet_footers, mutations.mutate_footer),
    Target("orc-types", _orc_types, _orc_files, mutations.mutate_orc),
    Target("orc-stripes", _orc_stripes, _orc_files, mutations.mutate_orc),
)
