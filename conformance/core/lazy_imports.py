"""Imports at the top of a module whose modules are loaded when they are used: `lazy_imports`.

Commands, families of operations and stores need modules that take long to load (Arrow, engines, the register), and most
runs use few of them. Linters, mypy and the contracts of import-linter read such an import as any other.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any


class _LazyModule(ModuleType):
    """A name for a module, which is imported when an attribute of it is first used.

    `importlib.util.LazyLoader` would put such a module where other importers find it, and until Python 3.12 a second
    thread sees it half loaded.
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
    """What `from parent import module` and `import parent.module as name` take their modules from."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return _LazyModule(f"{self._name}.{name}")


@contextmanager
def lazy_imports() -> Iterator[None]:
    """Load the modules that the block imports when they are used; the block is the last of a module's imports.

    ``with lazy_imports(): from package import module`` imports modules only: a name inside a module would have to be
    loaded with it. Only import statements of the block itself are lazy, in no other module and no other thread.
    """
    importing = sys._getframe(2).f_globals  # of the module with the block: 0 is this function, 1 is contextlib
    original = builtins.__import__

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

    builtins.__import__ = import_lazily
    try:
        yield
    finally:
        builtins.__import__ = original
