"""Small tasks of the local backend: one after another, and together where each waits for a store."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any, cast

import pytest

from conformance.validator.local import LocalBackend

SECONDS = 30


def context(*, is_on_store: bool) -> Any:
    return cast(Any, SimpleNamespace(is_on_store=is_on_store))


@pytest.mark.parametrize("is_on_store", [False, True])
@pytest.mark.parametrize("count", [0, 1, 2, 100])
def test_results_are_in_the_order_of_the_tasks(count: int, *, is_on_store: bool) -> None:
    made = LocalBackend().map(context(is_on_store=is_on_store), lambda _, task: -task, range(count))
    assert made == [-number for number in range(count)]


def test_tasks_on_a_store_wait_together() -> None:
    together = threading.Barrier(5)
    LocalBackend().map(context(is_on_store=True), lambda _, __: together.wait(SECONDS), range(5))
    assert not together.broken


def test_tasks_on_this_machine_need_no_thread() -> None:
    made = LocalBackend().map(context(is_on_store=False), lambda _, __: threading.current_thread(), range(5))
    assert set(made) == {threading.current_thread()}


@pytest.mark.parametrize("is_on_store", [False, True])
def test_an_error_is_raised(*, is_on_store: bool) -> None:
    with pytest.raises(ZeroDivisionError):
        LocalBackend().map(context(is_on_store=is_on_store), lambda _, task: 1 // task, [1, 0, 2])
