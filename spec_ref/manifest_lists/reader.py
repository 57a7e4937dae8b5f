"""Reading manifest lists (Manifest Lists)."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import attrs

from spec_ref.avro_mapping.row_reader import RowReader
from spec_ref.core.errors import SpecError
from spec_ref.core.versions import NEWEST, FormatVersion
from spec_ref.encodings.avro.container import Data, open_container
from spec_ref.encodings.avro.types import Record, root_record
from spec_ref.encodings.avro.values import BlockDecoder
from spec_ref.manifest_lists.manifest_file import ManifestFile

REQUIREMENT = "MLS002"
"""The code for a file that is not a manifest list."""

MAX_CACHED_LENGTH = 1 << 14
"""The longest Avro schema, in bytes, whose interpretation is cached; those of writers have less than 4 KiB."""


def read_manifest_list(
    data: Data, *, format_version: FormatVersion = NEWEST, file: str | None = None
) -> tuple[ManifestFile, ...]:
    """Read a manifest list of any format version.

    Args:
        data: the content of the file.
        format_version: the format version of the table, whose rules for readers apply; the newest if it is not known.
        file: the file name for errors.

    Returns:
        The entries of the list, in order.

    Raises:
        SpecError: the code `REQUIREMENT` of this module if the file is not a manifest list; AVR001 to AVR014 for a
            malformed schema; the code of a required value that is missing. The path begins with the number of the
            manifest, ``/3/manifest_path``.
    """
    try:
        return tuple(_manifests(data, format_version))
    except SpecError as error:
        raise SpecError(attrs.evolve(error.violation, file=file)) from error.__cause__


def _manifests(data: Data, version: FormatVersion) -> Iterator[ManifestFile]:
    container = open_container(data, REQUIREMENT)
    list_schema = manifest_list_schema(container.metadata["avro.schema"], version)
    number = 0
    for count, payload in container.payloads():
        for row in list_schema.decoder.decode_all(count, payload, REQUIREMENT, number):
            try:
                yield list_schema.reader(row)
            except SpecError as error:
                problem = error.violation
                raise SpecError(attrs.evolve(problem, path=f"/{number}{problem.path}")) from error.__cause__
            number += 1


@attrs.frozen(eq=False)
class ManifestListSchema:
    """What is derived from an Avro schema once for all the lists that share it."""

    record: Record
    decoder: BlockDecoder
    reader: RowReader


def manifest_list_schema(schema: bytes, version: FormatVersion) -> ManifestListSchema:
    """Interpret the Avro schema of a manifest list; what is derived from short schemas is cached.

    Args:
        schema: the JSON of the Avro schema.
        version: the format version of the table.

    Returns:
        How its entries are read.

    Raises:
        SpecError: as `read_manifest_list`, where the schema is not that of a list.
    """
    return (_cached_list_schema if len(schema) <= MAX_CACHED_LENGTH else _new_list_schema)(schema, version)


def _new_list_schema(schema: bytes, version: FormatVersion) -> ManifestListSchema:
    root = root_record(schema, REQUIREMENT)
    return ManifestListSchema(root, BlockDecoder(root), RowReader(ManifestFile, root, version))


_cached_list_schema = functools.lru_cache(maxsize=32)(_new_list_schema)
