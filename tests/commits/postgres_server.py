"""A private PostgreSQL server on the loopback interface, from Debian's packages, for the duration of a test run."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PACKAGES = Path("/usr/lib/postgresql")
USER = "postgres"


def programs() -> Path:
    """Return the directory of the server's programs; install its package if it is missing and that is allowed.

    Raises:
        RuntimeError: there is no server, and none could be installed.
    """
    for _ in range(2):
        found = sorted(PACKAGES.glob("*/bin/initdb"))
        if found:
            return found[-1].parent
        if os.geteuid() != 0 or shutil.which("apt-get") is None:
            break
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for command in (("update",), ("install", "--yes", "--no-install-recommends", "postgresql")):
            subprocess.run(["apt-get", "-qq", *command], env=environment, capture_output=True, check=False)
    message = "the tests need the server of PostgreSQL: apt-get install postgresql"
    raise RuntimeError(message)


def _as_user(command: list[str]) -> list[str]:
    """Return a command that runs as a different user, as the server does not run as root."""
    return (
        ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", *command] if os.geteuid() == 0 else command
    )


def _run(command: list[str]) -> None:
    done = subprocess.run(_as_user(command), capture_output=True, text=True, check=False, cwd="/")
    if done.returncode:
        message = f"{command[0]} failed: {done.stdout}{done.stderr}"
        raise RuntimeError(message)


def _start(control: list[str], directory: Path) -> int:
    """Start the server on a free port, and return the port; tries again if the port is taken meanwhile."""
    for attempts_left in reversed(range(5)):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port: int = free.getsockname()[1]
        settings = f"-p {port} -k {directory} -c listen_addresses=127.0.0.1 -c fsync=off"
        try:
            _run([*control, "-o", settings, "start"])
        except RuntimeError:
            if not attempts_left or "Address already in use" not in (directory / "log").read_text():
                raise
        else:
            return port
    raise AssertionError


@contextmanager
def postgres() -> Iterator[str]:
    """Start a server, and yield its URL without a database's query. The server and its data are removed at the end.

    Raises:
        RuntimeError: it could not be started.
    """
    bin_ = programs()
    directory = Path(tempfile.mkdtemp(prefix="iceberg-conformance-postgres-"))
    user = USER if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
    try:
        if os.geteuid() == 0:
            shutil.chown(directory, USER, USER)
        data = directory / "data"
        _run([str(bin_ / "initdb"), "-D", str(data), "-U", user, "--auth=trust", "--no-sync", "--encoding=UTF8"])
        control = [str(bin_ / "pg_ctl"), "-D", str(data), "-l", str(directory / "log"), "-w", "-t", "300"]
        port = _start(control, directory)
        try:
            yield f"postgresql://{user}@127.0.0.1:{port}/postgres"
        finally:
            _run([*control, "-m", "immediate", "stop"])
    finally:
        shutil.rmtree(directory, ignore_errors=True)
