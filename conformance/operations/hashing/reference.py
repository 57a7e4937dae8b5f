"""How the reference implementation computes hashes."""

from __future__ import annotations

from collections.abc import Callable

from conformance.adapter_sdk.serve import Arguments
from conformance.operations.comparison import type_argument
from conformance.operations.forms import Functions
from conformance.operations.wire import from_exchange
from spec_ref.hashing import hash_value


def _hash(args: Arguments) -> int | None:
    type_ = type_argument(args)
    return hash_value(type_, from_exchange(type_, args["value"]))


def operations(_: Functions) -> dict[str, Callable[[Arguments], object]]:
    """Return the operations by name."""
    return {
        "hash": _hash,
    }
