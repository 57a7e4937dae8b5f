"""The operations of the reference implementation on encrypted files.

The library for AES is optional; without it, the operations are not supported.
"""

from __future__ import annotations

from collections.abc import Callable

from conformance.adapter_sdk.serve import Arguments, Unsupported
from conformance.core.lazy_imports import lazy_imports
from conformance.operations.forms import Functions

with lazy_imports():
    from spec_ref.encodings import aes_gcm_stream


def _decrypt(args: Arguments) -> object:
    found = aes_gcm_stream.read_stream(bytes.fromhex(args["bytes"]), _key(args), int(args["length"]))
    return {"bytes": found.hex().upper()}


def _encrypt(args: Arguments) -> object:
    return aes_gcm_stream.write_stream(bytes.fromhex(args["bytes"]), _key(args)).hex().upper()


def _key(args: Arguments) -> aes_gcm_stream.StreamKey:
    return aes_gcm_stream.StreamKey(bytes.fromhex(args["key"]), bytes.fromhex(args["aad-prefix"]))


def _with_library(operation: Callable[[Arguments], object]) -> Callable[[Arguments], object]:
    def run(args: Arguments) -> object:
        try:
            return operation(args)
        except ModuleNotFoundError as error:
            raise Unsupported(str(error)) from None

    return run


def operations(_functions: Functions) -> dict[str, Callable[[Arguments], object]]:
    """Return the operations by name."""
    return {"gcm.decrypt": _with_library(_decrypt), "gcm.encrypt": _with_library(_encrypt)}
