"""Sort orders and the order of floating-point numbers."""

import itertools
import math
import struct

import pytest

from spec_ref.errors import SpecError
from spec_ref.json_records import reader
from spec_ref.json_writing import writer
from spec_ref.sorting import ORDER, NullOrder, SortDirection, float_sort_key
from spec_ref.versions import V3, FormatVersion

# Appendix C, Sort Orders: the example.
EXAMPLE = {
    "order-id": 1,
    "fields": [
        {"transform": "identity", "source-id": 2, "direction": "asc", "null-order": "nulls-first"},
        {"transform": "bucket[4]", "source-id": 3, "direction": "desc", "null-order": "nulls-last"},
    ],
}


@pytest.mark.parametrize("version", FormatVersion)
def test_the_example_of_the_spec_is_read_and_written(version: FormatVersion) -> None:  # SRT001
    order = reader(ORDER, version)(EXAMPLE)
    assert [one.direction for one in order.fields] == [SortDirection.ASC, SortDirection.DESC]
    assert [one.null_order for one in order.fields] == [NullOrder.NULLS_FIRST, NullOrder.NULLS_LAST]
    assert writer(ORDER, version)(order) == EXAMPLE


@pytest.mark.parametrize(
    "changes",
    [{"direction": "ASC"}, {"null-order": "first"}, {"transform": 3}, {"source-ids": [1]}, {"source-id": None}],
)
def test_fields_that_the_table_does_not_have_are_refused(changes: dict[str, object]) -> None:  # SRT001
    with pytest.raises(SpecError, match="SRT"):
        reader(ORDER, V3)({"order-id": 1, "fields": [{**EXAMPLE["fields"][0], **changes}]})  # type: ignore[index]


def test_floats_are_in_the_order_of_the_spec() -> None:  # SRT003
    negative_nan = math.copysign(math.nan, -1)
    ordered = [negative_nan, -math.inf, -1.5, -5e-324, -0.0, 0.0, 5e-324, 1.5, math.inf, math.nan]
    keys = [float_sort_key(value) for value in ordered]
    assert all(before < after for before, after in itertools.pairwise(keys))
    (other_nan,) = struct.unpack(">d", bytes.fromhex("7ff0000000000001"))
    assert float_sort_key(other_nan) == float_sort_key(math.nan)
