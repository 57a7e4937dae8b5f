"""Relays: several engines change one table in turn.

After each step the table must match the model of the script (`conformance.properties.table_checks`): the rows of every
branch, tag and snapshot, with and without filters; it must be valid at level ``rows``; and nothing may be lost or
changed between one metadata file and the next. A step that an engine does not support or refuses goes to another
engine, with the table unchanged. A step that breaks the table is undone, as the metadata file before it still exists.
"""

from __future__ import annotations

import json
import random
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs
from attrs import Factory, define

from conformance.core.failures import NotExamined
from conformance.operations.protocol import Crashed, Ok, Refused, StartAnswer, Unsupported
from conformance.properties.errors import Broken
from conformance.properties.relay_known import KnownRelay, operation_features
from conformance.properties.relay_results import (
    Handover,
    RelayCounterexample,
    RelayFailure,
    RelayResults,
    Step,
    save_relay,
)
from conformance.properties.relay_table import Op, SharedTable
from conformance.properties.script_maker import Size
from conformance.properties.script_shrinking import smaller_scripts
from conformance.properties.scripts import is_valid_script, make_script
from conformance.properties.shrinking import find_smallest
from conformance.runner.adapter_interface import Adapter
from spec_ref.core.json_types import Json

SIZE = Size(operations=10)
MAX_TRIES = 80
"""The maximum number of smaller relays that are tried for one failure."""

TABLES_WITHOUT = 2
"""After an operation was unsupported on this many kinds of tables, the engine is not drawn for it again."""


def _failure(broken: Broken, engine: str, operation: str) -> RelayFailure:
    return RelayFailure(
        broken.kind, engine, operation, str(broken), broken.violations, broken.differences, broken.predicate
    )


@define
class RelayEngine:
    """An engine that takes part, and the operations that it is known to lack."""

    name: str
    adapter: Adapter
    started: StartAnswer
    supported: set[tuple[Any, ...]] = Factory(set)
    unsupported: dict[tuple[Any, ...], set[frozenset[str]]] = Factory(dict)
    """The unsupported operations, with the features of the tables (`operation_features`)."""

    unusable_reason: str = ""
    """Why it cannot be used any more."""

    def may_support(self, operation: Op, version: int, features: frozenset[str]) -> bool:
        """Return whether the engine may support an operation on a table of a version with some features."""
        key = operation_key(operation, version)
        lacked = self.unsupported.get(key, set())
        return (
            not self.unusable_reason
            and features not in lacked
            and (key in self.supported or len(lacked) < TABLES_WITHOUT)
        )


def operation_key(operation: Op, version: int) -> tuple[Any, ...]:
    """Return the features of an operation that mostly determine whether an engine supports it."""
    return operation["op"], operation.get("mode", ""), operation.get("branch", "main") == "main", version


@define
class Relays:
    """The engines of relays, and the results of their steps."""

    engines: dict[str, RelayEngine]
    known: Sequence[KnownRelay] = ()
    handovers: list[Handover] = Factory(list)

    def attempt(self, table: SharedTable, operation: Op, engine: RelayEngine) -> RelayFailure | None:
        """Let an engine perform an operation; return the failure, or None if it succeeded or is not supported."""
        version = _version([*table.operations, operation])
        features = operation_features([*table.operations, operation])
        files = table.metadata_files()
        try:
            (answer,) = engine.adapter.ask([table.request(operation)])
        except NotExamined as error:
            answer, engine.unusable_reason = Crashed(f"it cannot be used any more: {error}"), str(error)
        key = operation_key(operation, version)
        failure: RelayFailure | None = None
        match answer:
            case Unsupported():
                engine.unsupported.setdefault(key, set()).add(features)
                self._note(table, operation, engine, "unsupported")
                return None
            case Refused(word, message):
                failure = self._not_done(table, operation, engine, "refused", f"{word}: {message}")
            case Crashed(reason):
                failure = self._not_done(table, operation, engine, "died", f"{reason}; {table.describe_remains(files)}")
            case Ok(value):
                engine.supported.add(key)
                before = table.engine
                try:
                    table.accept(operation, engine.name, value["metadata"])
                except Broken as error:
                    wrong_rows = bool(error.differences) and error.filtered is None
                    broken = (table.fault_before(operation) if wrong_rows else None) or error
                    origin = table.origin(broken)
                    by, done = (engine.name, operation["op"]) if origin is None else (origin.engine, origin.operation)
                    failure = _failure(broken, by, done)
                else:
                    self.handovers.append(Handover(before, engine.name, operation["op"], "done"))
                    return None
        earlier = tuple(one["op"] for one in table.operations)
        failure = attrs.evolve(failure, earlier=earlier, operation_text=json.dumps(operation), features=features)
        self._note(table, operation, engine, failure.kind, self.known_deviation(failure))
        return failure

    def _not_done(self, table: SharedTable, operation: Op, engine: RelayEngine, kind: str, reason: str) -> RelayFailure:
        damage = table.damage()
        if damage and kind == "refused":
            return RelayFailure("refused and changed", engine.name, operation["op"], f"{reason}; and then: {damage}")
        if not table.operations:
            shutil.rmtree(table.folder, ignore_errors=True)
        return RelayFailure(kind, engine.name, operation["op"], reason)

    def _note(self, table: SharedTable, operation: Op, engine: RelayEngine, outcome: str, known: str = "") -> None:
        self.handovers.append(Handover(table.engine, engine.name, operation["op"], outcome, known))

    def known_deviation(self, failure: RelayFailure) -> str:
        """Return the id of the known deviation of a failure; empty if it is not known."""
        started = self.engines[failure.engine].started
        kinds = {failure.kind}
        if failure.kind == "refused":  # entries for scripts of one engine also have the kind of error
            kinds.add(f"refused: {failure.reason.partition(':')[0]}")
        for known in self.known:
            if known.applies_to(started.implementation, started.version) and any(
                known.matches(
                    kind,
                    [failure.operation],
                    failure.reason,
                    failure.violations,
                    failure.earlier,
                    differences=failure.differences,
                    predicate=failure.predicate,
                    operation_text=failure.operation_text,
                    features=failure.features,
                )
                for kind in kinds
            ):
                return known.id
        return ""

    def follow(self, script: Json, draw: random.Random, folder: Path) -> tuple[tuple[Step, ...], RelayFailure] | None:
        """Let random engines follow a script, until one fails in an unknown way.

        Args:
            script: the script, in JSON.
            draw: chooses the engine of each step.
            folder: the folder of the table; it must not exist.

        Returns:
            The steps, of which the last one failed, and the failure; None if none failed.
        """
        table = SharedTable(folder)
        steps: list[Step] = []
        places: list[int] = []
        for operation in script["operations"]:
            moved = _renumber(operation, places)
            places.append(len(table.operations))
            if moved is None or not table.allows(moved):
                continue
            done = len(table.operations)
            version = _version([*table.operations, moved])
            features = operation_features([*table.operations, moved])
            for engine in draw.sample(list(self.engines.values()), len(self.engines)):
                if not engine.may_support(moved, version, features):
                    continue
                failure = self.attempt(table, moved, engine)
                if failure is not None and not self.known_deviation(failure):
                    return (*steps, Step(moved, engine.name)), failure
                if len(table.operations) > done:
                    steps.append(Step(moved, engine.name))
                    break
                if moved["op"] == "expire" and table.damage():
                    return None  # a known failure removed files
            if not table.operations:
                return None
        return self._end(table, steps)

    def _end(self, table: SharedTable, steps: Sequence[Step]) -> tuple[tuple[Step, ...], RelayFailure] | None:
        """Read and validate everything once more, if any step was done."""
        if not steps:
            return None
        try:
            table.checks.copy().end()
        except Broken as broken:
            last = steps[-1]
            return tuple(steps), _failure(broken, last.engine, last.operation["op"])
        return None

    def replay(self, steps: Sequence[Step]) -> RelayFailure | None:
        """Return how the last of some steps fails; None if it does not fail, or an earlier one is not done."""
        folder = Path(tempfile.mkdtemp(prefix="iceberg-relay-"))
        noted = len(self.handovers)
        try:
            table = SharedTable(folder / "table")
            for number, step in enumerate(steps):
                failure = self.attempt(table, step.operation, self.engines[step.engine])
                if failure is not None:
                    return failure if number == len(steps) - 1 else None
                if len(table.operations) <= number:
                    return None
            found = self._end(table, steps)
            return None if found is None else found[1]
        finally:
            del self.handovers[noted:]
            shutil.rmtree(folder, ignore_errors=True)

    def shrink(self, steps: tuple[Step, ...], failure: RelayFailure) -> tuple[tuple[Step, ...], RelayFailure]:
        """Shrink to the fewest steps and engines that fail in the same, unknown way."""

        def fails(candidate: tuple[Step, ...]) -> bool:
            nonlocal failure
            found = self.replay(candidate)
            if (
                found is None
                or (found.kind, found.engine) != (failure.kind, failure.engine)
                or self.known_deviation(found)
            ):
                return False
            failure = found
            return True

        return find_smallest(steps, fails, _smaller, MAX_TRIES), failure


def _version(operations: Iterable[Op]) -> int:
    """Return the format version of the table that operations make."""
    return max(int(one["format_version"]) for one in operations if "format_version" in one)


def _renumber(operation: Op, places: Sequence[int]) -> Op | None:
    """Renumber the operations that an operation names, after some were left out; None if a named one was left out."""
    for key in ("at", "to"):
        if isinstance(operation.get(key), int):
            at = operation[key]
            following = places[at + 1] if at + 1 < len(places) else None
            if following == places[at]:
                return None
            return {**operation, key: places[at]}
    return operation


def _smaller(steps: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
    """Yield relays without one engine, operation, or part of an operation. The failing engine stays."""
    last = steps[-1]
    used = list(dict.fromkeys(step.engine for step in steps))
    for gone in used:
        for other in used:
            if gone not in (other, last.engine):
                yield tuple(Step(step.operation, other if step.engine == gone else step.engine) for step in steps)
    marked = {"operations": [{**step.operation, "by": step.engine} for step in steps]}
    for script in smaller_scripts(marked, sensible=lambda one: is_valid_script(_strip_marks(one))):
        made = tuple(Step(_plain(one), one["by"]) for one in script["operations"])
        if made[-1].engine == last.engine and made[-1].operation["op"] == last.operation["op"]:
            yield made


def _plain(operation: Op) -> Op:
    return {name: value for name, value in operation.items() if name != "by"}


def _strip_marks(script: Json) -> Json:
    return {"operations": [_plain(one) for one in script["operations"]]}


def run_relays(
    relays: Relays,
    seed: int,
    examples: int,
    exclude: frozenset[str] = frozenset(),
    *,
    size: Size = SIZE,
    keep: Path | None = None,
    max_failures: int = 1,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> RelayResults:
    """Let engines follow random scripts, and shrink failures.

    Args:
        relays: the engines, started.
        seed: the seed of the first script, from which the others follow.
        examples: how many scripts.
        exclude: what scripts leave out, of `conformance.properties.scripts.EXCLUDABLE`.
        size: the size of scripts.
        keep: the folder for relays that fail; None for a new temporary folder.
        max_failures: the number of failures after which to stop, which differ in kind, engine or operation.
        progress: called with the number of scripts that are done, and the total.
    """
    found: dict[tuple[str, str, str], RelayCounterexample] = {}
    done = 0
    for done, number in enumerate(range(seed, seed + examples), 1):
        script = make_script(number, exclude, size)
        folder = Path(tempfile.mkdtemp(prefix="iceberg-relay-"))
        try:
            failed = relays.follow(script, random.Random(number), folder / "table")
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        if failed is not None:
            steps, failure = failed
            key = (failure.kind, failure.engine, failure.operation)
            if key not in found:
                steps, failure = relays.shrink(steps, failure)
                found[key] = RelayCounterexample(number, steps, failure, save_relay(steps, failure, keep))
        progress(done, examples)
        if len(found) >= max_failures or all(engine.unusable_reason for engine in relays.engines.values()):
            break
    unusable = {name: engine.unusable_reason for name, engine in relays.engines.items() if engine.unusable_reason}
    return RelayResults(done, tuple(relays.handovers), tuple(found.values()), unusable)
