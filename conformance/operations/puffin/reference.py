"""The operations of the reference implementation on Puffin files and deletion vectors.

The modules that they use are imported on first use, so that other runs start faster.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from conformance.adapter_sdk.serve import Arguments
from conformance.core.lazy_imports import lazy_imports
from conformance.operations.forms import Functions

with lazy_imports():
    from conformance.operations import wire as value_wire
    from conformance.operations.puffin import wire
    from spec_ref.deletes import deletion_vector
    from spec_ref.encodings.puffin import file
    from spec_ref.schemas import type_json
    from spec_ref.single_value import binary
    from spec_ref.statistics import theta


def _puffin_read(args: Arguments) -> object:
    return wire.file_form(file.read_puffin(bytes.fromhex(args["bytes"])))


def _puffin_write(args: Arguments) -> object:
    blobs = [wire.blob_from_form(form) for form in args["blobs"]]
    return file.write_puffin(blobs, args["properties"]).hex().upper()


def _dv_decode(functions: Functions, args: Arguments) -> object:
    vector = functions["deletion vector"](bytes.fromhex(args["bytes"]))
    return wire.vector_form(vector, functions["position ranges"](vector))


def _dv_encode(args: Arguments) -> object:
    return deletion_vector.encode_deletion_vector(wire.positions_from_ranges(args["ranges"])).hex().upper()


def _theta_decode(args: Arguments) -> object:
    return wire.sketch_form(theta.decode_theta(bytes.fromhex(args["bytes"])))


def _theta_encode(args: Arguments) -> object:
    type_ = type_json.type_from_json(args["type"])
    values = [binary.to_binary(type_, value_wire.from_exchange(type_, value)) for value in args["values"]]
    return theta.encode_theta(theta.build_sketch(values)).hex().upper()


def operations(functions: Functions) -> dict[str, Callable[[Arguments], object]]:
    """Return the operations by name."""
    return {
        "puffin.read": _puffin_read,
        "puffin.write": _puffin_write,
        "dv.decode": partial(_dv_decode, functions),
        "dv.encode": _dv_encode,
        "theta.decode": _theta_decode,
        "theta.encode": _theta_encode,
    }
