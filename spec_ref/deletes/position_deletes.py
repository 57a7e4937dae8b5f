"""Position Delete Files: rows deleted by the path of their file and their position in it (DEL012 to DEL015).

A writer of v3 writes a deletion vector instead, which takes the place of the file's position deletes (DEL016).

Only ``file_path`` and ``pos`` are read; ``row`` may be absent (DEL014, NOT011), and is for readers that need the
deleted values. Files should be sorted, but deleted positions are a set, so that order and repetition do not matter
(contradiction E13). Paths are compared literally with the one in the manifest entry of the data file.
"""

from __future__ import annotations

from collections.abc import Iterable

from spec_ref.core.errors import error_path, spec_error
from spec_ref.data_types.types import LONG, STRING, NestedField
from spec_ref.schemas.reserved_field_ids import BY_NAME

FILE_PATH = NestedField(BY_NAME["file_path"].id, "file_path", required=True, type=STRING)
POS = NestedField(BY_NAME["pos"].id, "pos", required=True, type=LONG)
POSITION_DELETE_FIELDS = (FILE_PATH, POS)
"""The columns of a position delete file that are read (DEL013)."""


def deleted_positions(rows: Iterable[tuple[str, int]], path: str) -> frozenset[int]:
    """Collect the positions that position deletes delete in one data file.

    Args:
        rows: ``file_path`` and ``pos`` of each row of the position delete files.
        path: the path of the data file, as it is in its manifest entry.

    Returns:
        The deleted positions, counted from 0.

    Raises:
        SpecError: DEL013 if a position is negative, even one in another data file.
    """
    checked = [(file_path, check_position(position)) for file_path, position in rows]
    return frozenset(position for file_path, position in checked if file_path == path)


def check_position(position: int) -> int:
    """Check a position that a delete file names.

    Args:
        position: the position of a row, counted from 0.

    Returns:
        The position.

    Raises:
        SpecError: DEL013 if it is negative.
    """
    if position < 0:
        with error_path("/pos"):
            raise spec_error(
                "DEL013", "a position is negative", found=position, expected="0 or more", aspect="negative"
            )
    return position
