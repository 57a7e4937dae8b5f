"""The results of relays: steps, failures and counterexamples, and the files of relays that failed."""

from __future__ import annotations

import itertools
import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from attrs import frozen

from conformance.core.failures import UsageError
from conformance.core.json_text import dump_json, parse_json, shorten
from conformance.operations.comparison import Difference
from conformance.properties.relay_table import Op
from conformance.scripts import ScriptError, parse_script
from conformance.scripts.model import run_model
from spec_ref.core.errors import Violation
from spec_ref.core.json_types import Json


@frozen
class Step:
    """An operation, and the engine that performs it."""

    operation: Op
    engine: str


@frozen
class RelayFailure:
    """The failure of the last of some steps."""

    kind: str
    """``refused``, ``died`` or the kind of fault in the table, without details of the script."""

    engine: str
    operation: str
    reason: str
    violations: tuple[Violation, ...] = ()
    """The violations in the table, only the first if there are many."""

    differences: tuple[Difference, ...] = ()
    """How rows or the table differ from the expected ones, only the first if there are many."""

    predicate: Json = None
    """The filter of a read that gives the wrong rows."""

    earlier: tuple[str, ...] = ()
    """The operations that made the table before."""

    operation_text: str = ""
    """The JSON of the last step's operation."""

    features: frozenset[str] = frozenset()
    """The file format, types and transforms of the table."""


@frozen
class RelayCounterexample:
    """A relay that fails at its last step, shrunk."""

    seed: int | None
    """The seed of the script; None if the relay was given."""

    steps: tuple[Step, ...]
    failure: RelayFailure
    file: Path | None
    """The file of the relay, for a replay."""

    known: str = ""
    """The id of the known deviation, if it is one."""

    def lines(self) -> Iterator[str]:
        """Yield a description for people."""
        yield f"{self.failure.engine}: {self.failure.operation}, step {len(self.steps) - 1}: {self.failure.reason}"
        for number, step in enumerate(self.steps):
            yield f"    {number} {step.engine}: {dump_json(step.operation)}"
        if self.file is not None:
            yield f"    saved        {self.file}"


@frozen
class Handover:
    """A step of one engine after a step of another engine, or of the same one."""

    before: str
    """The engine that wrote the table before the step; empty for the first step."""

    engine: str
    operation: str
    outcome: str
    """``done``, ``unsupported``, or the kind of a failure."""

    known: str = ""
    """The id of the known deviation, if the failure is one."""


@frozen
class RelayResults:
    """The results of a run."""

    scripts: int
    handovers: tuple[Handover, ...]
    counterexamples: tuple[RelayCounterexample, ...]
    unusable: dict[str, str]
    """The engines that could not be used until the end, and why."""

    @property
    def steps(self) -> Counter[str]:
        """The number of steps of each engine."""
        return Counter(one.engine for one in self.handovers if one.outcome == "done")

    @property
    def known(self) -> Counter[str]:
        """The number of occurrences of each known deviation."""
        return Counter(one.known for one in self.handovers if one.known)


def save_relay(steps: Sequence[Step], failure: RelayFailure, keep: Path | None) -> Path:
    """Write a relay to a file that `read_relay` reads."""
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
    file = Path(tempfile.mkdtemp(prefix="iceberg-relay-failure-", dir=keep)) / "relay.json"
    content = {
        "relay": [{"engine": step.engine, "operation": step.operation} for step in steps],
        "fails": {"kind": failure.kind, "engine": failure.engine, "reason": shorten(failure.reason, 2000)},
    }
    file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return file


def read_relay(file: Path, engines: Iterable[str]) -> tuple[Step, ...]:
    """Read the relay in a file.

    Args:
        file: the file.
        engines: the engines that take part.

    Raises:
        UsageError: the file does not have a relay, its script is not valid, or an engine does not take part.
    """
    try:
        content = parse_json(file.read_bytes())
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{file}: not a relay: {error}") from None
    rows = content.get("relay") if isinstance(content, dict) else None
    if not isinstance(rows, list) or not all(_is_step(row) for row in rows):
        raise UsageError(f"{file}: not a relay: /relay must be an array of objects with engine and operation")
    steps = tuple(Step(row["operation"], row["engine"]) for row in rows)
    script = {"operations": [step.operation for step in steps]}
    try:
        parse_script(script)
        run_model(script)
    except ScriptError as error:
        raise UsageError(f"{file}: invalid script: {error}") from None
    absent = next((step.engine for step in steps if step.engine not in set(engines)), None)
    if absent is not None:
        raise UsageError(f"{file}: {absent} has a step; name it with --adapter")
    return steps


def _is_step(row: Json) -> bool:
    return isinstance(row, dict) and isinstance(row.get("engine"), str) and isinstance(row.get("operation"), dict)


def count_handovers(handovers: Iterable[Handover], engines: Sequence[str]) -> dict[tuple[str, str], Counter[str]]:
    """Count, for each pair of engines, the steps that were done, refused, known to fail and failed."""
    counted: dict[tuple[str, str], Counter[str]] = {pair: Counter() for pair in itertools.product(engines, engines)}
    for one in handovers:
        if one.before:
            outcome = "known" if one.known else one.outcome
            word = outcome if outcome in ("done", "unsupported", "known", "refused") else "failed"
            counted[one.before, one.engine][word] += 1
    return counted
