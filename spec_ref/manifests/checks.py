"""The complete check of a manifest.

`read_manifest` refuses a manifest whose content would be ambiguous; `check_manifest` reports everything: problems of
its header, its Avro schema and its entries, and where it differs from its entry in the manifest list. Entries are read
in batches, and only sums of them are kept.
"""

from __future__ import annotations

import collections
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from spec_ref.avro_mapping.row_checks import MISSING_COLUMN, schema_problems
from spec_ref.checks import to_finding
from spec_ref.checks.findings import Finding
from spec_ref.core.errors import SpecError, Violation
from spec_ref.core.records import evolve
from spec_ref.core.versions import REQUIRED
from spec_ref.data_types.types import INT, StructType, Type
from spec_ref.encodings.avro.container import Data
from spec_ref.manifest_lists.manifest_file import ManifestFile
from spec_ref.manifests.entry import EntryStatus, ManifestEntry
from spec_ref.manifests.entry_problems import entry_problems
from spec_ref.manifests.inheritance import inherit
from spec_ref.manifests.manifest import CONTENTS, HEADER, Manifest, ManifestHeader
from spec_ref.manifests.manifest_file_checks import ManifestTotals, finding_at, manifest_file_findings, violation_at
from spec_ref.manifests.reader import read_manifest
from spec_ref.manifests.rules import EntryContext
from spec_ref.partitioning.spec import PartitionSpec
from spec_ref.partitioning.transforms import Void
from spec_ref.schemas.schema import Schema

MAX_PER_RULE = 1000
"""How many places of one broken rule are reported; further places would hardly help to find the cause."""


INHERITED_COLUMNS = frozenset({"MAN012", "MAN013", "MAN014"})
"""The optional columns that some engines require, although they are inherited if they are absent."""


def check_manifest(
    data: Data,
    *,
    manifest_file: ManifestFile | None = None,
    specs: Mapping[int, PartitionSpec] | None = None,
    schema: Schema | None = None,
    file: str | None = None,
) -> list[Finding]:
    """Find everything that is wrong with a manifest.

    Args:
        data: the content of the file.
        manifest_file: its entry in the manifest list, with which it is compared; None if it is not known.
        specs: the table's partition specs by id; None if they are not known.
        schema: a schema of the table; that of the header by default.
        file: the file name for findings.

    Returns:
        The findings; empty if the manifest follows the spec.
    """
    name = file if file is not None or manifest_file is None else manifest_file.manifest_path
    try:
        manifest = read_manifest(data, manifest_file=manifest_file, specs=specs, file=name)
    except SpecError as error:
        return [to_finding(error.violation)]
    found = _limit_per_rule(_findings(manifest, len(memoryview(data)), schema))
    return [Finding(attrs.evolve(one.violation, file=name), one.severity) for one in found]


def _limit_per_rule(found: Iterable[Finding]) -> Iterator[Finding]:
    reported: collections.Counter[str] = collections.Counter()
    for finding in found:
        reported[finding.requirement] += 1
        if reported[finding.requirement] <= MAX_PER_RULE:
            yield finding


def _findings(manifest: Manifest, length: int, table_schema: Schema | None) -> Iterator[Finding]:
    version = manifest.format_version
    yield from _header(manifest.header)
    schema, unread = _try_parse(manifest.header.schema)
    if unread is not None and "schema" in manifest.header.properties:
        yield to_finding(attrs.evolve(unread, requirement="MAN005", aspect="malformed", path=f"/schema{unread.path}"))
    partition = _partition_type(manifest, table_schema or schema)
    for problem in schema_problems(ManifestEntry, manifest.record, version, partition):
        if problem.aspect != MISSING_COLUMN or problem.requirement in INHERITED_COLUMNS:
            yield to_finding(attrs.evolve(problem, path=f"/avro.schema{problem.path}"))
    context = EntryContext(version, manifest.content)
    types = {column.id: column.type for column in (table_schema or schema).columns()} if table_schema or schema else {}
    listed = manifest.manifest_file
    totals = ManifestTotals.for_partition(partition)
    other: int | None = None
    entries = _Entries(manifest)
    try:
        for inherited in inherit(entries.readable(), listed, version):
            yield from entries.take_problems()
            if listed is not None:
                totals.add(inherited, listed.sequence_number)
                if inherited.status is EntryStatus.ADDED and inherited.snapshot_id != listed.added_snapshot_id:
                    other = inherited.snapshot_id
            yield from _entry_findings(entries.entry, entries.number, context, types)
    except SpecError as error:  # an inherited row id exceeds 64 bits
        yield to_finding(error.violation)
    yield from entries.take_problems()
    if listed is None:
        return
    if other is not None:
        yield finding_at(
            "MAN016",
            "snapshot_id of an added entry differs from added_snapshot_id of the manifest",
            "/added_snapshot_id",
            other,
        )
    yield from manifest_file_findings(listed, manifest, length, totals)
    if listed.partitions is not None and partition is not None and len(listed.partitions) != len(partition.fields):
        found, expected = len(listed.partitions), str(len(partition.fields))
        yield finding_at(
            "MLS016",
            "the number of field summaries differs from the number of partition fields",
            "/partitions",
            found,
            expected,
            aspect="count",
        )


def _entry_findings(
    entry: ManifestEntry, number: int, context: EntryContext, types: Mapping[int, Type]
) -> Iterator[Finding]:
    for problem in entry_problems(entry, context, types):
        yield to_finding(attrs.evolve(problem, path=f"/{number}{problem.path}"))


class _Entries:
    """The entries that can be read, one after another, and the problems of the others."""

    def __init__(self, manifest: Manifest) -> None:
        self._manifest = manifest
        self._problems: list[Finding] = []
        self.entry: ManifestEntry
        """The last entry that was read, as written."""

        self.number = -1
        """Its number in the manifest."""

    def readable(self) -> Iterator[ManifestEntry]:
        try:
            for number, row in enumerate(self._manifest.rows()):
                try:
                    entry = self._manifest.read_entry(row, number)
                except SpecError as error:
                    if len(self._problems) < MAX_PER_RULE:
                        self._problems.append(to_finding(error.violation))
                    continue
                self.entry, self.number = entry, number
                yield entry
        except SpecError as error:
            self._problems.append(to_finding(error.violation))

    def take_problems(self) -> list[Finding]:
        """Return the problems of the entries that were read since the last call."""
        found, self._problems = self._problems, []
        return found


def _try_parse(read: Any) -> tuple[Any, Violation | None]:
    try:
        return read(), None
    except SpecError as error:
        return None, error.violation


def _header(header: ManifestHeader) -> Iterator[Finding]:
    version, properties = header.format_version, header.properties
    for key in HEADER.values():
        if key.name not in properties and key.writer_presence(version) is REQUIRED:
            missing = violation_at(
                key.requirement,
                f"{key.name} is missing from the header",
                f"/{key.name}",
                format_version=version,
                aspect="missing",
            )
            yield to_finding(missing)
    if "content" in properties and properties["content"] not in CONTENTS:
        yield finding_at(
            "MAN010",
            "the content is unknown",
            "/content",
            properties["content"],
            "data, deletes",
            aspect="unknown-value",
        )
    if "partition-spec-id" in properties and header.spec_id is None:
        found = properties["partition-spec-id"]
        message = "partition-spec-id is not a number"
        yield finding_at("MAN008", message, "/partition-spec-id", found, aspect="wrong-type")
    if "partition-spec" in properties:
        if properties["partition-spec"].lstrip().startswith("{"):
            expected = "the list of its fields"
            yield finding_at(
                "MAN007",
                "partition-spec is a whole partition spec, not its fields",
                "/partition-spec",
                expected=expected,
                aspect="whole-spec",
            )
            return
        _, problem = _try_parse(header.spec)
        if problem is not None:
            path = f"/partition-spec{problem.path}"
            yield to_finding(attrs.evolve(problem, requirement="MAN007", aspect="malformed", path=path))


def _partition_type(manifest: Manifest, schema: Schema | None) -> StructType | None:
    """Return the type of the partition tuples; the fields that are void may be stored as int (TRN015)."""
    spec = manifest.spec
    if spec is None or schema is None:
        return None
    try:
        expected = spec.partition_type(schema)
    except SpecError:
        return None
    void = {field.field_id for field in spec.fields if isinstance(field.transform, Void)}
    ints = void and {field.id for field in _stored_partition_type(manifest).fields if field.type == INT}
    return StructType(tuple(evolve(field, type=INT) if field.id in void & ints else field for field in expected.fields))


def _stored_partition_type(manifest: Manifest) -> StructType:
    try:
        return manifest.partition_type()
    except SpecError:  # reported with the Avro schema
        return StructType(())
