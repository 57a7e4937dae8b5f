"""The engines that come with the tool, with one folder for each.

`conformance.engine_setup.folders` describes the contents of a folder. Nothing is imported here, because the adapters in
the folders run in the environments of their engines.
"""

from __future__ import annotations

from typing import Any

from conformance.core.lazy_imports import lazy_imports

with lazy_imports():
    from conformance import engine_setup

_MOVED = ("EngineError", "EngineStatus", "Launch", "engine_status", "find_engine", "install", "launch", "list_engines")


def __getattr__(name: str) -> Any:
    """Deprecated for one release: load names that moved to `conformance.engine_setup`."""
    if name not in _MOVED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(engine_setup, name)
