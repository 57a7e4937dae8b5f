"""Row lineage: the ids of rows and the commits that last changed them (Row Lineage; LIN007, LIN008, LIN014).

Every row has an id that no other row of the table has (LIN002), and the sequence number of the commit that added or
last changed it (LIN003). A file may store both columns. A value that it stores is returned; if it stores null or has no
such column, the value is inherited from the manifest entry of the file (UPG009), also for rows from before an upgrade
(LIN017). Rows of a file without ``first_row_id`` have neither (UPG010), even if a value is stored (contradiction B3).

A writer stores null for the sequence number of an added or changed row, and for the id of an added row (LIN005). It may
treat an update as a deletion and an insertion (LIN012), and does so where it deletes by equality: the new row has a new
id (LIN004). A writer that moves a row to another file stores its id (LIN009), and its sequence number if the row is
unchanged (LIN011, UPG011); the sequence number of a changed row is stored as null (LIN010).
"""

from __future__ import annotations

from spec_ref.data_types.types import LONG, NestedField
from spec_ref.schemas.reserved_field_ids import BY_NAME

ROW_ID = NestedField(BY_NAME["_row_id"].id, "_row_id", required=False, type=LONG)
LAST_UPDATED = NestedField(
    BY_NAME["_last_updated_sequence_number"].id, "_last_updated_sequence_number", required=False, type=LONG
)


def row_id(stored_id: int | None, first_row_id: int | None, position: int) -> int | None:
    """Find the id of a row; a row that was copied from another file keeps its id (LIN006, LIN009, LIN031).

    Args:
        stored_id: the value of ``_row_id`` in the file; None if it is null or the file has no such column.
        first_row_id: the ``first_row_id`` of the file, inherited if its entry has none; None if the file has none at
            all.
        position: the position of the row in the file, from 0.

    Returns:
        The id; None if the row has none.
    """
    if first_row_id is None:
        return None
    return first_row_id + position if stored_id is None else stored_id


def last_updated(stored_number: int | None, first_row_id: int | None, data_sequence_number: int) -> int | None:
    """Find the sequence number of the commit that added or last changed a row (LIN006, LIN011, LIN031).

    Args:
        stored_number: the value of ``_last_updated_sequence_number`` in the file, as for `row_id`.
        first_row_id: the ``first_row_id`` of the file, as for `row_id`.
        data_sequence_number: the data sequence number of the file.

    Returns:
        The sequence number; None if the row has none.
    """
    if first_row_id is None:
        return None
    return data_sequence_number if stored_number is None else stored_number
