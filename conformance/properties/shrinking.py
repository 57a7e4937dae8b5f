"""Shrinking failing examples: the one loop of scripts, relays, mutants' scripts and the fuzzer's bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

T = TypeVar("T")


def find_smallest(example: T, fails: Callable[[T], bool], smaller: Callable[[T], Iterator[T]], tries: int) -> T:
    """Find the smallest example that fails in the same way as a given one.

    Args:
        example: an example that fails.
        fails: returns whether a smaller example fails in the same way.
        smaller: yields smaller variants of an example, the smallest first.
        tries: the maximum number of examples that are tried.
    """
    candidates = smaller(example)
    for _ in range(tries):
        candidate = next(candidates, None)
        if candidate is None:
            break
        if fails(candidate):
            example, candidates = candidate, smaller(candidate)
    return example
