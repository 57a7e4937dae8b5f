"""Mutants, and the files in which they are stored."""

from __future__ import annotations

import ast
import json
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tools.mutants.syntax import Change, Misfit, apply_change

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
TABLE = HERE / "table.toml"
DRAWN = HERE / "drawn.toml"
SEQUENCES = HERE / "sequences.toml"
EQUIVALENT = HERE / "equivalent.toml"
SCORE = HERE / "score.toml"
LAST = ROOT / ".cache" / "mutants" / "killers.jsonl"


@dataclass(frozen=True)
class Mutant:
    """A small fault in one module."""

    id: str
    file: str
    """The path from the root of the project."""

    old: str
    """The part of the syntax tree that the mutant changes; see `tools.mutants.syntax`."""

    new: str
    breaks: str
    """The fault, in a few words."""

    codes: tuple[str, ...] = ()
    """The requirements that it breaks."""

    where: str = ""
    """The qualified name of the class or function that contains the part; empty for the module."""

    nth: str = ""
    """The number of the part, if several are equal."""

    drawn: bool = field(default=False, compare=False)

    @property
    def module(self) -> str:
        """The name of the module that it changes."""
        return self.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    def tree(self) -> ast.Module:
        """Return the syntax tree of the mutated module; raise the errors of `change`."""
        return self.change()[0]

    def line(self) -> int:
        """Return the first changed line, counted from 1; raise the errors of `change`."""
        return self.change()[1]

    def function(self) -> str | None:
        """Return the qualified name of the changed function, as code objects have it; None if there is none.

        A change in a nested function counts for the outer one. Code that runs when a function is defined, such as its
        default values, belongs to no function. The method raises the errors of `change`.
        """
        return self.change()[2]

    def change(self) -> tuple[ast.Module, int, str | None]:
        """Return the syntax tree of the mutated module, the first changed line, and the changed function.

        Raises:
            Misfit: the module does not have the part.
        """
        try:
            return apply_change(parse_module(self.file), Change(self.where, self.old, self.new, self.nth))
        except Misfit as error:
            raise Misfit(f"{self.id}: in {self.file}, {error}") from None


@cache
def parse_module(file: str) -> ast.Module:
    """Return the syntax tree of a module of the project; it is shared and must not be changed."""
    return ast.parse((ROOT / file).read_text(encoding="utf-8"))


def load(path: Path) -> list[Mutant]:
    """Return the mutants of a file; empty if there is no such file."""
    rows = tomllib.loads(path.read_text(encoding="utf-8")).get("mutant", []) if path.exists() else []
    return [Mutant(**{**row, "codes": tuple(row.get("codes", ()))}, drawn=path == DRAWN) for row in rows]


def all_mutants() -> list[Mutant]:
    """Return all mutants: those of the table, then the drawn ones."""
    return load(TABLE) + load(DRAWN)


def equivalents() -> dict[str, str]:
    """Return the reasons why mutants behave like the original, by id."""
    return tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["reasons"] if EQUIVALENT.exists() else {}


def killers() -> dict[str, str]:
    """Return the last killer of each mutant, by id."""
    kept = tomllib.loads(SCORE.read_text(encoding="utf-8"))["killed_by"] if SCORE.exists() else {}
    lines = LAST.read_text(encoding="utf-8").splitlines() if LAST.exists() else []
    return {**kept, **dict(json.loads(line) for line in lines)}


def remember(id_: str, killer: str) -> None:
    """Store the killer of a mutant, for a run that starts again."""
    LAST.parent.mkdir(parents=True, exist_ok=True)
    with LAST.open("a", encoding="utf-8") as file:
        file.write(json.dumps([id_, killer]) + "\n")


def text(value: str) -> str:
    """Format a TOML string."""
    if "\n" in value and "'''" not in value:
        return f"'''\n{value}'''"
    if "'" not in value and "\n" not in value:
        return f"'{value}'"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


FIELDS = ("id", "file", "where", "nth", "old", "new", "breaks")
ALWAYS = ("id", "file", "old", "new", "breaks")


def dump(mutants: Iterable[Mutant], heading: str) -> str:
    """Format mutants as the text of their file."""
    parts = [heading]
    for one in mutants:
        lines = ["[[mutant]]"]
        lines += [f"{name} = {text(getattr(one, name))}" for name in FIELDS if name in ALWAYS or getattr(one, name)]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def select_mutants(words: Sequence[str]) -> list[Mutant]:
    """Return the mutants whose id contains one of the words; all if there are no words."""
    return [one for one in all_mutants() if not words or any(word in one.id for word in words)]
