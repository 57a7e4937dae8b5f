"""Theorems about commits: any number of writers, and a store that may lose, delay and repeat requests
(Optimistic Concurrency; Commit Conflict Resolution and Retry).
"""

from __future__ import annotations

from typing import Any

from tools.proofs.protocol_model import Model
from tools.proofs.protocol_states import Assumption
from tools.proofs.protocol_steps import RETRIES, explore, machine, subject
from tools.proofs.theorem import EXHAUSTIVE, INDUCTION, StepsFound, World, theorem

TABLES = ("file-system", "metastore")
CHANGES = ("properties", "schema", "delete-file", "append", "rewrite", "expire")

NOT_USED = {("metastore", Assumption.FILES), ("file-system", Assumption.COMMITTED)}
"""The assumptions that one kind of table does not rely on."""


def _model(table: str, change: str, *dropped: Assumption) -> Model:
    return Model(machine(table, change), file_system=table == "file-system", dropped=dropped)


@theorem(
    "acknowledged-commits-stay",
    "OCC001",
    "OCC003",
    "OCC005",
    "OCC007",
    "OCC009",
    "TMD018",
    "TMD035",
    method=INDUCTION,
    cases=({"table": table, "change": change} for change in CHANGES for table in TABLES),
    quick=12,
)
def acknowledged(world: World, table: str, change: str) -> None:
    """With any number of writers, retries, lost, late and repeated requests, outdated reads and crashes: a commit that
    is acknowledged is in the history of the pointer, once, and stays there; each version of the history names the one
    before it in its metadata log, and was made from it and validated against it; a commit that is reported as not done
    is not in the history and will not be; and no metadata file that is in the history, or may get there, is deleted.
    """
    model = _model(table, change)
    problem = model.prove()
    if problem:
        way = model.counterexample()
        raise StepsFound(problem if way else f"{problem}; no steps of two writers show the fault", way)
    world.claim(condition=True)


@theorem(
    "retries-repeat-the-same-steps",
    "OCC003",
    method=EXHAUSTIVE,
    cases=({"table": table, "change": change} for change in CHANGES for table in TABLES),
    quick=12,
)
def repeated(world: World, table: str, change: str) -> None:
    """A writer that may retry once more takes no step that a writer with fewer retries does not take: so the steps that
    other theorems are about are all steps, however often a commit is retried.
    """
    more = {*explore(subject(table, change), RETRIES + 1).steps} - {*machine(table, change).steps}
    world.claim(not more, f"one retry more leads to other steps: {sorted(map(str, more))}")


@theorem(
    "what-commits-assume",
    "OCC001",
    "FIO001",
    method=INDUCTION,
    cases=({"table": table, "assumption": assumption} for assumption in Assumption for table in TABLES),
    quick=5,
)
def assumed(world: World, table: str, assumption: Any) -> None:
    """Each assumption about the store is needed: without it there are steps of at most two writers that lose a commit,
    repeat it, report its result wrongly, or overwrite or delete a file of the table. Only metastore tables need the
    pointer to be read as it is or was, and only file-system tables need files to be seen once they were written or
    renamed; for the other kind everything is proved without.
    """
    model = _model(table, "properties", assumption)
    if (table, assumption) in NOT_USED:
        world.claim(not model.prove(), "the proof needs an assumption that is marked as unused")
    else:
        world.claim(bool(model.counterexample()), "an assumption is not needed")
