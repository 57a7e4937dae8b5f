"""Where mutants are held against vectors and checks: a forked process for each, in which one module is another.

The process that forks has loaded everything and run nothing. A mutant changes the code of a function where it is, or
where what it changes runs while modules are imported, `spec_ref` and what uses it are imported anew.
"""

from __future__ import annotations

import functools
import gc
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import random
import re
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from tools.apart import BROKEN, DONE, HANGS, apart
from tools.mutants import commits, facts, ways
from tools.mutants.mutant import ROOT, Mutant

LIBRARIES = (
    "attrs", "cattrs", "cramjam", "decimal", "fastavro", "jiter", "jsonschema_rs", "lz4.frame", "mmh3", "numpy",
    "pyarrow", "pyarrow.compute", "pyarrow.orc", "pyarrow.parquet", "pyroaring", "sqlite3", "uuid", "zstandard",
)  # fmt: skip
PRELOADED = (
    "conformance.adapters.reference_commits", "conformance.adapters.reference_tables",
    "conformance.adapters.spark_kernels", "conformance.equivalence", "conformance.judge", "conformance.laws.checking",
    "conformance.races.suites", "conformance.validate.local", "conformance.vectors",
)  # fmt: skip
MOST = {
    "metrics": 100, "value": 100, "commit": 100, "first": 1000, "columnar": 500, "form": 200, "commit.replay": 300,
    "scan.plan": 400, "lanes": 500, "equivalence": 200, "written": 60, "law": 60, "table.read": 500, "corruption": 400,
    "table": 20, "race": 60,
}  # fmt: skip
"""The cases of the kinds that take long that one mutant is held against, in the order of the kinds."""

OURS = ("spec_ref", "conformance", "workbench", "corruptions")
LONGEST_CASE = 60
"""Seconds of processor time after which a case that did not come to an end counts as failed: it hangs."""

TIMEOUT = 1800
"""Seconds of processor time for all cases of a mutant, more than they take, where a case hangs outside of Python."""

RACED = ("spec_ref/commits/", "spec_ref/snapshots/")
"""Where what a mutant changes is held against races too, which take long."""

READING = ("table.read", "scan.plan", "commit.replay")
"""Operations that take longer than others, and are asked last."""


class Hanging(BaseException):
    """A case took too long."""


Function = tuple[str, str]
"""A file and the qualified name of a function in it."""


@dataclass
class Coverage:
    """Which cases run each function, and which functions run while modules are imported."""

    cases: dict[Function, list[str]] = field(default_factory=dict)
    imported: set[Function] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)
    """Cases that do not come out as they should without any mutation: they prove nothing."""


class Preloaded:
    """What all mutants are held against, read once."""

    def __init__(self) -> None:
        for name in (*LIBRARIES, *PRELOADED, *_modules()):
            importlib.import_module(name)
        self.rows: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {}
        for path in sorted((ROOT / "vectors").glob("*/*.json")):
            if not path.name.endswith(".schema.json"):
                content = json.loads(path.read_bytes())
                for row in content.pop("vectors"):
                    self.rows[row["id"]] = (str(path), content, row)

    def vectors(self) -> list[str]:
        """The names of all vectors, in an order that has something of everything early and what is slow last."""
        names = sorted(self.rows)
        random.Random(0).shuffle(names)
        return sorted(names, key=lambda name: self.rows[name][1]["operation"] in READING)


# In the process of a mutant


class _Changed(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, source: str) -> None:
        super().__init__(name, path)
        self.source = source

    def get_code(self, fullname: str) -> CodeType:
        return compile(self.source, self.path, "exec", dont_inherit=True)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant
        self.source = mutant.source()

    def find_spec(self, fullname: str, _path: object, _target: object = None) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.mutant.module:
            return None
        path = str(ROOT / self.mutant.file)
        return importlib.util.spec_from_file_location(fullname, path, loader=_Changed(fullname, path, self.source))


class Judges:
    """The vectors and checks in this process."""

    def __init__(self, preloaded: Preloaded) -> None:
        from conformance import vectors
        from conformance.adapters import reference

        self.preloaded = preloaded
        self.operations = reference.operations()
        self.refusals = reference.REFUSALS
        self.load = vectors
        self._checks: dict[str, dict[str, Callable[[], bool]]] = {}

    def right(self, case: str) -> bool:
        """Whether a case comes out as it should."""
        kind, _, name = case.partition(":")
        return self.vector(name) if kind == "vector" else self.checks(kind)[name]()

    def vector(self, name: str, *, first: bool = False) -> bool:
        """Whether a vector passes; with the first of the outcomes that it permits, where that is asked."""
        from conformance.judge import Outcome, judge
        from conformance.operations import OPERATIONS
        from conformance.protocol import Ok, Refused, Unsupported
        from conformance.written_tables import places

        path, content, row = self.preloaded.rows[name]
        if first:
            row = {**row, "expect": row["expect"]["any_of"][0]}
        vector = self.load._vector(Path(path), content, OPERATIONS[content["operation"]], row)
        from conformance.adapters.serve import encode_answer, perform

        with places([vector]) as (placed,):
            answer = perform(self.operations, placed.operation.name, placed.args, self.refusals)
            answer = json.loads(encode_answer({"seq": 0, **answer}))  # as it crosses the protocol
            if "ok" in answer:
                given: Any = Ok(answer["ok"])
            elif "error" in answer:
                given = Refused(answer["error"]["kind"], answer["error"]["message"])
            else:
                given = Unsupported(answer["unsupported"])
            return judge(placed, given).outcome is Outcome.PASSED

    def checks(self, kind: str) -> dict[str, Callable[[], bool]]:
        """The checks of a kind by name."""
        if kind not in self._checks:
            self._checks[kind] = CHECKS[kind](self)
        return self._checks[kind]


def _corruptions(_judges: Judges) -> dict[str, Callable[[], bool]]:
    """The corruption kit of the validator, and the tables that are valid."""
    sys.path[:0] = [str(ROOT / "tests" / "validate")]
    import corruptions
    from workbench import Workbench

    from conformance.validate.context import Level
    from conformance.validate.run import Snapshots
    from spec_ref.findings import EXAMPLES, Severity

    def found(one: Any) -> bool:
        with tempfile.TemporaryDirectory() as folder:
            bench = Workbench(one.table, Path(folder))
            one.mutate(bench)
            report = bench.validate(Level(one.level), Snapshots(one.snapshots))
        errors = {finding.requirement for finding in report.findings if finding.severity is Severity.ERROR}
        if any(len(finding.examples) != (min(finding.count, EXAMPLES) if finding.count > 1 else 0)
               for finding in report.findings):  # fmt: skip
            return False  # what is told is not as often as it says
        if one.severity == "error":
            return one.code in errors and errors <= {one.code, *one.also}
        told = {(finding.requirement, finding.severity.value) for finding in report.findings}
        return (one.code, one.severity) in told and not errors

    return {one.id: lambda one=one: found(one) for one in corruptions.load()}  # type: ignore[misc]


def _tables(_judges: Judges) -> dict[str, Callable[[], bool]]:
    """Golden tables: those that engines wrote are valid, the broken ones are not."""
    from conformance.golden_tables import PLACE, index, names
    from conformance.validate.context import Level
    from conformance.validate.local import Local
    from conformance.validate.run import Snapshots, validate
    from spec_ref.findings import Severity

    def told(name: str) -> bool:
        report = validate(str(PLACE / name), Level.ROWS, Local(), Snapshots("all"))
        errors = [one for one in report.findings if one.severity is Severity.ERROR]
        return bool(errors) == name.startswith("broken-")

    return {name: lambda name=name: told(name) for name in names() if "engine" in index(name)}  # type: ignore[misc]


def _races(_judges: Judges) -> dict[str, Callable[[], bool]]:
    """Races of two writers in every order, with a fault, and with a reader."""
    from conformance.races import suites

    def sound(race: Any) -> bool:
        return not suites.play(race).explored.found

    races = [
        *suites.pairs(suites.VERSIONS, ("metastore",)),
        *suites.pairs((2,), ("file-system",), most_faults=1),
        *suites.readers((2, 3), ("metastore",)),
    ]
    return {str(race): lambda race=race: sound(race) for race in races}  # type: ignore[misc]


def _firsts(judges: Judges) -> dict[str, Callable[[], bool]]:
    """Vectors that permit several outcomes, of which the reference has the first: the likeliest, or the sharpest.

    Where it decided otherwise, nothing is held.
    """
    names = [name for name, (_, _, row) in judges.preloaded.rows.items() if "any_of" in row["expect"]]
    return {name: lambda name=name: judges.vector(name, first=True) for name in names}  # type: ignore[misc]


CHECKS: dict[str, Callable[[Judges], dict[str, Callable[[], bool]]]] = {
    "metrics": lambda _: facts.metrics(),
    "value": lambda _: facts.values(),
    "commit": lambda _: commits.commits(),
    "first": _firsts,
    "columnar": lambda judges: ways.columnar(judges.preloaded.rows),
    "form": lambda judges: ways.forms(judges.preloaded.rows),
    "lanes": lambda judges: ways.lanes(judges.preloaded.rows, judges.vector, judges.checks("corruption")),
    "equivalence": lambda _: ways.equivalence(),
    "written": lambda _: ways.written(),
    "law": lambda _: ways.laws(),
    "corruption": _corruptions,
    "table": _tables,
    "race": _races,
}


def _failing(judges: Judges, cases: Iterable[str]) -> str | None:
    """The first case that does not come out as it should; an exception is one too."""
    signal.signal(signal.SIGPROF, _too_long)
    for case in cases:
        signal.setitimer(signal.ITIMER_PROF, LONGEST_CASE)
        try:
            if not judges.right(case):
                return case
        except (Exception, Hanging):
            return case
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    return None


def _too_long(_signal: int, _frame: object) -> None:
    raise Hanging


# In the process that forks


def _quiet() -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    if not os.environ.get("MUTANTS_DEBUG"):
        os.dup2(nowhere, 2)


def materialize() -> tuple[str, Any]:
    """Put the golden tables in their place, in a process of its own as it imports the reference."""

    def work() -> None:
        from conformance.golden_tables import materialize as put

        put()

    return apart(work, TIMEOUT)


def fight(
    preloaded: Preloaded, mutant: Mutant, killer: str | None, coverage: Callable[[], Coverage]
) -> tuple[str, str]:
    """Hold one mutant against everything that runs what it changes.

    Returns:
        ``killed`` and by what; ``stillborn`` and why, where it cannot even be imported; ``survived``.
    """
    covered = coverage()
    function = _function_of(mutant)
    if (mutant.file, function) in covered.imported:
        function = None
    if killer is not None and dies(preloaded, mutant, killer, function):
        return "killed", killer
    cases = candidates(preloaded, mutant, covered)
    status, found = apart(lambda: _try(preloaded, mutant, cases, function), TIMEOUT)
    if status == HANGS:
        return "killed", "hangs"
    if status == BROKEN:
        return "stillborn", found.strip().splitlines()[-1]
    return ("survived", "") if found is None else ("killed", found)


def dies(preloaded: Preloaded, mutant: Mutant, killer: str, function: str | None = None) -> bool:
    """Whether one case kills a mutant; ``function`` as `_try` takes it."""
    status, found = apart(lambda: _try(preloaded, mutant, [killer], function), TIMEOUT)
    return status == HANGS if killer == "hangs" else status == DONE and found is not None


def _try(preloaded: Preloaded, mutant: Mutant, cases: Iterable[str], function: str | None) -> str | None:
    _quiet()
    if function is None or not _patched(mutant):
        for name in [name for name in sys.modules if name.partition(".")[0] in OURS]:
            del sys.modules[name]
        sys.meta_path.insert(0, _Finder(mutant))
    judges = Judges(preloaded)
    importlib.import_module(mutant.module)
    return _failing(judges, cases)


def candidates(preloaded: Preloaded, mutant: Mutant, coverage: Coverage) -> list[str]:
    """The cases that could kill a mutant: those that run its function, or all where it is outside of one."""
    function = _function_of(mutant)
    key = (mutant.file, function or "")
    cases = coverage.cases.get(key, [])
    if function is None or key in coverage.imported:
        # What is done while modules are imported may show wherever they, or those that import them, run.
        files = {mutant.file, *_importing(mutant.module)}
        cases = list(cases)
        taken = set(cases)
        for own in (True, False):
            near = {one for (file, _), some in coverage.cases.items() if (file == mutant.file) == own and file in files
                    for one in some}  # fmt: skip
            cases += [one for one in all_cases(preloaded, coverage) if one in near and one not in taken]
            taken |= near
    return [case for kind in _by_cost(preloaded, cases, raced=mutant.file.startswith(RACED)) for case in kind]


def _by_cost(preloaded: Preloaded, cases: list[str], *, raced: bool) -> Iterator[list[str]]:
    """The cases in kinds, the quick ones first; of the slow ones as many as `MOST` says, from all over them."""
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
    """The files of the reference that import a module."""
    words = re.compile(rf"from {re.escape(module)} import|import {re.escape(module)}\b")
    package, _, name = module.rpartition(".")
    of_package = re.compile(rf"from {re.escape(package)} import [^\n]*\b{re.escape(name)}\b")
    for path in (ROOT / "spec_ref").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if words.search(text) or of_package.search(text):
            yield path.relative_to(ROOT).as_posix()


def all_cases(preloaded: Preloaded, coverage: Coverage) -> list[str]:
    """All cases, the quick ones first."""
    wrong = set(coverage.wrong)
    vectors = [case for name in preloaded.vectors() if (case := f"vector:{name}") not in wrong]
    others = sorted({case for cases in coverage.cases.values() for case in cases if not case.startswith("vector:")})
    return vectors + others


def _patched(mutant: Mutant) -> bool:
    """Give the functions of the module, as they are in this process, the code that the mutant has; whether any has it.

    That takes a hundredth of the time in which everything is imported anew. It is right for a function that has not run
    yet, as its name, its arguments and the variables around it are the same.
    """
    path = str(ROOT / mutant.file)
    old = list(_codes(compile((ROOT / mutant.file).read_text(encoding="utf-8"), path, "exec", dont_inherit=True)))
    new = list(_codes(compile(mutant.source(), path, "exec", dont_inherit=True)))
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


def _function_of(mutant: Mutant) -> str | None:
    """The qualified name of the innermost function at the first changed line, as code objects have it."""
    import ast

    line = mutant.line()
    tree = ast.parse((ROOT / mutant.file).read_text(encoding="utf-8"))
    found: str | None = None

    def search(node: ast.AST, prefix: str) -> None:
        nonlocal found
        for child in ast.iter_child_nodes(node):
            inside = prefix
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                if child.lineno <= line <= (child.end_lineno or 0):
                    if isinstance(child, ast.ClassDef):
                        inside = f"{prefix}{child.name}."
                    elif child.body[0].lineno <= line:
                        found = found or f"{prefix}{child.name}"
                        return
                else:
                    continue
            search(child, inside)

    search(tree, "")
    return found


def measure(preloaded: Preloaded, kind: str) -> Coverage:
    """Run every case of a kind once and note the functions that each runs; nothing is cached meanwhile."""
    status, found = apart(lambda: _measured(preloaded, kind), 3600)
    if status != DONE:
        raise RuntimeError(f"the cases of the kind {kind} could not be run: {found}")
    return found


def joined(parts: Iterable[Coverage]) -> Coverage:
    """What several kinds of cases run."""
    coverage = Coverage()
    for part in parts:
        coverage.imported |= part.imported
        coverage.wrong += part.wrong
        for function, cases in part.cases.items():
            coverage.cases.setdefault(function, []).extend(cases)
    return coverage


def _measured(preloaded: Preloaded, kind: str) -> Coverage:
    _quiet()
    for name in [name for name in sys.modules if name.partition(".")[0] in OURS]:
        del sys.modules[name]
    functools.lru_cache = _uncached(functools.lru_cache)  # type: ignore[assignment]
    functools.cache = _uncached(functools.cache)  # type: ignore[assignment]
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
    for name in _modules():
        importlib.import_module(name)
    coverage = Coverage(imported=functions())
    for case in cases:
        right = judges.right(case)
        ran = functions()
        if not right:
            coverage.wrong.append(case)
            continue
        for function in ran:
            coverage.cases.setdefault(function, []).append(case)
    sys.setprofile(None)
    return coverage


def _modules() -> list[str]:
    paths = sorted((ROOT / "spec_ref").rglob("*.py"))
    names = [path.relative_to(ROOT).as_posix().removesuffix(".py").removesuffix("/__init__") for path in paths]
    return [name.replace("/", ".") for name in names]


def _uncached(original: Callable[..., Any]) -> Callable[..., Any]:
    """In place of `functools.cache` and `functools.lru_cache`: no cache in what mutants change and in what asks it."""

    def decorate(function: Any, given: Callable[[Any], Any]) -> Any:
        if not function.__module__.startswith(UNCACHED):
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


UNCACHED = ("spec_ref.", "conformance.validate", "conformance.pipeline", "conformance.adapters", "conformance.races")
