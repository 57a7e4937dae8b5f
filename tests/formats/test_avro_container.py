"""Avro containers: contents are read back, and no length, count or codec is trusted."""

from __future__ import annotations

import bz2
import contextlib
import io
import json
import lzma
import time
import tracemalloc
import zlib
from collections.abc import Callable

import fastavro
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spec_ref.core.errors import SpecError
from spec_ref.encodings.avro.container import CODECS, ContainerLimits, long_bytes, open_container, write_container
from spec_ref.encodings.avro.types import parse_schema
from spec_ref.encodings.avro.values import decode_all, read_long
from tools.derive import avro

FOREIGN: dict[str, Callable[[bytes], bytes]] = {"bzip2": bz2.compress, "xz": lzma.compress}
"""What is read and not written here."""

CODE = "MAN001"
SCHEMA = json.dumps({"type": "record", "name": "r", "fields": [{"name": "x", "type": "string"}]})
SYNC = b"0123456789abcdef"
BODY = b"\x0aabcde"


READ_CODECS = ("null", "deflate", "bzip2", "snappy", "xz", "zstandard")
"""Those of the Avro specification."""

PACKED_CODECS = [codec for codec in READ_CODECS if codec != "null"]
"""Those that compress."""


def container(*blocks: tuple[int, bytes], codec: str = "null") -> bytes:
    if codec in FOREIGN:
        packed = [avro.block(count, FOREIGN[codec](payload), sync=SYNC) for count, payload in blocks]
        return avro.header({"avro.schema": SCHEMA, "avro.codec": codec}, SYNC) + b"".join(packed)
    return write_container({"avro.schema": SCHEMA}, blocks, codec=codec, sync=SYNC)


def decoded(data: bytes, limits: ContainerLimits) -> list[object]:
    opened = open_container(data, CODE, limits)
    type_ = parse_schema(opened.metadata["avro.schema"], CODE)
    return [row for count, payload in opened.payloads() for row in decode_all(type_, count, payload, CODE)]


def refused(data: bytes, limits: ContainerLimits | None = None) -> str:
    with pytest.raises(SpecError) as error:
        decoded(data, limits or ContainerLimits())
    assert error.value.violation.requirement == CODE
    return str(error.value)


@pytest.mark.parametrize("codec", READ_CODECS)
def test_fastavro_reads_what_is_written_and_is_read(codec: str) -> None:
    ours = container((2, BODY * 2), (1, BODY), codec=codec)
    assert [row["x"] for row in fastavro.reader(io.BytesIO(ours))] == ["abcde"] * 3
    out = io.BytesIO()
    fastavro.writer(out, json.loads(SCHEMA), [{"x": "abcde"}] * 3, codec=codec)
    assert [payload for _, payload in open_container(out.getvalue(), CODE).payloads()] == [BODY * 3]


@given(st.integers(-(1 << 63), (1 << 63) - 1))
def test_integers_survive(value: int) -> None:
    encoded = long_bytes(value)
    assert read_long(encoded, 0) == (value, len(encoded))


@pytest.mark.parametrize("codec", READ_CODECS)
def test_a_file_that_ends_anywhere_but_behind_a_block_is_refused(codec: str) -> None:
    data = container((2, BODY * 2), codec=codec)
    header = len(container(codec=codec))
    for size in range(len(data)):
        if size != header:
            refused(data[:size])


def test_another_sync_marker_is_refused() -> None:
    data = container((1, BODY), (1, BODY))
    assert f"; expected 0x{SYNC.hex()}" in refused(data[:-1] + b"\0")


def test_other_magic_is_refused() -> None:
    assert "; found 0x50415231 ('PAR1'); expected 0x4f626a01" in refused(b"PAR1" + container((1, BODY))[4:])


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (long_bytes(-1) + long_bytes(6) + BODY, "; found -1"),
        (long_bytes(1) + long_bytes(-6) + BODY, "; found -6; expected 0 to 22, the bytes left in the file"),
        (long_bytes(1) + long_bytes(1 << 62) + BODY, "; found 4611686018427387904; expected 0 to 22, "),
        (b"\xff" * 11 + long_bytes(6) + BODY, "; expected at most 64 bits"),
        (long_bytes(1 << 62) + long_bytes(6) + BODY, "; found 4611686018427387904; expected at most 6"),
        (long_bytes(2) + long_bytes(6) + BODY, "/1/x: "),
        (long_bytes(0) + long_bytes(6) + BODY, "; expected no bytes after 0 objects"),
        (long_bytes(1) + long_bytes(7) + BODY + b"\0", "; expected no bytes after 1 objects"),
        (long_bytes(1) + long_bytes(2) + long_bytes(-3) + b"\0", "/0/x: "),
        (long_bytes(1) + long_bytes(2) + long_bytes(3) + b"a", "/0/x: "),
    ],
)
def test_lying_counts_and_sizes_are_refused(block: bytes, expected: str) -> None:
    assert expected in refused(container() + block + SYNC)


def test_a_header_that_claims_too_much_is_refused() -> None:
    magic = b"Obj\x01"
    assert refused(magic + long_bytes(1 << 62) + b"\0" * 100)
    assert refused(magic + long_bytes(1) + long_bytes(1 << 40) + b"key")
    assert refused(magic + long_bytes(-1) + long_bytes(1 << 40) + b"key")
    many = b"".join(long_bytes(1) + b"a" + long_bytes(0) for _ in range(100))
    assert "; found 100; expected 50" in refused(
        magic + long_bytes(100) + many + b"\0" + SYNC, ContainerLimits(header_entries=50)
    )
    assert "; expected avro.schema" in refused(magic + long_bytes(0) + SYNC)


def test_an_unknown_codec_is_refused() -> None:
    data = container((1, BODY)).replace(b"\x08null", b"\x08lzma")
    assert "; found 'lzma'" in refused(data)


@pytest.mark.parametrize("codec", PACKED_CODECS)
def test_a_bomb_is_refused_before_it_goes_off(codec: str) -> None:
    data = container((1, bytes(64 << 20)), codec=codec)
    tracemalloc.start()
    assert f"; expected at most {1 << 20} bytes" in refused(data, ContainerLimits(block_bytes=1 << 20))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 << 20
    assert f"; expected at most {1 << 20} bytes" in refused(data, ContainerLimits(total_bytes=1 << 20))


@pytest.mark.parametrize("codec", PACKED_CODECS)
@pytest.mark.parametrize("limit", [1 << 20, 100])
def test_damaged_compression_is_refused(codec: str, limit: int) -> None:
    packed = open_container(container((1, BODY), codec=codec), CODE)
    block = packed.blocks[0]
    body = bytes(packed.data[block.start : block.start + block.size])
    for damaged in (body[:-1], body[:-5], b"\xff" * len(body), b""):
        data = container(codec=codec) + long_bytes(1) + long_bytes(len(damaged)) + damaged + SYNC
        assert f"; expected {codec} data" in refused(data, ContainerLimits(block_bytes=limit))


@pytest.mark.parametrize("codec", FOREIGN)
def test_nothing_follows_the_stream_of_a_block(codec: str) -> None:
    packed = FOREIGN[codec](BODY)
    data = container(codec=codec) + avro.block(1, packed + packed, sync=SYNC)
    assert f"; expected {codec} data" in refused(data)


def test_xz_that_asks_for_more_memory_than_any_level_of_compression_is_refused() -> None:
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 30}]
    packed = lzma.compress(BODY, lzma.FORMAT_XZ, filters=filters)
    assert "; expected xz data" in refused(container(codec="xz") + avro.block(1, packed, sync=SYNC))


def test_codecs_that_are_read_are_those_of_the_avro_specification_and_no_other_is_written() -> None:
    assert sorted(READ_CODECS) == ["bzip2", "deflate", "null", "snappy", "xz", "zstandard"]
    assert sorted(CODECS) == ["deflate", "null", "snappy", "zstandard"]
    with pytest.raises(ValueError, match="bzip2 is not one of"):
        write_container({"avro.schema": SCHEMA}, [(1, BODY)], codec="bzip2", sync=SYNC)


def test_the_checksum_of_snappy_is_of_the_decompressed_bytes() -> None:
    opened = open_container(container((1, BODY), codec="snappy"), CODE)
    assert bytes(opened.data[:-16])[-4:] == zlib.crc32(BODY).to_bytes(4, "big")


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60), st.sampled_from(READ_CODECS))
def test_any_bytes_behind_a_header_are_read_or_refused(data: bytes, codec: str) -> None:
    with contextlib.suppress(SpecError):
        decoded(container(codec=codec) + data, ContainerLimits())


# Schemas


@pytest.mark.parametrize(
    "schema",
    [
        "",
        "[]",
        "{",
        "1",
        '"x"',
        '{"type": "record"}',
        '{"type": "record", "name": "r"}',
        '{"type": "record", "name": "r", "fields": [{"name": "a"}]}',
        '{"type": "record", "name": "r", "fields": [{"name": "a", "type": "int"}, {"name": "a", "type": "int"}]}',
        '{"type": "record", "name": "r", "fields": [{"name": "a", "type": "r"}]}',
        '{"type": "fixed", "name": "f", "size": -1}',
        '{"type": "fixed", "name": "f", "size": 1e3}',
        '{"type": "fixed", "name": "f", "size": 99999999999}',
        '{"type": "enum", "name": "e", "symbols": []}',
        '{"type": {"type": {"type": 1}}}',
        '["null", "nothing"]',
        '{"type": "array"}',
        '[{"type": "fixed", "name": "f", "size": 1}, {"type": "fixed", "name": "f", "size": 2}]',
    ],
)
def test_malformed_schemas_are_refused(schema: str) -> None:
    with pytest.raises(SpecError) as error:
        parse_schema(schema, CODE)
    assert error.value.violation.requirement == CODE


def test_ids_are_integers() -> None:
    for wrong in ('"5"', "5.0", "true", str(1 << 40)):
        schema = '{"type": "record", "name": "r", "fields": [{"name": "a", "type": "int", "field-id": ' + wrong + "}]}"
        with pytest.raises(SpecError) as error:
            parse_schema(schema, CODE)
        assert error.value.violation.requirement == "AVR013"
        assert error.value.violation.path == "/fields/0/field-id"


def test_schema_bombs_are_refused_quickly() -> None:
    start = time.process_time()
    doubling: list[str] = ['{"type": "record", "name": "r0", "fields": [{"name": "a", "type": "int"}]}']
    for number in range(1, 60):
        of = f"r{number - 1}"
        doubling.append(
            f'{{"type": "record", "name": "r{number}", "fields": '
            f'[{{"name": "a", "type": "{of}"}}, {{"name": "b", "type": "{of}"}}]}}'
        )
    with pytest.raises(SpecError, match="; expected at most 500000"):
        parse_schema("[" + ",".join(doubling) + "]", CODE)
    for depth in (150, 5000, 200_000):
        with pytest.raises(SpecError):
            parse_schema('{"type": "array", "items": ' * depth + '"nothing"' + "}" * depth, CODE)
    assert time.process_time() - start < 50


def test_a_namespace_leads_to_its_names() -> None:
    schema = """{"type": "record", "name": "a.b.r", "fields": [
        {"name": "x", "type": {"type": "fixed", "name": "f", "size": 2}},
        {"name": "y", "type": "f"}, {"name": "z", "type": "a.b.f"}]}"""
    record = parse_schema(schema, CODE)
    assert len({field.type for field in record.fields}) == 1  # type: ignore[union-attr]
