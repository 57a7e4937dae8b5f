"""Reading table metadata (Table Metadata Fields; Format Versioning; Writer requirements)."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

import attrs

from spec_ref.core.errors import SpecError
from spec_ref.json.structuring import read_record
from spec_ref.table_metadata.checks import REFUSALS
from spec_ref.table_metadata.metadata import METADATA, TableMetadata
from spec_ref.table_metadata.source import Source, parse_document, read_format_version


@contextmanager
def gc_disabled() -> Iterator[None]:
    """Disable garbage collection, which would traverse a large document several times and find nothing to free."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def read_metadata(data: Source, *, file: str | None = None) -> TableMetadata:
    """Read table metadata and refuse what a reader must refuse.

    Args:
        data: the content of a metadata file, gzip or not, or JSON text, or the parsed object.
        file: the file name for errors.

    Returns:
        The metadata; what v1 may leave out is filled in.

    Raises:
        SpecError: the code of the first problem that makes the content of the table ambiguous: TMD029 or TMD030 for an
            unreadable document, TMD001 for the version, the code of a malformed field, or of a broken rule in
            `spec_ref.table_metadata.checks.REFUSALS`. Metadata that only breaks requirements for writers is read;
            `check_metadata` reports them.
    """
    try:
        with gc_disabled():
            return _read(data)
    except SpecError as error:
        raise SpecError(attrs.evolve(error.violation, file=file)) from error.__cause__


def _read(data: Source) -> TableMetadata:
    document = parse_document(data)
    version = read_format_version(document)
    metadata: TableMetadata = read_record(METADATA, version, document)
    for rule in REFUSALS:
        for broken in rule.violations(metadata):
            raise SpecError(broken)
    return metadata
