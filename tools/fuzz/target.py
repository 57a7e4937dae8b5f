"""The definition of a fuzzing target, and the sources of its inputs: vectors, golden files and the stored corpus."""

from __future__ import annotations

import functools
import json
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.fuzz.mutations import Mutate, mutate_bytes

ROOT = Path(__file__).parent.parent.parent
CORPUS = Path(__file__).parent / "corpus"
REGRESSIONS = ROOT / "tests" / "fuzz" / "regressions"
MOST_SEEDS = 120
LARGEST_SEED = 1 << 14


@dataclass(frozen=True)
class Target:
    """A reader, and its inputs."""

    name: str
    load: Callable[[], Callable[[bytes], object]]
    """A function that imports and returns the reader, which raises nothing but `errors`."""

    seeds: Callable[[], Iterable[bytes]]
    mutate: Mutate = mutate_bytes
    share: float = 1.0
    """The target's share of the time."""

    def initial_inputs(self) -> list[bytes]:
        """Return the initial inputs: valid ones, those of the corpus, and regression inputs."""
        kept = [seed for seed in dict.fromkeys(self.seeds()) if len(seed) <= LARGEST_SEED]
        kept = kept[:: max(1, len(kept) // MOST_SEEDS)] or [b""]
        return kept + read_inputs(CORPUS / f"{self.name}.txt") + self.regressions()

    def regressions(self) -> list[bytes]:
        """Return the inputs that once failed."""
        return read_inputs(REGRESSIONS / f"{self.name}.txt")


def read_inputs(path: Path) -> list[bytes]:
    """Return the inputs in a file: one line of hexadecimal each, optionally followed by a comment."""
    if not path.exists():
        return []
    lines = (line.partition("#")[0].strip() for line in path.read_text(encoding="utf-8").splitlines())
    return [bytes.fromhex(line.removeprefix("empty")) for line in lines if line]


@functools.cache
def vectors() -> list[tuple[str, dict[str, Any]]]:
    """Return the operation and arguments of every vector."""
    found = []
    for path in sorted((ROOT / "vectors").glob("*/*.json")):
        if not path.name.endswith(".schema.json"):
            content = json.loads(path.read_bytes())
            found += [(content["operation"], row["args"]) for row in content["vectors"]]
    return found


def argument_values(operation: str, member: str) -> Iterator[Any]:
    """Return the values of one argument in the vectors of an operation."""
    return (args[member] for name, args in vectors() if name == operation and member in args)


def hexadecimal(*operations: str, member: str = "bytes") -> Callable[[], Iterator[bytes]]:
    """Return a source of seeds: hexadecimal bytes in vectors."""
    return lambda: (bytes.fromhex(text) for operation in operations for text in argument_values(operation, member))


def json_members(*operations: str, member: str) -> Callable[[], Iterator[bytes]]:
    """Return a source of seeds: JSON values in vectors, or their text."""

    def seeds() -> Iterator[bytes]:
        for operation in operations:
            for value in argument_values(operation, member):
                yield value.encode() if isinstance(value, str) and value[:1] == "{" else json.dumps(value).encode()

    return seeds


def files(*patterns: str, below: str = "vectors/golden") -> Callable[[], Iterator[bytes]]:
    """Return a source of seeds: golden files."""
    return lambda: (path.read_bytes() for pattern in patterns for path in sorted((ROOT / below).glob(pattern)))


@dataclass(frozen=True)
class Refusal:
    """The identity of a refusal: the requirement, if any, and the line that raised it."""

    requirement: str
    file: str
    line: int


def refusal(error: Exception, requirement: str = "") -> Refusal:
    """Return the identity of an error; check that formatting the error does not fail either."""
    str(error)
    *_, (frame, line) = traceback.walk_tb(error.__traceback__)
    return Refusal(requirement, frame.f_code.co_filename, line)


def return_refusals(read: Callable[[bytes], object]) -> Callable[[bytes], object]:
    """Wrap a reader so that it returns a `Refusal` for each `SpecError`."""
    from spec_ref.core.errors import SpecError

    def run(data: bytes) -> object:
        try:
            return read(data)
        except SpecError as error:
            return refusal(error, error.violation.requirement)

    return run


def decode_text(data: bytes) -> str:
    """Decode any bytes to text."""
    return data.decode("utf-8", "replace")


def document(read: Callable[[Any], object]) -> Callable[[bytes], object]:
    """Return a reader of JSON documents, which are parsed as the reference parses them."""
    from spec_ref.json.documents import loads

    return return_refusals(lambda data: read(loads(data)))
