"""Faults of JSON single values (Appendix D)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from conformance.adapter_sdk.serve import Arguments
from spec_ref.data_types.types import DecimalType
from spec_ref.schemas.type_json import type_from_json
from tests.faulty_adapters import Fault, Operation
from tests.faulty_adapters.single_values import Wrong, kind


def written(types: str, change: Callable[[Any], Any]) -> Wrong:
    """Make a fault that changes the JSON written for the types that match."""

    def wrong(arguments: Arguments, right: Operation) -> Any:
        answer = right(arguments)
        return change(answer) if re.fullmatch(types, kind(type_from_json(arguments["type"]))) else answer

    return wrong


def read(types: str, mend: Callable[[Any], Any]) -> Wrong:
    """Make a fault that reads a JSON value of the types that match as another one, often a valid one."""

    def wrong(arguments: Arguments, right: Operation) -> Any:
        if not re.fullmatch(types, kind(type_from_json(arguments["type"]))):
            return right(arguments)
        return right({**arguments, "json": mend(arguments["json"])})

    return wrong


def texts(pattern: str, replacement: str | Callable[[re.Match[str]], str]) -> Callable[[Any], Any]:
    """A replacement in JSON strings; other values stay."""
    return lambda json: re.sub(pattern, replacement, json) if isinstance(json, str) else json


def integers(mend: Callable[[float], int]) -> Callable[[Any], Any]:
    """A replacement of JSON numbers that are not integers."""
    return lambda json: mend(json) if isinstance(json, float) and math.isfinite(json) else json


def wrapped(bits: int) -> Callable[[Any], Any]:
    """An integer out of range, taken modulo its width."""

    def wrap(json: Any) -> Any:
        if not isinstance(json, int) or isinstance(json, bool):
            return json
        return (json + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)

    return wrap


def _fraction_as_count(match: re.Match[str]) -> str:
    """Reads ``.5`` as five of the smallest unit; ``.1234567`` as that many nanoseconds."""
    return "." + match[1].rjust(6 if len(match[1]) <= 6 else 9, "0")


def _fraction_cut(match: re.Match[str]) -> str:
    return "." + match[1][:6]


def _fixed_length(arguments: Arguments, right: Operation) -> Any:
    type_ = str(type_from_json(arguments["type"]))
    if not type_.startswith("fixed") or not isinstance(arguments["json"], str):
        return right(arguments)
    length = 2 * int(type_[len("fixed[") : -1])
    return right({**arguments, "json": arguments["json"][:length].ljust(length, "0")})


def _any_scale(arguments: Arguments, right: Operation) -> Any:
    """Takes a decimal of another scale and brings it to the type's."""
    type_ = type_from_json(arguments["type"])
    json = arguments["json"]
    if not isinstance(type_, DecimalType) or not isinstance(json, str) or not re.fullmatch(r"-?\d+(\.\d+)?", json):
        return right(arguments)
    whole, _, fraction = json.partition(".")
    if type_.scale <= 0:
        return right({**arguments, "json": whole})
    return right({**arguments, "json": f"{whole}.{fraction[: type_.scale].ljust(type_.scale, '0')}"})


def _any_precision(arguments: Arguments, right: Operation) -> Any:
    type_ = type_from_json(arguments["type"])
    if not isinstance(type_, DecimalType):
        return right(arguments)
    return right({**arguments, "type": str(DecimalType(38, type_.scale))})


def _number_for_decimal(json: Any) -> Any:
    return str(json) if isinstance(json, (int, float)) and not isinstance(json, bool) else json


def _offset_applied(match: re.Match[str]) -> str:
    return "+00:00"


def _day_rolled_over(match: re.Match[str]) -> str:
    """Reads a day that its month does not have as the last one that all months have."""
    year, month, day = match.groups()
    return f"{year}-{month}-{min(int(day), 28):02d}" if int(day) in (29, 30, 31) and month == "02" else match[0]


def _short_map(json: Any) -> Any:
    if not isinstance(json, dict) or not {"keys", "values"} <= json.keys():
        return json
    keys, values = json["keys"], json["values"]
    if not isinstance(keys, list) or not isinstance(values, list):
        return json
    count = min(len(keys), len(values))
    return {"keys": keys[:count], "values": values[:count]}


ZONED = r"timestamptz.*"
LOCAL = r"timestamp|timestamp_ns"
INSTANTS = r"timestamp.*"

FAULTS = (
    tuple(
        Fault(f"json-write-{name}", "json-value.encode", wrong)
        for name, wrong in {
            "uuid-upper-case": written("uuid", lambda json: json.upper()),
            "binary-without-leading-zeros": written("binary|fixed", texts("^0+", "")),
            "binary-base64-prefix": written("binary|fixed", lambda json: "0x" + json),
            "decimal-trailing-zeros-dropped": written("decimal", texts(r"(\.\d*?)0+$", r"\1")),
            "decimal-negative-scale-expanded": written("decimal", texts(r"^(-?\d+)E\+\d+$", r"\g<1>00")),
            "zone-written-z": written(ZONED, texts(r"\+00:00$", "Z")),
            "zone-left-out": written(ZONED, texts(r"\+00:00$", "")),
            "zone-added": written(LOCAL, lambda json: json + "+00:00"),
            "space-for-t": written(INSTANTS, texts("T", " ")),
            "nanoseconds-cut": written(r"timestamp.*_ns", texts(r"(\.\d{6})\d{3}", r"\1")),
            "time-cut-to-milliseconds": written("time", texts(r"(\.\d{3})\d{3}$", r"\1")),
        }.items()
    )
    + tuple(
        Fault(f"json-read-{name}", "json-value.decode", wrong)
        for name, wrong in {
            "fraction-as-count": read("time.*", texts(r"\.(\d+)", _fraction_as_count)),
            "fraction-cut-to-microseconds": read("time.*", texts(r"\.(\d+)", _fraction_cut)),
            "int-wrapped": read("int", wrapped(32)),
            "long-wrapped": read("long", wrapped(64)),
            "float-for-integer-cut": read("int|long", integers(int)),
            "boolean-for-integer": read("int|long", lambda json: int(json) if isinstance(json, bool) else json),
            "text-for-integer": read(
                "int|long", lambda json: int(json) if isinstance(json, str) and json.isdecimal() else json
            ),
            "number-for-boolean": read("boolean", lambda json: bool(json) if type(json) is int else json),
            "text-for-boolean": read("boolean", lambda json: json == "true" if isinstance(json, str) else json),
            "number-for-decimal": read("decimal", _number_for_decimal),
            "decimal-any-scale": _any_scale,
            "decimal-any-precision": _any_precision,
            "fixed-any-length": _fixed_length,
            "hex-odd-digits": read(
                "binary|fixed", lambda json: "0" + json if isinstance(json, str) and len(json) % 2 else json
            ),
            "offset-ignored": read(ZONED, texts(r"[+-]\d\d:\d\d$", _offset_applied)),
            "offset-missing-accepted": read(ZONED, texts(r"(\d\d:\d\d(:\d\d(\.\d+)?)?)$", r"\1+00:00")),
            "offset-on-local-accepted": read(LOCAL, texts(r"(\+\d\d:\d\d|Z)$", "")),
            "space-for-t-accepted": read(INSTANTS, texts(" ", "T")),
            "day-rolled-over": read("date|timestamp.*", texts(r"(\d+)-(\d\d)-(\d\d)", _day_rolled_over)),
            "leap-second-accepted": read("time.*", texts(r":60", ":59")),
            "midnight-24-accepted": read("time.*", texts(r"(^|T)24:", r"\g<1>00:")),
            "uuid-without-dashes": read("uuid", texts(r"^(\w{8})(\w{4})(\w{4})(\w{4})(\w{12})$", r"\1-\2-\3-\4-\5")),
            "uuid-in-braces": read("uuid", texts(r"[{}]", "")),
            "text-trimmed": read(
                "date|time.*|uuid|decimal", lambda json: json.strip() if isinstance(json, str) else json
            ),
            "number-for-date": read("date", lambda json: "1970-01-01" if type(json) is int else json),
            "number-for-string": read("string", lambda json: str(json) if type(json) is int else json),
        }.items()
    )
    + tuple(
        Fault(f"json-nested-{name}", "json-value.round-trip", wrong)
        for name, wrong in {
            "map-cut-to-shorter": read("map<.*>", _short_map),
        }.items()
    )
)
