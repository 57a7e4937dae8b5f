"""The columns of row lineage over Arrow arrays: the kernels beside `spec_ref.row_lineage.reading`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def row_ids(stored: Any, first_row_id: int | None, positions: Any) -> Any:
    """The ids of rows: `row_id` of each.

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
    """The sequence numbers of the commits that last changed rows: `last_updated` of each.

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
