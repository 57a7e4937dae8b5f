"""Manifests (Manifests): the header, and the entries, one after another."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from spec_ref.avro_mapping.row_reader import RowReader, partition_record
from spec_ref.avro_mapping.stored_types import split_optional, type_from_avro
from spec_ref.core.errors import SpecError, spec_error
from spec_ref.core.records import field_rules, ids_added_after_v1
from spec_ref.core.versions import OMITTED, OPTIONAL, REQUIRED, V1, V2, FieldRule, FormatVersion, Presence
from spec_ref.data_types.types import StructType
from spec_ref.encodings.avro.container import Container
from spec_ref.encodings.avro.types import Record, root_record
from spec_ref.encodings.avro.values import decode_all
from spec_ref.json import documents
from spec_ref.json.reading import reader
from spec_ref.manifest_lists.manifest_file import ManifestContent, ManifestFile
from spec_ref.manifests.data_file import DataFile
from spec_ref.manifests.entry import ManifestEntry
from spec_ref.manifests.inheritance import inherit
from spec_ref.partitioning import spec as partition_specs
from spec_ref.partitioning.spec import PartitionSpec
from spec_ref.schemas.schema import SCHEMA, Schema

REQUIREMENT = "MAN001"
"""The code for a file that is not a manifest."""

CONTENTS = {"data": ManifestContent.DATA, "deletes": ManifestContent.DELETES}

_DATA_FILE = field_rules(DataFile)
DATA_FILE = field_rules(ManifestEntry)["data_file"].id or 0

MAX_CACHED_LENGTH = 1 << 17
"""The longest Avro schema, in bytes, whose interpretation is cached; those of writers have about 8,000 bytes."""

_NOT_IN_V1 = ids_added_after_v1(ManifestEntry, DataFile)


def _key(name: str, requirement: str, v1: Presence) -> FieldRule:
    return FieldRule(
        name=name, v1=v1, v2=REQUIRED, v3=REQUIRED, reader_presences=OPTIONAL, requirement=requirement, missing=None
    )


HEADER: Mapping[str, FieldRule] = {
    key.name: key
    for key in (
        _key("schema", "MAN005", REQUIRED),
        _key("schema-id", "MAN006", OPTIONAL),
        _key("partition-spec", "MAN007", REQUIRED),
        _key("partition-spec-id", "MAN008", OPTIONAL),
        _key("format-version", "MAN009", OPTIONAL),
        _key("content", "MAN010", OMITTED),
    )
}
"""The keys of the header. Readers require none of them, because the table and the manifest list have the same facts."""


@attrs.frozen(kw_only=True)
class ManifestHeader:
    """The key-value metadata of a manifest, as far as it can be read."""

    properties: Mapping[str, str]
    """All keys and values as text."""

    format_version: FormatVersion
    """The value of ``format-version``; if it is missing, 2 if the file has columns that are new in v2, otherwise 1."""

    content: ManifestContent | None
    """The value of ``content``; None if it is missing or unknown."""

    spec_id: int | None

    def schema(self) -> Schema:
        """Read the table's schema when the manifest was written.

        Returns:
            The schema.

        Raises:
            SpecError: MAN005 if the key is missing; the code of a malformed schema.
        """
        json = self._json("schema", "MAN005")
        schema: Schema = reader(SCHEMA, self.format_version)(json)
        return schema

    def schema_id(self) -> int | None:
        """Read the id in the JSON of the schema.

        Returns:
            The id; None if it has none.

        Raises:
            SpecError: MAN005 if the key is missing; TMD029 if it is not JSON.
        """
        json = self._json("schema", "MAN005")
        found = json.get("schema-id") if isinstance(json, dict) else None
        return found if type(found) is int else None

    def spec(self) -> PartitionSpec:
        """Read the partition spec that the manifest was written with.

        Some writers store the whole spec where only its fields belong; it is accepted too.

        Returns:
            The partition spec.

        Raises:
            SpecError: MAN007 if the key is missing; the code of a malformed field.
        """
        json = self._json("partition-spec", "MAN007")
        if isinstance(json, dict) and "fields" in json:
            json = json["fields"]
        fields = reader(partition_specs.FIELDS, self.format_version, "MAN007")(json)
        return PartitionSpec(self.spec_id or 0, fields)

    def _json(self, key: str, requirement: str) -> Any:
        if key not in self.properties:
            raise spec_error(requirement, f"{key} is missing from the header", aspect="missing")
        return documents.loads(self.properties[key])


def read_header(container: Container, record: Record) -> ManifestHeader:
    """Read the header; `check_manifest` reports what is missing or malformed, as readers can use the manifest list.

    Args:
        container: the opened file.
        record: the Avro record of its entries.

    Returns:
        The header.

    Raises:
        SpecError: MAN009 if the format version is unknown.
    """
    properties = {key: value.decode("utf-8", "replace") for key, value in container.metadata.items()}
    spec_id = properties.get("partition-spec-id", "")
    return ManifestHeader(
        properties=properties,
        format_version=_version(properties.get("format-version"), record),
        content=CONTENTS.get(properties.get("content", "")),
        spec_id=int(spec_id) if len(spec_id) < 11 and spec_id.isdecimal() and spec_id.isascii() else None,
    )


VERSIONS = {str(int(version)): version for version in FormatVersion}
"""The versions by the text that the header of a manifest or manifest list has."""


def _version(text: str | None, record: Record) -> FormatVersion:
    if text in VERSIONS:
        return VERSIONS[text]
    if text is not None:
        raise spec_error(
            "MAN009",
            "the format version is unknown",
            found=text,
            expected=", ".join(VERSIONS),
            aspect="unknown-value",
        )
    ids = {field.id for field in record.fields}
    data_file = next((field.type for field in record.fields if field.id == DATA_FILE), None)
    if isinstance(data_file, Record):
        ids |= {field.id for field in data_file.fields}
    return V2 if ids & _NOT_IN_V1 else V1


class ManifestSchema:
    """The Avro schema of a manifest, and what is derived from it once for all the manifests that share it."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self._readers: dict[tuple[FormatVersion, tuple[int, ...] | None], RowReader] = {}

    def reader(self, version: FormatVersion, partition_ids: tuple[int, ...] | None) -> RowReader:
        """Find the reader that makes entries from rows.

        Args:
            version: the format version of the manifest.
            partition_ids: the ids of the fields of the partition spec; None if it is not known.

        Returns:
            The reader, cached.

        Raises:
            SpecError: the code of a required field that the schema does not have, or whose type is wrong.
        """
        key = version, partition_ids
        if key not in self._readers:
            self._readers[key] = RowReader(ManifestEntry, self.record, version, partition_ids)
        return self._readers[key]


def manifest_schema(schema: bytes) -> ManifestSchema:
    """Interpret the Avro schema of manifests; the result is cached if the schema is not large.

    Args:
        schema: the JSON of the Avro schema.

    Returns:
        The interpreted schema.

    Raises:
        SpecError: the code `REQUIREMENT` of this module if it is not an Avro schema of records.
    """
    return (
        _cached_schema(schema) if len(schema) <= MAX_CACHED_LENGTH else ManifestSchema(root_record(schema, REQUIREMENT))
    )


@functools.lru_cache(maxsize=32)
def _cached_schema(schema: bytes) -> ManifestSchema:
    return ManifestSchema(root_record(schema, REQUIREMENT))


class Manifest:
    """An opened manifest. Entries are decoded on demand, and at most one block is held in memory."""

    def __init__(
        self,
        container: Container,
        shared_schema: ManifestSchema,
        header: ManifestHeader,
        spec: PartitionSpec | None,
        manifest_file: ManifestFile | None,
        file: str | None,
    ) -> None:
        self._container = container
        self.manifest_schema = shared_schema
        self.header = header
        self.spec = spec
        """The table's partition spec with the id in the manifest list, else the header's; None if neither is known."""

        self.manifest_file = manifest_file
        """The manifest's entry in the manifest list, from which entries inherit."""

        self.file = file
        ids = None if spec is None else tuple(field.field_id for field in spec.fields)
        self.row_reader = shared_schema.reader(header.format_version, ids)
        """Makes an entry, as written, from a decoded row."""

    @property
    def format_version(self) -> FormatVersion:
        return self.header.format_version

    @property
    def content(self) -> ManifestContent:
        """The kind of files, from the manifest list if there is one, otherwise from the header (contradiction C1)."""
        if self.manifest_file is not None:
            return self.manifest_file.content
        return self.header.content or ManifestContent.DATA

    @property
    def spec_id(self) -> int | None:
        """The id of the partition spec, from the manifest list if there is one, otherwise from the header."""
        return self.header.spec_id if self.manifest_file is None else self.manifest_file.partition_spec_id

    @property
    def record(self) -> Record:
        """The Avro schema of the entries."""
        return self.manifest_schema.record

    def partition_type(self) -> StructType:
        """Find the type in which the partition tuples are stored.

        Returns:
            The struct type.

        Raises:
            SpecError: AVR013 or AVR014 if the tuples are not records with a field of an Iceberg type for each partition
                field.
        """
        tuples = _inner_record(_inner_record(self.record, DATA_FILE), _DATA_FILE["partition"].id or 0)
        ids = None if self.spec is None else tuple(field.field_id for field in self.spec.fields)
        stored = type_from_avro(partition_record(tuples, ids))
        assert isinstance(stored, StructType)
        return stored

    def payloads(self) -> Iterator[tuple[int, bytes]]:
        """Decompress the blocks.

        Returns:
            The number of entries and the bytes of each block.

        Raises:
            SpecError: the code `REQUIREMENT` of this module if a block does not decompress, or exceeds the limits.
        """
        return self._container.payloads()

    def __len__(self) -> int:
        """Return the number of entries that the blocks state."""
        return self._container.count

    def entries(self) -> Iterator[ManifestEntry]:
        """Read all entries in the order of the manifest, with what they inherit from `manifest_file`.

        Returns:
            The entries.

        Raises:
            SpecError: the code of a malformed or missing value; the path begins with the number of the entry,
                ``/17/data_file/file_path``.
        """
        return inherit(self.written_entries(), self.manifest_file, self.format_version)

    def written_entries(self) -> Iterator[ManifestEntry]:
        """Read all entries as written, with nulls where they inherit."""
        for number, row in enumerate(self.rows()):
            yield self.read_entry(row, number)

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Decode all entries to rows, with values in the order of the Avro schema's fields.

        Yields:
            Each row.

        Raises:
            SpecError: the code `REQUIREMENT` of this module if a block does not contain the entries that it states,
                with the path ``/17/data_file``.
        """
        first = 0
        with self.errors_in_file():
            for count, payload in self._container.payloads():
                yield from decode_all(self.record, count, payload, REQUIREMENT, first)
                first += count

    def read_entry(self, row: tuple[Any, ...], number: int) -> ManifestEntry:
        """Make an entry, as written, from a decoded row.

        Args:
            row: the row.
            number: the number of the entry in the manifest, for errors.

        Returns:
            The entry.

        Raises:
            SpecError: the code of a value that is missing or not allowed; the path begins with the number of the entry.
        """
        try:
            entry: ManifestEntry = self.row_reader(row)
        except SpecError as error:
            problem = error.violation
            raise SpecError(attrs.evolve(problem, path=f"/{number}{problem.path}", file=self.file)) from error.__cause__
        return entry

    def errors_in_file(self) -> Any:
        """Make a context that adds the name of the file to errors."""
        return _ErrorsInFile(self.file)


class _ErrorsInFile:
    """Adds the file to errors."""

    def __init__(self, file: str | None) -> None:
        self.file = file

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, SpecError) and error.violation.file is None and self.file is not None:
            raise SpecError(attrs.evolve(error.violation, file=self.file)) from error.__cause__


def _inner_record(record: Record, field_id: int) -> Record:
    """Find the record inside a field of a record; one without fields if the field is something else."""
    place = record.by_id().get(field_id)
    inner = None if place is None else split_optional(record.fields[place].type)[0]
    return inner if isinstance(inner, Record) else Record("", ())
