"""Selecting the manifests that a scan has to read (Scan Planning; Snapshots; Manifest Lists)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import attrs

from spec_ref.core.errors import SpecError, spec_error
from spec_ref.core.versions import DELETE_FILES, NEWEST, FormatVersion
from spec_ref.encodings.avro.container import Data
from spec_ref.expressions.bound import BoundPredicate
from spec_ref.expressions.metrics_evaluation import evaluate_summaries
from spec_ref.expressions.projection import inclusive_projection
from spec_ref.manifest_lists.manifest_file import ManifestContent, ManifestFile, find_spec
from spec_ref.manifest_lists.reader import read_manifest_list
from spec_ref.manifests.manifest import Manifest
from spec_ref.manifests.reader import read_manifest
from spec_ref.partitioning.spec import PartitionSpec
from spec_ref.snapshots.snapshot import Snapshot

ReadFile: TypeAlias = Callable[[str], Data]
"""Returns the content of the file at a location; raises `FileNotFoundError` if there is none."""


def read_content(read_file: ReadFile, location: str, requirement: str, referrer: str | None = None) -> Data:
    """Read the content of a file that the table refers to.

    Args:
        read_file: reads a file by its location.
        location: the location of the file.
        requirement: the code of the field that names the file.
        referrer: the file that names it, for errors; None if that is unknown.

    Returns:
        The content.

    Raises:
        SpecError: ``requirement`` if the file does not exist.
    """
    try:
        return read_file(location)
    except FileNotFoundError:
        error = spec_error(requirement, "the file does not exist", found=location)
        raise SpecError(attrs.evolve(error.violation, file=referrer or location)) from None


def list_manifests(
    snapshot: Snapshot,
    specs: Mapping[int, PartitionSpec],
    read_file: ReadFile,
    *,
    format_version: FormatVersion = NEWEST,
) -> tuple[ManifestFile, ...]:
    """List the manifests of a snapshot, from its manifest list or, in old snapshots of v1, from the snapshot itself.

    Args:
        snapshot: the snapshot.
        specs: the partition specs of the table, by id.
        read_file: reads a file by its location.
        format_version: the format version of the table.

    Returns:
        The manifests in order.

    Raises:
        SpecError: SNP005 if there is neither a manifest list nor a list of manifests, or the manifest list does not
            exist; SNP006 if a manifest that the snapshot names does not exist; MAN008 if a manifest of v1 does not
            state which of several specs it has; the codes of `read_manifest_list` and `read_manifest`.
    """
    if snapshot.manifest_list is not None:
        content = read_content(read_file, snapshot.manifest_list, "SNP005")
        return read_manifest_list(content, format_version=format_version, file=snapshot.manifest_list)
    if snapshot.manifests is None:
        raise spec_error("SNP005", "the snapshot has no manifest list", found=snapshot.snapshot_id)
    return tuple(_manifest_without_list(path, snapshot, specs, read_file) for path in snapshot.manifests)


def _manifest_without_list(
    path: str, snapshot: Snapshot, specs: Mapping[int, PartitionSpec], read_file: ReadFile
) -> ManifestFile:
    """Build the entry for a manifest that is in no manifest list; its spec is that of its header."""
    content = read_content(read_file, path, "SNP006")
    header = read_manifest(content, specs=specs, file=path).header
    spec_id = header.spec_id
    if spec_id is None:
        if len(specs) != 1:
            error = spec_error("MAN008", "partition-spec-id is missing from the header")
            raise SpecError(attrs.evolve(error.violation, file=path))
        spec_id = next(iter(specs))
    return ManifestFile(
        manifest_path=path,
        manifest_length=len(content),
        partition_spec_id=spec_id,
        added_snapshot_id=snapshot.snapshot_id,
    )


class ManifestSelection:
    """Selects the manifests that may have files for a filter."""

    def __init__(
        self,
        predicate: BoundPredicate,
        specs: Mapping[int, PartitionSpec],
        format_version: FormatVersion,
        *,
        tolerate_truncated_times: bool = False,
    ) -> None:
        """Prepare the selection.

        Args:
            predicate: the filter, bound to the schema of the rows.
            specs: the partition specs of the table, by id.
            format_version: the version of the table.
            tolerate_truncated_times: see `spec_ref.expressions.projection.Projection`.
        """
        self._predicate = predicate
        self._specs = specs
        self._version = format_version
        self._tolerate = tolerate_truncated_times
        self._projected: dict[int, Any] = {}

    def select(
        self, manifest_files: Iterable[ManifestFile], content: ManifestContent, file: str | None
    ) -> Iterator[ManifestFile]:
        """Select the manifests of one content that counts and summaries do not rule out (SCN002).

        Args:
            manifest_files: the manifests of a snapshot.
            content: the content to select: data or deletes.
            file: the location of the manifest list, for errors; None if there is none.

        Yields:
            The selected manifests, in order.

        Raises:
            SpecError: MLS005 if the table does not have a manifest's spec; DEL001 for delete manifests in v1; SVB001 to
                SVB008 or EVO006 if a bound in a summary is not a value of its type.
        """
        for number, manifest in enumerate(manifest_files):
            try:
                if manifest.content is content and self._might_match(manifest):
                    yield manifest
            except SpecError as error:
                problem = error.violation
                raise SpecError(
                    attrs.evolve(problem, path=f"/{number}{problem.path}", file=problem.file or file)
                ) from error.__cause__

    def _might_match(self, manifest: ManifestFile) -> bool:
        spec_id = manifest.partition_spec_id
        spec = find_spec(self._specs, spec_id, "/partition_spec_id")
        if manifest.content is ManifestContent.DELETES and not DELETE_FILES.is_supported(self._version):
            raise spec_error("DEL001", "deletes are not allowed in v1", path="/content", format_version=self._version)
        if not manifest.may_have_live_files:
            return False
        if manifest.partitions is None:
            return True
        fields = spec.fields
        if len(manifest.partitions) != len(fields):
            return True  # it is unknown which summary belongs to which field
        if spec_id not in self._projected:
            self._projected[spec_id] = inclusive_projection(
                self._predicate, spec, tolerate_truncated_times=self._tolerate
            )
        ids = [field.field_id for field in fields]
        return evaluate_summaries(self._projected[spec_id], manifest.partitions, ids).might_match


def read_manifests(
    manifest_files: Iterable[ManifestFile],
    specs: Mapping[int, PartitionSpec],
    read_file: ReadFile,
    manifest_list: str | None,
) -> Iterator[Manifest]:
    """Read manifests one after another, lazily.

    Args:
        manifest_files: the manifests to read.
        specs: the partition specs of the table, by id.
        read_file: reads a file by its location.
        manifest_list: the location of the manifest list, for errors; None if there is none.

    Yields:
        Each manifest, with its entry in the manifest list.

    Raises:
        SpecError: MLS003 if a manifest does not exist; the codes of `read_manifest`.
    """
    for manifest in manifest_files:
        content = read_content(read_file, manifest.manifest_path, "MLS003", manifest_list)
        yield read_manifest(content, manifest_file=manifest, specs=specs)
