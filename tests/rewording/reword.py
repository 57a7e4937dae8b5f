"""Reword every message of a violation, a finding and a refusal at random, to show that nothing depends on the text.

``pytest --reword`` installs this in its own process, and `sitecustomize` beside it in every Python process that the
tests start. Codes, checks, places, found and expected values are left as they are, and so are the words of engines,
which adapters hand on: they are data of a run, and differ from version to version.
"""

from __future__ import annotations

import functools
import os
import random
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

SEED = "ICEBERG_TESTS_REWORD"
"""The environment variable with the seed of the words."""

WORDS = (
    "alder",
    "aspen",
    "beech",
    "birch",
    "cedar",
    "cherry",
    "cypress",
    "elder",
    "fir",
    "hawthorn",
    "hazel",
    "juniper",
    "larch",
    "linden",
    "maple",
    "medlar",
    "oak",
    "pine",
    "poplar",
    "quince",
    "rowan",
    "spruce",
    "willow",
    "yew",
)
MARKS = ("", "", "", "", ",", ":", ";", " -", " (so)", " [so]", ".")
"""What may follow a word: a parser that splits at punctuation finds it in other places."""

MESSAGES: dict[str, dict[str, tuple[str, int | None]]] = {
    "spec_ref.core.errors": {"Violation": ("message", None)},
    "conformance.scripts.errors": {"ForbiddenOperation": ("message", 1)},
    "conformance.properties.scenarios": {"Refusal": ("message", 1)},
    "conformance.races.stress.judge": {"Problem": ("message", 1)},
}
"""The parameter that is a message, by module and class: its name, and its place where it may be given by that."""


def reworded(text: str, words: random.Random) -> str:
    """Other words than ``text``; a text that was reworded before, and an empty one, as it is."""
    if not text or set("".join(one if one.isalpha() else " " for one in text).split()) <= {*WORDS, "so"}:
        return text
    return " ".join(f"{words.choice(WORDS)}{words.choice(MARKS)}" for _ in range(words.randint(5, 9)))


def reword_class(made: type, name: str, position: int | None, words: random.Random) -> None:
    """Reword the message of every instance that is made from now on."""
    original: Any = made.__init__  # type: ignore[misc]  # that of this class alone

    @functools.wraps(original)
    def init(self: Any, *given: Any, **named: Any) -> None:
        if isinstance(named.get(name), str):
            named[name] = reworded(named[name], words)
        elif position is not None and position < len(given) and isinstance(given[position], str):
            given = (*given[:position], reworded(given[position], words), *given[position + 1 :])
        original(self, *given, **named)

    made.__init__ = init  # type: ignore[misc]


def without_messages(document: Any) -> Any:
    """A report as JSON without what its findings say, to compare two reports."""
    match document:
        case dict():
            return {key: without_messages(value) for key, value in document.items() if key != "message"}
        case list():
            return [without_messages(one) for one in document]
    return document


class _Rewording(Loader):
    """The loader of a module whose classes have messages."""

    def __init__(self, loader: Loader, words: random.Random) -> None:
        self.loader = loader
        self.words = words

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self.loader.exec_module(module)
        for name, (parameter, position) in MESSAGES[module.__name__].items():
            reword_class(getattr(module, name), parameter, position, self.words)

    def __getattr__(self, name: str) -> Any:  # the source, for tracebacks and importlib.resources
        return getattr(self.loader, name)


class _Finder(MetaPathFinder):
    """Finds the modules whose classes have messages."""

    def __init__(self, words: random.Random) -> None:
        self.words = words

    def find_spec(self, name: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name in MESSAGES else None
        if spec is not None and spec.loader is not None:
            spec.loader = _Rewording(spec.loader, self.words)
        return spec


def install(seed: str) -> None:
    """Reword what this process and the Python processes that it starts say."""
    words = random.Random(f"{seed} {os.getpid()}")
    for module, classes in MESSAGES.items():
        for name, (parameter, position) in classes.items() if module in sys.modules else ():
            reword_class(getattr(sys.modules[module], name), parameter, position, words)
    sys.meta_path.insert(0, _Finder(words))
    os.environ[SEED] = seed
    here = os.path.dirname(os.path.abspath(__file__))
    paths = [one for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if one and one != here]
    os.environ["PYTHONPATH"] = os.pathsep.join([here, *paths])
