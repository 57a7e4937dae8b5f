"""The operations of PyIceberg on tables: scans of a ``StaticTable`` for a metadata file."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from typing import Any

from pyarrow import ArrowException
from pyiceberg.exceptions import ValidationError
from pyiceberg.table import StaticTable

from conformance.adapter_sdk import arrow_rows
from conformance.adapter_sdk.serve import Arguments, Invalid, Unsupported
from conformance.engines.pyiceberg.expressions import to_pyiceberg

REFUSALS = (ArrowException, OSError, EOFError, ValueError, ValidationError, zlib.error)
NOT_THERE = ("Unsupported file format", "Delete file format not supported", "PyIceberg does not yet support")
"""The beginnings of PyIceberg's messages that mean "not supported"."""

METADATA_COLUMNS = frozenset({"_row_id", "_last_updated_sequence_number", "_file", "_pos"})


def _scan(args: Arguments, **more: Any) -> Any:
    """Return a scan, and the schema with which it reads."""
    table = StaticTable.from_metadata(args["table"])
    if "ref" in args:
        found = table.snapshot_by_name(args["ref"])
        if found is None:
            raise Invalid(f"no reference {args['ref']}")
        scan = table.scan(**more).use_ref(args["ref"])
    elif "timestamp_ms" in args:
        found = table.snapshot_as_of_timestamp(args["timestamp_ms"])
        if found is None:
            raise Invalid("no snapshot at that time")
        scan = table.scan(snapshot_id=found.snapshot_id, **more)
    elif "snapshot" in args:
        if table.snapshot_by_id(int(args["snapshot"])) is None:
            raise Invalid(f"no snapshot {args['snapshot']}")
        scan = table.scan(snapshot_id=int(args["snapshot"]), **more)
    else:
        scan = table.scan(**more)
    if "filter" in args:
        snapshot = scan.snapshot()
        schema = table.schemas()[snapshot.schema_id] if _is_past(args, snapshot) else table.schema()
        scan = scan.filter(to_pyiceberg(args["filter"], schema))
    return scan


def _is_past(args: Arguments, snapshot: Any) -> bool:
    return bool(args.keys() & {"snapshot", "timestamp_ms"}) and snapshot.schema_id is not None


def _convert_errors(work: Callable[[], object]) -> object:
    try:
        return work()
    except NotImplementedError as error:
        raise Unsupported(str(error)) from None
    except REFUSALS as error:
        if str(error).startswith(NOT_THERE):
            raise Unsupported(str(error)) from None
        raise Invalid(f"{type(error).__name__}: {error}") from None


def _read(args: Arguments) -> object:
    if "variant" in json.dumps(args["types"]):
        raise Unsupported("PyIceberg has no type variant")
    names = args.get("select", list(args["types"]))
    if METADATA_COLUMNS.intersection(names):
        raise Unsupported("PyIceberg does not read metadata columns")

    def work() -> object:
        scan = _scan(args, selected_fields=tuple(names) if "select" in args else ("*",))
        read = scan.to_arrow()
        # PyIceberg reads a branch with the schema of its snapshot.
        found = [name for name in names if name in read.column_names]
        return arrow_rows.answer(read.select(found), {name: args["types"][name] for name in found})

    return _convert_errors(work)


def _plan(args: Arguments) -> object:
    def work() -> object:
        return {"files": [_task_form(task) for task in _scan(args).plan_files()]}

    return _convert_errors(work)


def _task_form(task: Any) -> Arguments:
    deletes = []
    for delete in task.delete_files:
        described = {"path": delete.file_path}
        offset = getattr(delete, "content_offset", None)
        deletes.append(described if offset is None else {**described, "content_offset": str(offset)})
    return {"data_file": task.file.file_path, "delete_files": deletes}


def operations() -> dict[str, Callable[[Arguments], object]]:
    """Return the operations by name."""
    return {"table.read": _read, "scan.plan": _plan}
