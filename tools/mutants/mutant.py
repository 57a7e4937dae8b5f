"""What a mutant is, and the files they are kept in."""

from __future__ import annotations

import ast
import json
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tools.mutants.syntax import Change, Misfit, changed

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
    """One small thing wrong in one module."""

    id: str
    file: str
    """The path from the root of the project."""

    old: str
    """The part of the syntax tree that is changed; see `tools.mutants.syntax`."""

    new: str
    breaks: str
    """What is wrong with it, in a few words."""

    codes: tuple[str, ...] = ()
    """Requirements that it breaks."""

    where: str = ""
    """The qualified name of the class or function that the part is in; empty for the module."""

    nth: str = ""
    """Which part is meant, where several are equal."""

    drawn: bool = field(default=False, compare=False)

    @property
    def module(self) -> str:
        """The name of the module that it changes."""
        return self.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    def tree(self) -> ast.Module:
        """Return the syntax tree of the module with the mutation; raises as `change` does."""
        return self.change()[0]

    def line(self) -> int:
        """Return the first line of what is changed, counted from 1; raises as `change` does."""
        return self.change()[1]

    def function(self) -> str | None:
        """Return the qualified name of the function that is changed, as code objects have it; None where none is.

        What is changed inside of a function in another counts for the outer one, and what is done when a function is
        defined, as the values of its defaults, for none. Raises as `change` does.
        """
        return self.change()[2]

    def change(self) -> tuple[ast.Module, int, str | None]:
        """Return the syntax tree of the module with the mutation, the first line of what is changed, and its function.

        Raises:
            Misfit: what it changes is not there.
        """
        try:
            return changed(parsed(self.file), Change(self.where, self.old, self.new, self.nth))
        except Misfit as error:
            raise Misfit(f"{self.id}: in {self.file}, {error}") from None


@cache
def parsed(file: str) -> ast.Module:
    """Return the syntax tree of a module of the project; it is shared and not to be changed."""
    return ast.parse((ROOT / file).read_text(encoding="utf-8"))


def load(path: Path) -> list[Mutant]:
    """Return the mutants of a file; none where there is no such file."""
    rows = tomllib.loads(path.read_text(encoding="utf-8")).get("mutant", []) if path.exists() else []
    return [Mutant(**{**row, "codes": tuple(row.get("codes", ()))}, drawn=path == DRAWN) for row in rows]


def everything() -> list[Mutant]:
    """Return all mutants: those of the table, then those that were drawn."""
    return load(TABLE) + load(DRAWN)


def equivalents() -> dict[str, str]:
    """Return the reason why a mutant behaves like the original, by its id."""
    return tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["reasons"] if EQUIVALENT.exists() else {}


def killers() -> dict[str, str]:
    """Return what killed each mutant the last time, by its id."""
    kept = tomllib.loads(SCORE.read_text(encoding="utf-8"))["killed_by"] if SCORE.exists() else {}
    lines = LAST.read_text(encoding="utf-8").splitlines() if LAST.exists() else []
    return {**kept, **dict(json.loads(line) for line in lines)}


def remember(id_: str, killer: str) -> None:
    """Keep what killed a mutant for a run that begins again."""
    LAST.parent.mkdir(parents=True, exist_ok=True)
    with LAST.open("a", encoding="utf-8") as file:
        file.write(json.dumps([id_, killer]) + "\n")


def text(value: str) -> str:
    """Return a TOML string."""
    if "\n" in value and "'''" not in value:
        return f"'''\n{value}'''"
    if "'" not in value and "\n" not in value:
        return f"'{value}'"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


FIELDS = ("id", "file", "where", "nth", "old", "new", "breaks")
ALWAYS = ("id", "file", "old", "new", "breaks")


def dump(mutants: Iterable[Mutant], heading: str) -> str:
    """Mutants in the form of the files."""
    parts = [heading]
    for one in mutants:
        lines = ["[[mutant]]"]
        lines += [f"{name} = {text(getattr(one, name))}" for name in FIELDS if name in ALWAYS or getattr(one, name)]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def chosen(words: Sequence[str]) -> list[Mutant]:
    """Return the mutants whose id has one of the words in it; all where there are none."""
    return [one for one in everything() if not words or any(word in one.id for word in words)]
