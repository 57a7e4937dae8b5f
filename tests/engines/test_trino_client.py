"""The client of Trino's statement protocol, and the process that guards a server."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

from conformance.adapter_sdk.serve import Invalid, Unsupported
from conformance.engines.trino.client import QueryError, TrinoClient
from conformance.engines.trino.server import LACKING, to_adapter_error
from conformance.table_io.catalogs import guardian

PAGE = json.dumps({"columns": [{"name": "one"}], "data": [[1]]}).encode()


class _EndsIdleConnections(BaseHTTPRequestHandler):
    """Answers one request, says that the connection stays open, and closes it, as a server does after some time."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass


def test_a_statement_does_not_use_a_connection_that_the_server_ended() -> None:
    with HTTPServer(("127.0.0.1", 0), _EndsIdleConnections) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            client = TrinoClient("127.0.0.1", server.server_port, "iceberg", "tables")
            for _ in range(2):
                assert client.run("SELECT 1", {}) == (["one"], [[1]])
        finally:
            server.shutdown()
            thread.join()


def test_the_guardian_removes_the_folder_of_its_server(tmp_path: Path) -> None:
    folder = tmp_path / "server"
    folder.mkdir()
    command = [sys.executable, "-c", "import time; time.sleep(600)"]
    with subprocess.Popen(
        [sys.executable, guardian.__file__, "--remove", str(folder), str(folder / "log"), *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("start\nstatus\n")
        process.stdin.flush()
        process.stdout.readline()
        assert process.stdout.readline() == "runs\n"
        assert folder.exists()
        process.stdin.close()
        process.wait(60)
    assert not folder.exists()


def test_a_statement_may_have_further_errors_that_mean_not_supported() -> None:
    error = QueryError({"errorName": "INVALID_FUNCTION_ARGUMENT", "errorType": "USER_ERROR", "message": "any words"})
    assert type(to_adapter_error(error)) is Invalid
    assert type(to_adapter_error(error, (*LACKING, "INVALID_FUNCTION_ARGUMENT"))) is Unsupported
