"""The catalogue: a fixed set of small scripts, each for a few features, in the relevant versions and formats.

An entry is one script whose format version and file format are filled in for each variant.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from attrs import frozen

from conformance.interop.entries import ENTRIES
from conformance.interop.entry import ScriptTemplate
from spec_ref.core.json_types import Json

FORMAT = "write.format.default"


@frozen
class ScriptVariant:
    """A script of the catalogue in one version and format."""

    name: str
    entry: ScriptTemplate
    format_version: int
    file_format: str
    script: Json


def variants(names: Sequence[str] = (), *, quick: bool = False) -> tuple[ScriptVariant, ...]:
    """Return the scripts of the catalogue.

    Args:
        names: the names of entries or variants, in which ``*`` matches any characters; empty for all.
        quick: only the few scripts of a quick run.
    """
    every = [
        _variant(entry, version, file_format)
        for entry in ENTRIES
        for version in entry.versions
        for file_format in entry.formats
        if not quick or _is_quick(entry, version, file_format)
    ]
    return tuple(
        one
        for one in every
        if not names or any(fnmatchcase(name, wanted) for wanted in names for name in (one.name, one.entry.name))
    )


def _is_quick(entry: ScriptTemplate, version: int, file_format: str) -> bool:
    """Return whether a variant is part of a quick run: version 2 if possible, which all producers write."""
    return version == (2 if 2 in entry.versions else max(entry.versions)) and (
        entry.quick or file_format == entry.formats[0]
    )


def _variant(entry: ScriptTemplate, version: int, file_format: str) -> ScriptVariant:
    create = entry.operations[0]
    properties = {FORMAT: file_format, **create.get("properties", {})}
    first = {"op": "create", "format_version": version, **create, "properties": properties}
    name = f"{entry.name}-v{version}-{file_format}"
    return ScriptVariant(name, entry, version, file_format, {"operations": [first, *entry.operations[1:]]})
