"""Row lineage: the ids of rows and the commits that last changed them (Row Lineage; LIN007, LIN008, LIN014).

A file may hold both columns; where it holds null, or has no such column, the value is inherited from the manifest entry
of the file. Rows of a file without ``first_row_id`` have neither, also where a value is stored (contradiction B3).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spec_ref.schemas.reserved_ids import BY_NAME
from spec_ref.schemas.types import LONG, NestedField

ROW_ID = NestedField(BY_NAME["_row_id"].id, "_row_id", required=False, type=LONG)
LAST_UPDATED = NestedField(
    BY_NAME["_last_updated_sequence_number"].id, "_last_updated_sequence_number", required=False, type=LONG
)


def row_id(stored: int | None, first_row_id: int | None, position: int) -> int | None:
    """The id of a row; its own where it came from another file with it (LIN006, LIN009, LIN031).

    Args:
        stored: the value in the file, None where it has none.
        first_row_id: that of the file, inherited where its entry has none.
        position: of the row in the file, from 0.
    """
    if first_row_id is None:
        return None
    return first_row_id + position if stored is None else stored


def last_updated(stored: int | None, first_row_id: int | None, data_sequence_number: int) -> int | None:
    """The sequence number of the commit that added or last changed a row (LIN006, LIN011, LIN031).

    ``data_sequence_number`` is the file's.
    """
    if first_row_id is None:
        return None
    return data_sequence_number if stored is None else stored


def row_ids(stored: Any, first_row_id: int | None, positions: Any) -> Any:
    """`row_id` of many rows: Arrow arrays of longs; ``positions`` has no nulls."""
    if first_row_id is None:
        return pa.nulls(len(positions), pa.int64())
    inherited = pc.add(positions, pa.scalar(first_row_id, pa.int64()))
    return inherited if stored is None else pc.coalesce(stored, inherited)


def last_updates(stored: Any, first_row_id: int | None, data_sequence_number: int, rows: int) -> Any:
    """`last_updated` of many rows: Arrow arrays of longs."""
    if first_row_id is None:
        return pa.nulls(rows, pa.int64())
    inherited = pa.array(np.full(rows, data_sequence_number, np.int64))
    return inherited if stored is None else pc.coalesce(stored, inherited)
