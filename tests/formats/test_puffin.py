"""PUF001 to PUF027: reading and writing Puffin files."""

import json
import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spec_ref.core.errors import SpecError
from spec_ref.deletes.deletion_vector import encode_deletion_vector
from spec_ref.encodings.puffin.compression import compress, decompress
from spec_ref.encodings.puffin.file import Blob, read_puffin, write_puffin
from spec_ref.statistics.puffin_checks import check_puffin
from spec_ref.statistics.theta import build_sketch, encode_theta
from tools.derive.cases import puffin as cases
from tools.derive.puffin import blob_metadata, file

VECTORS = [vector for file in cases.files() for vector in file.vectors if file.operation == "puffin.read"]
CREATED_BY = {"created-by": "tests"}


def answer(data):
    puffin = read_puffin(data)
    return {
        "blobs": [
            {
                "type": blob.type,
                "fields": list(blob.fields),
                "snapshot-id": str(blob.snapshot_id),
                "sequence-number": str(blob.sequence_number),
                "offset": str(blob.offset),
                "length": str(blob.length),
                "compression-codec": blob.compression_codec,
                "properties": dict(blob.properties or {}),
                "payload": puffin.blob_bytes(blob).hex().upper(),
            }
            for blob in puffin.blobs
        ],
        "properties": dict(puffin.properties),
    }


@pytest.mark.parametrize("case", VECTORS, ids=lambda case: case.id)
def test_derived_vectors_hold(case):
    allowed = case.expect.get("any_of", [case.expect])
    data = bytes.fromhex(case.args["bytes"])
    code = None
    try:
        got = {"ok": answer(data)}
    except SpecError as error:
        got, code = {"error": "invalid"}, error.violation.requirement
    assert got in allowed
    # A payload's size that is wrong shows where the footer's magic is not.
    assert code in (None, *case.requirements, "PUF002")
    found = {one.requirement for one in check_puffin(data)}
    assert ({"error": "invalid"} in allowed) == bool(found - {"PUF025"})


def test_a_file_without_blobs_is_these_bytes():
    assert write_puffin([]) == bytes.fromhex(
        "50464131 50464131 7B22626C6F6273223A5B5D7D 0C000000 00000000 50464131".replace(" ", "")
    )


def test_the_footer_size_counts_the_whole_footer():
    puffin = read_puffin(write_puffin([]))
    assert (puffin.footer_size, puffin.footer_offset) == (28, 4)


blobs = st.builds(
    Blob,
    type=st.text(max_size=8),
    fields=st.lists(st.integers(-(1 << 31), (1 << 31) - 1), max_size=3),
    payload=st.binary(max_size=200),
    snapshot_id=st.integers(-(1 << 63), (1 << 63) - 1),
    sequence_number=st.integers(-(1 << 63), (1 << 63) - 1),
    compression_codec=st.sampled_from([None, "lz4", "zstd"]),
    properties=st.none() | st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=3),
).filter(lambda blob: blob.type != "deletion-vector-v1")


@settings(max_examples=60)
@given(st.lists(blobs, max_size=4), st.booleans())
def test_what_is_written_is_read_and_has_no_findings(written, compressed):  # PUF004
    data = write_puffin(written, CREATED_BY, compress_footer=compressed)
    puffin = read_puffin(data)
    assert puffin.flags == compressed
    assert [puffin.blob_bytes(blob) for blob in puffin.blobs] == [blob.payload for blob in written]
    for blob, source in zip(puffin.blobs, written, strict=True):
        assert (blob.type, blob.fields, blob.properties) == (source.type, source.fields, source.properties)
        assert (blob.snapshot_id, blob.sequence_number) == (source.snapshot_id, source.sequence_number)
    assert list(check_puffin(data)) == []
    assert write_puffin(written, CREATED_BY, compress_footer=compressed) == data


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 1 << 32), st.booleans())
def test_damage_gives_findings_or_a_file(seed, compressed):
    rng = random.Random(seed)
    sketch = encode_theta(build_sketch([b"a", b"b"]))
    dv = Blob(
        "deletion-vector-v1",
        (1,),
        encode_deletion_vector([4]),
        properties={"cardinality": "1", "referenced-data-file": "a"},
    )
    data = bytearray(
        write_puffin([dv, Blob("apache-datasketches-theta-v1", (1,), sketch, 1, 1, "zstd")], compress_footer=compressed)
    )
    for _ in range(rng.randint(1, 3)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    findings = list(check_puffin(bytes(data)))
    try:
        answer(bytes(data))
    except SpecError:
        assert findings


DV = encode_deletion_vector([1, 2])
DV_PROPERTIES = {"referenced-data-file": "s3://b/t/a.parquet", "cardinality": "2"}


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"properties": {"cardinality": "2", "referenced": "a"}}, "PUF021"),
        ({"properties": {"cardinality": "2"}}, "PUF021"),
        ({"properties": {"referenced-data-file": "a"}}, "PUF022"),
        ({"properties": {**DV_PROPERTIES, "cardinality": "02"}}, "PUF022"),
        ({"properties": {**DV_PROPERTIES, "cardinality": " 2"}}, "PUF022"),
        ({"properties": {**DV_PROPERTIES, "cardinality": "-1"}}, "PUF022"),
        ({"compression_codec": "lz4"}, "PUF023"),
        ({"snapshot_id": 7}, "PUF024"),
        ({"sequence_number": 0}, "PUF024"),
    ],
)
def test_a_deletion_vector_is_not_written_against_its_rules_and_is_reported_of_where_it_is(changes, code):
    members = {"properties": DV_PROPERTIES, "snapshot_id": -1, "sequence_number": -1, **changes}
    with pytest.raises(SpecError, match=code):
        write_puffin([Blob("deletion-vector-v1", (2147483645,), DV, **members)])
    members.pop("compression_codec", None)
    codec = "lz4" if code == "PUF023" else None
    metadata = blob_metadata("deletion-vector-v1", 4, len(DV), **members, compression_codec=codec)
    payload = {"blobs": [metadata], "properties": CREATED_BY}
    found = {one.requirement for one in check_puffin(file(DV, payload))}
    assert found == ({code, "PUF027"} if code == "PUF023" else {code})


def test_checks_report_everything_and_where():
    theta = encode_theta(build_sketch([b"a"]))
    wrong = [
        blob_metadata(
            "deletion-vector-v1",
            4,
            len(DV),
            snapshot_id=-1,
            sequence_number=-1,
            properties={**DV_PROPERTIES, "cardinality": "3"},
        ),
        blob_metadata("apache-datasketches-theta-v1", 4 + len(DV), len(theta), properties={"ndv": "2"}),
        {"type": 7},
        blob_metadata("apache-datasketches-theta-v1", 5 + len(DV), len(theta) - 1),
    ]
    data = file(DV + theta + b"?", json.dumps({"blobs": wrong}).encode(), flags=0x100)
    found = [(one.requirement, one.path) for one in check_puffin(data)]
    assert found == [
        ("PUF005", ""),
        ("PUF008", "/blobs/2/type"),
        ("PUF009", "/blobs/2/fields"),
        ("PUF010", "/blobs/2/snapshot-id"),
        ("PUF011", "/blobs/2/sequence-number"),
        ("PUF012", "/blobs/2/offset"),
        ("PUF013", "/blobs/2/length"),
        ("PUF025", "/properties"),
        ("PUF022", "/blobs/0/properties/cardinality"),
        ("PUF017", "/blobs/1/properties/ndv"),
        ("PUF016", "/blobs/3"),
        ("PUF001", "/blobs/3/offset"),
        ("PUF001", ""),
    ]


def test_a_broken_vector_is_placed_behind_its_blob():
    metadata = blob_metadata(
        "deletion-vector-v1", 4, len(DV), snapshot_id=-1, sequence_number=-1, properties=DV_PROPERTIES
    )
    data = file(DV[:-1] + b"?", {"blobs": [metadata], "properties": CREATED_BY})
    assert [(one.requirement, one.path) for one in check_puffin(data)] == [("PUF018", "/blobs/0")]


def test_values_that_a_footer_cannot_hold_are_refused():
    for blob, code in (
        (Blob("a", (1 << 31,), b""), "PUF009"),
        (Blob("a", (), b"", snapshot_id=1 << 63), "PUF010"),
        (Blob("a", (), b"", properties={"a": 1}), "PUF015"),
        (Blob("\ud800", (), b""), "PUF006"),
        (Blob("a", (), b"", compression_codec="gzip"), "PUF027"),
    ):
        with pytest.raises(SpecError, match=code):
            write_puffin([blob])


def test_unknown_members_of_the_footer_are_kept():
    data = file(b"", {"blobs": [blob_metadata("a", 4, 0, order=[1])], "later": {"a": 1}})
    metadata = read_puffin(data).metadata
    assert (metadata.extra, metadata.blobs[0].extra) == ({"later": {"a": 1}}, {"order": [1]})


def test_blobs_that_name_the_same_bytes_again_and_again_are_checked_in_bounded_time():
    stored = compress("zstd", bytes(1 << 27))
    one = blob_metadata("x", 4, len(stored), compression_codec="zstd")
    data = file(stored, {"blobs": [one] * 1000, "properties": CREATED_BY})
    began = time.process_time()
    assert len(decompress("zstd", stored)) == 1 << 27
    once, began = time.process_time() - began, time.process_time()
    found = [(found.requirement, found.path) for found in check_puffin(data)]
    assert found[0] == ("PUF027", "/blobs")
    assert time.process_time() - began < 100 * once


def test_a_footer_that_unfolds_to_too_much_is_refused():
    text = b'{"blobs":[' + b"[]," * (12 << 20) + b"[]]}"
    with pytest.raises(SpecError, match="PUF006"):
        read_puffin(file(b"", compress("lz4", text), flags=1))
    with pytest.raises(SpecError, match="PUF006"):
        read_puffin(file(b"", text))
