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


def row_ids(stored: Any, first_row_id: int | None, positions: Any) -> Any:
    """The ids of rows; their own where they came from another file with them (LIN006, LIN009, LIN031).

    Args:
        stored: the values in the file, an Arrow array of longs with null where there is none; None without the column.
        first_row_id: that of the file, inherited where its entry has none.
        positions: of the rows in the file, from 0, an Arrow array of longs without nulls.
    """
    if first_row_id is None:
        return pa.nulls(len(positions), pa.int64())
    inherited = pc.add(positions, pa.scalar(first_row_id, pa.int64()))
    return inherited if stored is None else pc.coalesce(stored, inherited)


def last_updates(stored: Any, first_row_id: int | None, data_sequence_number: int, rows: int) -> Any:
    """The sequence numbers of the commits that added or last changed rows (LIN006, LIN011, LIN031).

    Args:
        stored: the values in the file, as for `row_ids`.
        first_row_id: that of the file.
        data_sequence_number: the file's.
        rows: how many there are.
    """
    if first_row_id is None:
        return pa.nulls(rows, pa.int64())
    inherited = pa.array(np.full(rows, data_sequence_number, np.int64))
    return inherited if stored is None else pc.coalesce(stored, inherited)
