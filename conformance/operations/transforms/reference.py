"""How the reference implementation applies transforms."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from conformance.adapter_sdk.serve import Arguments
from conformance.operations.comparison import type_argument
from conformance.operations.forms import Functions
from conformance.operations.wire import from_exchange, to_exchange
from spec_ref.partitioning.transforms import parse_transform

# Vectors use the same few transforms again and again.
_parse_transform = lru_cache(maxsize=4096)(parse_transform)


def _transform(args: Arguments) -> object:
    source = type_argument(args)
    transform = _parse_transform(args["transform"])
    result = transform.result_type(source)
    return to_exchange(result, transform.apply(source, from_exchange(source, args["value"])))


def operations(_: Functions) -> dict[str, Callable[[Arguments], object]]:
    """Return the operations by name."""
    return {
        "transform": _transform,
    }
