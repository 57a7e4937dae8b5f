"""The servers that the tool can start, on the loopback interface, each with its files in one folder."""

from __future__ import annotations

import os
import pwd
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from urllib.parse import quote

import attrs

from conformance.core import drives
from conformance.core.lazy_imports import lazy_imports
from conformance.engine_setup.built import engine_build, install_build
from conformance.engine_setup.catalog import CatalogServer, EngineError, find_server
from conformance.engine_setup.environments import Progress, environment, install_environment

with lazy_imports():
    from http import client


LOOPBACK = "127.0.0.1"
START_TIMEOUT_S = 180.0
RESPONSE_TIMEOUT_S = 60.0
KEY = "testing"
"""Both parts of the key for S3 and Glue; the mock accepts any."""

S3_ENVIRONMENT = {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": KEY, "AWS_REGION": "us-east-1"}
BUCKET = "lake"
HIVE_LOCK_S = 20
"""How long the lock of a killed writer blocks others; Hive's default is 300 s."""

POSTGRES_USER = "postgres"
_OPENS = tuple(
    argument
    for package in ("lang", "net", "util", "util.concurrent", "nio")
    for argument in ("--add-opens", f"java.base/java.{package}=ALL-UNNAMED")
)


# Installing


@attrs.frozen
class ServerStatus:
    """Whether a server is ready on this machine."""

    name: str
    version: str
    title: str
    path: Path
    reason: str | None
    """Why it is not ready."""


def server_status(server: CatalogServer) -> ServerStatus:
    """Check whether a server is installed."""
    made = engine_build(server) if server.toolchain else environment(server.lock)
    reason = None
    if not made.is_installed():
        reason = f"not installed; run `iceberg-conformance engines install {server.name}`"
    elif server.java and java_for(server) is None:
        reason = f"there is no Java {server.java} or newer in JAVA_HOME, on the path or in /usr/lib/jvm"
    return ServerStatus(server.name, server.version, server.title, made.path, reason)


def install_server(name: str, progress: Progress) -> ServerStatus:
    """Install a server, unless it is installed.

    Raises:
        EngineError: it cannot be installed.
    """
    server = find_server(name)
    if server.toolchain:
        install_build(server, progress)
    else:
        install_environment(server, server.lock, progress)
    status = server_status(server)
    if status.reason is not None:
        raise EngineError(str(server), status.reason)
    return status


def java_for(server: CatalogServer) -> str | None:
    """Return the ``java`` program of the lowest release that a server can run on; None if there is none."""
    found = [(release, path) for path in _javas() if (release := _release(path)) >= server.java]
    return min(found, default=(0, None))[1]


def _javas() -> list[str]:
    homes = [os.environ[name] for name in ("JAVA_HOME",) if os.environ.get(name)]
    homes += [str(path) for path in sorted(Path("/usr/lib/jvm").glob("*"))]
    found = [f"{home}/bin/java" for home in homes if Path(home, "bin", "java").is_file()]
    return found + [path for path in (shutil.which("java"),) if path]


@cache
def _release(java: str) -> int:
    try:
        done = subprocess.run([java, "--version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return 0
    match = re.search(r"(\d+)", done.stdout)
    return int(match[1]) if match else 0


# Starting


@attrs.frozen
class Address:
    """The address and the folders of a server."""

    folder: Path
    """The folder of all its files."""

    port: int
    s3: str = ""
    """The endpoint of the S3 mock, if the server needs one."""

    data: Path = Path()
    """The folder of its database: ``folder``, or a folder of the user that the server runs as."""

    @property
    def http(self) -> str:
        """The URL of its HTTP port."""
        return f"http://{LOOPBACK}:{self.port}"

    @property
    def warehouse(self) -> str:
        """The location of the warehouse, a local folder."""
        return (self.folder / "warehouse").as_uri()


def _accepts_connections(at: Address) -> bool:
    try:
        with socket.create_connection((LOOPBACK, at.port), timeout=RESPONSE_TIMEOUT_S):
            return True
    except OSError:
        return False


@attrs.frozen(kw_only=True)
class ServerKind:
    """A kind of server: how to start it and connect to it."""

    package: str = ""
    """Its name in ``shared.toml`` of `conformance.engine_setup`; empty if the tool does not install it."""

    title: str = ""
    command: Callable[[Address], list[str]] | None = None
    """Returns the command that starts it; None if the catalog is a file."""

    prepare: Callable[[Path], None] = lambda _: None
    """Called once, before the first start."""

    is_ready: Callable[[Address], bool] = _accepts_connections
    """Returns whether the server answers requests."""

    separate_user: bool = False
    """Whether the server runs as a different user, who cannot access folders of this user: its files are in `/tmp`."""

    needs_s3: bool = False
    is_durable: bool = True
    """Whether acknowledged commits survive killing and restarting the server."""

    pyiceberg_properties: Callable[[Address], dict[str, str]]
    """Returns the properties of a catalog of PyIceberg that uses the server."""

    store_url: Callable[[Address], str] | None = None
    """Returns the URL of the reference's store, with ``{table}`` for the table; None if the reference has no client."""

    @property
    def title_and_version(self) -> str:
        """The title and the version of the server."""
        if self.package:
            server = find_server(self.package)
            return f"{self.title or server.title} {server.version}"
        return self.title


def _jars(server: str, *arguments: str, options: tuple[str, ...] = ()) -> list[str]:
    found = find_server(server)
    program = engine_build(found).program
    return [
        str(java_for(found)),
        "-Xmx768m",
        "-XX:+UseSerialGC",
        *options,
        "-cp",
        os.pathsep.join((f"{program}/classes", f"{program}/jars/*")),
        *arguments,
    ]


def _rest(at: Address) -> list[str]:
    # Readers of SQLite wait for a writer instead of failing.
    database = f"jdbc:sqlite:{at.folder}/catalog.db?busy_timeout=30000"
    return _jars("iceberg-rest", "Server", str(at.port), at.warehouse, database)


def _hive(at: Address) -> list[str]:
    options = (*_OPENS, f"-Dderby.stream.error.file={at.folder}/derby.log", f"-Djava.io.tmpdir={at.folder}")
    arguments = (str(at.port), at.warehouse, str(at.folder / "derby"), str(HIVE_LOCK_S))
    return _jars("hive-metastore", "Server", *arguments, options=options)


def _nessie(at: Address) -> list[str]:
    store = "nessie.catalog.service.s3.default-options"
    settings = {
        "quarkus.http.host": LOOPBACK,
        "quarkus.http.port": at.port,
        "quarkus.management.enabled": "false",
        "nessie.version.store.type": "ROCKSDB",
        "nessie.version.store.persist.rocks.database-path": at.folder / "rocks",
        "nessie.catalog.default-warehouse": "warehouse",
        "nessie.catalog.warehouses.warehouse.location": f"s3://{BUCKET}/nessie",
        f"{store}.region": "us-east-1",
        f"{store}.path-style-access": "true",
        f"{store}.endpoint": at.s3,
        f"{store}.access-key": "urn:nessie-secret:quarkus:key",
        f"{store}.request-signing-enabled": "false",
        "key.name": KEY,
        "key.secret": KEY,
    }
    options = tuple(f"-D{name}={value}" for name, value in settings.items())
    found = find_server("nessie")
    (jar,) = (engine_build(found).program / "jars").glob("*-runner.jar")
    return [str(java_for(found)), "-Xmx768m", "-XX:+UseSerialGC", *options, "-jar", str(jar)]


def _moto(how: str) -> Callable[[Address], list[str]]:
    script = str(Path(__file__).with_name("moto_server.py"))
    return lambda at: [str(environment(find_server("moto").lock).python), script, str(at.port), how]


def _postgres_program(name: str) -> str:
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}")) or [
        Path(path) for path in (shutil.which(name),) if path
    ]
    if not found:
        raise EngineError("postgresql", f"{name} is not installed; install PostgreSQL's server")
    return str(found[-1])


def _as_postgres(command: list[str]) -> list[str]:
    """Return a command that runs another one as a different user if this user is root, as PostgreSQL refuses root."""
    if os.geteuid() != 0:
        return command
    return ["setpriv", f"--reuid={POSTGRES_USER}", f"--regid={POSTGRES_USER}", "--clear-groups", *command]


def _postgres_user() -> str:
    return POSTGRES_USER if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name


def _init_postgres(place: Path) -> None:
    if os.geteuid() == 0:
        shutil.chown(place, POSTGRES_USER, POSTGRES_USER)
    command = [
        _postgres_program("initdb"),
        "-D",
        str(place / "data"),
        "-U",
        _postgres_user(),
        "--auth=trust",
        "--no-sync",
        "--encoding=UTF8",
    ]
    done = subprocess.run(_as_postgres(command), capture_output=True, text=True, check=False, cwd="/")
    if done.returncode:
        raise EngineError("postgresql", f"initdb failed: {done.stderr}")


def _postgres(at: Address) -> list[str]:
    settings = ["-c", f"listen_addresses={LOOPBACK}", "-c", "unix_socket_directories="]
    command = [_postgres_program("postgres"), "-D", str(at.data / "data"), "-p", str(at.port), *settings]
    return _as_postgres(command)


def _postgres_answers(at: Address) -> bool:
    """Return whether PostgreSQL starts sessions: after a crash, it accepts connections before it has recovered."""
    command = [_postgres_program("pg_isready"), "-q", "-h", LOOPBACK, "-p", str(at.port)]
    return subprocess.run(command, check=False).returncode == 0


def _s3_properties(at: Address) -> dict[str, str]:
    return {
        "s3.endpoint": at.s3,
        "s3.access-key-id": KEY,
        "s3.secret-access-key": KEY,
        "s3.region": "us-east-1",
        "s3.path-style-access": "true",
    }


def _glue_properties(at: Address) -> dict[str, str]:
    return {
        "type": "glue",
        "warehouse": at.warehouse,
        "glue.endpoint": at.http,
        "glue.region": "us-east-1",
        "glue.access-key-id": KEY,
        "glue.secret-access-key": KEY,
    }


def _sql_properties(uri: str, at: Address) -> dict[str, str]:
    return {"type": "sql", "uri": uri, "warehouse": at.warehouse}


KINDS = {
    "sqlite": ServerKind(
        title="SQLite",
        pyiceberg_properties=lambda at: _sql_properties(f"sqlite:///{at.folder}/catalog.db", at),
        store_url=lambda at: f"sqlite://{at.folder}/catalog.db?namespace=stress&table={{table}}",
    ),
    "postgresql": ServerKind(
        title="PostgreSQL",
        command=_postgres,
        prepare=_init_postgres,
        is_ready=_postgres_answers,
        separate_user=True,
        pyiceberg_properties=lambda at: _sql_properties(
            f"postgresql+psycopg2://{_postgres_user()}@{LOOPBACK}:{at.port}/postgres", at
        ),
        store_url=lambda at: (
            f"postgresql://{_postgres_user()}@{LOOPBACK}:{at.port}/postgres?namespace=stress&table={{table}}"
        ),
    ),
    "iceberg-rest": ServerKind(
        package="iceberg-rest",
        command=_rest,
        pyiceberg_properties=lambda at: {"type": "rest", "uri": at.http},
        store_url=lambda at: f"rest+{at.http}?namespace=stress&table={{table}}",
    ),
    "nessie": ServerKind(
        package="nessie",
        command=_nessie,
        needs_s3=True,
        pyiceberg_properties=lambda at: {"type": "rest", "uri": f"{at.http}/iceberg", **_s3_properties(at)},
        store_url=lambda at: f"rest+{at.http}/iceberg?namespace=stress&table={{table}}",
    ),
    "hive-metastore": ServerKind(
        package="hive-metastore",
        command=_hive,
        pyiceberg_properties=lambda at: {
            "type": "hive",
            "uri": f"thrift://{LOOPBACK}:{at.port}",
            "warehouse": at.warehouse,
        },
    ),
    "glue": ServerKind(
        package="moto",
        title="AWS Glue as moto mocks it, with Glue's check of VersionId, moto",
        command=_moto("checked"),
        is_durable=False,
        pyiceberg_properties=_glue_properties,
    ),
    "glue-unchecked": ServerKind(
        package="moto",
        title="AWS Glue as moto mocks it, which does not check VersionId, moto",
        command=_moto("as-it-is"),
        is_durable=False,
        pyiceberg_properties=_glue_properties,
    ),
}
"""The servers by their names for `race stress --server`."""

S3 = ServerKind(package="moto", command=_moto("checked"), is_durable=False, pyiceberg_properties=_s3_properties)
"""The S3 mock for the files of a server."""


class ManagedServer:
    """A server, started by a guardian process that kills it when this process ends in any way.

    Args:
        kind: the kind of server.
        place: a folder for all its files, which must not exist.
        s3: the endpoint of the S3 mock, if it needs one.

    Raises:
        EngineError: the server is not installed, or does not start.
    """

    def __init__(self, kind: ServerKind, place: Path, s3: str = "") -> None:
        self.kind = kind
        self.name = kind.package or kind.title
        if kind.command is not None and drives.WINDOWS:
            raise EngineError(self.name, "servers are started on POSIX systems only, not on Windows")
        if kind.package and (reason := server_status(find_server(kind.package)).reason):
            raise EngineError(self.name, reason)
        self._guardian: subprocess.Popen[str] | None = None
        self._was_killed = False
        place.mkdir(parents=True)
        self._own_folder = Path(tempfile.mkdtemp(prefix="iceberg-conformance-server-")) if kind.separate_user else None
        self.address = Address(place, free_port(), s3, self._own_folder or place)
        try:
            kind.prepare(self.address.data)
        except BaseException:
            self.stop()
            raise
        if kind.command is None:
            return
        script = str(Path(__file__).with_name("guardian.py"))
        command = [sys.executable, script, str(place / "log"), *kind.command(self.address)]
        self._guardian = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd="/", start_new_session=True
        )
        try:
            self.start()
        except BaseException:
            self.stop()
            raise

    def start(self) -> None:
        """Start the server, and wait until it answers requests.

        If the server ends at once, it is started again: PostgreSQL refuses to start until all processes of a killed
        server, which are in separate sessions, have ended.

        Raises:
            EngineError: the server does not answer in time.
        """
        self._command("start")
        until = time.monotonic() + START_TIMEOUT_S
        while not self.kind.is_ready(self.address):
            is_late = time.monotonic() > until
            if self._was_killed and not is_late and self._command("status") == "none":
                self._command("start")
            elif is_late or self._command("status") == "none":
                log = (self.address.folder / "log").read_text(errors="replace").strip().splitlines()
                raise EngineError(self.name, f"it did not start; the end of its output: {'; '.join(log[-3:])}")
            time.sleep(0.1)

    def kill(self) -> None:
        """Kill the server with SIGKILL."""
        self._was_killed = True
        self._command("kill")

    def stop(self) -> None:
        """Stop the server and its guardian."""
        if self._guardian is not None:
            self._end_guardian(self._guardian)
            self._guardian = None
        if self._own_folder is not None:
            shutil.rmtree(self._own_folder, ignore_errors=True)

    @staticmethod
    def _end_guardian(guardian: subprocess.Popen[str]) -> None:
        assert guardian.stdin is not None
        assert guardian.stdout is not None
        guardian.stdin.close()
        guardian.wait()
        guardian.stdout.close()

    def _command(self, what: str) -> str:
        assert self._guardian is not None
        assert self._guardian.stdin is not None
        assert self._guardian.stdout is not None
        self._guardian.stdin.write(what + "\n")
        self._guardian.stdin.flush()
        return self._guardian.stdout.readline().strip()


def free_port() -> int:
    """Return a free port of the loopback interface."""
    with socket.socket() as free:
        free.bind((LOOPBACK, 0))
        port: int = free.getsockname()[1]
    return port


def make_bucket(endpoint: str) -> None:
    """Create the bucket in the S3 mock, which does not need signatures."""
    connection = client.HTTPConnection(endpoint.removeprefix("http://"), timeout=RESPONSE_TIMEOUT_S)
    connection.request("PUT", f"/{quote(BUCKET)}")
    answer = connection.getresponse()
    answer.read()
    connection.close()
    if answer.status != 200:
        raise EngineError("moto", f"the bucket could not be made: HTTP {answer.status}")
