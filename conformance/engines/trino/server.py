"""A Trino server on the loopback interface, with a free port, a file metastore and a temporary folder."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any

from conformance.adapter_sdk.serve import Invalid, Unsupported
from conformance.engines.trino.client import QueryError, TrinoClient
from conformance.table_io.catalogs import guardian

LOOPBACK = "127.0.0.1"
START_TIMEOUT_S = 300.0
"""The timeout of the start, for a busy machine; on an idle one it takes 10 to 30 seconds."""

CATALOG = "iceberg"
SCHEMA = "tables"

MAIN = "public class Start { public static void main(String[] a) { new io.trino.server.Server().start(a[0]); } }\n"
"""A replacement for the main class of Trino's distribution, which is not among the Maven artifacts."""

OPTIONS = (
    # The optimizing compiler and a parallel collector do not pay off with tables of a few rows.
    "-Xmx2g",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Xshare:auto",
    "--add-modules=jdk.incubator.vector",
    "-Djdk.attach.allowAttachSelf=true",
    "-XX:+EnableDynamicAgentLoading",
    "--enable-native-access=ALL-UNNAMED",
    "--sun-misc-unsafe-memory-access=allow",
    "-Duser.timezone=UTC",
)

SERVER = {
    "coordinator": "true",
    "node-scheduler.include-coordinator": "true",
    "node.internal-address": LOOPBACK,
    "node.bind-ip": LOOPBACK,
    "query.max-memory": "1GB",
    "query.max-memory-per-node": "600MB",
    "memory.heap-headroom-per-node": "300MB",
    "task.concurrency": "1",
    "task.max-worker-threads": "2",
}

CONNECTOR = {
    "connector.name": "iceberg",
    "iceberg.catalog.type": "TESTING_FILE_METASTORE",
    "iceberg.register-table-procedure.enabled": "true",
    # Files are not cached, because another program may have rewritten them.
    "iceberg.metadata-cache.enabled": "false",
    "iceberg.expire-snapshots.min-retention": "0s",
    "iceberg.allowed-extra-properties": "*",
    # The other local file system does not accept locations without a scheme, as in the tables of vectors.
    "fs.hadoop.enabled": "true",
}

REFUSALS = (
    "java.lang.IllegalArgumentException",
    "java.lang.IllegalStateException",
    "java.lang.NumberFormatException",
    "java.time.DateTimeException",
    "java.io.UncheckedIOException",
    "org.apache.iceberg.exceptions.ValidationException",
    "org.apache.iceberg.exceptions.RuntimeIOException",
)
"""Exceptions with which the Iceberg library refuses input, which Trino reports as internal errors."""

LACKING = ("NOT_SUPPORTED", "TYPE_NOT_FOUND")
"""Errors about features that Trino lacks; a type of another plugin, such as geometry, is not found."""

NOT_THERE = ("java.lang.UnsupportedOperationException",)


class Server:
    """The server, whose parent is a guardian process that stops it when this process exits for any reason.

    Args:
        program: the folder with the jars.
        java_home: the JDK on which it runs.
        version: the version of Trino.
    """

    def __init__(self, program: Path, java_home: Path, version: str) -> None:
        self.version = version
        self._place = Path(tempfile.mkdtemp(prefix="iceberg-conformance-trino-"))
        self._port = _free_port()
        self._client: TrinoClient | None = None
        self._until = time.monotonic() + START_TIMEOUT_S
        jars = program / "jars"
        self._write_settings(jars)
        command = [
            str(java_home / "bin" / "java"),
            *OPTIONS,
            "-Dnode.environment=conformance",
            "-Dnode.id=conformance",
            f"-Dnode.data-dir={self._place / 'data'}",
            f"-Dconfig={self._place / 'config.properties'}",
            "-cp",
            f"{jars / 'server'}/*",
            str(self._place / "Start.java"),
            version,
        ]
        self._guardian = subprocess.Popen(
            [sys.executable, guardian.__file__, "--remove", str(self._place), str(self._place / "log"), *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd="/",
            start_new_session=True,
        )
        self._send_command("start")

    def _write_settings(self, jars: Path) -> None:
        plugin = self._place / "plugin" / "iceberg"
        for name, folder in (("iceberg", plugin), ("hdfs", plugin / "hdfs")):
            folder.mkdir(parents=True, exist_ok=True)
            for jar in (jars / name).glob("*.jar"):
                if name != "iceberg" or not jar.name.startswith("trino-spi-"):  # plugins use the SPI of the server
                    (folder / jar.name).symlink_to(jar)
        with zipfile.ZipFile(plugin / "services.jar", "w") as services:
            services.writestr("META-INF/services/io.trino.spi.Plugin", "io.trino.plugin.iceberg.IcebergPlugin\n")
        catalogs = self._place / "catalog"
        for folder in (catalogs, self._place / "data", self.metastore):
            folder.mkdir()
        _write(
            self._place / "config.properties",
            {
                **SERVER,
                "http-server.http.port": str(self._port),
                "discovery.uri": f"http://{LOOPBACK}:{self._port}",
                "plugin.dir": str(self._place / "plugin"),
                "catalog.config-dir": str(catalogs),
            },
        )
        _write(
            catalogs / f"{CATALOG}.properties",
            {**CONNECTOR, "hive.metastore.catalog.dir": str(self.metastore)},
        )
        (self._place / "Start.java").write_text(MAIN, encoding="utf-8")

    def run(
        self, statement: str, *, unsupported: tuple[str, ...] = LACKING, **properties: str
    ) -> tuple[list[str], list[list[Any]]]:
        """Run a statement; return the names of its columns, and its rows.

        Args:
            statement: the SQL statement.
            unsupported: the errors that mean that Trino lacks what the statement needs.
            properties: the session properties.

        Raises:
            Invalid: Trino refused the statement.
            Unsupported: Trino does not support the statement.
            RuntimeError: the statement failed for another reason.
        """
        client = self._ready()
        try:
            return client.run(statement, properties)
        except QueryError as error:
            raise to_adapter_error(error, unsupported) from None
        except OSError as error:
            self.stop()
            sys.exit(f"the Trino server does not answer: {error}")  # a new adapter starts a new server

    def wait(self) -> None:
        """Wait until the server accepts statements."""
        self._ready()

    def _ready(self) -> TrinoClient:
        if self._client is not None:
            return self._client
        client = TrinoClient(LOOPBACK, self._port, CATALOG, SCHEMA)
        while not client.is_ready():
            late = time.monotonic() > self._until
            if late or self._send_command("status") == "none":
                log = (self._place / "log").read_text(errors="replace").strip().splitlines()
                self.stop()
                sys.exit(f"the Trino server did not start; the end of what it printed: {'; '.join(log[-3:])}")
            time.sleep(0.2)
        while True:
            try:
                client.run(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}", {})
            except QueryError as error:
                if error.name not in ("SERVER_STARTING_UP", "NO_NODES_AVAILABLE") or time.monotonic() > self._until:
                    raise
                time.sleep(0.2)
            else:
                break
        self._client = client
        return client

    @property
    def metastore(self) -> Path:
        """The directory of the metastore."""
        return self._place / "metastore"

    def _send_command(self, what: str) -> str:
        assert self._guardian.stdin is not None
        assert self._guardian.stdout is not None
        self._guardian.stdin.write(what + "\n")
        self._guardian.stdin.flush()
        return self._guardian.stdout.readline().strip()

    def stop(self) -> None:
        """Stop the server; the guardian also removes its folder."""
        assert self._guardian.stdin is not None
        self._guardian.stdin.close()
        self._guardian.wait()


def to_adapter_error(error: QueryError, unsupported: tuple[str, ...] = LACKING) -> Exception:
    """Return the exception that an adapter raises for a Trino error."""
    said = " <- ".join(dict.fromkeys((f"{error.name}: {error}", *(text for _, text in error.causes if text))))
    classes = {class_ for class_, _ in error.causes}
    if error.name in unsupported or classes & {*NOT_THERE}:
        return Unsupported(said)
    if error.kind in ("USER_ERROR", "EXTERNAL") or classes & {*REFUSALS}:
        return Invalid(said)
    return RuntimeError(said)


def _write(path: Path, settings: dict[str, str]) -> None:
    path.write_text("".join(f"{name}={value}\n" for name, value in settings.items()), encoding="utf-8")


def _free_port() -> int:
    with socket.socket() as free:
        free.bind((LOOPBACK, 0))
        port: int = free.getsockname()[1]
    return port


def start_server() -> Server:
    """Start a server of the version that the tool selected."""
    environ = os.environ
    return Server(
        Path(environ["ICEBERG_CONFORMANCE_PROGRAM"]),
        Path(environ["JAVA_HOME"]),
        environ["ICEBERG_CONFORMANCE_ENGINE_VERSION"],
    )
