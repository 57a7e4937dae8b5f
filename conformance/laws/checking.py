"""Holding an implementation to laws: scripts from seeds, and counterexamples made as small as they go."""

from __future__ import annotations

import json
import random
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

from conformance.adapters.asking import Adapter
from conformance.failures import UsageError
from conformance.generated_scripts import SMALL, Maker, Size
from conformance.generated_values import Chance
from conformance.laws.laboratory import Broken, Laboratory, NotSupported
from conformance.laws.lawbook import LAWS, Law
from conformance.protocol import dump_json, parse_json
from conformance.scripts import ScriptError, parse_script
from conformance.scripts.model import run_model
from conformance.smaller_scripts import smaller

Json = Any

MAX_TRIES = 300
"""Smaller scripts that are tried for one failure."""

ATTEMPTS = 5
"""Scripts that are made for one seed until one ends as the law asks."""


@frozen
class Counterexample:
    """A script with which a law does not hold."""

    law: Law
    seed: int | None
    """None where the script was given."""

    script: Json
    reason: str
    file: Path
    """The law and the script, to be replayed; the tables are beside it."""

    def lines(self, adapter: str) -> Iterator[str]:
        """What a person has to know about it."""
        yield f"{adapter}: {self.law.name}: {self.law.text}"
        yield f"    it does not hold: {self.reason}"
        for operation in self.script["operations"]:
            yield f"    {dump_json(operation)}"
        yield f"    kept         {self.file}"


@frozen
class Findings:
    """What a run came to."""

    held: int
    unsupported: int
    counterexamples: tuple[Counterexample, ...]


def make_lawful(law: Law, seed: int, avoid: frozenset[str] = frozenset(), size: Size = SMALL) -> Json | None:
    """The script of a law and a seed; None where the table that came out has no use for the law."""
    if avoid | law.avoid >= {"v1", "v2", "v3"}:
        return None
    made = (_attempt(law, f"{law.name} {seed} {attempt}", avoid | law.avoid, size) for attempt in range(ATTEMPTS))
    return next((script for script in made if script is not None), None)


def _attempt(law: Law, seed: str, avoid: frozenset[str], size: Size) -> Json | None:
    chance = Chance(random.Random(seed), avoid, nulls=0 if "null" in avoid else 0.2)
    maker = Maker(chance, size)
    maker.create()
    last = maker.draw.randint(1, size.operations - 2)
    for _ in range(2 * size.operations):
        if len(maker.operations) <= last:
            maker.add(maker.pick())
    fits = any(law.end(maker) for _ in range(4)) and law.fits(maker.operations)
    return maker.script if fits else None


def check(
    writer: Adapter,
    reader: Adapter,
    laws: Sequence[Law],
    seed: int,
    examples: int,
    avoid: frozenset[str] = frozenset(),
    *,
    keep: Path | None = None,
    most: int = 1,
    progress: Callable[[str, int, int], None] = lambda _law, _done, _all: None,
) -> Findings:
    """Hold an implementation to laws.

    Args:
        writer: an adapter that was started and writes.
        reader: one that reads what it wrote.
        laws: which.
        seed: the seed of the first example of each law; those of the others follow it.
        examples: how many scripts for each law.
        avoid: what scripts leave out, of `conformance.generated_scripts.AVOIDABLE`.
        keep: where counterexamples are kept; a new temporary folder where None.
        most: the most counterexamples for each law.
        progress: is told how many of a law were done of all.
    """
    held = unsupported = 0
    found: list[Counterexample] = []
    for law in laws:
        broken = 0
        for done in range(examples):
            script = make_lawful(law, seed + done, avoid)
            if script is None:
                continue
            reason = tried(law, script, writer, reader)
            match reason:
                case None:
                    unsupported += 1
                case "":
                    held += 1
                case _:
                    script, reason = _shrunk(law, script, reason, avoid, writer, reader)
                    found.append(_kept(law, seed + done, script, reason, keep, writer, reader))
                    broken += 1
            progress(law.name, done + 1, examples)
            if broken >= most:
                break
    return Findings(held, unsupported, tuple(found))


def replay(file: Path, writer: Adapter, reader: Adapter) -> tuple[Law, Json, str | None]:
    """Try a law with the script of a file; the reason why it does not hold, empty where it does, None as for `tried`.

    Raises:
        UsageError: the file holds no law and script.
    """
    try:
        content = parse_json(file.read_bytes())
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{file}: not a counterexample: {error}") from None
    if not isinstance(content, dict) or content.get("law") not in LAWS or "script" not in content:
        raise UsageError(f"{file}: not a counterexample: it has to be an object of law and script")
    law, script = LAWS[content["law"]], content["script"]
    try:
        parse_script(script)
        run_model(script)
    except ScriptError as error:
        raise UsageError(f"{file}: broken script: {error}") from None
    if not law.fits(script["operations"]):
        raise UsageError(f"{file}: the script does not end as the law {law.name} asks")
    return law, script, tried(law, script, writer, reader)


def tried(law: Law, script: Json, writer: Adapter, reader: Adapter, place: Path | None = None) -> str | None:
    """Why a law does not hold for a script; empty where it does, None where it cannot be tried."""
    folder = place or Path(tempfile.mkdtemp(prefix="iceberg-law-"))
    try:
        law.judge(Laboratory(writer, reader, folder), script["operations"])
    except Broken as broken:
        return str(broken) or law.text
    except NotSupported:
        return None
    finally:
        if place is None:
            shutil.rmtree(folder, ignore_errors=True)
    return ""


def _shrunk(
    law: Law, script: Json, reason: str, avoid: frozenset[str], writer: Adapter, reader: Adapter
) -> tuple[Json, str]:
    """The smallest script with which the law fails still, by leaving out one thing at a time."""
    tries = 0
    candidates = smaller(script, avoid)
    while tries < MAX_TRIES:
        candidate = next(candidates, None)
        if candidate is None:
            break
        if not law.fits(candidate["operations"]):
            continue
        tries += 1
        why = tried(law, candidate, writer, reader)
        if why:
            script, reason = candidate, why
            candidates = smaller(script, avoid)
    return script, reason


def _kept(
    law: Law, seed: int, script: Json, reason: str, keep: Path | None, writer: Adapter, reader: Adapter
) -> Counterexample:
    folder = Path(tempfile.mkdtemp(prefix="iceberg-counterexample-", dir=keep))
    file = folder / "counterexample.json"
    file.write_text(json.dumps({"law": law.name, "script": script}, indent=1) + "\n", encoding="utf-8")
    tried(law, script, writer, reader, folder)
    return Counterexample(law, seed, script, reason, file)
