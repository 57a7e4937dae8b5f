"""The engines that come with the tool: a folder for each, with everything about it.

`conformance.engine_setup.folders` describes what a folder may have. Nothing is imported here, as the adapters in the
folders run in the environments of their engines.
"""

from __future__ import annotations

from typing import Any

_MOVED = ("EngineError", "EngineStatus", "Launch", "engine_status", "find_engine", "install", "launch", "list_engines")


def __getattr__(name: str) -> Any:
    """Deprecated, for one release: what is in `conformance.engine_setup` was here."""
    if name not in _MOVED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from conformance import engine_setup

    return getattr(engine_setup, name)
