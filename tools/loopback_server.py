"""An HTTP server on loopback for stores and catalogs of tests and measurements."""

from __future__ import annotations

import sys
from http.server import ThreadingHTTPServer
from typing import Any


class LoopbackServer(ThreadingHTTPServer):
    """A server with a thread for each request, which may come from clients that are killed."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print the traceback of an error of the server, but not of a connection that the client closed."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)
