"""Examples drawn with Hypothesis. One that fails is shrunk: a script by leaving out its parts, others by Hypothesis.

Hypothesis is imported when something is searched, as nothing else needs it: it is the extra ``testing``.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from attrs import frozen

from conformance.core.failures import optional
from conformance.core.json_types import Json
from conformance.core.lazy_imports import lazy_imports
from conformance.properties.errors import Broken
from conformance.properties.script_maker import SMALL, Size
from conformance.properties.scripts import Maker
from conformance.properties.smaller_scripts import smallest
from conformance.properties.values import Chance

with lazy_imports():
    import hypothesis as hypothesis_library
    from hypothesis import errors
    from hypothesis import strategies as st


BATCH = 100
"""Examples of one run of Hypothesis: it remembers all that it drew, and many of them take much memory."""

SPARE = 10
"""Further examples of a batch, for those that were tried before."""

FRUITLESS = 20
"""After how many batches without a new example a search ends: there are no others."""

STOP = 127
"""A script has another operation, unless the least of so many numbers is drawn."""

PARTS = 64
"""Into how many parts chances are divided."""

MAX_TRIES = 500
"""Smaller examples that are tried for one failure."""


@frozen
class Failure:
    """An example for which a property does not hold, as small as it gets."""

    example: Any
    kind: str
    reason: str
    seed: int
    """Of the batch that found it."""


class Choices(random.Random):
    """A source of chance whose every choice is drawn with Hypothesis; the first of several things is the simplest."""

    def __init__(self, below: Callable[[int], int]) -> None:
        """Make a source.

        Args:
            below: draws a number below another one.
        """
        super().__init__(0)
        self._below = below

    def random(self) -> float:
        """A number from 0 on and below 1; large ones are simpler, so that rare things are."""
        return (PARTS - 1 - self._below(PARTS)) / PARTS

    def _randbelow(self, n: int) -> int:
        return self._below(n) if n > 1 else 0


def digest(example: Any) -> str:
    """What stands for an example among others."""
    return hashlib.blake2b(repr(example).encode(), digest_size=12).hexdigest()


def hypothesis() -> Any:
    """The module, imported.

    Raises:
        UsageError: it is not installed.
    """
    return optional("hypothesis", "testing")


@cache
def _integers(below: int) -> Any:
    return hypothesis().strategies.integers(0, below - 1)


def drawn_chance(draw: Callable[[Any], Any], avoid: frozenset[str], nulls: float = 0.2) -> Chance:
    """A source of types, values and predicates whose choices Hypothesis draws; arguments as of `Chance`."""
    return Chance(Choices(lambda below: int(draw(_integers(below)))), avoid, nulls=0 if "null" in avoid else nulls)


def drawn_maker(draw: Callable[[Any], Any], avoid: frozenset[str], size: Size) -> Maker:
    """A maker of scripts whose choices Hypothesis draws, with the first operation.

    Args:
        draw: of a composite strategy.
        avoid: what scripts leave out, of `conformance.properties.scripts.AVOIDABLE`.
        size: how large scripts may be.
    """
    maker = Maker(drawn_chance(draw, avoid), size)
    maker.create()
    return maker


def add_operations(draw: Callable[[Any], Any], maker: Maker, last: int) -> None:
    """Add operations to a script, up to so many, and no fewer than the maker's size asks for.

    An operation is a span of choices that begins with whether there is one, so that a span can be left out.
    """
    least = min(maker.size.least_operations, last)

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


def scripts(avoid: frozenset[str], size: Size = SMALL) -> Any:
    """The strategy of scripts; arguments as in `conformance.properties.scripts.make_script`."""

    @st.composite
    def drawn(draw: Callable[[Any], Any]) -> Json:
        maker = drawn_maker(draw, avoid, size)
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
) -> list[Failure]:
    """Try examples, and shrink those that fail.

    Args:
        strategy: makes the strategy that draws them; it is not called where Hypothesis is not installed.
        attempt: tries one; raises `Broken` where the property does not hold.
        seed: of the first batch; the others follow it.
        examples: how many different ones to try, without those that are tried to shrink others.
        max_failures: after how many failures to stop; each is of another kind.
        smaller: examples with one thing less than an example, the most first; Hypothesis shrinks where it is left out.
        progress: is called with how many were tried.

    Returns:
        The failures, shrunk.

    Raises:
        UsageError: Hypothesis is not installed.
    """
    hypothesis()
    drawn = strategy()
    found: list[Failure] = []
    seen: dict[str, Broken | None] = {}
    done = 0
    batch = fruitless = 0
    while done < examples and fruitless < FRUITLESS and len(found) < max_failures:
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
) -> tuple[int, Failure | None]:
    """Try one batch; how many new examples were tried until one failed, and that one, shrunk."""
    last: list[Failure] = []
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
            last[:] = [Failure(example, broken.kind, str(broken), seed)]
            raise _of_kind(broken.kind)(str(broken)) from None

    try:
        run()
    except (_Failing, errors.Flaky):
        return tried, last[0]
    except AssertionError as error:
        if isinstance(error.__context__, KeyboardInterrupt):  # before Hypothesis has begun, which it asserts
            raise KeyboardInterrupt from None
        raise
    return tried, None


def _shrunk(failure: Failure, attempt: Callable[[Any], None], smaller: Callable[[Any], Iterator[Any]]) -> Failure:
    """The smallest example found that fails alike."""

    def fails(candidate: Any) -> bool:
        nonlocal failure
        try:
            attempt(candidate)
        except Broken as broken:
            if broken.kind == failure.kind:
                failure = Failure(candidate, broken.kind, str(broken), failure.seed)
                return True
        return False

    smallest(failure.example, fails, smaller, MAX_TRIES)
    return failure


def _attempt_once(example: Any, attempt: Callable[[Any], None], seen: dict[str, Broken | None]) -> None:
    """Try an example, unless an equal one was tried: many choices make the same one."""
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
    """What Hypothesis tells apart by its type: it shrinks to failures of one type."""


@cache
def _of_kind(kind: str) -> type[_Failing]:
    return type(f"Failing {kind}", (_Failing,), {})
