"""Recognising the writer of a file by the marks that writers leave in manifests, manifest lists and Parquet footers.

``fingerprints.toml`` in the folder of an engine has the marks of its files::

    committed_by = "pyiceberg"         # optional: the engine that writes metadata and manifests for it
    writer = "iceberg-conformance"     # optional: the name of the writer, if it is not the title of the engine

    [[footer]]                         # the marks for `conformance.validator.fingerprints`
    pattern = '^ClickHouse'           # of created_by in a Parquet footer or a Puffin file
    writer = "ClickHouse"              # its name

    [[manifest]]                       # the marks of manifests, and of lists ([[manifest-list]])
    keys = "format-version schema"     # as in `manifest_marks`
    ...

    [[data-file]]
    created_by = "ClickHouse"          # the program in a Parquet footer
    writer = "ClickHouse"

``tools/writer_report.py`` generates the sections ``manifest``, ``manifest-list`` and ``data-file`` from the files in
``vectors/golden/writers/``. A file is recognised only if its marks are those of a known writer. The result is only
probable, as the marks of other versions may differ.

>>> identify_writers(created_by="ClickHouse version 26.9.2 (build 1)")
('ClickHouse',)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import rtoml

from conformance.core.failures import UsageError
from conformance.core.json_text import parse_json
from conformance.engine_setup.folders import engine_folders
from spec_ref.core.json_types import Json

MARKS = ("keys", "codec", "records", "defaults")
"""The marks that `manifest_marks` finds."""

CONTENT_KEYS = frozenset({"avro.schema", "avro.codec", "content"})
"""Keys of a header whose presence does not depend on the writer."""

MAP_COLUMN = 108
"""``column_sizes``: its map is an array of records, for which the spec gives no name."""


def manifest_marks(header: Mapping[str, str]) -> dict[str, str]:
    """Return the marks that distinguish writers of manifests and manifest lists and do not depend on the table.

    Args:
        header: the file's key-value metadata as text, with its Avro schema.
    """
    try:
        schema = parse_json(header.get("avro.schema", "{}").encode())
    except ValueError:
        schema = {}
    records = dict(_records(schema))
    return {
        "keys": " ".join(sorted(header.keys() - CONTENT_KEYS)),
        "codec": header.get("avro.codec", "null"),
        "records": " ".join(str(records[place]) for place in ("", "2", str(MAP_COLUMN), "508") if place in records),
        "defaults": "null" if _has_defaults(schema) else "none",
    }


def _records(schema: Json, place: str = "") -> Iterator[tuple[str, str]]:
    """Yield the names of the records in an Avro schema, by the id of their field."""
    if isinstance(schema, list):
        for branch in schema:
            yield from _records(branch, place)
    elif isinstance(schema, dict) and schema.get("type") == "record":
        yield place, str(schema.get("name"))
        for field in _fields(schema):
            yield from _records(field.get("type"), str(field.get("field-id", "")))
    elif isinstance(schema, dict) and schema.get("type") == "array":
        yield from _records(schema.get("items"), str(schema.get("element-id", place)))


def _fields(record: Json) -> list[dict[str, Json]]:
    """Return the fields of a record; none if the schema is not a record."""
    fields = record.get("fields") if isinstance(record, dict) else None
    return [field for field in fields if isinstance(field, dict)] if isinstance(fields, list) else []


def _has_defaults(schema: Json) -> bool:
    """Return whether optional fields at the top, or in the data file, have a default."""
    inner = [field for one in _fields(schema) for field in _fields(one.get("type"))]
    return any("default" in field for field in (*_fields(schema), *inner) if isinstance(field.get("type"), list))


def program_name(created_by: str) -> str:
    """Return the name of the program in a Parquet footer's ``created_by``, without its version and build."""
    return created_by.partition(" version ")[0].partition(" (")[0].strip()


FILE = "fingerprints.toml"
TEXTS = ("committed_by", "writer")
"""The keys of the file with text values."""

FORMS = {
    "footer": {"pattern", "writer"},
    "manifest": set(MARKS),
    "manifest-list": set(MARKS),
    "data-file": {"created_by", "writer"},
}
"""The sections of the file, and the keys of their entries."""


@cache
def fingerprint_files() -> dict[str, dict[str, Json]]:
    """Read the files of all engines, by the title of the engine.

    Raises:
        UsageError: a file has a wrong form.
    """
    return {one.title: _read(path) for one in engine_folders() if (path := one.data(FILE)) is not None}


def _read(path: Path) -> dict[str, Json]:
    try:
        content = rtoml.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from None
    for section, rows in content.items():
        if section in TEXTS and isinstance(rows, str):
            continue
        if section not in FORMS or not isinstance(rows, list):
            raise UsageError(
                f"{path}: /{section}: expected {' or '.join(TEXTS)} = NAME, or entries of {', '.join(FORMS)}"
            )
        for number, row in enumerate(rows):
            if not isinstance(row, dict) or row.keys() != FORMS[section] or not _are_texts(row.values()):
                expected = f"expected texts for {', '.join(sorted(FORMS[section]))}"
                raise UsageError(f"{path}: /{section}/{number}: {expected}, found {row!r}")
    for number, row in enumerate(content.get("footer", ())):
        try:
            re.compile(row["pattern"])
        except re.error as error:
            raise UsageError(f"{path}: /footer/{number}/pattern: expected a regular expression: {error}") from None
    return content


def _are_texts(values: Iterable[Json]) -> bool:
    return all(isinstance(value, str) for value in values)


@cache
def known_marks() -> dict[str, list[dict[str, Json]]]:
    """Return the marks of writers by kind of file, each with the ``names`` of the writers that leave them."""
    found: dict[str, list[dict[str, Json]]] = {"manifest": [], "manifest-list": [], "data-file": []}
    for title, content in fingerprint_files().items():
        for kind, ones in found.items():
            for row in content.get(kind, ()):
                name = row.get("writer") or content.get("writer", title)
                marks = {"created_by": row["created_by"]} if kind == "data-file" else {"marks": row}
                same = next((one for one in ones if marks.items() <= one.items()), None)
                if same is None:
                    ones.append({**marks, "names": [name]})
                elif name not in same["names"]:
                    same["names"].append(name)
    return found


def identify_writers(*, header: Mapping[str, str] | None = None, created_by: str | None = None) -> tuple[str, ...]:
    """Return the known writers that leave these marks.

    Args:
        header: the key-value metadata of a manifest or manifest list, with its Avro schema.
        created_by: the ``created_by`` of a Parquet footer.
    """
    if header:
        marks = manifest_marks(header)
        found = [one for kind in ("manifest", "manifest-list") for one in known_marks()[kind] if one["marks"] == marks]
    else:
        found = [one for one in known_marks()["data-file"] if one["created_by"] == program_name(created_by or "")]
    return tuple(dict.fromkeys(name for one in found for name in one["names"]))
