"""A summary of what each engine writes, from the tables of ``vectors/golden/writers``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from attrs import frozen

from conformance.vectors import shipped


@frozen
class WrittenVersion:
    """The tables of a writer in one format version."""

    deletes: str
    """How it deletes a row: ``position-deletes``, ...; empty if it cannot delete rows."""

    refused: str
    """Its error, if it refused to delete rows."""

    broken: tuple[tuple[str, str], ...]
    """The requirements that its files break, each with the finding."""

    tolerated: tuple[tuple[str, str], ...]
    """Findings that are not errors."""


@frozen
class GoldenWriter:
    """An engine that wrote the tables."""

    name: str
    version: str
    tables: dict[int, WrittenVersion]
    """By format version."""


@cache
def golden_writers() -> tuple[GoldenWriter, ...]:
    """Return all writers, by name and version."""
    found = []
    for folder in sorted((shipped() / "golden" / "writers").glob("*/")):
        index, print_ = (json.loads((folder / name).read_text()) for name in ("index.json", "fingerprint.json"))
        tables = {int(name[1:]): _version(table, print_[name]) for name, table in index["tables"].items()}
        found.append(GoldenWriter(index["engine"], index["version"], tables))
    return tuple(found)


def _version(table: dict[str, Any], facts: dict[str, Any]) -> WrittenVersion:
    refused = next((one["refused"] for one in table["statements"] if "refused" in one), "")
    return WrittenVersion(
        table.get("delete") or "",
        refused,
        tuple(_findings(facts, errors=True)),
        tuple(_findings(facts, errors=False)),
    )


def _findings(facts: dict[str, Any], *, errors: bool) -> Iterator[tuple[str, str]]:
    """Yield the requirements of findings that are errors, or of the other findings, each once with its finding."""
    shown: dict[str, str] = {}
    for finding in facts["findings"]:
        if (finding["severity"] == "error") is errors:
            shown.setdefault(finding["requirement"], f"{finding['in']}: {finding['check']}, at {finding['at']}")
    yield from sorted(shown.items())
