"""Rewrite locations in the JSON of table metadata and in the footers of Puffin files."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Mapping
from typing import Any

from conformance.core.json_places import find_offset
from conformance.vectors.relocation.avro import RelocationError
from conformance.vectors.relocation.paths import Paths

GZIP = b"\x1f\x8b"
PUFFIN = b"PFA1"


def relocate_metadata(data: bytes, paths: Paths, sizes: Mapping[int, Mapping[str, int]]) -> bytes:
    """Return table metadata with new locations.

    Args:
        data: the file, compressed or not.
        paths: the old and the new folder.
        sizes: for each snapshot id, the growth in bytes of the sizes in its summary.

    Raises:
        RelocationError: the compressed file is damaged.
    """
    try:
        text = gzip.decompress(data) if data[:2] == GZIP else data
    except (OSError, EOFError, zlib.error) as error:
        raise RelocationError(str(error)) from None
    made = paths.replace(_summaries(text, sizes))
    if data[:2] != GZIP:
        return made
    return data if made == text else gzip.compress(made, mtime=int.from_bytes(data[4:8], "little"))


def _summaries(text: bytes, sizes: Mapping[int, Mapping[str, int]]) -> bytes:
    try:
        document: Any = json.loads(text)
        snapshots = document["snapshots"]
    except (ValueError, KeyError, TypeError):
        return text
    edits = []
    shown = text.decode("utf-8")
    for place, snapshot in enumerate(snapshots):
        for name, more in sizes.get(snapshot.get("snapshot-id"), {}).items():
            before = snapshot.get("summary", {}).get(name)
            if before is not None and more:
                at = find_offset(shown, ("snapshots", place, "summary", name))
                edits.append((at, json.dumps(before), json.dumps(str(int(before) + more))))
    for at, before, after in sorted(edits, reverse=True):
        assert shown[at : at + len(before)] == before
        shown = shown[:at] + after + shown[at + len(before) :]
    return shown.encode()


def puffin(data: bytes, paths: Paths) -> bytes:
    """Return a Puffin file with new locations in its footer and unchanged blobs.

    Raises:
        RelocationError: the file is damaged, or its footer is compressed.
    """
    if len(data) < 16 or data[-4:] != PUFFIN:
        raise RelocationError("not a Puffin file")
    length = int.from_bytes(data[-12:-8], "little")
    start = len(data) - 12 - length
    if start < 4 or data[start - 4 : start] != PUFFIN or data[-8] & 1:
        raise RelocationError("the footer does not fit the file, or is compressed")
    payload = paths.replace(data[start : start + length])
    return data[:start] + payload + len(payload).to_bytes(4, "little") + data[-8:]
