"""Theorems, and how they are proved.

A theorem is a function of a `World`. It asks the world for values, runs the code of `spec_ref` on them, and claims
something about the results. In a symbolic world the values stand for all values, and the function is run along every
path (`tools.proofs.explorer`). In a world of given values the function is a test, which replays a counterexample, or
values of each path that was proved.
"""

from __future__ import annotations

import math
import struct
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import attrs
import z3

from spec_ref.core.errors import SpecError
from spec_ref.data_types.types import DecimalType
from tools.proofs import explorer, stand_ins
from tools.proofs.explorer import Impossible, Undecided, Unsupported, active
from tools.proofs.symbolic_floats import LAST_PLACE, SymbolicFloat, SymbolicFloatOfBits, double_of_place
from tools.proofs.symbols import EXPONENTS, SymbolicBytes, SymbolicDecimal, SymbolicInt, SymbolicText, boolean_term

ALL = "all values"
BOUNDED = "bounded length"
EXHAUSTIVE = "exhaustive"
INDUCTION = "any number of writers"
METHODS = (ALL, BOUNDED, EXHAUSTIVE, INDUCTION)

CASE_SECONDS = 60.0
"""The processor time that one case of a theorem may take."""

REPLAYED = 5
"""The maximum number of paths of a case that are replayed with values."""

MAX_CODE_POINT = 0x10FFFF


class ClaimFailed(AssertionError):
    """A claim of a theorem is false for some values."""


class StepsFound(ClaimFailed):
    """Steps of several writers make a claim false."""

    def __init__(self, words: str, steps: Sequence[str]) -> None:
        super().__init__(words)
        self.steps = tuple(steps)


@attrs.frozen
class AnyDecimal:
    """In a case of a theorem: the decimal type of any precision, and of any scale up to the precision."""

    def __str__(self) -> str:
        return "decimal(P, S)"


DECIMAL = AnyDecimal()


@attrs.define
class World:
    """The source of a theorem's values: symbols, or given values."""

    values: Mapping[str, Any] | None = None
    """The values by name; None in a symbolic world."""

    readers: dict[str, Callable[[z3.ModelRef], Any]] = attrs.field(factory=dict)
    """Functions that read each value from the solver's answer, by name."""

    claims: int = 0
    request: Callable[[], dict[str, Any]] | None = None
    """Makes the request that shows a counterexample: ``operation`` and ``args`` of a vector, and ``expect``, the answer
    that the theorem implies, if it implies one."""

    @property
    def symbolic(self) -> bool:
        """Whether the values are symbols."""
        return self.values is None

    def int(self, name: str, least: Any = None, greatest: Any = None) -> Any:
        """Return an arbitrary int of a range; None means no limit."""
        if self.values is not None:
            value = self.values.get(name, 0)
            if (least is not None and value < least) or (greatest is not None and value > greatest):
                raise Impossible
            return value
        term = z3.Int(name)
        self.readers[name] = lambda model: _number(model, term)
        if least is not None:
            active().assume(term >= getattr(least, "term", least))
        if greatest is not None:
            active().assume(term <= getattr(greatest, "term", greatest))
        return SymbolicInt(term)

    def choose(self, name: str, *options: Any) -> Any:
        """Return an arbitrary one of the options; the path forks for each."""
        index = self.int(name, 0, len(options) - 1)
        for place, option in enumerate(options[:-1]):
            if index == place:
                return option
        return options[-1]

    def text(self, name: str, length: Any) -> Any:
        """Return an arbitrary string of the given length, made of code points that are not surrogates."""
        units = [self.int(f"{name}[{place}]", 0, MAX_CODE_POINT) for place in range(length)]
        for unit in units:
            self.assume((unit < 0xD800) | (unit > 0xDFFF))
        return SymbolicText(units) if self.symbolic else "".join(map(chr, units))

    def binary(self, name: str, length: Any) -> Any:
        """Return arbitrary bytes of the given length."""
        units = [self.int(f"{name}[{place}]", 0, 255) for place in range(length)]
        return SymbolicBytes(units) if self.symbolic else bytes(units)

    def decimal_type(self, name: str = "precision", least: Any = 1) -> DecimalType:
        """Return an arbitrary decimal type of at least the given precision."""
        precision = self.int(name, least, EXPONENTS[-1])
        return DecimalType(precision, self.int("scale", 0, precision))

    def arguments(self, case: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of a case, with any decimal type where the case has `DECIMAL`."""
        return {name: self.decimal_type() if one is DECIMAL else one for name, one in case.items()}

    def decimal(self, name: str, precision: Any, scale: Any) -> Any:
        """Return an arbitrary decimal of the type."""
        number = self.int(name, 1 - 10**precision, 10**precision - 1)
        if self.symbolic:
            return SymbolicDecimal(number, precision, scale)
        return Decimal((int(number < 0), tuple(map(int, str(abs(number)))), -scale))

    def double(self, name: str) -> Any:
        """Return an arbitrary double, including NaN."""
        if self.values is not None:
            return self.values.get(name, 0.0)
        place, nan = z3.Int(name), z3.Bool(f"{name} is NaN")
        self.readers[name] = lambda model: (
            math.nan if z3.is_true(model.eval(nan)) else double_of_place(_number(model, place))
        )
        active().assume(z3.And(place >= -LAST_PLACE, place <= LAST_PLACE))
        return SymbolicFloat(place, nan)

    def double_of_bits(self, name: str) -> Any:
        """Return an arbitrary double, made from its bits, so that a NaN has a sign."""
        if self.values is not None:
            return self.values.get(name, 0.0)
        bits = z3.BitVec(name, 64)
        self.readers[name] = lambda model: _double_of_bits(model, bits)
        return SymbolicFloatOfBits(bits)

    def assume(self, condition: Any) -> None:
        """Exclude the values for which a condition is false."""
        if self.symbolic and not isinstance(condition, bool):
            active().assume(boolean_term(condition))
            active().model()
        elif not condition:
            raise Impossible

    def claim(self, condition: Any, words: str = "") -> None:
        """Claim that a condition is true."""
        self.claims += 1
        if not condition:
            raise ClaimFailed(words or "the claim is false")


def _number(model: z3.ModelRef, term: Any) -> int:
    return int(model.eval(term, model_completion=True).as_long())


def _double_of_bits(model: z3.ModelRef, term: Any) -> float:
    bits = model.eval(term, model_completion=True).as_long()
    return float(struct.unpack(">d", bits.to_bytes(8, "big"))[0])


@attrs.frozen
class Theorem:
    """A theorem, with its cases."""

    id: str
    words: str
    codes: tuple[str, ...]
    method: str
    state: Callable[..., None]
    cases: tuple[Mapping[str, Any], ...]
    """The arguments of each case, which is proved separately: a type, a transform, an operation."""

    quick: int | None
    """The step between cases of the quick run; None if it has none of them."""

    topic: str

    without: tuple[str, ...] = ()
    """The stand-ins that are not used, by their names in `stand_ins.FUNCTIONS` and `stand_ins.METHODS`."""

    @property
    def scope(self) -> str:
        """The method, with its exceptions."""
        texts = any(str(case.get("type_")) in ("string", "binary") for case in self.cases)
        return f"{ALL}; strings and bytes of bounded length" if self.method == ALL and texts else self.method

    def selected_cases(self, *, quick: bool) -> tuple[Mapping[str, Any], ...]:
        """Return the cases of a run."""
        if not quick:
            return self.cases
        return self.cases[:: self.quick] if self.quick else ()


THEOREMS: dict[str, Theorem] = {}


def theorem(
    id: str,
    *codes: str,
    method: str = ALL,
    cases: Iterable[Mapping[str, Any]] = ({},),
    quick: int | None = 1,
    without: tuple[str, ...] = (),
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Declare a function as a theorem; its docstring is the theorem in words."""

    def declare(state: Callable[..., None]) -> Callable[..., None]:
        assert id not in THEOREMS
        assert method in METHODS
        topic = state.__module__.rpartition(".")[2]
        THEOREMS[id] = Theorem(
            id, " ".join((state.__doc__ or "").split()), codes, method, state, tuple(cases), quick, topic, without
        )
        return state

    return declare


@attrs.frozen
class Failure:
    """The reason why a case of a theorem is not proved."""

    case: str
    reason: str
    values: Mapping[str, Any] | None = None
    request: dict[str, Any] | None = None
    """The request that shows it, see `World.request`; None if no operation does."""

    replayed: str = ""
    """The behaviour of the code with these values."""

    steps: tuple[str, ...] = ()
    """The steps of writers that make the theorem false."""

    @property
    def is_shown(self) -> bool:
        """Whether there is a counterexample, so that the theorem is false and not only unproved."""
        return self.values is not None or bool(self.steps)


@attrs.frozen
class Verdict:
    """The result of proving a theorem."""

    theorem: Theorem
    cases: int
    paths: int
    claims: int
    seconds: float
    failures: tuple[Failure, ...]

    @property
    def proved(self) -> bool:
        """Whether all cases are proved."""
        return not self.failures


def prove(
    one: Theorem, *, quick: bool = False, seconds: float = CASE_SECONDS, replay: bool = True, stop: bool = False
) -> Verdict:
    """Prove a theorem.

    Args:
        one: the theorem.
        quick: whether only the quick cases are proved.
        seconds: the time for each case.
        replay: whether the unchanged code is also run with values of each path, without symbols and stand-ins.
        stop: whether to stop at the first failure.

    Returns:
        The verdict.
    """
    started = time.process_time()
    cases, number, claims = one.selected_cases(quick=quick), 0, 0
    failures: list[Failure] = []
    for case in cases:
        found, paths, claimed = _prove_case(one, case, seconds, replay=replay)
        number, claims = number + paths, claims + claimed
        failures += [found] if found else []
        if failures and stop:
            break
    return Verdict(one, len(cases), number, claims, time.process_time() - started, tuple(failures))


def _prove_case(
    one: Theorem, case: Mapping[str, Any], seconds: float, *, replay: bool
) -> tuple[Failure | None, int, int]:
    name = ", ".join(f"{key}={value}" for key, value in case.items())
    if one.method in {EXHAUSTIVE, INDUCTION}:
        world = World(values={})
        try:
            one.state(world, **world.arguments(case))
        except (Exception, Undecided) as error:
            return Failure(name, _reason(error), steps=getattr(error, "steps", ())), 1, world.claims
        return None if world.claims else Failure(name, VACUOUS), 1, world.claims
    count = claims = 0
    worlds: list[World] = []

    def run() -> None:
        worlds.append(World())
        one.state(worlds[-1], **worlds[-1].arguments(case))

    samples: list[dict[str, Any]] = []
    try:
        with stand_ins.use_stand_ins(one.without):
            for ended in explorer.paths(run, time.process_time() + seconds):
                world = worlds[-1]
                worlds.clear()
                count, claims = count + 1, claims + world.claims
                if ended.error is not None or (replay and world.claims and len(samples) < REPLAYED):
                    model = ended.path.model()
                    values = {key: read(model) for key, read in world.readers.items()}
                    if ended.error is not None:
                        break
                    samples.append(values)
            else:
                values = None
    except (Undecided, Unsupported) as error:
        return Failure(name, _reason(error)), count, claims
    if values is not None and ended.error is not None:
        return _replay_failure(one, case, name, _reason(ended.error), values), count, claims
    if not claims:
        return Failure(name, VACUOUS), count, claims
    for values in samples:
        error_ = _run_with(one, case, values)[1]
        if error_ is not None:
            reason = f"proved on symbols, but false of these values: {_reason(error_)}"
            return _replay_failure(one, case, name, reason, values), count, claims
    return None, count, claims


VACUOUS = "nothing was claimed on any path: the theorem says nothing"


def _reason(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def _run_with(one: Theorem, case: Mapping[str, Any], values: Mapping[str, Any]) -> tuple[World, BaseException | None]:
    world = World(values=values)
    try:
        one.state(world, **world.arguments(case))
    except Impossible:
        return world, None
    except Exception as error:
        return world, error
    return world, None


def _replay_failure(
    one: Theorem, case: Mapping[str, Any], name: str, reason: str, values: Mapping[str, Any]
) -> Failure:
    world, error = _run_with(one, case, values)
    if error is None:
        replayed = "with these values the code does what is claimed: a replaced function (a hash, a calendar) is wrong"
    else:
        replayed = f"the code, with these values: {_reason(error)}"
    request = None
    if world.request is not None:
        try:
            request = world.request()
        except SpecError as problem:
            replayed += f"; no vector can have these values: {problem}"
    return Failure(name, reason, values, request, replayed)
