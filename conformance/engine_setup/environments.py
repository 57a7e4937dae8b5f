"""Python environments of the engines: created once from a lock file, and identified by its hash.

A virtual environment contains its own path, so it is built in its final place; it counts as installed once a marker
file has been written. One process builds at a time, under a lock of the operating system, which a
crash releases.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import attrs

from conformance.engine_setup.catalog import EngineError, Installed, lock_text

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


MARKER = "installed"
BUILD_LOCK = "build"

Progress = Callable[[str], None]
"""A function that is called with a short description of the current step."""


def engines_directory() -> Path:
    """Return the directory of the engines: ``$ICEBERG_CONFORMANCE_HOME``, or below the platform's cache directory."""
    if given := os.environ.get("ICEBERG_CONFORMANCE_HOME"):
        return Path(given).expanduser().absolute()
    if sys.platform == "win32":
        caches = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        caches = Path.home() / "Library" / "Caches"
    else:
        caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return caches / "iceberg-conformance"


@contextmanager
def file_lock(path: Path) -> Iterator[None]:
    """Hold the lock file at ``path`` until the end of the block; others wait."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        if sys.platform == "win32":
            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


@attrs.frozen
class Environment:
    """The Python environment for one lock file."""

    lock: str
    path: Path

    @property
    def python(self) -> Path:
        return self.path / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")

    @property
    def site_packages(self) -> Path:
        if sys.platform == "win32":
            return self.path / "Lib" / "site-packages"
        return self.path / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"

    def is_installed(self) -> bool:
        return (self.path / MARKER).is_file()


def environment(lock: str) -> Environment:
    """Return the environment of a lock, installed or not; its path depends on the lock, Python and machine."""
    recipe = [
        lock_text(BUILD_LOCK),
        lock_text(lock),
        sys.base_prefix,  # without the executable, which differs between checkouts that can share environments
        platform.python_version(),
        sysconfig.get_platform(),
    ]
    key = hashlib.sha256("\0".join(recipe).encode()).hexdigest()[:16]
    return Environment(lock, engines_directory() / "engines" / f"{lock}-{key}")


def install_environment(engine: Installed, lock: str, progress: Progress) -> Environment:
    """Create the environment of ``lock`` unless it exists.

    Raises:
        EngineError: a step failed; the incomplete environment does not count as installed.
    """
    made = environment(lock)
    if made.is_installed():
        return made
    with file_lock(made.path.with_suffix(".lock")):
        if made.is_installed():  # another process has just created it
            return made
        progress(f"{engine}: creating the environment {lock}")
        shutil.rmtree(made.path, ignore_errors=True)
        run_step(engine, "the environment could not be created", [sys.executable, "-m", "venv", str(made.path)])
        for name in (BUILD_LOCK, lock):
            progress(f"{engine}: installing {name}")
            _pip_install(engine, made, name)
        (made.path / MARKER).write_text(f"{lock}\n", encoding="utf-8")
    return made


def _pip_install(engine: Installed, made: Environment, lock: str) -> None:
    requirements = made.path / f"{lock}.txt"
    requirements.write_text(lock_text(lock), encoding="utf-8")
    # Compiling all modules would take longer than the rest; Python compiles modules on their first import.
    command = [
        str(made.python),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-input",
        "--require-hashes",
        "--no-build-isolation",
        "--no-compile",
        "-r",
        str(requirements),
    ]
    run_step(engine, "pip could not install its packages", command)


def run_step(engine: Installed, failure: str, command: list[str], env: Mapping[str, str] | None = None) -> None:
    """Run one step of an installation.

    Args:
        engine: the engine or server that is installed.
        failure: the beginning of the error message.
        command: the command.
        env: the environment of the command; None for that of this process.

    Raises:
        EngineError: the step failed; the reason ends with the last lines of its output.
    """
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False, env=env
        )
    except OSError as error:
        raise EngineError(str(engine), f"{failure}: {error}") from error
    if done.returncode != 0:
        said = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        errors = [line for line in said if "error" in line.lower()] or said
        raise EngineError(str(engine), f"{failure}: {'; '.join(errors[-3:]) or f'exit status {done.returncode}'}")


def add_files(digest: hashlib._Hash, folder: Path) -> None:
    """Add the names and contents of the sources in a folder to the hash that identifies a build of them."""
    for file in sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".md"):
        data = file.read_bytes()
        digest.update(f"\0{file.relative_to(folder).as_posix()}\0{len(data)}\0".encode() + data)
