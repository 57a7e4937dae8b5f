"""Reading ahead: the next items are made while the consumer is busy with one."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.table_io.daemon_pool import read_ahead

SECONDS = 30


@given(st.lists(st.integers()), st.integers(1, 4))
def test_items_are_the_same(items: list[int], count: int) -> None:
    assert list(read_ahead(iter(items), count)) == items


def test_the_next_item_is_made_while_one_is_used() -> None:
    second_began = threading.Event()

    def items() -> Iterator[int]:
        yield 1
        second_began.set()
        yield 2

    ahead = read_ahead(items(), 1)
    assert next(ahead) == 1
    assert second_began.wait(SECONDS)


def test_no_more_items_wait_than_may() -> None:
    made: list[int] = []
    third = threading.Event()

    def items() -> Iterator[int]:
        for number in range(10):
            made.append(number)
            if number == 2:
                third.set()
            yield number

    ahead = read_ahead(items(), 2)
    assert next(ahead) == 0
    assert third.wait(SECONDS)
    ahead.close()
    assert made == [0, 1, 2]


def test_an_error_is_raised_in_its_place() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise ValueError("broken")

    ahead = read_ahead(items(), 3)
    assert next(ahead) == 1
    with pytest.raises(ValueError, match="broken"):
        next(ahead)


def test_the_thread_ends_when_the_consumer_stops() -> None:
    before = set(threading.enumerate())
    ahead = read_ahead(iter(range(100)), 1)
    next(ahead)
    (thread,) = set(threading.enumerate()) - before
    ahead.close()
    thread.join(SECONDS)
    assert not thread.is_alive()
