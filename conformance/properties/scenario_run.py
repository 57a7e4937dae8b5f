"""A run of scripts by one writer: which scripts were tried, what was done, and which failures are known."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from attrs import define, field

from conformance.properties.errors import Broken, NotSupported
from conformance.properties.relay_known import KnownRelay, operation_features
from conformance.properties.scenario_files import PassedScripts
from conformance.properties.scenarios import follow_reference
from conformance.properties.written_scenarios import follow_written
from conformance.runner.adapter_interface import Adapter
from spec_ref.core.json_types import Json


@define
class ScenarioRun:
    """Follows scripts, and counts them."""

    scratch: Path
    """The folder for tables; each is removed after its script."""

    writer: Adapter | None
    """The writer; None for the reference, which is followed inside this process, operation by operation."""

    reader: Adapter | None
    """The adapter that also reads the tables of the writer, if any."""

    known: tuple[KnownRelay, ...]
    """The known failures of this writer."""

    passed: PassedScripts | None
    """The scripts that passed before, which are not tried again; those that pass are added."""

    min_operations: int
    """The length above which scripts are counted in `long_enough`."""

    tried: int = 0
    long_enough: int = 0
    counts: Counter[str] = field(factory=Counter)
    """How often each outcome of an operation was seen, and ``unsupported`` scripts."""

    known_failures: Counter[str] = field(factory=Counter)
    """The number of scripts with each known failure, by its id."""

    def try_script(self, script: Json) -> None:
        """Follow a script, unless it passed before.

        Raises:
            Broken: it fails in a way that is not known.
        """
        if self.passed is None or script not in self.passed:
            self.follow(script)

    def follow(self, script: Json) -> None:
        """Follow a script.

        Raises:
            Broken: it fails in a way that is not known.
        """
        self.tried += 1
        place = self.scratch / str(self.tried)
        before = self.operations
        try:
            if self.writer is None:
                follow_reference(script, place, self.counts)
            else:
                follow_written(script, self.writer, self.reader, place, self.counts)
        except NotSupported:
            self.counts["unsupported"] += 1
        except Broken as broken:
            entry = known_failure(self.known, script, broken)
            if entry is None:
                raise
            self.known_failures[entry.id] += 1
        finally:
            shutil.rmtree(place, ignore_errors=True)
        done = self.operations - before
        self.long_enough += done > self.min_operations
        if self.passed is not None and done:
            self.passed.add(script, done)

    @property
    def operations(self) -> int:
        """How many operations were done, or refused as they must be."""
        return self.counts.total() - self.counts["unsupported"]


def known_failure(known: Iterable[KnownRelay], script: Json, broken: Broken) -> KnownRelay | None:
    """Return the first known failure that matches the failure of a script; None if none does."""
    operations = script["operations"]
    names = [operation["op"] for operation in operations]
    features = operation_features(operations)
    for entry in known:
        if entry.matches(
            broken.kind,
            names,
            str(broken),
            broken.violations,
            names,
            differences=broken.differences,
            predicate=broken.predicate,
            operation_text=json.dumps(operations),
            features=features,
        ):
            return entry
    return None
