"""Faults of composition, which scenarios must kill: ``python -m tools.mutants.sequences [WORD...]``.

Vectors and checks cover one operation, or a few; these faults appear only after several operations on one table. Each
mutant of `sequences.toml` changes the reference or its writer (`conformance.table_io.writing`). A script kills it if
the resulting table differs from the model. Random scripts are tried until one kills; it is shrunk and stored in
`sequences_killers.json`, with which the next run begins.
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

from conformance.properties.script_shrinking import smaller_or_refused
from conformance.properties.shrinking import find_smallest
from spec_ref.core.json_types import Json
from tools.entry_point import run_without_parser
from tools.forked_process import BROKEN, DONE, HANGS, run_forked
from tools.mutants.killing import replace_in_process
from tools.mutants.mutant import HERE, SEQUENCES, Mutant, load

KILLERS = HERE / "sequences_killers.json"
SEEDS = 300
"""The maximum number of random scripts per mutant."""

OPERATIONS = 10
SMALLER_TRIES = 80
"""The maximum number of smaller scripts that are tried to shrink a killer."""

TIMEOUT = 1200
"""The limit on processor time for all scripts of a mutant, in seconds."""


def mutants() -> list[Mutant]:
    """Return all mutants of `sequences.toml`."""
    return load(SEQUENCES)


def killers() -> dict[str, Json]:
    """Return the script that killed each mutant, by id."""
    found: dict[str, Json] = json.loads(KILLERS.read_text(encoding="utf-8")) if KILLERS.exists() else {}
    return found


def keep(known: dict[str, Json]) -> None:
    """Write the killers, one per line."""
    lines = ",\n".join(f"{json.dumps(id_)}: {json.dumps(script)}" for id_, script in sorted(known.items()))
    KILLERS.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


def find_fault(script: Json) -> str | None:
    """Return the kind of fault in the table of a script; None if there is none."""
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
    """Return whether the table of a script is right without a mutant, so that the script can judge mutants."""
    return run_forked(partial(_first_broken, [script]), TIMEOUT) == (DONE, None)


def kills(mutant: Mutant, script: Json) -> bool:
    """Return whether a script kills a mutant, which runs in a separate process."""
    status, found = run_forked(partial(_first_broken, [script], mutant), TIMEOUT)
    return (status == HANGS or (status == DONE and found is not None)) and is_right(script)


def search(mutant: Mutant, seeds: Iterable[int] = range(SEEDS)) -> Json:
    """Find a script that kills a mutant, and shrink it; return None if no script of the seeds kills it.

    Raises:
        ValueError: the mutant cannot be imported, or hangs.
    """
    left = list(seeds)
    while left:
        status, found = run_forked(partial(_first_of_seeds, left, mutant), TIMEOUT)
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
        replace_in_process(mutant)
        importlib.import_module(mutant.module)


def _first_broken(scripts: list[Json], mutant: Mutant | None = None) -> Json:
    """Return the first script whose table is wrong, with or without a mutant."""
    _begin(mutant)
    return next((script for script in scripts if find_fault(script)), None)


def _first_of_seeds(seeds: list[int], mutant: Mutant) -> tuple[int, list[Json]] | None:
    """Return the script of the first seed whose table is wrong with a mutant, and smaller ones that are, too."""
    from conformance.properties.script_maker import Size
    from conformance.properties.scripts import make_script

    _begin(mutant)
    for seed in seeds:
        script = make_script(seed, size=Size(operations=OPERATIONS), refused=True)
        kind = find_fault(script)
        if kind is not None:
            return seed, [script, *_smaller(script, kind)]
    return None


def _smaller(script: Json, kind: str) -> list[Json]:
    """Yield smaller and smaller scripts that break in the same way."""
    found: list[Json] = []

    def fails(candidate: Json) -> bool:
        if find_fault(candidate) != kind:
            return False
        found.append(candidate)
        return True

    find_smallest(script, fails, smaller_or_refused, SMALLER_TRIES)
    return found


def main(words: list[str]) -> int:
    """Run the mutants whose id contains one of the words; return 1 if one survives."""
    from conformance.properties import scenarios  # noqa: F401  imported here, so that the processes of mutants inherit it

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
    run_without_parser(main, sys.argv[1:])
