"""How the reference implementation serializes single values."""

from __future__ import annotations

from collections.abc import Callable

from conformance.adapter_sdk.serve import Arguments
from conformance.operations.comparison import type_argument
from conformance.operations.forms import Functions
from conformance.operations.wire import from_exchange, to_exchange
from spec_ref.single_value.binary import from_binary, to_binary
from spec_ref.single_value.json_value import from_json, to_json


def _single_value_encode(args: Arguments) -> str:
    type_ = type_argument(args)
    return to_binary(type_, from_exchange(type_, args["value"])).hex().upper()


def _single_value_decode(args: Arguments) -> object:
    type_ = type_argument(args)
    return to_exchange(type_, from_binary(type_, bytes.fromhex(args["bytes"])))


def _json_value_encode(args: Arguments) -> object:
    type_ = type_argument(args)
    return to_json(type_, from_binary(type_, bytes.fromhex(args["bytes"])))


def _json_value_decode(args: Arguments) -> str:
    type_ = type_argument(args)
    return to_binary(type_, from_json(type_, args["json"])).hex().upper()


def _json_value_round_trip(args: Arguments) -> object:
    type_ = type_argument(args)
    return to_json(type_, from_json(type_, args["json"]))


def operations(_: Functions) -> dict[str, Callable[[Arguments], object]]:
    """Return the operations by name."""
    return {
        "single-value.encode": _single_value_encode,
        "single-value.decode": _single_value_decode,
        "json-value.encode": _json_value_encode,
        "json-value.decode": _json_value_decode,
        "json-value.round-trip": _json_value_round_trip,
    }
