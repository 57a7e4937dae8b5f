"""Faults of type strings (Appendix C, Schemas)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from conformance.adapter_sdk.serve import Arguments
from tests.faulty_adapters import Fault, Operation


def respelled(change: Callable[[str], str]) -> Callable[[Arguments, Operation], Any]:
    """Make a fault that writes another type string."""

    def wrong(arguments: Arguments, right: Operation) -> Any:
        answer = right(arguments)
        return change(answer) if isinstance(answer, str) else answer

    return wrong


def read_as(change: Callable[[str], str]) -> Callable[[Arguments, Operation], Any]:
    """Make a fault that reads a type string as another one."""

    def wrong(arguments: Arguments, right: Operation) -> Any:
        type_ = arguments["type"]
        return right({**arguments, "type": change(type_)} if isinstance(type_, str) else arguments)

    return wrong


def _any_name(arguments: Arguments, right: Operation) -> Any:
    type_ = arguments["type"]
    return type_ if isinstance(type_, str) and re.fullmatch(r"[a-z_0-9]+", type_) else right(arguments)


def _wide_decimal(arguments: Arguments, right: Operation) -> Any:
    type_ = arguments["type"]
    if isinstance(type_, str) and (found := re.fullmatch(r"decimal\((\d+), ?(\d+)\)", type_)):
        return f"decimal({found[1]}, {found[2]})"
    return right(arguments)


FAULTS = tuple(
    Fault(f"type-{name}", "type.parse", wrong)
    for name, wrong in {
        "fixed-in-parentheses": respelled(lambda text: re.sub(r"fixed\[(\d+)\]", r"fixed(\1)", text)),
        "nanoseconds-misnamed": respelled(lambda text: text.replace("timestamp_ns", "timestampns")),
        "timestamptz-as-timestamp": respelled(lambda text: "timestamp" if text == "timestamptz" else text),
        "geometry-crs-quoted": respelled(lambda text: re.sub(r"geometry\((.*)\)", r"geometry('\1')", text)),
        "geography-algorithm-lost": respelled(lambda text: re.sub(r"(geography\([^,]*),.*\)", r"\1)", text)),
        "any-case-accepted": read_as(str.lower),
        "any-name-accepted": _any_name,
        "decimal-precision-unchecked": _wide_decimal,
        "integer-alias": read_as(lambda text: {"integer": "int", "bigint": "long", "bool": "boolean"}.get(text, text)),
    }.items()
)
