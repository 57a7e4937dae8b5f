"""A store of S3's protocol for measurements: it serves a folder, counts and throttles requests, and delays each answer.

    python -m tools.counting_store FOLDER [--delay-ms 30] [--connections 64] [--busy 0.02] [--reset 0.01]

The store handles all requests in one thread, so that it takes little of the processor time that is measured. If more
than the given number of requests are in flight, it answers 503 (SlowDown); it also does so at random, and resets some
connections. The first line of its output is its port. The answer to ``GET /-/counts`` has the counts, and the
microseconds for which it held all answers back.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from urllib.request import urlopen

from attrs import frozen

from tools.entry_point import run_main
from tools.store_environment import store_environment

_BUSY = b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"
_MISSING = b"<Error><Code>NoSuchKey</Code><Message>The key does not exist.</Message></Error>"


@frozen(kw_only=True)
class StoreBehavior:
    """The delay, the limits and the faults of the store."""

    delay_s: float = 0.03
    connections: int = 64
    """The maximum number of requests in flight."""

    busy: float = 0.0
    """The fraction of requests that are answered with 503."""

    reset: float = 0.0
    """The fraction of requests whose connection is reset."""


class _Server:
    def __init__(self, folder: Path, behavior: StoreBehavior) -> None:
        self.folder = folder
        self.behavior = behavior
        self.counts: Counter[str] = Counter()
        self.under_way = 0
        self.random = random.Random(0)
        self.cache: dict[str, bytes | None] = {}

    def receive(self, transport: asyncio.Transport, head: str) -> None:
        """Answer a request, given as its head: at once, or after the delay."""
        method, target, _ = head.split(" ", 2)
        if target == "/-/counts":
            self._answer(transport, "200 OK", json.dumps(self.counts).encode())
            self.counts.clear()
            return
        path = unquote(target.partition("?")[0])
        kind = path.rpartition(".")[2] if "." in path else "other"
        self.counts[f"{method} {kind}"] += 1
        if self.under_way >= self.behavior.connections or self.random.random() < self.behavior.busy:
            self.counts["503"] += 1
            self._answer(transport, "503 Slow Down", _BUSY)
            return
        self.under_way += 1
        self.counts["most under way"] = max(self.counts["most under way"], self.under_way)
        loop = asyncio.get_running_loop()
        loop.call_later(self.behavior.delay_s, self._object, transport, method, path, head, loop.time())

    def _object(self, transport: asyncio.Transport, method: str, path: str, head: str, received_s: float) -> None:
        self.under_way -= 1
        self.counts["held us"] += round((asyncio.get_running_loop().time() - received_s) * 1e6)
        if self.random.random() < self.behavior.reset:
            self.counts["reset"] += 1
            transport.abort()
            return
        content = self._content(path)
        if content is None:
            self._answer(transport, "404 Not Found", _MISSING, method)
            return
        found = re.search(r"^range: bytes=(\d*)-(\d*)\r$", head, re.IGNORECASE | re.MULTILINE)
        if found is None:
            self._answer(transport, "200 OK", content, method)
            return
        size = len(content)
        start = int(found[1]) if found[1] else max(size - int(found[2]), 0)
        stop = min(int(found[2]) + 1, size) if found[1] and found[2] else size
        if start >= size:
            self._answer(transport, "416 Range Not Satisfiable", b"", method, f"bytes */{size}")
        else:
            place = f"bytes {start}-{stop - 1}/{size}"
            self._answer(transport, "206 Partial Content", content[start:stop], method, place)

    def _content(self, path: str) -> bytes | None:
        if path not in self.cache:
            file = self.folder / path.lstrip("/")
            if len(self.cache) > 1000:
                self.cache.clear()
            self.cache[path] = file.read_bytes() if file.is_file() else None
        return self.cache[path]

    def _answer(
        self, transport: asyncio.Transport, status: str, body: bytes, method: str = "GET", place: str = ""
    ) -> None:
        more = f"Content-Range: {place}\r\n" if place else ""
        head = (
            f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{more}"
            'Last-Modified: Mon, 23 Nov 2026 00:00:00 GMT\r\nETag: "0"\r\nAccept-Ranges: bytes\r\n\r\n'
        )
        if transport.is_closing():
            return
        transport.write(head.encode() + (b"" if method == "HEAD" else body))
        self.counts["bytes"] += 0 if method == "HEAD" else len(body)


class _Connection(asyncio.Protocol):
    """A connection; a client sends its next request after the answer."""

    def __init__(self, server: _Server) -> None:
        self.server = server
        self.received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.received += data
        while b"\r\n\r\n" in self.received:
            head, _, self.received = self.received.partition(b"\r\n\r\n")
            self.server.receive(self.transport, f"{head.decode('latin-1')}\r\n")


@frozen
class CountingStore:
    """A running store."""

    endpoint: str

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables with which clients reach the store."""
        return store_environment(self.endpoint)

    def take_counts(self) -> dict[str, int]:
        """Return the counts since the last call."""
        with urlopen(f"{self.endpoint}/-/counts") as answer:
            counts: dict[str, int] = json.load(answer)
        return counts


@contextmanager
def counting_store(folder: Path, behavior: StoreBehavior) -> Iterator[CountingStore]:
    """Run a store that serves a folder, whose subfolders are buckets, in a separate process."""
    options = [f"--{name}={value}" for name, value in _options(behavior).items()]
    command = [sys.executable, "-m", "tools.counting_store", str(folder), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield CountingStore(f"http://127.0.0.1:{int(process.stdout.readline())}")
        finally:
            process.terminate()


def _options(behavior: StoreBehavior) -> dict[str, Any]:
    return {
        "delay-ms": behavior.delay_s * 1000,
        "connections": behavior.connections,
        "busy": behavior.busy,
        "reset": behavior.reset,
    }


async def _run(folder: Path, behavior: StoreBehavior) -> None:
    store = _Server(folder, behavior)
    server = await asyncio.get_running_loop().create_server(lambda: _Connection(store), "127.0.0.1", 0, backlog=256)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def main() -> None:
    """Serve until the process is ended."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--delay-ms", type=float, default=30)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--busy", type=float, default=0.0)
    parser.add_argument("--reset", type=float, default=0.0)
    given = parser.parse_args()
    behavior = StoreBehavior(
        delay_s=given.delay_ms / 1000, connections=given.connections, busy=given.busy, reset=given.reset
    )
    asyncio.run(_run(given.folder, behavior))


if __name__ == "__main__":
    run_main(main)
