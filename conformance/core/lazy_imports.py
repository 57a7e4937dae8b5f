"""Imports at the top of a module that load the imported modules on first use: `lazy_imports`.

Commands, families of operations and stores need modules that take long to load (Arrow, engines, the register), and most
runs use few of them. Linters, mypy and import-linter treat such an import like any other.
"""

from __future__ import annotations

import builtins
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any


class _LazyModule(ModuleType):
    """A placeholder for a module, which is imported when an attribute of it is first used.

    `importlib.util.LazyLoader` would put such a module into `sys.modules`, where other importers find it; before
    Python 3.12, a second thread could see it half loaded.
    """

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(import_module(self.__name__), name, value)

    def __delattr__(self, name: str) -> None:
        delattr(import_module(self.__name__), name)

    def __dir__(self) -> list[str]:
        return dir(import_module(self.__name__))


class _LazyParent:
    """A placeholder for a package, from which `from parent import module` takes lazy modules."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return _LazyModule(f"{self._name}.{name}")


_replacing = threading.RLock()
"""Held while `__import__` is replaced, so that threads that import modules at the same time restore the original."""


@contextmanager
def lazy_imports() -> Iterator[None]:
    """Make the imports in the block lazy; the block must come last among a module's imports.

    ``with lazy_imports(): from package import module`` works for modules only: importing a name from a module would
    load the module. Only the import statements of the block are lazy, not those of other modules or threads.
    """
    importing = sys._getframe(2).f_globals  # the module with the block: frame 0 is this function, frame 1 is contextlib

    def import_lazily(
        name: str,
        globals: Mapping[str, object] | None = None,
        locals: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        if globals is not importing:
            return original(name, globals, locals, fromlist or (), level)
        if level or not (fromlist or "." not in name):
            raise ImportError(f"lazy_imports: write 'from package import module' instead of {name!r}")
        return _LazyParent(name) if fromlist else _LazyModule(name)

    with _replacing:
        original = builtins.__import__
        builtins.__import__ = import_lazily
        try:
            yield
        finally:
            builtins.__import__ = original
