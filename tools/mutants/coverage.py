"""Measure which functions of the reference each case runs."""

from __future__ import annotations

import functools
import hashlib
import importlib
import os
import pickle
import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType
from typing import Any

from tools.forked_process import DONE, run_forked
from tools.mutants.judging import CHECKS, Judges, Preloaded, forget, modules, quiet
from tools.mutants.mutant import ROOT

CACHE = ROOT / ".cache" / "mutants"

ASKING = ("commits", "fast_paths", "forms", "judging", "metrics", "values")
"""The modules that invalidate all measurements when they change."""

Function = tuple[str, str]
"""A file and the qualified name of a function in it."""


@dataclass
class Coverage:
    """The cases that run each function, and the functions that run while modules are imported."""

    cases: dict[Function, list[str]] = field(default_factory=dict)
    imported: set[Function] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)
    """Cases that fail without any mutation, and therefore prove nothing."""

    @functools.cached_property
    def passing(self) -> frozenset[str]:
        """The cases that pass without any mutation."""
        return frozenset(case for cases in self.cases.values() for case in cases)


def measure(preloaded: Preloaded, kind: str) -> Coverage:
    """Run every case of a kind once, without caches, and record the functions that each runs."""
    status, found = run_forked(lambda: _measure_in_process(preloaded, kind), 3600)
    if status != DONE:
        raise RuntimeError(f"the cases of the kind {kind} could not be run: {found}")
    coverage: Coverage = found
    return coverage


def combine(parts: Iterable[Coverage]) -> Coverage:
    """Combine the coverage of several kinds of cases."""
    coverage = Coverage()
    for part in parts:
        coverage.imported |= part.imported
        coverage.wrong += part.wrong
        for function, cases in part.cases.items():
            coverage.cases.setdefault(function, []).extend(cases)
    return coverage


def _measure_in_process(preloaded: Preloaded, kind: str) -> Coverage:
    quiet()
    forget()
    functools.lru_cache = _uncached(functools.lru_cache)
    functools.cache = _uncached(functools.cache)
    root = f"{ROOT}{os.sep}"
    inside = f"{root}spec_ref{os.sep}"
    seen: set[CodeType] = set()

    def trace(frame: Any, event: str, _argument: object) -> None:
        if event == "call":
            seen.add(frame.f_code)

    def functions() -> set[Function]:
        nonlocal seen
        ran, seen = seen, set()
        return {
            (code.co_filename.removeprefix(root), code.co_qualname.split(".<locals>")[0])
            for code in tuple(ran)
            if code.co_filename.startswith(inside)
        }

    threading.setprofile(trace)
    sys.setprofile(trace)
    judges = Judges(preloaded)
    names = preloaded.vectors() if kind == "vector" else judges.checks(kind)
    cases = [f"{kind}:{name}" for name in names]
    for name in modules():
        importlib.import_module(name)
    coverage = Coverage(imported=functions())
    for case in cases:
        right = judges.passes(case)
        ran = functions()
        if not right:
            coverage.wrong.append(case)
            continue
        for function in ran:
            coverage.cases.setdefault(function, []).append(case)
    sys.setprofile(None)
    return coverage


def _uncached(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `functools.cache` and `functools.lru_cache`: the reference and the cases run without caches."""

    def decorate(function: Any, given: Callable[[Any], Any]) -> Any:
        if not function.__module__.startswith(UNCACHED) or function.__module__.startswith(REGISTERS):
            return given(function)

        @functools.wraps(function)
        def call(*arguments: Any, **options: Any) -> Any:
            return function(*arguments, **options)

        call.cache_clear = lambda: None  # type: ignore[attr-defined]
        return call

    def replacement(*arguments: Any, **options: Any) -> Any:
        if arguments and callable(arguments[0]):
            return decorate(arguments[0], original)
        return lambda function: decorate(function, original(*arguments, **options))

    return replacement


UNCACHED = (
    "spec_ref.",
    "conformance.validator",
    "conformance.table_io",
    "conformance.adapter_sdk",
    "conformance.engines",
    "conformance.races",
)

REGISTERS = ("spec_ref.checks", "spec_ref.requirements")
"""Modules whose functions stay cached: they read files of the package that no mutant changes, and take seconds."""


# Stored between runs


_COVERAGE: list[Coverage] = []


def load_coverage(preloaded: Preloaded) -> Coverage:
    """Return the coverage; it is measured once for each state of the reference, the vectors and the checks."""
    if not _COVERAGE:
        _COVERAGE.append(combine(_load_or_measure(preloaded, kind) for kind in ("vector", *CHECKS)))
        for case in _COVERAGE[0].wrong:
            if case.startswith("first:"):
                continue  # the reference chose a different outcome
            print(f"without any mutation, {case} does not have its expected result: it is left out", file=sys.stderr)
    return _COVERAGE[0]


def _load_or_measure(preloaded: Preloaded, kind: str) -> Coverage:
    kept = CACHE / f"coverage-{kind}-{_digest()}.pickle"
    if kept.exists():
        coverage: Coverage = pickle.loads(kept.read_bytes())
        return coverage
    print(f"running every {kind} once, to record the functions that it runs", file=sys.stderr, flush=True)
    coverage = measure(preloaded, kind)
    CACHE.mkdir(parents=True, exist_ok=True)
    for old in CACHE.glob(f"coverage-{kind}-*.pickle"):
        old.unlink()
    kept.write_bytes(pickle.dumps(coverage))
    return coverage


@functools.cache
def _digest() -> str:
    sources: list[Path] = [*(ROOT / "spec_ref").rglob("*.py"), *(ROOT / "tests" / "validate").rglob("*.py")]
    sources += [Path(__file__).with_name(f"{name}.py") for name in ASKING]
    sources += (ROOT / "vectors").glob("*/*.json")
    digest = hashlib.sha256()
    for path in sorted(sources):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
