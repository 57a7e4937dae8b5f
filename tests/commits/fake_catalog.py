"""A REST catalog in this process with faults on demand: lost replies, refusals of completed commits, lost commits.

It shares nothing with the client under test but the protocol's text: requirements and updates are applied to JSON.
"""

from __future__ import annotations

import json
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any, cast

from conformance.table_io.stores.local_files import LocalFiles
from spec_ref.core.json_types import JsonObject
from spec_ref.core.records import evolve
from spec_ref.core.versions import FormatVersion
from spec_ref.manifest_lists.reader import read_manifest_list
from spec_ref.manifest_lists.writer import write_manifest_list
from tools.loopback_server import LoopbackServer

LATER = 12
"""The number of further versions after which an acknowledged commit is applied late."""


class Refused(Exception):
    """A request whose answer has a status other than 200."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(message)
        self.status, self.kind = status, kind


LISTS = {
    "add-schema": ("schemas", "schema", "schema-id"),
    "add-spec": ("partition-specs", "spec", "spec-id"),
    "add-sort-order": ("sort-orders", "sort-order", "order-id"),
}
CHOICES = {
    "set-current-schema": ("current-schema-id", "schema-id", "schemas", "schema-id"),
    "set-default-spec": ("default-spec-id", "spec-id", "partition-specs", "spec-id"),
    "set-default-sort-order": ("default-sort-order-id", "sort-order-id", "sort-orders", "order-id"),
}
ASSERTED = {
    "assert-table-uuid": ("uuid", "table-uuid"),
    "assert-current-schema-id": ("current-schema-id", "current-schema-id"),
    "assert-last-assigned-field-id": ("last-assigned-field-id", "last-column-id"),
    "assert-default-spec-id": ("default-spec-id", "default-spec-id"),
    "assert-last-assigned-partition-id": ("last-assigned-partition-id", "last-partition-id"),
    "assert-default-sort-order-id": ("default-sort-order-id", "default-sort-order-id"),
}


def require(requirement: JsonObject, table: JsonObject | None) -> None:
    """Check a requirement of a commit; refuse with 409 if the table does not meet it."""
    kind = requirement["type"]
    if kind == "assert-create":
        holds = table is None
    elif table is None:
        raise Refused(404, "NoSuchTableException", "there is no such table")
    elif kind == "assert-ref-snapshot-id":
        holds = table["refs"].get(requirement["ref"], {}).get("snapshot-id") == requirement["snapshot-id"]
    else:
        member, name = ASSERTED[kind]
        holds = table[name] == requirement[member]
    if not holds:
        raise Refused(409, "CommitFailedException", f"{kind} does not hold")


def field_ids(node: Any) -> Iterator[int]:
    """Yield all field ids in the JSON of a schema."""
    if isinstance(node, dict):
        yield from (node[name] for name in ("id", "element-id", "key-id", "value-id") if name in node)
        for child in node.values():
            yield from field_ids(child)
    elif isinstance(node, list):
        for child in node:
            yield from field_ids(child)


def update(change: JsonObject, table: JsonObject) -> None:
    """Apply one update."""
    action = change["action"]
    if action in LISTS:
        name, member, _ = LISTS[action]
        table[name].append(change[member])
        if action == "add-schema":
            table["last-column-id"] = max([table["last-column-id"], *field_ids(change["schema"])])
        if action == "add-spec":
            ids = [field["field-id"] for field in change["spec"]["fields"]]
            table["last-partition-id"] = max([table["last-partition-id"], *ids])
    elif action in CHOICES:
        name, member, listed, id_ = CHOICES[action]
        table[name] = table[listed][-1][id_] if change[member] == -1 else change[member]
    elif action == "add-snapshot":
        snapshot = change["snapshot"]
        if table["format-version"] > 1 and snapshot["sequence-number"] <= table["last-sequence-number"]:
            raise Refused(409, "CommitFailedException", "the sequence number is not above the last")
        table["snapshots"].append(snapshot)
        table["last-sequence-number"] = snapshot.get("sequence-number", 0)
        if table["format-version"] > 2:
            table["next-row-id"] += snapshot.get("added-rows", 0)
    elif action == "set-snapshot-ref":
        table["refs"][change["ref-name"]] = {k: v for k, v in change.items() if k not in ("action", "ref-name")}
        if change["ref-name"] == "main":
            table["current-snapshot-id"] = change["snapshot-id"]
            entry = {"timestamp-ms": table["snapshots"][-1]["timestamp-ms"], "snapshot-id": change["snapshot-id"]}
            table["snapshot-log"].append(entry)
    elif action == "remove-snapshot-ref":
        del table["refs"][change["ref-name"]]
    elif action == "remove-snapshots":
        gone = set(change["snapshot-ids"])
        for name in ("snapshots", "snapshot-log"):
            table[name] = [one for one in table[name] if one["snapshot-id"] not in gone]
    elif action == "set-properties":
        table["properties"].update(change["updates"])
    elif action == "remove-properties":
        for name in change["removals"]:
            table["properties"].pop(name, None)
    elif action == "set-statistics":
        table["statistics"] = [*table.get("statistics", []), change["statistics"]]
    elif action == "remove-statistics":
        table["statistics"] = [one for one in table["statistics"] if one["snapshot-id"] != change["snapshot-id"]]
    elif action == "assign-uuid":
        table["table-uuid"] = change["uuid"]
    elif action == "upgrade-format-version":
        table["format-version"] = change["format-version"]
        if table["format-version"] > 2:
            table.setdefault("next-row-id", 0)
    elif action == "set-location":
        table["location"] = change["location"]
    else:
        raise Refused(400, "BadRequestException", f"unknown update {action}")


def empty() -> JsonObject:
    """Return the metadata from which a table is created."""
    return {
        "format-version": 2,
        "last-sequence-number": 0,
        "last-column-id": 0,
        "last-partition-id": 999,
        "schemas": [],
        "partition-specs": [],
        "sort-orders": [],
        "properties": {},
        "snapshots": [],
        "refs": {},
        "snapshot-log": [],
        "metadata-log": [],
        "last-updated-ms": 0,
    }


class FakeCatalog:
    """A catalog of one warehouse, in memory, with its metadata files on the disk.

    Attributes:
        faults: what happens to the next commits, the first one first; see `_Handler.do_POST`.
        choose: asked for the fault of each commit when there are none in `faults`.
        stale: serve each table as it was this many commits ago.
        token: the bearer token that is asked for.
    """

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix
        self.files = LocalFiles()
        self.lock = threading.Lock()
        self.tables: dict[str, list[tuple[str, JsonObject]]] = {}
        self.faults: list[str] = []
        self.choose: Callable[[JsonObject], str] = lambda _: ""
        self.stale: Callable[[], int] = lambda: 0
        self.delayed: list[tuple[int, JsonObject, str]] = []
        self.token: str | None = None
        self.requests: list[tuple[str, str, JsonObject]] = []
        self.url = ""

    def load(self, name: str) -> JsonObject:
        """Return the answer to loading a table."""
        if not self.tables.get(name):
            raise Refused(404, "NoSuchTableException", f"there is no table {name}")
        versions = self.tables[name]
        location, metadata = versions[max(0, len(versions) - 1 - self.stale())]
        return {"metadata-location": location, "metadata": metadata, "config": {}}

    def made(self, name: str, request: JsonObject) -> JsonObject:
        """Return the table with the changes of a request, without storing it."""
        versions = self.tables.get(name, [])
        before = versions[-1] if versions else None
        for requirement in request["requirements"]:
            require(requirement, None if before is None else before[1])
        table = json.loads(json.dumps(empty() if before is None else before[1]))
        for change in request["updates"]:
            update(change, table)
        if before is not None:
            entry = {"timestamp-ms": before[1]["last-updated-ms"], "metadata-file": before[0]}
            table["metadata-log"].append(entry)
        table["last-updated-ms"] = max(int(time.time() * 1000), table["last-updated-ms"])
        return cast("dict[str, Any]", table)

    def store(self, name: str, table: JsonObject) -> None:
        """Make a table's metadata the current one."""
        if table["format-version"] == 1:
            table["schema"] = next(one for one in table["schemas"] if one["schema-id"] == table["current-schema-id"])
            specs = {one["spec-id"]: one["fields"] for one in table["partition-specs"]}
            table["partition-spec"] = specs[table["default-spec-id"]]
        versions = self.tables.setdefault(name, [])
        location = f"{table['location']}/metadata/{len(versions):05}-{uuid.uuid4()}.metadata.json"
        self.files.write(location, json.dumps(table).encode())
        versions.append((location, table))

    def again(self, name: str, snapshot: JsonObject, ref: str) -> None:
        """Commit the files of a snapshot again, or late, on the current table."""
        table = json.loads(json.dumps(self.tables[name][-1][1]))
        head_id = table["refs"].get(ref, {}).get("snapshot-id")
        head = next((one for one in table["snapshots"] if one["snapshot-id"] == head_id), None)
        own = [
            one
            for one in self.manifests(snapshot)
            if one.added_snapshot_id == snapshot["snapshot-id"] and not one.existing_files_count
        ]
        number, id_ = table["last-sequence-number"] + 1, uuid.uuid4().int >> 70
        path = snapshot["manifest-list"].replace(".avro", f"-{id_}.avro")
        own = [evolve(one, sequence_number=number, min_sequence_number=number) for one in own]
        listed = [*own, *(self.manifests(head) if head else [])]
        parent = None if head is None else head["snapshot-id"]
        data = write_manifest_list(
            listed, FormatVersion.V2, snapshot_id=id_, parent_snapshot_id=parent, sequence_number=number
        )
        self.files.write(path, data)
        made = {
            **snapshot,
            "snapshot-id": id_,
            "parent-snapshot-id": parent,
            "sequence-number": number,
            "manifest-list": path,
        }
        made = {key: value for key, value in made.items() if value is not None}
        update({"action": "add-snapshot", "snapshot": made}, table)
        update({"action": "set-snapshot-ref", "ref-name": ref, "type": "branch", "snapshot-id": id_}, table)
        table["metadata-log"].append(
            {"timestamp-ms": table["last-updated-ms"], "metadata-file": self.tables[name][-1][0]}
        )
        self.store(name, table)

    def manifests(self, snapshot: JsonObject) -> list[Any]:
        """Return the manifests of a snapshot."""
        return list(read_manifest_list(self.files.read(snapshot["manifest-list"]) or b""))

    def commit(self, name: str, request: JsonObject) -> JsonObject | None:
        """Run a commit with its fault; return None if the reply is lost."""
        fault = self.faults.pop(0) if self.faults else self.choose(request)
        if fault.isdigit():
            raise Refused(int(fault), "FaultException", "a fault")
        if fault == "lost":
            return None
        table = self.made(name, request)
        made = next((one["snapshot"] for one in request["updates"] if one["action"] == "add-snapshot"), None)
        ref = next((one["ref-name"] for one in request["updates"] if one["action"] == "set-snapshot-ref"), "")
        if fault == "acknowledged-only":
            return {"metadata-location": "file:///nowhere/x.metadata.json", "metadata": table}
        if fault == "later" and made is not None:
            self.delayed.append((len(self.tables[name]) + LATER, made, ref))
            return {"metadata-location": "file:///nowhere/x.metadata.json", "metadata": table}
        self.store(name, table)
        if fault == "twice" and made is not None:
            self.again(name, made, ref)
        elif self.delayed and self.delayed[0][0] <= len(self.tables[name]):
            self.again(name, *self.delayed.pop(0)[1:])
        if fault == "lost-applied":
            return None
        if fault.startswith("applied-"):
            raise Refused(int(fault.removeprefix("applied-")), "FaultException", "a fault")
        return self.load(name)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    fake: FakeCatalog

    def do_GET(self) -> None:
        self.answer(self.got)

    def do_POST(self) -> None:
        self.answer(self.posted)

    def answer(self, how: Callable[[str], JsonObject | None]) -> None:
        try:
            if self.fake.token and self.headers.get("Authorization") != f"Bearer {self.fake.token}":
                raise Refused(401, "NotAuthorizedException", "who are you?")
            path = self.path.partition("?")[0].removeprefix("/v1/")
            if path != "config" and self.fake.prefix:
                if not path.startswith(self.fake.prefix + "/"):
                    raise Refused(404, "NotFoundException", "not below the prefix")
                path = path.removeprefix(self.fake.prefix + "/")
            with self.fake.lock:
                answer = how(path)
            status = 200
        except Refused as error:
            status = error.status
            answer = {"error": {"message": str(error), "type": error.kind, "code": status}}
        if answer is None:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def got(self, path: str) -> JsonObject:
        if path == "config":
            return {"defaults": {}, "overrides": {"prefix": self.fake.prefix} if self.fake.prefix else {}}
        return self.fake.load(path)

    def posted(self, path: str) -> JsonObject | None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.fake.requests.append(("POST", path, request))
        if path == "namespaces":
            return {"namespace": request["namespace"], "properties": {}}
        return self.fake.commit(path, request)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


@contextmanager
def fake_catalog(prefix: str = "") -> Iterator[FakeCatalog]:
    """Run a catalog in a thread of this process."""
    fake = FakeCatalog(prefix)
    handler = type("Handler", (_Handler,), {"fake": fake})
    server = LoopbackServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    fake.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
