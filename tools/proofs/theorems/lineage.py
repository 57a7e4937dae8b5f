"""The data to which deletes apply, and the ids of rows (Scan Planning; Row Lineage)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from spec_ref.commits.snapshots import next_sequence_number
from spec_ref.core.errors import SpecError
from spec_ref.core.versions import V1, V2, V3
from spec_ref.manifest_lists.manifest_file import ManifestContent, ManifestFile
from spec_ref.manifests.data_file import DataFile, FileContent, FileFormat
from spec_ref.manifests.entry import EntryStatus, ManifestEntry
from spec_ref.manifests.inheritance import inherit
from spec_ref.row_lineage.assignment import assign_first_row_ids
from spec_ref.scan_planning.delete_scope import is_old_enough
from tools.proofs.explorer import Impossible
from tools.proofs.theorem import BOUNDED, World, theorem

LONG_MAX = (1 << 63) - 1
KINDS = (FileContent.EQUALITY_DELETES, FileContent.POSITION_DELETES)


def _manifest(**changes: Any) -> ManifestFile:
    return ManifestFile(
        **{
            "manifest_path": "m",
            "manifest_length": 1,
            "partition_spec_id": 0,
            "content": ManifestContent.DATA,
            "sequence_number": 1,
            "min_sequence_number": 1,
            "added_snapshot_id": 1,
            **changes,
        }
    )


def _data_file(**changes: Any) -> DataFile:
    return DataFile(
        **{
            "file_path": "f",
            "file_format": FileFormat.PARQUET,
            "partition": {},
            "record_count": 1,
            "file_size_in_bytes": 1,
            **changes,
        }
    )


# Sequence numbers


@theorem(
    "deletes-keep-their-scope",
    "SEQ001",
    "SCN008",
    "SCN009",
    "SCN010",
    cases=({"version": version, "content": content} for version in (V2, V3) for content in KINDS),
)
def scope(world: World, version: Any, content: FileContent) -> None:
    """A delete that is committed gets the next sequence number at each attempt, whatever others committed before. It
    then applies to all data that was in the table before, to no data of later commits, and to data of the same commit
    if it deletes by position, but not if it deletes by value.
    """
    table = SimpleNamespace(format_version=version, last_sequence_number=world.int("last", 0))
    number = next_sequence_number(table)
    data = world.int("data", 0)
    applies = is_old_enough(data, content, number)
    if data <= table.last_sequence_number:
        world.claim(applies, "the delete does not apply to data that was there")
    elif data > number:
        world.claim(not applies, "the delete applies to data of a later commit")
    else:
        by_position = content is FileContent.POSITION_DELETES
        world.claim(applies if by_position else not applies, "the delete is wrong about data of the same commit")


@theorem(
    "numbers-are-inherited-once",
    "SEQ003",
    "SEQ006",
    "SEQ009",
    cases=({"version": version, "status": status} for version in (V1, V2, V3) for status in EntryStatus),
)
def numbers(world: World, version: Any, status: EntryStatus) -> None:
    """An entry without a sequence number inherits that of its manifest if it was added, and 0 in v1; a number that an
    entry has is never replaced, so that rewriting a manifest does not change the data to which deletes apply.
    """
    number = world.int("number", 0)
    own = world.choose("own", None, world.int("own number", 0))
    entry = ManifestEntry(
        status=status, snapshot_id=1, sequence_number=own, file_sequence_number=own, data_file=_data_file()
    )
    (found,) = inherit([entry], _manifest(sequence_number=number), version)
    if own is not None:
        world.claim(found.sequence_number == own, "the number is replaced")
        world.claim(found.file_sequence_number == own, "the number of the file is replaced")
    elif version is V1:
        world.claim(found.sequence_number == 0, "a file of v1 has another number than 0")
    elif status is EntryStatus.ADDED:
        world.claim(found.sequence_number == number, "an added file has another number than its manifest")
        world.claim(found.file_sequence_number == number, "the number of the file differs")
    else:
        world.claim(found.sequence_number is None, "a file that was not added inherits a number")


# Row ids


def _any_manifest(world: World, name: str) -> ManifestFile:
    """Return a manifest with any counts: of data, with or without a first row id, or of deletes."""
    what = world.choose(f"{name} is", "new", "assigned", "deletes")
    return _manifest(
        content=ManifestContent.DELETES if what == "deletes" else ManifestContent.DATA,
        added_rows_count=world.int(f"{name} added", 0),
        existing_rows_count=world.int(f"{name} existing", 0),
        first_row_id=world.int(f"{name} first", 0) if what == "assigned" else None,
    )


@theorem(
    "row-ids-are-disjoint",
    "LIN023",
    "LIN026",
    "LIN027",
    "LIN028",
    "LIN029",
    method=BOUNDED,
    cases=({"length": length} for length in (1, 2, 3)),
    quick=2,
)
def disjoint(world: World, length: Any) -> None:
    """A commit gives each data manifest without row ids a range that begins at or after the table's next row id, ends
    at or before the new next row id, and overlaps no other range it gives; manifests that have ids keep them. As every
    commit starts at the next row id that the one before left, the ranges of any sequence of commits, on all branches,
    are disjoint.
    """
    start = world.int("next row id", 0)
    files = [_any_manifest(world, f"manifest {place}") for place in range(length)]
    made, after = assign_first_row_ids(files, start)
    world.claim(len(made) == length, "a manifest is lost")
    world.claim(after >= start, "the next row id decreases")
    ranges: list[tuple[Any, Any]] = []
    for before, found in zip(files, made, strict=True):
        if before.content is ManifestContent.DELETES:
            world.claim(found.first_row_id is None, "a manifest of deletes has row ids")
        elif before.first_row_id is not None:
            world.claim(found.first_row_id == before.first_row_id, "the ids of a manifest are replaced")
        else:
            first = found.first_row_id
            end = first + before.added_rows_count + before.existing_rows_count
            world.claim(first >= start, "a range begins before the next row id")
            world.claim(end <= after, "a range ends after the new next row id")
            for other, other_end in ranges:
                world.claim(other_end <= first or end <= other, "two ranges overlap")
            ranges.append((first, end))


@theorem(
    "files-stay-in-their-manifests-range",
    "LIN019",
    method=BOUNDED,
    cases=({"length": length} for length in (1, 2, 3)),
    quick=2,
)
def inherited(world: World, length: Any) -> None:
    """The data files of a manifest that inherit row ids get ranges that do not overlap and that lie in the range that
    the manifest list reserves, which is as long as its added and existing rows; a file that has an id keeps it, and
    deleted files get none.
    """
    first = world.int("first row id", 0)
    entries, reserved = [], first
    for place in range(length):
        status = world.choose(f"status {place}", *EntryStatus)
        own = world.choose(f"has id {place}", None, world.int(f"id {place}", 0))
        rows = world.int(f"rows {place}", 0)
        entries.append(
            ManifestEntry(
                status=status,
                snapshot_id=1,
                sequence_number=1,
                file_sequence_number=1,
                data_file=_data_file(record_count=rows, first_row_id=own),
            )
        )
        if status is not EntryStatus.DELETED:
            reserved = reserved + rows
    try:
        found = list(inherit(entries, _manifest(first_row_id=first), V3))
    except SpecError as error:  # more rows than 64 bits can count
        raise Impossible from error
    free = first
    for before, after in zip(entries, found, strict=True):
        was, is_ = before.data_file.first_row_id, after.data_file.first_row_id
        if was is not None:
            world.claim(is_ == was, "the id of a file is replaced")
        elif before.status is EntryStatus.DELETED:
            world.claim(is_ is None, "a deleted file inherits row ids")
        else:
            world.claim(is_ >= free, "a range overlaps one before it, or begins before that of the manifest")
            free = is_ + before.data_file.record_count
            world.claim(free <= reserved, "a range ends after that of the manifest")
