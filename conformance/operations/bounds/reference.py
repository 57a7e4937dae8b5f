"""How the reference implementation computes bounds."""

from __future__ import annotations

from collections.abc import Callable

from conformance.adapter_sdk.serve import Arguments
from conformance.operations.bounds.wire import bound_from_exchange, bound_to_exchange
from conformance.operations.comparison import type_argument
from conformance.operations.forms import Functions
from conformance.operations.wire import from_exchange, to_exchange
from spec_ref.single_value.bounds import decode_bound, encode_bound, truncate_lower, truncate_upper


def _bound_encode(args: Arguments) -> str:
    type_ = type_argument(args)
    return encode_bound(type_, bound_from_exchange(type_, args["value"])).hex().upper()


def _bound_decode(args: Arguments) -> object:
    type_ = type_argument(args)
    return bound_to_exchange(type_, decode_bound(type_, bytes.fromhex(args["bytes"])))


TRUNCATE = {"lower": truncate_lower, "upper": truncate_upper}


def _bound_truncate(args: Arguments) -> object:
    type_ = type_argument(args)
    shortened = TRUNCATE[args["side"]](type_, from_exchange(type_, args["value"]), args["width"])
    return to_exchange(type_, shortened)


def operations(_: Functions) -> dict[str, Callable[[Arguments], object]]:
    """Return the operations by name."""
    return {
        "bound.encode": _bound_encode,
        "bound.decode": _bound_decode,
        "bound.truncate": _bound_truncate,
    }
