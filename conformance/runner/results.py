"""The results of a run, and their file: JSON lines with a header first and a footer last (`schemas/results.json`).

The file is the source of every report. It is written during the run; a file whose footer is missing or says
``complete: false`` holds an incomplete run.
"""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO, Any, TypeAlias

import jsonschema_rs
from attrs import define, evolve, field, fields, frozen

from conformance.core.failures import ExitStatus, UsageError
from conformance.core.json_text import dump_json, parse_json, pointer_prefix, shorten
from conformance.runner.judge import Outcome
from conformance.vectors import Vector

RESULTS = 1
"""The version of the format of a results file."""

STATUSES = ("passed", "failed", "unsupported", "crashed", "known", "unexpected-pass")
"""The status of a result: its outcome, or ``known`` for a known deviation that happened, or ``unexpected-pass`` for
one that no longer happens."""


_KINDS = {
    "deviation": ("deviation", "deviations"),
    "leniency": ("leniency", "leniencies"),
    "robustness": ("robustness failure", "robustness failures"),
    "limitation": ("limitation", "limitations"),
    "choice": ("choice", "choices"),
}
"""The singular and the plural for known results of a kind."""


@frozen
class Case:
    """The properties of a vector that a report needs."""

    id: str
    suite: str
    operation: str
    section: str
    requirements: tuple[str, ...]
    versions: tuple[int, ...]
    args: dict[str, Any]
    expect: dict[str, Any]
    origin: str = ""
    note: str = ""
    contradiction: tuple[str, ...] = ()

    @classmethod
    def from_vector(cls, vector: Vector) -> Case:
        return cls(
            id=vector.id,
            suite=vector.suite,
            operation=vector.operation.name,
            section=vector.section,
            requirements=vector.requirements,
            versions=vector.versions,
            args=vector.args,
            expect=vector.expect,
            origin=vector.origin,
            note=vector.note,
            contradiction=vector.contradiction,
        )


@frozen
class Result:
    """The result of one vector with one adapter."""

    adapter: str
    id: str
    outcome: Outcome
    status: str
    """One of `STATUSES`."""

    reason: str = ""
    got: dict[str, Any] | None = None
    """The answer; None for a pass, as the answer equals the expected one."""

    differences: tuple[dict[str, Any], ...] = ()
    """Each has ``path``, and ``expected`` and ``got`` where that side has a value."""

    chosen: dict[str, Any] | None = None
    deviation: str = ""
    """Why the result was expected, from the file of known deviations."""

    deviation_id: str = ""
    """The id of the known deviation, if it has one."""

    deviation_kind: str = ""
    """One of `conformance.runner.expectations.DeviationKind`, if the result is a known deviation."""

    stderr: str = ""

    @property
    def is_failure(self) -> bool:
        """Whether it makes the run fail."""
        return self.status in ("failed", "crashed", "unexpected-pass")


@frozen
class AdapterRun:
    """One adapter in one run."""

    name: str
    reproduce: str = ""
    """The name of the adapter for ``--adapter``."""

    implementation: str = ""
    version: str = ""
    language: str = ""
    not_examined: str = ""
    """Why it could not be run; empty if it ran."""

    breach: str = ""
    """How it broke the protocol after its last answer."""

    unmet: tuple[str, ...] = ()
    """Messages about known deviations that did not happen as stated."""

    seconds: float = 0.0

    @property
    def identity(self) -> str:
        """The implementation and the version, without those that the name has: as a whole word, or after an ``@``."""
        is_named = re.search(rf"(?<!\w){re.escape(self.implementation)}(?!\w)", self.name) is not None
        name = "" if is_named else self.implementation
        version = "" if self.name.endswith(f"@{self.version}") else self.version
        return f"{name} {version}".strip()

    def __str__(self) -> str:
        return f"{self.name} ({self.identity})" if self.identity else self.name


@frozen
class SecondReading:
    """The result of a second reader for one state of a written table."""

    writer: str
    id: str
    """The id of the vector."""

    label: str
    """The state of the table: current, a reference, or the snapshot of an operation."""

    outcome: Outcome
    reason: str = ""
    reader: str = ""
    """The name of the reader on the command line."""

    @property
    def is_difference(self) -> bool:
        """Whether the reader crashed, or read rows that differ from those of the script."""
        return self.outcome in (Outcome.FAILED, Outcome.CRASHED)


@define
class Run:
    """The results of one run."""

    header: dict[str, Any]
    cases: dict[str, Case] = field(factory=dict)
    adapters: list[AdapterRun] = field(factory=list)
    results: list[Result] = field(factory=list)
    second_readings: list[SecondReading] = field(factory=list)
    """The results of the second reader for the written tables that passed."""

    complete: bool = False
    exit_status: int | None = None

    def counts(self, adapter: str) -> dict[str, int]:
        """Return the number of results of an adapter by status, with all statuses."""
        found = Counter(result.status for result in self.results if result.adapter == adapter)
        return {status: found[status] for status in STATUSES}

    @property
    def totals(self) -> str:
        """The counts of all results in words, with the kinds of known ones."""
        total = Counter(result.status for result in self.results)
        parts = [f"{total[status]} {status}" for status in STATUSES if total[status]]
        kinds = ", ".join(f"{number} {_KINDS[kind][number != 1]}" for kind, number in self.known_kinds().items())
        known = f"{total['known']} known"
        return ", ".join(f"{known} ({kinds})" if part == known else part for part in parts) or "no results"

    @property
    def answered_count(self) -> int:
        """The number of results that are not ``unsupported``."""
        return sum(result.outcome is not Outcome.UNSUPPORTED for result in self.results)

    @property
    def possible_count(self) -> int:
        """The number of results if every implementation ran every vector of the folder."""
        vectors: int = self.header.get("vectors", {}).get("on_disk", 0)
        return max(vectors, len(self.cases)) * len(self.adapters)

    @property
    def verdict(self) -> str:
        """The verdict on a run, in words that claim no more than was run and answered."""
        if not self.complete:
            return "the run is not complete"
        if self.exit_status == ExitStatus.NOT_EXAMINED:
            return "not all could be examined"
        # Combined runs have no exit status.
        if self.exit_status == ExitStatus.FAILURES or (self.exit_status is None and self.failures):
            return "not conformant"
        known = any(result.status == "known" for result in self.results)
        if self.answered_count == self.possible_count:
            return "conformant except for known deviations" if known else "conformant"
        deviations = "new deviations" if known else "deviations"
        return f"no {deviations} in {self.answered_count:,} answered of {self.possible_count:,} cases"

    def known_kinds(self, adapter: str | None = None) -> dict[str, int]:
        """Return the number of known results of an adapter, or of all, by kind; kinds without results are left out."""
        return dict(
            Counter(
                result.deviation_kind or "deviation"  # files of earlier versions have no kind
                for result in self.results
                if result.status == "known" and adapter in (None, result.adapter)
            ).most_common()
        )

    def outcomes(self, adapter: str) -> dict[str, int]:
        """Return the number of results of an adapter by outcome; the numbers add up to the vectors that ran."""
        found = Counter(result.outcome for result in self.results if result.adapter == adapter)
        return {outcome.value: found[outcome] for outcome in Outcome}

    def adapter_results(self, adapter: str) -> list[Result]:
        return [result for result in self.results if result.adapter == adapter]

    @property
    def failures(self) -> list[Result]:
        return [result for result in self.results if result.is_failure]


class ResultsWriter:
    """Writes a results file during the run; several adapters may run at the same time."""

    def __init__(self, file: IO[str] | None) -> None:
        self._file = file
        self._lock = threading.Lock()

    def _write(self, kind: str, content: dict[str, Any]) -> None:
        if self._file is not None:
            line = dump_json({"kind": kind, **content}) + "\n"
            with self._lock:
                self._file.write(line)

    def header(self, header: dict[str, Any], cases: Iterable[Case]) -> None:
        self._write("header", header)
        if self._file is not None:
            for case in cases:
                self._write("case", sparse_json(case))

    def result(self, result: Result) -> None:
        if self._file is not None:
            self._write("result", sparse_json(result))

    def second_reading(self, reading: SecondReading) -> None:
        if self._file is not None:
            self._write("second-reading", sparse_json(reading))

    def adapter(self, adapter: AdapterRun) -> None:
        self._write("adapter", sparse_json(adapter))
        if self._file is not None:
            self._file.flush()

    def footer(self, run: Run) -> None:
        counts = {adapter.name: run.counts(adapter.name) for adapter in run.adapters}
        self._write("footer", {"complete": run.complete, "exit_status": run.exit_status, "counts": counts})
        if self._file is not None:
            self._file.flush()


def sparse_json(record: Case | Result | AdapterRun | SecondReading) -> dict[str, Any]:
    """Return a record as JSON, without empty values; zero and false are kept."""
    content: dict[str, Any] = {}
    for name in _NAMES[type(record)]:
        value = getattr(record, name)
        if value is not None and value != "" and value != ():
            content[name] = value
    if isinstance(record, Result | SecondReading):
        content["outcome"] = record.outcome.value
    return content


_NAMES: dict[type, tuple[str, ...]] = {
    Case: tuple(attribute.name for attribute in fields(Case)),
    Result: tuple(attribute.name for attribute in fields(Result)),
    AdapterRun: tuple(attribute.name for attribute in fields(AdapterRun)),
    SecondReading: tuple(attribute.name for attribute in fields(SecondReading)),
}
"""The attribute names of each record class, cached because asking ``attrs`` takes longer than writing a line."""


LineForms: TypeAlias = Mapping[str, jsonschema_rs.Validator]
"""The form of each kind of line, by the kind."""


@cache
def line_forms(schema: str) -> LineForms:
    """Return the forms of the lines of a kind of file.

    Args:
        schema: the name of a schema in ``conformance/schemas`` that has a definition for each kind of line.
    """
    text = (Path(__file__).parents[1] / "schemas" / schema).read_text(encoding="utf-8")
    definitions = json.loads(text)["$defs"]
    return {
        kind: jsonschema_rs.validator_for({"$ref": f"#/$defs/{kind}", "$defs": definitions}) for kind in definitions
    }


def _line_violation(message: Any, forms: LineForms) -> str | None:
    """Return the place in a line that does not have the form of its kind, and what is wrong there."""
    if not isinstance(message, dict):
        return f"expected an object; found {shorten(dump_json(message))}"
    kind = message.get("kind")
    if kind not in [*forms]:
        return f"/kind: expected {', '.join(forms)}; found {shorten(dump_json(kind))}"
    wrong = next(iter(forms[kind].iter_errors(message)), None)
    return None if wrong is None else f"{pointer_prefix(wrong.instance_path)}{shorten(wrong.message)}"


def read_json_lines(path: Path, forms: LineForms, what: str, *, may_be_cut: bool = False) -> Iterator[dict[str, Any]]:
    """Read the lines of a file whose first line, and no other, is a header.

    Args:
        path: the file: JSON lines, each an object with its ``kind``.
        forms: the JSON schema of each kind of line.
        what: the name of the kind of file, with its article, for messages.
        may_be_cut: whether the last line may be truncated, as after a run that was killed.

    Raises:
        UsageError: the file cannot be read, or a line has a wrong form; the message says where.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
    if not lines:
        raise UsageError(f"{path}: the file is empty; expected {what}")
    for number, line in enumerate(lines, 1):
        try:
            message = parse_json(line)
        except ValueError as error:
            if may_be_cut and 1 < number == len(lines):
                return
            raise UsageError(f"{path}:{number}: not a line of {what}: {error}") from None
        violation = _line_violation(message, forms)
        if violation is not None:
            raise UsageError(f"{path}:{number}: not a line of {what}: {violation}")
        if (number == 1) != (message["kind"] == "header"):
            raise UsageError(f"{path}:{number}: the header of {what} must be its first line")
        yield message


def read(path: Path) -> Run:
    """Read the run of a results file; without a footer it is not complete.

    Raises:
        UsageError: the file cannot be read, or is not a results file; the message says where.
    """
    lines = read_json_lines(path, line_forms("results.json"), "a results file", may_be_cut=True)
    run = Run(next(lines))
    for message in lines:
        _take(run, message)
    run.header.pop("kind", None)
    return run


def _take(run: Run, message: dict[str, Any]) -> None:
    match message.pop("kind"):
        case "case":
            case = Case(**message)
            case = evolve(
                case,
                requirements=tuple(case.requirements),
                versions=tuple(case.versions),
                contradiction=tuple(case.contradiction),
            )
            run.cases[case.id] = case
        case "adapter":
            run.adapters.append(AdapterRun(**{**message, "unmet": tuple(message.get("unmet", ()))}))
        case "result":
            outcome, differences = Outcome(message.pop("outcome")), tuple(message.pop("differences", ()))
            run.results.append(Result(**message, outcome=outcome, differences=differences))
        case "second-reading":
            run.second_readings.append(SecondReading(**{**message, "outcome": Outcome(message["outcome"])}))
        case _:
            run.complete, run.exit_status = message["complete"], message["exit_status"]


def combine_runs(runs: Sequence[Run], names: Sequence[str]) -> Run:
    """Combine several runs for one report.

    Raises:
        UsageError: two runs have the same adapter, or different vectors with one id.
    """
    whole = Run(dict(runs[0].header), complete=all(run.complete for run in runs))
    seen: dict[str, str] = {}
    for run, file in zip(runs, names, strict=True):
        for adapter in run.adapters:
            if adapter.name in seen:
                raise UsageError(f"{file}: results of {adapter.name} are also in {seen[adapter.name]}")
            seen[adapter.name] = file
        for id_, case in run.cases.items():
            if whole.cases.setdefault(id_, case) != case:
                raise UsageError(f"{file}: the vector {id_} differs from that in the other files")
        whole.adapters += run.adapters
        whole.results += run.results
        whole.second_readings += run.second_readings
    return whole
