"""Decode many manifests together (Scan Planning).

A table has many manifests that were written alike. Consecutive ones of one Avro schema and one partition spec are
decoded in one set of columns, a batch at a time, whatever the number of manifests in a batch.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

import attrs

from spec_ref.columnar.encodings.avro.batches import DecompressedBlock
from spec_ref.columnar.manifests.encoded_fields import EntryRun
from spec_ref.columnar.manifests.entry_columns import ManifestColumns, inherited_first_row_id
from spec_ref.columnar.manifests.reader import column_decoders
from spec_ref.core.errors import SpecError
from spec_ref.manifests.manifest import REQUIREMENT, Manifest

BATCH_BYTES = 4 << 20
"""About how many decompressed bytes are decoded together: what fits in a processor's cache."""


@attrs.define
class _Pending:
    """Blocks of one manifest that are not decoded yet."""

    manifest: Manifest
    first: int
    parts: list[DecompressedBlock]

    @property
    def count(self) -> int:
        return sum(part.count for part in self.parts)


def batched_columns(manifests: Iterable[Manifest]) -> Iterator[ManifestColumns]:
    """Decode the entries of manifests to columns, in their order, a batch at a time.

    At most one batch is held in memory; it may have entries of several manifests. An error states the file and the
    number of the entry in it.

    Args:
        manifests: the manifests.

    Yields:
        The columns of each batch.

    Raises:
        SpecError: as `spec_ref.columnar.manifests.reader.decoded_batches` and `ManifestColumns`.
    """
    for _, alike in itertools.groupby(manifests, lambda manifest: (column_decoders(manifest).lazy, manifest.spec_id)):
        yield from _read_batches(alike)


def _read_batches(manifests: Iterable[Manifest]) -> Iterator[ManifestColumns]:
    pending: list[_Pending] = []
    held = 0
    row_id: int | None = None  # the next row id of the manifest in which the last batch ended
    for manifest in manifests:
        pending.append(_Pending(manifest, 0, []))
        for part in _read_blocks(manifest):
            last = pending[-1]
            if held and held + len(part.payload) > BATCH_BYTES:
                columns = _decode(pending, row_id)
                yield columns
                pending, row_id = [_Pending(manifest, last.first + last.count, [])], columns.next_row_id
                held = 0
            pending[-1].parts.append(part)
            held += len(part.payload)
    if pending:
        yield _decode(pending, row_id)


def _read_blocks(manifest: Manifest) -> Iterator[DecompressedBlock]:
    """Read the blocks of a manifest; errors state the manifest."""
    with manifest.errors_in_file():
        yield from (DecompressedBlock(count, payload) for count, payload in manifest.payloads())


def _decode(pending: list[_Pending], row_id: int | None) -> ManifestColumns:
    runs = [
        EntryRun(
            one.manifest,
            one.first,
            one.count,
            row_id if place == 0 and one.first else inherited_first_row_id(one.manifest),
        )
        for place, one in enumerate(pending)
    ]
    decoder = column_decoders(pending[0].manifest).lazy
    parts = [part for one in pending for part in one.parts]
    try:
        column = decoder.decode(parts, REQUIREMENT)
    except SpecError:
        for one in pending:  # one at a time, to add the file and the entry to the error
            with one.manifest.errors_in_file():
                decoder.decode(one.parts, REQUIREMENT, one.first)
        raise
    return ManifestColumns(runs, (column,))
