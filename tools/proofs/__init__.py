"""The proofs of each requirement: something that breaks it, and what detects that.

A requirement is proved if something fails when the rule is broken. There are six kinds of proofs, all of them data:

- a *mutant*: the reference with the rule wrong in its code (`tools.mutants`), which vectors, checks, scripts or
  tests kill;
- a *fault*: a faulty adapter of the kit, which gets the rule wrong, and which a vector that names the rule refutes;
- a *planted* fault: the reference with the rule wrong while commits race, which the race explorer finds;
- a *corruption*: a table that breaks the rule, which a check of the validator finds;
- a *refusal*: the input of a vector or a test, or the wrong example of the register, which breaks the rule, and which
  the reference refuses with the code of the rule;
- a *theorem* about the code of the reference (`tools.proofs.theorems`), which a solver proves for all values
  (``python -m tools.proofs``), and which is false if the rule is wrong in the code (`tools.proofs.mutants`).

A requirement that vectors, checks or tests only name, without something that breaks it, is covered and not proved.
"""

from __future__ import annotations

import functools
import importlib
import json
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

ROOT = Path(__file__).parents[2]
FAULTS = Path(__file__).with_name("faults.toml")
PLANTED = Path(__file__).with_name("planted.toml")
SHOWN_CHECKS = ROOT / "tests" / "validate" / "shown_checks.toml"

KINDS = ("mutant", "fault", "planted fault", "corruption", "refusal", "theorem")


@attrs.frozen(order=True)
class Proof:
    """One thing that breaks a requirement, and what detects that."""

    kind: str
    """One of `KINDS`."""

    broken: str
    """The id of what breaks it: a mutant, a fault, a corruption, a cell of the grid or a vector."""

    noticed: str
    """What detects it: a case, the vectors that name the requirement, a check, a test, or the requirement's own
    code."""


@functools.cache
def proofs() -> Mapping[str, tuple[Proof, ...]]:
    """Return the proofs of each requirement that has any, in the order of the kinds."""
    found: dict[str, set[Proof]] = defaultdict(set)
    for source in (_mutants, _faults, _planted_faults, _corruptions, _refusals, _theorems):
        for code, proof in source():
            found[code].add(proof)
    return {
        code: tuple(sorted(some, key=lambda one: (KINDS.index(one.kind), one))) for code, some in sorted(found.items())
    }


def _load(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


@functools.cache
def vector_rows() -> Mapping[str, tuple[str, dict[str, Any]]]:
    """Return the operation and the row of each vector, by id."""
    found = {}
    for path in sorted((ROOT / "vectors").glob("*/*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        for vector in document["vectors"]:
            found[vector["id"]] = document["operation"], vector
    return found


# Faults in the reference


def _mutants() -> Iterator[tuple[str, Proof]]:
    """Yield the proofs by mutants; a drawn mutant counts for the requirement of its killer.

    The killer of a drawn mutant is a vector that names a single requirement; other requirements that the mutant breaks
    are unknown.
    """
    from tools.mutants import sequences
    from tools.mutants.mutant import SCORE, all_mutants

    killed = _load(SCORE)["killed_by"]
    for mutant in all_mutants():
        killer = killed.get(mutant.id)
        if killer is None:
            continue
        codes = mutant.codes
        if mutant.drawn:
            _, row = vector_rows().get(killer.removeprefix("vector:"), ("", {"requirements": []}))
            codes = tuple(row["requirements"]) if len(row["requirements"]) == 1 else ()
        for code in codes:
            yield code, Proof("mutant", mutant.id, killer)
    scripts = sequences.killers()
    for mutant in sequences.mutants():
        if mutant.id in scripts:
            for code in mutant.codes:
                yield code, Proof("mutant", mutant.id, "a script of operations")


def _faults() -> Iterator[tuple[str, Proof]]:
    for name, codes in faults().items():
        for code in codes:
            yield code, Proof("fault", name, f"vectors of {code}")


def faults() -> dict[str, list[str]]:
    """Return the requirements that each fault of the kit of faulty adapters breaks."""
    found: dict[str, list[str]] = _load(FAULTS)["faults"]
    return found


def _planted_faults() -> Iterator[tuple[str, Proof]]:
    content = _load(PLANTED)
    for name, codes in content["races"].items():
        for code in codes:
            yield code, Proof("planted fault", name, "the race explorer")
    for row in content["refusal"]:
        for code in row["codes"]:
            yield code, Proof("refusal", row["broken"], row["test"])


# Faults in tables and documents


def _corruptions() -> Iterator[tuple[str, Proof]]:
    """Yield the proofs by tables with findings: of the kit, of the grid, broken golden ones, and pairs of versions."""
    from conformance.rules import registry
    from tools.grid.run import stored_outcomes

    kit = importlib.import_module("tests.validate.corruptions").load()
    pairs = importlib.import_module("tests.validate.test_diff")
    checks = registry()
    shown = _load(SHOWN_CHECKS)
    for one in kit:
        yield one.code, Proof("corruption", one.id, "the validator")
    for check, corruption in shown["corruptions"].items():
        for code in checks[check].requirements:
            yield code, Proof("corruption", corruption, check)
    for cell, by_table in stored_outcomes().items():
        for outcome in by_table.values():
            check = outcome.split()[1]
            if check in checks:
                for code in checks[check].requirements:
                    yield code, Proof("corruption", f"grid: {cell}", check)
    broken = [(check, f"golden table {table}") for check, table in shown["golden"].items()]
    broken += [(check, row["test"]) for row in shown["elsewhere"] for check in row["checks"]]
    for check, what in broken:
        for code in checks[check].requirements:
            yield code, Proof("corruption", what, check)
    for name, (codes, _) in {**pairs.CASES, **pairs.FILES}.items():
        yield codes.split()[0], Proof("corruption", f"versions: {name}", "validate --diff")


def _refusals() -> Iterator[tuple[str, Proof]]:
    """Yield the proofs by inputs that break a rule, and that the reference refuses or reports with its code."""
    from conformance import vectors
    from conformance.engines.reference import adapter
    from spec_ref.core.errors import SpecError
    from spec_ref.requirements import register

    operations = adapter.operations()
    for vector in vectors.load(vectors.shipped()):
        name = vector.operation.name
        if name.endswith(".check"):
            found = vector.expect.get("ok")
            for code in {*(found or ())} & {*vector.requirements}:
                yield code, Proof("refusal", vector.id, code)
        elif "error" in vector.expect and name not in OF_TABLES:
            try:
                operations[name](vector.args)
            except SpecError as error:
                code = error.violation.requirement
                if code in vector.requirements:
                    yield code, Proof("refusal", vector.id, code)
            except adapter.REFUSALS:
                pass  # refused before any rule is checked
    for rule in register().values():
        if rule.judged is not None and rule.judged != "answers":
            yield rule.code, Proof("refusal", f"the wrong example of {rule.code}", rule.code)


def _theorems() -> Iterator[tuple[str, Proof]]:
    """Yield the proofs by theorems, for each requirement that is broken by a mutant that makes the theorem false.

    A theorem names all requirements that it is about. It proves only those for which there is such a mutant.
    """
    from tools.proofs import mutants
    from tools.proofs.theorem import THEOREMS
    from tools.proofs.theorems import load

    load()
    for row in mutants.rows():
        for code in row.mutant.codes:
            yield code, Proof("theorem", row.theorem, f"the solver: {THEOREMS[row.theorem].scope}")


OF_TABLES = ("table.read", "table.write", "table.change", "scan.plan", "commit.replay")
"""Operations on whole tables, which are not run here: they are slow, and read files that may be missing."""
