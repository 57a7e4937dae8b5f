"""Import a mutant in place of its module."""

from __future__ import annotations

import ast
import importlib.abc
import importlib.machinery
import importlib.util
from types import CodeType

from tools.mutants.mutant import ROOT, Mutant


class _Changed(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, tree: ast.Module) -> None:
        super().__init__(name, path)
        self.tree = tree

    def get_code(self, fullname: str) -> CodeType:
        return compile(self.tree, self.path, "exec", dont_inherit=True)


class Finder(importlib.abc.MetaPathFinder):
    """Finds the mutant instead of its module, once it is first in ``sys.meta_path``."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant
        self.tree = mutant.tree()

    def find_spec(self, fullname: str, _path: object, _target: object = None) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.mutant.module:
            return None
        path = str(ROOT / self.mutant.file)
        return importlib.util.spec_from_file_location(fullname, path, loader=_Changed(fullname, path, self.tree))
