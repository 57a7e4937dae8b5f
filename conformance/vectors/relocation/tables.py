"""Relocate the files of a table, and adapt the lengths that they state.

Files are rewritten after the files that they name, so that each states the new lengths: delete files, manifests,
manifest lists, table metadata.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping

from attrs import define, field, frozen

from conformance.vectors.relocation import avro, documents, orc, parquet
from conformance.vectors.relocation.avro import (
    Blocks,
    Number,
    ParsedContainer,
    RecordValue,
    RelocationError,
    plain_value,
)
from conformance.vectors.relocation.paths import Paths

FILE_PATH_ID = 2147483546
"""The field id of the column ``file_path`` of position delete files, by which manifests state sizes and bounds."""

ADDED, DELETED = 1, 2


@frozen
class ResizedFile:
    """A file whose length changed."""

    old: int
    new: int
    columns: Mapping[int, int] = field(factory=dict)
    """The old and new sizes of parts of the column ``file_path``."""


@frozen
class ResizedEntry:
    """The contribution of a manifest entry to the sizes in summaries, for a file that grew."""

    status: int
    snapshot: int | None
    more: int


@define
class RelocatedTable:
    """The relocated files of a table."""

    files: dict[str, bytes]
    unreadable: dict[str, str] = field(factory=dict)
    """Damaged files that were left unchanged, and the reason for each."""


def relocate(files: Mapping[str, bytes], name: str, paths: Paths) -> RelocatedTable:
    """Rewrite the locations in the files of a table.

    Args:
        files: the files by path below the table's folder.
        name: the path of the table's folder below the folder that is replaced.
        paths: the old and the new folder.

    Returns:
        The files; those that contain no location are unchanged.
    """
    return _Table(dict(files), name, paths).relocated()


class _Table:
    def __init__(self, files: dict[str, bytes], name: str, paths: Paths) -> None:
        self.paths = paths
        self.name = name
        self.made = RelocatedTable(files)
        self.resized: dict[str, ResizedFile] = {}
        self.entries: dict[str, list[ResizedEntry]] = {}
        self.lists: dict[str, list[tuple[str, int | None]]] = {}

    def relocated(self) -> RelocatedTable:
        containers = dict(self._containers())
        for path in [path for path in self.made.files if path not in containers]:
            self._simple_file(path)
        for wanted in ("file_path", "data_file", "manifest_path"):
            for path, container in containers.items():
                if any(one["name"] == wanted for one in container.schema.get("fields", ())):
                    self._container(path, container)
        sizes = self._summary_sizes()
        for path in self.made.files:
            if path.endswith((".json", ".json.gz")):
                self._change(path, lambda data: (documents.relocate_metadata(data, self.paths, sizes), {}))
        return self.made

    def _containers(self) -> Iterator[tuple[str, ParsedContainer]]:
        for path, data in self.made.files.items():
            if data[:4] == avro.MAGIC and path.startswith(("metadata/", "data/")):
                try:
                    found = avro.read(data)
                except RelocationError as error:
                    self.made.unreadable[path] = str(error)
                else:
                    yield path, found

    def _simple_file(self, path: str) -> None:
        data = self.made.files[path]
        if data[:4] == b"PAR1" and b"file_path" in data:
            self._change(path, lambda data: parquet.relocate(data, self.paths))
        elif data[:3] == b"ORC":
            self._change(path, lambda data: orc.relocate(data, self.paths))
        elif path.endswith(".puffin") or data[:4] == b"PFA1":  # Flink names a vector as a data file
            self._change(path, lambda data: (documents.puffin(data, self.paths), {}))

    def _change(self, path: str, change: Callable[[bytes], tuple[bytes, Mapping[int, int]]]) -> None:
        before = self.made.files[path]
        try:
            after, columns = change(before)
        except RelocationError as error:
            self.made.unreadable[path] = str(error)
            return
        self._store_file(path, before, after, columns)

    def _store_file(self, path: str, before: bytes, after: bytes, columns: Mapping[int, int]) -> None:
        self.made.files[path] = after
        if after != before:
            self.resized[f"{self.name}/{path}"] = ResizedFile(len(before), len(after), columns)

    def _container(self, path: str, container: ParsedContainer) -> None:
        for _, objects in container.blocks:
            for one in objects:
                assert isinstance(one, RecordValue)
                if "data_file" in one.fields:
                    self._entry(f"{self.name}/{path}", one)
                elif "manifest_path" in one.fields:
                    self._update_list_entry(f"{self.name}/{path}", one)
                avro.replace(one, self.paths)
        self._store_file(path, self.made.files[path], avro.write(container), {})

    def _find_named(self, record: RecordValue, member: str) -> tuple[str | None, ResizedFile | None]:
        location = plain_value(record.fields[member])
        path = self.paths.relative(location) if isinstance(location, bytes) else None
        return path, self.resized.get(path) if path is not None else None

    def _entry(self, manifest: str, entry: RecordValue) -> None:
        data_file = entry.fields["data_file"]
        assert isinstance(data_file, RecordValue)
        for bounds in ("lower_bounds", "upper_bounds"):
            self._cut_bounds(data_file.fields.get(bounds))
        _, resized = self._find_named(data_file, "file_path")
        if resized is None:
            return
        _follow(data_file, "file_size_in_bytes", resized)
        sizes = data_file.fields.get("column_sizes")
        inner = sizes.value if isinstance(sizes, avro.UnionValue) else sizes
        if isinstance(inner, Blocks):
            _follow_columns(inner, resized)
        is_vector = plain_value(data_file.fields.get("content_offset", avro.Raw(b""))) is not None
        more = 0 if is_vector else resized.new - resized.old  # for a deletion vector, summaries count the blob
        status, snapshot = plain_value(entry.fields["status"]), plain_value(entry.fields["snapshot_id"])
        self.entries.setdefault(manifest, []).append(ResizedEntry(status, snapshot, more))

    def _cut_bounds(self, bounds: avro.Node | None) -> None:
        """Rewrite bounds of ``file_path`` that were truncated within the folder; `avro.replace` rewrites the others."""
        inner = bounds.value if isinstance(bounds, avro.UnionValue) else bounds
        if not isinstance(inner, Blocks):
            return
        for _, _, items in inner.blocks:
            for item in items:
                if isinstance(item, RecordValue) and plain_value(item.fields["key"]) == FILE_PATH_ID:
                    value = item.fields["value"]
                    assert isinstance(value, avro.Text)
                    value.value = self.paths.replace_truncated(value.value)

    def _update_list_entry(self, list_: str, manifest: RecordValue) -> None:
        path, resized = self._find_named(manifest, "manifest_path")
        if resized is not None:
            _follow(manifest, "manifest_length", resized)
        if path is not None:
            added = plain_value(manifest.fields.get("added_snapshot_id", avro.Raw(b"")))
            self.lists.setdefault(list_, []).append((path, added))

    def _summary_sizes(self) -> dict[int, dict[str, int]]:
        """Return the growth in bytes of the sizes in each snapshot's summary."""
        lists = self._lists_of_snapshots()
        made: dict[int, dict[str, int]] = {}
        for snapshot, list_ in lists.items():
            more: dict[str, int] = defaultdict(int)
            for manifest, added in self.lists.get(list_, ()):
                for entry in self.entries.get(manifest, ()):
                    by = added if entry.snapshot is None else entry.snapshot
                    more["total-files-size"] += entry.more if entry.status != DELETED else 0
                    if by == snapshot:
                        name = {ADDED: "added-files-size", DELETED: "removed-files-size"}.get(entry.status)
                        more[name or ""] += entry.more
            made[snapshot] = more
        return made

    def _lists_of_snapshots(self) -> dict[int, str]:
        found: dict[int, str] = {}
        for path, data in self.made.files.items():
            if path.endswith(".json"):
                try:
                    for snapshot in json.loads(data)["snapshots"]:
                        location = snapshot.get("manifest-list", "").encode()
                        found[snapshot["snapshot-id"]] = self.paths.relative(location) or ""
                except (ValueError, KeyError, TypeError):
                    continue
        return found


def _follow(record: RecordValue, member: str, resized: ResizedFile) -> None:
    """Replace the old length with the new one if it is stated."""
    size = record.fields.get(member)
    inner = size.value if isinstance(size, avro.UnionValue) else size
    if isinstance(inner, Number) and inner.value == resized.old:
        inner.value = resized.new


def _follow_columns(sizes: Blocks, resized: ResizedFile) -> None:
    for _, _, items in sizes.blocks:
        for item in items:
            if isinstance(item, RecordValue) and plain_value(item.fields["key"]) == FILE_PATH_ID:
                value = item.fields["value"]
                if isinstance(value, Number):
                    value.value = resized.columns.get(value.value, value.value)
