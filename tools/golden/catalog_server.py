"""A REST catalog for engines that write only through one: it has tables, and accepts commits to them.

It checks nothing. Table metadata is the initial JSON with the updates of the commits applied.
"""

from __future__ import annotations

import json
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

from spec_ref.core.json_types import JsonObject
from tools.loopback_server import LoopbackServer

NAMESPACE = "n"
HOST = "127.0.0.1"


class Table:
    """A table: its current metadata, and the file that contains it."""

    def __init__(self, folder: Path, metadata: JsonObject) -> None:
        self.folder = folder / "metadata"
        self.folder.mkdir(parents=True)
        self.metadata = {"table-uuid": str(uuid.uuid4()), "location": f"file://{folder}", **metadata}
        self._number = 0
        self._save()

    def _save(self) -> None:
        path = self.folder / f"{self._number:05}-{uuid.uuid4()}.metadata.json"
        path.write_text(json.dumps(self.metadata), encoding="utf-8")
        self.file = f"file://{path}"

    def commit(self, updates: list[JsonObject]) -> None:
        """Apply the updates of a commit, and write new metadata."""
        now = self.metadata
        for update in updates:
            match update:
                case {"action": "add-snapshot", "snapshot": snapshot}:
                    now["snapshots"].append(snapshot)
                    now["last-updated-ms"] = snapshot["timestamp-ms"]
                    if "last-sequence-number" in now:
                        now["last-sequence-number"] = snapshot["sequence-number"]
                    if "next-row-id" in now:
                        now["next-row-id"] += snapshot.get("added-rows", 0)
                case {"action": "set-snapshot-ref", "ref-name": name, "snapshot-id": wanted, "type": kind}:
                    now["refs"][name] = {"snapshot-id": wanted, "type": kind}
                    now["current-snapshot-id"] = wanted
                    now["snapshot-log"].append({"snapshot-id": wanted, "timestamp-ms": now["last-updated-ms"]})
                case _:
                    raise ValueError(f"an update that this catalog does not know: {update}")
        now["metadata-log"].append({"timestamp-ms": now["last-updated-ms"], "metadata-file": self.file})
        self._number += 1
        self._save()

    def as_json(self) -> JsonObject:
        """Return the answer to a request for the table."""
        return {"metadata-location": self.file, "metadata": self.metadata, "config": {}}


def empty_metadata(format_version: int, fields: list[JsonObject], partition: list[JsonObject]) -> JsonObject:
    """Return the metadata of a table without snapshots."""
    schema = {"type": "struct", "schema-id": 0, "fields": fields}
    metadata: JsonObject = {
        "format-version": format_version,
        "last-updated-ms": int(time.time() * 1000),
        "last-column-id": max(field["id"] for field in fields),
        "schemas": [schema],
        "current-schema-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": partition}],
        "default-spec-id": 0,
        "last-partition-id": max(field["field-id"] for field in partition),
        "sort-orders": [{"order-id": 0, "fields": []}],
        "default-sort-order-id": 0,
        "properties": {},
        "snapshots": [],
        "snapshot-log": [],
        "metadata-log": [],
        "refs": {},
    }
    if format_version == 1:
        return metadata | {"schema": schema, "partition-spec": partition}
    return metadata | {"last-sequence-number": 0} | ({"next-row-id": 0} if format_version == 3 else {})


@contextmanager
def serving(tables: dict[str, Table]) -> Iterator[str]:
    """Serve the tables, all in `NAMESPACE`; yield the address."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            """Log nothing."""

        def answer(self, document: JsonObject, status: int = 200) -> None:
            body = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def do_GET(self) -> None:
            last = self.path.partition("?")[0].rpartition("/")[2]
            fixed: dict[str, JsonObject] = {
                "config": {"defaults": {}, "overrides": {}},
                "namespaces": {"namespaces": [[NAMESPACE]]},
                NAMESPACE: {"namespace": [NAMESPACE], "properties": {}},
                "tables": {"identifiers": [{"namespace": [NAMESPACE], "name": name} for name in tables]},
            }
            if last in fixed:
                self.answer(fixed[last])
            elif last in tables:
                self.answer(tables[last].as_json())
            else:
                self.answer({"error": {"message": last, "type": "NoSuchTableException", "code": 404}}, 404)

        do_HEAD = do_GET  # noqa: N815

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            last = self.path.rpartition("/")[2]
            changes = body["table-changes"] if last == "commit" else [{"identifier": {"name": last}, **body}]
            for change in changes:
                tables[change["identifier"]["name"]].commit(change["updates"])
            self.answer(tables[last].as_json() if last in tables else {})

    server = LoopbackServer((HOST, 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://{HOST}:{server.server_port}"
    server.shutdown()
    server.server_close()
