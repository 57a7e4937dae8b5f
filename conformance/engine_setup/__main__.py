"""``python -m conformance.engine_setup``: list the engines, install them, and resolve their lock files again."""

from __future__ import annotations

import argparse
import subprocess
import sys

from conformance.engine_setup import EngineError, install, list_engines
from conformance.engine_setup.catalog import catalog


def write_lock(name: str) -> None:
    """Resolve the packages of a lock with uv for every platform; only names, versions and hashes are written."""
    packages = catalog().locks.get(name)
    if packages is None:
        raise EngineError(name, f"unknown lock; the locks are {', '.join(catalog().locks)}")
    command = [
        "uv",
        "pip",
        "compile",
        "-",
        "--universal",
        "--python-version",
        "3.11",
        "--generate-hashes",
        "--upgrade",
        "--no-header",
        "--no-emit-index-url",
        "--no-annotate",
        "--quiet",
        "--output-file",
        str(catalog().lock_files[name]),
    ]
    try:
        done = subprocess.run(command, input="\n".join(packages) + "\n", text=True, capture_output=True, check=False)
    except FileNotFoundError as error:
        raise EngineError(name, "writing a lock needs uv on the path") from error
    if done.returncode != 0:
        raise EngineError(name, f"uv could not resolve it: {done.stderr}")


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 0 on success, 3 if an engine cannot be installed or a lock file cannot be made."""
    parser = argparse.ArgumentParser(prog="python -m conformance.engine_setup", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="list the engines and whether they are installed")
    for command, summary in (("install", "set engines up"), ("lock", "resolve and write lock files (needs uv)")):
        commands.add_parser(command, help=summary).add_argument("names", nargs="*", help="all by default")
    given = parser.parse_args(arguments)
    try:
        if given.command == "list":
            for status in list_engines():
                print(f"{status.label:24} {status.version:8} {status.language:8} {status.reason or status.path}")
        elif given.command == "install":
            for name in given.names or [status.label for status in list_engines() if not status.by_name]:
                print(install(name, progress=lambda text: print(text, file=sys.stderr)).path)
        else:
            for name in given.names or catalog().locks:
                write_lock(name)
    except EngineError as error:
        print(error, file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
