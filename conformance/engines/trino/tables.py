"""The tables in the metastore, which are registered by their metadata files."""

from __future__ import annotations

import json
import os
from pathlib import PurePosixPath

from conformance.adapter_sdk import table_requests
from conformance.adapter_sdk.serve import Unsupported
from conformance.adapter_sdk.sql_dialects import string_literal
from conformance.engines.trino.server import SCHEMA, Server
from conformance.engines.trino.sql import DIALECT


class Registry:
    """The registered tables, by their metadata files."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._names: dict[tuple[str, int, int], str] = {}
        self._count = 0

    def name(self, location: str) -> str:
        """Return the name of the table for a metadata file, and register it on first use.

        Raises:
            Invalid: Trino refuses the table.
            Unsupported: the metadata file is not in the folder where Trino expects it.
        """
        path = table_requests.local_path(location)
        table_requests.metadata(location)  # check that it exists; Trino checks its content
        state = os.stat(path)
        key = (path, state.st_mtime_ns, state.st_ino)
        if key not in self._names:
            self._names[key] = self.register(location)
        return self._names[key]

    def register(self, location: str) -> str:
        """Register a table under a new name, and return the name."""
        given = PurePosixPath(table_requests.local_path(location))
        document = table_requests.metadata(location)
        place = str(document.get("location", given.parent.parent)).rstrip("/")
        if given.parent != PurePosixPath(table_requests.local_path(place)) / "metadata":
            raise Unsupported("Trino registers a table by a metadata file in the folder metadata of its location")
        name = self.new_name()
        self._server.run(
            f"CALL system.register_table(schema_name => '{SCHEMA}', table_name => '{name}', "
            f"table_location => {string_literal(place, DIALECT)}, "
            f"metadata_file_name => {string_literal(given.name, DIALECT)})"
        )
        return name

    def new_name(self) -> str:
        """Return a name that no table has."""
        self._count += 1
        return f"t{self._count}"

    def location(self, name: str) -> str:
        """Return the current metadata file of a table from the metastore."""
        known = json.loads((self._server.metastore / SCHEMA / name / ".trinoSchema").read_text(encoding="utf-8"))
        return str(known["parameters"]["metadata_location"])

    def forget(self, name: str) -> None:
        """Remove a table from the metastore; its files stay."""
        self._server.run(f"CALL system.unregister_table(schema_name => '{SCHEMA}', table_name => '{name}')")
