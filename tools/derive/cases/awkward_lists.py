"""Awkward paths, numbers and bounds in manifest lists, which must be read and written unchanged."""

from __future__ import annotations

from collections.abc import Iterator

from tools.derive import awkward
from tools.derive.cases.manifest_lists import COUNTS, read, write
from tools.derive.json_types import JsonObject
from tools.derive.manifests import listed, listed_form, manifest_list
from tools.derive.vector import Vector

PATHS = (
    *(f"s3://b/wh/t/metadata/{name}/m{number}.avro" for number, name in enumerate(awkward.NAMES)),
    "s3://b/wh/t/metadata/end ",
)
LONGS = [int(row[2]) for row in awkward.INTEGERS if row[1] == "long"]
INTS = [row[2] for row in awkward.INTEGERS if row[1] == "int" and row[2] >= 0]
BYTES = [bytes.fromhex(row[2]) for row in awkward.BYTES if row[1] == "binary"]


def rows() -> Iterator[tuple[str, str, list[JsonObject], str]]:
    """Yield rows of lists: a name, requirements, the rows, and a note."""
    paths = [listed(number, manifest_path=path) for number, path in enumerate(PATHS)]
    yield "paths", "MLS003", paths, "paths are not trimmed, normalised or unescaped"
    snapshots = [listed(number, added_snapshot_id=value) for number, value in enumerate(LONGS)]
    yield "snapshot-ids", "MLS009", snapshots, "an id of a snapshot is any long"
    lengths = [listed(number, manifest_length=value) for number, value in enumerate(LONGS) if value > 0]
    yield "lengths", "MLS004", lengths, "lengths at the limits of a long"
    counted = [listed(number, **dict.fromkeys(COUNTS[:3], value)) for number, value in enumerate(INTS)]
    yield "counts", "MLS010 MLS011 MLS012", counted, "counts of files at the limits of an int"
    bounded = [
        listed(
            number,
            partitions=[
                {"contains_null": False, "contains_nan": False, "lower_bound": value, "upper_bound": value},
            ],
        )
        for number, value in enumerate(BYTES)
    ]
    yield "bounds", "MLS021 MLS022", bounded, "bounds are bytes, which are not trimmed, padded or decoded"
    keyed = [listed(number, key_metadata=value) for number, value in enumerate(BYTES) if value]
    yield "key-metadata", "MLS017", keyed, "key metadata are bytes"


def reads() -> Iterator[Vector]:
    """Yield vectors that read manifest lists."""
    for name, codes, given, note in rows():
        forms = [listed_form(row) for row in given]
        yield read(f"awkward-{name}", codes, manifest_list(2, given), forms, note, 2)


def writes() -> Iterator[Vector]:
    """Yield vectors that write manifest lists."""
    for name, codes, given, note in rows():
        yield write(f"awkward-{name}", codes, 2, given, given, note)
