"""Checking deletion vectors and their Puffin files (Deletion Vectors; Puffin)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import TypeAlias

import attrs
import numpy as np

from conformance.table_io.encryption import UnsupportedEncryption, decrypt_and_check_nonces, read_key_metadata
from conformance.table_io.file_access import FileAccessError, read_bytes
from conformance.validator.check_results import Facts
from conformance.validator.context import Context
from conformance.validator.file_places import (
    EntryPlace,
    damaged_file_findings,
    encrypted_file_finding,
    unread_file_finding,
    wrong_size_finding,
)
from conformance.validator.finding import from_violations, with_severity
from conformance.validator.read_ahead import ReadAhead
from conformance.validator.row_ids import deleted_facts
from spec_ref.checks.findings import Finding
from spec_ref.columnar.deletes.deletion_vector import decode_deletion_vector, positions_array
from spec_ref.core.errors import SpecError, Violation
from spec_ref.encodings.puffin.file import PuffinFile, read_puffin
from spec_ref.manifests.data_file import DataFile
from spec_ref.statistics.puffin_checks import check_puffin, check_reference


def vector_facts(context: Context, place: EntryPlace, file: PuffinFile, kind: str) -> Iterator[Facts]:
    """Yield the positions of a vector as facts; none if it cannot be read, which `vector_findings` reports."""
    mine = _find_blob(file, place.data_file)
    if mine is None:
        return
    try:
        positions = positions_array(decode_deletion_vector(file.blob_bytes(file.blobs[mine]))).astype(np.int64)
    except SpecError:
        return
    path = place.data_file.referenced_data_file or ""
    yield from deleted_facts(context, place.origin, path, positions, kind)


PUFFIN_FILES = 4
"""The maximum number of cached Puffin files; the vectors of one file are usually in consecutive entries."""


PuffinContent: TypeAlias = tuple[bytes, tuple[Violation, ...], int]
"""The content of a Puffin file, its problems, and the length of the file, which differs if it is encrypted."""


_puffins: OrderedDict[tuple[str, bytes | None], PuffinContent] = OrderedDict()


def open_puffin(data_file: DataFile, read: Callable[[str], bytes] = read_bytes) -> PuffinContent:
    """Read the Puffin file of a vector, decrypted if it is encrypted."""
    location, key = data_file.file_path, data_file.key_metadata
    found = _puffins.get((location, key))
    if found is None:
        data = read(location)
        length = len(data)
        if key is not None:
            data = decrypt_and_check_nonces(data, read_key_metadata(key, location), location)
        found = data, tuple(check_puffin(data)), length
        _puffins[location, key] = found
        while len(_puffins) > PUFFIN_FILES:
            _puffins.popitem(last=False)
    return found


def puffin_writer(data_file: DataFile) -> str | None:
    """Return the writer that the Puffin file of a vector names; None if it names none or cannot be read."""
    try:
        data, _, _ = open_puffin(data_file)
        created_by: str | None = read_puffin(data).properties.get("created-by")
    except (FileAccessError, SpecError):
        return None
    return created_by


def vector_findings(context: Context, place: EntryPlace, facts: list[Facts], ahead: ReadAhead) -> Iterator[Finding]:
    """Check a deletion vector, its entry and its Puffin file; facts for rules over several files go to ``facts``."""
    data_file = place.data_file
    location = data_file.file_path
    try:
        data, problems, length = open_puffin(data_file, ahead.read_bytes)
    except SpecError as error:
        yield from damaged_file_findings(place, error.violation)
        return
    except UnsupportedEncryption as error:
        yield encrypted_file_finding(place, error.reason)
        return
    except FileAccessError as error:
        yield unread_file_finding(place, error)
        return
    if data_file.file_size_in_bytes != length:
        yield wrong_size_finding(place, length)
    file: PuffinFile | None = None
    try:
        file = read_puffin(data)
    except SpecError as error:
        yield with_severity(attrs.evolve(error.violation, file=location))
        return
    mine = _find_blob(file, data_file)
    yield from from_violations((one for one in problems if _concerns(one, file, mine)), file=location)
    if data_file.content_offset is None or data_file.content_size_in_bytes is None:
        return  # reported by the rules over entries
    if context.needs_deleted_positions:
        facts += vector_facts(context, place, file, "deleted")
    reported = {(one.requirement, one.aspect) for one in problems}
    for problem in check_reference(
        file,
        offset=data_file.content_offset,
        length=data_file.content_size_in_bytes,
        referenced_data_file=data_file.referenced_data_file or "",
        record_count=data_file.record_count,
    ):
        if (problem.requirement, problem.aspect) not in reported:
            yield from from_violations([problem], file=place.manifest, under=f"/{place.number}/data_file")


def _find_blob(file: PuffinFile, data_file: DataFile) -> int | None:
    return next((n for n, blob in enumerate(file.blobs) if blob.offset == data_file.content_offset), None)


def _concerns(problem: Violation, file: PuffinFile, mine: int | None) -> bool:
    """Return whether this entry reports a problem: that of its blob or, if it is the first entry, that of the file."""
    if problem.path.startswith("/blobs/"):
        return (
            mine is None
            or problem.path.startswith((f"/blobs/{mine}/", f"/blobs/{mine}#"))
            or (problem.path == f"/blobs/{mine}")
        )
    return mine in (0, None) or not file.blobs
