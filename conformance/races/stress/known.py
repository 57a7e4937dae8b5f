"""Known behaviour of clients and servers under stress.

Sections of ``deviations.toml`` of an engine, or of `conformance.table_io.catalogs.servers`::

    [[catalog]]
    id = "pyiceberg-hive-late-writer"              # unique; begins with the name of the client or server
    tested = ["PyIceberg 0.12.0", "HiveCatalog"]   # texts that must all occur in the descriptions of client and server
    kinds = ["lost", "history"]                    # the kinds of resulting problems; none if commits only fail
    kind = "deviation"                             # one of `conformance.runner.expectations.DeviationKind`
    requirements = ["OCC001"]                      # the requirements that it breaks or concerns
    does = "what it does"
    reason = "why it is wrong, by the spec"
    counter = "why it may be right"                # optional: the best argument for the behaviour
    evidence = "how it was seen, and the piece of code that shows it"
    command = "iceberg-conformance race stress ..."  # the command that reproduces it
    upstream = ["https://..."]                     # optional: reports of it to its project
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rtoml
from attrs import NOTHING, fields, frozen

from conformance.core.failures import UsageError
from conformance.core.lazy_imports import lazy_imports
from conformance.engine_setup.deviations import shipped_entries
from conformance.runner.expectations import DeviationKind
from spec_ref.requirements import register

with lazy_imports():
    from conformance.races.stress import judge


@frozen(kw_only=True)
class KnownCatalog:
    """One known behaviour of a client or a server."""

    id: str
    tested: tuple[str, ...]
    kinds: tuple[str, ...]
    kind: DeviationKind
    requirements: tuple[str, ...]
    does: str
    reason: str
    evidence: str
    command: str
    counter: str = ""
    upstream: tuple[str, ...] = ()

    def explains(self, client: str, server: str, kinds: set[str]) -> bool:
        """Return whether this behaviour can cause problems of some kinds with a client and a server."""
        return bool(kinds & set(self.kinds)) and all(part in f"{client}\n{server}" for part in self.tested)


_LISTS = ("tested", "kinds", "requirements", "upstream")


def load_known(path: Path | None = None) -> tuple[KnownCatalog, ...]:
    """Load the known behaviour from a file; by default, from the files that come with the tool.

    Raises:
        UsageError: the file is malformed; the message names the place.
    """
    if path is None:
        files = shipped_entries("catalog")
    else:
        try:
            files = [(path, rtoml.loads(path.read_text(encoding="utf-8")))]
        except (OSError, rtoml.TomlParsingError) as error:
            raise UsageError(f"{path}: cannot be read: {error}") from None
    known = [one for file, content in files for one in _parse_rows(file, content.get("catalog", []))]
    if len({one.id for one in known}) != len(known):
        raise UsageError(f"{path or 'known deviations'}: an id occurs twice")
    return tuple(known)


def _parse_rows(chosen: Path, rows: list[dict[str, Any]]) -> list[KnownCatalog]:
    names = {one.name for one in fields(KnownCatalog)}
    required = {one.name for one in fields(KnownCatalog) if one.default is NOTHING}
    known = []
    for number, row in enumerate(rows):
        where = f"{chosen}: catalog {number}"
        if not required <= set(row) <= names:
            raise UsageError(f"{where}: it has {', '.join(sorted(row))}; expected {', '.join(sorted(required))}")
        if row["kind"] not in [kind.value for kind in DeviationKind]:
            raise UsageError(f"{where}: {row['kind']} is not a kind of deviation")
        if wrong := set(row["kinds"]) - judge.QUESTIONS.keys():
            raise UsageError(f"{where}: there are no problems of the kind {', '.join(sorted(wrong))}")
        if wrong := set(row["requirements"]) - register().keys():
            raise UsageError(f"{where}: there is no requirement {', '.join(sorted(wrong))}")
        lists = {name: tuple(row[name]) for name in _LISTS if name in row}
        known.append(KnownCatalog(**{**row, **lists, "kind": DeviationKind(row["kind"])}))
    return known
