"""A client of Trino's statement protocol over HTTP, with only the standard library."""

from __future__ import annotations

import json
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import quote, urlsplit

TIMEOUT_S = 600.0
HEADERS = {
    "X-Trino-User": "conformance",
    "X-Trino-Time-Zone": "UTC",
    # Without it, times are returned in milliseconds, regardless of the type.
    "X-Trino-Client-Capabilities": "PARAMETRIC_DATETIME",
}


class QueryError(Exception):
    """A statement failed."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error.get("message") or "no message")
        self.name: str = error["errorName"]
        self.kind: str = error["errorType"]
        """``USER_ERROR``, ``EXTERNAL``, ``INTERNAL_ERROR`` or ``INSUFFICIENT_RESOURCES``."""

        self.causes: list[tuple[str, str]] = []
        """The class and message of each exception, from the outermost to the innermost."""

        info = error.get("failureInfo")
        while info:
            self.causes.append((info.get("type", ""), info.get("message") or ""))
            info = info.get("cause")


class TrinoClient:
    """Connects to a server for each statement.

    Args:
        host: the address of the server.
        port: the port of the server.
        catalog: the default catalog.
        schema: the default schema.
    """

    def __init__(self, host: str, port: int, catalog: str, schema: str) -> None:
        self._host, self._port = host, port
        self._headers = {**HEADERS, "X-Trino-Catalog": catalog, "X-Trino-Schema": schema}
        self._connection = HTTPConnection(host, port, timeout=TIMEOUT_S)

    def is_ready(self) -> bool:
        """Return whether the server has started."""
        try:
            answer = self._ask("GET", "/v1/info")
        except (OSError, HTTPException, ValueError):
            self._connection.close()
            return False
        return answer.get("starting") is False

    def run(self, statement: str, properties: dict[str, str]) -> tuple[list[str], list[list[Any]]]:
        """Run a statement; return the names of its columns, and its rows.

        Args:
            statement: the SQL statement.
            properties: the session properties.

        Raises:
            QueryError: the statement failed.
            OSError: the server does not answer.
        """
        session = {"X-Trino-Session": ",".join(f"{name}={quote(value)}" for name, value in properties.items())}
        rows: list[list[Any]] = []
        names: list[str] = []
        try:
            page = self._ask("POST", "/v1/statement", statement.encode(), session if properties else {})
            while True:
                names = [column["name"] for column in page.get("columns") or ()] or names
                rows += page.get("data") or ()
                if "error" in page:
                    raise QueryError(page["error"])
                if "nextUri" not in page:
                    return names, rows
                page = self._ask("GET", urlsplit(page["nextUri"]).path)
        except HTTPException as error:
            raise OSError(f"{type(error).__name__}: {error}") from None
        finally:
            self._connection.close()  # the server ends a connection that is idle for some minutes

    def _ask(self, method: str, path: str, body: bytes | None = None, more: dict[str, str] | None = None) -> Any:
        self._connection.request(method, path, body, self._headers | (more or {}))
        answer = self._connection.getresponse()
        data = answer.read()
        if answer.status != 200:
            raise OSError(f"HTTP {answer.status}: {data[:200]!r}")
        return json.loads(data)
