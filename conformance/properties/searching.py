"""Search for failing examples with Hypothesis. Scripts are shrunk by leaving out parts, other examples by Hypothesis.

Hypothesis is imported only for a search, as nothing else needs it: it is in the extra ``testing``.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from attrs import frozen

from conformance.core.failures import import_optional
from conformance.core.lazy_imports import lazy_imports
from conformance.properties.errors import Broken
from conformance.properties.script_maker import SMALL, Size
from conformance.properties.scripts import Maker
from conformance.properties.shrinking import find_smallest
from conformance.properties.values import Chance
from spec_ref.core.json_types import Json

with lazy_imports():
    import hypothesis as hypothesis_library
    from hypothesis import errors
    from hypothesis import strategies as st


BATCH = 100
"""The number of examples in one run of Hypothesis, which keeps all of them in memory."""

SPARE = 10
"""Additional examples of a batch, in place of repeated ones."""

MAX_REPEATED_BATCHES = 20
"""The number of batches without a new example after which a search ends."""

STOP = 127
"""A script has a further operation unless the least of this many numbers is drawn."""

PARTS = 64
"""The resolution of probabilities."""

MAX_TRIES = 500
"""The maximum number of smaller examples that are tried for one failure."""


@frozen
class FailingExample:
    """An example for which a property does not hold, shrunk."""

    example: Any
    kind: str
    reason: str
    seed: int
    """The seed of the batch that found it."""


class Choices(random.Random):
    """A source of chance that draws every choice with Hypothesis; the first of several choices is the simplest."""

    def __init__(self, below: Callable[[int], int]) -> None:
        """Make a source.

        Args:
            below: draws a number less than its argument.
        """
        super().__init__(0)
        self._below = below

    def random(self) -> float:
        """Draw a number from 0 to less than 1; larger ones are simpler, so that shrinking removes rare choices."""
        return (PARTS - 1 - self._below(PARTS)) / PARTS

    def _randbelow(self, n: int) -> int:
        return self._below(n) if n > 1 else 0


def digest(example: Any) -> str:
    """Return a digest of an example."""
    return hashlib.blake2b(repr(example).encode(), digest_size=12).hexdigest()


def hypothesis() -> Any:
    """Import the module Hypothesis.

    Raises:
        UsageError: it is not installed.
    """
    return import_optional("hypothesis", "testing")


@cache
def _integers(below: int) -> Any:
    return hypothesis().strategies.integers(0, below - 1)


def drawn_chance(draw: Callable[[Any], Any], exclude: frozenset[str]) -> Chance:
    """Return a source of types, values and predicates whose choices Hypothesis draws; arguments as for `Chance`."""
    return Chance(Choices(lambda below: int(draw(_integers(below)))), exclude, nulls=0 if "null" in exclude else 0.2)


def drawn_maker(draw: Callable[[Any], Any], exclude: frozenset[str], size: Size) -> Maker:
    """Return a maker of scripts whose choices Hypothesis draws, with the first operation.

    Args:
        draw: the function of a composite strategy.
        exclude: what scripts leave out, of `conformance.properties.scripts.EXCLUDABLE`.
        size: the size limits.
    """
    maker = Maker(drawn_chance(draw, exclude), size)
    maker.create()
    return maker


def add_operations(draw: Callable[[Any], Any], maker: Maker, last: int) -> None:
    """Add operations to a script, up to a number, and at least as many as the maker's size requires.

    Each operation is a span of choices, the first of which is whether to add the operation, so that Hypothesis can
    remove it as a whole.
    """
    least = min(maker.size.min_operations, last)

    @st.composite
    def operation(inner: Callable[[Any], Any]) -> bool:
        if inner(_integers(STOP + 1)) == 0 and len(maker.operations) > least:
            return False
        # The choices of an operation are drawn within its span.
        maker.chance.random._below = lambda below: int(inner(_integers(below)))  # type: ignore[attr-defined]
        maker.add(maker.pick())
        return True

    for _ in range(2 * last):
        if len(maker.operations) > last or not draw(operation()):
            return


def scripts(exclude: frozenset[str], size: Size = SMALL) -> Any:
    """Return the strategy of scripts; arguments as in `conformance.properties.scripts.make_script`."""

    @st.composite
    def drawn(draw: Callable[[Any], Any]) -> Json:
        maker = drawn_maker(draw, exclude, size)
        add_operations(draw, maker, size.operations)
        return maker.script

    return drawn()


def search(
    strategy: Callable[[], Any],
    attempt: Callable[[Any], None],
    *,
    seed: int,
    examples: int,
    max_failures: int = 1,
    smaller: Callable[[Any], Iterator[Any]] | None = None,
    progress: Callable[[int], None] = lambda _done: None,
) -> list[FailingExample]:
    """Try examples, and shrink those that fail.

    Args:
        strategy: makes the strategy that draws them; only called if Hypothesis is installed.
        attempt: tries an example; raises `Broken` if the property does not hold.
        seed: the seed of the first batch, from which the others follow.
        examples: how many different examples to try, not counting those for shrinking.
        max_failures: the number of failures, of different kinds, after which to stop.
        smaller: yields smaller variants of an example, the smallest first; by default Hypothesis shrinks.
        progress: called with the number of examples that were tried.

    Returns:
        The failures, shrunk.

    Raises:
        UsageError: Hypothesis is not installed.
    """
    hypothesis()
    drawn = strategy()
    found: list[FailingExample] = []
    seen: dict[str, Broken | None] = {}
    done = 0
    batch = fruitless = 0
    while done < examples and fruitless < MAX_REPEATED_BATCHES and len(found) < max_failures:
        number = seed * 1_000_003 + batch
        known = {one.kind for one in found}
        shrinks = smaller is None
        tried, failure = _batch(drawn, attempt, number, min(BATCH, examples - done), known, seen, shrinks=shrinks)
        if failure is not None:
            found.append(failure if smaller is None else _shrunk(failure, attempt, smaller))
        done += tried
        fruitless = 0 if tried else fruitless + 1
        batch += 1
        progress(min(done, examples))
    return found


def _batch(
    strategy: Any,
    attempt: Callable[[Any], None],
    seed: int,
    examples: int,
    known: set[str],
    seen: dict[str, Broken | None],
    *,
    shrinks: bool,
) -> tuple[int, FailingExample | None]:
    """Try one batch; return the number of new examples until one failed, and the failure, shrunk."""
    last: list[FailingExample] = []
    tried = 0
    phase = hypothesis_library.Phase

    @hypothesis_library.seed(seed)
    @hypothesis_library.settings(
        max_examples=examples + SPARE,
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        print_blob=False,
        phases=(phase.generate, phase.shrink) if shrinks else (phase.generate,),
        suppress_health_check=list(hypothesis_library.HealthCheck),
        verbosity=hypothesis_library.Verbosity.quiet,
    )
    @hypothesis_library.given(strategy)
    def run(example: Any) -> None:
        nonlocal tried
        if digest(example) not in seen and not last:
            if tried == examples:
                return
            tried += 1
        try:
            _attempt_once(example, attempt, seen)
        except Broken as broken:
            if broken.kind in known:
                return
            last[:] = [FailingExample(example, broken.kind, str(broken), seed)]
            raise _failing_class(broken.kind)(str(broken)) from None

    try:
        run()
    except (_Failing, errors.Flaky):
        return tried, last[0]
    except AssertionError as error:
        if isinstance(error.__context__, KeyboardInterrupt):  # Hypothesis asserts that it has an example
            raise KeyboardInterrupt from None
        raise
    return tried, None


def _shrunk(
    failure: FailingExample, attempt: Callable[[Any], None], smaller: Callable[[Any], Iterator[Any]]
) -> FailingExample:
    """Return the smallest example found that fails in the same way."""

    def fails(candidate: Any) -> bool:
        nonlocal failure
        try:
            attempt(candidate)
        except Broken as broken:
            if broken.kind == failure.kind:
                failure = FailingExample(candidate, broken.kind, str(broken), failure.seed)
                return True
        return False

    find_smallest(failure.example, fails, smaller, MAX_TRIES)
    return failure


def _attempt_once(example: Any, attempt: Callable[[Any], None], seen: dict[str, Broken | None]) -> None:
    """Try an example, unless an equal one was tried: different choices may lead to the same example."""
    key = digest(example)
    if key not in seen:
        try:
            attempt(example)
            seen[key] = None
        except Broken as broken:
            seen[key] = broken
    broken_before = seen[key]
    if broken_before is not None:
        raise broken_before.with_traceback(None)


class _Failing(Exception):
    """The base of one exception type for each kind of failure, as Hypothesis shrinks to failures of the same type."""


@cache
def _failing_class(kind: str) -> type[_Failing]:
    return type(f"Failing {kind}", (_Failing,), {})
