"""Faults of Puffin files and deletion vectors that engines had."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.adapter_sdk.serve import Arguments
from spec_ref.core.errors import SpecError
from tests.faulty_adapters import Fault, Operation

Wrong = Callable[[Arguments, Operation], Any]


def blobs(change: Callable[[dict[str, Any]], None]) -> Wrong:
    """A fault that changes each blob that was read."""

    def wrong(args: Arguments, right: Operation) -> Any:
        answer = right(args)
        for blob in answer["blobs"]:
            change(blob)
        return answer

    return wrong


def tolerant(answer: Any) -> Wrong:
    """A fault that takes what has to be refused."""

    def wrong(args: Arguments, right: Operation) -> Any:
        try:
            return right(args)
        except SpecError:
            return answer

    return wrong


def _vector_as_32_bits(args: Arguments, right: Operation) -> Any:
    answer = right(args)
    last = str((1 << 32) - 1)
    ranges = [[low, high] for low, high in answer["ranges"] if int(high) <= int(last)]
    return {**answer, "ranges": ranges}


def _no_checksum(args: Arguments, right: Operation) -> Any:
    """A vector whose checksum is not looked at."""
    import zlib

    data = bytes.fromhex(args["bytes"])
    fixed = data[:-4] + zlib.crc32(data[4:-4]).to_bytes(4, "big")
    return right({**args, "bytes": fixed.hex()})


def _without_ends(args: Arguments, right: Operation) -> Any:
    """The last position of a range is taken for the one behind it."""
    ranges = [[low, str(int(high) - 1)] for low, high in args["ranges"] if int(high) > int(low)]
    return right({**args, "ranges": ranges})


def _compressed_vectors(args: Arguments, right: Operation) -> Any:
    blobs_ = [{**blob, "compression-codec": None} for blob in args["blobs"]]
    return right({**args, "blobs": blobs_})


def _uncompressed(args: Arguments, right: Operation) -> Any:
    blobs_ = [blob if blob["type"] == "deletion-vector-v1" else {**blob, "properties": {}} for blob in args["blobs"]]
    return right({**args, "blobs": blobs_})


def _ints_as_longs(args: Arguments, right: Operation) -> Any:
    """A sketch of ints as partition hashes take them."""
    if args["type"] != "int":
        return right(args)
    return right({"type": "long", "values": [str(value) for value in args["values"]]})


FAULTS = (
    Fault("puffin-properties-not-read", "puffin.read", blobs(lambda blob: blob.update(properties={}))),
    Fault("puffin-fields-sorted", "puffin.read", blobs(lambda blob: blob["fields"].sort())),
    Fault("puffin-offsets-after-the-magic", "puffin.read", blobs(lambda blob: blob.update(offset="0"))),
    Fault("puffin-payload-cut", "puffin.read", blobs(lambda blob: blob.update(payload=blob["payload"][:-2]))),
    Fault("puffin-damaged-as-empty", "puffin.read", tolerant({"blobs": [], "properties": {}})),
    Fault("puffin-write-codec-dropped", "puffin.write", _compressed_vectors),
    Fault("puffin-write-properties-dropped", "puffin.write", _uncompressed),
    Fault(
        "puffin-write-file-properties-dropped", "puffin.write", lambda args, right: right({**args, "properties": {}})
    ),
    Fault("sketch-ints-as-longs", "theta.encode", _ints_as_longs),
    Fault("sketch-damaged-as-empty", "theta.decode", tolerant({"hashes": [], "theta": str((1 << 63) - 1)})),
    Fault("vector-32-bits", "dv.decode", _vector_as_32_bits),
    Fault("vector-checksum-not-compared", "dv.decode", _no_checksum),
    Fault("vector-damaged-as-empty", "dv.decode", tolerant({"cardinality": "0", "ranges": []})),
    Fault("vector-ranges-half-open", "dv.encode", _without_ends),
)
