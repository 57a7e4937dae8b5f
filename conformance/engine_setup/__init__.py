"""Real engines: list them, install them, and start their adapters.

>>> from conformance.engine_setup import install, launch
>>> install("pyiceberg")
>>> launch("pyiceberg").command
['.../bin/python', '.../conformance/engines/pyiceberg/adapter.py']
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conformance.engine_setup.api import EngineStatus, Launch, engine_status, install, launch, list_engines
    from conformance.engine_setup.catalog import Engine, EngineError, find_engine

__all__ = [
    "Engine",
    "EngineError",
    "EngineStatus",
    "Launch",
    "engine_status",
    "find_engine",
    "install",
    "launch",
    "list_engines",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # Only when it is used, as every validation imports `conformance.engine_setup.folders`.
    from conformance.engine_setup import api  # noqa: PLC0415

    return getattr(api, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
