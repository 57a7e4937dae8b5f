"""Tables as other writers leave them: with an unknown transform, without counts, and without manifest lists."""

from __future__ import annotations

from typing import Any

import attrs

from conformance.operations.commits.fixtures import PART, PART_FIELD
from conformance.races.fixture_kit import BY_PART, partition_field
from conformance.races.state import SharedState
from spec_ref.commits.payloads import ManifestListPayload, ManifestPayload
from spec_ref.core.records import evolve
from spec_ref.partitioning.spec import PartitionSpec
from spec_ref.partitioning.transforms import parse_transform
from spec_ref.table_metadata.metadata import TableMetadata


def with_unknown_transform(shared: SharedState) -> SharedState:
    """Return the table as a later version of the spec could leave it: the first spec has an unknown transform."""
    old = PartitionSpec(0, (BY_PART,))
    new = PartitionSpec(0, (partition_field(PART, PART_FIELD, "part", parse_transform("mangle[3]")),))

    def changed(content: Any) -> Any:
        match content:
            case TableMetadata():
                specs = tuple(new if one == old else one for one in content.partition_specs)
                return evolve(content, partition_specs=specs)
            case ManifestPayload() if content.spec == old:
                return evolve(content, spec=new)
        return content

    return attrs.evolve(shared, files={path: changed(content) for path, content in shared.files.items()})


def without_counts(shared: SharedState) -> SharedState:
    """Return the table as old v1 writers left it: manifest lists without counts and partition summaries."""

    def bare(content: Any) -> Any:
        if not isinstance(content, ManifestListPayload) or content.format_version > 1:
            return content
        none = dict.fromkeys(
            (f"{kind}_{what}_count" for kind in ("added", "existing", "deleted") for what in ("files", "rows")), None
        )
        return evolve(content, files=tuple(evolve(one, **none, partitions=None) for one in content.files))

    return attrs.evolve(shared, files={path: bare(content) for path, content in shared.files.items()})


def without_manifest_lists(shared: SharedState) -> SharedState:
    """Return the table as the first v1 writers left it: snapshots list their manifests."""
    lists = {path: content.files for path, content in shared.files.items() if isinstance(content, ManifestListPayload)}

    def inline(content: Any) -> Any:
        if not isinstance(content, TableMetadata):
            return content
        made = (
            evolve(one, manifest_list=None, manifests=tuple(file.manifest_path for file in lists[one.manifest_list]))
            for one in content.snapshots
            if one.manifest_list is not None
        )
        return evolve(content, snapshots=tuple(made))

    return attrs.evolve(
        shared, files={path: inline(content) for path, content in shared.files.items() if path not in lists}
    )
