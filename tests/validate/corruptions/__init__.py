"""The corruption kit: valid tables, each broken in one way, with the code that has to be found and no other error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

Mutate = Callable[[Any], None]


@attrs.frozen
class Corruption:
    """A way to break a table."""

    id: str
    code: str
    """The requirement that it breaks."""

    table: str
    """The golden table."""

    level: str
    """The least level that shows it."""

    mutate: Mutate
    severity: str = "error"
    also: tuple[str, ...] = ()
    """Codes that cannot but be broken with it: one cause that shows in two places."""

    snapshots: str = "current"


KIT: list[Corruption] = []


def corruption(
    code: str, name: str, table: str, level: str = "manifests", **options: Any
) -> Callable[[Mutate], Mutate]:
    """Add a corruption to the kit."""

    def add(mutate: Mutate) -> Mutate:
        KIT.append(Corruption(f"{code}-{name}", code, table, level, mutate, **options))
        return mutate

    return add


def load() -> list[Corruption]:
    """All corruptions."""
    from tests.validate.corruptions import (  # noqa: F401
        avro_columns,
        data_files,
        deletes,
        entries,
        file_parts,
        fine_points,
        lists,
        manifest_files,
        metadata,
        metadata_forms,
        metadata_parts,
        nested_bounds,
        refused_columns,
        repeated_facts,
        single_bytes,
        statistics,
        stored_forms,
        stored_otherwise,
        stored_types,
    )

    return KIT
