"""Which engines cannot read a table, and why: known obstacles of engines, looked up by the features of the table.

``readability.toml`` in the folder of an engine lists the features that it cannot read. A feature that is not listed is
not known to be an obstacle::

    [engine.clickhouse]                # what reports call it
    version = "26.9 (chDB 4.4.0)"
    adapter = "chdb"                   # optional: the adapter whose answers tests compare with the facts

    [[fact]]
    engine = "clickhouse"
    feature = "initial-defaults"       # as the validator names it
    outcome = "wrong"                  # refuses (says so), fails (an error that does not say so), or wrong (reads other
                                       # rows or values than there are)
    reason = "what it does"
    evidence = "where that was seen"   # "read matrix": 24 small tables written by Iceberg-Java 1.10.2, each read by the
                                       # engine in the version named, and the rows and the sum of a column compared
    vectors = ["..."]                  # optional: vectors about golden tables with the feature that it does not pass
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import attrs
import rtoml

from conformance.core.failures import UsageError
from conformance.core.lazy_imports import lazy_imports
from spec_ref.data_types.types import is_primitive, kind
from spec_ref.schemas.name_mapping import NAME_MAPPING_PROPERTY
from spec_ref.table_metadata import TableMetadata

with lazy_imports():
    from conformance.engine_setup import folders

OUTCOMES = ("refuses", "fails", "wrong")

_TYPES = {
    "unknown": "unknown-columns",
    "variant": "variant-columns",
    "geometry": "geometry-columns",
    "geography": "geography-columns",
    "timestamp_ns": "nanosecond-columns",
    "timestamptz_ns": "nanosecond-columns",
}


@attrs.frozen
class Obstacle:
    """A feature that an engine cannot read, or reads wrongly."""

    engine: str
    feature: str
    outcome: str
    """``refuses``, ``fails`` or ``wrong``."""

    reason: str
    evidence: str
    versions: str
    vectors: tuple[str, ...] = ()
    """Vectors of this project that the engine fails because of the feature."""


@attrs.frozen
class EngineReadability:
    """One engine, and the obstacles that keep it from reading the table."""

    engine: str
    versions: str
    obstacles: tuple[Obstacle, ...]

    @property
    def reads(self) -> bool:
        """Whether no known obstacle keeps the engine from reading the table."""
        return not self.obstacles


@functools.cache
def engines() -> dict[str, str]:
    """Return the engines that were examined, with the version of each."""
    return {name: row["version"] for content in _files() for name, row in content["engine"].items()}


@functools.cache
def adapters() -> dict[str, str]:
    """Return the adapter of each engine that has one."""
    return {name: row["adapter"] for content in _files() for name, row in content["engine"].items() if "adapter" in row}


@functools.cache
def obstacles() -> tuple[Obstacle, ...]:
    """Return all known obstacles."""
    known = engines()
    return tuple(
        Obstacle(
            row["engine"],
            row["feature"],
            row["outcome"],
            row["reason"],
            row["evidence"],
            known[row["engine"]],
            tuple(row.get("vectors", ())),
        )
        for content in _files()
        for row in content.get("fact", ())
    )


@functools.cache
def _files() -> tuple[dict[str, Any], ...]:
    """Read the files of all engines."""
    return tuple(_read(path) for path in folders.engine_files("readability.toml"))


_FACT = ("engine", "feature", "outcome", "reason", "evidence")


def _read(path: Path) -> dict[str, Any]:
    try:
        content = rtoml.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from None
    engines = content.get("engine")
    if not isinstance(engines, dict) or content.keys() - {"engine", "fact"}:
        raise UsageError(f"{path}: /: expected [engine.NAME] and [[fact]], found {', '.join(content) or 'nothing'}")
    for name, row in engines.items():
        if not isinstance(row, dict) or "version" not in row or row.keys() - {"version", "adapter"}:
            raise UsageError(f"{path}: /engine/{name}: expected version and optionally adapter; found {row!r}")
    for number, row in enumerate(content.get("fact", ())):
        if missing := [key for key in _FACT if not isinstance(row.get(key), str)]:
            raise UsageError(f"{path}: /fact/{number}/{missing[0]}: expected a text, found {row.get(missing[0])!r}")
        if row["engine"] not in engines:
            known = ", ".join(engines)
            raise UsageError(f"{path}: /fact/{number}/engine: expected one of {known}, found {row['engine']!r}")
        if row["outcome"] not in OUTCOMES:
            known = ", ".join(OUTCOMES)
            raise UsageError(f"{path}: /fact/{number}/outcome: expected one of {known}, found {row['outcome']!r}")
    return content


def engine_readability(features: Iterable[str]) -> tuple[EngineReadability, ...]:
    """Return the obstacles of every engine for a table with some features."""
    present = frozenset(features)
    return tuple(
        EngineReadability(
            name, version, tuple(fact for fact in obstacles() if fact.engine == name and fact.feature in present)
        )
        for name, version in engines().items()
    )


def required_features(metadata: TableMetadata) -> frozenset[str]:
    """Return the features of a table that its metadata alone shows."""
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
