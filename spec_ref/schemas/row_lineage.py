"""Row lineage: the ids of rows and the commits that last changed them (Row Lineage; LIN007, LIN008, LIN014).

A file may hold both columns; where it holds null, or has no such column, the value is inherited from the manifest entry
of the file. Rows of a file without ``first_row_id`` have neither, also where a value is stored (contradiction B3).
"""

from __future__ import annotations

from spec_ref.schemas.reserved_ids import BY_NAME
from spec_ref.schemas.types import LONG, NestedField

ROW_ID = NestedField(BY_NAME["_row_id"].id, "_row_id", required=False, type=LONG)
LAST_UPDATED = NestedField(
    BY_NAME["_last_updated_sequence_number"].id, "_last_updated_sequence_number", required=False, type=LONG
)


def row_id(stored: int | None, first_row_id: int | None, position: int) -> int | None:
    """The id of a row; its own where it came from another file with one (LIN006, LIN009, LIN031).

    Args:
        stored: the value in the file; None where it holds null or has no such column.
        first_row_id: that of the file, inherited where its entry has none; None where it has none at all.
        position: of the row in the file, from 0.

    Returns:
        None where the row has no id.
    """
    if first_row_id is None:
        return None
    return first_row_id + position if stored is None else stored


def last_updated(stored: int | None, first_row_id: int | None, data_sequence_number: int) -> int | None:
    """The sequence number of the commit that added or last changed a row (LIN006, LIN011, LIN031).

    Args:
        stored: the value in the file, as for `row_id`.
        first_row_id: that of the file.
        data_sequence_number: the file's.

    Returns:
        None where the row has none.
    """
    if first_row_id is None:
        return None
    return data_sequence_number if stored is None else stored
