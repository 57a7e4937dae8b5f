"""The commands in advice have the stated effect: each runs in its engine on a small table, some of them broken."""

from __future__ import annotations

import json
import subprocess
import tomllib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import attrs
import pytest

from conformance.engine_setup import launch
from conformance.engine_setup.catalog import find_engine

pytestmark = pytest.mark.engine

HERE = Path(__file__).parent
REMEDIES: Mapping[str, Mapping[str, str]] = tomllib.loads(
    (resources.files("conformance.validator") / "advice.toml").read_text("utf-8")
)["remedy"]


@attrs.frozen
class Case:
    """The commands of a remedy as its text has them, what stands for a part to fill in, and what the table then is."""

    commands: tuple[str, ...]
    filled: Mapping[str, str] = {}
    rows: tuple[int, ...] = (1, 2, 3)
    removed: str | None = None
    registers: bool = False
    version: int = 2
    then: Mapping[str, Any] = {}

    def statements(self) -> list[str]:
        """Return the commands to run."""
        made = []
        for command in self.commands:
            for part, value in self.filled.items():
                command = command.replace(part, value)
            made.append(command)
        return made


_REGISTER = "CALL catalog.system.register_table(table => 'db.t', metadata_file => '{}')"
_ROLLBACK = "CALL catalog.system.rollback_to_snapshot(table => 'db.t', snapshot_id => ID)"
SPARK = {
    "register-previous": Case(("DROP TABLE db.t", _REGISTER.format("FILE")), rows=(1, 2), registers=True),
    "register-corrected": Case(("DROP TABLE db.t", _REGISTER.format("COPY")), rows=(1, 2), registers=True),
    "restore-file": Case((_ROLLBACK,), rows=(1, 2), removed="manifest"),
    "rollback": Case((_ROLLBACK,), rows=(1, 2)),
    "rewrite-manifests": Case(("CALL catalog.system.rewrite_manifests(table => 'db.t')",)),
    "rewrite-data": Case(
        ("CALL catalog.system.rewrite_data_files(table => 'db.t', options => map('rewrite-all', 'true'))",)
    ),
    "rewrite-position-deletes": Case(
        ("CALL catalog.system.rewrite_position_delete_files(table => 'db.t', options => map('rewrite-all', 'true'))",)
    ),
    "delete-again": Case(("DELETE FROM db.t WHERE ...",), {"...": "id = 1"}, rows=(2, 3)),
    "statistics": Case(("CALL catalog.system.compute_table_stats(table => 'db.t')",)),
    "partition-statistics": Case(("CALL catalog.system.compute_partition_stats(table => 'db.t')",)),
    "set-current": Case(("CALL catalog.system.set_current_snapshot(table => 'db.t', snapshot_id => ID)",), rows=(1, 2)),
    "replace-ref": Case(
        (
            "ALTER TABLE db.t REPLACE BRANCH name AS OF VERSION ID RETAIN 7 DAYS WITH SNAPSHOT RETENTION 2 SNAPSHOTS",
            "ALTER TABLE db.t REPLACE TAG name AS OF VERSION ID RETAIN 7 DAYS",
        ),
        {"TAG name": "TAG name_of_tag"},
    ),
    "set-property": Case(("ALTER TABLE db.t SET TBLPROPERTIES ('key' = 'value')",)),
    "set-sort-order": Case(("ALTER TABLE db.t WRITE ORDERED BY ...",), {"...": "id"}),
    "replace-partition-field": Case(
        ("ALTER TABLE db.t REPLACE PARTITION FIELD old WITH new",), {"old": "p", "new": "bucket(4, id)"}
    ),
    "expire": Case(("CALL catalog.system.expire_snapshots(table => 'db.t', snapshot_ids => ARRAY(ID))",)),
    "commit-any": Case(("ALTER TABLE db.t SET TBLPROPERTIES ('comment' = '...')",)),
    "optional-column": Case(("ALTER TABLE db.t ALTER COLUMN name DROP NOT NULL",), {"name": "id"}),
    "identifier-fields": Case(
        ("SET IDENTIFIER FIELDS", "ALTER TABLE db.t DROP IDENTIFIER FIELDS name"),
        {"SET IDENTIFIER FIELDS": "ALTER TABLE db.t SET IDENTIFIER FIELDS id", "name": "id"},
    ),
    "upgrade": Case(("ALTER TABLE db.t SET TBLPROPERTIES ('format-version' = 'N')",), {"'N'": "'3'"}),
    "copy-column": Case(
        ("ALTER TABLE db.t ADD COLUMN new TYPE", "UPDATE db.t SET new = old", "ALTER TABLE db.t DROP COLUMN old"),
        {"TYPE": "int", "old": "x"},
    ),
}
PYICEBERG = {
    "register-previous": Case(
        ("catalog.drop_table('db.t')", "catalog.register_table('db.t', 'FILE')"), rows=(1, 2), registers=True
    ),
    "register-corrected": Case(
        ("catalog.drop_table('db.t')", "catalog.register_table('db.t', 'COPY')"), rows=(1, 2), registers=True
    ),
    "restore-file": Case(
        ("table.manage_snapshots().rollback_to_snapshot(ID).commit()",), rows=(1, 2), removed="manifest"
    ),
    "rollback": Case(("table.manage_snapshots().rollback_to_snapshot(ID).commit()",), rows=(1, 2)),
    "rewrite-data": Case(("table.overwrite(table.scan().to_arrow())",)),
    "rewrite-position-deletes": Case(("table.overwrite(table.scan().to_arrow())",)),
    "delete-again": Case(("table.delete('...')",), {"...": "id = 1"}, rows=(2, 3)),
    "statistics": Case(("table.update_statistics().remove_statistics(ID).commit()",), then={"statistics": 0}),
    "set-current": Case(("table.manage_snapshots().set_current_snapshot(ID).commit()",), rows=(1, 2)),
    "replace-ref": Case(
        ("table.manage_snapshots().remove_branch('name').commit()", "create_branch(ID, 'name')"),
        {"create_branch(ID, 'name')": "table.manage_snapshots().create_branch(ID, 'name').commit()"},
        then={"refs": ["main", "name"]},
    ),
    "set-property": Case(("table.transaction().set_properties({'key': 'value'}).commit_transaction()",)),
    "set-sort-order": Case(
        ("table.update_sort_order().asc('column', IdentityTransform()).commit()",), {"column": "id"}, then={"sort": 1}
    ),
    "replace-partition-field": Case(
        ("table.update_spec().remove_field('old').add_field('column', transform, 'new').commit()",),
        {"old": "p", "column": "id"},
        then={"spec": ["new"]},
    ),
    "expire": Case(("table.maintenance.expire_snapshots().by_id(ID).commit()",)),
    "optional-column": Case(
        ("table.update_schema().make_column_optional('name').commit()",), {"name": "id"}, then={"required": False}
    ),
    "identifier-fields": Case(
        ("with table.update_schema() as update: update.set_identifier_fields('name')",),
        {"name": "id"},
        then={"identifier": [1]},
    ),
    "upgrade": Case(
        ("table.transaction().upgrade_table_version(2).commit_transaction()",), version=1, then={"version": 2}
    ),
    "copy-column": Case(
        ("table.update_schema().add_column('new', type).commit()",),
        {"type)": "__import__('pyiceberg.types').types.IntegerType())"},
    ),
}


@pytest.mark.parametrize(("key", "cases"), [("spark", SPARK), ("pyiceberg", PYICEBERG)])
def test_every_command_of_advice_is_run(key: str, cases: dict[str, Case]) -> None:
    assert sorted(cases) == sorted(name for name, one in REMEDIES.items() if key in one)
    for name, case in cases.items():
        assert [command for command in case.commands if command not in REMEDIES[name][key]] == [], name


def _answers(engine: str, program: str, cases: dict[str, Case], folder: Path) -> dict[str, Any]:
    launched = launch(engine)
    asked = {
        name: {
            "statements": one.statements(),
            "removed": one.removed,
            "registers": one.registers,
            "version": one.version,
        }
        for name, one in cases.items()
    }
    done = subprocess.run(
        [launched.command[0], str(HERE / program), str(folder)],
        input=json.dumps(asked),
        env=launched.env,
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    answers: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answers


def test_commands_for_spark(tmp_path: Path) -> None:
    answers = _answers(find_engine("iceberg-java-sql").name, "advice_on_spark.py", SPARK, tmp_path)
    assert answers == {name: list(case.rows) for name, case in SPARK.items()}


def test_calls_for_pyiceberg(tmp_path: Path) -> None:
    answers = _answers("pyiceberg", "advice_on_pyiceberg.py", PYICEBERG, tmp_path)
    for name, case in PYICEBERG.items():
        assert isinstance(answers[name], dict), (name, answers[name])
        expected = {"rows": list(case.rows), **case.then}
        assert {key: answers[name][key] for key in expected} == expected, name
