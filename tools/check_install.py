"""Install the wheel into empty environments, with the oldest and the newest Python of this machine, and use it.

``python -m tools.check_install DIST [PYTHON ...]``. On the oldest Python pip resolves the wheel's requirements; on the
newest the lock file is installed first, as in the Containerfile. Each environment then diagnoses itself, runs vectors,
checks a table, and says what to install if an extra is missing. This checkout is not on its import path.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.entry_point import run_without_parser

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements-run.lock"
OLDEST = (3, 11)
TABLE = "golden/writers/chdb-4.4.0/v1"
"""A table among the vectors that breaks two requirements."""

PIP = ("-m", "pip", "install", "--quiet", "--no-cache-dir", "--disable-pip-version-check")


OPEN_STORE = """
from conformance.core.failures import UsageError
from conformance.table_io.stores import open_store
try:
    open_store("postgresql://nobody@127.0.0.1:1/nothing?table=t")
except UsageError as error:
    print(error)
"""


class CheckFailed(Exception):
    """A command did not do what a new user may expect."""


def pythons() -> list[str]:
    """Return the interpreters of this machine from `OLDEST` on, one for each minor version, in order."""
    found: dict[tuple[int, int], str] = {}
    candidates = sorted(Path.home().glob(".pyenv/versions/*/bin/python3.*"))
    installed = [str(path) for path in candidates if re.fullmatch(r"python3\.\d+", path.name)]
    for minor in range(OLDEST[1], 30):
        installed += filter(None, [shutil.which(f"python3.{minor}")])
    for path in [sys.executable, *installed]:
        asked = [path, "-c", "import sys; print(*sys.version_info[:2])"]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
        if done.returncode == 0 and (version := tuple(map(int, done.stdout.split()))) >= OLDEST:
            found.setdefault((version[0], version[1]), path)
    return [found[version] for version in sorted(found)]


def expect(command: list[str], status: int, pattern: str, folder: Path) -> str:
    """Run a command, and check how it ends.

    Args:
        command: the program and its arguments.
        status: the expected exit status.
        pattern: a regular expression that must match a part of its output.
        folder: the current directory, which is also the home of the user.

    Returns:
        The output.

    Raises:
        CheckFailed: the status or the output is not as expected, or the output has a traceback.
    """
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "SSL_CERT_FILE", "PIP_INDEX_URL") if name in os.environ}
    env = {**kept, "HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache")}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    output = done.stdout + done.stderr
    if done.returncode != status or not re.search(pattern, output) or "Traceback" in output:
        raise CheckFailed(f"{' '.join(command)}: status {done.returncode}, expected {status} and {pattern!r}\n{output}")
    return output


def check(python: str, wheel: Path, folder: Path, *, locked: bool) -> None:
    """Install the wheel into an empty environment and use it.

    Args:
        python: the interpreter.
        wheel: the wheel.
        folder: an empty folder.
        locked: whether the requirements come from the lock file.

    Raises:
        CheckFailed: something does not work.
    """
    subprocess.run([python, "-m", "venv", str(folder / "venv")], check=True)
    programs = folder / "venv" / "bin"
    own, tool = str(programs / "python"), str(programs / "iceberg-conformance")
    if locked:
        subprocess.run([own, *PIP, "--require-hashes", "-r", str(LOCK)], check=True)
    subprocess.run([own, *PIP, *(["--no-deps"] if locked else []), str(wheel)], check=True)
    empty = folder / "empty"
    empty.mkdir()
    expect([tool, "doctor"], 0, r"ok +reference", empty)
    expect([tool, "run", "--suite", "hashing"], 0, r"hashing +\d+ ✔", empty)
    vectors = expect([own, "-c", "from conformance.vectors import shipped; print(shipped())"], 0, ".", empty).strip()
    expect([tool, "validate", f"{vectors}/{TABLE}", "--level", "metadata"], 1, "error TMD007", empty)
    expect([tool, "explain", "HSH007"], 0, "HSH007", empty)
    scenarios = [tool, "scenarios", "--adapter", "reference", "--examples", "1"]
    expect(scenarios, 2, r"hypothesis is not installed.*iceberg-conformance\[testing\]", empty)
    expect([own, "-c", OPEN_STORE], 0, r"psycopg is not installed.*iceberg-conformance\[postgresql\]", empty)
    spark = [tool, "validate", f"{vectors}/{TABLE}", "--engine", "spark"]
    expect(spark, 3, r"engines install spark-reference.*iceberg-conformance\[spark\]", empty)
    encryption = [tool, "run", "--suite", "encryption"]
    expect(encryption, 0, r"cryptography is not installed.*iceberg-conformance\[encryption\]", empty)
    expect([tool, "validate", "catalog:prod.db.t"], 3, r"engines install pyiceberg", empty)


def main(arguments: list[str]) -> int:
    """Check the wheel in a folder."""
    (wheel,) = Path(arguments[0]).resolve().glob("*.whl")
    found = arguments[1:] or pythons()
    for python in dict.fromkeys((found[0], found[-1])):
        with tempfile.TemporaryDirectory(prefix="iceberg-conformance-install-") as folder:
            try:
                check(python, wheel, Path(folder), locked=python == found[-1])
            except CheckFailed as error:
                print(f"{python}: {error}", file=sys.stderr)
                return 1
        print(f"{python}: the wheel works")
    return 0


if __name__ == "__main__":
    run_without_parser(main, sys.argv[1:])
