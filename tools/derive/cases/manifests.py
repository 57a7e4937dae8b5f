"""Manifests and manifest lists, in files by operation."""

from __future__ import annotations

from collections.abc import Iterator

from tools.derive.cases import (
    awkward_lists,
    golden_manifests,
    manifest_checks,
    manifest_foreign,
    manifest_list_checks,
    manifest_list_refusals,
    manifest_lists,
    manifest_partitions,
    manifest_reads,
    manifest_refusals,
    manifest_writes,
)
from tools.derive.metadata import topic_files
from tools.derive.vector import Vector, VectorFile


def _reads() -> Iterator[Vector]:
    yield from manifest_reads.vectors()
    yield from manifest_foreign.vectors()
    yield from manifest_partitions.vectors()


def files() -> Iterator[VectorFile]:
    """Yield the vector files."""
    list_reads = (*manifest_lists.vectors(), *awkward_lists.reads())
    list_writes = (*manifest_lists.writes(), *awkward_lists.writes())
    yield from topic_files("manifests/read", "manifest.read", list(_reads()))
    yield from topic_files("manifests/refusals", "manifest.read", list(manifest_refusals.manifests()))
    yield from topic_files("manifest-lists/refusals", "manifest-list.read", list(manifest_list_refusals.lists()))
    yield from topic_files("manifest-lists/read", "manifest-list.read", list(list_reads))
    yield from topic_files("manifest-lists/write", "manifest-list.write", list(list_writes))
    yield from topic_files("manifests/check", "manifest.check", list(manifest_checks.manifests()))
    yield from topic_files("manifests/check-listed", "manifest.check", list(manifest_list_checks.against_lists()))
    yield from topic_files("manifest-lists/check", "manifest-list.check", list(manifest_list_checks.lists()))
    yield from topic_files("manifests/write", "manifest.write", list(manifest_writes.vectors()))
    yield from topic_files("manifests/read-golden", "manifest.read", list(golden_manifests.manifests()))
    yield from topic_files("manifest-lists/read-golden", "manifest-list.read", list(golden_manifests.lists()))
