"""Repeated validation of a growing table: the results for manifests and files are cached.

Files are immutable, so that checking one again has the same result, as long as the schemas, the partition specs and
the other metadata that the check depends on are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import attrs
import pyarrow as pa

from conformance.validator.backend import TaskCheck
from conformance.validator.check_results import Emitted, Facts, ManifestSums
from conformance.validator.context import Context, FilesTask, ManifestTask
from conformance.validator.deleted_positions import FactOrigin
from conformance.validator.local import LocalBackend
from conformance.validator.process_isolation import CrashFinding
from spec_ref.schemas.name_mapping import NAME_MAPPING_PROPERTY

MANIFEST = "manifest"
"""The column of facts with the number of a manifest in the run."""


class IncrementalLocal(LocalBackend):
    """Reads each manifest, data file and delete file of one table once; the rules over several files see all of them.

    It assumes that files do not change, which the caller has to check.
    """

    def __init__(self) -> None:
        """Make an engine for one table, with an empty cache."""
        super().__init__()
        self._metadata: tuple[Any, ...] = ()
        self._emitted: dict[Any, list[Emitted]] = {}

    def _results(
        self, context: Context, check: TaskCheck, tasks: Sequence[Any], crash_finding: CrashFinding | None
    ) -> Iterator[Iterable[Emitted]]:
        metadata = _relevant_metadata(context)
        if metadata != self._metadata:
            self._metadata, self._emitted = metadata, {}
        for task in tasks:
            key = _key(task)
            if key is None:
                yield check(context, task)
                continue
            key = (key, *(getattr(context, name) for name in _OTHER_FACTS))
            if key not in self._emitted:
                self._emitted[key] = list(check(context, task))
            number = task.number if isinstance(task, ManifestTask) else task.manifest.number
            yield [_renumber(one, number) for one in self._emitted[key]]


def _relevant_metadata(context: Context) -> tuple[Any, ...]:
    """Return the metadata that the checks of manifests and files depend on, besides their tasks."""
    metadata = context.metadata
    return (
        metadata.format_version,
        metadata.schemas,
        metadata.current_schema_id,
        metadata.partition_specs,
        metadata.sort_orders,
        metadata.properties.get(NAME_MAPPING_PROPERTY),
    )


_OTHER_FACTS = [one.name for one in attrs.fields(Context) if one.name not in ("metadata", "metadata_location")]
"""The attributes of a `Context` that decide, beside the metadata, what a check emits."""


def _key(task: Any) -> Any:
    """Return the cache key of a task; None for tasks that are not about a manifest or its files."""
    match task:
        case ManifestTask():
            return (task.location, task.manifest_file, task.checked)
        case FilesTask():
            return (task.manifest.location, task.manifest.manifest_file, task.start, task.stop)
    return None


def _renumber(emitted: Emitted, number: int) -> Emitted:
    """Return cached results for a manifest or its files, with the number of the manifest in this run."""
    match emitted:
        case ManifestSums():
            return attrs.evolve(emitted, number=number)
        case Facts(rows=rows, about=FactOrigin() as origin):
            return attrs.evolve(emitted, rows=rows, about=attrs.evolve(origin, manifest=number))
        case Facts(rows=rows) if MANIFEST in rows.schema.names:
            place = rows.schema.get_field_index(MANIFEST)
            column = pa.array([number] * len(rows), rows.schema.field(place).type)
            return attrs.evolve(emitted, rows=rows.set_column(place, rows.schema.field(place), column))
    return emitted
