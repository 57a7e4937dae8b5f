"""Faults of composition, which scenarios have to kill: ``python -m tools.mutants.sequences [WORD...]``.

Vectors and checks judge one operation, or a few; these faults are in what several operations make of one table. Each
mutant of `sequences.toml` is in the reference or in its writer (`conformance.table_io.writing`), and is killed by a
script whose table does not match the model of it then. Random scripts are tried until one kills; it is made as small as
it gets and kept in `sequences_killers.json`, where the next run begins.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from conformance.core.json_types import Json
from conformance.properties.script_shrinking import smaller_or_refused
from conformance.properties.shrinking import smallest
from tools.apart import BROKEN, DONE, HANGS, apart
from tools.mutants.killing import in_place_of
from tools.mutants.mutant import HERE, SEQUENCES, Mutant, load

KILLERS = HERE / "sequences_killers.json"
SEEDS = 300
"""The most random scripts that one mutant has to survive."""

OPERATIONS = 10
SMALLER_TRIES = 80
"""Smaller scripts that are tried of one that kills."""

TIMEOUT = 1200
"""Seconds of processor time for all scripts of a mutant."""


def mutants() -> list[Mutant]:
    """Return all of them."""
    return load(SEQUENCES)


def killers() -> dict[str, Json]:
    """Return the script that killed each mutant, by its id."""
    found: dict[str, Json] = json.loads(KILLERS.read_text(encoding="utf-8")) if KILLERS.exists() else {}
    return found


def keep(known: dict[str, Json]) -> None:
    """Write the killers, a line for each."""
    lines = ",\n".join(f"{json.dumps(id_)}: {json.dumps(script)}" for id_, script in sorted(known.items()))
    KILLERS.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


def how_it_breaks(script: Json) -> str | None:
    """Return the kind of what is wrong with the table of a script; None where nothing is."""
    from conformance.properties.errors import Broken
    from conformance.properties.scenarios import follow_reference

    folder = Path(tempfile.mkdtemp(prefix="iceberg-sequence-"))
    try:
        follow_reference(script, folder / "table")
    except Broken as broken:
        return broken.kind
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return None


def is_right(script: Json) -> bool:
    """Whether the table of a script is right without a mutant: only then the script says something of one."""
    return apart(partial(_first_broken, [script]), TIMEOUT) == (DONE, None)


def kills(mutant: Mutant, script: Json) -> bool:
    """Whether a script kills a mutant, which runs in a separate process."""
    status, found = apart(partial(_first_broken, [script], mutant), TIMEOUT)
    return (status == HANGS or (status == DONE and found is not None)) and is_right(script)


def search(mutant: Mutant, seeds: Iterable[int] = range(SEEDS)) -> Json:
    """Return the script that kills a mutant, as small as it gets; None where none of some seeds does.

    Raises:
        ValueError: the mutant cannot be imported, or takes too long without an end.
    """
    left = list(seeds)
    while left:
        status, found = apart(partial(_first_of_seeds, left, mutant), TIMEOUT)
        if status != DONE:
            raise ValueError(found.strip().splitlines()[-1] if status == BROKEN else "it takes too long")
        if found is None:
            return None
        seed, candidates = found
        chosen = next((one for one in reversed(candidates) if is_right(one)), None)
        if chosen is not None:
            return chosen
        left = left[left.index(seed) + 1 :]
    return None


def _begin(mutant: Mutant | None) -> None:
    os.fsync = lambda fd: None
    if mutant is not None:
        in_place_of(mutant)
        importlib.import_module(mutant.module)


def _first_broken(scripts: list[Json], mutant: Mutant | None = None) -> Json:
    """Return the first script whose table is wrong, with a mutant or without."""
    _begin(mutant)
    return next((script for script in scripts if how_it_breaks(script)), None)


def _first_of_seeds(seeds: list[int], mutant: Mutant) -> tuple[int, list[Json]] | None:
    """Return the first seed whose table is wrong with a mutant: its script, and smaller ones that are wrong alike."""
    from conformance.properties.script_maker import Size
    from conformance.properties.scripts import make_script

    _begin(mutant)
    for seed in seeds:
        script = make_script(seed, size=Size(operations=OPERATIONS), refused=True)
        kind = how_it_breaks(script)
        if kind is not None:
            return seed, [script, *_smaller(script, kind)]
    return None


def _smaller(script: Json, kind: str) -> list[Json]:
    """Ever smaller scripts that break in the same way."""
    found: list[Json] = []

    def fails(candidate: Json) -> bool:
        if how_it_breaks(candidate) != kind:
            return False
        found.append(candidate)
        return True

    smallest(script, fails, smaller_or_refused, SMALLER_TRIES)
    return found


def main(words: list[str]) -> int:
    """Fight the mutants whose id has one of the words in it; 1 where one survives."""
    from conformance.properties import scenarios  # noqa: F401  the processes of mutants have everything then

    known, lived = killers(), []
    for mutant in (one for one in mutants() if not words or any(word in one.id for word in words)):
        began = time.monotonic()
        result = "killed"
        if mutant.id not in known or not kills(mutant, known[mutant.id]):
            known.pop(mutant.id, None)
            try:
                script = search(mutant)
                result = "survived" if script is None else "killed by a new script"
            except ValueError as error:
                script, result = None, f"stillborn: {error}"
            if script is None:
                lived.append(mutant.id)
            else:
                known[mutant.id] = script
                keep(known)
        print(f"{mutant.id}: {result} ({time.monotonic() - began:.1f} s)", flush=True)
    print(f"{len(lived)} survived: {', '.join(lived)}" if lived else "all were killed")
    return int(bool(lived))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
