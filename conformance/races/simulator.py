"""The simulator: explore every order of writers' steps, with faults between them, and check each of them.

Steps that others cannot see (writing a new file, waiting, drawing a name) run together with the previous step, because
exchanging them with a step of another writer leads to the same state. The visible steps are reading and swapping the
pointer, and reading or deleting a file that one writer deletes and another reads. States that were reached before are
not explored again, but every schedule that leads through them is counted.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from attrs import evolve, field, frozen

from conformance.races.invariants import Transition, check, missing_files
from conformance.races.observed import Observations
from conformance.races.operations import PlannedChange
from conformance.races.readers import ObservedHead, Read, read_live_files
from conformance.races.rows import RowModel, live_rows, rewritten_contents
from conformance.races.state import Fault, SharedState
from conformance.races.trace import describe_step
from conformance.races.writers import NondeterministicValues, ReplaceTable, WriterNode, replace_table
from conformance.races.written import WrittenChecks
from spec_ref.commits.changes import SnapshotChange
from spec_ref.commits.commit import Base, CommitConflict, CommitFailed, CommitResult, CommitStateUnknown, commit
from spec_ref.commits.effects import (
    DeleteFile,
    Effect,
    NonDeterministic,
    ReadFile,
    ReadPointer,
    Steps,
    SwapPointer,
    SwapResult,
    Wait,
    WriteFile,
)
from spec_ref.core.errors import SpecError
from spec_ref.table_metadata.metadata import TableMetadata

sys.setrecursionlimit(max(sys.getrecursionlimit(), 10_000))

Step = tuple[int, str]
"""A step of a schedule: the writer, and ``step`` or the name of a fault; ``arrives`` for a delayed swap."""


@frozen
class RaceProblem:
    """A problem, and the shortest known schedule that leads to it."""

    problem: str
    trace: tuple[str, ...]
    schedule: tuple[Step, ...]


@frozen
class Exploration:
    """The result of an exploration."""

    schedules: int
    """The number of complete orders of steps, with every choice of faults."""

    states: int
    found: tuple[RaceProblem, ...]
    outcomes: Mapping[tuple[str, ...], int] = field(factory=dict)
    """The number of complete schedules for each combination of the writers' outcomes."""


class RaceState(NamedTuple):
    """The state that writers share, and the node of each writer."""

    shared: SharedState
    nodes: tuple[WriterNode | None, ...]
    """None for a writer that crashed."""

    faults: int


class Simulator:
    """Explores the races of some writers.

    Args:
        shared: the initial table.
        planned: the change of each writer.
        faults: the kinds of faults.
        max_faults: the maximum number of faults in one schedule.
        protocol: returns the steps of committing a change that was planned on a base; tests plant faults in it.
        observed: the observations to reuse; new ones by default.
        encoded: whether files are also encoded, and checked from their bytes.
    """

    def __init__(
        self,
        shared: SharedState,
        planned: Sequence[PlannedChange],
        faults: Sequence[Fault] = (),
        max_faults: int = 0,
        protocol: Callable[..., Steps[CommitResult]] = commit,
        observed: Observations | None = None,
        *,
        encoded: bool = False,
    ) -> None:
        self.start_shared = shared
        self.planned = tuple(planned)
        self.faults = tuple(faults)
        self.max_faults = max_faults
        self.observed = observed or Observations()
        self.contested: frozenset[str] = frozenset()
        self._read: dict[str, set[int]] = {}
        self._deleted: dict[str, set[int]] = {}
        self._written: dict[str, Any] = dict(shared.files)
        self._checked: dict[Any, tuple[str, ...]] = {}
        self.base = Base(shared.pointer or "", shared.files[shared.pointer]) if shared.pointer else None
        self.rows = RowModel(rewritten_contents(self._planned_rows()))
        self.written = WrittenChecks(None if self.base is None else self.base.metadata, encoded=encoded)
        self._starts = [
            WriterNode(writer, self._starter(protocol, one), (), self._starter(protocol, one)())
            for writer, one in enumerate(planned)
        ]
        self._sources = [NondeterministicValues(writer) for writer in range(len(planned))]

    def _planned_rows(self) -> Iterator[tuple[Any, Any]]:
        """Yield each change of rows, with the rows of its branch when it is planned."""
        if self.base is None:
            return
        table = self.base.metadata
        specs = {spec.spec_id: spec for spec in table.partition_specs}
        for one in self.planned:
            if isinstance(one.change, SnapshotChange) and one.change.keeps_rows:
                held = self.observed.branch(table, one.change.branch, self.start_shared.files)
                yield one.change, {} if held is None else live_rows(held, specs, {})

    def _starter(
        self, protocol: Callable[..., Steps[CommitResult]], planned: PlannedChange
    ) -> Callable[[], Steps[Any]]:
        change = planned.change
        if isinstance(change, Read):
            return lambda: read_live_files(change)
        if isinstance(change, ReplaceTable):
            return lambda: replace_table(change, self.start_shared.table)
        return lambda: protocol(change, self.start_shared.table, base=self.base)

    # Exploring

    def explore(self, max_found: int = 1) -> Exploration:
        """Explore every schedule.

        Args:
            max_found: the number of problems after which to stop.
        """
        while True:
            self._found: list[RaceProblem] = []
            self._most_found = max_found
            self._known: dict[Any, tuple[int, dict[tuple[str, ...], int]]] = {}
            count, outcomes = self._follow(self._begin(), ())
            contested = frozenset(
                path
                for path, writers in self._deleted.items()
                if self._read.get(path, set()) - writers or len(writers) > 1
            )
            if self._found or contested <= self.contested:
                return Exploration(count, len(self._known), tuple(self._found), outcomes)
            self.contested |= contested

    def _begin(self) -> RaceState:
        state = RaceState(self.start_shared, tuple(self._starts), 0)
        for writer in range(len(self.planned)):
            state = self._run_unseen(state, writer, ())
        return state

    def _follow(self, state: RaceState, schedule: tuple[Step, ...]) -> tuple[int, dict[tuple[str, ...], int]]:
        if len(self._found) >= self._most_found:
            return 0, {}
        key = self._key(state)
        known = self._known.get(key)
        if known is not None:
            return known
        count = 0
        outcomes: dict[tuple[str, ...], int] = {}
        ended = True
        for step in self.choices(state):
            ended = False
            after = self.take(state, step, schedule)
            more, ends = self._follow(after, (*schedule, step))
            count += more
            for outcome, number in ends.items():
                outcomes[outcome] = outcomes.get(outcome, 0) + number
        if ended:
            self._check_end(state, schedule)
            count, outcomes = 1, {self.outcome(state): 1}
        self._known[key] = count, outcomes
        return count, outcomes

    def _key(self, state: RaceState) -> Any:
        return (
            tuple(None if node is None else id(node) for node in state.nodes),
            tuple(placed.written for placed in state.shared.history),
            state.shared.delayed_swaps,
            state.faults,
        )

    def choices(self, state: RaceState) -> Iterator[Step]:
        """Yield the possible next steps."""
        may_fail = state.faults < self.max_faults
        for writer, node in enumerate(state.nodes):
            if node is None or node.ended:
                continue
            yield writer, "step"
            if may_fail:
                for fault in self.faults:
                    if self._fits(fault, node.effect, state.shared):
                        yield writer, fault.value
        for number in range(len(state.shared.delayed_swaps)):
            yield number, "arrives"

    def is_possible(self, state: RaceState, step: Step) -> bool:
        """Return whether a step is possible next, ignoring the limit of faults."""
        writer, what = step
        if what == "arrives":
            return writer < len(state.shared.delayed_swaps)
        node = state.nodes[writer]
        if node is None or node.ended:
            return False
        return what == "step" or self._fits(Fault(what), node.effect, state.shared)

    @staticmethod
    def _fits(fault: Fault, effect: Effect | None, shared: SharedState) -> bool:
        match fault:
            case Fault.CRASH:
                return True
            case Fault.STALE:
                return isinstance(effect, ReadPointer) and shared.previous_pointer != shared.pointer
            case _:
                return isinstance(effect, SwapPointer)

    # Steps

    def take(self, state: RaceState, step: Step, schedule: tuple[Step, ...]) -> RaceState:
        """Return the state after a step and the writer's following invisible steps."""
        schedule = (*schedule, step)
        writer, what = step
        if what == "arrives":
            late = state.shared.delayed_swaps[writer]
            shared = evolve(
                state.shared,
                delayed_swaps=state.shared.delayed_swaps[:writer] + state.shared.delayed_swaps[writer + 1 :],
            )
            shared, _ = self._swap(state, shared, *late, schedule)
            return state._replace(shared=shared)
        if what != "step":
            state = state._replace(faults=state.faults + 1)
        node = state.nodes[writer]
        assert node is not None
        if what == Fault.CRASH.value:
            return self._with(state, writer, None)
        effect = node.effect
        match effect:
            case ReadPointer():
                pointer = state.shared.previous_pointer if what == Fault.STALE.value else state.shared.pointer
                state = self._with(state, writer, node.after(pointer, ("pointer", pointer)))
            case SwapPointer(expected, new):
                state = self._swap_step(state, writer, what, (expected, new), schedule)
            case _:
                state = self._local(state, writer, schedule)
        return self._run_unseen(state, writer, schedule)

    def _swap_step(
        self, state: RaceState, writer: int, what: str, swap: tuple[str | None, str], schedule: tuple[Step, ...]
    ) -> RaceState:
        shared, answer = state.shared, SwapResult.UNKNOWN
        if what == Fault.LATE.value:
            shared = evolve(shared, delayed_swaps=(*shared.delayed_swaps, (writer, *swap)))
        elif what != Fault.LOST_REQUEST.value:
            shared, answer = self._swap(state, shared, writer, *swap, schedule)
            if what == Fault.DUPLICATE.value:
                shared, answer = self._swap(state, shared, writer, *swap, schedule)
            if what == Fault.LOST_REPLY.value:
                answer = SwapResult.UNKNOWN
        node = state.nodes[writer]
        assert node is not None
        return self._with(state._replace(shared=shared), writer, node.after(answer))

    def _swap(
        self,
        state: RaceState,
        shared: SharedState,
        writer: int,
        expected: str | None,
        new: str,
        schedule: tuple[Step, ...],
    ) -> tuple[SharedState, SwapResult]:
        before = shared
        shared, answer = shared.swap(writer, expected, new)
        if answer is SwapResult.DONE:
            self._check_swap(before, shared, writer, schedule)
        return shared, answer

    def _run_unseen(self, state: RaceState, writer: int, schedule: tuple[Step, ...]) -> RaceState:
        while True:
            node = state.nodes[writer]
            if node is None or node.ended or self._is_seen(node.effect):
                return state
            state = self._local(state, writer, schedule)

    def _is_seen(self, effect: Effect | None) -> bool:
        match effect:
            case ReadPointer() | SwapPointer():
                return True
            case ReadFile(path) | DeleteFile(path):
                return path in self.contested
        return False

    def _local(self, state: RaceState, writer: int, schedule: tuple[Step, ...]) -> RaceState:
        node = state.nodes[writer]
        assert node is not None
        shared = state.shared
        match node.effect:
            case NonDeterministic() as what:
                return self._with(state, writer, node.after(self._sources[writer].draw(what, len(node.answers))))
            case ReadFile(path):
                self._read.setdefault(path, set()).add(writer)
                content = shared.files.get(path)
                return self._with(state, writer, node.after(content, ("content", id(content))))
            case WriteFile(path, content):
                if path in shared.files:
                    self._report(f"a file is written twice: {path}", schedule)
                files = {**shared.files, path: content}
                self._written[path] = content
                after = self._with(state, writer, node.after(1, ("written",)))
                return after._replace(shared=evolve(shared, files=files))
            case DeleteFile(path):
                self._deleted.setdefault(path, set()).add(writer)
                files = {name: content for name, content in shared.files.items() if name != path}
                shared = evolve(shared, files=files)
                self._check_files(shared, schedule)
                return self._with(state, writer, node.after(None, ("done",)))._replace(shared=shared)
            case Wait():
                return self._with(state, writer, node.after(None, ("done",)))
        message = f"the simulator does not know the effect {node.effect}"
        raise TypeError(message)

    @staticmethod
    def _with(state: RaceState, writer: int, node: WriterNode | None) -> RaceState:
        nodes = (*state.nodes[:writer], node, *state.nodes[writer + 1 :])
        return RaceState(state.shared, nodes, state.faults)

    # Checking

    def _report(self, problem: str, schedule: tuple[Step, ...]) -> None:
        self._found.append(RaceProblem(problem, self.trace(schedule), schedule))

    def _check_swap(self, before: SharedState, after: SharedState, writer: int, schedule: tuple[Step, ...]) -> None:
        new = after.files.get(after.history[-1].location)
        old = before.files.get(before.pointer or "")
        if new is None:
            self._report(f"missing file: {after.history[-1].location}, which is the table's metadata", schedule)
            return
        if old is None:
            return
        key = (id(old), id(new), writer, before.pointer)
        if key not in self._checked:
            assert self.base is not None
            transition = Transition(
                self.planned[writer],
                self.base.metadata,
                before.pointer or "",
                old,
                after.pointer or "",
                new,
                after.files,
                self._written,
            )
            self._checked[key] = tuple(check(transition, self.observed, self.rows, self.written))
        for problem in self._checked[key]:
            self._report(problem, schedule)
        self._check_files(after, schedule)

    def _check_files(self, shared: SharedState, schedule: tuple[Step, ...]) -> None:
        metadata = shared.files.get(shared.pointer or "")
        if not isinstance(metadata, TableMetadata):
            self._report(f"missing file: {shared.pointer}, which is the table's metadata", schedule)
            return
        for problem in missing_files(metadata, shared.files, self.observed):
            self._report(problem, schedule)

    def _check_end(self, state: RaceState, schedule: tuple[Step, ...]) -> None:
        """Check that each writer learned the true outcome of its commit."""
        swaps = [placed.writer for placed in state.shared.history]
        for writer, node in enumerate(state.nodes):
            times = swaps.count(writer)
            if times > 1:
                self._report(f"applied twice: the change of writer {writer}", schedule)
            if node is None:
                continue
            name = self.planned[writer].name
            if isinstance(self.planned[writer].change, Read):
                self._check_reader(state.shared, node, schedule)
                continue
            others = [other for other in swaps if other not in (-1, writer)]
            replaced = any(isinstance(self.planned[other].change, ReplaceTable) for other in others)
            planned = self.planned[writer]
            match node.error:
                case None:
                    if times == 0:
                        self._report(
                            f"lost update: {name} of writer {writer} was acknowledged but is missing", schedule
                        )
                case CommitConflict() | CommitFailed():
                    if times:
                        self._report(
                            f"false alarm: {name} of writer {writer} exists but was reported as failed", schedule
                        )
                    if planned.always_refused or (replaced and isinstance(node.error, CommitConflict)):
                        continue
                    if isinstance(node.error, CommitConflict) and (not planned.may_conflict or not others):
                        self._report(f"needless conflict: {name} of writer {writer}: {node.error}", schedule)
                    if isinstance(node.error, CommitFailed) and not self._may_give_up(state, writer, replaced=replaced):
                        self._report(f"gave up: {name} of writer {writer}: {node.error}", schedule)
                case CommitStateUnknown():
                    if not self._may_give_up(state, writer, replaced=replaced):
                        self._report(f"gave up: {name} of writer {writer}: {node.error}", schedule)
                case SpecError() if not planned.always_refused:
                    self._report(f"refused: {name} of writer {writer}: {node.error}", schedule)
                case SpecError():
                    continue
                case _:
                    self._report(f"a bug: {name} of writer {writer}: {node.error!r}", schedule)

    def _may_give_up(self, state: RaceState, writer: int, *, replaced: bool) -> bool:
        """Return whether a writer need not learn the result of its swap, as another table has replaced its table."""
        return bool(state.faults) or replaced or isinstance(self.planned[writer].change, ReplaceTable)

    def _check_reader(self, shared: SharedState, node: WriterNode, schedule: tuple[Step, ...]) -> None:
        """Check that a reader sees a complete snapshot of its loaded table, and fails only if it has expired."""
        if node.error is not None:
            metadata = shared.files[shared.pointer or ""]
            kept = {snapshot.snapshot_id for snapshot in metadata.snapshots}
            loaded = next((one for one in node.answers if isinstance(one, TableMetadata)), None)
            if loaded is None or loaded.current_snapshot_id in kept or not isinstance(node.error, SpecError):
                self._report(f"a reader failed on a snapshot that is kept: {node.error}", schedule)
            return
        seen: ObservedHead = node.result
        files = {**shared.files, **self._written}
        if seen.snapshot_id is None:
            if files[seen.location].current_snapshot_id is not None:
                self._report("a reader saw no snapshot of a table that has one", schedule)
            return
        snapshot = files[seen.location].snapshot_by_id(seen.snapshot_id)
        if seen.live != self.observed.snapshot(snapshot, files).live.keys():
            self._report(f"a reader saw only part of snapshot {seen.snapshot_id}", schedule)

    @staticmethod
    def outcome(state: RaceState) -> tuple[str, ...]:
        """Return the outcome of each writer."""
        return tuple(
            "crashed" if node is None else "committed" if node.error is None else type(node.error).__name__
            for node in state.nodes
        )

    # Traces

    def trace(self, schedule: Sequence[Step]) -> tuple[str, ...]:
        """Describe a schedule step by step."""
        state = None
        lines = []
        known, self._found = self._found, []
        try:
            state = self._begin()
            for number, (writer, what) in enumerate(schedule):
                if what == "arrives":
                    lines.append(f"a swap of writer {state.shared.delayed_swaps[writer][0]} arrives late")
                else:
                    node = state.nodes[writer]
                    effect = "?" if node is None else describe_step(node.effect)
                    name = self.planned[writer].name
                    lines.append(f"writer {writer} ({name}) {effect}" + ("" if what == "step" else f": {what}"))
                if number < len(schedule) - 1:
                    state = self.take(state, (writer, what), ())
        finally:
            self._found = known
        return tuple(lines)

    def replay(self, schedule: Sequence[Step]) -> tuple[RaceState, tuple[str, ...]]:
        """Replay one schedule; return its final state and the problems on the way.

        Raises:
            ValueError: a step is not possible at its place; the message names it.
        """
        self._found, self._most_found = [], sys.maxsize
        state = self._begin()
        done: tuple[Step, ...] = ()
        for number, step in enumerate(schedule, 1):
            if not self.is_possible(state, step):
                raise ValueError(f"the step {number} of the schedule, {step[0]}:{step[1]}, is not possible there")
            state = self.take(state, step, done)
            done = (*done, step)
        if not any(True for _ in self.choices(state._replace(faults=self.max_faults))):
            self._check_end(state, done)
        return state, tuple(found.problem for found in self._found)
