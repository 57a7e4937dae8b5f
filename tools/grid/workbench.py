"""A golden table opened for corruption: its parts as Python objects, which are written without any check.

Changed files are written to a separate folder, so that the table itself stays unchanged; `redirect_reads` redirects the
validator's file access to them. Dependent values are updated too, unless they are what is changed: lengths and counts
in the manifest list, and sizes in entries.
"""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import fastavro

from conformance.table_io import file_access
from conformance.table_io.tables import metadata_location
from conformance.validator.context import Level
from conformance.validator.local import LocalBackend
from conformance.validator.run import CURRENT, SnapshotSelection, TableReport, validate
from conformance.vectors.golden_places import PLACE

_STATUSES = ("existing", "added", "deleted")
_SYNC_MARKER = bytes(16)


class AvroFile:
    """An Avro file: its schema as JSON, its metadata, and its records as dicts."""

    def __init__(self, path: str) -> None:
        self.path = path
        with open(path, "rb") as file:
            reader = fastavro.reader(file)
            self.metadata = {key: value for key, value in reader.metadata.items() if not key.startswith("avro.")}
            self.schema: dict[str, Any] = json.loads(reader.metadata["avro.schema"])
            self.records: list[dict[str, Any]] = list(cast(Iterable[dict[str, Any]], reader))
        self._unchanged = self.encoded()

    def content(self) -> bytes:
        """Return the content of the file, which is the original as long as nothing is changed."""
        encoded = self.encoded()
        return Path(self.path).read_bytes() if encoded == self._unchanged else encoded

    def encoded(self) -> bytes:
        """Write the file again."""
        out = io.BytesIO()
        fastavro.writer(
            out, self.schema, self.records, metadata=self.metadata, codec="deflate", sync_marker=_SYNC_MARKER
        )
        return out.getvalue()

    def field(self, *names: str) -> dict[str, Any]:
        """Return a field of the schema, by the path of names that leads to it."""
        schema: Any = self.schema
        found: dict[str, Any] = {}
        for name in names:
            found = next(field for field in _record(schema)["fields"] if field["name"] == name)
            schema = found["type"]
        return found

    def fields(self, *names: str) -> list[dict[str, Any]]:
        """Return the fields of a record in the schema, by the path of names that leads to it."""
        found: list[dict[str, Any]] = _record(self.field(*names)["type"] if names else self.schema)["fields"]
        return found

    def drop(self, *names: str) -> None:
        """Remove a field from the schema and the records."""
        parent: Any = self.schema
        for name in names[:-1]:
            parent = next(field for field in _record(parent)["fields"] if field["name"] == name)["type"]
        record = _record(parent)
        record["fields"] = [field for field in record["fields"] if field["name"] != names[-1]]
        for row in self.records:
            for name in names[:-1]:
                row = row[name]
            row.pop(names[-1], None)


def _record(schema: Any) -> dict[str, Any]:
    if isinstance(schema, list):
        return _record(next(one for one in schema if one != "null"))
    found: dict[str, Any] = schema["items"] if schema.get("type") == "array" else schema
    return found if "fields" in found else _record(found["type"])


class Manifest(AvroFile):
    """A manifest, and its entry in the list."""

    def __init__(self, listed: dict[str, Any]) -> None:
        super().__init__(local(listed["manifest_path"]))
        self.listed = listed
        self.header_schema = self.metadata["schema"]
        """The original schema in the header."""

        self.pinned = False
        """Whether the list keeps its fields about the manifest."""

    @property
    def files(self) -> list[dict[str, Any]]:
        return [record["data_file"] for record in self.records]

    def drop(self, *names: str) -> None:
        super().drop(*names)
        self.pinned = True
        self.listed["manifest_length"] = len(self.content())

    def counts(self) -> None:
        """Update the counts in the manifest list from the manifest's entries."""
        for code, status in enumerate(_STATUSES):
            mine = [record for record in self.records if record["status"] == code]
            for key, value in (("files", len(mine)), ("rows", sum(one["data_file"]["record_count"] for one in mine))):
                name = f"{status}_{key}_count"
                if name not in self.listed and key == "files":
                    name = f"{status}_data_files_count"
                if self.listed.get(name) is not None:
                    self.listed[name] = value


class Workbench:
    """A table in which anything may be changed."""

    def __init__(self, name: str, folder: Path) -> None:
        self.root = PLACE / name
        self.folder = folder
        self.metadata_path = metadata_location(str(self.root))
        self.metadata: dict[str, Any] = json.loads(Path(self.metadata_path).read_text())
        self._schemas: dict[str, Any] = json.loads(json.dumps(self._schemas_by_id()))
        self.replaced: dict[str, bytes | None] = {}
        """The new contents of files by path; None for a removed file."""

        self._list: AvroFile | None = None
        self._manifests: list[Manifest] | None = None
        self.raw_metadata: bytes | None = None
        self.partition_statistics: list[dict[str, Any]] = []
        """The rows of the partition statistics file that the grid gave the table."""

    # Parts

    @property
    def snapshot(self) -> dict[str, Any]:
        """The current snapshot."""
        current = self.metadata["current-snapshot-id"]
        found: dict[str, Any] = next(one for one in self.metadata["snapshots"] if one["snapshot-id"] == current)
        return found

    @property
    def schema(self) -> dict[str, Any]:
        """The current schema."""
        current = self.metadata["current-schema-id"]
        found: dict[str, Any] = next(one for one in self.metadata["schemas"] if one.get("schema-id", 0) == current)
        return found

    @property
    def manifest_list(self) -> AvroFile:
        """The manifest list of the current snapshot."""
        if self._list is None:
            self._list = AvroFile(local(self.snapshot["manifest-list"]))
        return self._list

    @property
    def manifests(self) -> list[Manifest]:
        """The manifests of the current snapshot."""
        if self._manifests is None:
            self._manifests = [Manifest(record) for record in self.manifest_list.records]
        return self._manifests

    @property
    def data(self) -> Manifest:
        """The first manifest with a live data file."""
        return next(one for one in self.manifests if not one.listed.get("content") and _has_live(one))

    @property
    def deletes(self) -> Manifest:
        """The first manifest with a live delete file."""
        return next(one for one in self.manifests if one.listed.get("content") == 1 and _has_live(one))

    @property
    def entry(self) -> dict[str, Any]:
        """The first live entry of `data`."""
        return next(record for record in self.data.records if record["status"] != 2)

    @property
    def file(self) -> dict[str, Any]:
        """The data file of `entry`."""
        found: dict[str, Any] = self.entry["data_file"]
        return found

    @property
    def delete_file(self) -> dict[str, Any]:
        """The first live delete file."""
        found: dict[str, Any] = next(one for one in self.deletes.records if one["status"] != 2)["data_file"]
        return found

    def read(self, location: str) -> bytes:
        """Return the content of a file."""
        path = local(location)
        kept = self.replaced.get(path)
        return kept if kept is not None else Path(path).read_bytes()

    def replace(self, location: str, content: bytes | None) -> None:
        """Replace the content of a file, and update its size in the entries that refer to it."""
        self.replaced[local(location)] = content
        for manifest in self.manifests:
            for file in manifest.files:
                if content is not None and local(file["file_path"]) == local(location):
                    file["file_size_in_bytes"] = len(content)

    # Writing

    def _schemas_by_id(self) -> dict[str, Any]:
        schemas = self.metadata.get("schemas")
        known = [one for one in schemas if isinstance(one, dict)] if isinstance(schemas, list) else []
        return {str(one["schema-id"]): one for one in known if "schema-id" in one}

    def adopt_schemas(self) -> None:
        """Change the manifests as if the table had been written with the current schemas of its metadata."""
        self._repeat_schemas()
        for manifest in self.manifests:
            manifest.header_schema = manifest.metadata["schema"]
        self._schemas = json.loads(json.dumps(self._schemas_by_id()))

    def _repeat_schemas(self) -> None:
        """Copy the schemas of the table that changed into the headers of manifests that did not."""
        now = self._schemas_by_id()
        changed = {key for key, schema in self._schemas.items() if now.get(key, schema) != schema}
        for manifest in self.manifests if changed else ():
            key = str(json.loads(manifest.header_schema).get("schema-id"))
            if manifest.metadata.get("schema") == manifest.header_schema and key in changed:
                manifest.metadata["schema"] = json.dumps(now[key])

    def write(self) -> dict[str, str]:
        """Write the changed files; return the new location of each path."""
        self._repeat_schemas()
        files = dict(self.replaced)
        if self._manifests is not None:
            for manifest in self._manifests:
                content = manifest.content()
                files.setdefault(manifest.path, content)
                if not manifest.pinned:
                    manifest.listed["manifest_length"] = len(files[manifest.path] or b"")
                    manifest.counts()
        if self._list is not None:
            files.setdefault(self._list.path, self._list.content())
            files |= self._older_lists(files)
        files[self.metadata_path] = (
            json.dumps(self.metadata).encode() if self.raw_metadata is None else self.raw_metadata
        )
        moved = {}
        for number, (path, stored) in enumerate(files.items()):
            place = self.folder / str(number)
            if stored is not None:
                place.write_bytes(stored)
            moved[path] = str(place)
        return moved

    def _older_lists(self, files: Mapping[str, bytes | None]) -> dict[str, bytes | None]:
        """Write the lists of the other snapshots with the lengths of the changed manifests, except replaced ones."""
        changed: dict[str, bytes | None] = {}
        for snapshot in self.metadata["snapshots"]:
            path = local(snapshot.get("manifest-list", ""))
            if path in files or not Path(path).is_file():
                continue
            listed = AvroFile(path)
            for record in listed.records:
                manifest = local(record["manifest_path"])
                content = None if manifest in self.replaced else files.get(manifest)
                record["manifest_length"] = record["manifest_length"] if content is None else len(content)
            changed[path] = listed.content()
        return changed

    def relocate(self) -> str:
        """Write the changed files so that the table can be read from its new location; return that of its metadata."""
        manifests = self.manifests
        moved = self.write()
        for manifest in manifests:
            manifest.listed["manifest_path"] = moved[manifest.path]
        stored = self.folder / "list.avro"
        stored.write_bytes(self.manifest_list.content())
        self.snapshot["manifest-list"] = str(stored)
        root = self.folder / "v1.metadata.json"
        root.write_text(json.dumps(self.metadata))
        return str(root)

    def validate(self, level: Level, snapshots: SnapshotSelection = CURRENT) -> TableReport:
        """Validate the table in its current state."""
        with redirect_reads(self.write()):
            return validate(self.metadata_path, level, LocalBackend(), snapshots)


def local(location: str) -> str:
    """Return the local path of a location."""
    return file_access.split_location(location).path


def _has_live(manifest: Manifest) -> bool:
    return any(record["status"] != 2 for record in manifest.records)


@contextlib.contextmanager
def redirect_reads(moved: dict[str, str]) -> Iterator[None]:
    """Read some files from other places."""
    original = file_access.split_location

    def split(location: str) -> file_access.StoreLocation:
        place = original(location)
        if place.scheme == "file" and place.path in moved:
            return file_access.StoreLocation("file", "", moved[place.path])
        return place

    file_access.split_location = split
    try:
        yield
    finally:
        file_access.split_location = original
        from conformance.validator import vector_files

        vector_files._puffins.clear()
