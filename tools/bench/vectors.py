"""Replaying vectors: in this process, and through the process protocol with many requests in flight.

The vectors are those of hashing, transforms, types and single values. An implementation answers them quickly, so that
the figures measure the runner and the protocol: sending, comparing and counting, as in a run that stores no results.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator

import attrs

from conformance.runner.execution import RunPlan, Target, execute
from conformance.runner.results import ResultsWriter, Run
from conformance.runner.targets import make_limits, target
from conformance.vectors import Selection, Vector, load, shipped
from tools.bench.measure import BenchError, Claim, Measure, Scale, timed

SUITES = ("hashing", "transforms", "types", "single-values-binary", "single-values-json")
UNDER_WAY = 64
"""The number of requests in flight."""


def _repeat_vectors(scale: Scale) -> tuple[Vector, ...]:
    """Repeat the vectors, each time with different names, so that start-up hardly affects the result."""
    chosen = Selection(suites=SUITES).choose(load(shipped()))
    times = scale.size(10, 2)
    return tuple(attrs.evolve(vector, id=f"{vector.id}-{turn}") for turn in range(times) for vector in chosen)


def _rate(asked: Target, vectors: tuple[Vector, ...]) -> float:
    """Return the number of vectors replayed per second."""
    runs: list[Run] = []
    seconds = timed(lambda: runs.append(execute(RunPlan((asked,), vectors), {}, ResultsWriter(None))))
    if runs[0].failures or len(runs[0].results) != len(vectors):
        message = f"{asked.name}: {len(runs[0].failures)} of {len(vectors)} vectors failed"
        raise BenchError(message)
    return len(vectors) / seconds


def claims(scale: Scale) -> Iterator[Claim]:
    """Measure replays in this process, and through the protocol."""
    vectors = _repeat_vectors(scale)
    served = shlex.join([sys.executable, "-m", "conformance.engines.reference.adapter"])
    ways = {
        "in this process": (target("reference", make_limits(60, 60)), 30_000.0),
        f"through the protocol, {UNDER_WAY} under way": (target(served, make_limits(60, 60, UNDER_WAY)), 10_000.0),
    }
    rates: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(scale.rounds):
        for way, (asked, _) in ways.items():
            rates[way].append(_rate(asked, vectors))
    for way, (_, goal) in ways.items():
        yield Claim(
            path="vectors",
            case=f"{way}, {len(vectors):,}",
            ours=tuple(rates[way]),
            measure=Measure.RATE,
            goal=goal,
        )
