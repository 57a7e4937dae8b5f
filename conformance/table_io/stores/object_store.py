"""File-system tables on object stores with conditional puts, by the protocol of S3 (File System Tables).

These stores have no atomic rename. Instead the metadata is put under the name of the next version on the condition that
no object has that name (``If-None-Match: *``), and the store lets one writer succeed. The object has a header with a
name that its writer chose, so that a writer that gets no answer can find out whether it wrote the object.
"""

from __future__ import annotations

import datetime
import hashlib
import hmac
import http.client
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from urllib.parse import quote, urlsplit
from xml.etree import ElementTree

from attrs import frozen

from conformance.table_io.object_stores import store_timeout
from conformance.table_io.stores.file_system import HINT, VERSION
from spec_ref.commits import FileSystemTable
from spec_ref.commits.effects import SwapResult
from spec_ref.commits.tables import metadata_version, next_version
from spec_ref.table_metadata.files import METADATA_SUFFIX, file_system_name, is_compressed_name

WRITER = "x-amz-meta-written-as"
ATTEMPTS = 3


class ObjectStoreError(OSError):
    """A request failed that does not swap the pointer."""


@frozen
class Response:
    """A response of the store."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@frozen
class S3Bucket:
    """A bucket that is accessed by path-style requests, signed if the environment has a key.

    The key is in ``AWS_ACCESS_KEY_ID``, ``AWS_SECRET_ACCESS_KEY`` and, if set, ``AWS_SESSION_TOKEN``.
    """

    name: str
    endpoint: str
    region: str = "us-east-1"

    def request(
        self,
        method: str,
        key: str = "",
        *,
        query: Iterable[tuple[str, str]] = (),
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
    ) -> Response:
        """Send one request.

        Raises:
            OSError: there is no response.
            http.client.HTTPException: the response is not HTTP.
        """
        parts = urlsplit(self.endpoint)
        path = quote(f"/{self.name}/{key}" if key else f"/{self.name}")
        text = "&".join(f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in sorted(query))
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        connection = kind(parts.hostname or "", parts.port, timeout=store_timeout())
        try:
            sent = sign_request(method, parts.netloc, path, text, dict(headers or {}), body, self.region)
            connection.request(method, f"{path}?{text}" if text else path, body=body or None, headers=sent)
            answer = connection.getresponse()
            return Response(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        finally:
            connection.close()


def sign_request(
    method: str, host: str, path: str, query: str, headers: dict[str, str], body: bytes, region: str
) -> dict[str, str]:
    """Add a signature (AWS Signature Version 4) to headers if the environment has a key."""
    access, secret = os.environ.get("AWS_ACCESS_KEY_ID"), os.environ.get("AWS_SECRET_ACCESS_KEY")
    if not access or not secret:
        return headers
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


_UNIQUE = re.compile(r"[0-9a-f-]{36}(?:\.gz)?" + re.escape(METADATA_SUFFIX))


class ObjectStore:
    """A table on an object store.

    Args:
        location: the location of the table, ``s3://bucket/path``.
        bucket: its bucket.
    """

    table = FileSystemTable()

    def __init__(self, location: str, bucket: S3Bucket) -> None:
        self.location = location.rstrip("/")
        self.directory = f"{self.location}/metadata"
        self.bucket = bucket
        self._pending: dict[str, bytes] = {}
        self._targets: dict[str, str] = {}

    def _key(self, path: str) -> str:
        prefix = f"s3://{self.bucket.name}/"
        if not path.startswith(prefix):
            message = f"{path} is not in the bucket {self.bucket.name}"
            raise ValueError(message)
        return path.removeprefix(prefix)

    def _ask(self, method: str, key: str, *accepted: int, **given: object) -> Response:
        """Send a request that may be repeated."""
        for attempt in range(ATTEMPTS):
            try:
                answer = self.bucket.request(method, key, **given)  # type: ignore[arg-type]
            except (OSError, http.client.HTTPException):
                if attempt == ATTEMPTS - 1:
                    raise
                continue
            if answer.status in accepted:
                return answer
            if answer.status < 500:
                break
        message = f"{method} {key}: the store answers {answer.status} {answer.body[:500]!r}"
        raise ObjectStoreError(message)

    def read_pointer(self) -> str | None:
        """Return the metadata file of the highest version."""
        version = max(self._versions(), default=0)
        return None if version == 0 else self._find_file(version)

    def _find_file(self, version: int) -> str | None:
        for compressed in (False, True):
            path = f"{self.directory}/{file_system_name(version, compressed=compressed)}"
            if self._ask("HEAD", self._key(path), 200, 404).status == 200:
                return path
        return None

    def _versions(self) -> list[int]:
        prefix = self._key(f"{self.directory}/v")
        found: list[int] = []
        token = ""
        while True:
            query = [("list-type", "2"), ("prefix", prefix), *([("continuation-token", token)] if token else [])]
            tree = ElementTree.fromstring(self._ask("GET", "", 200, query=query).body)  # noqa: S314
            keys = [
                element.text or "" for element in tree.iter() if element.tag.endswith("}Key") or element.tag == "Key"
            ]
            names = [VERSION.fullmatch(key.rsplit("/", 1)[-1]) for key in keys]
            found += [int(match[1]) for match in names if match]
            tokens = [one.text or "" for one in tree.iter() if one.tag.rsplit("}", 1)[-1] == "NextContinuationToken"]
            if not tokens:
                return found
            token = tokens[0]

    def swap_pointer(self, expected: str | None, new: str) -> SwapResult:
        """Put the metadata as the next version, unless that exists.

        This method never repeats the request: without a response, the caller first finds out whether it succeeded.
        """
        target = next_version(expected, new)
        other = (
            f"{self.directory}/{file_system_name(metadata_version(target), compressed=not is_compressed_name(target))}"
        )
        if self._ask("HEAD", self._key(other), 200, 404).status == 200:
            return SwapResult.REFUSED
        if max(self._versions(), default=0) != metadata_version(expected):
            return SwapResult.REFUSED  # as in `FileSystemStore`
        self._targets[new] = target
        headers = {"if-none-match": "*", WRITER: new.rsplit("/", 1)[-1]}
        try:
            answer = self.bucket.request("PUT", self._key(target), headers=headers, body=self._pending[new])
        except (OSError, http.client.HTTPException):
            return SwapResult.UNKNOWN
        if answer.status == 412:
            return SwapResult.REFUSED
        if answer.status not in (200, 201, 204):
            return (
                SwapResult.UNKNOWN
            )  # 409 too: there was a concurrent put, and it is not known which of them succeeded
        self._pending.pop(new, None)
        with suppress(
            OSError, http.client.HTTPException
        ):  # the swap is done, and readers search upward from a hint that is too low
            self.write(f"{self.directory}/{HINT}", str(metadata_version(target)).encode())
        return SwapResult.DONE

    def read(self, path: str) -> bytes | None:
        """Return the content of an object, or of metadata that is held until its swap."""
        if path in self._pending:
            target = self._targets.get(path)
            if target is None:
                return self._pending[path]
            head = self._ask("HEAD", self._key(target), 200, 404)
            return None if head.headers.get(WRITER) == path.rsplit("/", 1)[-1] else self._pending[path]
        answer = self._ask("GET", self._key(path), 200, 404)
        return answer.body if answer.status == 200 else None

    def write(self, path: str, data: bytes) -> None:
        """Put an object; metadata is held in memory until its swap."""
        if path.startswith(f"{self.directory}/") and _UNIQUE.fullmatch(path.rsplit("/", 1)[-1]):
            self._pending[path] = data
            return
        self._ask("PUT", self._key(path), 200, 201, 204, body=data)

    def delete(self, path: str) -> None:
        """Delete an object, if it exists."""
        if self._pending.pop(path, None) is None:
            self._ask("DELETE", self._key(path), 200, 204, 404)

    def close(self) -> None:
        """Do nothing, as no connection is kept."""

    def commit_lock(self) -> AbstractContextManager[object]:
        """Return a lock that does nothing, as machines share no locks."""
        return nullcontext()
