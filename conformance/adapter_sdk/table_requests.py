"""Parse requests to read a table: code that adapters of readers share.

The engine reads the table by itself. The metadata file is read here only for information that requests to the engine
need: the types of the columns that a filter compares, and the directory of a table for engines that take directories.
Only the standard library is imported.
"""

from __future__ import annotations

import gzip
import json
from typing import Any
from urllib.parse import unquote, urlsplit

from conformance.adapter_sdk.serve import Arguments, Invalid, Unsupported
from conformance.core.drives import has_drive, local_uri_path
from conformance.core.moved_modules import renamed_member
from spec_ref.core.json_types import JsonObject

METADATA_COLUMNS = ("_row_id", "_last_updated_sequence_number", "_file", "_pos")
TIMES = ("snapshot", "ref", "timestamp_ms")


def local_path(location: str) -> str:
    """Return the local path of a ``file`` URI, or of a location that is a path."""
    parts = urlsplit(location)
    if not parts.scheme or has_drive(location):
        return location
    if parts.scheme == "file":
        return local_uri_path(unquote(parts.path))
    raise Unsupported(f"adapters read local tables only, not {location}")


def metadata(location: str) -> JsonObject:
    """Load the table metadata in a file, compressed or not."""
    try:
        with open(local_path(location), "rb") as file:
            data = file.read()
        read = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    except (OSError, ValueError) as error:
        raise Invalid(f"{location}: {error}") from None
    return read if isinstance(read, dict) else {}


def columns(args: Arguments) -> list[JsonObject]:
    """Return the fields of the schema that a request reads with.

    This is the snapshot's schema for a snapshot, a tag or a time, and the current schema for a branch and by default.
    """
    document = metadata(args["table"])
    schemas = {schema.get("schema-id", 0): schema for schema in document.get("schemas") or [document.get("schema", {})]}
    current = schemas.get(document.get("current-schema-id", 0), {})
    snapshot = _snapshot(document, args)
    schema = schemas.get(snapshot.get("schema-id"), current) if snapshot else current
    fields: list[JsonObject] = schema.get("fields", [])
    return fields


def _snapshot(document: JsonObject, args: Arguments) -> JsonObject | None:
    """Return the snapshot whose schema is used; None to use the current schema."""
    wanted: Any = None
    if "snapshot" in args:
        wanted = int(args["snapshot"])
    elif "ref" in args:
        reference = document.get("refs", {}).get(args["ref"], {})
        wanted = reference.get("snapshot-id") if reference.get("type") == "tag" else None
    elif "timestamp_ms" in args:
        entries = [one for one in document.get("snapshot-log", []) if one["timestamp-ms"] <= args["timestamp_ms"]]
        wanted = entries[-1]["snapshot-id"] if entries else None
    return next((one for one in document.get("snapshots", []) if one["snapshot-id"] == wanted), None)


def check_snapshot_selection(args: Arguments, engine: str, *supported: str) -> None:
    """Check that the engine can read the snapshot that a request selects.

    Raises:
        Unsupported: the request selects it in a way that is not among ``supported``.
    """
    for name in TIMES:
        if name in args and name not in supported:
            raise Unsupported(f"{engine} does not read a snapshot by {name}")


def check_metadata_columns(args: Arguments, engine: str, available: tuple[str, ...] = ()) -> None:
    """Check that the engine has the metadata columns that a request selects.

    Raises:
        Unsupported: a selected one is not in ``available``.
    """
    for name in args.get("select", ()):
        if name in METADATA_COLUMNS and name not in available:
            raise Unsupported(f"{engine} has no column {name}")


_RENAMED = {"only": "check_snapshot_selection", "without_metadata_columns": "check_metadata_columns"}


def __getattr__(name: str) -> Any:
    """Return a member by its old name; deprecated for one release."""
    return renamed_member(__name__, _RENAMED, name)
