"""What a planted fault is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from conformance.races.state import Fault
from spec_ref.commits.tables import MetastoreTable, TableKind

Plant = Callable[[Any], Any]
METASTORE = MetastoreTable()


@attrs.frozen(kw_only=True)
class Planted:
    """A planted fault and the race that shows it."""

    name: str
    plant: Plant
    says: str
    """What the simulator says begins with this."""

    changes: tuple[str, ...]
    version: int = 2
    fixture: str = "partitioned"
    faults: tuple[Fault, ...] = ()
    max_faults: int = 1
    table: TableKind = METASTORE
