"""An object store on loopback that counts requests, and delays, cuts off or shortens its answers.

A server of S3's protocol (moto) runs behind a relay, which changes answers as a `Fault` specifies. Clients reach it
like any other store, through the variables in `Store.environment`.
"""

from __future__ import annotations

import http.client
import logging
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import unquote, urlsplit

from attrs import define, field, frozen

from tools.loopback_server import LoopbackServer
from tools.store_environment import BUCKET, store_environment

NOT_RELAYED = frozenset({"connection", "transfer-encoding", "content-length", "server", "date"})


@frozen
class StoreRequest:
    """A request."""

    method: str
    key: str
    """The bucket and the key."""

    range: str
    """The range of bytes; empty if the whole object is requested."""


@frozen
class Fault:
    """A change of an answer."""

    wait_s: float = 0
    """The delay before the answer begins."""

    cut: int | None = None
    """The number of bytes of the body after which the connection is closed, although the header announced more."""

    short: int | None = None
    """The number of bytes to which the body is shortened; the header announces this length."""

    status: int | None = None
    """The status that replaces the store's answer."""


Faults = Callable[[StoreRequest], Fault | None]


@define
class Store:
    """A running store."""

    endpoint: str
    faults: Faults = lambda _: None
    requests: list[StoreRequest] = field(factory=list)

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables with which clients reach the store."""
        return store_environment(self.endpoint)


@contextmanager
def running_faulty_store() -> Iterator[Store]:
    """Run a store with an empty bucket."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    behind = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    behind.start()
    host, port = behind.get_host_and_port()
    store = Store("")

    class Relay(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def relay(self) -> None:
            _relay(self, store, host, port)

        do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = relay  # noqa: N815 - the names of http.server

    server = LoopbackServer(("127.0.0.1", 0), Relay)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    store.endpoint = f"http://127.0.0.1:{server.server_port}"
    try:
        connection = http.client.HTTPConnection(host, port)
        connection.request("PUT", f"/{BUCKET}")
        connection.getresponse().read()
        yield store
    finally:
        server.shutdown()
        server.server_close()
        behind.stop()


def _body(client: BaseHTTPRequestHandler) -> bytes | None:
    """Return the body of a request, whose length precedes the body or each of its chunks."""
    if client.headers.get("transfer-encoding", "").lower() != "chunked":
        length = client.headers.get("content-length")
        return None if length is None else client.rfile.read(int(length))
    parts = []
    while size := int(client.rfile.readline().partition(b";")[0], 16):
        parts.append(client.rfile.read(size))
        client.rfile.readline()
    while client.rfile.readline().strip():
        pass
    return b"".join(parts)


def _relay(client: BaseHTTPRequestHandler, store: Store, host: str, port: int) -> None:
    body = _body(client)
    asked = StoreRequest(
        client.command, unquote(urlsplit(client.path).path).lstrip("/"), client.headers.get("range", "")
    )
    store.requests.append(asked)
    fault = store.faults(asked) or Fault()
    time.sleep(fault.wait_s)
    if fault.status is not None:
        client.send_response(fault.status)
        client.send_header("Content-Length", "0")
        client.end_headers()
        return
    connection = http.client.HTTPConnection(host, port)
    sent = {
        name: value for name, value in client.headers.items() if name.lower() not in ("transfer-encoding", "expect")
    }
    connection.request(client.command, client.path, body, sent)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    length = int(answer.headers.get("content-length", len(content))) if client.command == "HEAD" else len(content)
    if fault.short is not None:
        content, length = content[: fault.short], min(length, fault.short)
    try:
        client.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in NOT_RELAYED:
                client.send_header(name, value)
        client.send_header("Content-Length", str(length))
        client.end_headers()
        client.wfile.write(content if fault.cut is None else content[: fault.cut])
    except OSError:
        fault = Fault(cut=0)  # the client has closed the connection
    if fault.cut is not None:
        client.close_connection = True
