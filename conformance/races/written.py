"""Run the validator's checks on what a commit wrote: metadata, manifest lists, manifests, and changes.

The checks run on the objects that writers wrote. If files are also encoded, the checks of bytes run on each
file as it would be on disk.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from conformance.races.observed import ObservedSnapshot
from conformance.validator.context import Context, Level, ListTask
from conformance.validator.diff import forbidden_changes
from conformance.validator.manifest_lists import SnapshotManifests, listing_mismatches, snapshot_findings
from spec_ref.checks import to_finding
from spec_ref.checks.findings import Finding, Severity
from spec_ref.commits.payloads import ManifestListPayload, ManifestPayload, encode
from spec_ref.core.errors import SpecError, Violation
from spec_ref.core.records import evolve
from spec_ref.manifest_lists.checks import check_manifest_list, manifest_list_problems
from spec_ref.manifest_lists.manifest_file import ManifestFile
from spec_ref.manifests.checks import check_manifest
from spec_ref.manifests.entry_problems import entry_problems
from spec_ref.manifests.inheritance import inherit
from spec_ref.manifests.manifest import ManifestHeader
from spec_ref.manifests.manifest_file_checks import ManifestTotals, manifest_file_findings
from spec_ref.manifests.rules import EntryContext
from spec_ref.snapshots.snapshot import Snapshot
from spec_ref.table_metadata.checks import check_metadata, error_violations
from spec_ref.table_metadata.metadata import TableMetadata


@attrs.frozen
class _Written:
    """A manifest as a writer wrote it, for the check against its list."""

    header: ManifestHeader
    format_version: Any


class WrittenChecks:
    """Checks what commits write, each thing once.

    Args:
        base: the initial table; its problems are not attributed to commits.
        encoded: whether files are also encoded, and checked from their bytes.
    """

    def __init__(self, base: TableMetadata | None, *, encoded: bool = False) -> None:
        self.encoded = encoded
        self._known: dict[Any, tuple[Any, tuple[str, ...]]] = {}
        self._allowed = frozenset[Violation]() if base is None else frozenset(error_violations(base))

    def problems(
        self,
        before: TableMetadata,
        after: TableMetadata,
        locations: tuple[str, str],
        files: Mapping[str, Any],
        new: Iterable[tuple[Snapshot, ObservedSnapshot, ObservedSnapshot | None]],
    ) -> Iterator[str]:
        """Yield the problems in what a commit wrote.

        Args:
            before: the table before.
            after: the table after.
            locations: the metadata files of both.
            files: the contents of files by path.
            new: the snapshots that the commit added, with their contents and those of their parents.
        """
        yield from (_text(one) for one in error_violations(after) if one not in self._allowed)
        if before.table_uuid == after.table_uuid:
            yield from _format_errors(forbidden_changes(before, after, *locations))
        if self.encoded:
            found = check_metadata(encode(after, locations[1]), file=locations[1])
            yield from _format_errors(
                one for one in found if attrs.evolve(one.violation, file=None) not in self._allowed
            )
        for snapshot, holds, parent in new:
            yield from self._snapshot(after, snapshot, holds, parent, files)

    def _snapshot(
        self,
        table: TableMetadata,
        snapshot: Snapshot,
        holds: ObservedSnapshot,
        parent: ObservedSnapshot | None,
        files: Mapping[str, Any],
    ) -> Iterator[str]:
        context = Context(table, "", Level.MANIFESTS)
        location = snapshot.manifest_list or ""
        manifests = tuple(manifest for manifest, _ in holds.manifests)
        list_content = files.get(location)
        if isinstance(list_content, ManifestListPayload):
            version = list_content.format_version
            yield from (
                _text(one, location)
                for one in manifest_list_problems(manifests, version, context.specs, snapshot.first_row_id)
            )
            yield from _format_errors(snapshot_findings(manifests, snapshot, location, version))
            if self.encoded:
                data = encode(list_content, location)
                yield from _format_errors(
                    check_manifest_list(
                        data, version, specs=context.specs, first_row_id=snapshot.first_row_id, file=location
                    )
                )
        if parent is not None:
            yield from _listed_alike(context, snapshot, manifests, parent)
        known = frozenset(one.manifest_path for one, _ in parent.manifests) if parent is not None else frozenset[str]()
        for manifest, contents in holds.manifests:
            if manifest.manifest_path not in known:
                yield from self._manifest(context, manifest, contents)

    def _manifest(self, context: Context, manifest: ManifestFile, contents: ManifestPayload) -> tuple[str, ...]:
        key = (id(contents), manifest, context.metadata.current_schema_id, len(context.specs))
        found = self._known.get(key)
        if found is None:
            problems = tuple(_format_errors(_manifest_findings(context, manifest, contents)))
            if self.encoded:
                problems += tuple(_encoded_manifest(context, manifest, contents))
            found = self._known[key] = contents, problems
        return found[1]


def _listed_alike(
    context: Context, snapshot: Snapshot, manifests: tuple[ManifestFile, ...], parent: ObservedSnapshot
) -> Iterator[str]:
    """Yield differences between a manifest's entries in the new list and in the previous one."""
    before = evolve(snapshot, snapshot_id=-1, sequence_number=min(snapshot.sequence_number, 0), timestamp_ms=0)
    tasks = (ListTask(before), ListTask(snapshot))
    old = tuple(one for one, _ in parent.manifests)
    lists = [
        SnapshotManifests(task.snapshot.snapshot_id, (), tuple((one.manifest_path, one) for one in listed))
        for task, listed in zip(tasks, (old, manifests), strict=True)
    ]
    return _format_errors(listing_mismatches(context, tasks, lists))


def _manifest_findings(context: Context, manifest: ManifestFile, contents: ManifestPayload) -> Iterator[Finding]:
    version, name = contents.format_version, manifest.manifest_path
    entry_context = EntryContext(version, contents.content)
    totals = ManifestTotals.for_partition(context.partition_type(contents.spec))
    inherited = list(inherit(contents.entries, manifest, version))
    for number, (entry, whole) in enumerate(zip(contents.entries, inherited, strict=True)):
        totals.add(whole, manifest.sequence_number)
        for problem in entry_problems(entry, entry_context, context.types):
            yield to_finding(attrs.evolve(problem, file=name, path=f"/{number}{problem.path}"))
    header = ManifestHeader(
        properties={}, format_version=version, content=contents.content, spec_id=contents.spec.spec_id
    )
    written: Any = _Written(header, version)
    for one in manifest_file_findings(manifest, written, manifest.manifest_length, totals):
        yield Finding(attrs.evolve(one.violation, file=name), one.severity)


def _encoded_manifest(context: Context, manifest: ManifestFile, contents: ManifestPayload) -> Iterator[str]:
    """Yield the problems in the bytes of a manifest, or why it cannot be encoded."""
    if contents.schema is None:
        return
    try:
        data = encode(contents, manifest.manifest_path)
    except SpecError as error:
        yield f"{error.violation.requirement} {manifest.manifest_path}: cannot be written: {error}"
        return
    listed = evolve(manifest, manifest_length=len(data))
    yield from _format_errors(check_manifest(data, manifest_file=listed, specs=context.specs))


def _format_errors(findings: Iterable[Finding]) -> Iterator[str]:
    """Format the errors."""
    for one in findings:
        if one.severity is Severity.ERROR:
            yield _text(one.violation, one.violation.file or "")


def _text(problem: Violation, file: str = "") -> str:
    """Format a violation in one line."""
    found = f"found {problem.found}, expected {problem.expected}"
    return f"{problem.requirement} {file}{problem.path}: {problem.message} ({found})"
