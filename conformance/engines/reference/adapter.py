"""The adapters of the reference implementation, `spec_ref`: ``reference`` and ``reference:plain``.

They differ in what `conformance.engines.reference.forms` lists, and nowhere else.

An operation raises `SpecError` for input that the spec refuses: pass `REFUSALS` to `serve` with the operations.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import Any

from conformance.adapters.serve import serve
from conformance.engines.reference import expressions, manifests, metadata, puffin
from conformance.engines.reference.forms import FAST, PLAIN, Functions, functions
from conformance.exchange import from_exchange, to_exchange
from conformance.exchange_bounds import bound_from_exchange, bound_to_exchange
from conformance.version import tool_version
from spec_ref.core.errors import SpecError
from spec_ref.data_types.types import Type
from spec_ref.hashing import hash_value
from spec_ref.partitioning.transforms import parse_transform
from spec_ref.schemas.type_json import type_from_json, type_to_json
from spec_ref.single_value.binary import from_binary, to_binary
from spec_ref.single_value.bounds import decode_bound, encode_bound, truncate_lower, truncate_upper
from spec_ref.single_value.json_value import from_json, to_json

Arguments = dict[str, Any]

REFUSALS = (SpecError,)
"""What the operations raise where the spec refuses the input."""


NAMES = {FAST: "reference", PLAIN: "reference:plain"}
"""The adapters, by the form of the reference that each runs."""


def implementation(form: str = FAST) -> dict[str, Any]:
    """Who answers."""
    return {"implementation": NAMES[form], "version": tool_version(), "format_versions": [1, 2, 3]}


def _type(json: Any) -> Type:
    return _named_type(json) if isinstance(json, str) else type_from_json(json)


# Vectors ask for the same few types and transforms again and again.
_named_type = lru_cache(maxsize=4096)(type_from_json)
_transform_of = lru_cache(maxsize=4096)(parse_transform)


def _hash(args: Arguments) -> int | None:
    type_ = _type(args["type"])
    return hash_value(type_, from_exchange(type_, args["value"]))


def _transform(args: Arguments) -> object:
    source = _type(args["type"])
    transform = _transform_of(args["transform"])
    result = transform.result_type(source)
    return to_exchange(result, transform.apply(source, from_exchange(source, args["value"])))


def _single_value_encode(args: Arguments) -> str:
    type_ = _type(args["type"])
    return to_binary(type_, from_exchange(type_, args["value"])).hex().upper()


def _single_value_decode(args: Arguments) -> object:
    type_ = _type(args["type"])
    return to_exchange(type_, from_binary(type_, bytes.fromhex(args["bytes"])))


def _json_value_encode(args: Arguments) -> object:
    type_ = _type(args["type"])
    return to_json(type_, from_binary(type_, bytes.fromhex(args["bytes"])))


def _json_value_decode(args: Arguments) -> str:
    type_ = _type(args["type"])
    return to_binary(type_, from_json(type_, args["json"])).hex().upper()


def _json_value_round_trip(args: Arguments) -> object:
    type_ = _type(args["type"])
    return to_json(type_, from_json(type_, args["json"]))


def _bound_encode(args: Arguments) -> str:
    type_ = _type(args["type"])
    return encode_bound(type_, bound_from_exchange(type_, args["value"])).hex().upper()


def _bound_decode(args: Arguments) -> object:
    type_ = _type(args["type"])
    return bound_to_exchange(type_, decode_bound(type_, bytes.fromhex(args["bytes"])))


TRUNCATE = {"lower": truncate_lower, "upper": truncate_upper}


def _bound_truncate(args: Arguments) -> object:
    type_ = _type(args["type"])
    shortened = TRUNCATE[args["side"]](type_, from_exchange(type_, args["value"]), args["width"])
    return to_exchange(type_, shortened)


def _type_parse(args: Arguments) -> object:
    return type_to_json(type_from_json(args["type"]))


def operations(form: str = FAST) -> dict[str, Callable[[Arguments], object]]:
    """What can be asked of the reference, by name.

    Args:
        form: which of its two forms answers, `FAST` or `PLAIN` (`conformance.engines.reference.forms`).
    """
    called = functions(form)
    return {
        "hash": _hash,
        "transform": _transform,
        "single-value.encode": _single_value_encode,
        "single-value.decode": _single_value_decode,
        "json-value.encode": _json_value_encode,
        "json-value.decode": _json_value_decode,
        "json-value.round-trip": _json_value_round_trip,
        "bound.encode": _bound_encode,
        "bound.decode": _bound_decode,
        "bound.truncate": _bound_truncate,
        "type.parse": _type_parse,
        **metadata.operations(),
        **manifests.operations(called),
        **puffin.operations(called),
        **expressions.operations(),
        **{name: _when_asked(name, module, called) for name, module in OF_TABLES[form].items()},
    }


OF_TABLES = {
    FAST: {
        "commit.replay": "conformance.engines.reference.commits",
        "scan.plan": "conformance.engines.reference.tables",
        "table.change": "conformance.engines.reference.writing",
        "table.read": "conformance.engines.reference.tables",
        "table.write": "conformance.engines.reference.writing",
    },
    PLAIN: {
        "commit.replay": "conformance.engines.reference.commits",
        "scan.plan": "conformance.engines.reference.tables",
        "table.read": "conformance.engines.reference.tables",
    },
}
"""The operations that take longer to load than most questions to answer, by module."""


def _when_asked(name: str, module: str, called: Functions) -> Callable[[Arguments], object]:
    """An operation whose module is loaded with the first question."""

    def ask(args: Arguments) -> object:
        answer: object = import_module(module).operations(called)[name](args)
        return answer

    return ask


def main() -> None:
    """Serve the reference on standard input and output."""
    serve(implementation(), operations(), REFUSALS)


if __name__ == "__main__":
    main()
