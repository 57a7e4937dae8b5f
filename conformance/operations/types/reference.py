"""How the reference implementation parses types."""

from __future__ import annotations

from collections.abc import Callable

from conformance.adapter_sdk.serve import Arguments
from conformance.operations.forms import Functions
from spec_ref.schemas.type_json import type_from_json, type_to_json


def _type_parse(args: Arguments) -> object:
    return type_to_json(type_from_json(args["type"]))


def operations(_: Functions) -> dict[str, Callable[[Arguments], object]]:
    """Return the operations by name."""
    return {
        "type.parse": _type_parse,
    }
