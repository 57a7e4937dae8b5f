"""A manifest entry with its place, and the findings if its file cannot be read."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from conformance.table_io.file_access import FileAccessError, file_size
from conformance.validator.context import ManifestTask
from conformance.validator.deleted_positions import FactOrigin, fact_origin
from conformance.validator.finding import Unabbreviated, finding, with_severity
from spec_ref.checks.findings import Finding
from spec_ref.core.errors import Violation
from spec_ref.manifest_lists.manifest_file import ManifestContent
from spec_ref.manifests.data_file import DataFile, FileContent
from spec_ref.manifests.entry import ManifestEntry
from spec_ref.partitioning.spec import PartitionSpec


@attrs.frozen
class EntryPlace:
    """A manifest entry, with the manifest and the position where it is."""

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
    def origin(self) -> FactOrigin:
        """The entry in the form that facts refer to."""
        return fact_origin(self)

    @property
    def data_file(self) -> DataFile:
        return self.entry.data_file

    @property
    def contradicts_manifest(self) -> bool:
        """Whether a data manifest lists a delete file, or a delete manifest a data file."""
        listed = self.task.manifest_file
        is_data = self.data_file.content is FileContent.DATA
        return listed is not None and is_data != (listed.content is ManifestContent.DATA)

    def entry_field_path(self, attribute: str) -> str:
        """Return the path of a field of the entry."""
        return f"/{self.number}/data_file/{attribute}"


def encrypted_file_finding(place: EntryPlace, reason: str = "") -> Finding:
    """Return the finding for an encrypted file that was not opened."""
    message = "the file is encrypted, and was not opened"
    return finding(
        "DFL018",
        f"{message}: {reason}" if reason else message,
        file=place.manifest,
        path=place.entry_field_path("key_metadata"),
        found=Unabbreviated(place.data_file.file_path),
        aspect="encrypted",
    )


def unread_file_finding(place: EntryPlace, error: FileAccessError) -> Finding:
    """Return the finding for a file that is missing or cannot be read."""
    return finding(
        "DFL002",
        f"the file cannot be read: {error.reason}",
        file=place.manifest,
        path=place.entry_field_path("file_path"),
        found=Unabbreviated(place.data_file.file_path),
        aspect="unreadable",
    )


def damaged_file_findings(place: EntryPlace, problem: Violation) -> Iterator[Finding]:
    """Yield the findings for a file that cannot be opened; a wrong size shows that it is truncated or replaced."""
    location = place.data_file.file_path
    yield with_severity(attrs.evolve(problem, file=location))
    try:
        size = file_size(location)
    except FileAccessError:
        return
    if size != place.data_file.file_size_in_bytes:
        yield wrong_size_finding(place, size)


def wrong_size_finding(place: EntryPlace, size: int) -> Finding:
    """Return the finding for a file whose size the entry states wrongly."""
    return finding(
        "DFL006",
        "file_size_in_bytes differs from the size of the file",
        file=place.manifest,
        path=place.entry_field_path("file_size_in_bytes"),
        found=place.data_file.file_size_in_bytes,
        expected=size,
        aspect="mismatch",
    )
