"""Run mutants against vectors and checks: a forked process for each, in which one module is replaced.

The parent process has loaded everything and run nothing. A mutant replaces the code of a function. If the changed code
runs while modules are imported, `spec_ref` and its users are imported again instead.
"""

from __future__ import annotations

import gc
import importlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from types import CodeType, FunctionType
from typing import Any

from tools.forked_process import BROKEN, DONE, HANGS, run_forked
from tools.mutants import in_tests
from tools.mutants.coverage import Coverage
from tools.mutants.importing import Finder
from tools.mutants.judging import CHECKS, READING, Judges, Preloaded, find_failing, forget, quiet
from tools.mutants.mutant import ROOT, Mutant

__all__ = ["CHECKS", "Judges", "Preloaded", "candidates", "dies", "find_killer", "materialize"]

MOST = {
    "metrics": 100,
    "value": 100,
    "commit": 100,
    "first": 1000,
    "columnar": 500,
    "form": 200,
    "commit.replay": 300,
    "scan.plan": 400,
    "vectorized": 500,
    "equivalence": 200,
    "written": 60,
    "metamorphic": 60,
    "table.read": 500,
    "corruption": 400,
    "table": 20,
    "race": 60,
}
"""The maximum number of cases of each slow kind that one mutant is run against, in the order of the kinds."""
TIMEOUT = 1800
"""The limit on processor time in seconds for all cases of a mutant, for cases that hang outside of Python."""

RACED = ("spec_ref/commits/", "spec_ref/manifest_lists/", "spec_ref/row_lineage/", "spec_ref/snapshots/")
"""The paths whose mutants are also run against races, which are slow."""


# In the parent process


def materialize() -> tuple[str, Any]:
    """Create the golden tables in their place, in a separate process because that imports the reference."""

    def work() -> None:
        from conformance.vectors.golden_tables import materialize as put

        put()

    return run_forked(work, TIMEOUT)


def find_killer(
    preloaded: Preloaded, mutant: Mutant, killer: str | None, coverage: Callable[[], Coverage]
) -> tuple[str, str]:
    """Run one mutant against everything that runs the changed code.

    Returns:
        ``killed`` and the killer; ``stillborn`` and the reason, if the mutant cannot be imported; or ``survived``.
    """
    covered = coverage()
    function = mutant.function()
    if (mutant.file, function) in covered.imported:
        function = None
    # A recorded case that was renamed since, or that fails without the mutant, proves nothing.
    known = killer is not None and (killer == "hangs" or killer.startswith(in_tests.KIND) or killer in covered.passing)
    if killer is not None and known and dies(preloaded, mutant, killer, function):
        return "killed", killer
    cases = candidates(preloaded, mutant, covered)
    status, found = run_forked(lambda: _try(preloaded, mutant, cases, function), TIMEOUT)
    if status == HANGS:
        return "killed", "hangs"
    if status == BROKEN:
        return "stillborn", found.strip().splitlines()[-1]
    return ("survived", "") if found is None else ("killed", found)


def dies(preloaded: Preloaded, mutant: Mutant, killer: str, function: str | None = None) -> bool:
    """Return whether one case kills a mutant; ``function`` has the same meaning as in `_try`."""
    if killer.startswith(in_tests.KIND):
        return in_tests.fails(mutant, killer)
    status, found = run_forked(lambda: _try(preloaded, mutant, [killer], function), TIMEOUT)
    return status == HANGS if killer == "hangs" else status == DONE and found is not None


def _try(preloaded: Preloaded, mutant: Mutant, cases: Iterable[str], function: str | None) -> str | None:
    quiet()
    replace_in_process(mutant, patches=function is not None)
    judges = Judges(preloaded)
    importlib.import_module(mutant.module)
    return find_failing(judges, cases)


def replace_in_process(mutant: Mutant, *, patches: bool = True) -> None:
    """Replace the module of a mutant by the mutant, in this process.

    Args:
        mutant: the mutant.
        patches: whether the code of existing functions may be replaced; otherwise everything is imported again.
    """
    if not patches or not _patch(mutant):
        forget()
        sys.meta_path.insert(0, Finder(mutant))


def candidates(preloaded: Preloaded, mutant: Mutant, coverage: Coverage) -> list[str]:
    """Return the cases that could kill a mutant: those that run its function, or all if it is not in a function."""
    function = mutant.function()
    key = (mutant.file, function or "")
    cases = coverage.cases.get(key, [])
    if function is None or key in coverage.imported:
        # Code that runs on import may affect all cases that run the module or a module that imports it.
        files = {mutant.file, *_importing(mutant.module)}
        cases = list(cases)
        taken = set(cases)
        for own in (True, False):
            near = {
                one
                for (file, _), some in coverage.cases.items()
                if (file == mutant.file) == own and file in files
                for one in some
            }
            cases += [one for one in all_cases(preloaded, coverage) if one in near and one not in taken]
            taken |= near
    return [case for kind in _by_cost(preloaded, cases, raced=mutant.file.startswith(RACED)) for case in kind]


def _by_cost(preloaded: Preloaded, cases: list[str], *, raced: bool) -> Iterator[list[str]]:
    """Yield the cases by kind, quick ones first; of slow kinds an evenly drawn sample, as large as `MOST` allows."""
    kinds: dict[str, list[str]] = {"quick": [], **{kind: [] for kind in MOST}}
    for case in cases:
        kind, _, name = case.partition(":")
        if kind == "vector":
            operation = preloaded.rows[name][1]["operation"]
            kind = operation if operation in READING else "quick"
        kinds[kind].append(case)
    for kind, found in kinds.items():
        if kind != "race" or raced:
            yield found[:: max(1, -(-len(found) // MOST.get(kind, len(found) or 1)))]


def _importing(module: str) -> Iterator[str]:
    """Yield the files of the reference that import a module."""
    words = re.compile(rf"from {re.escape(module)} import|import {re.escape(module)}\b")
    package, _, name = module.rpartition(".")
    of_package = re.compile(rf"from {re.escape(package)} import [^\n]*\b{re.escape(name)}\b")
    for path in (ROOT / "spec_ref").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if words.search(text) or of_package.search(text):
            yield path.relative_to(ROOT).as_posix()


def all_cases(preloaded: Preloaded, coverage: Coverage) -> list[str]:
    """Return all cases, vectors first."""
    wrong = set(coverage.wrong)
    vectors = [case for name in preloaded.vectors() if (case := f"vector:{name}") not in wrong]
    others = sorted({case for cases in coverage.cases.values() for case in cases if not case.startswith("vector:")})
    return vectors + others


def _patch(mutant: Mutant) -> bool:
    """Replace the code of the module's functions in this process by that of the mutant; return whether any changed.

    This takes a hundredth of the time of importing everything again. It is correct for a function that has not run yet,
    because its name, its arguments and its free variables are the same.
    """
    path = str(ROOT / mutant.file)
    old = list(_codes(compile((ROOT / mutant.file).read_text(encoding="utf-8"), path, "exec", dont_inherit=True)))
    new = list(_codes(compile(mutant.tree(), path, "exec", dont_inherit=True)))
    changed = [(one, other) for one, other in zip(old, new, strict=False) if one != other and one.co_name != "<module>"]
    if len(old) != len(new) or any(
        (one.co_qualname, one.co_freevars) != (other.co_qualname, other.co_freevars) for one, other in changed
    ):
        return False
    found = 0
    functions = [one for one in gc.get_objects() if isinstance(one, FunctionType)]
    for one, other in changed:
        for function in functions:
            if function.__code__ == one:
                function.__code__ = other
                found += 1
    return found > 0


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _codes(part)
