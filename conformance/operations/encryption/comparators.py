"""Compare answers about encrypted files. Nonces are random, so written files are read, and their contents compared."""

from __future__ import annotations

from itertools import islice
from typing import Any

from conformance.core.lazy_imports import lazy_imports
from conformance.operations.comparison import (
    MAX_DIFFERENCES,
    Comparator,
    Differences,
    Undecodable,
    json_differences,
)
from spec_ref.core.errors import SpecError

with lazy_imports():
    from spec_ref.encodings import aes_gcm_stream


def compare_content(_args: dict[str, Any], expected: dict[str, str], got: dict[str, str]) -> Differences:
    """Compare the content of a file; hexadecimal digits may have either case."""
    return _differences(expected["bytes"].upper(), got["bytes"].upper())


def compare_written_stream(args: dict[str, Any], _expected: str, got: str) -> Differences:
    """Check that a written stream follows every rule, and compare its content with what was to be written."""
    data = bytes.fromhex(got)
    try:
        key = aes_gcm_stream.StreamKey(bytes.fromhex(args["key"]), bytes.fromhex(args["aad-prefix"]))
        aes_gcm_stream.check_nonces(data)
        found = aes_gcm_stream.read_stream(data, key, len(data))
    except SpecError as error:
        raise Undecodable(f"the written stream breaks a rule: {error}") from None
    return _differences(args["bytes"].upper(), found.hex().upper())


def _differences(expected: Any, got: Any) -> Differences:
    return tuple(islice(json_differences(expected, got), MAX_DIFFERENCES))


COMPARATORS: dict[str, Comparator] = {"gcm.decrypt": compare_content, "gcm.encrypt": compare_written_stream}
"""The comparator of each operation."""
