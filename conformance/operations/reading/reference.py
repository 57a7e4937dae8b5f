"""How the reference implementation reads rows and plans scans."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from conformance.adapter_sdk.serve import Arguments, Invalid
from conformance.core.failures import NotExamined
from conformance.operations.comparison import read_type
from conformance.operations.forms import Functions
from conformance.operations.wire import to_exchange
from conformance.table_io.file_access import read_bytes
from conformance.table_io.tables import Table, load_table
from spec_ref.expressions.expression_json import predicate_from_json
from spec_ref.expressions.predicates import TRUE, Predicate
from spec_ref.scan_planning import FileScanTask, table_state


def _load(args: Arguments) -> Table:
    try:
        return load_table(args["table"])
    except NotExamined as error:
        raise Invalid(str(error)) from None


def _predicate(args: Arguments) -> Predicate:
    return predicate_from_json(args["filter"]) if "filter" in args else TRUE


def _state(args: Arguments) -> dict[str, Any]:
    snapshot = args.get("snapshot")
    return {
        "snapshot_id": None if snapshot is None else int(snapshot),
        "ref": args.get("ref"),
        "timestamp_ms": args.get("timestamp_ms"),
    }


def _table_read(functions: Functions, args: Arguments) -> object:
    table = _load(args)
    types = {name: read_type(json) for name, json in args["types"].items()}
    try:
        rows = functions["table rows"](table, select=args.get("select"), filter=_predicate(args), **_state(args))
        return {"rows": [{name: to_exchange(types[name], value) for name, value in row.items()} for row in rows]}
    except NotExamined as error:
        raise Invalid(str(error)) from None


def _scan_plan(functions: Functions, args: Arguments) -> object:
    table = _load(args)
    state = table_state(table.metadata, **_state(args))
    try:
        plan = functions["scan plan"]
        tasks = plan(table.metadata, state.snapshot, _predicate(args), read_bytes, schema=state.schema)
        return {"files": [_task_form(task) for task in tasks]}
    except NotExamined as error:
        raise Invalid(str(error)) from None


def _task_form(task: FileScanTask) -> dict[str, Any]:
    deletes = []
    for delete in task.deletes:
        offset = delete.data_file.content_offset
        described = {"path": delete.data_file.file_path}
        deletes.append(described if offset is None else {**described, "content_offset": str(offset)})
    return {"data_file": task.data_file.file_path, "delete_files": deletes}


def operations(functions: Functions) -> dict[str, Callable[[Arguments], object]]:
    """Return the operations by name."""
    return {"table.read": partial(_table_read, functions), "scan.plan": partial(_scan_plan, functions)}
