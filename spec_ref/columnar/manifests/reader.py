"""Decode entries of manifests many at a time, into columns (Manifest Entry Fields)."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary

from spec_ref.columnar.encodings.avro.batches import ColumnDecoder, DecompressedBlock, batches
from spec_ref.columnar.encodings.avro.columns import DecodedColumn
from spec_ref.core.records import field_rules
from spec_ref.encodings.avro.types import Record
from spec_ref.manifests.data_file import DataFile
from spec_ref.manifests.manifest import DATA_FILE, REQUIREMENT, Manifest

_DATA_FILE = field_rules(DataFile)
STATISTICS = frozenset(
    _DATA_FILE[name].id or 0
    for name in (
        "column_sizes",
        "value_counts",
        "null_value_counts",
        "nan_value_counts",
        "distinct_counts",
        "lower_bounds",
        "upper_bounds",
        "split_offsets",
    )
)
"""The ids of the fields that planning needs only sometimes: they are decoded on demand."""


class ColumnDecoders:
    """How the entries of manifests of one Avro schema are decoded into columns."""

    def __init__(self, record: Record) -> None:
        self._record = record

    @functools.cached_property
    def lazy(self) -> ColumnDecoder:
        """The decoder for planning: statistics are decoded on demand."""
        return self._decoder(STATISTICS)

    @functools.cached_property
    def eager(self) -> ColumnDecoder:
        """The decoder for reading every value, each of which is decoded at once."""
        return self._decoder(frozenset())

    def _decoder(self, lazy: frozenset[int]) -> ColumnDecoder:
        names = {field.id: field.name for field in self._record.fields}
        data_file = next((field.type for field in self._record.fields if field.id == DATA_FILE), None)
        path = _path_name(data_file)
        return ColumnDecoder(self._record, (names[DATA_FILE], path) if path else (), lazy)


def _path_name(data_file: object) -> str | None:
    fields = data_file.fields if isinstance(data_file, Record) else ()
    return next((field.name for field in fields if field.id == _DATA_FILE["file_path"].id), None)


_DECODERS: WeakKeyDictionary[Any, ColumnDecoders] = WeakKeyDictionary()
"""The decoders by `ManifestSchema`, which the manifests of one Avro schema share."""


def column_decoders(manifest: Manifest) -> ColumnDecoders:
    """Find how the entries of a manifest are decoded; cached for all manifests of its Avro schema.

    Args:
        manifest: the manifest.

    Returns:
        The decoders.
    """
    found = _DECODERS.get(manifest.manifest_schema)
    if found is None:
        found = _DECODERS[manifest.manifest_schema] = ColumnDecoders(manifest.record)
    return found


def decoded_batches(manifest: Manifest, *, eager: bool = False) -> Iterator[DecodedColumn]:
    """Decode the entries to columns of records, a batch of blocks at a time.

    Args:
        manifest: the manifest.
        eager: whether every value will be used, so that statistics are decoded with the rest.

    Yields:
        The column of each batch.

    Raises:
        SpecError: a block does not contain the entries that it states; the path is that of the entry,
            ``/17/data_file``.
    """
    parts = (DecompressedBlock(count, payload) for count, payload in manifest.payloads())
    decoders = column_decoders(manifest)
    decoder = decoders.eager if eager else decoders.lazy
    first = 0
    for batch in batches(parts):
        with manifest.errors_in_file():
            yield decoder.decode(batch, REQUIREMENT, first)
        first += sum(part.count for part in batch)
