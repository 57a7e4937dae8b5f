"""Metamorphic testing: related scripts must lead to related tables (`metamorphic_properties`)."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from attrs import frozen

from conformance.core.failures import UsageError
from conformance.core.json_text import dump_json, parse_json
from conformance.core.lazy_imports import lazy_imports
from conformance.properties.errors import Broken, NotSupported
from conformance.properties.harness import VIOLATED, Harness
from conformance.properties.metamorphic_properties import PROPERTIES, Property
from conformance.properties.script_maker import REFUSED, SMALL
from conformance.properties.script_shrinking import smaller_scripts
from conformance.properties.scripts import Maker, is_valid_script
from conformance.properties.searching import add_operations, drawn_maker, search
from conformance.runner.adapter_interface import Adapter
from conformance.scripts import ScriptError, parse_script
from conformance.scripts.model import run_model
from spec_ref.core.json_types import Json

with lazy_imports():
    from hypothesis import strategies as st


_FORMER = "law"
"""The former name of ``property`` in files of counterexamples, which are read for one more release."""


@frozen
class ScriptCounterexample:
    """A script for which a property does not hold."""

    prop: Property
    seed: int
    script: Json
    reason: str
    file: Path
    """The file with the property and the script, for a replay; the tables are beside it."""

    def lines(self, adapter: str) -> Iterator[str]:
        """Yield a description for people."""
        yield f"{adapter}: {self.prop.name}: {self.prop.text}"
        yield f"    does not hold: {self.reason}"
        for operation in self.script["operations"]:
            yield f"    {dump_json(operation)}"
        yield f"    saved        {self.file}"


@frozen
class MetamorphicResults:
    """The results of a run."""

    passed: int
    unsupported: int
    counterexamples: tuple[ScriptCounterexample, ...]


def add_property_operations(prop: Property, maker: Maker) -> bool:
    """Add the operations of a property to a script, and return whether it applies to the table."""
    return any(prop.end(maker) for _ in range(4)) and prop.fits(maker.operations)


def property_scripts(prop: Property, exclude: frozenset[str]) -> Any:
    """Return the strategy of the scripts of a property; it draws None if the property does not apply to the table."""

    @st.composite
    def drawn(draw: Callable[[Any], Any]) -> Json | None:
        maker = drawn_maker(draw, exclude | prop.exclude | {REFUSED}, SMALL)
        add_operations(draw, maker, SMALL.operations - 2)
        return maker.script if add_property_operations(prop, maker) else None

    return drawn()


def check(
    writer: Adapter,
    reader: Adapter,
    properties: Sequence[Property],
    seed: int,
    examples: int,
    exclude: frozenset[str] = frozenset(),
    *,
    keep: Path | None = None,
    max_failures: int = 1,
    progress: Callable[[str, int, int], None] = lambda _name, _done, _all: None,
) -> MetamorphicResults:
    """Check an implementation against metamorphic properties.

    Args:
        writer: a started adapter that writes.
        reader: a started adapter that reads.
        properties: the properties.
        seed: the seed of the scripts of each property.
        examples: how many scripts for each property.
        exclude: what scripts leave out, of `conformance.properties.scripts.EXCLUDABLE`.
        keep: the folder for counterexamples; None for a new temporary folder.
        max_failures: the maximum number of counterexamples for each property.
        progress: called with the property, the number of scripts that are done, and the total.

    Raises:
        UsageError: Hypothesis is not installed.
    """
    held = unsupported = 0
    found: list[ScriptCounterexample] = []
    for prop in properties:
        if exclude | prop.exclude >= {"v1", "v2", "v3"}:
            continue

        def attempt(script: Json | None, prop: Property = prop) -> None:
            nonlocal held, unsupported
            if script is None:
                return
            reason = try_property(prop, script, writer, reader)
            if reason:
                raise Broken(VIOLATED, reason)
            unsupported += reason is None
            held += reason == ""

        failures = search(
            partial(property_scripts, prop, exclude),
            attempt,
            seed=seed,
            examples=examples,
            max_failures=max_failures,
            smaller=partial(smaller_scripts, exclude=exclude, sensible=partial(_fits, prop)),
            progress=partial(_report_progress, progress, prop.name, examples),
        )
        found += [
            _keep_counterexample(prop, one.seed, one.example, one.reason, keep, writer, reader) for one in failures
        ]
    return MetamorphicResults(held, unsupported, tuple(found))


def _fits(prop: Property, script: Json) -> bool:
    return prop.fits(script["operations"]) and is_valid_script(script)


def _report_progress(progress: Callable[[str, int, int], None], name: str, examples: int, done: int) -> None:
    progress(name, done, examples)


def replay_script(file: Path, writer: Adapter, reader: Adapter) -> tuple[Property, Json, str | None]:
    """Test the property and script of a file; return both, and the result of `try_property`.

    Raises:
        UsageError: the file does not have a property and a script.
    """
    try:
        content = parse_json(file.read_bytes())
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{file}: not a counterexample: {error}") from None
    name = content.get("property", content.get(_FORMER)) if isinstance(content, dict) else None
    if not isinstance(name, str) or name not in PROPERTIES or "script" not in content:
        raise UsageError(f"{file}: not a counterexample: expected an object with /property and /script")
    prop, script = PROPERTIES[name], content["script"]
    try:
        parse_script(script)
        run_model(script)
    except ScriptError as error:
        raise UsageError(f"{file}: invalid script: {error}") from None
    if not prop.fits(script["operations"]):
        raise UsageError(f"{file}: the script does not end with operations of {prop.name}")
    return prop, script, try_property(prop, script, writer, reader)


def try_property(
    prop: Property, script: Json, writer: Adapter, reader: Adapter, place: Path | None = None
) -> str | None:
    """Return how a property fails for a script; empty if it holds, None if it cannot be tested."""
    folder = place or Path(tempfile.mkdtemp(prefix="iceberg-property-"))
    try:
        prop.judge(Harness(writer, reader, folder), script["operations"])
    except Broken as broken:
        return str(broken) or prop.text
    except NotSupported:
        return None
    finally:
        if place is None:
            shutil.rmtree(folder, ignore_errors=True)
    return ""


def _keep_counterexample(
    prop: Property, seed: int, script: Json, reason: str, keep: Path | None, writer: Adapter, reader: Adapter
) -> ScriptCounterexample:
    folder = Path(tempfile.mkdtemp(prefix="iceberg-counterexample-", dir=keep))
    file = folder / "counterexample.json"
    file.write_text(json.dumps({"property": prop.name, "script": script}, indent=1) + "\n", encoding="utf-8")
    try_property(prop, script, writer, reader, folder)
    return ScriptCounterexample(prop, seed, script, reason, file)
