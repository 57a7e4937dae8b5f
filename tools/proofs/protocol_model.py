"""Any number of writers that take the steps of the protocol, and any store that keeps what is assumed of it.

A *version* is a metadata file that was written. The state says of each version where in the history of the pointer it
is, which version its metadata log names last, which version it was validated against, and whether a swap to it was
sent. It also says of each writer, and there may be any number, its place in the code and its registers
(`tools.proofs.protocol_steps`).

A swap that was sent may arrive at any time, any number of times, or never; its answer may be lost, and a refusal need
not be true. A writer may stop at any step. A read of the pointer may be outdated. The functions work on z3's arrays,
for a proof, and on tuples, to search for a counterexample.
"""

from __future__ import annotations

import enum
import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import attrs
import z3

from tools.proofs.explorer import SOLVER_STEPS, Undecided
from tools.proofs.protocol_steps import ENDS, Machine, Step

_YES = True
NONE, FIRST = 0, 1
"""No version, and the version that the table has in the beginning."""


class Assumption(enum.Enum):
    """What the protocol may assume of the store, and of the names of files."""

    SWAP = "a swap is done only if the pointer is where the swap expects it (compare-and-swap)"
    DONE = "a swap that is answered with success was done"
    NAMES = "no two metadata files are written with one name"
    COMMITTED = "a read of the pointer returns what the pointer is or was (no dirty reads)"
    LOGS = "a metadata file is read with the content that was written"
    FILES = "a read of a file that was written or renamed before sees that (read-after-write of files)"


@attrs.frozen
class State:
    """What all writers together have done."""

    top: Any
    """How many swaps were done."""
    current: Any
    """The version that the pointer is at."""
    position: Any
    """Of each version, after how many swaps the pointer was set to it; -1 if it was not."""
    parent: Any
    """Of each version, the last entry of its metadata log."""
    valid: Any
    """Of each version, the version that it was made from and validated against."""
    expected: Any
    """Of each version, what the swap to it expects."""
    sent: Any
    written: Any
    owner: Any
    """Of each version, who wrote it."""
    place: Any
    """Of each writer, the number of its place in the code."""
    new: Any
    pointer: Any
    loaded: Any


def _and(*some: Any) -> Any:
    return z3.And(*some) if any(isinstance(one, z3.ExprRef) for one in some) else all(some)


def _or(*some: Any) -> Any:
    return z3.Or(*some) if any(isinstance(one, z3.ExprRef) for one in some) else any(some)


def _not(one: Any) -> Any:
    return z3.Not(one) if isinstance(one, z3.ExprRef) else not one


def _put(array: Any, place: Any, value: Any) -> Any:
    if isinstance(array, tuple):
        return (*array[:place], value, *array[place + 1 :])
    return z3.Store(array, place, value)


def _implies(one: Any, other: Any) -> Any:
    return _or(_not(one), other)


# What a state says


def is_installed(state: State, version: Any) -> Any:
    """The pointer is or was at a version."""
    return state.position[version] >= 0


def is_over(state: State, version: Any) -> Any:
    """Another version has the place of a version, which can then never be installed."""
    behind = _and(is_installed(state, state.parent[version]), state.position[state.parent[version]] < state.top)
    return _and(state.position[version] < 0, behind)


def is_harmless(state: State, version: Any) -> Any:
    """A version is not, and will not be, in the history: nobody was asked to install it, or its place is taken."""
    return _or(is_over(state, version), _and(_not(state.sent[version]), state.position[version] < 0))


# Steps


@attrs.frozen
class Taken:
    """A step: when it can be taken, what it leads to, and what must be true of it."""

    guard: Any
    after: State
    claims: tuple[tuple[str, Any], ...] = ()


@attrs.frozen
class Chosen:
    """What the store and the writer choose at a step."""

    version: Any
    """What the pointer is read as, or any version that an argument is not known to be."""
    fresh: Any
    """The name of a new version."""
    witness: Any
    """Any version, of which a claim is made."""


def taken(step: Step, number: Callable[[str], int], state: State, writer: Any, chosen: Chosen, kept: Kept) -> Taken:
    """Take a step of a writer.

    Args:
        step: the step.
        number: gives the number of a place in the code.
        state: the state before.
        writer: who takes it.
        chosen: the choices.
        kept: what is assumed.
    """
    guard: Any = state.place[writer] == number(step.source)
    claims: list[tuple[str, Any]] = []
    new, loaded, pointer = state.new[writer], state.loaded[writer], state.pointer[writer]
    version = chosen.version
    after = state
    registers = {"new": new, "loaded": loaded, "pointer": pointer, "base": state.parent[new], "any": version}
    match step.effect, step.answer:
        case "read pointer", "other" | "base" | "new":
            guard = _and(guard, version != NONE, state.written[version])
            if Assumption.COMMITTED in kept:
                guard = _and(guard, is_installed(state, version))
            if step.answer == "new":
                guard = _and(guard, version == new)
            elif step.answer == "base":
                guard = _and(guard, version == state.parent[new])
            else:
                guard = _and(guard, version != state.parent[new], _or(version != new, kept.file_system))
            after = attrs.evolve(after, pointer=_put(after.pointer, writer, version))
        case "read metadata", answer if step.subject in {"pointer", "older"}:
            before = state.position[pointer]
            logged = _and(is_installed(state, new), state.position[new] < before)
            behind = _and(is_installed(state, registers["base"]), state.position[registers["base"]] < before)
            if Assumption.LOGS in kept and answer == "log: new":
                guard = _and(guard, logged)
            elif Assumption.LOGS in kept and answer == "log: base":
                guard = _and(guard, behind, _not(logged))
            if step.subject == "pointer" and answer not in {"missing", "failure"}:
                after = attrs.evolve(after, loaded=_put(after.loaded, writer, pointer))
        case "read metadata", answer if step.subject == "next" and answer in {"as written", "other content"}:
            base = registers["base"]
            guard = _and(guard, is_installed(state, base), state.position[base] < state.top)
            if Assumption.LOGS in kept and answer == "other content":
                guard = _and(guard, _not(is_installed(state, new)))
        case "read metadata", "missing" if step.subject == "new" and Assumption.FILES in kept:
            guard = _and(guard, is_installed(state, new))
        case "read metadata", "as written" if step.subject == "new" and Assumption.FILES in kept:
            guard = _and(guard, _not(is_installed(state, new)))
        case "write metadata", "done":
            fresh = chosen.fresh
            guard = _and(guard, fresh != NONE)
            if Assumption.NAMES in kept:
                guard = _and(guard, _not(state.written[fresh]))
            else:
                claims.append(("it overwrites a file of the table", _not(is_installed(state, fresh))))
            after = attrs.evolve(
                after,
                written=_put(after.written, fresh, _YES),
                owner=_put(after.owner, fresh, writer),
                parent=_put(after.parent, fresh, registers[step.parent]),
                valid=_put(after.valid, fresh, registers[step.valid]),
                new=_put(after.new, writer, fresh),
            )
        case "send", _:
            sent = registers[step.subject]
            guard = _and(guard, sent != NONE, state.written[sent])
            after = attrs.evolve(
                after,
                sent=_put(after.sent, sent, _YES),
                expected=_put(after.expected, sent, registers[step.parent]),
            )
        case "swap", "done" if Assumption.DONE in kept:
            guard = _and(guard, is_installed(state, new))
        case "delete metadata", "done" if kept.file_system:
            # What was renamed is elsewhere, and what is deleted cannot be renamed later.
            left = _and(state.sent[new], is_installed(state, new))
            after = attrs.evolve(after, sent=_put(after.sent, new, left))
        case "delete metadata", "done":
            claims.append(("it deletes a file that the table has or may get", is_harmless(state, new)))
    if step.target == "acknowledged":
        claims.append(("a commit is acknowledged that is not in the history", is_installed(state, new)))
    if step.target == "refused":
        witness = chosen.witness
        mine = _and(state.written[witness], state.owner[witness] == writer)
        words = "a commit is reported as not done that is, or may get, in the history"
        claims.append((words, _implies(mine, is_harmless(state, witness))))
    after = attrs.evolve(after, place=_put(after.place, writer, number(step.target)))
    return Taken(guard, after, tuple(claims))


def arrives(state: State, version: Any, witness: Any, kept: Kept) -> Taken:
    """A swap that was sent arrives, and is done."""
    # Without compare-and-swap a request is done whatever the pointer is at, though only once.
    is_expected = state.current == state.expected[version]
    guard = _and(state.sent[version], is_expected if Assumption.SWAP in kept else _not(is_installed(state, version)))
    other = _and(witness != version, state.written[witness], state.owner[witness] == state.owner[version])
    claims = (
        ("a change is in the history twice", _not(is_installed(state, version))),
        (
            "two attempts of a commit are in the history",
            _implies(other, _not(is_installed(state, witness))),
        ),
        ("a commit does not continue the version before it, which is lost", state.parent[version] == state.current),
        ("a change was not validated against its parent", state.valid[version] == state.current),
    )
    after = attrs.evolve(
        state,
        top=state.top + 1,
        current=version,
        position=_put(state.position, version, state.top + 1),
    )
    return Taken(guard, after, claims)


@attrs.frozen
class Kept:
    """What is assumed."""

    assumptions: frozenset[Assumption]
    file_system: bool
    """Whether the file that is written is renamed, so that the pointer never is at its name."""

    def __contains__(self, one: object) -> bool:
        return one in self.assumptions


def split(machine: Machine) -> tuple[Step, ...]:
    """The steps, where sending a swap and getting its answer are two."""
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
        self.kept = Kept(frozenset(Assumption) - set(dropped), file_system)
        self.start = machine.start
        self.before = symbolic()
        self.solver = z3.SimpleSolver()
        self.solver.set("rlimit", SOLVER_STEPS)
        self.solver.add(*self._hypotheses(self.before))

    def number(self, name: str) -> int:
        """The number of a place in the code."""
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
            return f"of a writer whose commit was acknowledged it is not known that {IN_HISTORY}"
        for step in self.steps:
            result = self._take(step)
            known = [result.guard, *(FACTS[name](self.before, WRITER) for name in facts[step.source])]
            words = self._refuted(known, [*self._invariant(result.after), *result.claims])
            if words:
                return f"{describe(step)}: {words}"
        return ""

    def _take(self, step: Step) -> Taken:
        return taken(step, self.number, self.before, WRITER, CHOSEN, self.kept)

    def _hypotheses(self, state: State) -> list[Any]:
        """The invariant before a step, of all versions and writers that the step and the claims are about."""
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
        """The invariant after a step, of any version, pair of versions and writer."""
        goals = [(name, clause(state)) for name, clause in GLOBAL.items()]
        goals += [(name, clause(state, WITNESS)) for name, clause in OF_VERSIONS.items()]
        goals += [(name, clause(state, one)) for name, clause in OF_WRITERS.items() for one in (WRITER, OTHER)]
        return [*goals, ("two versions have one place", are_different(state, WITNESS, OTHER_VERSION))]

    def _refuted(self, hypotheses: Sequence[Any], goals: Sequence[tuple[str, Any]]) -> str:
        """One of the goals that the hypotheses do not imply; empty if they imply all."""
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
        """Check that what is known of a writer stays true when others do something, and the claims about a swap."""
        before = self.before
        result = arrives(before, VERSION, WITNESS, self.kept)
        goals = [*result.claims, *self._invariant(result.after), *_unchanged(before, result.after, WRITER)]
        words = self._refuted([result.guard], goals)
        if words:
            return f"a swap arrives: {words}"
        for step in {(one.effect, one.answer, one.subject, one.parent, one.valid): one for one in self.steps}.values():
            result = self._take(step)
            words = self._refuted([result.guard], _unchanged(before, result.after, OTHER))
            if words:
                return f"{describe(step)}: of another writer it was known that {words}, which is no longer true"
        return ""

    def _facts(self) -> dict[str, set[str]]:
        """Find the most that is true of a writer at each place of the code: what some step breaks is left out."""
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
        """Search for the shortest way to something that is wrong.

        Args:
            writers: how many writers there are.
            versions: how many metadata files there may be.
            most: after how many states to give up.

        Returns:
            The steps in words, the last one with what is wrong; empty if there is no way.

        Raises:
            Undecided: there are more states.
        """
        begin = initial(self.number(self.start), writers, versions + 1)
        came: dict[State, tuple[State, str] | None] = {begin: None}
        left = deque([begin])
        while left:
            if len(came) > most:
                raise Undecided(f"no counterexample was found in {len(came)} states")
            state = left.popleft()
            for words, after, wrong in self._next(state, writers, versions):
                if wrong:
                    return (*_way(came, state), f"{words}: {wrong}")
                if after not in came:
                    came[after] = state, words
                    left.append(after)
        return ()

    def _next(self, state: State, writers: int, versions: int) -> Iterator[tuple[str, State, str]]:
        written = [one for one in range(1, versions + 1) if state.written[one]]
        free = next((one for one in range(1, versions + 1) if not state.written[one]), None)
        for writer in range(writers):
            for step in self._from(state.place[writer]):
                for chosen in self._choices(step, written, free):
                    result = taken(step, self.number, state, writer, chosen, self.kept)
                    if result.guard:
                        wrong = self._wrong(step, state, writer, chosen, written, result)
                        named = chosen.fresh if step.effect == "write metadata" else chosen.version
                        yield f"writer {writer}: {describe(step, state, writer, named)}", result.after, wrong
        for version in written:
            result = arrives(state, version, NONE, self.kept)
            if result.guard:
                some = [claim for one in written for claim in arrives(state, version, one, self.kept).claims]
                wrong = next((words for words, claim in some if not claim), "")
                yield f"the swap to file {version} is done", result.after, wrong

    def _from(self, place: int) -> list[Step]:
        return [one for one in self.steps if self.numbers[one.source] == place]

    def _choices(self, step: Step, written: list[int], free: int | None) -> Iterator[Chosen]:
        reads = step.effect == "read pointer" or "any" in {step.subject, step.parent, step.valid}
        names: list[int] = [NONE]
        if step.effect == "write metadata":
            names = [free] if free is not None else []
            if Assumption.NAMES not in self.kept:
                names += written
        for version in written if reads else [NONE]:
            for fresh in names:
                yield Chosen(version, fresh, NONE)

    def _wrong(self, step: Step, state: State, writer: int, chosen: Chosen, written: list[int], result: Taken) -> str:
        if not result.claims:
            return ""
        for witness in written:
            again = taken(step, self.number, state, writer, attrs.evolve(chosen, witness=witness), self.kept)
            for words, claim in again.claims:
                if not claim:
                    return words
        return ""


def _way(came: dict[State, tuple[State, str] | None], state: State) -> list[str]:
    found = []
    before = came[state]
    while before is not None:
        found.append(before[1])
        before = came[before[0]]
    return found[::-1]


def describe(step: Step, state: State | None = None, writer: int = 0, version: int = NONE) -> str:
    """A step in words.

    Args:
        step: the step.
        state: the state before, where a way to it is described; None for a step of any writer in any state.
        writer: who takes it.
        version: the version that is read or written.

    Returns:
        The words.
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
            what = f"asks to swap the pointer from {NAMED[step.parent]} to {new}"
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


def initial(start: int, writers: int, versions: int) -> State:
    """The state in the beginning: a table of one version, and writers that have done nothing."""
    nothing = tuple(NONE for _ in range(versions))
    no = tuple(False for _ in range(versions))
    nobody = tuple(NONE for _ in range(writers))
    return State(
        top=0,
        current=FIRST,
        position=tuple(0 if one == FIRST else -1 for one in range(versions)),
        parent=nothing,
        valid=nothing,
        expected=nothing,
        sent=no,
        written=tuple(one == FIRST for one in range(versions)),
        owner=tuple(-1 for _ in range(versions)),
        place=tuple(start for _ in range(writers)),
        new=nobody,
        pointer=nobody,
        loaded=nobody,
    )


def symbolic() -> State:
    """Any state."""
    numbers = z3.ArraySort(z3.IntSort(), z3.IntSort())
    truths = z3.ArraySort(z3.IntSort(), z3.BoolSort())
    return State(
        **{
            name: z3.Int(name)
            if name in {"top", "current"}
            else z3.Const(name, truths if name in {"sent", "written"} else numbers)
            for name in attrs.fields_dict(State)
        }
    )


WRITER, OTHER = z3.Ints("writer other")
FRESH, VERSION, WITNESS, OTHER_VERSION = z3.Ints("fresh version witness other-version")
CHOSEN = Chosen(VERSION, FRESH, WITNESS)

GLOBAL: dict[str, Callable[[State], Any]] = {
    "the pointer is at the last version of the history": lambda s: _and(s.top >= 0, s.position[s.current] == s.top),
    "no version is none": lambda s: _and(s.position[NONE] == -1, _not(s.sent[NONE]), _not(s.written[NONE])),
}

OF_VERSIONS: dict[str, Callable[[State, Any], Any]] = {
    "a version has a place in the history or none": lambda s, v: _and(
        s.position[v] >= -1,
        s.position[v] <= s.top,
        _or(s.written[v], _and(s.position[v] < 0, _not(s.sent[v]))),
    ),
    "a version of the history continues the one before it, and was validated against it": lambda s, v: _implies(
        s.position[v] > 0,
        _and(
            s.position[s.parent[v]] == s.position[v] - 1,
            s.valid[v] == s.parent[v],
            s.sent[v],
        ),
    ),
    "a swap expects what the new version was validated against": lambda s, v: _implies(
        s.sent[v],
        _and(
            s.written[v],
            s.position[v] != 0,
            s.expected[v] == s.parent[v],
            s.valid[v] == s.parent[v],
        ),
    ),
    "the attempts before the last one are over": lambda s, v: _implies(
        _and(s.written[v], s.position[v] != 0), _or(v == s.new[s.owner[v]], is_harmless(s, v))
    ),
    "every version but the first has an owner": lambda s, v: _implies(
        s.written[v], (s.position[v] == 0) == (s.owner[v] < 0)
    ),
}
"""The invariant, of each version."""

OF_WRITERS: dict[str, Callable[[State, Any], Any]] = {
    "a writer has written its last version": lambda s, w: _or(
        s.new[w] == NONE, _and(s.written[s.new[w]], s.owner[s.new[w]] == w)
    ),
}
"""The invariant, of each writer."""


def are_different(state: State, one: Any, other: Any) -> Any:
    """Two versions have different places in the history."""
    same = _and(is_installed(state, one), state.position[one] == state.position[other])
    return _implies(same, one == other)


def _unchanged(before: State, after: State, writer: Any) -> list[tuple[str, Any]]:
    return [(name, _implies(fact(before, writer), fact(after, writer))) for name, fact in FACTS.items()]


def _is_true(model: z3.ModelRef, goal: Any) -> bool:
    return bool(z3.is_true(model.eval(z3.And(goal), model_completion=True)))


IN_HISTORY = "its version is in the history"
FACTS: dict[str, Callable[[State, Any], Any]] = {
    "it has written": lambda s, w: s.new[w] != NONE,
    IN_HISTORY: lambda s, w: is_installed(s, s.new[w]),
    "its version is over": lambda s, w: is_over(s, s.new[w]),
    "its version is over, or was not sent": lambda s, w: _or(s.new[w] == NONE, is_harmless(s, s.new[w])),
    "its version is validated against its parent": lambda s, w: s.valid[s.new[w]] == s.parent[s.new[w]],
    "what its version continues is in the history": lambda s, w: is_installed(s, s.parent[s.new[w]]),
    "there is a version after the one that its version continues": lambda s, w: _and(
        is_installed(s, s.parent[s.new[w]]), s.position[s.parent[s.new[w]]] < s.top
    ),
    "the pointer that it read is in the history": lambda s, w: is_installed(s, s.pointer[w]),
    "what it loaded is in the history": lambda s, w: is_installed(s, s.loaded[w]),
    "it has not read its version as the pointer": lambda s, w: s.pointer[w] != s.new[w],
}
"""What may be known of a writer at a place in the code. Which are, is found out."""
