"""Reading objects by the protocol of S3, with one request for each range.

pyarrow asks for the size of an object before it reads from it, which is a second request for each file. The answer to
a range has the size too, so that here one request gives both. Connections are kept open and shared by the threads of a
process. Requests that a store refuses for the moment (503, 429 and the like), and those whose connection breaks, are
repeated after a random pause, the longest of which doubles each time.

`conformance.table_io.file_access` uses this where the environment has keys, and pyarrow for all other credentials.
"""

from __future__ import annotations

import atexit
import datetime
import hashlib
import hmac
import http.client
import os
import random
import re
import ssl
import threading
import time
from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import quote, urlsplit

from attrs import frozen

CONNECT_SECONDS = 10.0

BUSY_ATTEMPTS = 8
"""How often a request is sent that a store refuses for the moment."""

BROKEN_ATTEMPTS = 5
"""How often a request is sent whose connection breaks."""

STALLED_ATTEMPTS = 3
"""How often a request is sent that gets no data in time, each of which takes that time."""

FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 10.0

IDLE_CONNECTIONS = 64
"""The most connections to one store that are kept for later requests."""

_BUSY = frozenset({408, 429, 500, 502, 503, 504})
_RANGE = re.compile(r"bytes (?:(?P<start>\d+)-(?P<end>\d+)|\*)/(?P<size>\d+)")


def sign_request(
    method: str, host: str, path: str, query: str, headers: Mapping[str, str], body: bytes, region: str
) -> dict[str, str]:
    """Return the headers with a signature (AWS Signature Version 4).

    The key is ``AWS_ACCESS_KEY_ID`` and ``AWS_SECRET_ACCESS_KEY``, with ``AWS_SESSION_TOKEN`` if set; without a key
    the headers are returned as they are.
    """
    access, secret = os.environ.get("AWS_ACCESS_KEY_ID"), os.environ.get("AWS_SECRET_ACCESS_KEY")
    if not access or not secret:
        return dict(headers)
    now = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%SZ")
    digest = hashlib.sha256(body).hexdigest()
    made = {**headers, "host": host, "x-amz-date": now, "x-amz-content-sha256": digest}
    if token := os.environ.get("AWS_SESSION_TOKEN"):
        made["x-amz-security-token"] = token
    lowered = {name.lower(): value.strip() for name, value in made.items()}
    names = ";".join(sorted(lowered))
    canonical = "\n".join(
        [method, path, query, *(f"{name}:{lowered[name]}" for name in sorted(lowered)), "", names, digest]
    )
    scope = f"{now[:8]}/{region}/s3/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", now, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = f"AWS4{secret}".encode()
    for part in (now[:8], region, "s3", "aws4_request", text):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    credential = f"Credential={access}/{scope}, SignedHeaders={names}, Signature={key.hex()}"
    return {**made, "authorization": f"AWS4-HMAC-SHA256 {credential}"}


@frozen
class Part:
    """Some bytes of an object."""

    start: int
    data: bytes
    size: int
    """The size of the object."""


class TooLarge(Exception):
    """An object has more bytes than the caller reads at once."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size


@frozen
class S3Object:
    """An object of a store."""

    endpoint: str
    """The address of the store, with a scheme."""

    path: str
    """The path in the address, not quoted: the key, for addresses that do not have the bucket after it."""

    region: str
    seconds: float
    """How long the store may send no data."""

    def read_range(self, start: int, stop: int) -> Part:
        """Read some bytes; fewer if the object ends before.

        Args:
            start: the place of the first byte.
            stop: the place after the last one, more than `start`.

        Raises:
            OSError: the object cannot be read.
        """
        return self._part({"range": f"bytes={start}-{stop - 1}"}, start, stop)

    def read_end(self, count: int) -> Part:
        """Read the last bytes; all of a shorter object.

        Raises:
            OSError: the object cannot be read.
        """
        return self._part({"range": f"bytes=-{count}"}, None, None)

    def read_all(self, limit: int) -> bytes:
        """Read the whole object.

        Raises:
            TooLarge: it has more than ``limit`` bytes.
            OSError: it cannot be read.
        """
        return self._part({}, None, None, limit).data

    def _part(self, headers: dict[str, str], start: int | None, stop: int | None, limit: int | None = None) -> Part:
        busy = broken = stalled = 0
        while True:
            try:
                return self._once(headers, start, stop, limit)
            except TimeoutError as error:
                stalled += 1
                if stalled == STALLED_ATTEMPTS:
                    words = f"AWS Error NETWORK_CONNECTION during GetObject: no data for {self.seconds:g} seconds"
                    raise OSError(words) from error
                continue
            except _Busy as error:
                busy += 1
                if busy == BUSY_ATTEMPTS:
                    raise OSError(f"{error}, {busy} times") from None
            except _Stale:
                continue  # the store closed a connection that was idle; there are only so many of these
            except (ConnectionError, http.client.HTTPException) as error:
                broken += 1
                if broken == BROKEN_ATTEMPTS:
                    words = f"AWS Error NETWORK_CONNECTION during GetObject, {broken} times: {_words(error)}"
                    raise OSError(words) from error
            except OSError as error:  # for instance, the name of the host or its certificate is wrong
                if str(error).startswith("AWS Error"):
                    raise
                raise OSError(f"AWS Error NETWORK_CONNECTION during GetObject: {_words(error)}") from error
            longest = min(FIRST_PAUSE_S * 2 ** (busy + broken), LONGEST_PAUSE_S)
            time.sleep(longest * random.uniform(0.5, 1))

    def _once(self, headers: dict[str, str], start: int | None, stop: int | None, limit: int | None) -> Part:
        path = quote(self.path)
        pool = _pool(self.endpoint, os.getpid())
        connection, used = pool.take(self.seconds)
        whole = False
        try:
            host = urlsplit(self.endpoint).netloc
            sent = sign_request("GET", host, path, "", headers, b"", self.region)
            try:
                connection.request("GET", path, headers=sent)
                answer = connection.getresponse()
            except (ConnectionError, http.client.BadStatusLine) as error:
                if used:
                    raise _Stale from error
                raise
            part = _read(answer, start, stop, limit)
            whole = not answer.will_close and answer.isclosed()
            return part
        finally:
            if whole:
                pool.give(connection)
            else:
                connection.close()


class _Busy(Exception):
    """The store refuses a request for the moment."""


class _Stale(Exception):
    """The store closed a connection before it was used again."""


def _read(answer: http.client.HTTPResponse, start: int | None, stop: int | None, limit: int | None) -> Part:
    """Read the answer to a request.

    Raises:
        OSError: the object cannot be read, or fewer bytes came than were announced.
    """
    length = answer.length
    if answer.status == 200:  # no range was asked for, or the store does not know ranges
        if limit is not None and length is not None and length > limit:
            raise TooLarge(length)
        data = answer.read()
        if start is not None and stop is not None:
            return Part(start, data[start:stop], len(data))
        return Part(0, data, len(data))
    found = _RANGE.fullmatch(answer.headers.get("content-range", ""))
    if answer.status == 206 and found is not None and found["start"] is not None:
        data = answer.read()
        first, count, size = int(found["start"]), int(found["end"]) + 1 - int(found["start"]), int(found["size"])
        if start not in (None, first):
            raise OSError(f"AWS Error during GetObject: bytes from {first} were given, and asked for from {start}")
        if len(data) != count:
            raise http.client.IncompleteRead(data, count - len(data))
        return Part(first, data, size)
    body = answer.read(1 << 16)
    if answer.status == 416:  # the range begins at or after the end
        size = int(found["size"]) if found is not None else int(_tag(body, "ActualObjectSize") or 0)
        return Part(size, b"", size)
    code, message = _tag(body, "Code"), _tag(body, "Message")
    words = f"AWS Error {_error_name(answer.status, code)} during GetObject (HTTP status {answer.status}): {message}"
    raise _Busy(words) if answer.status in _BUSY else OSError(words)


def _tag(body: bytes, name: str) -> str:
    found = re.search(rf"<{name}>(.*?)</{name}>".encode(), body, re.DOTALL)
    return found[1].decode("utf-8", "replace") if found else ""


def _error_name(status: int, code: str) -> str:
    """Return the name of an error as the AWS SDK for C++ writes it, such as NO_SUCH_KEY."""
    if not code:
        code = {403: "AccessDenied", 404: "NoSuchKey"}.get(status, "Unknown")
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", code).upper()


def _words(error: BaseException) -> str:
    if isinstance(error, http.client.IncompleteRead):
        missing = "some" if error.expected is None else f"{error.expected:,}"
        return f"the connection ended with {missing} bytes missing"
    return f"{type(error).__name__}: {error}"


class _Pool:
    """Connections to one store that no request uses at the moment."""

    def __init__(self, endpoint: str) -> None:
        parts = urlsplit(endpoint)
        self._secure = parts.scheme == "https"
        self._host, self._port = parts.hostname or "", parts.port
        self._idle: list[http.client.HTTPConnection] = []
        self._lock = threading.Lock()

    def take(self, seconds: float) -> tuple[http.client.HTTPConnection, bool]:
        """Return a connection, and whether it was used before."""
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        if connection is not None and connection.sock is not None:
            connection.sock.settimeout(seconds)
            return connection, True
        if self._secure:
            connection = http.client.HTTPSConnection(self._host, self._port, timeout=CONNECT_SECONDS, context=_tls())
        else:
            connection = http.client.HTTPConnection(self._host, self._port, timeout=CONNECT_SECONDS)
        connection.connect()
        connection.sock.settimeout(seconds)
        return connection, False

    def give(self, connection: http.client.HTTPConnection) -> None:
        """Keep a connection for another request."""
        with self._lock:
            if len(self._idle) < IDLE_CONNECTIONS:
                self._idle.append(connection)
                return
        connection.close()

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            while self._idle:
                self._idle.pop().close()


@lru_cache(maxsize=32)
def _pool(endpoint: str, process: int) -> _Pool:
    del process  # a forked process has its own connections
    pool = _Pool(endpoint)
    atexit.register(pool.close)
    return pool


@lru_cache(maxsize=1)
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()
