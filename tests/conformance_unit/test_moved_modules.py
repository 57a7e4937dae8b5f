"""Documented modules that moved, and renamed members of the adapter SDK, have their old names too, with a warning."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec

import pytest

from conformance.core.moved_modules import MOVED, new_name

NEW_NAMES = {
    "conformance.adapters.serve": "conformance.adapter_sdk.serve",
    "conformance.adapters.documents": "conformance.adapter_sdk.metadata_builders",
    "conformance.adapters.native": "conformance.adapter_sdk.lenient_values",
    "conformance.pipeline.local": "conformance.table_io.local",
    "conformance.stores.opening": "conformance.table_io.stores.opening",
    "conformance.writing.plans": "conformance.table_io.writing.plans",
    **MOVED,
}


@pytest.fixture
def anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove modules that were imported by an old name."""
    for name in [name for name in sys.modules if new_name(name)]:
        monkeypatch.delitem(sys.modules, name)


@pytest.mark.usefixtures("anew")
@pytest.mark.parametrize("old", NEW_NAMES)
def test_a_module_is_the_same_by_its_old_name_and_the_old_name_is_warned_of(old: str) -> None:
    with pytest.warns(DeprecationWarning, match=f"{old.rpartition('.')[0]}.*is deprecated; use "):
        found = import_module(old)
    assert found is import_module(NEW_NAMES[old])
    assert found.__spec__ is not None
    assert found.__spec__.name == found.__name__ == NEW_NAMES[old]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("conformance.adapters.pyiceberg", "conformance.engines.pyiceberg.adapter"),
        ("conformance.adapters.iceberg_java_writing", "conformance.engines.iceberg_java.writing"),
        ("conformance.adapters.race_logs", "conformance.adapter_sdk.race_logs"),
        ("conformance.table_io", None),
        ("conformance.writings", None),
    ],
)
def test_adapters_are_in_the_folders_of_their_engines(old: str, new: str | None) -> None:
    assert new_name(old) == new
    assert new is None or find_spec(new)


def test_a_command_of_an_old_module_still_runs() -> None:
    command = [sys.executable, "-W", "always", "-m", "conformance.vector_lint", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "conformance.vector_lint is deprecated; use conformance.vectors.lint" in done.stderr
    assert "Traceback" not in done.stderr


def test_nothing_of_ours_is_imported_by_an_old_name() -> None:
    modules = "conformance.cli, conformance.cli.run, conformance.cli.validate, conformance.cli.matrix, conformance.api"
    done = subprocess.run([sys.executable, "-W", "error", "-c", f"import {modules}"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        ("operations.comparison", "exact", "compare_exact"),
        ("operations.comparison", "typed", "typed_comparator"),
        ("operations.comparison", "hexadecimal", "compare_hexadecimal"),
        ("operations.comparison", "unordered", "unordered_comparator"),
        ("adapter_sdk.metadata_builders", "selected", "select_members"),
        ("adapter_sdk.metadata_builders", "sibling", "sibling_name"),
        ("adapter_sdk.predicates", "older_form", "to_legacy_form"),
        ("adapter_sdk.race_logs", "Writer", "CommitWriter"),
        ("adapter_sdk.race_logs", "given_metadata", "initial_metadata"),
        ("adapter_sdk.race_logs", "replayed", "replay_commits"),
        ("adapter_sdk.script_steps", "Writer", "ScriptWriter"),
        ("adapter_sdk.sql_dialects", "text", "string_literal"),
        ("adapter_sdk.sql_predicates", "Both", "LogicalOperation"),
        ("adapter_sdk.sql_predicates", "Normal", "NegationFree"),
        ("adapter_sdk.sql_predicates", "built", "build_predicate"),
        ("adapter_sdk.sql_predicates", "normal", "push_down_not"),
        ("adapter_sdk.sql_predicates", "select_of", "select_statement"),
        ("adapter_sdk.sql_predicates", "sql_of", "predicate_sql"),
        ("adapter_sdk.table_requests", "only", "check_snapshot_selection"),
        ("adapter_sdk.table_requests", "without_metadata_columns", "check_metadata_columns"),
        ("table_io.writing", "files_of_write", "list_write_files"),
    ],
)
def test_a_renamed_member_is_the_same_by_its_old_name(module: str, old: str, new: str) -> None:
    sdk = import_module(f"conformance.{module}")
    with pytest.warns(
        DeprecationWarning, match=rf"conformance\.{module}\.{old} is deprecated; use .*\.{new}$"
    ) as warned:
        found = getattr(sdk, old)
    assert found is getattr(sdk, new)
    assert warned[0].filename == __file__
    with pytest.raises(AttributeError, match="has no attribute 'unknown'"):
        _ = sdk.unknown
