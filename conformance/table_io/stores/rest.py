"""Tables of a catalog that speaks Iceberg's REST catalog protocol: ``rest+http://host:port?namespace=ns&table=name``.

In this protocol, the catalog writes the metadata files. The effects of a commit are performed as follows:

- `ReadPointer` loads the table and returns its ``metadata-location``. `ReadFile` of that location returns the metadata
  that the catalog sent with it.
- `WriteFile` of manifests and manifest lists writes files. Metadata is not written, but held until the swap.
- `SwapPointer` commits. The differences between the old and the new metadata become the updates. The request requires
  everything of the old metadata that the protocol can require (see `rest_updates`): its UUID, the head of every branch
  and tag, the current schema, the default spec and order, and the last assigned ids. Changes that no requirement covers
  (properties, statistics, expired snapshots) are merged with concurrent changes. Status 200 means done; 409 and 429
  mean refused, as the catalog changed nothing; 5xx or no reply means unknown. Other statuses (400, 401, 403, 404 ...)
  are errors.
- To find out the result of an unknown swap, `RestTable` reads the table. As the catalog chooses the names of metadata
  files, a commit is found by its snapshot in the history of the branch; a commit without a snapshot, by its effect.

Files are local, or on a store that `conformance.table_io.file_access` reaches with the credentials of the environment.
Credentials that a catalog vends are not used.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Generator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from conformance.table_io.file_access import FileMissing, file_system, read_bytes, split_location, write_bytes
from conformance.table_io.stores.local_files import LocalFiles
from conformance.table_io.stores.rest_catalog import CatalogError, NoReply, Reply, RestCatalog
from conformance.table_io.stores.rest_updates import requirements, updates
from conformance.table_io.stores.sql import TableName
from spec_ref.commits import CommitStateUnknown, MetastoreTable
from spec_ref.commits.effects import Effect, ReadFile, ReadPointer, SwapResult
from spec_ref.commits.payloads import FileKind
from spec_ref.core.json_types import JsonObject
from spec_ref.table_metadata.metadata import TableMetadata
from spec_ref.table_metadata.reader import read_metadata

MAX_HELD_VERSIONS = 16
"""The maximum number of versions of the table whose metadata is held."""

REFUSED = (409, 429)


class RestTable:
    """A kind of table whose catalog writes the metadata itself."""

    def new_metadata_location(
        self, base: tuple[str, TableMetadata] | None, metadata: TableMetadata, unique: str
    ) -> str:
        """Return a temporary name for the metadata, which the catalog replaces."""
        return MetastoreTable().new_metadata_location(base, metadata, unique)

    def is_committed(
        self, expected: str | None, new: str, metadata: TableMetadata
    ) -> Generator[Effect, Any, bool | None]:
        """Return whether the table shows the commit: its snapshots or, without snapshots, its effect.

        A snapshot can no longer be committed once the branch has a different snapshot in its place. A commit without a
        snapshot counts as not done if the table does not show it and no longer meets the requirements of the request,
        although it may have been done and undone.
        """
        left = yield ReadFile(new, FileKind.METADATA)
        now = yield ReadPointer()
        if now is None:
            return None if left is not None else False
        base = None if expected is None else (yield ReadFile(expected, FileKind.METADATA))
        current = yield ReadFile(now, FileKind.METADATA)
        if current is None or (base is None and expected is not None):
            return None
        if _shows(base, metadata, current):
            return True
        if left is None:
            return False  # the catalog refused the commit, which was sent only once
        return False if _excludes(base, metadata, current) else None


def _shows(base: TableMetadata | None, wanted: TableMetadata, current: TableMetadata) -> bool:
    """Return whether a table shows all changes of a commit."""
    if made := _snapshots_made(base, wanted):
        known = {one.snapshot_id for one in current.snapshots}
        return made <= known | {one.parent_snapshot_id for one in current.snapshots}
    if base is None:
        return wanted.table_uuid == current.table_uuid
    return not _remaining(base, wanted, current)


def _snapshots_made(base: TableMetadata | None, wanted: TableMetadata) -> set[int]:
    """Return the ids of the snapshots that a commit adds."""
    had = set() if base is None else {one.snapshot_id for one in base.snapshots}
    return {one.snapshot_id for one in wanted.snapshots} - had


def _remaining(base: TableMetadata, wanted: TableMetadata, current: TableMetadata) -> list[JsonObject]:
    """Return the updates of a commit that a table does not show."""
    if current.table_uuid != base.table_uuid:
        return updates(base, wanted)
    missing = updates(current, wanted)
    return [one for one in updates(base, wanted) if _touches(one, missing)]


def _touches(update: JsonObject, missing: list[JsonObject]) -> bool:
    if "updates" in update:
        return any(update["updates"].keys() & one.get("updates", {}).keys() for one in missing)
    if "removals" in update:
        return any(set(update["removals"]) & set(one.get("removals", ())) for one in missing)
    if "snapshot-ids" in update:
        return any(set(update["snapshot-ids"]) & set(one.get("snapshot-ids", ())) for one in missing)
    return update in missing


def _excludes(base: TableMetadata | None, wanted: TableMetadata, current: TableMetadata) -> bool:
    """Return whether the request of a commit did not succeed, and can no longer succeed.

    From the head of a branch that moved, the history is followed back to the old head: if the commit is not in it, it
    was not done.
    """
    if base is None:
        return current.table_uuid != wanted.table_uuid
    if current.table_uuid != base.table_uuid:
        return True
    parents = {one.snapshot_id: one.parent_snapshot_id for one in current.snapshots}
    for name, ref in {"main": None, **base.references}.items():
        before = None if ref is None else ref.snapshot_id
        now = current.references.get(name)
        if now is None:
            if before is not None:
                return True
            continue
        at: int | None = now.snapshot_id
        if at == before:
            continue
        while at is not None and at != before and at in parents:
            at = parents[at]
        if at == before:
            return True
    required = [one for one in requirements(base) if one["type"] != "assert-ref-snapshot-id"]
    return any(one not in requirements(current) for one in required)


class RestStore:
    """A table of a REST catalog.

    Args:
        catalog: the catalog.
        name: the table; its namespace may have several levels, with dots between them.
    """

    table = RestTable()

    def __init__(self, catalog: RestCatalog, name: TableName) -> None:
        self.catalog = catalog
        self.name = name
        self.contradictions: list[str] = []
        """Commits that the catalog refused but performed."""

        self._local = LocalFiles()
        self._loaded: OrderedDict[str, bytes] = OrderedDict()
        self._held: dict[str, bytes] = {}
        self._sent: set[str] = set()
        self._refused: set[int] = set()
        """The snapshots of the commit that was refused last."""

    @property
    def path(self) -> str:
        """The path of the table in the API of the catalog."""
        return f"{self.catalog.namespace(self._levels)}/tables/{self.name.name}"

    @property
    def _levels(self) -> tuple[str, ...]:
        return tuple(self.name.namespace.split("."))

    def make_namespace(self) -> None:
        """Create the namespace of the table, unless it exists."""
        try:
            body = {"namespace": list(self._levels), "properties": {}}
            self.catalog.request("POST", f"{self.catalog.prefix}/namespaces", body)
        except CatalogError as error:
            if error.http_status != 409:
                raise

    def close(self) -> None:
        """Do nothing, as there are no connections."""

    def commit_lock(self) -> AbstractContextManager[object]:
        """Return a lock that does nothing, as machines share no locks."""
        return nullcontext()

    def read_pointer(self) -> str | None:
        """Load the table; return the location of its metadata, or None if there is no table."""
        try:
            answer = self.catalog.request("GET", self.path)
        except CatalogError as error:
            if error.http_status == 404:
                return None
            raise
        return self._remember(answer)

    def _remember(self, answer: JsonObject) -> str:
        location = answer.get("metadata-location")
        if not isinstance(location, str) or "metadata" not in answer:
            raise CatalogError(self.catalog.url, f"GET {self.path}: the answer has no metadata-location or no metadata")
        self._loaded[location] = json.dumps(answer["metadata"]).encode()
        self._loaded.move_to_end(location)
        if len(self._loaded) > MAX_HELD_VERSIONS:
            self._loaded.popitem(last=False)
        if self._refused:
            known = {one.snapshot_id for one in self._metadata(location).snapshots}
            self.contradictions += [
                f"the catalog refused snapshot {made} with HTTP 409, and it is in the table"
                for made in sorted(self._refused & known)
            ]
            self._refused = set()
        return location

    def swap_pointer(self, expected: str | None, new: str) -> SwapResult:
        """Commit the held metadata, on the condition that the table is unchanged."""
        wanted, base = self._metadata(new), None
        if expected is None:
            self.make_namespace()
        else:
            base = self._metadata(expected)
        body = {
            "identifier": {"namespace": list(self._levels), "name": self.name.name},
            "requirements": requirements(base),
            "updates": updates(base, wanted),
        }
        is_first = new not in self._sent
        path = self.path
        self._sent.add(new)
        try:
            reply = self.catalog.send("POST", path, body)
        except NoReply:
            return SwapResult.UNKNOWN
        if reply.status // 100 == 2:
            self._check_references(base, wanted, reply)
            return SwapResult.DONE
        if reply.status in REFUSED:
            if is_first:
                self._held.pop(new)
                self._refused = _snapshots_made(base, wanted)
            return SwapResult.REFUSED
        if reply.status >= 500:
            return SwapResult.UNKNOWN
        raise self.catalog.refusal("POST", path, reply)

    def _check_references(self, base: TableMetadata | None, wanted: TableMetadata, reply: Reply) -> None:
        """Check that the reply to a commit has the references that the commit set.

        Raises:
            CommitStateUnknown: the catalog acknowledged the commit, but a reference is missing or differs.
        """
        try:
            refs = reply.json()["metadata"]["refs"]
            found = {name: ref["snapshot-id"] for name, ref in refs.items()}
        except (ValueError, KeyError, TypeError, AttributeError):
            return  # catalogs may leave the metadata out, and v1 the references
        before = {} if base is None else base.references
        for name, ref in wanted.references.items():
            if ref != before.get(name) and found.get(name) != ref.snapshot_id:
                message = f"{self.catalog.url} acknowledged a commit that sets the reference {name} to the snapshot "
                message += f"{ref.snapshot_id}, and answers {found.get(name, 'that there is no such reference')}"
                raise CommitStateUnknown(message)

    def _metadata(self, path: str) -> TableMetadata:
        data = self._held.get(path) or self._loaded.get(path)
        if data is None:
            raise CatalogError(self.catalog.url, f"the metadata {path} was not loaded from the catalog")
        return read_metadata(data, file=path)

    def read(self, path: str) -> bytes | None:
        """Return the content of a file, or the metadata that was loaded or is held for a commit."""
        for known in (self._held, self._loaded):
            if path in known:
                return known[path]
        if path in self._sent:
            return None  # the catalog refused this metadata
        if split_location(path).scheme == "file":
            return self._local.read(path)
        try:
            return read_bytes(path)
        except FileMissing:
            return None

    def write(self, path: str, data: bytes) -> None:
        """Write a file; metadata is held for the commit."""
        if path.endswith(".metadata.json"):
            self._held[path] = data
        elif split_location(path).scheme == "file":
            self._local.write(path, data)
        else:
            write_bytes(path, data)

    def delete(self, path: str) -> None:
        """Delete a file if it exists, or metadata that is held; do not delete metadata files of the catalog."""
        if path.endswith(".metadata.json"):
            self._held.pop(path, None)
        elif split_location(path).scheme == "file":
            self._local.delete(path)
        else:
            system, place = file_system(path)
            try:
                system.delete_file(place)
            except FileNotFoundError:
                return
