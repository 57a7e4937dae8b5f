"""A client of Iceberg's REST catalog protocol for one table: configuration, loading and committing."""

from __future__ import annotations

import http.client
import json
import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import attrs

from conformance.core.failures import NotExamined
from conformance.table_io.object_stores import store_timeout

TOKEN = "ICEBERG_REST_TOKEN"  # noqa: S105
"""The environment variable with an optional bearer token."""

SEPARATOR = "%1F"
"""The default separator of the levels of a namespace in a path."""

_REASONS = {
    400: "it does not accept the request",
    401: f"it requires authentication (the bearer token is taken from the environment variable {TOKEN})",
    403: "these credentials are not permitted to do this",
    404: "there is no such table, namespace or prefix",
    406: "it does not support this",
    419: "the credentials have expired",
}


class CatalogError(NotExamined):
    """A request to a catalog failed, and changed nothing."""

    def __init__(self, catalog: str, message: str, status: int | None = None) -> None:
        super().__init__(f"{catalog}: {message}")
        self.catalog = catalog
        self.reason = message
        self.http_status = status


class CatalogUnreachable(CatalogError):
    """There is no connection to the catalog, so that nothing was sent."""


class NoReply(Exception):
    """A request was sent, but there is no reply with its result."""


@attrs.frozen
class Reply:
    """An HTTP response."""

    status: int
    body: bytes

    def json(self) -> dict[str, Any]:
        """Return the body as a JSON object.

        Raises:
            ValueError: it is not a JSON object.
        """
        document = json.loads(self.body)
        if not isinstance(document, dict):
            raise ValueError("not a JSON object")
        return document

    @property
    def error(self) -> str:
        """The error in the reply: type and message of the error model, or the start of the body."""
        try:
            error = self.json()["error"]
            return f"{error['type']}: {error['message']}"
        except (ValueError, KeyError, TypeError):
            return self.body[:200].decode(errors="replace").strip()


class RestCatalog:
    """A REST catalog.

    Args:
        url: the URL of the catalog, without ``/v1``.
        warehouse: the warehouse, for a catalog with several warehouses.
    """

    def __init__(self, url: str, warehouse: str | None = None) -> None:
        self.url = url.rstrip("/")
        self._warehouse = warehouse
        self._prefix: str | None = None
        self._separator = SEPARATOR

    @property
    def prefix(self) -> str:
        """The prefix of all paths, from the configuration of the catalog, which is requested once.

        Raises:
            CatalogError: the catalog cannot be reached, or does not return its configuration.
        """
        if self._prefix is None:
            query = "" if self._warehouse is None else "?" + urlencode({"warehouse": self._warehouse})
            config = self.request("GET", f"/v1/config{query}")
            properties = {**config.get("defaults", {}), **config.get("overrides", {})}
            if moved := properties.get("uri"):
                self.url = moved.rstrip("/")
            prefix = str(properties.get("prefix", "")).strip("/")
            self._separator = str(properties.get("namespace-separator", SEPARATOR))
            self._prefix = f"/v1/{prefix}" if prefix else "/v1"
        return self._prefix

    def namespace(self, levels: tuple[str, ...]) -> str:
        """Return the path of a namespace."""
        prefix = self.prefix  # the configuration also has the separator
        return f"{prefix}/namespaces/{self._separator.join(quote(level, safe='') for level in levels)}"

    def request(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Send a request that may be repeated, and return the body of the reply.

        Raises:
            CatalogError: there is no reply, or it is an error.
        """
        for last in (False, True):
            try:
                reply = self.send(method, path, body)
            except NoReply as error:
                if last:
                    raise CatalogError(self.url, f"{method} {path}: no answer: {error}") from error
                continue
            if reply.status < 500 or last:
                break
        if reply.status // 100 != 2:
            raise self.refusal(method, path, reply)
        if not reply.body:
            return {}
        try:
            return reply.json()
        except ValueError as error:
            raise CatalogError(self.url, f"{method} {path}: the answer is not a JSON object: {error}") from None

    def refusal(self, method: str, path: str, reply: Reply) -> CatalogError:
        """Return the exception for a reply that is an error."""
        reason = _REASONS.get(reply.status, "the request failed")
        return CatalogError(
            self.url, f"{method} {path}: HTTP {reply.status}: {reason}; it says: {reply.error}", reply.status
        )

    def send(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Reply:
        """Send a request once.

        Raises:
            CatalogUnreachable: there was no connection, so that nothing was sent.
            NoReply: the connection was lost; the request may have been received.
        """
        data = None if body is None else json.dumps(body).encode()
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        if token := os.environ.get(TOKEN):
            headers["Authorization"] = f"Bearer {token}"
        parts = urlsplit(self.url)
        connection = self._connect()
        try:
            connection.request(method, parts.path.rstrip("/") + path, body=data, headers=headers)
            response = connection.getresponse()
            return Reply(response.status, response.read())
        except (OSError, http.client.HTTPException) as error:
            raise NoReply(f"{type(error).__name__}: {error}") from error
        finally:
            connection.close()

    def _connect(self) -> http.client.HTTPConnection:
        """Open a new connection for each request.

        The catalog may close a connection that is reused, and then it is not known whether the request arrived.
        """
        parts = urlsplit(self.url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        connection = kind(parts.hostname or "", parts.port, timeout=store_timeout())
        try:
            connection.connect()
        except OSError as error:
            raise CatalogUnreachable(self.url, f"the catalog cannot be reached: {error}") from error
        return connection
