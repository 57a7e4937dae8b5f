"""Which engines can read a table, and why not: a table of facts with evidence, against what the table has."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterable
from importlib import resources
from typing import Any

import attrs

from spec_ref.schemas.name_mapping import NAME_MAPPING_PROPERTY
from spec_ref.schemas.types import is_primitive, kind
from spec_ref.table_metadata import TableMetadata

_TYPES = {
    "unknown": "unknown-columns",
    "variant": "variant-columns",
    "geometry": "geometry-columns",
    "geography": "geography-columns",
    "timestamp_ns": "nanosecond-columns",
    "timestamptz_ns": "nanosecond-columns",
}


@attrs.frozen
class Fact:
    """That an engine cannot read something, or reads it wrongly."""

    engine: str
    feature: str
    outcome: str
    """``refuses``, ``fails`` or ``wrong``."""

    reason: str
    evidence: str
    versions: str
    vectors: tuple[str, ...] = ()
    """Vectors of this project that the engine does not pass because of it."""


@attrs.frozen
class Reader:
    """One engine, and what stands between it and the table."""

    engine: str
    versions: str
    obstacles: tuple[Fact, ...]

    @property
    def reads(self) -> bool:
        """Whether nothing is known that stands in the way."""
        return not self.obstacles


@functools.cache
def engines() -> dict[str, str]:
    """The engines of the table of facts, each with the version that the facts are of."""
    return {name: row["version"] for name, row in _table()["engine"].items()}


@functools.cache
def adapters() -> dict[str, str]:
    """The adapters of this project that run the engines, by engine; not all have one."""
    return {name: row["adapter"] for name, row in _table()["engine"].items() if "adapter" in row}


@functools.cache
def facts() -> tuple[Fact, ...]:
    """All facts."""
    known = engines()
    return tuple(
        Fact(
            row["engine"],
            row["feature"],
            row["outcome"],
            row["reason"],
            row["evidence"],
            known[row["engine"]],
            tuple(row.get("vectors", ())),
        )
        for row in _table()["fact"]
    )


@functools.cache
def _table() -> dict[str, Any]:
    text = resources.files("conformance.validate").joinpath("readability.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def readers(features: Iterable[str]) -> tuple[Reader, ...]:
    """For every engine that is known, what of the features of a table it cannot read."""
    present = frozenset(features)
    return tuple(
        Reader(name, version, tuple(fact for fact in facts() if fact.engine == name and fact.feature in present))
        for name, version in engines().items()
    )


def features_of(metadata: TableMetadata) -> frozenset[str]:
    """What the metadata alone shows that readers have to know."""
    found = {f"format-v{int(metadata.format_version)}"}
    for column in metadata.current_schema.columns():
        if is_primitive(column.type) or kind(column.type) in _TYPES:
            name = _TYPES.get(kind(column.type))
            if name is not None:
                found.add(name)
        if column.field is not None and column.field.initial_default is not None:
            found.add("initial-defaults")
    if NAME_MAPPING_PROPERTY in metadata.properties:
        found.add("name-mapping")
    if metadata.encryption_keys:
        found.add("encryption")
    if len(metadata.partition_specs) > 1:
        found.add("evolved-partitions")
    return frozenset(found)
