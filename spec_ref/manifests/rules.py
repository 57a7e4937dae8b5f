"""The rules for an entry of a manifest, except for types (Manifest Entry Fields; Data File Fields).

The writer refuses an entry at its first broken rule; `check_manifest` reports every broken rule. Each rule is one
function of an entry as written.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import TypeAlias

import attrs

from spec_ref.core.errors import Violation, abbreviated_repr
from spec_ref.core.locations import has_scheme
from spec_ref.core.versions import (
    DELETE_FILES,
    DELETION_VECTORS,
    ROW_LINEAGE,
    SEQUENCE_NUMBERS,
    SNAPSHOT_ID_INHERITANCE,
    V1,
    FormatVersion,
)
from spec_ref.manifest_lists.manifest_file import ManifestContent
from spec_ref.manifests.data_file import FileContent, FileFormat
from spec_ref.manifests.entry import EntryStatus, ManifestEntry

CONTENTS_BY_MANIFEST = {
    ManifestContent.DATA: frozenset({FileContent.DATA}),
    ManifestContent.DELETES: frozenset({FileContent.POSITION_DELETES, FileContent.EQUALITY_DELETES}),
}


@attrs.frozen
class EntryContext:
    """The table and the manifest that an entry belongs to."""

    version: FormatVersion
    content: ManifestContent


@attrs.frozen
class EntryViolation:
    """How an entry breaks a rule."""

    path: str
    message: str
    found: object = None
    expected: str | None = None
    aspect: str = ""


Find: TypeAlias = Callable[[ManifestEntry, EntryContext], EntryViolation | None]


@attrs.frozen
class EntryRule:
    """A rule over one entry."""

    requirement: str
    find: Find
    since: FormatVersion = V1
    refused: bool = True
    """Whether our writer refuses a violation; otherwise the spec only advises against it, or it is known to be
    harmless."""

    def violation(self, entry: ManifestEntry, context: EntryContext) -> Violation | None:
        """Check an entry.

        Args:
            entry: the entry, as written.
            context: the table and the manifest of the entry.

        Returns:
            The violation; None if the entry follows the rule.
        """
        broken = self.find(entry, context) if context.version.includes(self.since) else None
        if broken is None:
            return None
        return Violation(
            requirement=self.requirement,
            message=broken.message,
            aspect=broken.aspect,
            path=broken.path,
            found=None if broken.found is None else abbreviated_repr(broken.found),
            expected=broken.expected,
            format_version=context.version,
        )


def _same_content(entry: ManifestEntry, context: EntryContext) -> EntryViolation | None:
    allowed = CONTENTS_BY_MANIFEST[context.content]
    if entry.data_file.content in allowed:
        return None
    expected = " or ".join(abbreviated_repr(content) for content in sorted(allowed))
    return EntryViolation(
        "/data_file/content",
        "the content of the file does not fit the manifest",
        entry.data_file.content,
        expected,
    )


def _no_deletes_in_v1(entry: ManifestEntry, context: EntryContext) -> EntryViolation | None:
    if DELETE_FILES.is_supported(context.version) or entry.data_file.content is FileContent.DATA:
        return None
    return EntryViolation(
        "/data_file/content", "delete files are not allowed in v1", entry.data_file.content, aspect="deletes-in-v1"
    )


def _explicit_numbers(entry: ManifestEntry, context: EntryContext) -> EntryViolation | None:
    if entry.status is EntryStatus.ADDED:
        return None
    for name in ("sequence_number", "file_sequence_number"):
        if getattr(entry, name) is None:
            return EntryViolation(
                f"/{name}", f"{name} is null in an entry whose status is not ADDED", expected="an explicit number"
            )
    return None


def _new_file_inherits(entry: ManifestEntry, context: EntryContext) -> EntryViolation | None:
    if entry.status is not EntryStatus.ADDED or entry.file_sequence_number is None:
        return None
    message = "an added file must inherit its file sequence number"
    return EntryViolation("/file_sequence_number", message, entry.file_sequence_number, "null")


def _deleted_has_snapshot(entry: ManifestEntry, context: EntryContext) -> EntryViolation | None:
    if entry.status is not EntryStatus.DELETED or entry.snapshot_id is not None:
        return None
    return EntryViolation(
        "/snapshot_id",
        "the snapshot id of a deleted entry is null",
        expected="a snapshot id",
        aspect="no-snapshot-id",
    )


def _new_file_without_row_id(entry: ManifestEntry, context: EntryContext) -> EntryViolation | None:
    row_id = entry.data_file.first_row_id
    if entry.status is not EntryStatus.ADDED or row_id is None or entry.data_file.content is not FileContent.DATA:
        return None
    return EntryViolation("/data_file/first_row_id", "a new file must inherit its first row id", row_id, "null")


def _delete_file_without_row_id(entry: ManifestEntry, context: EntryContext) -> EntryViolation | None:
    row_id = entry.data_file.first_row_id
    if entry.data_file.content is FileContent.DATA or row_id is None:
        return None
    return EntryViolation("/data_file/first_row_id", "a delete file must not have a first row id", row_id, "null")


def _equality_ids(entry: ManifestEntry, context: EntryContext) -> EntryViolation | None:
    equality = entry.data_file.content is FileContent.EQUALITY_DELETES
    ids = entry.data_file.equality_ids
    if equality and not ids:
        return EntryViolation(
            "/data_file/equality_ids", "the equality ids of an equality delete file are missing", ids, aspect="missing"
        )
    return None


def _no_equality_ids(entry: ManifestEntry, context: EntryContext) -> EntryViolation | None:
    ids = entry.data_file.equality_ids
    if entry.data_file.content is FileContent.EQUALITY_DELETES or ids is None:
        return None
    return EntryViolation(
        "/data_file/equality_ids",
        "equality ids are only allowed in equality delete files",
        ids,
        "null",
        aspect="of-other-files",
    )


def _sort_order_of_position_deletes(entry: ManifestEntry, context: EntryContext) -> EntryViolation | None:
    sort_order = entry.data_file.sort_order_id
    if entry.data_file.content is not FileContent.POSITION_DELETES or sort_order is None:
        return None
    return EntryViolation("/data_file/sort_order_id", "a position delete file has a sort order", sort_order, "null")


def _ascending_offsets(entry: ManifestEntry, context: EntryContext) -> EntryViolation | None:
    offsets = entry.data_file.split_offsets
    if offsets is None or all(one < other for one, other in itertools.pairwise(offsets)):
        return None
    return EntryViolation("/data_file/split_offsets", "the split offsets do not ascend", offsets, aspect="unordered")


def _empty_offsets(entry: ManifestEntry, context: EntryContext) -> EntryViolation | None:
    if entry.data_file.split_offsets != ():
        return None
    return EntryViolation("/data_file/split_offsets", "the list of split offsets is empty", (), "null", aspect="empty")


def _not_negative(name: str) -> Find:
    def find(entry: ManifestEntry, context: EntryContext) -> EntryViolation | None:
        value = getattr(entry.data_file, name)
        if value is None or value >= 0:
            return None
        return EntryViolation(f"/data_file/{name}", f"{name} is negative", value, "0 or more", aspect="negative")

    return find


def _counts_not_negative(name: str) -> Find:
    def find(entry: ManifestEntry, context: EntryContext) -> EntryViolation | None:
        counts = getattr(entry.data_file, name) or {}
        if not counts or min(counts.values()) >= 0:
            return None
        column = min(counts, key=counts.__getitem__)
        return EntryViolation(
            f"/data_file/{name}/{column}",
            f"a count of {name} is negative",
            counts[column],
            "0 or more",
            aspect="negative",
        )

    return find


def _vector(name: str) -> Find:
    def find(entry: ManifestEntry, context: EntryContext) -> EntryViolation | None:
        if not entry.data_file.is_deletion_vector or getattr(entry.data_file, name) is not None:
            return None
        return EntryViolation(
            f"/data_file/{name}", f"{name} of a deletion vector is missing", expected=f"a {name}", aspect="missing"
        )

    return find


def _puffin_is_vector(entry: ManifestEntry, context: EntryContext) -> EntryViolation | None:
    data_file = entry.data_file
    if data_file.file_format is not FileFormat.PUFFIN or (
        data_file.is_deletion_vector and DELETION_VECTORS.is_supported(context.version)
    ):
        return None
    message = "the format is puffin, but the file is not a deletion vector of v3"
    return EntryViolation(
        "/data_file/file_format", message, data_file.file_format.value, aspect="puffin-without-vector"
    )


def _size_with_offset(entry: ManifestEntry, context: EntryContext) -> EntryViolation | None:
    data_file = entry.data_file
    if data_file.content_offset is None or data_file.content_size_in_bytes is not None:
        return None
    return EntryViolation(
        "/data_file/content_size_in_bytes",
        "content_size_in_bytes is missing, but content_offset is set",
        expected="a size",
        aspect="missing-beside-offset",
    )


def _file_path_has_scheme(entry: ManifestEntry, context: EntryContext) -> EntryViolation | None:
    if has_scheme(entry.data_file.file_path):
        return None
    return EntryViolation(
        "/data_file/file_path", "the path has no scheme", entry.data_file.file_path, "a full URI", aspect="no-scheme"
    )


RULES: tuple[EntryRule, ...] = (
    EntryRule("MAN002", _same_content, since=DELETE_FILES.since),
    EntryRule("DFL001", _no_deletes_in_v1),
    EntryRule("MAN017", _deleted_has_snapshot, since=SNAPSHOT_ID_INHERITANCE.since, refused=False),
    EntryRule("MAN022", _explicit_numbers, since=SEQUENCE_NUMBERS.since),
    EntryRule("SEQ005", _new_file_inherits, since=SEQUENCE_NUMBERS.since, refused=False),
    EntryRule("LIN018", _new_file_without_row_id, since=ROW_LINEAGE.since, refused=False),
    EntryRule("LIN021", _delete_file_without_row_id),
    EntryRule("DFL002", _file_path_has_scheme, refused=False),
    EntryRule("DFL003", _puffin_is_vector),
    EntryRule("DFL005", _not_negative("record_count")),
    EntryRule("DFL006", _not_negative("file_size_in_bytes")),
    EntryRule("DFL011", _counts_not_negative("column_sizes")),
    EntryRule("DFL012", _counts_not_negative("value_counts")),
    EntryRule("DFL013", _counts_not_negative("null_value_counts")),
    EntryRule("DFL014", _counts_not_negative("nan_value_counts")),
    EntryRule("DFL019", _ascending_offsets),
    EntryRule("DFL019", _empty_offsets, refused=False),
    EntryRule("DFL020", _equality_ids, since=DELETE_FILES.since),
    EntryRule("DFL020", _no_equality_ids, refused=False),
    EntryRule("DFL022", _not_negative("first_row_id"), since=ROW_LINEAGE.since),
    EntryRule("DFL023", _vector("referenced_data_file"), since=DELETION_VECTORS.since),
    EntryRule("DFL024", _vector("content_offset"), since=DELETION_VECTORS.since),
    EntryRule("DFL025", _vector("content_size_in_bytes"), since=DELETION_VECTORS.since),
    EntryRule("DFL025", _size_with_offset, since=DELETION_VECTORS.since),
    EntryRule("DFL028", _sort_order_of_position_deletes, refused=False),
)


def broken_rules(entry: ManifestEntry, context: EntryContext) -> Iterator[tuple[EntryRule, Violation]]:
    """Find the rules that an entry breaks.

    Args:
        entry: the entry, as written.
        context: the table and the manifest of the entry.

    Yields:
        Each broken rule, with the violation.
    """
    for rule in RULES:
        found = rule.violation(entry, context)
        if found is not None:
            yield rule, found
