"""A small object store that implements enough of the S3 protocol: one bucket in memory, with conditional puts."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

from tools.loopback_server import LoopbackServer


class Objects:
    """The objects, and the faults to inject."""

    def __init__(self) -> None:
        self.objects: dict[str, tuple[bytes, str | None]] = {}
        self.lock = threading.Lock()
        self.url = ""
        self.faults: list[str] = []
        """The faults of the next conditional puts: ``drop`` (done, no answer), ``lose`` (not done, no answer),
        ``conflict`` (done, and answered 409), ``broken`` (not done, and answered 503), ``twice`` (sent twice)."""

        self.refuses = False
        """Whether reads are refused."""

        self.page = 1000
        self.authorizations: list[str | None] = []


def _handler(store: Objects) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

        def _key(self) -> str:
            return unquote(urlsplit(self.path).path).removeprefix("/bucket").removeprefix("/")

        def _answer(self, status: int, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def do_HEAD(self) -> None:
            self._get()

        def do_GET(self) -> None:
            if self._key():
                self._get()
                return
            query = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
            after = query.get("continuation-token", "")
            keys = sorted(key for key in store.objects if key.startswith(query["prefix"]) and key > after)
            page = keys[: store.page]
            more = f"<NextContinuationToken>{escape(page[-1])}</NextContinuationToken>" if len(keys) > len(page) else ""
            contents = "".join(f"<Contents><Key>{escape(key)}</Key></Contents>" for key in page)
            space = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'
            self._answer(200, f"<ListBucketResult {space}>{contents}{more}</ListBucketResult>".encode())

        def _get(self) -> None:
            if store.refuses:
                self._answer(403)
                return
            found = store.objects.get(self._key())
            if found is None:
                self._answer(404)
                return
            self._answer(200, found[0], {} if found[1] is None else {"x-amz-meta-written-as": found[1]})

        def do_PUT(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            store.authorizations.append(self.headers.get("Authorization"))
            conditional = self.headers.get("If-None-Match") == "*"
            fault = store.faults.pop(0) if conditional and store.faults else ""
            if fault == "broken":
                self._answer(503)
                return
            status = 200
            for _ in range(0 if fault == "lose" else 2 if fault == "twice" else 1):
                with store.lock:
                    if conditional and self._key() in store.objects:
                        status = 412
                    else:
                        store.objects[self._key()] = body, self.headers.get("x-amz-meta-written-as")
            if fault in ("drop", "lose"):
                self.close_connection = True
                self.connection.close()
                return
            self._answer(409 if fault == "conflict" else status)

        def do_DELETE(self) -> None:
            store.objects.pop(self._key(), None)
            self._answer(204)

    return Handler


@contextmanager
def object_server() -> Iterator[Objects]:
    """Start the store on the loopback interface."""
    store = Objects()
    server = LoopbackServer(("127.0.0.1", 0), _handler(store))
    server.daemon_threads = True
    store.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield store
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
