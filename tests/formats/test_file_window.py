"""A file that is not in memory can be sliced like its bytes."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec_ref.encodings import random_access_bytes
from spec_ref.encodings.random_access_bytes import RandomAccessBytes, open_source

PLACES = st.integers(-30, 60)
SLICES = st.builds(slice, st.none() | PLACES, st.none() | PLACES)


@given(st.binary(max_size=50), st.lists(SLICES | PLACES, max_size=8), st.integers(1, 9))
def test_a_window_is_indexed_and_sliced_as_bytes_are(data: bytes, places: list[int | slice], part: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(random_access_bytes, "PART_SIZE", part)
        window = RandomAccessBytes(io.BytesIO(data))
        assert len(window) == len(data)
        for place in places:
            if isinstance(place, int) and not -len(data) <= place < len(data):
                with pytest.raises(IndexError):
                    window[place]
            else:
                assert window[place] == data[place]


def test_a_small_file_is_held_and_a_large_one_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    assert open_source(io.BytesIO(b"abc")) == b"abc"
    monkeypatch.setattr(random_access_bytes, "MAX_IN_MEMORY", 2)
    assert isinstance(open_source(io.BytesIO(b"abc")), RandomAccessBytes)
