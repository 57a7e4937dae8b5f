"""The adapter of Iceberg's Rust library (iceberg-rust), as far as ``pyiceberg-core`` exposes it."""

from __future__ import annotations

import re
from importlib.metadata import version
from typing import Any

import pyarrow as pa
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyiceberg_core import transform as core

from conformance.adapter_sdk import lenient_values as native
from conformance.adapter_sdk.serve import Arguments, Invalid, Unsupported, serve
from conformance.engines.pyiceberg.adapter import engine_type
from conformance.engines.pyiceberg_core import manifests

REFUSALS = (ValueError, OverflowError, pa.ArrowException)

_NUMBERED = re.compile(r"(bucket|truncate)\[([0-9]+)\]")
_PLAIN = ("identity", "void", "year", "month", "day", "hour")


def _transform(args: Arguments) -> object:
    text = args["transform"]
    numbered = _NUMBERED.fullmatch(text)
    if numbered is None and text not in _PLAIN:
        raise Unsupported("this adapter does not parse the text of a transform")
    function = getattr(core, numbered[1] if numbered else text)
    arrow = _arrow_type(args["type"])
    value = native.read(args["type"], args["value"])
    if native.kind(args["type"]) == "uuid":
        arrow, value = pa.binary(16), value and value.bytes
    try:
        array = pa.array([value], arrow)
    except (pa.ArrowException, OverflowError) as error:
        raise Unsupported(f"Arrow cannot hold the value: {error}") from error
    try:
        result = function(array, int(numbered[2])) if numbered else function(array)
    except (ValueError, RuntimeError) as error:
        raise (Unsupported if "FeatureUnsupported" in str(error) else Invalid)(str(error)) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise RuntimeError(f"panic: {error}") from error
    return _exchange(args["type"], text, result)


def _arrow_type(type_: Any) -> Any:
    if native.kind(type_) in ("geometry", "geography"):
        raise Unsupported("PyIceberg has no Arrow type for geometries")
    if type_ == "binary":
        return pa.binary()  # the one of the two layouts that the library accepts
    return schema_to_pyarrow(engine_type(type_))


def _exchange(source: Any, text: str, result: Any) -> object:
    if text.startswith(("identity", "truncate")):
        kind: Any = source
    else:
        kind = "date" if pa.types.is_date(result.type) else "int"
    if pa.types.is_temporal(result.type):
        result = result.cast(pa.int32() if pa.types.is_date32(result.type) else pa.int64())
    return native.write(kind, result[0].as_py())


def main() -> None:
    """Serve the Rust library on standard input and output."""
    serve(
        {
            "implementation": "pyiceberg-core",
            "version": f"{version('pyiceberg-core')}",
            "language": "rust",
            "format_versions": [1, 2, 3],
        },
        {"transform": _transform, **manifests.operations()},
        REFUSALS,
    )


if __name__ == "__main__":
    main()
