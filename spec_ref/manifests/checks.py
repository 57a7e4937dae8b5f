"""The complete check of a manifest.

`read_manifest` refuses what leaves open what a manifest holds; `check_manifest` tells everything: what is wrong with
its header, its Avro schema and its entries, and where it is not what the manifest list says of it.
"""

from __future__ import annotations

import collections
import itertools
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs

from spec_ref.errors import SpecError, Violation, shown
from spec_ref.findings import Finding, Severity
from spec_ref.formats.avro_container import Data
from spec_ref.formats.avro_row_checks import Fault, schema_faults
from spec_ref.manifests.entry import EntryStatus, ManifestEntry
from spec_ref.manifests.inheritance import inherit
from spec_ref.manifests.manifest import CONTENTS, Header, Manifest
from spec_ref.manifests.metrics import bound_of
from spec_ref.manifests.reader import read_manifest
from spec_ref.manifests.rules import Context, broken_rules
from spec_ref.manifests.writer import manifest_file as described
from spec_ref.partitioning.spec import PartitionSpec
from spec_ref.records import field_rules
from spec_ref.schemas.schema import Schema
from spec_ref.schemas.types import StructType, Type, is_primitive
from spec_ref.single_value.bounds import decode_bound
from spec_ref.snapshots.manifest_list import FieldSummary, ManifestFile
from spec_ref.versions import REQUIRED, V1, V2, FormatVersion

MAX_PER_RULE = 1000
"""How many places of one broken rule are told; a manifest with more has one cause."""


INHERITED = frozenset({"MAN012", "MAN013", "MAN014"})
"""The optional columns that some engines cannot do without, although they are inherited where they are left out."""


@attrs.frozen
class _Key:
    """A key of the header."""

    name: str
    requirement: str
    since: FormatVersion
    tolerated: bool
    """Whether engines leave it out and readers are not to depend on it (contradiction C1)."""


KEYS = (
    _Key("schema", "MAN005", V1, tolerated=False),
    _Key("schema-id", "MAN006", V2, tolerated=True),
    _Key("partition-spec", "MAN007", V1, tolerated=False),
    _Key("partition-spec-id", "MAN008", V2, tolerated=False),
    _Key("format-version", "MAN009", V2, tolerated=False),
    _Key("content", "MAN010", V2, tolerated=False),
)
"""The keys by the version that requires them."""


def check_manifest(
    data: Data,
    *,
    manifest_file: ManifestFile | None = None,
    specs: Mapping[int, PartitionSpec] | None = None,
    schema: Schema | None = None,
    file: str | None = None,
) -> list[Finding]:
    """Everything that is wrong with a manifest; empty for one that is as the spec asks.

    Args:
        data: the content of the file.
        manifest_file: its entry in the manifest list, which it is compared with.
        specs: the table's partition specs by id.
        schema: a schema of the table; that of the header where not given.
        file: the name to tell in findings.
    """
    name = file if file is not None or manifest_file is None else manifest_file.manifest_path
    try:
        manifest = read_manifest(data, manifest_file=manifest_file, specs=specs, file=name)
    except SpecError as error:
        return [Finding(error.violation, Severity.ERROR)]
    found = list(_findings(manifest, len(memoryview(data)), schema))
    return [Finding(attrs.evolve(one.violation, file=name), one.severity) for one in _limited(found)]


def _limited(found: list[Finding]) -> Iterator[Finding]:
    told: collections.Counter[str] = collections.Counter()
    for finding in found:
        told[finding.requirement] += 1
        if told[finding.requirement] <= MAX_PER_RULE:
            yield finding


def _findings(manifest: Manifest, length: int, given: Schema | None) -> Iterator[Finding]:
    version = manifest.format_version
    yield from _header(manifest.header)
    schema, unread = _parsed(manifest.header.schema)
    if unread is not None and "schema" in manifest.header.properties:
        yield Finding(attrs.evolve(unread, requirement="MAN005", path=f"/schema{unread.path}"), Severity.ERROR)
    spec = manifest.spec
    partition = _partition_type(spec, given or schema)
    for problem, fault in schema_faults(ManifestEntry, manifest.record, version, partition):
        if fault is not Fault.LEFT_OUT or problem.requirement in INHERITED:
            severity = Severity.ERROR if fault is Fault.BROKEN else Severity.WARNING
            yield Finding(attrs.evolve(problem, path=f"/avro.schema{problem.path}"), severity)
    entries: list[ManifestEntry] = []
    yield from _read_all(manifest, entries)
    context = Context(version, manifest.content)
    types = {column.id: column.type for column in (given or schema).columns()} if given or schema else {}
    for number, entry in enumerate(entries):
        for rule, broken in broken_rules(entry, context):
            severity = Severity.ERROR if rule.refused else Severity.WARNING
            yield Finding(attrs.evolve(broken, path=f"/{number}{broken.path}"), severity)
        for broken in itertools.chain(_bounds(entry, types), _snapshot(entry, version), _repeated(entry)):
            yield Finding(attrs.evolve(broken, path=f"/{number}{broken.path}"), Severity.ERROR)
    if manifest.manifest_file is not None:
        yield from _listed(manifest, manifest.manifest_file, entries, length, partition)


def _read_all(manifest: Manifest, entries: list[ManifestEntry]) -> Iterator[Finding]:
    """Read the entries that can be read, and tell what is wrong with the others."""
    number = 0
    try:
        for row in manifest.rows():
            try:
                entries.append(manifest.entry_of(row, number))
            except SpecError as error:
                yield Finding(error.violation, Severity.ERROR)
            number += 1
    except SpecError as error:
        yield Finding(error.violation, Severity.ERROR)


def _parsed(read: Any) -> tuple[Any, Violation | None]:
    try:
        return read(), None
    except SpecError as error:
        return None, error.violation


def _broken(
    requirement: str,
    message: str,
    path: str,
    found: str | None = None,
    expected: str | None = None,
    format_version: FormatVersion | None = None,
) -> Violation:
    return Violation(
        requirement=requirement, message=message, path=path, found=found, expected=expected,
        format_version=format_version,
    )  # fmt: skip


def _error(requirement: str, message: str, path: str, found: Any = None, expected: str | None = None) -> Finding:
    told = None if found is None else shown(found)
    return Finding(_broken(requirement, message, path, told, expected), Severity.ERROR)


def _header(header: Header) -> Iterator[Finding]:
    version, properties = header.format_version, header.properties
    for key in KEYS:
        if key.name not in properties and version >= key.since:
            missing = _broken(key.requirement, f"the header has no {key.name}", f"/{key.name}", format_version=version)
            yield Finding(missing, Severity.WARNING if key.tolerated else Severity.ERROR)
    if "content" in properties and properties["content"] not in CONTENTS:
        yield _error(
            "MAN010", "the content is not one of the known", "/content", properties["content"], "data, deletes"
        )
    if "partition-spec-id" in properties and header.spec_id is None:
        found = properties["partition-spec-id"]
        yield _error("MAN008", "the id is not a number", "/partition-spec-id", found)
    if "partition-spec" in properties:
        if properties["partition-spec"].lstrip().startswith("{"):
            expected = "the list of its fields"
            yield _error("MAN007", "the whole partition spec is stored", "/partition-spec", expected=expected)
        _, problem = _parsed(header.spec)
        if problem is not None:
            path = f"/partition-spec{problem.path}"
            yield Finding(attrs.evolve(problem, requirement="MAN007", path=path), Severity.ERROR)


def _partition_type(spec: PartitionSpec | None, schema: Schema | None) -> StructType | None:
    if spec is None or schema is None:
        return None
    try:
        return spec.partition_type(schema)
    except SpecError:
        return None


def _snapshot(entry: ManifestEntry, version: FormatVersion) -> Iterator[Violation]:
    """A required snapshot id that some writers of v1 leave null; readers let it be inherited."""
    rule = field_rules(ManifestEntry)["snapshot_id"]
    if entry.snapshot_id is None and rule.write(version) is REQUIRED:
        yield _broken(rule.requirement, "the snapshot id is null", "/snapshot_id", format_version=version)


def _repeated(entry: ManifestEntry) -> Iterator[Violation]:
    """Statistics that contradict each other: more nulls than values."""
    nulls = entry.data_file.null_value_counts or {}
    for column, count in (entry.data_file.value_counts or {}).items():
        if column in nulls and nulls[column] > count:
            yield _broken(
                "DFL013", "a column has more nulls than values", f"/data_file/null_value_counts/{column}",
                str(nulls[column]), f"at most {count}",
            )  # fmt: skip


def _bounds(entry: ManifestEntry, types: Mapping[int, Type]) -> Iterator[Violation]:
    for name, requirement in (("lower_bounds", "DFL016"), ("upper_bounds", "DFL017")):
        for column in getattr(entry.data_file, name) or {}:
            type_ = types.get(column)
            if type_ is None:  # a column that was dropped, or a metadata column
                continue
            try:
                value = bound_of(entry.data_file, name, column, type_)
            except SpecError as error:
                problem = error.violation
                yield attrs.evolve(problem, requirement=requirement, path=f"/data_file{problem.path}")
                continue
            if isinstance(value, float) and value != value:
                yield _broken("DFL027", "NaN is a bound", f"/data_file/{name}/{column}", found="NaN")
    yield from _crossed(entry, types)


def _crossed(entry: ManifestEntry, types: Mapping[int, Type]) -> Iterator[Violation]:
    """Lower bounds above the upper ones."""
    for column in (entry.data_file.lower_bounds or {}).keys() & (entry.data_file.upper_bounds or {}).keys():
        type_ = types.get(column)
        if type_ is None or not is_primitive(type_) or str(type_).startswith("geo"):
            continue
        try:
            low = bound_of(entry.data_file, "lower_bounds", column, type_)
            high = bound_of(entry.data_file, "upper_bounds", column, type_)
        except SpecError:
            continue
        if low > high:
            path = f"/data_file/lower_bounds/{column}"
            yield _broken("DFL016", "the lower bound is above the upper", path, shown(low), f"at most {shown(high)}")


# Against the manifest list

_COMPARED = (
    ("added_files_count", "MLS010"), ("existing_files_count", "MLS011"), ("deleted_files_count", "MLS012"),
    ("added_rows_count", "MLS013"), ("existing_rows_count", "MLS014"), ("deleted_rows_count", "MLS015"),
)  # fmt: skip


def _listed(
    manifest: Manifest, listed: ManifestFile, entries: list[ManifestEntry], length: int, partition: StructType | None
) -> Iterator[Finding]:
    """Where the manifest list tells something else of the manifest than it holds."""
    header = manifest.header
    if listed.manifest_length != length:
        yield _error("MLS004", "the length is another", "/manifest_length", listed.manifest_length, str(length))
    if header.spec_id is not None and header.spec_id != listed.partition_spec_id:
        found = listed.partition_spec_id
        yield _error(
            "MAN003", "the header has another partition spec", "/partition_spec_id", found, f"{header.spec_id}"
        )
    if header.content is not None and header.content is not listed.content:
        expected = header.content.name
        yield _error("MAN010", "the header has another content", "/content", listed.content.name, expected)
    inherited = list(inherit(entries, listed, manifest.format_version))
    actual = described(
        inherited, PartitionSpec(listed.partition_spec_id), Schema(()), path=listed.manifest_path, length=length,
        snapshot_id=listed.added_snapshot_id, sequence_number=listed.sequence_number, content=listed.content,
    )  # fmt: skip
    for attribute, requirement in _COMPARED:
        told, counted = getattr(listed, attribute), getattr(actual, attribute)
        if told is not None and told != counted:
            yield _error(requirement, f"the {attribute} is another", f"/{attribute}", told, str(counted))
    live = [entry for entry in inherited if entry.live]
    if live and manifest.format_version is not V1 and listed.min_sequence_number > actual.min_sequence_number:
        found, expected = listed.min_sequence_number, f"{actual.min_sequence_number}"
        yield _error("MLS008", "a live file has a lower sequence number", "/min_sequence_number", found, expected)
    other = {entry.snapshot_id for entry in inherited if entry.status is EntryStatus.ADDED} - {listed.added_snapshot_id}
    if other:
        yield _error("MAN016", "an added file is of another snapshot", "/added_snapshot_id", sorted(other, key=str)[0])
    if listed.partitions is not None and partition is not None:
        yield from _summaries(listed.partitions, partition, [entry.data_file.partition for entry in live])


def _summaries(
    summaries: tuple[FieldSummary, ...], partition: StructType, tuples: list[Mapping[int, Any]]
) -> Iterator[Finding]:
    """Summaries that leave out a value of a live file: readers would not find it (MLS016, MLS019 to MLS022)."""
    if len(summaries) != len(partition.fields):
        found, expected = len(summaries), str(len(partition.fields))
        yield _error("MLS016", "there is not a summary for each partition field", "/partitions", found, expected)
        return
    for place, (summary, field) in enumerate(zip(summaries, partition.fields, strict=True)):
        path = f"/partitions/{place}"
        values = [values.get(field.id) for values in tuples]
        present = [value for value in values if value is not None and value == value]
        if len(values) > sum(value is not None for value in values) and not summary.contains_null:
            yield _error("MLS019", "there is a null", f"{path}/contains_null", summary.contains_null, "true")
        if any(value != value for value in values) and summary.contains_nan is False:
            yield _error("MLS020", "there is a NaN", f"{path}/contains_nan", summary.contains_nan, "true")
        if str(field.type) == "unknown" or not present:
            continue
        yield from _summary_bounds(summary, field.type, present, path)


def _summary_bounds(summary: FieldSummary, type_: Type, values: list[Any], path: str) -> Iterator[Finding]:
    ends: tuple[tuple[str, str, Any, Callable[[Any, Any], bool]], ...] = (
        ("lower_bound", "MLS021", min(values), operator.gt),
        ("upper_bound", "MLS022", max(values), operator.lt),
    )
    for attribute, requirement, extreme, beyond in ends:
        data = getattr(summary, attribute)
        if data is None:
            yield _error(requirement, "there are values and no bound", f"{path}/{attribute}", expected=shown(extreme))
            continue
        try:
            bound = decode_bound(type_, data)
        except SpecError as error:
            problem = error.violation
            told = attrs.evolve(problem, requirement=requirement, path=f"{path}/{attribute}")
            yield Finding(told, Severity.ERROR)
            continue
        if beyond(bound, extreme):
            yield _error(requirement, "a value is beyond the bound", f"{path}/{attribute}", bound, shown(extreme))
