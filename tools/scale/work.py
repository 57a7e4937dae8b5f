"""Run one path in a separate process: ``python -m tools.scale.work PATH ...`` prints its result as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from conformance.runner.execution import RunPlan, execute
from conformance.runner.results import ResultsWriter
from conformance.runner.targets import make_limits, target
from conformance.table_io.local import plan_read, plan_read_batches, read_table
from conformance.table_io.planning import pickle_tasks
from conformance.table_io.records import read_rows
from conformance.table_io.tables import load_table
from conformance.validator.check_results import Facts
from conformance.validator.context import Context, Level
from conformance.validator.manifest_lists import check_list, list_tasks, manifest_tasks
from conformance.validator.manifests import check_manifest_task
from conformance.vectors import load, shipped
from spec_ref.columnar.scan_planning.task_batch import TaskBatch
from spec_ref.scan_planning import planner
from tools.bench.planning import ours, questions
from tools.entry_point import run_without_parser


def plan(location: str, question: str, files: str) -> dict[str, Any]:
    """Plan a scan, and count the tasks."""
    return {"count": ours(Path(location), questions(int(files))[question])}


def plan_plainly(location: str, question: str, files: str) -> dict[str, Any]:
    """Plan a scan by the definitions of the spec, without `spec_ref.columnar`, and count the tasks."""
    return {"count": ours(Path(location), questions(int(files))[question], planner.plan)}


def keep_tasks(location: str) -> dict[str, Any]:
    """Plan a scan of all files and keep its tasks, as reading on one machine does."""
    _, tasks = plan_read(load_table(location))
    return {"count": len(list(tasks))}


def serialize_tasks(location: str) -> dict[str, Any]:
    """Plan a scan of all files and keep its tasks in the form that Spark's executors receive."""
    lengths: list[int] = []

    def counted() -> Iterator[TaskBatch]:
        for batch in plan_read_batches(load_table(location))[1]:
            lengths.append(len(batch))
            yield batch

    _, groups = pickle_tasks(counted(), partitions=2)
    return {"count": sum(lengths), "bytes": sum(map(len, groups))}


def read_batches(location: str) -> dict[str, Any]:
    """Read all rows with their deletes, batch by batch."""
    return {"count": sum(batch.num_rows for batch in read_table(load_table(location)))}


def read_row_by_row(location: str) -> dict[str, Any]:
    """Read all rows one by one by the definitions of the spec, without `spec_ref.columnar`."""
    return {"count": sum(1 for _ in read_rows(load_table(location)))}


def vectors(count: str) -> dict[str, Any]:
    """Replay a number of vectors, evenly drawn from all, against the reference in this process."""
    every = load(shipped())
    number = min(int(count), len(every))
    chosen = tuple(every[at * len(every) // number] for at in range(number))
    run = execute(RunPlan((target("reference", make_limits(60, 600)),), chosen), {}, ResultsWriter(None))
    return {"count": len(run.results), "failures": len(run.failures), "all": len(every), "size": number}


def facts(location: str) -> dict[str, Any]:
    """Return the bytes of the facts that the first manifest emits for rules over several files; Spark shuffles them."""
    table = load_table(location)
    context = Context(table.metadata, table.metadata_location, Level.MANIFESTS)
    assert table.metadata.current_snapshot_id is not None
    lists = list_tasks(context, [table.metadata.current_snapshot_id])
    tasks, _ = manifest_tasks(context, lists, [check_list(context, one) for one in lists])
    emitted = [one for one in check_manifest_task(context, tasks[0]) if isinstance(one, Facts)]
    return {"count": len(tasks), "bytes": sum(one.rows.nbytes for one in emitted)}


PATHS: dict[str, Callable[..., dict[str, Any]]] = {
    "planned": plan,
    "planned-plainly": plan_plainly,
    "held": keep_tasks,
    "sent": serialize_tasks,
    "read": read_batches,
    "read-plainly": read_row_by_row,
    "vectors": vectors,
    "facts": facts,
}


def main(path: str, *words: str) -> None:
    """Run a path, and print its result."""
    print(json.dumps(PATHS[path](*words)))


if __name__ == "__main__":
    run_without_parser(main, *sys.argv[1:])
