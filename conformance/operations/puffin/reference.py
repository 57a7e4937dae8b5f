"""The operations of the reference implementation on Puffin files and deletion vectors.

Modules are imported where they are used, as runs that ask for none do not wait for them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from conformance.operations.forms import Functions

Arguments = dict[str, Any]


def _puffin_read(args: Arguments) -> object:
    from conformance.operations.puffin.wire import file_form
    from spec_ref.encodings.puffin.file import read_puffin

    return file_form(read_puffin(bytes.fromhex(args["bytes"])))


def _puffin_write(args: Arguments) -> object:
    from conformance.operations.puffin.wire import blob_from_form
    from spec_ref.encodings.puffin.file import write_puffin

    blobs = [blob_from_form(form) for form in args["blobs"]]
    return write_puffin(blobs, args["properties"]).hex().upper()


def _dv_decode(functions: Functions, args: Arguments) -> object:
    from conformance.operations.puffin.wire import vector_form

    vector = functions["deletion vector"](bytes.fromhex(args["bytes"]))
    return vector_form(vector, functions["position ranges"](vector))


def _dv_encode(args: Arguments) -> object:
    from conformance.operations.puffin.wire import positions_from_ranges
    from spec_ref.deletes.deletion_vector import encode_deletion_vector

    return encode_deletion_vector(positions_from_ranges(args["ranges"])).hex().upper()


def _theta_decode(args: Arguments) -> object:
    from conformance.operations.puffin.wire import sketch_form
    from spec_ref.statistics.theta import decode_theta

    return sketch_form(decode_theta(bytes.fromhex(args["bytes"])))


def _theta_encode(args: Arguments) -> object:
    from conformance.operations.wire import from_exchange
    from spec_ref.schemas.type_json import type_from_json
    from spec_ref.single_value.binary import to_binary
    from spec_ref.statistics.theta import build_sketch, encode_theta

    type_ = type_from_json(args["type"])
    values = [to_binary(type_, from_exchange(type_, value)) for value in args["values"]]
    return encode_theta(build_sketch(values)).hex().upper()


def operations(functions: Functions) -> dict[str, Callable[[Arguments], object]]:
    """What can be asked, by name."""
    return {
        "puffin.read": _puffin_read,
        "puffin.write": _puffin_write,
        "dv.decode": partial(_dv_decode, functions),
        "dv.encode": _dv_encode,
        "theta.decode": _theta_decode,
        "theta.encode": _theta_encode,
    }
