"""Reading manifests (Manifests; Manifest Entry Fields)."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from spec_ref.core.errors import SpecError
from spec_ref.encodings.avro.container import LIMITS, SCHEMA_KEY, ContainerLimits, Data, open_container
from spec_ref.manifest_lists.manifest_file import ManifestFile, find_spec
from spec_ref.manifests.manifest import REQUIREMENT, Manifest, ManifestHeader, manifest_schema, read_header
from spec_ref.partitioning.spec import PartitionSpec


def read_manifest(
    data: Data,
    *,
    manifest_file: ManifestFile | None = None,
    specs: Mapping[int, PartitionSpec] | None = None,
    file: str | None = None,
    limits: ContainerLimits = LIMITS,
) -> Manifest:
    """Open a manifest of any format version.

    Args:
        data: the content of the file.
        manifest_file: its entry in the manifest list, with its content, its partition spec and the values that entries
            inherit; if it is None, inherited values stay None.
        specs: the table's partition specs by id; None if they are not known.
        file: the file name for errors; the path in the list by default.
        limits: the limits for the sizes of the file.

    Returns:
        The opened manifest.

    Raises:
        SpecError: the code `REQUIREMENT` of the manifest module, or AVR001 to AVR014, if the file is not an Avro
            container of entries or is truncated; the code of a column that every manifest has and that is missing, or
            has another type; MAN009 for an unknown format version; MLS005 if the table does not have the partition
            spec.
    """
    name = file if file is not None or manifest_file is None else manifest_file.manifest_path
    try:
        container = open_container(data, REQUIREMENT, limits)
        shared_schema = manifest_schema(container.metadata[SCHEMA_KEY])
        header = read_header(container, shared_schema.record)
        return Manifest(container, shared_schema, header, _spec(header, manifest_file, specs), manifest_file, name)
    except SpecError as error:
        raise SpecError(attrs.evolve(error.violation, file=name)) from error.__cause__


def _spec(
    header: ManifestHeader, manifest_file: ManifestFile | None, specs: Mapping[int, PartitionSpec] | None
) -> PartitionSpec | None:
    """Find the spec that the manifest list names; the header's if there is no list, or the specs are not known."""
    spec_id = header.spec_id if manifest_file is None else manifest_file.partition_spec_id
    if specs is not None and spec_id is not None:
        return find_spec(specs, spec_id)
    try:
        return header.spec()
    except SpecError:
        return None
