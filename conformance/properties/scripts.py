"""Random scripts for a writer, with every type, transform and operation.

A script is JSON in the language of `conformance.scripts`. While it is generated, a model follows the table, so that
filters can use values that exist, and operations that are not valid are left out. On request, scripts also have
operations that the spec forbids and a writer must refuse.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

from conformance.properties.script_maker import (
    FORMATS,
    MODES,
    PARTITION_NAMES,
    PROPERTIES,
    REFUSED,
    SMALL,
    ScriptMaker,
    Size,
)
from conformance.properties.script_operations import OPERATION_MAKERS, forbidden_operation
from conformance.properties.values import NESTED_WORDS, NEW_VALUES, OPAQUE_VALUES, VALUES, WITH_ARGUMENTS, Chance
from conformance.scripts import ScriptError, parse_script
from conformance.scripts.model import MAIN, run_model
from spec_ref.core.json_types import Json

WEIGHTS = {
    "append": 5,
    "overwrite": 2,
    "delete": 4,
    "delete-equal": 3,
    "update": 3,
    "merge": 3,
    "upsert": 2,
    "compact": 1,
    "rewrite-manifests": 1,
    "alter-schema": 4,
    "alter-spec": 2,
    "sort": 1,
    "upgrade": 1,
    "properties": 1,
    "branch": 1,
    "tag": 1,
    "fast-forward": 1,
    "rollback": 1,
    "expire": 1,
}
"""The weights of the operations, without ``create``."""

OPERATIONS = tuple(WEIGHTS)

TOGETHER = "+"
"""The separator between a type, or ``partition``, and an operation that a writer does not support on tables with it."""

_LATE = ("branch", "tag", "fast-forward", "rollback")
"""The operations that refer to an existing snapshot."""

EXCLUDABLE = frozenset(
    {
        "v1",
        "v2",
        "v3",
        "null",
        "nan",
        "zero",
        "nested",
        "required",
        "partition",
        "shared-source",
        "nested-source",
        "void",
        PARTITION_NAMES,
        "default",
        "evolve-nested",
        "identity",
        "bucket",
        "truncate",
        "year",
        "month",
        "day",
        "hour",
        "sort-transforms",
        "several-changes",
        "evolve-items",
        "remove-properties",
        "branch-writes",
        "null-keys",
        "empty-overwrite",
        REFUSED,
        *MODES,
        *FORMATS,
        *OPERATIONS,
        *VALUES,
        *NEW_VALUES,
        *OPAQUE_VALUES,
        *WITH_ARGUMENTS,
        *NESTED_WORDS,
        *PROPERTIES,
    }
) - {"long"}
"""What can be left out of scripts, so that known limitations and failures of a writer do not hide others. ``long``
cannot, as ids have that type."""


def make_script(seed: int, exclude: frozenset[str] = frozenset(), size: Size = SMALL, *, refused: bool = False) -> Json:
    """Generate the script of a seed.

    Args:
        seed: any number; the same seed always gives the same script.
        exclude: what to leave out, of `EXCLUDABLE`.
        size: the size limits.
        refused: whether to include operations that the spec forbids.
    """
    exclude = exclude if refused else exclude | {REFUSED}
    maker = Maker(Chance(random.Random(seed), exclude, nulls=0 if "null" in exclude else 0.2), size)
    maker.create()
    last = maker.draw.randint(1, size.operations)
    for _ in range(2 * size.operations):
        if len(maker.operations) <= last:
            maker.add(maker.pick())
    return maker.script


class Maker(ScriptMaker):
    """Generates a script, one valid operation after another."""

    def pick(self) -> str:
        """Draw the name of the next operation."""
        if self.allows(REFUSED) and self.table.branches and self.draw_bool(0.1):
            return REFUSED
        early = MAIN not in self.table.branches
        able = [name for name in OPERATIONS if self.allows(name) and not (early and name in _LATE)]
        unable = self.unsupported_here()
        names = [name for name in able if name not in unable] or able
        places = list(itertools.accumulate(WEIGHTS[name] for name in names))
        at = self.draw.randrange(places[-1])
        return next(name for name, place in zip(names, places, strict=True) if at < place)

    def unsupported_here(self) -> set[str]:
        """Return the operations that are left out on tables with a feature, as in ``time+delete``."""
        pairs = [pair.split(TOGETHER) for pair in self.chance.exclude if TOGETHER in pair]
        if not pairs:
            return set()
        words = {_word(kind) for column in self.columns for kind in _types_in(column["type"])}
        words |= {"partition"} if self.table.specs else set()
        return {name for word, name in pairs if word in words}

    def add(self, name: str) -> bool:
        """Add an operation of a kind if one is valid here; return whether one was added."""
        made = forbidden_operation(self) if name == REFUSED else OPERATION_MAKERS[name](self)
        if made is None:
            return False
        return self.take({"op": name, **made} if name != REFUSED else made)


def _types_in(type_: Json) -> Iterator[str]:
    """Return the primitive types inside a type."""
    if isinstance(type_, str):
        yield type_
        return
    for field_ in type_.get("fields", ()):
        yield from _types_in(field_["type"])
    for part in ("element", "key", "value"):
        if part in type_:
            yield from _types_in(type_[part])


def _word(type_: str) -> str:
    """Return the word that leaves out a type, which includes its parameters."""
    return type_ if type_ in VALUES or type_ in WITH_ARGUMENTS else type_.partition("(")[0]


def is_valid_script(script: Json) -> bool:
    """Return whether a script is well-formed and the model can follow it."""
    try:
        parse_script(script)
        run_model(script)
    except ScriptError:
        return False
    return True
