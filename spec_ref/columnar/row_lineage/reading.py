"""The columns of row lineage over Arrow arrays: the kernels for `spec_ref.row_lineage.reading`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def row_ids(stored_ids: Any, first_row_id: int | None, positions: Any) -> Any:
    """Find the ids of rows: `row_id` for each.

    Args:
        stored_ids: the values of ``_row_id`` in the file, an Arrow array of longs; None if the file has no such column.
        first_row_id: the ``first_row_id`` of the file, inherited if its entry has none; None if the file has none at
            all.
        positions: the positions of the rows in the file, from 0, an Arrow array of longs without nulls.

    Returns:
        An Arrow array of longs, null for rows without an id.
    """
    if first_row_id is None:
        return pa.nulls(len(positions), pa.int64())
    inherited = pc.add(positions, pa.scalar(first_row_id, pa.int64()))
    return inherited if stored_ids is None else pc.coalesce(stored_ids, inherited)


def last_updates(stored_numbers: Any, first_row_id: int | None, data_sequence_number: int, rows: int) -> Any:
    """Find the sequence numbers of the commits that last changed rows: `last_updated` for each.

    Args:
        stored_numbers: the values of ``_last_updated_sequence_number`` in the file, as for `row_ids`.
        first_row_id: the ``first_row_id`` of the file, as for `row_ids`.
        data_sequence_number: the data sequence number of the file.
        rows: the number of rows.

    Returns:
        An Arrow array of longs, null for rows without a number.
    """
    if first_row_id is None:
        return pa.nulls(rows, pa.int64())
    inherited = pa.array(np.full(rows, data_sequence_number, np.int64))
    return inherited if stored_numbers is None else pc.coalesce(stored_numbers, inherited)
