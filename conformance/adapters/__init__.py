"""What adapters share. Each adapter is in the folder of its engine, in `conformance.engines`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

_ENGINES = Path(__file__).parent.parent / "engines"


class _MovedAdapters:
    """Deprecated, for one release: finds ``conformance.adapters.NAME`` or ``NAME_PART`` in the folder of the engine."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """A module of an engine under the name that it had."""
        package, _, last = name.rpartition(".")
        if package != __name__:
            return None
        folder, _, part = last.rpartition("_")
        for file in (_ENGINES / last / "adapter.py", _ENGINES / folder / f"{part}.py"):
            if file.is_file():
                return spec_from_file_location(name, file)
        return None


sys.meta_path.append(_MovedAdapters)
