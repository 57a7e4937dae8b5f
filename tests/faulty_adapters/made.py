"""Faults of values that are made, and not written by hand: each change of bytes or JSON, for each type.

A fault of one type is caught by a vector of this type alone, so the product shows types that too few vectors are about.
Faults that need to know the value, as most real ones did, are in the modules of their sections.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from conformance.adapter_sdk.serve import Arguments
from conformance.operations.wire import from_exchange
from spec_ref.core.errors import SpecError
from spec_ref.data_types.types import Type
from spec_ref.hashing import murmur3_x86_32
from spec_ref.schemas.type_json import type_from_json
from tests.faulty_adapters import Fault, Operation
from tests.faulty_adapters.hashing import LONGS, long_bytes, plain_bytes
from tests.faulty_adapters.single_values import Wrong, kind, width

Change = Callable[[bytes], bytes]

CHANGES: dict[str, Change] = {
    "reversed": lambda data: data[::-1],
    "with-a-byte-more": lambda data: data + b"\0",
    "without-the-last-byte": lambda data: data[:-1],
    "behind-their-length": lambda data: len(data).to_bytes(4, "little") + data,
    "with-the-sign-flipped": lambda data: bytes([data[0] ^ 0x80, *data[1:]]) if data else data,
    "in-hexadecimal": lambda data: data.hex().encode(),
}
"""What an implementation may do to any bytes."""

BINARY = {
    "boolean": "SVB001",
    "int": "SVB002",
    "date": "SVB002",
    "long": "SVB003",
    "time": "SVB003",
    "timestamp": "SVB003",
    "timestamptz": "SVB003",
    "timestamp_ns": "SVB003",
    "timestamptz_ns": "SVB003",
    "float": "SVB004",
    "double": "SVB004",
    "string": "SVB005",
    "uuid": "SVB006",
    "fixed": "SVB007",
    "binary": "SVB007",
    "decimal": "SVB008",
}
"""The requirement of the binary form of each type, by which a vector has to catch its faults."""

HASHED = {
    "int": "HSH002",
    "decimal": "HSH003",
    "date": "HSH004",
    "time": "HSH005",
    "timestamp": "HSH005",
    "timestamptz": "HSH005",
    "string": "HSH007",
    "uuid": "HSH007",
    "fixed": "HSH007",
    "binary": "HSH007",
}

JSON = {
    "boolean": "SVJ001",
    "int": "SVJ001",
    "long": "SVJ001",
    "float": "SVJ001",
    "double": "SVJ001",
    "decimal": "SVJ002",
    "date": "SVJ003",
    "time": "SVJ003",
    "timestamp": "SVJ004",
    "timestamptz": "SVJ004",
    "timestamp_ns": "SVJ005",
    "timestamptz_ns": "SVJ005",
    "uuid": "SVJ006",
    "fixed": "SVJ006",
    "binary": "SVJ006",
    "string": "SVJ009",
}

SHAPES: dict[str, Callable[[Any], Any]] = {
    "as-the-other-shape": lambda json: 0 if isinstance(json, str) else str(json),
    "in-a-list": lambda json: [json],
    "as-null": lambda json: None,
}

FITTED: dict[str, Callable[[bytes, int], bytes]] = {
    "padded": lambda data, size: data.ljust(size, b"\0"),
    "cut": lambda data, size: data[:size],
}
"""How an implementation may take bytes of another width than the type's."""

FIXED_WIDTH = tuple(name for name in BINARY if name not in ("string", "binary", "decimal"))


def _encoded(type_: str, change: Change) -> Wrong:
    def wrong(arguments: Arguments, right: Operation) -> Any:
        answer = right(arguments)
        if kind(type_from_json(arguments["type"])) != type_:
            return answer
        return change(bytes.fromhex(answer)).hex().upper()

    return wrong


def _decoded(type_: str, change: Change) -> Wrong:
    def wrong(arguments: Arguments, right: Operation) -> Any:
        answer = right(arguments)
        if kind(type_from_json(arguments["type"])) != type_:
            return answer
        return right({**arguments, "bytes": change(bytes.fromhex(arguments["bytes"])).hex().upper()})

    return wrong


def _tolerated(type_: str, fitted: Callable[[bytes, int], bytes]) -> Wrong:
    """Bytes of another width are made to fit where they have to be refused."""

    def wrong(arguments: Arguments, right: Operation) -> Any:
        made = type_from_json(arguments["type"])
        if kind(made) != type_:
            return right(arguments)
        try:
            return right(arguments)
        except SpecError:
            return right({**arguments, "bytes": fitted(bytes.fromhex(arguments["bytes"]), _size(made)).hex().upper()})

    return wrong


def _size(type_: Type) -> int:
    if kind(type_) == "fixed":
        return int(str(type_)[len("fixed[") : -1])
    return {"boolean": 1, "uuid": 16}.get(kind(type_)) or width(type_)


def _hashed(type_: str, change: Change) -> Wrong:
    def wrong(arguments: Arguments, right: Operation) -> Any:
        answer = right(arguments)
        made = type_from_json(arguments["type"])
        if answer is None or kind(made) != type_:
            return answer
        value = from_exchange(made, arguments["value"])
        return murmur3_x86_32(change(long_bytes(value) if type_ in LONGS else plain_bytes(value)))

    return wrong


def _written(type_: str, change: Callable[[Any], Any]) -> Wrong:
    def wrong(arguments: Arguments, right: Operation) -> Any:
        answer = right(arguments)
        return change(answer) if kind(type_from_json(arguments["type"])) == type_ else answer

    return wrong


def _made() -> Iterator[tuple[Fault, str]]:
    for type_, code in BINARY.items():
        for name, change in CHANGES.items():
            if (type_, name) == ("boolean", "reversed"):
                continue  # one byte
            yield Fault(f"encode-{type_}-{name}", "single-value.encode", _encoded(type_, change)), code
            yield Fault(f"decode-{type_}-{name}", "single-value.decode", _decoded(type_, change)), code
    for type_ in FIXED_WIDTH:
        for name, fitted in (
            ("padded", lambda data, size: data.ljust(size, b"\0")),
            ("cut", lambda data, size: data[:size]),
        ):
            yield Fault(f"decode-{type_}-{name}", "single-value.decode", _tolerated(type_, fitted)), BINARY[type_]
    for type_, code in HASHED.items():
        for name, change in CHANGES.items():
            yield Fault(f"hash-{type_}-{name}", "hash", _hashed(type_, change)), code
    for type_, code in JSON.items():
        for name, shape in SHAPES.items():
            yield Fault(f"json-write-{type_}-{name}", "json-value.encode", _written(type_, shape)), code


MADE = tuple(_made())
FAULTS = tuple(fault for fault, _ in MADE)
CODES = {fault.name: [code] for fault, code in MADE}
