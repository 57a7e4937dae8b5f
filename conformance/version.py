"""The version of the tool."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version


@cache
def tool_version() -> str:
    """Return the installed version; ``0`` if the package is not installed, as in an engine's environment."""
    try:
        return version("iceberg-conformance")
    except PackageNotFoundError:
        return "0"
