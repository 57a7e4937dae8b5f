"""Faults of reading tables (Scan Planning, Column Projection, Row lineage assignment, Deletes)."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

from conformance.adapter_sdk.serve import Arguments, Invalid
from conformance.core.json_text import dump_json
from spec_ref.core.errors import SpecError
from tests.faulty_adapters import Fault, Operation

Wrong = Callable[[Arguments, Operation], Any]


@cache
def _answered(operation: str, text: str) -> str:
    """What the reference answers, once for all faults: reading tables takes longer than anything else."""
    from conformance.engines.reference import adapter as reference

    try:
        return dump_json({"ok": reference.operations()[operation](json.loads(text))})
    except (SpecError, Invalid, KeyError) as error:  # a KeyError where a fault asks for a schema that it does not get
        return dump_json({"error": str(error)})


def remembered(operation: str) -> Operation:
    """An operation of the reference whose answers are kept; raises `Invalid` for what it refuses."""

    def answer(arguments: Arguments) -> Any:
        kept = json.loads(_answered(operation, dump_json(arguments)))
        if "error" in kept:
            raise Invalid(kept["error"])
        return kept["ok"]

    return answer


READ, PLAN = remembered("table.read"), remembered("scan.plan")


def changed(change: Callable[[Any], Any], of: str | tuple[str, ...]) -> Wrong:
    """Make a fault that changes values of some types, at any depth."""
    kinds = (of,) if isinstance(of, str) else of

    def value(type_: Any, item: Any) -> Any:
        kind = type_["type"] if isinstance(type_, dict) else type_
        if kind in kinds:
            return change(item)
        if item is None or not isinstance(type_, dict):
            return item
        if kind == "struct":
            return {str(field["id"]): value(field["type"], item[str(field["id"])]) for field in type_["fields"]}
        if kind == "list":
            return [value(type_["element"], one) for one in item]
        return {**item, "values": [value(type_["value"], one) for one in item["values"]]}

    def wrong(arguments: Arguments, _right: Operation) -> Any:
        types = arguments["types"]
        rows = READ(arguments)["rows"]
        return {"rows": [{name: value(types[name], row[name]) for name in row} for row in rows]}

    return wrong


def asked(change: Callable[[Arguments], Arguments], operation: str = "table.read") -> Wrong:
    """Make a fault that understands another question."""
    return lambda arguments, _right: remembered(operation)(change(arguments))


def without(*names: str) -> Callable[[Arguments], Arguments]:
    """Arguments that are not looked at."""
    return lambda arguments: {name: given for name, given in arguments.items() if name not in names}


def rows_changed(change: Callable[[list[Any]], list[Any]]) -> Wrong:
    """Make a fault that changes the rows of an answer."""
    return lambda arguments, _right: {"rows": change(READ(arguments)["rows"])}


def files_changed(change: Callable[[list[Any]], list[Any]]) -> Wrong:
    """Make a fault that changes the files of a plan."""
    return lambda arguments, _right: {"files": change(PLAN(arguments)["files"])}


def _distinct(rows: list[Any]) -> list[Any]:
    return [json.loads(text) for text in dict.fromkeys(dump_json(row) for row in rows)]


def _column(name: str, change: Callable[[list[Any]], list[Any]]) -> Wrong:
    def rows(given: list[Any]) -> list[Any]:
        if not given or name not in given[0]:
            return given
        column = change([row[name] for row in given])
        return [{**row, name: value} for row, value in zip(given, column, strict=True)]

    return rows_changed(rows)


def _refused_as_empty(arguments: Arguments, _right: Operation) -> Any:
    try:
        return READ(arguments)
    except Invalid:
        return {"rows": []}


def _earlier(arguments: Arguments) -> Arguments:
    at = arguments.get("timestamp_ms")
    return arguments if at is None else {**arguments, "timestamp_ms": at - 1}


def _all_deletes(files: list[Any]) -> list[Any]:
    every = [delete for file in files for delete in file["delete_files"]]
    unique = [json.loads(text) for text in dict.fromkeys(dump_json(delete) for delete in every)]
    return [{**file, "delete_files": unique} for file in files]


def _sql_null(rows: list[Any]) -> list[Any]:
    return [row for row in rows if None not in row.values()]


FAULTS = tuple(
    Fault(f"rows-{name}", "table.read", wrong)
    for name, wrong in {
        "filter-ignored": asked(without("filter")),
        "snapshot-ignored": asked(without("snapshot")),
        "reference-ignored": asked(without("ref")),
        "time-before-not-at": asked(_earlier),
        "duplicates-dropped": rows_changed(_distinct),
        "one-lost": rows_changed(lambda rows: rows[1:]),
        "one-twice": rows_changed(lambda rows: rows[:1] + rows),
        "with-null-lost": rows_changed(_sql_null),
        "refused-as-empty": _refused_as_empty,
        "null-string-as-empty": changed(lambda text: text or "", "string"),
        "null-list-as-empty": changed(lambda items: items or [], "list"),
        "empty-list-as-null": changed(lambda items: items or None, "list"),
        "null-struct-as-struct-of-nulls": _column(
            "point", lambda column: [value or {"5": None, "6": None, "7": None} for value in column]
        ),
        "minus-zero-as-zero": changed(lambda value: 0.0 if value == 0 else value, ("float", "double")),
        "nan-as-null": changed(lambda value: None if value == "NaN" else value, ("float", "double")),
        "microseconds-cut": changed(lambda text: text and text[:23] + "000" + text[26:], ("timestamp", "timestamptz")),
        "uuid-without-hyphens": changed(lambda text: text and text.replace("-", ""), "uuid"),
        "fixed-without-zeros": changed(lambda text: text and text.rstrip("0"), "fixed[3]"),
        "row-id-repeated": _column("_row_id", lambda column: column[:1] * len(column)),
        "row-id-lost": _column("_row_id", lambda column: [None] * len(column)),
        "last-updated-of-snapshot": _column(
            "_last_updated_sequence_number", lambda column: [max(map(int, column))] * len(column)
        ),
        "position-from-one": _column("_pos", lambda column: [int(value) + 1 for value in column]),
        "file-name-alone": _column("_file", lambda column: [value.rpartition("/")[2] for value in column]),
    }.items()
) + tuple(
    Fault(f"plan-{name}", "scan.plan", wrong)
    for name, wrong in {
        "file-lost": files_changed(lambda files: files[1:]),
        "file-twice": files_changed(lambda files: files[:1] + files),
        "deletes-lost": files_changed(lambda files: [{**file, "delete_files": []} for file in files]),
        "all-deletes-everywhere": files_changed(_all_deletes),
        "scheme-added": files_changed(lambda files: [{**f, "data_file": f"file://{f['data_file']}"} for f in files]),
    }.items()
)
