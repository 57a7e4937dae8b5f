"""The corpus of invalid metadata is complete, every document breaks one rule, and independent derivations agree."""

import importlib
import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from conformance.operations.table_metadata.comparators import field_id_places
from spec_ref.core.records import field_rules
from spec_ref.table_metadata import TableMetadata

ROOT = Path(__file__).parents[2]
VECTORS = ROOT / "vectors"
SUITES = ("table-metadata", "upgrades", "schema-evolution", "partition-evolution", "snapshot-retention", "name-mapping")


def module(name: str) -> Any:
    """A module of tools.derive."""
    return importlib.import_module(f"tools.derive.{name}")


@cache
def documents() -> list[dict[str, Any]]:
    return [json.loads(path.read_bytes()) for suite in SUITES for path in sorted((VECTORS / suite).glob("*.json"))]


@cache
def vectors() -> dict[str, dict[str, Any]]:
    return {row["id"]: row for document in documents() for row in document["vectors"]}


def of(operation: str) -> list[dict[str, Any]]:
    return [row for document in documents() if document["operation"] == operation for row in document["vectors"]]


def cases() -> list[Any]:
    return [case for _, case in module("metadata_vectors").all_cases()]


def test_every_broken_document_is_read_and_checked() -> None:
    for case in cases():
        read, check = vectors()[f"metadata-{case.id}"], vectors()[f"metadata-check-{case.id}"]
        assert read["args"]["metadata"] == check["args"]["metadata"]
        assert check["expect"] == {"ok": sorted(case.codes)}
        assert check["expect"]["ok"], case.id


def test_every_broken_document_has_a_valid_neighbour_that_is_read_and_has_no_findings() -> None:
    valid = {json.dumps(row["args"]["metadata"]) for row in of("metadata.check") if row["expect"] == {"ok": []}}
    read = {json.dumps(row["args"]["metadata"]) for row in of("metadata.read") if "ok" in row["expect"]}
    apply_edits, bases = module("metadata").apply_edits, module("metadata_bases").BASES
    for case in cases():
        neighbour = json.dumps(apply_edits(bases[case.base], case.valid_edits or {}))
        assert neighbour in valid, case.id
        assert neighbour in read, case.id


def leaves(value: Any, path: str = "") -> dict[str, Any]:
    """The scalars of a JSON value by path, and its empty collections."""
    if isinstance(value, dict) and value:
        return {key: leaf for name, item in value.items() for key, leaf in leaves(item, f"{path}/{name}").items()}
    if isinstance(value, list) and value:
        return {key: leaf for place, item in enumerate(value) for key, leaf in leaves(item, f"{path}/{place}").items()}
    return {path: value}


def test_broken_documents_differ_little_from_their_neighbours() -> None:
    apply_edits, bases = module("metadata").apply_edits, module("metadata_bases").BASES
    changes = {}
    for case in cases():
        broken = leaves(apply_edits(bases[case.base], case.edits))
        valid = leaves(apply_edits(bases[case.base], case.valid_edits or {}))
        changes[case.id] = sum(broken.get(path, ...) != valid.get(path, ...) for path in broken.keys() | valid.keys())
    # What takes more places leaves out or adds an object; 2.0 in place of 2 is none by Python's comparison.
    assert sum(count <= 1 for count in changes.values()) >= len(changes) * 2 // 3
    assert sum(count <= 4 for count in changes.values()) >= len(changes) * 17 // 20


def test_every_field_of_table_metadata_is_broken_somewhere_and_read_somewhere() -> None:
    names = {rule.name for rule in field_rules(TableMetadata).values()}
    touched = {pointer.split("/")[1] for case in cases() for pointer in case.edits}
    assert names <= touched
    asked = {name for row in of("metadata.read") if "ok" in row["expect"] for name in row["expect"]["ok"]}
    assert names - {"schema", "partition-spec"} <= asked


def test_every_version_has_broken_documents_and_valid_ones() -> None:
    versions = Counter(
        (version, "error" in row["expect"]) for row in of("metadata.read") for version in row["versions"]
    )
    assert set(versions) == {(version, refused) for version in (1, 2, 3) for refused in (True, False)}


def test_open_outcomes_name_what_leaves_them_open() -> None:
    assert [row["id"] for row in vectors().values() if "any_of" in row["expect"] and not row.get("contradiction")] == []


def test_the_grid_of_retention_is_complete() -> None:
    ids = [row["id"] for row in of("retention.expire")]
    retention = module("metadata_retention")
    for label in retention.AGES:
        for count in retention.COUNTS:
            for refs in ("main", "main-t", "main-dev", "properties"):
                assert f"retention-{refs}-{label}-{count}" in ids


DAY = 86_400_000


@given(
    st.lists(st.tuples(st.integers(0, 8), st.integers(0, 5)), min_size=1, max_size=8),
    st.integers(1, 6),
    st.integers(1, 5),
)
def test_more_is_kept_when_counts_and_ages_grow(chain: list[tuple[int, int]], count: int, age: int) -> None:
    retention = module("metadata_retention")
    ages = {key + 1: (None if key == 0 else 1 + parent % key, days * DAY) for key, (parent, days) in enumerate(chain)}
    current = len(ages)

    def kept(count: int, age: int) -> set[int]:
        properties = {retention.COUNT: count, retention.AGE: age * DAY, retention.REF_AGE: retention.NEVER}
        found, _ = retention.expire(retention.table(ages, {}, current, properties), retention.NOW)
        return set(found)

    assert current in kept(count, age)
    assert kept(count, age) <= kept(count + 1, age)
    assert kept(count, age) <= kept(count, age + 1)


def test_promotions_are_those_of_the_table_and_no_others() -> None:
    accepted = {
        (version, row["args"]["schema"]["fields"][1]["type"], row["args"]["changes"][0]["type"])
        for row in of("schema.evolve")
        if row["id"].startswith("promote-") and "ok" in row["expect"] and "partition_fields" not in row["args"]
        for version in row["versions"]
        if row["args"]["schema"]["fields"][1]["type"] != "unknown"
    }
    everywhere = {
        ("int", "long"),
        ("float", "double"),
        ("decimal(9, 2)", "decimal(10, 2)"),
        ("decimal(9, 2)", "decimal(38, 2)"),
    }
    since_v3 = {("date", "timestamp"), ("date", "timestamp_ns")}
    assert accepted == {(version, *pair) for version in (1, 2, 3) for pair in everywhere} | {
        (3, *pair) for pair in since_v3
    }


def test_new_ids_are_higher_than_any_that_was_given() -> None:
    for row in of("schema.evolve"):
        answer = row["expect"].get("ok")
        if answer is None:
            continue
        before = {holder[key] for holder, key in field_id_places(row["args"]["schema"]["fields"])}
        after = [holder[key] for holder, key in field_id_places(answer["fields"])]
        assert len(after) == len(set(after)), row["id"]
        assert all(found in before or found > row["args"]["last_column_id"] for found in after), row["id"]
        assert answer["last-column-id"] >= max([row["args"]["last_column_id"], *after])


def test_every_broken_document_names_its_valid_neighbour() -> None:
    for case in cases():
        for id_ in (f"metadata-{case.id}", f"metadata-check-{case.id}"):
            neighbour = vectors()[id_]["note"].rpartition("; valid counterpart: ")[2]
            assert "ok" in vectors()[neighbour]["expect"]
