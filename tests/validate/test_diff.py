"""Facts that must not vanish or change between two versions of a table."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conformance.rules import registry
from conformance.table_io.tables import metadata_location
from conformance.validator.context import Level
from conformance.validator.diff import compare_versions, forbidden_changes
from conformance.validator.local import LocalBackend
from conformance.validator.run import validate
from conformance.vectors.golden_places import PLACE
from conformance.vectors.golden_tables import materialize
from spec_ref.checks.findings import Severity
from spec_ref.core.json_types import JsonObject
from spec_ref.requirements import check_id
from spec_ref.table_metadata import read_metadata
from tools.grid.workbench import Workbench, redirect_reads

TABLE = "row-lineage-parquet"
HISTORY = "manifests-rewritten"
MANIFESTS = Level.MANIFESTS


@pytest.fixture(scope="module")
def metadata() -> JsonObject:
    materialize([TABLE])
    found: JsonObject = json.loads(Path(metadata_location(str(PLACE / TABLE))).read_text())
    return found


def found(old: JsonObject, new: JsonObject) -> set[str]:
    findings = forbidden_changes(read_metadata(copy.deepcopy(old)), read_metadata(copy.deepcopy(new)), "old", "new")
    return {finding.requirement for finding in findings if finding.severity is Severity.ERROR}


def test_a_version_against_itself_is_unchanged(metadata: JsonObject) -> None:
    assert found(metadata, metadata) == set()


def _snapshot(new: JsonObject, **changed: Any) -> None:
    last = new["snapshots"][-1]
    number = new["last-sequence-number"] + 1
    made = {
        **last,
        "snapshot-id": 5,
        "sequence-number": number,
        "parent-snapshot-id": last["snapshot-id"],
        "first-row-id": new["next-row-id"],
        "added-rows": 0,
    }
    new["last-sequence-number"] = number
    new["snapshots"].append({**made, **changed})


def _reused(new: JsonObject) -> None:
    new["schemas"].append(
        {
            **new["schemas"][0],
            "schema-id": 9,
            "fields": [
                *new["schemas"][0]["fields"][:-1],
                {"id": 2, "name": "again", "required": False, "type": "boolean"},
            ],
        }
    )


def test_a_logged_file_has_its_place_and_not_its_name(metadata: JsonObject) -> None:
    old = copy.deepcopy(metadata)
    new = {**copy.deepcopy(metadata), "last-updated-ms": metadata["last-updated-ms"] + 1}
    new["metadata-log"] = [{"timestamp-ms": 1, "metadata-file": "file:///t/v1.metadata.json"}]

    def finding_requirements(old_file: str) -> list[str]:
        made = forbidden_changes(
            read_metadata(copy.deepcopy(old)), read_metadata(copy.deepcopy(new)), old_file, "/t/v2"
        )
        return [finding.requirement for finding in made]

    assert finding_requirements("/t/v1.metadata.json") == []
    assert finding_requirements("/t/v0.metadata.json") == ["TMD018"]


def test_an_optional_column_that_became_required_is_tolerated(metadata: JsonObject) -> None:
    first, *others = metadata["schemas"][-1]["fields"]
    old = {**metadata, "schemas": [{**metadata["schemas"][-1], "fields": [{**first, "required": False}, *others]}]}
    new = copy.deepcopy(old)
    changed = {**old["schemas"][0], "schema-id": 9, "fields": [{**first, "required": True}, *others]}
    new["schemas"].append(changed)
    findings = list(forbidden_changes(read_metadata(copy.deepcopy(old)), read_metadata(new), "old", "new"))
    assert [(one.requirement, one.severity) for one in findings] == [("EVO001", Severity.TOLERATED)]
    new["schemas"][-1]["fields"][0]["required"] = False
    assert found(old, new) == set()


def _older(new: JsonObject) -> None:
    """The version that the last snapshot was committed to."""
    gone, before = new["snapshots"].pop(), new["snapshots"][-1]
    new["current-snapshot-id"] = new["refs"]["main"]["snapshot-id"] = before["snapshot-id"]
    new["snapshot-log"] = [one for one in new["snapshot-log"] if one["snapshot-id"] != gone["snapshot-id"]]
    new.update({"next-row-id": gone["first-row-id"], "last-sequence-number": before["sequence-number"]})


CASES: dict[str, tuple[str, Callable[[JsonObject], object]]] = {
    "another table": ("TMD002 changed", lambda new: new.update({"table-uuid": "00000000-0000-0000-0000-000000000001"})),
    "last column id": (
        "TMD006 decreased",
        lambda new: new.update(
            {
                "last-column-id": new["last-column-id"] - 1,
                "schemas": [{**schema, "fields": schema["fields"][:1]} for schema in new["schemas"]],
            }
        ),
    ),
    "last partition id": ("TMD013 decreased", lambda new: new.update({"last-partition-id": 5})),
    "schema of one id": ("EVO002 changed", lambda new: new["schemas"][0]["fields"][0].update(name="other")),
    "snapshot of one id": ("SNP001 changed", lambda new: new["snapshots"][0]["summary"].update(operation="replace")),
    "spec of one id": (
        "PAR011 changed",
        lambda new: (
            new.update({"last-partition-id": 1000}),
            new["partition-specs"][0].update(
                fields=[{"name": "p", "transform": "identity", "source-id": 1, "field-id": 1000}]
            ),
        ),
    ),
    "order of one id": (
        "TMD019 changed",
        lambda new: new["sort-orders"][0].update(
            fields=[{"transform": "identity", "source-id": 1, "direction": "asc", "null-order": "nulls-first"}]
        ),
    ),
    "column of another type": ("EVO001 type-changed", _reused),
    "a required column without default": (
        "EVO015 no-default",
        lambda new: new.update(
            {
                "last-column-id": 90,
                "schemas": [
                    *new["schemas"],
                    {
                        **new["schemas"][0],
                        "schema-id": 9,
                        "fields": [
                            *new["schemas"][0]["fields"],
                            {"id": 90, "name": "b", "required": True, "type": "long"},
                        ],
                    },
                ],
            }
        ),
    ),
    "another initial default": (
        "EVO014 changed",
        lambda new: new["schemas"].append(
            {
                **new["schemas"][0],
                "schema-id": 9,
                "fields": [
                    {**new["schemas"][0]["fields"][0], "initial-default": 7, "write-default": 7},
                    *new["schemas"][0]["fields"][1:],
                ],
            }
        ),
    ),
    "a required column without write-default": (
        "EVO015 no-default",
        lambda new: new.update(
            {
                "last-column-id": 90,
                "schemas": [
                    *new["schemas"],
                    {
                        **new["schemas"][0],
                        "schema-id": 9,
                        "fields": [
                            *new["schemas"][0]["fields"],
                            {"id": 90, "name": "b", "required": True, "type": "long", "initial-default": 1},
                        ],
                    },
                ],
            }
        ),
    ),
    "an old sequence number": ("SNP003 reused", lambda new: _snapshot(new, **{"sequence-number": 1})),
    "an older format": ("TMD001 decreased", lambda new: new.update({"format-version": 2})),
    "an older update": ("TMD005 decreased", lambda new: new.update({"last-updated-ms": new["last-updated-ms"] - 1})),
    "an older sequence number": ("TMD004 decreased", lambda new: _older(new)),
    "row ids that were given": ("TMD024 decreased", lambda new: _older(new)),
    "a snapshot of before": (
        "TMD015 rolled-back",
        lambda new: (new.update({"current-snapshot-id": new["snapshots"][-2]["snapshot-id"]}), new.pop("refs")),
    ),
    "a log without the version before": (
        "TMD018 old-file-missing",
        lambda new: new.update(
            {
                "last-updated-ms": new["last-updated-ms"] + 9,
                "metadata-log": [{"timestamp-ms": 1, "metadata-file": "file:///t/v1.metadata.json"}],
            }
        ),
    ),
    "row ids again": ("LIN023 reused", lambda new: _snapshot(new, **{"first-row-id": 0})),
}
"""What changed between two versions: the requirement and the aspect that are reported, and the change."""


@pytest.mark.parametrize("name", CASES)
def test_what_may_not_change_is_reported(name: str, metadata: JsonObject) -> None:
    expected, change = CASES[name]
    check = check_id(*expected.split())
    new = copy.deepcopy(metadata)
    change(new)
    made = list(forbidden_changes(read_metadata(copy.deepcopy(metadata)), read_metadata(new), "old", "new"))
    assert (check, registry()[check].severity) in {(one.check, one.severity) for one in made}


@pytest.mark.parametrize(
    ("transform", "default", "codes"),
    [("bucket[8]", 1, {"EVO008"}), ("identity", 0, {"EVO008"}), ("day", 1, set()), ("void", 1, set())],
)
def test_a_promotion_that_changes_partition_values_of_any_spec_is_reported(
    transform: str, default: int, codes: set[str], metadata: JsonObject
) -> None:
    dated = {"id": 80, "name": "d", "required": False, "type": "date"}
    first = metadata["schemas"][-1]
    old = {
        **metadata,
        "last-column-id": 80,
        "last-partition-id": 1000,
        "schemas": [{**first, "fields": [*first["fields"], dated]}],
        "current-schema-id": first["schema-id"],
    }
    part = {"name": "p", "transform": transform, "source-id": 80, "field-id": 1000}
    old |= {
        "partition-specs": [{"spec-id": 0, "fields": []}, {"spec-id": 1, "fields": [part]}],
        "default-spec-id": default,
    }
    promoted = {**first, "schema-id": 9, "fields": [*first["fields"], {**dated, "type": "timestamp"}]}
    new = {**old, "schemas": [*old["schemas"], promoted], "current-schema-id": 9}
    assert found(old, new) == codes
    assert found(new, new) == set()
    none = {name: member for name, member in old.items() if name not in ("snapshots", "refs", "snapshot-log")}
    none["current-snapshot-id"] = None
    assert found(none, {**none, "schemas": new["schemas"], "current-schema-id": 9}) == (codes if default else set())


@pytest.mark.parametrize(("default", "codes"), [("1970-01-03T00:00:00", set()), ("1970-01-04T00:00:00", {"EVO014"})])
def test_an_initial_default_is_promoted_with_its_column(default: str, codes: set[str], metadata: JsonObject) -> None:
    dated = {"id": 80, "name": "d", "required": False, "type": "date", "initial-default": "1970-01-03"}
    first = metadata["schemas"][-1]
    old = {**metadata, "last-column-id": 80, "schemas": [{**first, "fields": [*first["fields"], dated]}]}
    promoted = {**dated, "type": "timestamp", "initial-default": default}
    new = {**old, "schemas": [*old["schemas"], {**first, "schema-id": 9, "fields": [*first["fields"], promoted]}]}
    assert found(old, new) == codes


def test_a_list_element_that_became_required_is_reported(metadata: JsonObject) -> None:
    first = metadata["schemas"][-1]

    def of(required: bool, schema_id: int) -> JsonObject:
        element = {"type": "list", "element-id": 81, "element": "int", "element-required": required}
        fields = [*first["fields"], {"id": 80, "name": "l", "required": False, "type": element}]
        return {**first, "schema-id": schema_id, "fields": fields}

    old = {**metadata, "last-column-id": 81, "schemas": [of(False, first["schema-id"])]}
    made = forbidden_changes(
        read_metadata(copy.deepcopy(old)),
        read_metadata({**old, "schemas": [*old["schemas"], of(True, 9)]}),
        "old",
        "new",
    )
    assert [one.check for one in made] == ["evolution-allowed-changes-became-required"]


@pytest.mark.parametrize(("first", "codes"), [("unknown", set()), ("int", {"EVO001"})])
def test_whether_unknown_becomes_a_nested_type_is_left_open(first: str, codes: set[str], metadata: JsonObject) -> None:
    struct = {"type": "struct", "fields": [{"id": 81, "name": "a", "required": True, "type": "int"}]}
    fields = metadata["schemas"][-1]["fields"]

    def of(type_: Any, schema_id: int) -> JsonObject:
        column = {"id": 80, "name": "u", "required": False, "type": type_}
        return {**metadata["schemas"][-1], "schema-id": schema_id, "fields": [*fields, column]}

    schema_id = metadata["current-schema-id"]
    old = {**metadata, "last-column-id": 80, "schemas": [of(first, schema_id)]}
    new = {**old, "last-column-id": 81, "schemas": [*old["schemas"], of(struct, 9)], "current-schema-id": 9}
    assert found(old, new) - {"EVO015"} == codes
    assert ("EVO015" in found(old, new)) is (first == "int")  # the struct is new where nothing was stored


def _struct(*fields: JsonObject, field_id: int = 80, **defaults: Any) -> JsonObject:
    column = {
        "id": field_id,
        "name": f"s{field_id}",
        "required": False,
        "type": {"type": "struct", "fields": [*fields]},
    }
    return {**column, **{f"{name}-default": value for name, value in defaults.items()}}


def _required(**defaults: Any) -> JsonObject:
    column = {"id": 82, "name": "a", "required": True, "type": "int"}
    return {**column, **{f"{name}-default": value for name, value in defaults.items()}}


EMPTY: JsonObject = {"initial": {}, "write": {}}
ONE: JsonObject = {"initial": 1, "write": 1}


@pytest.mark.parametrize(
    ("column", "name"),
    [
        (_struct(_required(), **EMPTY), "s80.a"),
        (_struct(_required(initial=1), **EMPTY), "s80.a"),
        (_struct(_required(write=1), **EMPTY), "s80.a"),
        (_struct(_required(), write={}), "s80.a"),
        (_struct(_required(write=1), write={}), None),
        (_struct(_required(**ONE), **EMPTY), None),
        (_struct(_required()), None),
        (_struct({**_required(), "required": False}, **EMPTY), None),
        (_struct(_struct(_required(), field_id=81, **EMPTY), **EMPTY), "s80.s81.a"),
        (_struct(_struct(_required(), field_id=81), **EMPTY), None),
        (_struct(_struct(_required(), field_id=81, **EMPTY)), None),
    ],
)
def test_the_default_of_a_new_struct_gives_its_required_fields_values(
    column: JsonObject, name: str | None, metadata: JsonObject
) -> None:
    schema = {**metadata["schemas"][-1], "schema-id": 9, "fields": [*metadata["schemas"][-1]["fields"], column]}
    new = {**metadata, "last-column-id": 82, "schemas": [*metadata["schemas"], schema], "current-schema-id": 9}
    made = [*forbidden_changes(read_metadata(copy.deepcopy(metadata)), read_metadata(copy.deepcopy(new)), "old", "new")]
    assert [(one.requirement, one.violation.found) for one in made] == (
        [] if name is None else [("EVO015", repr(name))]
    )


@pytest.mark.parametrize(("required", "codes"), [(True, {"EVO019"}), (False, set())])
def test_a_column_that_comes_back_is_optional(required: bool, codes: set[str], metadata: JsonObject) -> None:
    first = metadata["schemas"][-1]
    gone = {"id": 80, "name": "g", "required": required, "type": "int"}
    older = {**first, "schema-id": 50, "fields": [*first["fields"], gone]}
    old = {**metadata, "last-column-id": 80, "schemas": [older, *metadata["schemas"]]}
    assert found(old, {**old, "current-schema-id": 50}) == codes


@pytest.mark.parametrize(
    ("name", "field_id", "codes"),
    [("p", 1000, set()), ("p", 1002, {"PAR009"}), ("q", 1002, set()), ("q", 1001, {"PAR013"})],
)
def test_ids_of_partition_fields_are_reused_or_new(
    name: str, field_id: int, codes: set[str], metadata: JsonObject
) -> None:
    part = {"name": "p", "transform": "identity", "source-id": 1, "field-id": 1000}
    old = {
        **metadata,
        "last-partition-id": 1001,
        "partition-specs": [{"spec-id": 0, "fields": []}, {"spec-id": 1, "fields": [part]}],
    }
    other = {"name": "r", "transform": "bucket[2]", "source-id": 1, "field-id": 1005}
    made = {"spec-id": 2, "fields": [{**part, "name": name, "field-id": field_id}, other]}
    new = {**old, "last-partition-id": 1005, "partition-specs": [*old["partition-specs"], made]}
    assert found(old, new) == codes


@pytest.mark.parametrize(("field_id", "codes"), [(1002, set()), (1001, {"PAR013"})])
def test_a_partition_field_whose_id_a_renamed_one_keeps_gets_a_new_id(
    field_id: int, codes: set[str], metadata: JsonObject
) -> None:
    """Reusing the id of the equivalent field (PAR009) would give one spec the same id twice (PAR025)."""
    part = {"name": "p", "transform": "identity", "source-id": 1, "field-id": 1000}
    renamed, again = {**part, "name": "q"}, {**part, "field-id": field_id}
    old = {
        **metadata,
        "last-partition-id": 1001,
        "partition-specs": [{"spec-id": 0, "fields": []}, {"spec-id": 1, "fields": [part]}],
    }
    made = {"spec-id": 2, "fields": [renamed, again]}
    new = {**old, "last-partition-id": 1002, "partition-specs": [*old["partition-specs"], made]}
    assert found(old, new) == codes


def test_a_table_that_is_replaced_may_have_new_required_columns(metadata: JsonObject) -> None:
    new = copy.deepcopy(metadata)
    new["last-column-id"] = 90
    fields = [{"id": 90, "name": "b", "required": True, "type": "long"}]
    new["schemas"].append({**new["schemas"][0], "schema-id": 9, "fields": fields})
    new["current-schema-id"], new["current-snapshot-id"] = 9, None
    new.update({"refs": {}, "snapshot-log": []})
    assert "EVO015" not in found(metadata, new)


def test_an_id_that_a_dropped_column_had_is_reported(metadata: JsonObject) -> None:
    old, new = copy.deepcopy(metadata), copy.deepcopy(metadata)
    old["last-column-id"] = new["last-column-id"] = 9
    fields = [*new["schemas"][0]["fields"], {"id": 8, "name": "b", "required": False, "type": "long"}]
    new["schemas"].append({**new["schemas"][0], "schema-id": 9, "fields": fields})
    assert found(old, new) == {"EVO009"}


def test_an_ordinary_commit_is_allowed(metadata: JsonObject) -> None:
    new = copy.deepcopy(metadata)
    _snapshot(new)
    new["current-snapshot-id"] = 5
    new["refs"]["main"]["snapshot-id"] = 5
    assert found(metadata, new) == set()


def test_a_tag_whose_snapshot_expired_is_reported(metadata: JsonObject) -> None:
    old = copy.deepcopy(metadata)
    old["refs"]["first"] = {"snapshot-id": old["snapshots"][0]["snapshot-id"], "type": "tag"}
    new = copy.deepcopy(old)
    del new["snapshots"][0]
    made = forbidden_changes(read_metadata(old), read_metadata(new), "old", "new")
    assert [one.check for one in made] == ["ref-snapshot-id-snapshot-vanished"]


def test_an_expired_snapshot_is_allowed(metadata: JsonObject) -> None:
    new = copy.deepcopy(metadata)
    del new["snapshots"][0]
    assert found(metadata, new) == set()


def test_a_parent_that_is_expired_may_be_forgotten_and_no_other(metadata: JsonObject) -> None:
    old = copy.deepcopy(metadata)
    _snapshot(old)
    old["refs"]["main"]["snapshot-id"] = old["current-snapshot-id"] = 5
    new = copy.deepcopy(old)
    del new["snapshots"][-1]["parent-snapshot-id"]
    assert found(old, new) == {"SNP001"}
    new["snapshots"] = new["snapshots"][-1:]
    new["snapshot-log"] = []
    assert "SNP001" not in found(old, new)


def test_going_back_is_reported(metadata: JsonObject) -> None:
    old = copy.deepcopy(metadata)
    _snapshot(old, **{"added-rows": 4})
    old["next-row-id"] += 4
    assert found(old, metadata) == {"TMD004", "TMD024"}


# Manifests


def _until(metadata: JsonObject, back: int) -> None:
    """Take back the last snapshots."""
    kept = metadata["snapshots"][: len(metadata["snapshots"]) - back]
    last = kept[-1]
    metadata["current-snapshot-id"] = metadata["refs"]["main"]["snapshot-id"] = last["snapshot-id"]
    metadata.update(
        snapshots=kept,
        **{
            "snapshot-log": metadata["snapshot-log"][: len(kept)],
            "last-sequence-number": last["sequence-number"],
            "next-row-id": last["first-row-id"] + last["added-rows"],
        },
    )


def found_checks(bench: Workbench, back: int = 1) -> set[str]:
    """The errors of the table as it is now, against the version of some snapshots ago."""
    for manifest in bench.manifests:
        if manifest.listed["added_snapshot_id"] != bench.snapshot["snapshot-id"]:  # the version before lists it too
            bench.replaced.setdefault(manifest.path, Path(manifest.path).read_bytes())
    moved = bench.write()
    old = copy.deepcopy(bench.metadata)
    _until(old, back)
    path = bench.folder / "old.metadata.json"
    path.write_text(json.dumps(old))
    with redirect_reads(moved):
        report = compare_versions(
            str(path), bench.metadata_path, lambda where, some: validate(where, MANIFESTS, LocalBackend(), some)
        )
    assert len(report.snapshots) == back
    return {finding.check for finding in report.findings if finding.severity is Severity.ERROR}


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    """A table whose last snapshot rewrote all manifests."""
    materialize([HISTORY])
    made = Workbench(HISTORY, tmp_path)
    _until(made.metadata, 1)
    assert made.snapshot["summary"]["operation"] == "replace"
    return made


def _existing(bench: Workbench) -> JsonObject:
    found: JsonObject = next(row for manifest in bench.manifests for row in manifest.records if row["status"] == 0)
    return found


def test_history_that_adds_up_is_allowed(bench: Workbench) -> None:
    assert found_checks(bench) == found_checks(bench, 2) == set()


def _gone(bench: Workbench) -> None:
    manifest = next(one for one in bench.manifests if any(row["status"] == 0 for row in one.records))
    gone = _existing(bench)
    manifest.records = [row for row in manifest.records if row is not gone]


def _written_anew(bench: Workbench) -> None:
    """A manifest that the version before lists too, with the same entries in other bytes."""
    shared = next(one for one in bench.manifests if one.listed["content"] == 1)
    bench.replaced[shared.path] = shared.encoded()
    assert len(shared.encoded()) != shared.listed["manifest_length"]


FILES: dict[str, tuple[str, Callable[[Workbench], object]]] = {
    "a file is gone": ("MAN017 file-vanished", _gone),
    "the snapshot of a file changed": ("MAN012 changed", lambda bench: _existing(bench).update(snapshot_id=5)),
    "a data sequence number changed": ("MAN020 changed", lambda bench: _existing(bench).update(sequence_number=1)),
    "a file sequence number changed": ("MAN021 changed", lambda bench: _existing(bench).update(file_sequence_number=3)),
    "a first row id changed": ("LIN020 changed", lambda bench: _existing(bench)["data_file"].update(first_row_id=5)),
    "a manifest has other bytes": ("FIO001 changed", _written_anew),
    "the bounds of a file changed": (
        "FIO001 changed",
        lambda bench: _existing(bench)["data_file"].update(lower_bounds=None),
    ),
    "the columns of a file have other sizes": (
        "FIO001 changed",
        lambda bench: _existing(bench)["data_file"].update(column_sizes=None),
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_what_may_not_change_in_manifests_is_reported(name: str, bench: Workbench) -> None:
    wanted, change = FILES[name]
    change(bench)
    # The snapshot only replaces files, and its rows are gone.
    lost = {check_id("SNP014", "fewer-rows")} if name == "a file is gone" else set()
    assert found_checks(bench) == {check_id(*wanted.split()), *lost}
