"""Manifests and manifest lists, in files by operation and section of the spec."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from tools.derive.cases import (
    awkward_lists,
    golden_manifests,
    manifest_checks,
    manifest_foreign,
    manifest_list_checks,
    manifest_lists,
    manifest_partitions,
    manifest_reads,
    manifest_refusals,
    manifest_writes,
)
from tools.derive.vector import Vector, VectorFile

REGISTER = Path(__file__).resolve().parents[3] / "spec_ref" / "requirements"


@cache
def _sections() -> dict[str, str]:
    """The section of each requirement."""
    rows = (row for path in REGISTER.glob("*.toml") for row in tomllib.loads(path.read_text()).get("requirement", ()))
    return {row["code"]: row["section"] for row in rows}


def _by_section(folder: str, topic: str, operation: str, vectors: Iterable[Vector]) -> Iterator[VectorFile]:
    """A file for each section, which is that of the first requirement of a vector."""
    found: dict[str, list[Vector]] = {}
    for vector in vectors:
        found.setdefault(_sections()[vector.requirements[0]], []).append(vector)
    for section, own in found.items():
        words = "-".join(re.findall("[a-z0-9]+", section.lower()))
        yield VectorFile(f"{folder}/{topic}-{words}.json", operation, section, tuple(own))


def _reads() -> Iterator[Vector]:
    yield from manifest_reads.vectors()
    yield from manifest_foreign.vectors()
    yield from manifest_partitions.vectors()


def files() -> Iterator[VectorFile]:
    """The vector files."""
    list_reads = (*manifest_lists.vectors(), *awkward_lists.reads())
    list_writes = (*manifest_lists.writes(), *awkward_lists.writes())
    yield from _by_section("manifests", "read", "manifest.read", _reads())
    yield from _by_section("manifests", "refusals", "manifest.read", manifest_refusals.manifests())
    yield from _by_section("manifest-lists", "refusals", "manifest-list.read", manifest_refusals.lists())
    yield from _by_section("manifest-lists", "read", "manifest-list.read", list_reads)
    yield from _by_section("manifest-lists", "write", "manifest-list.write", list_writes)
    yield from _by_section("manifests", "check", "manifest.check", manifest_checks.manifests())
    yield from _by_section("manifests", "check-listed", "manifest.check", manifest_list_checks.against_lists())
    yield from _by_section("manifest-lists", "check", "manifest-list.check", manifest_list_checks.lists())
    yield from _by_section("manifests", "write", "manifest.write", manifest_writes.vectors())
    yield from _by_section("manifests", "read-golden", "manifest.read", golden_manifests.manifests())
    yield from _by_section("manifest-lists", "read-golden", "manifest-list.read", golden_manifests.lists())
