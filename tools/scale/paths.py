"""The measured paths, their sizes, and their limits."""

from __future__ import annotations

import json
import statistics
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from math import log
from pathlib import Path
from typing import Any

from attrs import frozen

from tools.bench.measure import BenchError
from tools.bench.validation import run_measured
from tools.scale import tables

MIB = 1 << 20
LIMITS = Path(__file__).with_name("limits.toml")


class MeasuredTables:
    """The tables of a run; each is made on first use."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._made: dict[tuple[str, int], Any] = {}

    def _once(self, kind: str, count: int, make: Callable[[Path, int], Any]) -> Any:
        if (kind, count) not in self._made:
            self._made[kind, count] = make(self.folder, count)
        return self._made[kind, count]

    def entries(self, count: int) -> str:
        """Return the metadata file of a table with the given number of entries."""
        made: str = self._once("entries", count, tables.entries)
        return made

    def rows(self, count: int) -> tables.RowTables:
        """Return the tables with the given number of rows."""
        made: tables.RowTables = self._once("rows", count, tables.rows)
        return made


@frozen(kw_only=True)
class Measurement:
    """The measurements of one path at one size."""

    path: str
    count: int
    seconds: float
    """The elapsed seconds, with everything else that the machine did."""

    processor: float
    """The processor seconds of all processes together."""

    memory: int
    """The peak memory of all processes together, in bytes; shared pages are counted for each process."""

    largest: int
    """The peak memory of one process, in bytes."""

    bytes: int | None = None
    """An additional count of the path: the bytes of tasks or facts."""


@frozen(kw_only=True)
class Workload:
    """An operation on a table, or on the vectors."""

    name: str
    unit: str
    """The unit of the size."""

    full: tuple[int, ...]
    """The sizes. The first is so small that it measures the start-up cost, which the growth excludes."""

    quick: tuple[int, ...]
    command: Callable[[MeasuredTables, int], list[str]]
    check: Callable[[int, Mapping[str, Any]], bool]
    """Whether the result is the expected one for the size."""

    def measure(self, run_tables: MeasuredTables, count: int) -> Measurement:
        """Measure one run.

        Raises:
            BenchError: the result is not the expected one.
        """
        command = self.command(run_tables, count)
        seconds, processor, total, largest, answer = run_measured([sys.executable, "-m", *command])
        if not self.check(count, answer):
            message = f"{self.name}, {count}: {json.dumps(answer)[:500]}"
            raise BenchError(message)
        return Measurement(
            path=self.name,
            count=answer.get("size", count),
            seconds=seconds,
            processor=processor,
            memory=total,
            largest=largest,
            bytes=answer.get("bytes"),
        )


def _work(*words: str) -> list[str]:
    return ["tools.scale.work", *words]


def _validate(location: str, level: str, *engine: str) -> list[str]:
    given = engine or ("--workers", "1")
    return ["conformance", "validate", location, "--level", level, "--format", "json", "--fail-on", "never", *given]


def _has_count(count: int, answer: Mapping[str, Any]) -> bool:
    return bool(answer["count"] == count)


def _is_hundredth(count: int, answer: Mapping[str, Any]) -> bool:
    """Return whether about one file in a hundred was planned; filters may match one more file at either end."""
    return bool(abs(answer["count"] - count // 100) <= count // 1000 + 1)


def _is_sound(entries: Callable[[int], int], count: int, answer: Mapping[str, Any]) -> bool:
    """Return whether a report covers the whole table and has no findings."""
    (table,) = answer["tables"]
    return "counts" in table and not table["counts"]["error"] and table["entries"] == entries(count)


def _entries(count: int, answer: Mapping[str, Any]) -> bool:
    return _is_sound(lambda count: count, count, answer)


def _files(count: int) -> int:
    return max(1, count // tables.ROWS_A_FILE)


def _of_rows(count: int, answer: Mapping[str, Any]) -> bool:
    return _is_sound(lambda count: _files(count) * 2, count, answer)


def _covers_position_deletes(count: int, answer: Mapping[str, Any]) -> bool:
    return _is_sound(lambda count: _files(count) + -(-_files(count) // tables.FILES_A_DELETE_FILE), count, answer)


ENTRIES, ENTRIES_QUICK = (500, 50_000, 500_000, 5_000_000), (500, 10_000, 40_000)
ROWS, ROWS_QUICK = (1000, 2_000_000, 20_000_000, 200_000_000), (1000, 1_000_000, 2_000_000)
PLAIN_ENTRIES, PLAIN_ENTRIES_QUICK = (500, 10_000, 50_000), (500, 2_000)
PLAIN_ROWS, PLAIN_ROWS_QUICK = (1000, 100_000, 400_000), (1000, 20_000)
PLAIN = "plain "
"""The prefix of a path without the kernels of `spec_ref.columnar`; the name of the path with kernels follows."""

ALL = 10**9
"""The number of all vectors."""

SPARK = ("--engine", "spark", "--master", "local[1]")

PATHS = (
    Workload(
        name="planning, filter on bounds (1% matches)",
        unit="entries",
        full=ENTRIES,
        quick=ENTRIES_QUICK,
        command=lambda made, n: _work("planned", made.entries(n), "bounds", str(n)),
        check=_is_hundredth,
    ),
    Workload(
        name="planning, filter on partition (1% matches)",
        unit="entries",
        full=ENTRIES,
        quick=ENTRIES_QUICK,
        command=lambda made, n: _work("planned", made.entries(n), "partition", str(n)),
        check=_is_hundredth,
    ),
    Workload(
        name="planning, all tasks in memory",
        unit="entries",
        full=ENTRIES[:3],
        quick=ENTRIES_QUICK,
        command=lambda made, n: _work("held", made.entries(n)),
        check=_has_count,
    ),
    Workload(
        name="planning, all tasks serialized for executors",
        unit="entries",
        full=ENTRIES[:3],
        quick=ENTRIES_QUICK,
        command=lambda made, n: _work("sent", made.entries(n)),
        check=_has_count,
    ),
    Workload(
        name="validating manifests",
        unit="entries",
        full=ENTRIES,
        quick=ENTRIES_QUICK,
        command=lambda made, n: _validate(made.entries(n), "manifests"),
        check=_entries,
    ),
    Workload(
        name="validating manifests, Spark",
        unit="entries",
        full=ENTRIES[:3],
        quick=(),
        command=lambda made, n: _validate(made.entries(n), "manifests", *SPARK),
        check=_entries,
    ),
    Workload(
        name="result of one manifest task",
        unit="entries",
        full=(500, 50_000),
        quick=(500, 10_000),
        command=lambda made, n: _work("facts", made.entries(n)),
        check=lambda _, answer: answer["bytes"] > 0,
    ),
    Workload(
        name="validating files",
        unit="rows",
        full=ROWS,
        quick=ROWS_QUICK,
        command=lambda made, n: _validate(made.rows(n).vectors, "files"),
        check=_of_rows,
    ),
    Workload(
        name="validating rows, position deletes",
        unit="rows",
        full=ROWS,
        quick=ROWS_QUICK,
        command=lambda made, n: _validate(made.rows(n).positions, "rows"),
        check=_covers_position_deletes,
    ),
    Workload(
        name="validating rows, deletion vectors",
        unit="rows",
        full=ROWS,
        quick=ROWS_QUICK,
        command=lambda made, n: _validate(made.rows(n).vectors, "rows"),
        check=_of_rows,
    ),
    Workload(
        name="reading, position deletes",
        unit="rows",
        full=ROWS,
        quick=ROWS_QUICK,
        command=lambda made, n: _work("read", made.rows(n).positions),
        check=lambda n, answer: _has_count(tables.left(n), answer),
    ),
    Workload(
        name="reading, deletion vectors",
        unit="rows",
        full=ROWS,
        quick=ROWS_QUICK,
        command=lambda made, n: _work("read", made.rows(n).vectors),
        check=lambda n, answer: _has_count(tables.left(n), answer),
    ),
    Workload(
        name=f"{PLAIN}planning, filter on bounds (1% matches)",
        unit="entries",
        full=PLAIN_ENTRIES,
        quick=PLAIN_ENTRIES_QUICK,
        command=lambda made, n: _work("planned-plainly", made.entries(n), "bounds", str(n)),
        check=_is_hundredth,
    ),
    Workload(
        name=f"{PLAIN}reading, position deletes",
        unit="rows",
        full=PLAIN_ROWS,
        quick=PLAIN_ROWS_QUICK,
        command=lambda made, n: _work("read-plainly", made.rows(n).positions),
        check=lambda n, answer: _has_count(tables.left(n), answer),
    ),
    Workload(
        name=f"{PLAIN}reading, deletion vectors",
        unit="rows",
        full=PLAIN_ROWS,
        quick=PLAIN_ROWS_QUICK,
        command=lambda made, n: _work("read-plainly", made.rows(n).vectors),
        check=lambda n, answer: _has_count(tables.left(n), answer),
    ),
    Workload(
        name="replaying vectors",
        unit="vectors",
        full=(50, 1000, ALL),
        quick=(50, 200, 400),
        command=lambda _, n: _work("vectors", str(n)),
        check=lambda n, answer: answer["count"] == min(n, answer["all"]) and not answer["failures"],
    ),
)


def measurements(
    run_tables: MeasuredTables, *, quick: bool, only: tuple[str, ...] = (), known: Sequence[Measurement] = ()
) -> Iterator[Measurement]:
    """Yield every path at every size, small sizes first; known measurements are not repeated."""
    kept = {(one.path, one.count): one for one in known}
    for path in PATHS:
        if not only or any(word in path.name for word in only):
            for count in path.quick if quick else path.full:
                yield kept.get((path.name, count)) or path.measure(run_tables, count)


# Growth


@frozen
class Growth:
    """The measurements of one path, the smallest size first."""

    steps: tuple[Measurement, ...]

    @cached_property
    def exponent(self) -> float:
        """The exponent of processor time as a power of the size, without start-up: a least-squares fit.

        1 is linear. Sizes that take little more than start-up are left out; with fewer than two others it is 0.
        """
        start, *others = self.steps
        taken = [
            (log(one.count), log(one.processor - start.processor))
            for one in others
            if one.processor - start.processor >= max(0.3, 0.2 * start.processor)
        ]
        if len(taken) < 2:
            return 0.0
        return statistics.linear_regression(*zip(*taken, strict=True)).slope

    @property
    def processor_each(self) -> float:
        """The processor seconds per unit, between the smallest size and the largest."""
        return (self.steps[-1].processor - self.steps[0].processor) / (self.steps[-1].count - self.steps[0].count)

    @property
    def memory_each(self) -> float:
        """The bytes per unit, between the smallest size and the largest."""
        return (self.steps[-1].memory - self.steps[0].memory) / (self.steps[-1].count - self.steps[0].count)


def growths(measured: tuple[Measurement, ...]) -> dict[str, Growth]:
    """Return the growth of every path."""
    found: dict[str, list[Measurement]] = {}
    for one in measured:
        found.setdefault(one.path, []).append(one)
    return {name: Growth(tuple(sorted(steps, key=lambda one: one.count))) for name, steps in found.items()}


# Limits


@frozen(kw_only=True)
class Limit:
    """The limits of a path at all of its sizes."""

    path: str
    memory_mib: int
    exponent: float


def limits() -> dict[str, Limit]:
    """Return the limits by path; each path has one."""
    listed = [Limit(**row) for row in tomllib.loads(LIMITS.read_text())["limit"]]
    found = {limit.path: limit for limit in listed}
    assert list(found) == [path.name for path in PATHS], "a limit for each path, in their order"
    return found


def exceeded_limits(growths: Mapping[str, Growth], allowed: Mapping[str, Limit]) -> list[str]:
    """Return the limits that are exceeded, as text."""
    found = []
    for name, growth in growths.items():
        limit = allowed[name]
        most = max(growth.steps, key=lambda one: one.memory)
        if most.memory > limit.memory_mib * MIB:
            used = f"{most.memory >> 20:,} MiB with {most.count:,}"
            found.append(f"{name}: {used}, where the limit is {limit.memory_mib:,} MiB")
        if growth.exponent > limit.exponent:
            found.append(f"{name}: grows with the power {growth.exponent:.2f}, where the limit is {limit.exponent}")
    return found
