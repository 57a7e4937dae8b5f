"""The cases that mutants are run against: vectors, the validator's corruptions, tables, races, and direct checks."""

from __future__ import annotations

import importlib
import json
import os
import random
import signal
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from tools.mutants import commits, fast_paths, forms, metrics, values
from tools.mutants.mutant import ROOT

LIBRARIES = (
    "attrs",
    "cattrs",
    "cramjam",
    "decimal",
    "fastavro",
    "jiter",
    "jsonschema_rs",
    "lz4.block",
    "lz4.frame",
    "mmh3",
    "numpy",
    "pyarrow",
    "pyarrow.compute",
    "pyarrow.orc",
    "pyarrow.parquet",
    "pyroaring",
    "sqlite3",
    "uuid",
)
PRELOADED = (
    "conformance.operations.commits.reference",
    "conformance.operations.reading.reference",
    "conformance.engines.spark_reference.kernels",
    "conformance.runner.judge",
    "conformance.table_io.local",
    "conformance.properties.filter_pushdown",
    "conformance.properties.metamorphic",
    "conformance.races.suites",
    "conformance.validator.local",
    "conformance.vectors",
)

OURS = ("spec_ref", "conformance", "corruptions")
LONGEST_CASE = 60
"""The processor time in seconds after which a running case counts as failed, because it hangs."""

READING = ("table.read", "scan.plan", "commit.replay")
"""Slow operations, which are run last."""


class CaseTimeout(BaseException):
    """A case took too long."""


class Preloaded:
    """The modules and vectors that all mutants need, loaded once."""

    def __init__(self) -> None:
        for name in (*LIBRARIES, *PRELOADED, *modules()):
            importlib.import_module(name)
        self.rows: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {}
        for path in sorted((ROOT / "vectors").glob("*/*.json")):
            if not path.name.endswith(".schema.json"):
                content = json.loads(path.read_bytes())
                for row in content.pop("vectors"):
                    self.rows[row["id"]] = (str(path), content, row)

    def vectors(self) -> list[str]:
        """Return the names of all vectors: shuffled, so that the variety is early, with slow ones last."""
        names = sorted(self.rows)
        random.Random(0).shuffle(names)
        return sorted(names, key=lambda name: self.rows[name][1]["operation"] in READING)


def forget() -> None:
    """Remove the changed modules and their users from ``sys.modules``, so that they are imported again."""
    for name in [name for name in sys.modules if name.partition(".")[0] in OURS or name.startswith("tools.grid")]:
        del sys.modules[name]


class Judges:
    """The vectors and checks in this process."""

    def __init__(self, preloaded: Preloaded) -> None:
        from conformance import vectors
        from conformance.engines.reference import adapter as reference

        self.preloaded = preloaded
        self.operations = reference.operations()
        self.refusals = reference.REFUSALS
        self.load = vectors
        self._checks: dict[str, dict[str, Callable[[], bool]]] = {}

    def passes(self, case: str) -> bool:
        """Return whether a case passes."""
        kind, _, name = case.partition(":")
        return self.vector(name) if kind == "vector" else self.checks(kind)[name]()

    def vector(self, name: str, *, first: bool = False) -> bool:
        """Return whether a vector passes; with ``first``, only its first permitted outcome counts."""
        from conformance.operations.protocol import Ok, Refused, Unsupported
        from conformance.operations.registry import OPERATIONS
        from conformance.runner.judge import Outcome, judge_answer
        from conformance.runner.scratch_dir import table_folders

        path, content, row = self.preloaded.rows[name]
        if first:
            row = {**row, "expect": row["expect"]["any_of"][0]}
        vector = self.load._vector(Path(path), content, OPERATIONS[content["operation"]], row)
        from conformance.adapter_sdk.serve import encode_answer, perform

        with table_folders([vector]) as (placed,):
            answer = perform(self.operations, placed.operation.name, placed.args, self.refusals)
            answer = json.loads(encode_answer({"seq": 0, **answer}))  # in the form that the protocol transports
            if "ok" in answer:
                given: Any = Ok(answer["ok"])
            elif "error" in answer:
                given = Refused(answer["error"]["kind"], answer["error"]["message"])
            else:
                given = Unsupported(answer["unsupported"])
            return judge_answer(placed, given).outcome is Outcome.PASSED

    def checks(self, kind: str) -> dict[str, Callable[[], bool]]:
        """Return the checks of a kind, by name."""
        if kind not in self._checks:
            self._checks[kind] = CHECKS[kind](self)
        return self._checks[kind]


def _corruptions(_judges: Judges) -> dict[str, Callable[[], bool]]:
    """Return the corruption kit of the validator, and the tables that are valid."""
    from conformance.validator.context import Level
    from conformance.validator.run import SnapshotSelection
    from spec_ref.checks.findings import MAX_EXAMPLES, Severity
    from tests.validate import corruptions
    from tools.grid.workbench import Workbench

    def found(one: corruptions.Corruption) -> bool:
        with tempfile.TemporaryDirectory() as folder:
            bench = Workbench(one.table, Path(folder))
            one.mutate(bench)
            report = bench.validate(Level(one.level), SnapshotSelection(one.snapshots))
        errors = {finding.requirement for finding in report.findings if finding.severity is Severity.ERROR}
        if any(
            len(finding.examples) != (min(finding.count, MAX_EXAMPLES) if finding.count > 1 else 0)
            for finding in report.findings
        ):
            return False  # the number of places differs from the reported count
        if one.severity == "error":
            return one.code in errors and errors <= {one.code, *one.also}
        reported = {(finding.requirement, finding.severity.value) for finding in report.findings}
        return (one.code, one.severity) in reported and not errors

    return {one.id: lambda one=one: found(one) for one in corruptions.load()}  # type: ignore[misc]


def _tables(_judges: Judges) -> dict[str, Callable[[], bool]]:
    """Return checks of golden tables: those that engines wrote are valid, the broken ones are not."""
    from conformance.validator.context import Level
    from conformance.validator.local import LocalBackend
    from conformance.validator.run import SnapshotSelection, validate
    from conformance.vectors.golden_places import PLACE
    from conformance.vectors.golden_tables import index, table_names
    from spec_ref.checks.findings import Severity

    def is_reported(name: str) -> bool:
        report = validate(str(PLACE / name), Level.ROWS, LocalBackend(), SnapshotSelection("all"))
        errors = [one for one in report.findings if one.severity is Severity.ERROR]
        return bool(errors) == name.startswith("broken-")

    return {name: lambda name=name: is_reported(name) for name in table_names() if "engine" in index(name)}  # type: ignore[misc]


def _races(_judges: Judges) -> dict[str, Callable[[], bool]]:
    """Return checks of races of two writers in every order, with a fault, and with a reader."""
    from conformance.races import suites

    def sound(race: suites.Race) -> bool:
        return not suites.explore_schedules(race).explored.found

    races = [
        *suites.pairs(suites.VERSIONS, ("metastore",)),
        *suites.pairs((2,), ("file-system",), max_faults=1),
        *suites.reader_races((2, 3), ("metastore",)),
    ]
    return {str(race): lambda race=race: sound(race) for race in races}  # type: ignore[misc]


def _firsts(judges: Judges) -> dict[str, Callable[[], bool]]:
    """Return checks that the reference has the first of several permitted outcomes: the likeliest or the most specific.

    Checks that the unchanged reference fails, because it chose a different outcome, do not count.
    """
    names = [name for name, (_, _, row) in judges.preloaded.rows.items() if "any_of" in row["expect"]]
    return {name: lambda name=name: judges.vector(name, first=True) for name in names}  # type: ignore[misc]


CHECKS: dict[str, Callable[[Judges], dict[str, Callable[[], bool]]]] = {
    "metrics": lambda _: metrics.metrics(),
    "value": lambda _: values.values(),
    "commit": lambda _: commits.commits(),
    "first": _firsts,
    "columnar": lambda judges: fast_paths.columnar(judges.preloaded.rows),
    "form": lambda judges: forms.forms(judges.preloaded.rows),
    "vectorized": lambda judges: fast_paths.vectorized(
        judges.preloaded.rows, judges.vector, judges.checks("corruption")
    ),
    "equivalence": lambda _: forms.equivalence(),
    "written": lambda _: forms.written(),
    "metamorphic": lambda _: forms.metamorphic_properties(),
    "corruption": _corruptions,
    "table": _tables,
    "race": _races,
}


def find_failing(judges: Judges, cases: Iterable[str]) -> str | None:
    """Return the first case that fails or raises an exception."""
    signal.signal(signal.SIGPROF, _too_long)
    for case in cases:
        signal.setitimer(signal.ITIMER_PROF, LONGEST_CASE)
        try:
            if not judges.passes(case):
                return case
        except (Exception, CaseTimeout):
            return case
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    return None


def _too_long(_signal: int, _frame: object) -> None:
    raise CaseTimeout


def quiet() -> None:
    """Suppress all output of this process."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    if not os.environ.get("MUTANTS_DEBUG"):
        os.dup2(nowhere, 2)


def modules() -> list[str]:
    """Return the modules of the reference."""
    paths = sorted((ROOT / "spec_ref").rglob("*.py"))
    names = [path.relative_to(ROOT).as_posix().removesuffix(".py").removesuffix("/__init__") for path in paths]
    return [name.replace("/", ".") for name in names]
