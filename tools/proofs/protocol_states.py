"""The state of any number of writers and of a store that satisfies the assumptions, and the effect of each step.

A *version* is a metadata file that was written. For each version, the state has its place in the history of the
pointer, the last version that its metadata log names, the version that it was validated against, and whether a swap to
it was sent. For each writer, of which there may be any number, it has the place in the code and the registers
(`tools.proofs.protocol_steps`).

A swap that was sent may arrive at any time, any number of times, or never; its answer may be lost, and a refusal need
not be true. A writer may stop at any step. A read of the pointer may be outdated. The functions work on z3's arrays,
for a proof, and on tuples, to search for a counterexample.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import attrs
import z3

from tools.proofs.protocol_steps import Step

_YES = True
NONE, FIRST = 0, 1
"""No version, and the version that the table has in the beginning."""


class Assumption(enum.Enum):
    """What the protocol may assume of the store, and of the names of files."""

    SWAP = "a swap is done only if the pointer is where the swap expects it (compare-and-swap)"
    DONE = "a swap that is answered with success was done"
    NAMES = "no two metadata files are written with the same name"
    COMMITTED = "a read of the pointer returns what the pointer is or was (no dirty reads)"
    LOGS = "a metadata file is read with the content that was written"
    FILES = "a read of a file that was written or renamed before sees that (read-after-write of files)"


@attrs.frozen
class State:
    """The combined state of the store and of all writers."""

    top: Any
    """The number of swaps that were done."""
    current: Any
    """The current version: the one to which the pointer leads."""
    position: Any
    """For each version, the number of swaps after which the pointer was set to it; -1 if it was not."""
    parent: Any
    """For each version, the last entry of its metadata log."""
    valid: Any
    """For each version, the version that it was made from and validated against."""
    expected: Any
    """For each version, the version that the swap to it expects."""
    sent: Any
    written: Any
    owner: Any
    """For each version, the writer that wrote it."""
    place: Any
    """For each writer, the number of its place in the code."""
    new: Any
    pointer: Any
    loaded: Any


def and_(*conditions: Any) -> Any:
    """Return the conjunction of conditions: bools, or terms of z3."""
    return z3.And(*conditions) if any(isinstance(one, z3.ExprRef) for one in conditions) else all(conditions)


def or_(*conditions: Any) -> Any:
    """Return the disjunction of conditions: bools, or terms of z3."""
    return z3.Or(*conditions) if any(isinstance(one, z3.ExprRef) for one in conditions) else any(conditions)


def not_(one: Any) -> Any:
    """Return the negation of a condition: a bool, or a term of z3."""
    return z3.Not(one) if isinstance(one, z3.ExprRef) else not one


def _put(array: Any, place: Any, value: Any) -> Any:
    if isinstance(array, tuple):
        return (*array[:place], value, *array[place + 1 :])
    return z3.Store(array, place, value)


def implies(one: Any, other: Any) -> Any:
    """Return the condition that one condition implies another."""
    return or_(not_(one), other)


def is_installed(state: State, version: Any) -> Any:
    """Return whether the pointer is or was at a version."""
    return state.position[version] >= 0


def is_over(state: State, version: Any) -> Any:
    """Decide whether another version has the place of a version, which can then never be installed."""
    behind = and_(is_installed(state, state.parent[version]), state.position[state.parent[version]] < state.top)
    return and_(state.position[version] < 0, behind)


def is_harmless(state: State, version: Any) -> Any:
    """Decide whether a version is not in the history and cannot get there: it was not installed, or is too late."""
    return or_(is_over(state, version), and_(not_(state.sent[version]), state.position[version] < 0))


@attrs.frozen
class TakenStep:
    """A step from a state: the condition under which it can be taken, the next state, and the claims about it."""

    guard: Any
    after: State
    claims: tuple[tuple[str, Any], ...] = ()


@attrs.frozen
class StepChoices:
    """The choices of the store and the writer at a step."""

    version: Any
    """The version that a read of the pointer returns, or the one that an unknown argument is."""
    fresh: Any
    """The name of a new version."""
    witness: Any
    """An arbitrary version, about which a claim is made."""


def take_step(
    step: Step,
    number: Callable[[str], int],
    state: State,
    writer: Any,
    choices: StepChoices,
    assumptions: StoreAssumptions,
) -> TakenStep:
    """Take a step of a writer.

    Args:
        step: the step.
        number: gives the number of a place in the code.
        state: the state before.
        writer: the writer that takes the step.
        choices: the choices.
        assumptions: the assumptions.
    """
    guard: Any = state.place[writer] == number(step.source)
    claims: list[tuple[str, Any]] = []
    new, loaded, pointer = state.new[writer], state.loaded[writer], state.pointer[writer]
    version = choices.version
    after = state
    registers = {"new": new, "loaded": loaded, "pointer": pointer, "base": state.parent[new], "any": version}
    match step.effect, step.answer:
        case "read pointer", "other" | "base" | "new":
            guard = and_(guard, version != NONE, state.written[version])
            if Assumption.COMMITTED in assumptions:
                guard = and_(guard, is_installed(state, version))
            if step.answer == "new":
                guard = and_(guard, version == new)
            elif step.answer == "base":
                guard = and_(guard, version == state.parent[new])
            else:
                guard = and_(guard, version != state.parent[new], or_(version != new, assumptions.file_system))
            after = attrs.evolve(after, pointer=_put(after.pointer, writer, version))
        case "read metadata", answer if step.subject in {"pointer", "older"}:
            before = state.position[pointer]
            logged = and_(is_installed(state, new), state.position[new] < before)
            behind = and_(is_installed(state, registers["base"]), state.position[registers["base"]] < before)
            if Assumption.LOGS in assumptions and answer == "log: new":
                guard = and_(guard, logged)
            elif Assumption.LOGS in assumptions and answer == "log: base":
                guard = and_(guard, behind, not_(logged))
            if step.subject == "pointer" and answer not in {"missing", "failure"}:
                after = attrs.evolve(after, loaded=_put(after.loaded, writer, pointer))
        case "read metadata", answer if step.subject == "next" and answer in {"as written", "other content"}:
            base = registers["base"]
            guard = and_(guard, is_installed(state, base), state.position[base] < state.top)
            if Assumption.LOGS in assumptions and answer == "other content":
                guard = and_(guard, not_(is_installed(state, new)))
        case "read metadata", "missing" if step.subject == "new" and Assumption.FILES in assumptions:
            guard = and_(guard, is_installed(state, new))
        case "read metadata", "as written" if step.subject == "new" and Assumption.FILES in assumptions:
            guard = and_(guard, not_(is_installed(state, new)))
        case "write metadata", "done":
            fresh = choices.fresh
            guard = and_(guard, fresh != NONE)
            if Assumption.NAMES in assumptions:
                guard = and_(guard, not_(state.written[fresh]))
            else:
                claims.append(("it overwrites a file of the table", not_(is_installed(state, fresh))))
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
            guard = and_(guard, sent != NONE, state.written[sent])
            after = attrs.evolve(
                after,
                sent=_put(after.sent, sent, _YES),
                expected=_put(after.expected, sent, registers[step.parent]),
            )
        case "swap", "done" if Assumption.DONE in assumptions:
            guard = and_(guard, is_installed(state, new))
        case "delete metadata", "done" if assumptions.file_system:
            # A file that was renamed is at its new name, and a file that is deleted cannot be renamed later.
            left = and_(state.sent[new], is_installed(state, new))
            after = attrs.evolve(after, sent=_put(after.sent, new, left))
        case "delete metadata", "done":
            claims.append(("it deletes a file that the table has or may get", is_harmless(state, new)))
    if step.target == "acknowledged":
        claims.append(("a commit that is not in the history is acknowledged", is_installed(state, new)))
    if step.target == "refused":
        witness = choices.witness
        mine = and_(state.written[witness], state.owner[witness] == writer)
        words = "a commit that is in the history, or may get there, is reported as not done"
        claims.append((words, implies(mine, is_harmless(state, witness))))
    after = attrs.evolve(after, place=_put(after.place, writer, number(step.target)))
    return TakenStep(guard, after, tuple(claims))


def swap_arrives(state: State, version: Any, witness: Any, assumptions: StoreAssumptions) -> TakenStep:
    """Make a swap that was sent arrive."""
    # Without compare-and-swap, a request succeeds wherever the pointer is, but only once.
    is_expected = state.current == state.expected[version]
    guard = and_(
        state.sent[version], is_expected if Assumption.SWAP in assumptions else not_(is_installed(state, version))
    )
    other = and_(witness != version, state.written[witness], state.owner[witness] == state.owner[version])
    claims = (
        ("a change is in the history twice", not_(is_installed(state, version))),
        (
            "two attempts of a commit are in the history",
            implies(other, not_(is_installed(state, witness))),
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
    return TakenStep(guard, after, claims)


@attrs.frozen
class StoreAssumptions:
    """The assumptions about the store."""

    assumptions: frozenset[Assumption]
    file_system: bool
    """Whether written files are renamed, so that the pointer never leads to their first names."""

    def __contains__(self, one: object) -> bool:
        return one in self.assumptions


def initial(start: int, writers: int, versions: int) -> State:
    """Return the state in the beginning: a table of one version, and writers that have done nothing."""
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
    """Return an arbitrary state."""
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
