"""The tables of cases, written by hand: inputs, rules and notes. Nothing here comes from an implementation."""

from __future__ import annotations

from collections.abc import Iterator

from tools.derive import (
    metadata_awkward,
    metadata_evolution,
    metadata_golden,
    metadata_names,
    metadata_partitions,
    metadata_reads,
    metadata_retention,
    metadata_vectors,
)
from tools.derive.cases import (
    awkward_planning,
    binary,
    bounds,
    commits,
    deletion_vectors,
    encryption,
    expression_functions,
    expressions,
    geo_shapes,
    hashing,
    json_values,
    manifest_values,
    manifest_versions,
    manifests,
    planning,
    puffin,
    reading,
    required_members,
    theta,
    theta_headers,
    transforms,
    types,
    writing,
)
from tools.derive.vector import VectorFile, combine

TOPICS = {
    "changing": {
        "equality-deletes": "deletes",
        "partition-evolution": "partitions",
        "sorting": "partitions",
        "types": "schema-evolution",
        "upgrades": "row-lineage",
    },
    "deletion-vectors": {"decode-open": "decode"},
    "expressions": {
        "comparisons-refusals": "comparisons",
        "metrics-nan-bounds": "metrics",
        "predicates-refusals": "logic",
        "tests-refusals": "tests",
    },
    "manifests": {"check-older-versions": "check", "refusals-values": "refusals"},
    "puffin": {
        "read-reserved": "read",
        "theta-headers": "theta-decode",
        "theta-refusals": "theta-decode",
        "write-refusals": "write",
    },
    "reading": {"metadata-columns": "selections"},
    "schema-evolution": {"awkward-names": "structs"},
    "single-values-binary": {"encode-special": "encode-numbers"},
    "single-values-json": {
        "decode-negative-scale": "decode-decimals",
        "encode-negative-scale": "encode-decimals",
        "encode-geo-mixed": "encode-geo",
    },
    "snapshot-retention": {"awkward": "references", "defaults": "references"},
    "table-metadata": {
        "check-valid-fields": "check-valid-bases",
        "missing-by-version": "read-filled-in",
        "valid-fields": "valid-bases",
    },
    "writing": {
        "equality-deletes": "deletes",
        "nested-types": "types",
        "partition-evolution": "partitions",
        "sorting": "partitions",
        "upgrades": "row-lineage",
    },
}
"""Topics with few vectors, and the topic of the same suite and operation that they are merged into."""


def all_files() -> Iterator[VectorFile]:
    """Yield every derived vector file: one for each topic."""
    topics: dict[str, list[VectorFile]] = {}
    for part in _parts():
        suite, name = part.path.removesuffix(".json").split("/")
        topics.setdefault(f"{suite}/{TOPICS.get(suite, {}).get(name, name)}.json", []).append(part)
    for path, parts in topics.items():
        yield combine(path, parts)


def _parts() -> Iterator[VectorFile]:
    """Yield the vectors of the tables, by topic and section."""
    yield from hashing.files()
    yield from transforms.files()
    yield from binary.files()
    yield from json_values.files()
    yield from bounds.files()
    yield from types.files()
    yield from metadata_vectors.files()
    yield from metadata_reads.files()
    yield from metadata_awkward.files()
    yield from metadata_golden.files()
    yield from metadata_evolution.files()
    yield from metadata_partitions.files()
    yield from metadata_retention.files()
    yield from metadata_names.files()
    yield from expressions.files()
    yield from awkward_planning.files()
    yield from manifests.files()
    yield from puffin.files()
    yield from theta.files()
    yield from deletion_vectors.files()
    yield from reading.files()
    yield from commits.files()
    yield from planning.files()
    yield from writing.files()
    yield from expression_functions.files()
    yield from geo_shapes.files()
    yield from manifest_values.files()
    yield from manifest_versions.files()
    yield from required_members.files()
    yield from theta_headers.files()
    yield from encryption.files()
