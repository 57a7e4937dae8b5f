"""Relays: one table, whose every change is made by an engine that is drawn from several.

After each step the table has to be what the model of the script says (`conformance.properties.scenarios`): the rows of
every branch, tag and snapshot, with and without filters, valid at level ``rows``, and nothing lost or changed between
one metadata file and the next. A step that an
engine does not have goes to another engine, and so does one that it refuses, as the table has to be as it was. A step
that breaks the table is taken back, since the metadata file before it is still there.
"""

from __future__ import annotations

import itertools
import json
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from attrs import Factory, define, frozen

from conformance.adapter_sdk.table_requests import local_path, metadata
from conformance.core.failures import NotExamined, UsageError
from conformance.core.json_text import dump_json, parse_json, shorten
from conformance.core.json_types import Json
from conformance.operations.protocol import Crashed, Ok, Refused, Started, Unsupported
from conformance.properties.errors import Broken
from conformance.properties.relay_known import KnownRelay
from conformance.properties.scenarios import TableChecks
from conformance.properties.script_maker import Size
from conformance.properties.scripts import make_script, makes_sense
from conformance.properties.smaller_scripts import smaller, smallest
from conformance.runner.adapter_interface import Adapter, Request
from conformance.scripts import ScriptError, parse_script
from conformance.scripts.model import Table, run_model
from spec_ref.core.errors import Violation

Op = dict[str, Json]

SIZE = Size(operations=10)
MAX_TRIES = 80
"""Smaller relays that are tried for one failure."""

KINDS_WITHOUT = 2
"""Kinds of tables on which an engine did not have an operation, after which it is not drawn for it again."""


@frozen
class Step:
    """An operation, and the engine that does it."""

    operation: Op
    engine: str


@frozen
class Failure:
    """What went wrong at the last of some steps."""

    kind: str
    """``refused``, ``died`` or what is wrong with the table, without what differs between scripts."""

    engine: str
    operation: str
    reason: str
    violations: tuple[Violation, ...] = ()
    """The requirements that the table breaks, the first ones of many."""


@frozen
class Counterexample:
    """A relay that fails at its last step, as small as it gets."""

    seed: int | None
    """None where the relay was given."""

    steps: tuple[Step, ...]
    failure: Failure
    file: Path | None
    """The relay, to be replayed."""

    known: str = ""
    """The id of the known deviation that it is, if any."""

    def lines(self) -> Iterator[str]:
        """What a person has to know about it."""
        yield f"{self.failure.engine}: {self.failure.operation}, step {len(self.steps) - 1}: {self.failure.reason}"
        for number, step in enumerate(self.steps):
            yield f"    {number} {step.engine}: {dump_json(step.operation)}"
        if self.file is not None:
            yield f"    kept         {self.file}"


@frozen
class Handover:
    """A step of one engine after a step of another, or of its own."""

    before: str
    """The engine that made the table that the step was asked of; empty for the first step."""

    engine: str
    operation: str
    outcome: str
    """``done``, ``unsupported``, or the kind of a failure."""

    known: str = ""
    """The id of the known deviation that the failure is, if any."""


@define
class Engine:
    """An engine that takes part, and what it is known to have and to lack."""

    name: str
    adapter: Adapter
    started: Started
    has: set[tuple[Any, ...]] = Factory(set)
    lacks: dict[tuple[Any, ...], set[str]] = Factory(dict)
    """The operations that it did not have, with the kinds of tables."""

    gone: str = ""
    """Why it cannot be asked any more."""

    def may_do(self, operation: Op, version: int, kind: str) -> bool:
        """Whether it is worth to ask for an operation on a table of a version and kind."""
        key = operation_key(operation, version)
        lacked = self.lacks.get(key, set())
        return not self.gone and kind not in lacked and (key in self.has or len(lacked) < KINDS_WITHOUT)


def operation_key(operation: Op, version: int) -> tuple[Any, ...]:
    """What decides most often whether an engine has an operation."""
    return operation["op"], operation.get("mode", ""), operation.get("branch", "main") == "main", version


def table_kind(operations: Sequence[Op]) -> str:
    """The file format, types and transforms of the table that operations make."""
    create = operations[0]
    words: set[str] = {str(create.get("properties", {}).get("write.format.default"))}
    given = [field["type"] for field in create["schema"]["fields"]]
    for operation in operations[1:]:
        for change in operation.get("changes", ()):
            given += [change[name] for name in ("type", "transform") if name in change]
    given += [part["transform"] for part in create.get("partition", ())]
    words |= {json.dumps(one) if isinstance(one, dict) else one.partition("[")[0].partition("(")[0] for one in given}
    return " ".join(sorted(words))


@define
class SharedTable:
    """The table of a relay: where it is, and what was done to it."""

    folder: Path
    operations: list[Op] = Factory(list)
    location: str = ""
    engine: str = ""
    """The engine that made the table as it is."""

    history: list[str | None] = Factory(list)
    """Main's snapshot after each operation."""

    model: Table = Factory(Table)
    checks: TableChecks = Factory(lambda self: TableChecks(str(self.folder), warnings=False), takes_self=True)

    def request(self, operation: Op) -> Request:
        """What an engine is asked to do the next operation."""
        if not self.operations:
            args: Json = {"table": str(self.folder), "script": {"operations": [operation]}}
            return Request("table.write", args)
        args = {"table": self.location, "operations": [operation], "history": list(self.history)}
        return Request("table.change", args)

    def allows(self, operation: Op) -> bool:
        """Whether an operation makes sense here, by the model."""
        try:
            self.model.after(len(self.operations), operation)
        except ScriptError:
            return False
        return True

    def accept(self, operation: Op, engine: str, location: str) -> None:
        """Check the table that an engine made, and take it for the one that the next step is asked of.

        Raises:
            Broken: it is not what the model says. It is not taken.
        """
        place = local_path(location)
        model = self.model.after(len(self.operations), operation)
        checks = self.checks.branched()
        checks.step(len(self.operations), operation, model, place)
        current = metadata(place).get("current-snapshot-id")
        self.history.append(None if current in (None, -1) else str(current))
        self.operations.append(operation)
        self.location, self.engine, self.model, self.checks = location, engine, model, checks

    def damage(self) -> str:
        """What became of the files of the table though an operation was not done; empty where all are as they were."""
        try:
            self.checks.branched().files_remain("then", {"op": ""})
        except Broken as broken:
            return str(broken)
        return ""

    def remains(self) -> str:
        """What is left of the table where an engine died, for people."""
        damage = self.damage()
        if damage:
            return f"the table before the step, {self.location}, is damaged: {damage}"
        if not self.operations:
            left = sum(1 for path in self.folder.rglob("*") if path.is_file())
            return f"there was no table before; {left} files of it are left"
        return f"the table is as it was before the step, at {self.location}"


@define
class Relays:
    """Engines that pass tables on, and what came of it."""

    engines: dict[str, Engine]
    known: Sequence[KnownRelay] = ()
    handovers: list[Handover] = Factory(list)

    def attempt(self, table: SharedTable, operation: Op, engine: Engine) -> Failure | None:
        """Let an engine do an operation; what failed, None where nothing did or the engine does not have it."""
        version = _version([*table.operations, operation])
        kind = table_kind([*table.operations, operation])
        try:
            (answer,) = engine.adapter.ask([table.request(operation)])
        except NotExamined as error:
            answer, engine.gone = Crashed(f"it cannot be asked any more: {error}"), str(error)
        key = operation_key(operation, version)
        failure: Failure | None = None
        match answer:
            case Unsupported():
                engine.lacks.setdefault(key, set()).add(kind)
                self._note(table, operation, engine, "unsupported")
                return None
            case Refused(word, message):
                failure = self._not_done(table, operation, engine, "refused", f"{word}: {message}")
            case Crashed(reason):
                failure = self._not_done(table, operation, engine, "died", f"{reason}; {table.remains()}")
            case Ok(value):
                engine.has.add(key)
                before = table.engine
                try:
                    table.accept(operation, engine.name, value["metadata"])
                except Broken as broken:
                    failure = Failure(broken.kind, engine.name, operation["op"], str(broken), broken.violations)
                else:
                    self.handovers.append(Handover(before, engine.name, operation["op"], "done"))
                    return None
        self._note(table, operation, engine, failure.kind, self.known_as(failure))
        return failure

    def _not_done(self, table: SharedTable, operation: Op, engine: Engine, kind: str, reason: str) -> Failure:
        damage = table.damage()
        if damage and kind == "refused":
            return Failure("refused and changed", engine.name, operation["op"], f"{reason}; and then: {damage}")
        if not table.operations:
            shutil.rmtree(table.folder, ignore_errors=True)
        return Failure(kind, engine.name, operation["op"], reason)

    def _note(self, table: SharedTable, operation: Op, engine: Engine, outcome: str, known: str = "") -> None:
        self.handovers.append(Handover(table.engine, engine.name, operation["op"], outcome, known))

    def known_as(self, failure: Failure) -> str:
        """The id of the known deviation that a failure is; empty where it is none."""
        started = self.engines[failure.engine].started
        kinds = {failure.kind}
        if failure.kind == "refused":  # scripts that one engine follows alone say with which word
            kinds.add(f"refused: {failure.reason.partition(':')[0]}")
        for known in self.known:
            if known.is_of(started.implementation, started.version) and any(
                known.happened(kind, [failure.operation], failure.reason, failure.violations) for kind in kinds
            ):
                return known.id
        return ""

    def follow(self, script: Json, draw: random.Random, folder: Path) -> tuple[tuple[Step, ...], Failure] | None:
        """Let engines that are drawn follow a script, until one fails in a way that is not known.

        Args:
            script: in its JSON.
            draw: decides whose turn it is.
            folder: where the table goes; it must not exist.

        Returns:
            The steps, of which the last one failed, and how; None where none did.
        """
        table = SharedTable(folder)
        steps: list[Step] = []
        places: list[int] = []
        for operation in script["operations"]:
            moved = _renumbered(operation, places)
            places.append(len(table.operations))
            if moved is None or not table.allows(moved):
                continue
            done = len(table.operations)
            version = _version([*table.operations, moved])
            kind = table_kind([*table.operations, moved])
            for engine in draw.sample(list(self.engines.values()), len(self.engines)):
                if not engine.may_do(moved, version, kind):
                    continue
                failure = self.attempt(table, moved, engine)
                if failure is not None and not self.known_as(failure):
                    return (*steps, Step(moved, engine.name)), failure
                if len(table.operations) > done:
                    steps.append(Step(moved, engine.name))
                    break
                if moved["op"] == "expire" and table.damage():
                    return None  # files are gone that a known failure took away
            if not table.operations:
                return None
        return self._end(table, steps)

    def _end(self, table: SharedTable, steps: Sequence[Step]) -> tuple[tuple[Step, ...], Failure] | None:
        """Read and validate everything once more, where any step was done."""
        if not steps:
            return None
        try:
            table.checks.branched().end()
        except Broken as broken:
            last = steps[-1]
            return tuple(steps), Failure(broken.kind, last.engine, last.operation["op"], str(broken), broken.violations)
        return None

    def again(self, steps: Sequence[Step]) -> Failure | None:
        """How the last of some steps fails; None where it does not, or one before is not done."""
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

    def shrink(self, steps: tuple[Step, ...], failure: Failure) -> tuple[tuple[Step, ...], Failure]:
        """The fewest steps and engines that fail in the same way, which is not one that is known."""

        def fails(candidate: tuple[Step, ...]) -> bool:
            nonlocal failure
            found = self.again(candidate)
            if found is None or (found.kind, found.engine) != (failure.kind, failure.engine) or self.known_as(found):
                return False
            failure = found
            return True

        return smallest(steps, fails, _smaller, MAX_TRIES), failure


def _version(operations: Iterable[Op]) -> int:
    """The format version of the table that operations make."""
    return max(int(one["format_version"]) for one in operations if "format_version" in one)


def _renumbered(operation: Op, places: Sequence[int]) -> Op | None:
    """An operation that names others by number, where some before it were left out; None where that one was."""
    for key in ("at", "to"):
        if isinstance(operation.get(key), int):
            at = operation[key]
            following = places[at + 1] if at + 1 < len(places) else None
            if following == places[at]:
                return None
            return {**operation, key: places[at]}
    return operation


def _smaller(steps: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
    """Relays with one thing less: an engine, an operation, or a part of one. The engine that fails stays."""
    last = steps[-1]
    used = list(dict.fromkeys(step.engine for step in steps))
    for gone in used:
        for other in used:
            if gone not in (other, last.engine):
                yield tuple(Step(step.operation, other if step.engine == gone else step.engine) for step in steps)
    marked = {"operations": [{**step.operation, "by": step.engine} for step in steps]}
    for script in smaller(marked, sensible=lambda one: makes_sense(_unmarked(one))):
        made = tuple(Step(_plain(one), one["by"]) for one in script["operations"])
        if made[-1].engine == last.engine and made[-1].operation["op"] == last.operation["op"]:
            yield made


def _plain(operation: Op) -> Op:
    return {name: value for name, value in operation.items() if name != "by"}


def _unmarked(script: Json) -> Json:
    return {"operations": [_plain(one) for one in script["operations"]]}


@frozen
class Findings:
    """What a run came to."""

    scripts: int
    handovers: tuple[Handover, ...]
    counterexamples: tuple[Counterexample, ...]
    gone: dict[str, str]
    """Engines that could not be asked to the end, and why."""

    @property
    def steps(self) -> Counter[str]:
        """How many steps each engine did."""
        return Counter(one.engine for one in self.handovers if one.outcome == "done")

    @property
    def known(self) -> Counter[str]:
        """How often each known deviation was seen."""
        return Counter(one.known for one in self.handovers if one.known)


def run_relays(
    relays: Relays,
    seed: int,
    examples: int,
    avoid: frozenset[str] = frozenset(),
    *,
    size: Size = SIZE,
    keep: Path | None = None,
    max_failures: int = 1,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> Findings:
    """Let engines follow scripts that are drawn, and shrink what fails.

    Args:
        relays: the engines, started.
        seed: of the first script; those of the others follow it.
        examples: how many scripts.
        avoid: what scripts leave out, of `conformance.properties.scripts.AVOIDABLE`.
        size: how large scripts may be.
        keep: where relays that fail are kept; a new temporary folder where None.
        max_failures: after how many to stop; each is of another kind, engine and operation.
        progress: is called with how many scripts were followed, and of how many.
    """
    found: dict[tuple[str, str, str], Counterexample] = {}
    done = 0
    for done, number in enumerate(range(seed, seed + examples), 1):
        script = make_script(number, avoid, size)
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
                found[key] = Counterexample(number, steps, failure, kept(steps, failure, keep))
        progress(done, examples)
        if len(found) >= max_failures or all(engine.gone for engine in relays.engines.values()):
            break
    gone = {name: engine.gone for name, engine in relays.engines.items() if engine.gone}
    return Findings(done, tuple(relays.handovers), tuple(found.values()), gone)


def kept(steps: Sequence[Step], failure: Failure, keep: Path | None) -> Path:
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
    """The relay in a file.

    Args:
        file: where it is.
        engines: those that take part.

    Raises:
        UsageError: the file holds no relay, its script makes no sense, or an engine does not take part.
    """
    try:
        content = parse_json(file.read_bytes())
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{file}: not a relay: {error}") from None
    rows = content.get("relay") if isinstance(content, dict) else None
    if not isinstance(rows, list) or not all(_is_step(row) for row in rows):
        raise UsageError(f"{file}: not a relay: /relay has to be an array of objects with engine and operation")
    steps = tuple(Step(row["operation"], row["engine"]) for row in rows)
    script = {"operations": [step.operation for step in steps]}
    try:
        parse_script(script)
        run_model(script)
    except ScriptError as error:
        raise UsageError(f"{file}: broken script: {error}") from None
    absent = next((step.engine for step in steps if step.engine not in set(engines)), None)
    if absent is not None:
        raise UsageError(f"{file}: {absent} does a step; name it with --adapter")
    return steps


def _is_step(row: Json) -> bool:
    return isinstance(row, dict) and isinstance(row.get("engine"), str) and isinstance(row.get("operation"), dict)


def matrix(handovers: Iterable[Handover], engines: Sequence[str]) -> dict[tuple[str, str], Counter[str]]:
    """For each engine after each other one, how many steps were done, refused, known to fail and failed."""
    counted: dict[tuple[str, str], Counter[str]] = {pair: Counter() for pair in itertools.product(engines, engines)}
    for one in handovers:
        if one.before:
            outcome = "known" if one.known else one.outcome
            word = outcome if outcome in ("done", "unsupported", "known", "refused") else "failed"
            counted[one.before, one.engine][word] += 1
    return counted
