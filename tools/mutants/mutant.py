"""What a mutant is, and the files they are kept in."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
TABLE = HERE / "table.toml"
DRAWN = HERE / "drawn.toml"
EQUIVALENT = HERE / "equivalent.toml"
SCORE = HERE / "score.toml"
LAST = ROOT / ".cache" / "mutants" / "killers.jsonl"


class Misfit(Exception):
    """The text of a mutant is not in its file exactly once."""


@dataclass(frozen=True)
class Mutant:
    """One small thing wrong in one module."""

    id: str
    file: str
    """The path from the root of the project."""

    old: str
    new: str
    breaks: str
    """What is wrong with it, in a few words."""

    codes: tuple[str, ...] = ()
    """Requirements that it breaks."""

    drawn: bool = field(default=False, compare=False)

    @property
    def module(self) -> str:
        """The name of the module that it changes."""
        return self.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    def applied(self, source: str) -> str:
        """The source with the mutation.

        Raises:
            Misfit: the old text is not there exactly once.
        """
        times = source.count(self.old)
        if times != 1:
            raise Misfit(f"{self.id}: its text is {times} times in {self.file}")
        return source.replace(self.old, self.new)

    def source(self) -> str:
        """The mutated source of the module; see `applied`."""
        return self.applied((ROOT / self.file).read_text(encoding="utf-8"))

    def line(self) -> int:
        """The first line that differs, counted from 1."""
        before = (ROOT / self.file).read_text(encoding="utf-8").splitlines()
        pairs = zip(before, [*self.source().splitlines(), *before], strict=False)
        return next(number for number, (one, other) in enumerate(pairs, 1) if one != other)


def load(path: Path) -> list[Mutant]:
    """The mutants of a file; none where there is no such file."""
    rows = tomllib.loads(path.read_text(encoding="utf-8")).get("mutant", []) if path.exists() else []
    return [Mutant(**{**row, "codes": tuple(row.get("codes", ()))}, drawn=path == DRAWN) for row in rows]


def everything() -> list[Mutant]:
    """All mutants: those of the table, then those that were drawn."""
    return load(TABLE) + load(DRAWN)


def equivalents() -> dict[str, str]:
    """The reason why nothing can tell a mutant from the original, by its id."""
    return tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["reasons"] if EQUIVALENT.exists() else {}


def killers() -> dict[str, str]:
    """What killed each mutant the last time, by its id."""
    kept = tomllib.loads(SCORE.read_text(encoding="utf-8"))["killed_by"] if SCORE.exists() else {}
    lines = LAST.read_text(encoding="utf-8").splitlines() if LAST.exists() else []
    return {**kept, **dict(json.loads(line) for line in lines)}


def remember(id_: str, killer: str) -> None:
    """Keep what killed a mutant for a run that is begun anew."""
    LAST.parent.mkdir(parents=True, exist_ok=True)
    with LAST.open("a", encoding="utf-8") as file:
        file.write(json.dumps([id_, killer]) + "\n")


def text(value: str) -> str:
    """A TOML string."""
    if "\n" in value and "'''" not in value:
        return f"'''\n{value}'''"
    if "'" not in value and "\n" not in value:
        return f"'{value}'"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def dump(mutants: Iterable[Mutant], heading: str) -> str:
    """Mutants in the form of the files."""
    parts = [heading]
    for one in mutants:
        lines = ["[[mutant]]"]
        lines += [f"{name} = {text(getattr(one, name))}" for name in ("id", "file", "old", "new", "breaks")]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def chosen(words: Sequence[str]) -> list[Mutant]:
    """The mutants whose id has one of the words in it; all where there are none."""
    return [one for one in everything() if not words or any(word in one.id for word in words)]
