"""Scenarios: the reference passes them, planted faults are found and shrunk, and bad input is refused."""

from __future__ import annotations

import json
import shutil
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from conformance.cli import main
from conformance.operations.forms import FAST, functions
from conformance.operations.forms import PLAIN as PLAIN_FORM
from conformance.operations.writing import reference, written
from conformance.operations.writing.reference import ReferenceWriter
from conformance.operations.writing.written import WrittenTable
from conformance.properties import table_checks
from conformance.properties.errors import Broken
from conformance.properties.scenarios import follow_reference
from conformance.properties.script_maker import Size
from conformance.properties.script_shrinking import smaller_or_refused
from conformance.properties.scripts import OPERATIONS
from conformance.properties.searching import FailingExample, scripts, search
from conformance.scripts import ForbiddenOperation, UnspecifiedOperation
from conformance.scripts.model import ModelTable
from conformance.table_io.encryption import KEY_ID, KeyFile
from conformance.table_io.tables import Table, load_table
from conformance.table_io.writing import WritableTable, create_table
from conformance.validator.run import validate
from spec_ref.commits.changes import SetProperties
from spec_ref.core.errors import SpecError
from spec_ref.core.json_types import Json
from spec_ref.core.versions import V3, FormatVersion
from spec_ref.scan_planning.time_travel import TableState, table_state

ID = {"id": 1, "name": "id", "required": False, "type": "long"}
ROWS = {"op": "append", "rows": [{"id": "1"}, {"id": "2"}]}
ONE = {"type": "eq", "term": "id", "value": 1}

LARGE, SMALL = Size(operations=10), Size(columns=2, rows=2, operations=5)
SEED = 20261122
EXAMPLES = 150
EXAMPLES_ENCRYPTED = 40


@pytest.fixture(autouse=True)
def _without_a_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written need not last here, and waiting for disks is most of the time that it takes."""
    monkeypatch.setattr("os.fsync", lambda _descriptor: None)


def script(*operations: Json, version: int = 2, **more: Json) -> Json:
    create = {"op": "create", "format_version": version, "schema": {"type": "struct", "fields": [ID]}, **more}
    return {"operations": [create, *operations]}


def find(
    folder: Path, examples: int, exclude: frozenset[str], size: Size = LARGE, counts: Any = None
) -> list[FailingExample]:
    numbers = iter(range(1_000_000))

    def attempt(one: Json) -> None:
        place = folder / str(next(numbers))
        try:
            follow_reference(one, place, counts)
        finally:
            shutil.rmtree(place, ignore_errors=True)

    return search(lambda: scripts(exclude, size), attempt, seed=SEED, examples=examples, smaller=smaller_or_refused)


def test_the_reference_passes_random_scripts(tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    assert find(tmp_path, EXAMPLES, frozenset(), counts=counts) == []
    assert counts.keys() >= {"create", "refused", *OPERATIONS}


def test_the_reference_passes_random_scripts_of_tables_that_it_encrypts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = KeyFile({"master": b"0123456789012345"})
    encrypted: list[str] = []
    upgrade = ReferenceWriter.upgrade

    def create(*given: Any, version: FormatVersion, properties: dict[str, str], **more: Any) -> WritableTable:
        if version == V3:
            properties = {**properties, KEY_ID: "master"}
        return create_table(*given, version=version, properties=properties, keys=keys, **more)

    def upgrade_and_encrypt(self: ReferenceWriter, operation: Json) -> None:
        upgrade(self, operation)
        if operation["format_version"] == V3:
            self.table.commit(SetProperties({KEY_ID: "master"}, frozenset()))

    def load_with_keys(location: str) -> Table:
        table = load_table(location, key_service=keys)
        encrypted.extend(one.key_id for one in table.metadata.snapshots if one.key_id is not None)
        return table

    monkeypatch.setattr(reference, "create_table", create)
    monkeypatch.setattr(ReferenceWriter, "upgrade", upgrade_and_encrypt)
    monkeypatch.setattr(written, "load_table", load_with_keys)
    monkeypatch.setattr(table_checks, "validate", partial(validate, key_service=keys))
    assert find(tmp_path, EXAMPLES_ENCRYPTED, frozenset({"variant", "geography"})) == []
    assert encrypted


def test_rows_from_before_row_lineage_have_no_number_to_take_along(tmp_path: Path) -> None:
    delete = {"op": "delete", "filter": ONE, "mode": "copy-on-write"}
    upgrade = {"op": "upgrade", "format_version": 3}
    follow_reference(script(ROWS, upgrade, delete), tmp_path / "first")
    follow_reference(script(ROWS, upgrade, ROWS, delete), tmp_path / "later")


def test_rows_from_before_row_lineage_get_ids_on_each_branch(tmp_path: Path) -> None:
    """A branch that nothing was committed to has none; its first commit may give others than main's did."""
    branch, upgrade = {"op": "branch", "name": "b"}, {"op": "upgrade", "format_version": 3}
    follow_reference(script(ROWS, branch, upgrade, ROWS, {**ROWS, "branch": "b"}), tmp_path / "table")


def test_rows_get_new_ids_after_a_rollback_to_before_row_lineage_although_the_earlier_expired(tmp_path: Path) -> None:
    upgrade = {"op": "upgrade", "format_version": 3}
    back = {"op": "rollback", "to": 1}
    one, two, three = ({"op": "append", "rows": [{"id": str(id_)}]} for id_ in (71, 72, 73))
    follow_reference(script(one, upgrade, two, back, {"op": "expire"}, three), tmp_path / "table")


def _plant(monkeypatch: pytest.MonkeyPatch, name: str, wrong: Callable[[Any, Any, Any], Any]) -> None:
    right = getattr(ReferenceWriter, name)
    monkeypatch.setattr(ReferenceWriter, name, lambda writer, operation: wrong(right, writer, operation))


def _loses_a_row(right: Any, writer: Any, operation: Any) -> None:
    right(writer, {**operation, "rows": operation["rows"][1:]})


def _deletes_everything(right: Any, writer: Any, operation: Any) -> None:
    right(writer, {**operation, "filter": True})


def _null_equals_nothing(right: Any, writer: Any, operation: Any) -> None:
    rows = [row for row in operation["rows"] if None not in row.values()]
    if rows:
        right(writer, {**operation, "rows": rows})


def _writes_twice(right: Any, writer: Any, operation: Any) -> None:
    right(writer, operation)
    writer.append({"rows": operation["rows"], **({"branch": operation["branch"]} if "branch" in operation else {})})


def _forgets_the_name(right: Any, writer: Any, operation: Any) -> None:
    changes = [{**one, "op": "drop"} if one["op"] == "rename" else one for one in operation["changes"]]
    right(writer, {"changes": changes})


def _fails(right: Any, writer: Any, operation: Any) -> None:
    raise IndexError(operation["op"])


def _rewrites_rows_as_new(right: Any, writer: Any, operation: Any) -> None:
    """Deletes rows and adds the same again, which are other rows then."""
    del right
    branch = {"branch": operation["branch"]} if "branch" in operation else {}
    writer.overwrite({"op": "overwrite", "filter": True, "rows": [], **branch})


PLAIN = frozenset({"orc", "avro", "nested", "refused", "metrics", "branch", "tag", "fast-forward", "properties"})
"""What planted faults have nothing to do with."""

CHANGES = frozenset({"update", "merge", "overwrite", "upsert", "compact", "expire", "rollback", "alter-spec"})
BESIDE = {
    "delete_equal": CHANGES | {"alter-schema", "delete", "partition", "upgrade", "v3"},
    "alter_schema": CHANGES | {"delete", "delete-equal", "partition"},
    "compact": (CHANGES - {"compact"}) | {"alter-schema", "delete-equal", "v1", "v2"},
}
"""By fault, what else it has nothing to do with: random scripts rarely have the operations that show it."""

FAULTS: tuple[tuple[str, Callable[[Any, Any, Any], Any], str], ...] = (
    ("append", _loses_a_row, "differs: rows"),
    ("delete", _deletes_everything, "differs: rows"),
    ("delete_equal", _null_equals_nothing, "differs: rows"),
    ("overwrite", _writes_twice, "differs: rows"),
    ("alter_schema", _forgets_the_name, "differs: schema"),
    ("merge", _fails, "internal error: IndexError in _fails"),
    ("compact", _rewrites_rows_as_new, "differs: rows"),
)


@pytest.mark.parametrize(("name", "wrong", "kind"), FAULTS)
def test_a_planted_fault_is_found_and_shrunk(
    name: str, wrong: Callable[[Any, Any, Any], Any], kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _plant(monkeypatch, name, wrong)
    (failure,) = find(tmp_path, 300, PLAIN | BESIDE.get(name, frozenset()), SMALL)
    assert failure.kind == kind
    operations = failure.example["operations"]
    assert len(operations) <= 4
    assert name.replace("_", "-") in [one["op"] for one in operations]
    assert sum(len(one.get("rows", ())) for one in operations) <= 3
    monkeypatch.undo()
    monkeypatch.setattr("os.fsync", lambda _descriptor: None)
    follow_reference(failure.example, tmp_path / "again")


def test_a_file_that_expiration_should_leave_is_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the end takes what it can from before: nothing is taken over an expiration."""

    def removes_a_data_file(right: Any, writer: Any, operation: Any) -> None:
        right(writer, operation)
        next((tmp_path / "table" / "data").glob("*.parquet")).unlink()

    _plant(monkeypatch, "expire", removes_a_data_file)
    with pytest.raises(Broken, match=r"after operation 2, expire: .* there is no such file"):
        follow_reference(script(ROWS, {"op": "expire"}), tmp_path / "table", thorough=False)


def test_a_snapshot_that_is_read_as_another_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def current(metadata: Any, _snapshot: int) -> TableState:
        return table_state(metadata)

    monkeypatch.setattr("spec_ref.scan_planning.time_travel._snapshot_state", current)
    with pytest.raises(Broken, match="at the end: snapshot"):
        follow_reference(script(ROWS, ROWS), tmp_path / "table", thorough=False)


def test_an_operation_that_the_text_forbids_has_to_be_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere = {"op": "delete", "filter": {"type": "eq", "term": "nowhere", "value": 1}}
    counts: Counter[str] = Counter()
    follow_reference(script(ROWS, nowhere), tmp_path / "right", counts)
    assert counts["refused"] == 1
    _plant(monkeypatch, "delete", lambda *_: None)
    with pytest.raises(Broken, match="operation 2, delete was accepted; expected EXP003"):
        follow_reference(script(ROWS, nowhere), tmp_path / "wrong")


def test_what_is_refused_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def changes_and_refuses(right: Any, writer: Any, operation: Any) -> None:
        writer.append(ROWS)
        right(writer, operation)

    _plant(monkeypatch, "delete", changes_and_refuses)
    nowhere = {"op": "delete", "filter": {"type": "eq", "term": "nowhere", "value": 1}}
    with pytest.raises(Broken, match="which was refused: the table has new metadata"):
        follow_reference(script(ROWS, nowhere), tmp_path / "table")


@pytest.mark.parametrize(
    "operation",
    [
        {
            "op": "alter-schema",
            "changes": [{"op": "add", "name": "c", "type": "int"}, {"op": "promote", "name": "id", "type": "int"}],
        },
        {
            "op": "alter-spec",
            "changes": [
                {"op": "add", "source": "id", "transform": "bucket[4]", "name": "p"},
                {"op": "remove", "name": "nowhere"},
            ],
        },
    ],
    ids=lambda operation: operation["op"],
)
def test_of_several_changes_the_first_is_not_made_if_a_later_one_is_refused(operation: Json, tmp_path: Path) -> None:
    follow_reference(script(ROWS, operation, ROWS), tmp_path / "table")


def test_each_change_of_the_schema_applies_to_the_result_of_those_before(tmp_path: Path) -> None:
    fields = [
        ID,
        *({"id": 2 + place, "name": name, "required": False, "type": "int"} for place, name in enumerate("ab")),
    ]
    changes = [
        {"op": "rename", "name": "a", "to": "t"},
        {"op": "rename", "name": "b", "to": "a"},
        {"op": "rename", "name": "t", "to": "b"},
        {"op": "add", "name": "c", "type": {"type": "struct", "fields": [{**ID, "id": 9, "name": "x"}]}},
        {"op": "add", "name": "y", "parent": "c", "type": "string"},
        {"op": "move", "name": "c.y", "after": None},
        {"op": "move", "name": "b", "after": "c"},
    ]
    row = {"op": "append", "rows": [{"id": "1", "a": 1, "b": 2}]}
    made = script(row, {"op": "alter-schema", "changes": changes}, row, schema={"type": "struct", "fields": fields})
    follow_reference(made, tmp_path / "table")


@pytest.mark.parametrize("op", ["merge", "upsert"])
def test_rows_to_merge_may_be_none(op: str, tmp_path: Path) -> None:
    follow_reference(
        script({"op": op, "on": ["id"], "rows": []}, ROWS, {"op": op, "on": ["id"], "rows": []}), tmp_path / "t"
    )


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        ("decimal(38, 38)", "0." + "9" * 38),
        ("fixed[20]", "FF" * 20),
        ("geometry(srid:3857)", "POINT (1 2)"),
        ("geography(srid:4269, karney)", "POINT (1 2)"),
    ],
)
def test_scripts_may_have_types_that_are_never_generated(type_: str, value: str, tmp_path: Path) -> None:
    """Filters of the checks use the values of the script."""
    fields = [ID, {"id": 2, "name": "c", "required": False, "type": type_}]
    made = script({"op": "append", "rows": [{"id": "1", "c": value}, {"id": "2", "c": None}]}, version=3)
    made["operations"][0]["schema"]["fields"] = fields
    follow_reference(made, tmp_path / "table")


def test_names_of_columns_may_have_dots(tmp_path: Path) -> None:
    fields = [
        ID,
        *(
            {"id": 2 + place, "name": name, "required": False, "type": "int"}
            for place, name in enumerate(["id.x", "a.b"])
        ),
    ]
    row = {"op": "append", "rows": [{"id": "1", "id.x": 1, "a.b": 2}]}
    where = {"type": "eq", "term": "a.b", "value": 2}
    made = script(row, {"op": "delete", "filter": where}, row, schema={"type": "struct", "fields": fields})
    follow_reference(made, tmp_path / "table")


def test_changes_may_name_columns_with_dots(tmp_path: Path) -> None:
    inner = [{"id": 3, "name": "d.e", "required": False, "type": "int"}, {**ID, "id": 4, "name": "f"}]
    struct = {"type": "struct", "fields": inner}
    fields = [
        ID,
        {"id": 2, "name": "a.b", "required": False, "type": struct},
        {"id": 5, "name": "g.h", "required": False, "type": "date"},
    ]
    changes = [
        {"op": "promote", "name": "a.b.d.e", "type": "long"},
        {"op": "move", "name": "a.b.f", "after": None},
        {"op": "move", "name": "a.b.f", "after": "d.e"},
        {"op": "move", "name": "a.b", "after": "g.h"},
        {"op": "promote", "name": "g.h", "type": "timestamp_ns"},
        {"op": "add", "name": "i.j", "parent": "a.b", "type": "string"},
        {"op": "rename", "name": "a.b.d.e", "to": "k.l"},
    ]
    row = {"op": "append", "rows": [{"id": "1", "a.b": {"d.e": 2, "f": "3"}, "g.h": "1970-01-02"}]}
    where = {"type": "eq", "term": "a.b.k.l", "value": 2}
    spec = [{"source": "a.b.d.e", "transform": "identity", "name": "p.q"}]
    alter = {"op": "alter-schema", "changes": changes}
    made = script(row, alter, {"op": "delete", "filter": where}, version=3, partition=spec)
    made["operations"][0]["schema"]["fields"] = fields
    counts: Counter[str] = Counter()
    follow_reference(made, tmp_path / "table", counts)
    assert counts == {"create": 1, "append": 1, "alter-schema": 1, "delete": 1}


def test_a_table_that_lost_its_columns_has_rows(tmp_path: Path) -> None:
    follow_reference(
        script(ROWS, {"op": "alter-schema", "changes": [{"op": "drop", "name": "id"}]}),
        tmp_path / "table",
    )


WITHOUT_COLUMNS: list[Json] = [
    {"op": "append", "rows": [{}]},
    {"op": "overwrite", "filter": False, "rows": [{}]},
    {"op": "update", "filter": True, "set": {}, "mode": "copy-on-write"},
    {"op": "compact"},
]


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("file_format", ["parquet", "orc", "avro"])
@pytest.mark.parametrize("form", [FAST, PLAIN_FORM])
@pytest.mark.parametrize("operation", WITHOUT_COLUMNS, ids=lambda operation: str(operation["op"]))
def test_rows_without_columns_never_vanish(
    operation: Json, form: str, file_format: str, version: int, tmp_path: Path
) -> None:
    """They are refused, or written because v3 has columns of row lineage; other rows stay either way."""
    writer = ReferenceWriter(str(tmp_path / "table"), functions(form))
    made = script(ROWS, ROWS, version=version, properties={"write.format.default": file_format})
    drop = {"op": "alter-schema", "changes": [{"op": "drop", "name": "id"}]}
    for one in (*made["operations"], drop):
        getattr(writer, one["op"].replace("-", "_"))(one)
    before = len(WrittenTable.load(writer.metadata(), str(tmp_path)).read().keys)
    refused = version == 2 or operation["op"] == "append"  # the others bring row lineage in v3
    added = 0 if refused else len(operation.get("rows", ()))
    with pytest.raises(SpecError, match="TYP002") if refused else nullcontext():
        getattr(writer, operation["op"])(operation)
    after = WrittenTable.load(writer.metadata(), str(tmp_path))
    assert (before, len(after.read().keys), list(after.broken_rules())) == (4, 4 + added, [])


@pytest.mark.parametrize("operation", WITHOUT_COLUMNS, ids=lambda operation: str(operation["op"]))
def test_whether_rows_without_columns_are_written_is_left_open(operation: Json, tmp_path: Path) -> None:
    drop = {"op": "alter-schema", "changes": [{"op": "drop", "name": "id"}]}
    table = ModelTable()
    for index, one in enumerate(script(ROWS, drop)["operations"]):
        table = table.after(index, one)
    with pytest.raises(UnspecifiedOperation):
        table.after(3, operation)
    follow_reference(script(ROWS, drop, operation), tmp_path / "table")


@pytest.mark.parametrize("name", ["_row_id", "_last_updated_sequence_number"])
def test_columns_with_names_of_row_lineage_are_read_apart_from_it(name: str, tmp_path: Path) -> None:
    """Reserved Field IDs reserves ids, not names."""
    schema = {"type": "struct", "fields": [ID, {"id": 2, "name": name, "required": False, "type": "long"}]}
    rows = {"op": "append", "rows": [{"id": "1", name: "7"}, {"id": "2", name: None}]}
    follow_reference(script(rows, rows, version=3, schema=schema), tmp_path / "table", thorough=True)


DAYS: dict[str, Json] = {
    "schema": {"type": "struct", "fields": [ID, {"id": 2, "name": "d", "required": False, "type": "date"}]},
    "partition": [{"source": "d", "transform": "day", "name": "d_day"}],
}
DATED = {"op": "append", "rows": [{"id": "1", "d": "2026-01-02"}, {"id": "2", "d": None}]}
RENAME = {"op": "rename", "name": "d_day", "to": "d2"}
AGAIN = {"op": "add", "source": "d", "transform": "day", "name": "d_day"}
RENAMED_AND_ADDED = [
    [{"op": "alter-spec", "changes": [RENAME]}, {"op": "alter-spec", "changes": [AGAIN]}],
    [{"op": "alter-spec", "changes": [RENAME, AGAIN]}],
]


@pytest.mark.parametrize("changes", RENAMED_AND_ADDED, ids=["apart", "at-once"])
@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_partition_field_with_the_name_of_a_renamed_one_gets_its_own_id(
    version: int, changes: list[Json], tmp_path: Path
) -> None:
    day = {"type": "eq", "term": "d", "value": "2026-01-02"}
    made = script(DATED, *changes, DATED, {"op": "delete", "filter": day}, {"op": "compact"}, version=version, **DAYS)
    counts: Counter[str] = Counter()
    follow_reference(made, tmp_path / "table", counts, thorough=True)
    assert counts == Counter(one["op"] for one in made["operations"])  # all were done and checked


def _sorted_by_the_dropped_column(version: int) -> Json:
    drop = {"op": "alter-schema", "changes": [{"op": "drop", "name": "d"}]}
    unsorted = {"op": "sort", "fields": []}
    sort = [{"source": "id"}, {"source": "d", "transform": "month"}]
    return script(DATED, drop, DATED, unsorted, drop, ROWS, version=version, schema=DAYS["schema"], sort=sort)


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_column_that_the_sort_order_uses_is_not_dropped(version: int, tmp_path: Path) -> None:
    """The text leaves open what the order becomes (E22); without the order, the column goes."""
    counts: Counter[str] = Counter()
    follow_reference(_sorted_by_the_dropped_column(version), tmp_path / "table", counts, thorough=True)
    assert counts == {"create": 1, "append": 3, "refused": 1, "sort": 1, "alter-schema": 1}


def test_a_type_that_a_version_does_not_promote_is_refused_for_that(tmp_path: Path) -> None:
    """Dates become timestamps from v3 on, whatever they partition."""
    fields = [ID, {"id": 2, "name": "d", "required": False, "type": "date"}]
    spec = [{"source": "d", "transform": "bucket[4]", "name": "p"}]
    promotion = {"op": "alter-schema", "changes": [{"op": "promote", "name": "d", "type": "timestamp"}]}
    schema = {"type": "struct", "fields": fields}
    for version, code in ((2, "EVO005"), (3, "EVO008")):
        made = script(promotion, version=version, schema=schema, partition=spec)
        with pytest.raises(ForbiddenOperation) as error:
            ModelTable().after(0, made["operations"][0]).after(1, promotion)
        assert error.value.code == code
        follow_reference(made, tmp_path / str(version))


@pytest.mark.parametrize("type_", ["long", "int"])
def test_a_promotion_to_the_own_type_is_left_open(type_: str, tmp_path: Path) -> None:
    made = script(ROWS, {"op": "alter-schema", "changes": [{"op": "promote", "name": "id", "type": type_}]})
    table = ModelTable().after(0, made["operations"][0]).after(1, ROWS)
    with pytest.raises(ForbiddenOperation) as error:
        table.after(2, made["operations"][2])
    assert error.value.code == "EVO003"
    assert isinstance(error.value, UnspecifiedOperation) == (type_ == "long")
    follow_reference(made, tmp_path / "table")


def test_a_struct_with_a_default_needs_defaults_of_its_required_fields(tmp_path: Path) -> None:
    """EVO015: older files would have no value of the field, which reading refuses (PRJ005)."""
    type_ = {"type": "struct", "fields": [{"id": 2, "name": "x", "required": True, "type": "int"}]}
    added = {"op": "alter-schema", "changes": [{"op": "add", "name": "s", "type": type_, "default": {}}]}
    counts: Counter[str] = Counter()
    follow_reference(script(ROWS, added, ROWS, version=3), tmp_path / "table", counts)
    assert counts == {"create": 1, "append": 2, "refused": 1}


def test_a_file_that_vanishes_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def loses(right: Any, writer: Any, operation: Any) -> None:
        right(writer, operation)
        next((tmp_path / "table" / "data").glob("*.parquet")).unlink()

    _plant(monkeypatch, "rewrite_manifests", loses)
    with pytest.raises(Broken, match=r"after operation 2, rewrite-manifests: .* is missing"):
        follow_reference(script(ROWS, {"op": "rewrite-manifests"}), tmp_path / "table")


def test_branches_may_give_old_files_different_row_ids(tmp_path: Path) -> None:
    """LIN016: a file of before row lineage has one first_row_id in main, where it was deleted from, and one in b."""
    follow_reference(
        script(
            {"op": "append", "rows": [{"id": "6"}, {"id": None}]},
            {"op": "upgrade", "format_version": 3},
            {"op": "delete", "filter": {"type": "is-null", "term": "id"}},
            {"op": "branch", "name": "b", "at": 1},
            {"op": "append", "rows": [{"id": "7"}], "branch": "b"},
            partition=[{"source": "id", "transform": "bucket[4]", "name": "p"}],
        ),
        tmp_path / "table",
    )


def test_a_delete_by_a_column_that_files_do_not_have_is_left_open(tmp_path: Path) -> None:
    columns = {
        "schema": {"type": "struct", "fields": [ID, {"id": 2, "name": "c", "required": False, "type": "unknown"}]}
    }
    deletes = {"op": "delete-equal", "rows": [{"c": None}]}
    counts: Counter[str] = Counter()
    follow_reference(script(ROWS, deletes, ROWS, version=3, **columns), tmp_path / "table", counts)
    assert counts == {"create": 1, "append": 2, "refused": 1}


@pytest.mark.parametrize("literal", [None, {"x": None}])
def test_a_null_of_a_required_column_that_no_row_gets_leaves_open_what_a_writer_does(
    literal: Json, tmp_path: Path
) -> None:
    inner = {"id": 3, "name": "x", "required": True, "type": "int"}
    column = {"id": 2, "name": "c", "required": True, "type": {"type": "struct", "fields": [inner]}}
    where = {"type": "eq", "term": "id", "value": 2}
    row = {"op": "append", "rows": [{"id": "1", "c": {"x": 1}}]}
    update = {"op": "update", "filter": where, "set": {"c": literal}}
    made = script(row, update, schema={"type": "struct", "fields": [ID, column]})
    with pytest.raises(UnspecifiedOperation):
        ModelTable().after(0, made["operations"][0]).after(1, row).after(2, update)
    follow_reference(made, tmp_path / "table")


@pytest.mark.parametrize("upgraded", [False, True])
@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"op": "add", "source": "id", "transform": "bucket[4]", "name": "p"}, "PAR002"),
        ({"op": "rename", "name": "q", "to": "p"}, "PAR002"),
        ({"op": "rename", "name": "p", "to": "r"}, "PAR010"),
        ({"op": "remove", "name": "p"}, "PAR010"),
    ],
)
def test_a_removed_partition_field_of_version_1_leaves_open_who_may_name_it(
    change: Json, code: str, upgraded: bool, tmp_path: Path
) -> None:
    """Its spec keeps the field as void (PAR014), so that its name may be taken."""
    spec = [{"source": "id", "transform": kind, "name": name} for kind, name in (("identity", "p"), ("bucket[8]", "q"))]
    removal = {"op": "alter-spec", "changes": [{"op": "remove", "name": "p"}]}
    upgrade = [{"op": "upgrade", "format_version": 2}] if upgraded else []
    made = script(ROWS, removal, *upgrade, version=1, partition=spec)
    table = ModelTable()
    for index, one in enumerate(made["operations"]):
        table = table.after(index, one)
    last = {"op": "alter-spec", "changes": [change]}
    with pytest.raises(UnspecifiedOperation) as error:
        table.after(len(made["operations"]), last)
    assert error.value.code == code
    follow_reference({"operations": [*made["operations"], last]}, tmp_path / "table")


@pytest.mark.parametrize("key", [1, 9], ids=["found", "absent"])
@pytest.mark.parametrize("mode", ["delete", "update", "merge"])
def test_version_1_may_refuse_to_merge_on_read_or_remove_whole_files(mode: str, key: int) -> None:
    members: dict[str, dict[str, Any]] = {
        "delete": {"filter": {"type": "eq", "term": "id", "value": key}},
        "update": {"filter": {"type": "eq", "term": "id", "value": key}, "set": {"id": "5"}},
        "merge": {"on": ["id"], "rows": [{"id": str(key)}]},
    }
    operation = {"op": mode, **members[mode]}
    table = ModelTable()
    for index, one in enumerate(script(ROWS, version=1)["operations"]):
        table = table.after(index, one)
    with pytest.raises(UnspecifiedOperation) as left:
        table.after(2, {**operation, "mode": "merge-on-read"})
    assert left.value.code == "DEL001"
    assert left.value.after.state() == table.after(2, operation).state()


def test_a_null_of_a_required_column_to_delete_leaves_open_what_a_writer_does() -> None:
    required = {"schema": {"type": "struct", "fields": [{**ID, "required": True}]}}
    table = ModelTable().after(0, script(version=2, **required)["operations"][0])
    with pytest.raises(UnspecifiedOperation):
        table.after(1, {"op": "delete-equal", "rows": [{"id": None}]})
    assert table.after(1, {"op": "delete-equal", "rows": [{"id": "1"}]}).rows() == ()


def test_rows_that_have_ids_keep_their_numbers_when_they_move(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def rewrites_rows_as_changed(right: Any, writer: Any, operation: Any) -> None:
        del right
        writer.update({**operation, "op": "update", "filter": True, "set": {"c": 1}, "mode": "copy-on-write"})

    _plant(monkeypatch, "compact", rewrites_rows_as_changed)
    columns = {"schema": {"type": "struct", "fields": [ID, {"id": 2, "name": "c", "required": False, "type": "int"}]}}
    old, new = ({"op": "append", "rows": [{"id": id_, "c": 1}]} for id_ in ("1", "2"))
    upgraded = script(old, {"op": "upgrade", "format_version": 3}, new, {"op": "compact"}, **columns)
    with pytest.raises(Broken, match="_last_updated_sequence_number"):
        follow_reference(upgraded, tmp_path / "table")


def _replay(tmp_path: Path, content: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    file = tmp_path / "scenario.json"
    file.write_text(content, encoding="utf-8")
    status = main(["scenarios", "--replay", str(file)])
    captured = capsys.readouterr()
    return status, captured.out + captured.err


def test_a_script_is_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, said = _replay(tmp_path, json.dumps(script(ROWS, {"op": "delete", "filter": ONE})), capsys)
    assert (status, "the table has the rows of the model" in said) == (0, True)


@pytest.mark.parametrize(("features", "expected"), [(["long", "bucket"], 0), (["uuid"], 1)])
def test_a_failure_is_known_by_the_types_and_transforms_of_its_table(
    features: list[str], expected: int, tmp_path: Path
) -> None:
    faulty = f"{sys.executable} {Path(__file__).parent / 'faulty_writer.py'}"
    partition = [{"source": "id", "transform": "bucket[2]", "name": "p2"}]
    file, known = tmp_path / "scenario.json", tmp_path / "known.toml"
    file.write_text(json.dumps(script(ROWS, {"op": "append", "rows": [{"id": "3"}]}, partition=partition)))
    entry: dict[str, Json] = {"id": "reference-a", "engine": "reference", "does": "a", "reason": "a", "evidence": "a"}
    entry |= {"fails": "differs: rows", "rows": "missing", "features": features, "requirements": []}
    known.write_text("[[scenario]]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in entry.items()))
    assert main(["scenarios", "--adapter", faulty, "--replay", str(file), "--expect", str(known)]) == expected


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "not a script"),
        ("[]", "a script is an object"),
        ('{"operations": []}', "at least the operation create"),
        (json.dumps(script({"op": "vacuum"})), "/operations/1/op: unknown operation 'vacuum'"),
        (json.dumps(script({"op": "rollback", "to": 0})), "/operations/1: rollback: main has no snapshot"),
    ],
)
def test_a_file_that_is_no_script_is_refused(
    content: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, found = _replay(tmp_path, content, capsys)
    assert status == 2
    assert said in found


@pytest.mark.parametrize(
    "wrong",
    [
        ["--exclude", "monday"],
        ["--examples", "0"],
        ["--operations", "0"],
        ["--versions", "4"],
        ["--min-operations", "-1"],
        ["--min-operations", "9", "--operations", "8"],
        ["--exclude", "v1", "--exclude", "v2", "--exclude", "v3"],
        ["--replay", "/no/such/file"],
    ],
)
def test_the_command_refuses_what_makes_no_sense(wrong: list[str]) -> None:
    assert main(["scenarios", *wrong]) == 2


def test_the_command_says_how_to_get_hypothesis(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    assert main(["scenarios", "--examples", "1"]) == 2
    assert "pip install 'iceberg-conformance[testing]'" in capsys.readouterr().err


def test_the_command_reports_what_it_tried(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["scenarios", "--seed", "1", "--examples", "3", "--operations", "4", "--format", "json"]
    assert main(asked) == 0
    captured = capsys.readouterr()
    content = json.loads(captured.out)
    assert (content["scripts"], content["failures"], content["operations"]["create"]) == (3, [], 3)
    assert "3 scripts" in captured.err


def test_runs_share_what_passed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    passed = tmp_path / "passed"
    asked = ["scenarios", "--examples", "3", "--operations", "3", "--format", "json", "--passed", str(passed)]
    different = 0
    for seed in ("1", "1", "2"):
        assert main([*asked, "--seed", seed]) == 0
        captured = capsys.readouterr()
        tried = json.loads(captured.out)["scripts"]
        assert (tried == 0) == (seed == "1" and different > 0)
        different += tried
        assert f"{different} different scripts" in captured.err
    assert len({line.split()[0] for line in passed.read_text().splitlines()}) == different


@pytest.mark.parametrize("content", ["some text\n", "more of it"])
def test_other_files_are_not_taken_for_scripts_that_passed(content: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text(content)
    assert main(["scenarios", "--examples", "1", "--passed", str(tmp_path / "file")]) == 2
    assert (tmp_path / "file").read_text() == content


def test_scripts_are_as_long_as_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["scenarios", "--seed", "1", "--examples", "5", "--min-operations", "6", "--operations", "6"]
    assert main([*asked, "--format", "json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert (content["scripts"], content["scripts_of_min_operations"]) == (5, 5)
    assert sum(content["operations"].values()) == 5 * 7
