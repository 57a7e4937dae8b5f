"""The version of the tool."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version


@cache
def tool_version() -> str:
    """The installed version; ``0`` where the code runs without being installed, as in an engine's environment."""
    try:
        return version("iceberg-conformance")
    except PackageNotFoundError:
        return "0"
