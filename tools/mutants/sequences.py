"""Faults of composition, which scenarios have to kill: ``python -m tools.mutants.sequences [WORD...]``.

Vectors and checks judge one operation, or a few; these faults are in what several operations make of one table. Each
mutant of `sequences.toml` is in the reference or in its writer (`conformance.writing`), and is killed by the first
random script that its table does not match the model of.
"""

from __future__ import annotations

import importlib
import os
import shutil
import sys
import tempfile
import time
import tomllib
from functools import cache, partial
from pathlib import Path

from tools.apart import BROKEN, DONE, HANGS, apart
from tools.mutants.arena import in_place_of
from tools.mutants.mutant import HERE, Mutant, load

TABLE = HERE / "sequences.toml"
KILLERS = HERE / "sequences_killers.toml"
SEEDS = 300
"""The most scripts that one mutant has to survive."""

OPERATIONS = 10
TIMEOUT = 1200


def mutants() -> list[Mutant]:
    """All of them."""
    return load(TABLE)


def killers() -> dict[str, int]:
    """The seed of the script that killed each mutant, by its id."""
    if not KILLERS.exists():
        return {}
    found: dict[str, int] = tomllib.loads(KILLERS.read_text(encoding="utf-8"))["killed_by"]
    return found


def breaks(seed: int) -> bool:
    """Whether the table of the script of a seed is wrong."""
    from conformance.properties.errors import Broken
    from conformance.properties.scenarios import follow_reference
    from conformance.properties.scripts import Size, make_script

    folder = Path(tempfile.mkdtemp(prefix="iceberg-sequence-"))
    try:
        follow_reference(make_script(seed, size=Size(operations=OPERATIONS), refused=True), folder / "table")
    except Broken:
        return True
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return False


def fight(mutant: Mutant, killer: int | None = None) -> int | str | None:
    """What kills a mutant: the seed of a script, or ``hangs``; None where it survives.

    Args:
        mutant: the mutant; it runs in a process of its own.
        killer: the seed to try first.

    Raises:
        ValueError: the mutant cannot be imported.
    """
    seeds = [*([] if killer is None else [killer]), *(one for one in range(SEEDS) if one != killer)]
    while True:
        status, found = apart(partial(_first, seeds, mutant), TIMEOUT)
        if status == HANGS:
            return "hangs"
        if status == BROKEN:
            raise ValueError(found.strip().splitlines()[-1])
        if found is None or is_right(found):
            return found  # type: ignore[no-any-return]
        seeds = seeds[seeds.index(found) + 1 :]


@cache
def is_right(seed: int) -> bool:
    """Whether the table of a script is right without a mutant: only then the script says something of one."""
    status, found = apart(lambda: _first([seed]), TIMEOUT)
    return status == DONE and found is None


def _first(seeds: list[int], mutant: Mutant | None = None) -> int | None:
    """The first seed whose table is wrong, with a mutant or without."""
    os.fsync = lambda _descriptor: None
    if mutant is not None:
        in_place_of(mutant)
        importlib.import_module(mutant.module)
    return next((seed for seed in seeds if breaks(seed)), None)


def main(words: list[str]) -> int:
    """Fight the mutants whose id has one of the words in it; 1 where one survives."""
    from conformance.properties import scenarios  # noqa: F401  the processes of mutants have everything then

    known, lived = killers(), []
    for mutant in (one for one in mutants() if not words or any(word in one.id for word in words)):
        began = time.monotonic()
        try:
            found = fight(mutant, known.get(mutant.id))
        except ValueError as error:
            found, lived = f"stillborn: {error}", [*lived, mutant.id]
        if isinstance(found, int):
            known[mutant.id] = found
        elif found is None:
            lived.append(mutant.id)
        told = "survived" if found is None else f"killed by {found}"
        print(f"{mutant.id}: {told} ({time.monotonic() - began:.1f} s)", flush=True)
        text = "".join(f'"{id_}" = {seed}\n' for id_, seed in sorted(known.items()))
        KILLERS.write_text(
            f"# Written by `python -m tools.mutants.sequences`.\n\n[killed_by]\n{text}", encoding="utf-8"
        )
    print(f"{len(lived)} survived: {', '.join(lived)}" if lived else "all were killed")
    return int(bool(lived))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
