"""Scan planning over whole tables: which data files, and which deletes apply to each.

Each table is small enough to be planned by hand: the expected plan is written beside the table, from the rules of Scan
Planning.  A file that cannot match may be kept as well (contradiction E20), so it is optional.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from tools.derive.cases import planning_deletes, planning_partitions, planning_states, planning_statistics
from tools.derive.planning import PlanTable
from tools.derive.vector import Vector, VectorFile

TOPICS = {
    "deletes": ("Scan Planning", planning_deletes.cases),
    "partitions": ("Scan Planning", planning_partitions.cases),
    "statistics": ("Scan Planning", planning_statistics.cases),
    "states": ("Scan Planning", planning_states.cases),
}

Case = tuple[PlanTable, tuple[Vector, ...]]


def tables() -> Iterator[PlanTable]:
    """Yield the tables that the cases use."""
    for _, cases in TOPICS.values():
        for table, _ in cases():
            yield table


def files() -> Iterator[VectorFile]:
    """Yield the vector files of planning."""
    for topic, (section, cases) in TOPICS.items():
        vectors = tuple(chain.from_iterable(made for _, made in cases()))
        yield VectorFile(f"scan-planning/{topic}.json", "scan.plan", section, vectors)
