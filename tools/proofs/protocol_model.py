"""The proof by induction that the commit protocol is right, and the search for a counterexample where it is not."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import attrs
import z3

from tools.proofs.explorer import SOLVER_STEPS, Undecided
from tools.proofs.protocol_invariant import FACTS, GLOBAL, IN_HISTORY, OF_VERSIONS, OF_WRITERS, are_different, unchanged
from tools.proofs.protocol_states import (
    NONE,
    Assumption,
    State,
    StepChoices,
    StoreAssumptions,
    TakenStep,
    initial,
    swap_arrives,
    symbolic,
    take_step,
)
from tools.proofs.protocol_steps import ENDS, Machine, Step


def split(machine: Machine) -> tuple[Step, ...]:
    """Return the steps, with the sending of a swap and the receipt of its answer as separate steps."""
    made: dict[Step, None] = {}
    for step in machine.steps:
        if step.effect != "swap":
            made[step] = None
            continue
        asked = f"{step.source} (sent)"
        made[Step(step.source, asked, "send", parent=step.parent, subject=step.subject)] = None
        made[attrs.evolve(step, source=asked)] = None
    return tuple(made)


class Model:
    """The writers and the store.

    Args:
        machine: the steps of a writer.
        file_system: whether it is a file-system table.
        dropped: assumptions that are not made.
    """

    def __init__(self, machine: Machine, *, file_system: bool, dropped: Iterable[Assumption] = ()) -> None:
        self.steps = split(machine)
        self.states = list(dict.fromkeys(state for one in self.steps for state in (one.source, one.target)))
        self.numbers = {name: number for number, name in enumerate(self.states)}
        self.kept = StoreAssumptions(frozenset(Assumption) - set(dropped), file_system)
        self.start = machine.start
        self.before = symbolic()
        self.solver = z3.SimpleSolver()
        self.solver.set("rlimit", SOLVER_STEPS)
        self.solver.add(*self._hypotheses(self.before))

    def number(self, name: str) -> int:
        """Return the number of a place in the code."""
        return self.numbers[name]

    # Proof

    def prove(self) -> str:
        """Prove by induction over the steps that every claim is true.

        What is known of a writer at a place in the code must be true after each step that leads there, if it and the
        invariant are true before; it must stay true at the steps of others; and it must imply the claims.

        Returns:
            What cannot be proved; empty if all is proved.

        Raises:
            Undecided: the solver gave up.
        """
        problem = self._begins() or self._stable()
        if problem:
            return problem
        facts = self._facts()
        if IN_HISTORY not in facts["acknowledged"]:
            return f"it is not known of a writer whose commit was acknowledged that {IN_HISTORY}"
        for step in self.steps:
            result = self._take(step)
            known = [result.guard, *(FACTS[name](self.before, WRITER) for name in facts[step.source])]
            words = self._find_refuted(known, [*self._invariant(result.after), *result.claims])
            if words:
                return f"{describe(step)}: {words}"
        return ""

    def _take(self, step: Step) -> TakenStep:
        return take_step(step, self.number, self.before, WRITER, CHOSEN, self.kept)

    def _hypotheses(self, state: State) -> list[Any]:
        """Return the invariant before a step, of all versions and writers that the step and the claims are about."""
        versions = [state.current, FRESH, VERSION, WITNESS, OTHER_VERSION, z3.IntVal(NONE)]
        for writer in (WRITER, OTHER):
            versions += [state.new[writer], state.pointer[writer], state.loaded[writer]]
        pairs = itertools.combinations(versions, 2)
        versions += [state.parent[one] for one in versions]
        writers = [WRITER, OTHER, state.owner[WITNESS], state.owner[VERSION], state.owner[OTHER_VERSION]]
        found = [clause(state) for clause in GLOBAL.values()]
        found += [clause(state, one) for clause in OF_VERSIONS.values() for one in versions]
        found += [clause(state, one) for clause in OF_WRITERS.values() for one in writers]
        found += [are_different(state, *pair) for pair in pairs]
        return [*found, WRITER != OTHER, WRITER >= 0, OTHER >= 0]

    def _invariant(self, state: State) -> list[tuple[str, Any]]:
        """Return the invariant after a step, of any version, pair of versions and writer."""
        goals = [(name, clause(state)) for name, clause in GLOBAL.items()]
        goals += [(name, clause(state, WITNESS)) for name, clause in OF_VERSIONS.items()]
        goals += [(name, clause(state, one)) for name, clause in OF_WRITERS.items() for one in (WRITER, OTHER)]
        return [*goals, ("two versions have one place", are_different(state, WITNESS, OTHER_VERSION))]

    def _find_refuted(self, hypotheses: Sequence[Any], goals: Sequence[tuple[str, Any]]) -> str:
        """Return one of the goals that the hypotheses do not imply; empty if they imply all."""
        model = self._model(hypotheses, [goal for _, goal in goals])
        return "" if model is None else next(words for words, goal in goals if not _is_true(model, goal))

    def _model(self, hypotheses: Sequence[Any], goals: Sequence[Any]) -> z3.ModelRef | None:
        self.solver.push()
        try:
            self.solver.add(*hypotheses, z3.Not(z3.And(*goals)))
            result = self.solver.check()
            if result == z3.unknown:
                raise Undecided(f"z3 gave up: {self.solver.reason_unknown()}")
            return self.solver.model() if result == z3.sat else None
        finally:
            self.solver.pop()

    def _begins(self) -> str:
        """Check that the invariant is true in the beginning."""
        first = initial(self.number(self.start), 2, 4)
        some = [(name, clause(first)) for name, clause in GLOBAL.items()]
        some += [(name, clause(first, one)) for name, clause in OF_VERSIONS.items() for one in range(4)]
        some += [(name, clause(first, one)) for name, clause in OF_WRITERS.items() for one in range(2)]
        some += [("two versions have one place", are_different(first, a, b)) for a in range(4) for b in range(4)]
        return next((f"in the beginning: {name}" for name, clause in some if not clause), "")

    def _stable(self) -> str:
        """Check that the known facts about a writer stay true at the steps of others, and the claims about a swap."""
        before = self.before
        result = swap_arrives(before, VERSION, WITNESS, self.kept)
        goals = [*result.claims, *self._invariant(result.after), *unchanged(before, result.after, WRITER)]
        words = self._find_refuted([result.guard], goals)
        if words:
            return f"a swap arrives: {words}"
        for step in {(one.effect, one.answer, one.subject, one.parent, one.valid): one for one in self.steps}.values():
            result = self._take(step)
            words = self._find_refuted([result.guard], unchanged(before, result.after, OTHER))
            if words:
                return f"{describe(step)}: it was known of another writer that {words}, which is no longer true"
        return ""

    def _facts(self) -> dict[str, set[str]]:
        """Find all facts that are true of a writer at each place in the code: those that no step breaks."""
        facts = {name: set(FACTS) for name in self.states}
        first = initial(self.number(self.start), 1, 4)
        facts[self.start] = {name for name, fact in FACTS.items() if fact(first, 0)}
        left = deque(self.steps)
        while left:
            step = left.popleft()
            result = self._take(step)
            known = [result.guard, *(FACTS[name](self.before, WRITER) for name in facts[step.source])]
            while facts[step.target]:
                goals = {name: FACTS[name](result.after, WRITER) for name in facts[step.target]}
                model = self._model(known, list(goals.values()))
                if model is None:
                    break
                facts[step.target] = {name for name, goal in goals.items() if _is_true(model, goal)}
                left.extend(one for one in self.steps if one.source == step.target and one not in left)
        return facts

    # Counterexamples

    def counterexample(self, writers: int = 2, versions: int = 4, most: int = 300_000) -> tuple[str, ...]:
        """Search for the shortest sequence of steps that makes a claim false.

        Args:
            writers: how many writers there are.
            versions: how many metadata files there may be.
            most: the number of states after which to give up.

        Returns:
            The steps in words, the last one with the false claim; empty if no claim is false.

        Raises:
            Undecided: there are more states.
        """
        begin = initial(self.number(self.start), writers, versions + 1)
        reached: dict[State, tuple[State, str] | None] = {begin: None}
        left = deque([begin])
        while left:
            if len(reached) > most:
                raise Undecided(f"no counterexample was found in {len(reached)} states")
            state = left.popleft()
            for words, after, wrong in self._next(state, writers, versions):
                if wrong:
                    return (*_way(reached, state), f"{words}: {wrong}")
                if after not in reached:
                    reached[after] = state, words
                    left.append(after)
        return ()

    def _next(self, state: State, writers: int, versions: int) -> Iterator[tuple[str, State, str]]:
        written = [one for one in range(1, versions + 1) if state.written[one]]
        free = next((one for one in range(1, versions + 1) if not state.written[one]), None)
        for writer in range(writers):
            for step in self._from(state.place[writer]):
                for chosen in self._choices(step, written, free):
                    result = take_step(step, self.number, state, writer, chosen, self.kept)
                    if result.guard:
                        wrong = self._wrong(step, state, writer, chosen, written, result)
                        named = chosen.fresh if step.effect == "write metadata" else chosen.version
                        yield f"writer {writer}: {describe(step, state, writer, named)}", result.after, wrong
        for version in written:
            result = swap_arrives(state, version, NONE, self.kept)
            if result.guard:
                some = [claim for one in written for claim in swap_arrives(state, version, one, self.kept).claims]
                wrong = next((words for words, claim in some if not claim), "")
                yield f"the swap to file {version} is done", result.after, wrong

    def _from(self, place: int) -> list[Step]:
        return [one for one in self.steps if self.numbers[one.source] == place]

    def _choices(self, step: Step, written: list[int], free: int | None) -> Iterator[StepChoices]:
        reads = step.effect == "read pointer" or "any" in {step.subject, step.parent, step.valid}
        names: list[int] = [NONE]
        if step.effect == "write metadata":
            names = [free] if free is not None else []
            if Assumption.NAMES not in self.kept:
                names += written
        for version in written if reads else [NONE]:
            for fresh in names:
                yield StepChoices(version, fresh, NONE)

    def _wrong(
        self, step: Step, state: State, writer: int, chosen: StepChoices, written: list[int], result: TakenStep
    ) -> str:
        if not result.claims:
            return ""
        for witness in written:
            again = take_step(step, self.number, state, writer, attrs.evolve(chosen, witness=witness), self.kept)
            for words, claim in again.claims:
                if not claim:
                    return words
        return ""


def _way(reached: dict[State, tuple[State, str] | None], state: State) -> list[str]:
    found = []
    before = reached[state]
    while before is not None:
        found.append(before[1])
        before = reached[before[0]]
    return found[::-1]


def describe(step: Step, state: State | None = None, writer: int = 0, version: int = NONE) -> str:
    """Describe a step in words.

    Args:
        step: the step.
        state: the state before the step, if it is part of a sequence; None for a step of any writer in any state.
        writer: the writer that takes the step.
        version: the version that is read or written.

    Returns:
        The description.
    """
    named = "" if version == NONE else f" file {version}"
    own = "its file" if state is None else f"file {state.new[writer]}"
    answer = step.answer
    match step.effect:
        case "read pointer":
            what = f"reads the pointer:{named}" if named else f"reads the pointer: {answer}"
        case "read metadata":
            what = f"reads {READ[step.subject]}: {answer}"
        case "write metadata":
            made = "what it loaded" if step.valid == "loaded" else "a version to which the change may not be applied"
            what = f"writes{named or ' a file'}, made from {made}, whose log ends with {NAMED[step.parent]}: {answer}"
        case "send":
            new = own if step.subject == "new" else NAMED[step.subject]
            what = f"requests a swap of the pointer from {NAMED[step.parent]} to {new}"
        case "swap":
            what = f"gets the answer to its swap: {answer}"
        case "delete metadata":
            what = f"deletes {own}: {answer}"
        case _:
            what = "begins"
    return f"{what}; it ends: {step.target}" if step.target in ENDS else what


READ = {
    "pointer": "the metadata that the pointer is at",
    "older": "the metadata of an older version",
    "next": "the file of the next version",
    "new": "its own file",
    "any": "the metadata of any file",
}
NAMED = {
    "loaded": "what it loaded",
    "base": "what its file was made from",
    "pointer": "the pointer that it read last",
    "new": "its own file",
    "any": "any other file",
}


WRITER, OTHER = z3.Ints("writer other")
FRESH, VERSION, WITNESS, OTHER_VERSION = z3.Ints("fresh version witness other-version")
CHOSEN = StepChoices(VERSION, FRESH, WITNESS)


def _is_true(model: z3.ModelRef, goal: Any) -> bool:
    return bool(z3.is_true(model.eval(z3.And(goal), model_completion=True)))
