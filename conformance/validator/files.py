"""Checking the files of a manifest: existence, size, schema and footer (Data File Fields; Delete Formats)."""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

import attrs
import numpy as np

from conformance.table_io.encryption import UnsupportedEncryption, decrypt_checked, read_key_metadata
from conformance.table_io.file_access import FileAccessError, file_size, read_bytes
from conformance.validator.check_results import Emitted, Facts, Findings, Miscounted, Seen, Sums
from conformance.validator.context import Context, FilesTask, Level, ManifestTask
from conformance.validator.data_file_reader import OpenedFile, open_file
from conformance.validator.deleted_positions import Origin, fact_origin, targets
from conformance.validator.finding import InFull, all_of, finding, of, rated
from conformance.validator.fingerprints import Evidence, suspect
from conformance.validator.manifests import load, writer_of
from conformance.validator.process_isolation import ENDED
from conformance.validator.read_ahead import ReadAhead
from conformance.validator.row_ids import deleted_facts
from conformance.validator.rows import row_findings
from conformance.validator.stall_timeout import Stalled, within
from conformance.validator.tolerated import tolerate
from conformance.validator.values import same_type, stored_otherwise
from spec_ref.checks.findings import Finding, Tally
from spec_ref.columnar.deletes.deletion_vector import decode_deletion_vector, positions_array
from spec_ref.columnar.manifests.entry_columns import column_batches
from spec_ref.core.errors import SpecError, Violation, abbreviated_repr
from spec_ref.core.records import evolve
from spec_ref.data_files.orc_reader import BEYOND_NANOSECONDS
from spec_ref.data_types.types import LONG, STRING, ListType, MapType, StructType, Type, is_primitive, kind
from spec_ref.encodings.puffin.file import PuffinFile, read_puffin
from spec_ref.manifests.data_file import DataFile, FileContent, FileFormat
from spec_ref.manifests.entry import EntryStatus, ManifestEntry
from spec_ref.manifests.manifest import Manifest
from spec_ref.partitioning.spec import PartitionSpec
from spec_ref.schemas.reserved_field_ids import BY_ID, MAX_TABLE_FIELD_ID
from spec_ref.statistics.puffin_checks import check_puffin, check_reference

FILE_PATH, POS, ROW = 2147483546, 2147483545, 2147483544


@attrs.frozen
class Place:
    """A file, by its entry."""

    entry: ManifestEntry
    spec: PartitionSpec | None
    task: ManifestTask
    number: int
    spec_id: int | None = None

    @property
    def manifest(self) -> str:
        """The location of the manifest."""
        return self.task.location

    @property
    def origin(self) -> Origin:
        """The manifest entry, for facts."""
        return fact_origin(self)

    @property
    def data_file(self) -> DataFile:
        return self.entry.data_file

    def said(self, attribute: str) -> str:
        """Return the path of a field of the entry."""
        return f"/{self.number}/data_file/{attribute}"


def check_files_task(context: Context, task: FilesTask) -> Iterator[Emitted]:
    """Check some of the files of a manifest: the live ones among a range of its entries."""
    opened = load(context, task.manifest)
    if isinstance(opened, Finding):
        return  # reported by the check of the manifest
    tally, features, writers = Tally(), set[str](), set[str]()
    manifest = opened.manifest
    listed_by = writer_of(context, manifest)
    try:
        yield from _positions_facts(context, task, manifest)
        with ReadAhead(context.connections) as ahead:
            for entry, number in ahead.over(_entries(manifest, task)):
                place = Place(entry, manifest.spec, task.manifest, number, manifest.spec_id)
                found, writer, shown, facts = _in_time(context, place, ahead)
                features |= shown
                if writer:
                    writers.add(writer)
                tally.add(_attributed(found, task.manifest.location, listed_by, writer))
                yield from facts
                yield from _miscounted(place, found)
    except SpecError:
        pass  # an entry that cannot be read, which the check of the manifest reports
    yield Findings(tally.findings())
    yield Seen(frozenset(features), frozenset(writers))


def _miscounted(place: Place, found: Iterable[Finding]) -> Iterator[Miscounted]:
    """By how much the entry miscounts the rows of its file: the counts of summaries are judged without it."""
    entry, path = place.entry, place.said("record_count")
    for one in found:
        said = one.violation
        if said.requirement == "DFL005" and said.path == path and said.expected is not None:
            difference = int(said.expected) - entry.data_file.record_count
            rows = Sums(**{_COUNTED_AS[entry.data_file.content]: difference})
            added_by = entry.snapshot_id if entry.status is EntryStatus.ADDED else None
            yield Miscounted(place.task.number, added_by, rows)
            return


_COUNTED_AS = {
    FileContent.DATA: "records",
    FileContent.POSITION_DELETES: "position_deletes",
    FileContent.EQUALITY_DELETES: "equality_deletes",
}
"""What the rows of a file are in the summary of a snapshot."""


def _attributed(
    found: Iterable[Finding], manifest: str, listed_by: str | None, writer: str | None
) -> Iterator[Finding]:
    """Add the suspected writer to findings; for findings about an entry, the writer of the manifest.

    A file that could not be opened has no suspected writer, as either the file or the manifest may be wrong.
    """
    for one in found:
        by_manifest = writer is not None and one.violation.file == manifest
        yield evolve(one, writer=(listed_by if by_manifest else writer) or None)


def _in_time(
    context: Context, place: Place, ahead: ReadAhead
) -> tuple[list[Finding], str | None, set[str], list[Facts]]:
    """Run `check_file` with a time limit; for a file without progress, only a finding about that."""

    def work() -> tuple[list[Finding], str | None, set[str], list[Facts]]:
        features, facts = set[str](), list[Facts]()
        return *check_file(context, place, features, facts, ahead), features, facts

    try:
        return within(context.file_seconds, place.data_file.file_path, work)
    except Stalled as error:
        return [_not_read(place, error)], None, set(), []


def file_lost(context: Context, task: FilesTask) -> Findings:
    """Return the finding for the one file of a task, whose check crashed the process."""
    opened = load(context, task.manifest)
    assert not isinstance(opened, Finding)
    for entry, _ in _entries(opened.manifest, task):
        code = _DAMAGED[entry.data_file.file_format]
        return Findings((finding(code, ENDED, file=entry.data_file.file_path, aspect="process-ended"),))
    return Findings(())


_DAMAGED = {
    FileFormat.PARQUET: "PQT007",
    FileFormat.ORC: "ORC008",
    FileFormat.AVRO: "AVR014",
    FileFormat.PUFFIN: "PUF001",
}
"""The requirements that a damaged file breaks, by format."""


def _positions_facts(context: Context, task: FilesTask, manifest: Manifest) -> Iterator[Facts]:
    """Yield the data files that position deletes may name, and the positions of vectors that were removed."""
    if not context.looks_at_positions:
        return
    places = [
        Place(entry, manifest.spec, task.manifest, number, manifest.spec_id)
        for entry, number in _entries(manifest, task, deleted=True)
    ]
    yield from targets(context, places)
    for place in places:
        entry = place.entry
        readable = context.decrypts or entry.data_file.key_metadata is None
        if readable and entry.status is EntryStatus.DELETED and entry.data_file.is_deletion_vector:
            with contextlib.suppress(SpecError, FileAccessError):  # the file of a deleted entry may be gone
                file = read_puffin(_puffin(entry.data_file)[0])
                yield from _vector_facts(context, place, file, "replaced")


def _vector_facts(context: Context, place: Place, file: PuffinFile, kind: str) -> Iterator[Facts]:
    """Yield the positions of a vector; none if it cannot be read, which its own checks report."""
    mine = _first_of(file, place.data_file)
    if mine is None:
        return
    try:
        positions = positions_array(decode_deletion_vector(file.blob_bytes(file.blobs[mine]))).astype(np.int64)
    except SpecError:
        return
    path = place.data_file.referenced_data_file or ""
    yield from deleted_facts(context, place.origin, path, positions, kind)


def _entries(manifest: Manifest, task: FilesTask, *, deleted: bool = False) -> Iterator[tuple[ManifestEntry, int]]:
    """Yield the live entries of a task, or with ``deleted`` all of them, each with its number."""
    for columns in column_batches(manifest):
        numbers = np.arange(columns.first, columns.first + len(columns))
        rows = np.nonzero((numbers >= task.start) & (numbers < task.stop) & (columns.live | deleted))[0]
        yield from zip(columns.entries(rows), numbers[rows].tolist(), strict=True)
        if columns.first + len(columns) >= task.stop:
            return


def check_file(
    context: Context, place: Place, features: set[str], facts: list[Facts], ahead: ReadAhead
) -> tuple[list[Finding], str | None]:
    """Check a file.

    Args:
        context: the table.
        place: the entry of the file.
        features: the features that readers need are added to this.
        facts: the facts for rules over several files are added to this.
        ahead: has the file, if it was opened ahead.

    Returns:
        The findings, and the suspected writer: empty if there are no marks, None if the file was not opened.
    """
    data_file = place.data_file
    location = data_file.file_path
    if data_file.key_metadata is not None and not context.decrypts:
        return [_encrypted(place)], None
    if data_file.is_deletion_vector:
        found = list(_vector(context, place, facts, ahead))
        return found, suspect(Evidence(created_by=_puffin_writer(data_file))) or ""
    try:
        opened = open_file(
            location,
            data_file.file_format,
            context.mapping,
            lambda: ahead.open_rows(data_file),
            data_file.key_metadata,
        )
    except UnsupportedEncryption as error:
        return [_encrypted(place, error.reason)], None
    except FileAccessError as error:
        return [_not_read(place, error)], None
    except SpecError as error:
        return list(_damaged(place, error.violation)), None
    writer = suspect(Evidence(created_by=opened.created_by)) or ""
    found = list(_described(place, opened))
    found += all_of(opened.unreadable, file=location)
    found += tolerate(all_of(opened.faults, file=location))
    found += _columns(context, place, opened)
    if opened.by_name:
        features.add("no-field-ids")
    if context.level.includes(Level.ROWS):
        try:
            found += row_findings(context, place, opened, facts)
        except SpecError as error:
            found += (
                _beyond_us(location)
                if error.violation.aspect == BEYOND_NANOSECONDS
                else _damaged(place, error.violation)
            )
        except FileAccessError as error:
            found.append(_not_read(place, error))
    return _each_once(found), writer


def _each_once(findings: Iterable[Finding]) -> list[Finding]:
    """Remove findings that repeat an earlier one of the same place: the footer and the rows may show the same."""
    seen: dict[tuple[str | None, ...], Finding] = {}
    for number, one in enumerate(findings):
        said = one.violation
        about_value = said.found is not None or said.expected is not None
        key = (said.requirement, said.file, said.path, said.found, said.expected, None if about_value else str(number))
        seen.setdefault(key, one)
    return list(seen.values())


def _encrypted(place: Place, reason: str = "") -> Finding:
    message = "the file is encrypted, and was not opened"
    return finding(
        "DFL018",
        f"{message}: {reason}" if reason else message,
        file=place.manifest,
        path=place.said("key_metadata"),
        found=InFull(place.data_file.file_path),
        aspect="encrypted",
    )


def _not_read(place: Place, error: FileAccessError) -> Finding:
    return finding(
        "DFL002",
        f"the file cannot be read: {error.reason}",
        file=place.manifest,
        path=place.said("file_path"),
        found=InFull(place.data_file.file_path),
        aspect="unreadable",
    )


def _beyond_us(location: str) -> Iterator[Finding]:
    yield finding(
        "ORC003",
        "the rows were not checked: the file has timestamps outside of 1677 to 2262, which this tool cannot read",
        file=location,
        aspect="not-checked",
    )


def _damaged(place: Place, problem: Violation) -> Iterator[Finding]:
    """Yield the findings for a file that cannot be opened; a wrong size shows that it is cut off or another file."""
    location = place.data_file.file_path
    yield rated(attrs.evolve(problem, file=location))
    try:
        size = file_size(location)
    except FileAccessError:
        return
    if size != place.data_file.file_size_in_bytes:
        yield _size(place, size)


def _size(place: Place, size: int) -> Finding:
    return finding(
        "DFL006",
        "file_size_in_bytes differs from the size of the file",
        file=place.manifest,
        path=place.said("file_size_in_bytes"),
        found=place.data_file.file_size_in_bytes,
        expected=str(size),
        aspect="mismatch",
    )


def _described(place: Place, opened: OpenedFile) -> Iterator[Finding]:
    """Find differences between the entry and the footer."""
    data_file = place.data_file
    if data_file.file_size_in_bytes != opened.size:
        yield _size(place, opened.size)
    if data_file.record_count != opened.record_count:
        yield finding(
            "DFL005",
            "record_count differs from the number of rows in the file",
            file=place.manifest,
            path=place.said("record_count"),
            found=data_file.record_count,
            expected=str(opened.record_count),
            aspect="mismatch",
        )
    offsets = data_file.split_offsets
    if offsets and opened.offsets is not None and not set(offsets) <= set(opened.offsets):
        yield finding(
            "DFL019",
            "an element of split_offsets is not the start of a row group or stripe",
            file=place.manifest,
            path=place.said("split_offsets"),
            found=offsets,
            expected=f"some of {opened.offsets}",
            aspect="no-boundary",
        )
    for field_id, chunk in opened.chunks.items():
        pairs = (
            ("value_counts", "DFL012", chunk.values, "the value count differs from the footer"),
            ("null_value_counts", "DFL013", chunk.nulls, "the null value count differs from the footer"),
        )
        for attribute, code, counted, message in pairs:
            recorded = (getattr(data_file, attribute) or {}).get(field_id)
            if recorded is not None and counted is not None and recorded != counted:
                path = place.said(f"{attribute}/{field_id}")
                yield finding(
                    code,
                    message,
                    file=place.manifest,
                    path=path,
                    found=recorded,
                    expected=str(counted),
                    aspect="footer-mismatch",
                )
        recorded = (data_file.column_sizes or {}).get(field_id)
        if recorded is not None and recorded != chunk.size:
            yield finding(
                "DFL011",
                "the column size differs from the footer",
                file=place.manifest,
                path=place.said(f"column_sizes/{field_id}"),
                found=recorded,
                expected=str(chunk.size),
                aspect="footer-mismatch",
            )


# Schemas


def _columns(context: Context, place: Place, opened: OpenedFile) -> Iterator[Finding]:
    """Check that the columns are those of the table, and those that a delete file must have."""
    location = place.data_file.file_path
    content = place.data_file.content
    seen: set[int] = set()
    for field_id, name, type_ in _flat(opened.struct, ""):
        if field_id in seen:
            yield finding(
                "TYP002",
                "two columns have the same field id",
                file=location,
                path=name,
                found=field_id,
                aspect="repeated-column-id",
            )
        seen.add(field_id)
        yield from _column(context, place.data_file, opened, field_id, name, type_)
    if content is FileContent.POSITION_DELETES:
        fields = {field.id: field for field in opened.struct.fields}
        for field_id, wanted in ((FILE_PATH, STRING), (POS, LONG)):
            if field_id not in fields:  # a wrong type is reported with the columns
                yield finding(
                    "DEL013",
                    "a required column is missing from a position delete file",
                    file=location,
                    expected=f"{BY_ID[field_id].name} ({field_id}, {wanted})",
                    aspect="missing-column",
                )
    if content is FileContent.EQUALITY_DELETES:
        for field_id in place.data_file.equality_ids or ():
            if field_id not in seen:
                yield finding(
                    "DEL017",
                    "a column of equality_ids is missing from an equality delete file",
                    file=location,
                    found=field_id,
                    expected="a column with this field id",
                    aspect="missing-column",
                )
    if content is FileContent.DATA:
        for field in context.schema.fields:
            if field.required and field.id not in seen and field.initial_default is None:
                yield finding(
                    "TYP002",
                    "a required column without a default is missing from a data file",
                    file=location,
                    path=field.name,
                    expected=f"a column with the field id {field.id}",
                    aspect="missing-column",
                )


def _flat(struct: StructType, path: str) -> Iterator[tuple[int, str, Type]]:
    for field in struct.fields:
        yield from _flat_type(field.id, f"{path}/{field.name}", field.type)


def _flat_type(field_id: int, path: str, type_: Type) -> Iterator[tuple[int, str, Type]]:
    yield field_id, path, type_
    if isinstance(type_, StructType) and field_id != ROW:
        yield from _flat(type_, path)
    elif isinstance(type_, ListType):
        yield from _flat_type(type_.element_id, f"{path}/element", type_.element)
    elif isinstance(type_, MapType):
        yield from _flat_type(type_.key_id, f"{path}/key", type_.key)
        yield from _flat_type(type_.value_id, f"{path}/value", type_.value)


def _column(
    context: Context, data_file: DataFile, opened: OpenedFile, field_id: int, name: str, type_: Type
) -> Iterator[Finding]:
    location = data_file.file_path
    if field_id > MAX_TABLE_FIELD_ID:
        column = BY_ID.get(field_id)
        if column is not None and column.type is not None and column.type != type_:
            yield finding(
                column.requirement,
                "the type of a metadata column is wrong",
                file=location,
                path=name,
                found=str(type_),
                expected=str(column.type),
                aspect="wrong-type",
            )
        return
    if field_id > context.metadata.last_column_id:
        yield finding(
            "TMD006",
            "a data file has a column id that the table has not assigned",
            file=location,
            path=name,
            found=field_id,
            expected=f"at most last-column-id {context.metadata.last_column_id}",
            aspect="exceeded-by-file",
        )
        return
    known = context.types.get(field_id)
    if known is None:  # a dropped column, whose schemas were all removed
        return
    version = context.metadata.format_version
    older = context.older_types.get(field_id, ())
    if same_type(type_, known, version):
        return
    if any(same_type(type_, one, version) for one in older):
        yield finding(
            "EVO001",
            "the type of a column is that of an older schema, which cannot be read as the current type",
            file=location,
            path=name,
            found=_brief(type_),
            expected=_brief(known),
            aspect="older-type",
        )
        return
    stored = stored_otherwise(type_, known, data_file.file_format)
    if stored is None:
        yield finding(
            "EVO001",
            "the type of a column in a data file differs from all types of the table's column",
            file=location,
            path=name,
            found=_brief(type_),
            expected=_brief(known),
            aspect="foreign-type",
        )
    elif not opened.by_name:  # an imported file follows the conventions of its writer
        for one in stored:
            yield of(attrs.evolve(one, path=name, found=abbreviated_repr(_brief(type_))), file=location)


def _brief(type_: Type) -> str:
    return str(type_) if is_primitive(type_) else kind(type_)


# Deletion vectors


PUFFIN_FILES = 4
"""How many Puffin files are kept: the vectors of a file usually follow each other."""

Puffin: TypeAlias = tuple[bytes, tuple[Violation, ...], int]
"""The content of a Puffin file, its problems, and the length of the file, which differs if it is encrypted."""

_puffins: OrderedDict[tuple[str, bytes | None], Puffin] = OrderedDict()


def _puffin(data_file: DataFile, read: Callable[[str], bytes] = read_bytes) -> Puffin:
    """Read the Puffin file of a vector, decrypted if it is encrypted."""
    location, key = data_file.file_path, data_file.key_metadata
    found = _puffins.get((location, key))
    if found is None:
        data = read(location)
        length = len(data)
        if key is not None:
            data = decrypt_checked(data, read_key_metadata(key, location), location)
        found = data, tuple(check_puffin(data)), length
        _puffins[location, key] = found
        while len(_puffins) > PUFFIN_FILES:
            _puffins.popitem(last=False)
    return found


def _puffin_writer(data_file: DataFile) -> str | None:
    try:
        data, _, _ = _puffin(data_file)
        created_by: str | None = read_puffin(data).properties.get("created-by")
    except (FileAccessError, SpecError):
        return None
    return created_by


def _vector(context: Context, place: Place, facts: list[Facts], ahead: ReadAhead) -> Iterator[Finding]:
    data_file = place.data_file
    location = data_file.file_path
    try:
        data, problems, length = _puffin(data_file, ahead.read_bytes)
    except SpecError as error:
        yield from _damaged(place, error.violation)
        return
    except UnsupportedEncryption as error:
        yield _encrypted(place, error.reason)
        return
    except FileAccessError as error:
        yield _not_read(place, error)
        return
    if data_file.file_size_in_bytes != length:
        yield _size(place, length)
    file: PuffinFile | None = None
    try:
        file = read_puffin(data)
    except SpecError as error:
        yield rated(attrs.evolve(error.violation, file=location))
        return
    mine = _first_of(file, data_file)
    yield from all_of((one for one in problems if _concerns(one, file, mine)), file=location)
    if data_file.content_offset is None or data_file.content_size_in_bytes is None:
        return  # reported by the rules over entries
    if context.looks_at_positions:
        facts += _vector_facts(context, place, file, "deleted")
    reported = {(one.requirement, one.aspect) for one in problems}
    for problem in check_reference(
        file,
        offset=data_file.content_offset,
        length=data_file.content_size_in_bytes,
        referenced_data_file=data_file.referenced_data_file or "",
        record_count=data_file.record_count,
    ):
        if (problem.requirement, problem.aspect) not in reported:
            yield from all_of([problem], file=place.manifest, under=f"/{place.number}/data_file")


def _first_of(file: PuffinFile, data_file: DataFile) -> int | None:
    return next((n for n, blob in enumerate(file.blobs) if blob.offset == data_file.content_offset), None)


def _concerns(problem: Violation, file: PuffinFile, mine: int | None) -> bool:
    """Return whether to report a problem with this entry: those of its blob, and with the first those of the file."""
    if problem.path.startswith("/blobs/"):
        return (
            mine is None
            or problem.path.startswith((f"/blobs/{mine}/", f"/blobs/{mine}#"))
            or (problem.path == f"/blobs/{mine}")
        )
    return mine in (0, None) or not file.blobs
