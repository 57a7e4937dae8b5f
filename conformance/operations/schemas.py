"""The JSON Schemas of the protocol and of vector files, assembled from those of the families.

``common.json`` has the definitions that several families share; ``protocol_frame.json`` and ``vectors_frame.json``
enclose the operations. ``python -m tools.schemas`` writes the published files, ``conformance/schemas/protocol.json``
and ``vectors/vectors.schema.json``.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from conformance.operations.families import families
from spec_ref.core.json_types import JsonObject

HERE = Path(__file__).parent


def _read(name: str) -> JsonObject:
    found: JsonObject = json.loads((HERE / name).read_text(encoding="utf-8"))
    return found


def _reference(name: str) -> JsonObject:
    return {"$ref": f"#/$defs/{name}"}


def _operations() -> JsonObject:
    return {name: operation for family in families() for name, operation in family.operations.items()}


def _args(name: str, operation: JsonObject, more: str) -> JsonObject:
    """Return the schema of the arguments, with additions for requests or for vectors."""
    args = _reference(f"{name}.args")
    return {"allOf": [args, operation[more]]} if more in operation else args


def _request(name: str, operation: JsonObject) -> JsonObject:
    args = _args(name, operation, "request_args")
    return {
        "description": operation["description"],
        "type": "object",
        "properties": {"seq": _reference("seq"), "op": {"const": name}, "args": args},
        "required": ["seq", "op", "args"],
        "additionalProperties": False,
    }


def _forms() -> JsonObject:
    """Return the schemas of all arguments, answers and expectations, and the definitions that they refer to."""
    found: JsonObject = {}
    for family in families():
        found |= family.definitions
        for name, operation in family.operations.items():
            found |= {f"{name}.{part}": operation[part] for part in ("args", "answer", "expected") if part in operation}
    return found


@cache
def protocol_schema() -> JsonObject:
    """Return the JSON Schema of the adapter protocol."""
    frame = _read("protocol_frame.json")
    operations = _operations()
    definitions = {**frame.pop("$defs"), **_read("common.json")["$defs"]}
    definitions["ask"]["oneOf"] = [_reference(f"{name}.request") for name in operations]
    requests = {f"{name}.request": _request(name, operation) for name, operation in operations.items()}
    return {**frame, "$defs": {**definitions, **requests, **_forms()}}


@cache
def vectors_schema() -> JsonObject:
    """Return the JSON Schema of vector files."""
    frame = _read("vectors_frame.json")
    operations = _operations()
    frame["properties"]["operation"]["enum"] = list(operations)
    definitions = {**_read("common.json")["$defs"], **frame.pop("$defs"), **_forms()}
    return {**frame, "allOf": [_operation_schema(*one) for one in operations.items()], "$defs": definitions}


def _operation_schema(name: str, operation: JsonObject) -> JsonObject:
    """Return the part of the schema for the vectors of one operation."""
    outcome = {"properties": {"ok": _reference(f"{name}.{'expected' if 'expected' in operation else 'answer'}")}}
    expect = {"properties": {**outcome["properties"], "any_of": {"items": outcome}}}
    vector = {"properties": {"args": _args(name, operation, "vector_args"), "expect": expect}}
    return {
        "if": {"properties": {"operation": {"const": name}}},
        "then": {"properties": {"vectors": {"items": vector}}},
    }
