"""Old names of modules and of their members: using one returns the renamed object, with a warning.

They are deprecated and work for one more release. Only names that the documentation used, or that adapters share, are
here.
"""

from __future__ import annotations

import importlib.util
import sys
import warnings
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType
from typing import Any

MOVED = {
    "conformance.adapters.documents": "conformance.adapter_sdk.metadata_builders",
    "conformance.adapters.native": "conformance.adapter_sdk.lenient_values",
    "conformance.adapters": "conformance.adapter_sdk",
    "conformance.pipeline": "conformance.table_io",
    "conformance.stores": "conformance.table_io.stores",
    "conformance.vector_lint": "conformance.vectors.lint",
    "conformance.writing": "conformance.table_io.writing",
}
"""The new name of each module or package by its old name; a module is listed before its package."""

ADAPTERS = "conformance.adapters."
ENGINES = "conformance.engines"


def new_name(name: str) -> str | None:
    """Return the new name of a module; None if it was never moved."""
    for old, new in MOVED.items():
        if name == old or name.startswith(f"{old}."):
            moved = new + name.removeprefix(old)
            return moved if not name.startswith(ADAPTERS) else _adapter(name.removeprefix(ADAPTERS)) or moved
    return None


def _adapter(name: str) -> str | None:
    """Return the module of an engine that was called ``conformance.adapters.NAME`` or ``NAME_PART``."""
    folder, _, part = name.rpartition("_")
    for module in (f"{ENGINES}.{name}.adapter", f"{ENGINES}.{folder}.{part}"):
        if importlib.util.find_spec(module.rpartition(".")[0]) and importlib.util.find_spec(module):
            return module
    return None


class _Moved:
    """Loads a module by its new name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.spec: ModuleSpec | None = None

    def create_module(self, _spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self.name)
        self.spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec  # already executed under its new name

    def get_code(self, _name: str) -> CodeType | None:
        """Return the code that ``python -m`` runs."""
        spec = importlib.util.find_spec(self.name)
        assert spec is not None
        assert spec.loader is not None
        code: CodeType | None = spec.loader.get_code(self.name)  # type: ignore[attr-defined]
        return code


class _Finder:
    """Finds modules by their old names."""

    @staticmethod
    def find_spec(
        name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not name.startswith("conformance."):
            return None
        new = new_name(name)
        if new is None:
            return None
        warnings.warn(f"{name} is deprecated; use {new}", DeprecationWarning, stacklevel=2)
        return importlib.util.spec_from_loader(name, _Moved(new))  # type: ignore[arg-type]


def install_aliases() -> None:
    """Let modules be imported by their old names."""
    if not any(finder is _Finder for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder)


def renamed_member(module: str, renamed: Mapping[str, str], name: str) -> Any:
    """Return a member of a module by its old name, and warn; for `__getattr__` of modules.

    Args:
        module: The name of the module.
        renamed: The new name of each renamed member by its old name.
        name: The name that is looked up.

    Raises:
        AttributeError: No member had this name.
    """
    if name not in renamed:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    new = renamed[name]
    warnings.warn(f"{module}.{name} is deprecated; use {module}.{new}", DeprecationWarning, stacklevel=3)
    return getattr(importlib.import_module(module), new)
