"""The families of operations: the folders here, and those in ``ICEBERG_CONFORMANCE_OPERATIONS``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

import jsonschema_rs
from attrs import frozen

from conformance import operations
from conformance.core.failures import UsageError
from spec_ref.core.json_types import JsonObject

FILE = "schema.json"
FORM = Path(__file__).parents[1] / "schemas" / "operation_family.json"


@frozen(eq=False)
class Family:
    """A folder with everything about a group of related operations."""

    path: Path
    title: str
    operations: dict[str, JsonObject]
    """The operations by name, as ``schema.json`` describes them."""

    definitions: dict[str, JsonObject]
    """The definitions that the operations' schemas refer to; other families may refer to them, too."""

    @property
    def name(self) -> str:
        """The name of the folder."""
        return self.path.name

    def has_module(self, module: str) -> bool:
        """Return whether the folder has a module of this name."""
        return (self.path / f"{module}.py").is_file()

    def load_module(self, module: str) -> ModuleType:
        """Import a module of the folder."""
        return import_module(f"{operations.__name__}.{self.name}.{module}")


@cache
def families() -> tuple[Family, ...]:
    """Return all families, sorted by name.

    Raises:
        UsageError: a folder or its ``schema.json`` is malformed, or two families define the same name.
    """
    found = [_read(path) for root in operations.__path__ for path in _folders(Path(root))]
    _refuse_twice((family.name, family.path) for family in found)
    for part in ("operations", "definitions"):
        _refuse_twice((name, family.path / FILE) for family in found for name in getattr(family, part))
    return tuple(sorted(found, key=lambda family: family.name))


def _refuse_twice(names: Iterator[tuple[str, Path]]) -> None:
    first: dict[str, Path] = {}
    for name, path in names:
        if name in first:
            raise UsageError(f"{path}: {name} is already defined in {first[name]}; expected a unique name")
        first[name] = path


def _folders(root: Path) -> list[Path]:
    try:
        return sorted(path for path in root.iterdir() if path.is_dir() and not path.name.startswith((".", "_")))
    except OSError as error:
        what = f"expected a directory with one folder for each family of operations: {error.strerror}"
        raise UsageError(f"{operations.VARIABLE}: {root}: {what}") from None


@cache
def _form() -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(json.loads(FORM.read_text(encoding="utf-8")))


def _read(path: Path) -> Family:
    file = path / FILE
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"{path}: expected the folder of a family of operations, with a file {FILE}") from None
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{file}: it is not JSON: {error}") from None
    wrong = next(iter(_form().iter_errors(content)), None)
    if wrong is not None:
        place = "".join(f"/{part}" for part in wrong.instance_path)
        raise UsageError(f"{file}: {place or '/'}: {wrong.message}")
    if not path.name.isidentifier():
        raise UsageError(f"{path}: expected a name of letters, digits and underscores, as its modules are imported")
    return Family(path, content["title"], content["operations"], content.get("$defs", {}))
