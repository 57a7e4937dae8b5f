"""The two forms of the reference, and the functions that its operations call in each.

Both adapters share nearly all code of the reference. Where a rule has both a definition and a kernel that computes the
same result faster, `FAST` (the adapter ``reference``) calls the kernel and `PLAIN` (``reference:plain``) the
definition. `FUNCTIONS` lists every difference.

The plain form imports none of `spec_ref.columnar`, `spec_ref.data_files`, numpy and pyarrow, except for data files:
`spec_ref.data_files` decodes and encodes them through pyarrow, and their rows are Python values. When tables are
written, code that both forms share imports kernels, but the plain form does not run them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from operator import attrgetter
from typing import Any, TypeAlias

FAST, PLAIN = "fast", "plain"

FUNCTIONS: dict[str, dict[str, str]] = {
    "manifest entries": {
        FAST: "spec_ref.columnar.manifests.entry_columns:entries",
        PLAIN: "spec_ref.manifests.manifest:Manifest.entries",
    },
    "deletion vector": {
        FAST: "spec_ref.columnar.deletes.deletion_vector:decode_deletion_vector",
        PLAIN: "spec_ref.deletes.deletion_vector:decode_deletion_vector",
    },
    "position ranges": {
        FAST: "spec_ref.columnar.deletes.deletion_vector:position_ranges",
        PLAIN: "spec_ref.deletes.deletion_vector:DeletionVector.ranges",
    },
    "scan plan": {
        FAST: "spec_ref.columnar.scan_planning.planner:plan",
        PLAIN: "spec_ref.scan_planning.planner:plan",
    },
    "table rows": {
        FAST: "conformance.table_io.local:read_rows",
        PLAIN: "conformance.table_io.records:read_rows",
    },
    "rows to write": {
        FAST: "conformance.table_io.writing.write_tasks:arrow_rows",
        PLAIN: "conformance.table_io.writing.records:named_rows",
    },
    "append": {
        FAST: "conformance.table_io.writing.operations:append",
        PLAIN: "conformance.table_io.writing.records:append",
    },
    "overwrite": {
        FAST: "conformance.table_io.writing.operations:overwrite",
        PLAIN: "conformance.table_io.writing.records:overwrite",
    },
    "delete": {
        FAST: "conformance.table_io.writing.operations:delete",
        PLAIN: "conformance.table_io.writing.records:delete",
    },
    "delete keys": {
        FAST: "conformance.table_io.writing.operations:delete_keys",
        PLAIN: "conformance.table_io.writing.records:delete_keys",
    },
    "update": {
        FAST: "conformance.table_io.writing.operations:update",
        PLAIN: "conformance.table_io.writing.records:update",
    },
    "merge": {FAST: "conformance.table_io.writing.merging:merge", PLAIN: "conformance.table_io.writing.records:merge"},
    "compact": {
        FAST: "conformance.table_io.writing.compaction:compact",
        PLAIN: "conformance.table_io.writing.records:compact",
    },
}
"""The functions that the operations call in each form, as ``module:name``."""

Function: TypeAlias = Callable[..., Any]
Functions: TypeAlias = Mapping[str, Function]


def functions(form: str) -> Functions:
    """Return the functions of a form; each is imported on its first call.

    Args:
        form: `FAST` or `PLAIN`.
    """
    return {name: _when_called(forms[form]) for name, forms in FUNCTIONS.items()}


def import_function(place: str) -> Function:
    """Import the function with the name ``module:name``."""
    module, _, name = place.partition(":")
    found: Function = attrgetter(name)(import_module(module))
    return found


def _when_called(place: str) -> Function:
    def call(*args: Any, **options: Any) -> Any:
        return import_function(place)(*args, **options)

    return call
