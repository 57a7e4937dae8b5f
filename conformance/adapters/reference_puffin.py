"""The operations of the reference implementation on Puffin files and deletion vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.exchange_puffin import blob_from_form, file_form, positions_from_ranges, vector_form
from spec_ref.deletes.deletion_vector import decode_deletion_vector, encode_deletion_vector
from spec_ref.formats.puffin import read_puffin, write_puffin

Arguments = dict[str, Any]


def _puffin_read(args: Arguments) -> object:
    return file_form(read_puffin(bytes.fromhex(args["bytes"])))


def _puffin_write(args: Arguments) -> object:
    blobs = [blob_from_form(form) for form in args["blobs"]]
    return write_puffin(blobs, args["properties"]).hex().upper()


def _dv_decode(args: Arguments) -> object:
    return vector_form(decode_deletion_vector(bytes.fromhex(args["bytes"])))


def _dv_encode(args: Arguments) -> object:
    return encode_deletion_vector(positions_from_ranges(args["ranges"])).hex().upper()


def operations() -> dict[str, Callable[[Arguments], object]]:
    """What can be asked, by name."""
    return {
        "puffin.read": _puffin_read,
        "puffin.write": _puffin_write,
        "dv.decode": _dv_decode,
        "dv.encode": _dv_encode,
    }
