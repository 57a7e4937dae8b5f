"""What adapters share, and the reference's; also run as ``python -m conformance.adapters.NAME``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

_ENGINES = Path(__file__).parent.parent / "engines"


class _MovedAdapters:
    """Deprecated, for one release: finds ``conformance.adapters.NAME`` in the folder of the engine."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """The adapter of an engine under the name that it had."""
        package, _, last = name.rpartition(".")
        file = _ENGINES / last / "adapter.py"
        return spec_from_file_location(name, file) if package == __name__ and file.is_file() else None


sys.meta_path.append(_MovedAdapters)
