"""Reading table metadata (Table Metadata Fields; Format Versioning; Writer requirements)."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

import attrs

from spec_ref.errors import SpecError
from spec_ref.json_records import record_reader
from spec_ref.table_metadata.checks import REFUSALS
from spec_ref.table_metadata.metadata import METADATA, TableMetadata
from spec_ref.table_metadata.source import Source, document_of, version_of


@contextmanager
def uncollected() -> Iterator[None]:
    """Without garbage collection, which would walk all of a large document several times and find nothing to free."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def read_metadata(data: Source, *, file: str | None = None) -> TableMetadata:
    """Read table metadata, and refuse what a reader must refuse.

    Args:
        data: the content of a metadata file, gzip or not, or JSON text, or the parsed object.
        file: the name to tell in errors.

    Raises:
        SpecError: the first thing wrong that leaves open what the table holds. What merely breaks a writer's duty is
            read; `check_metadata` tells it.
    """
    try:
        with uncollected():
            return _read(data)
    except SpecError as error:
        raise SpecError(attrs.evolve(error.violation, file=file)) from error.__cause__


def _read(data: Source) -> TableMetadata:
    document = document_of(data)
    version = version_of(document)
    metadata: TableMetadata = record_reader(METADATA, version)(document)
    for rule in REFUSALS:
        for broken in rule.violations(metadata):
            raise SpecError(broken)
    return metadata
