"""Runs a server, and kills it when standard input is closed, as it is when the tool ends or is killed.

Arguments: a file for the output of the server, and the command of the server. ``--remove FOLDER`` before them names a
folder that is removed at the end, even if the program that started this one was killed. Each line on standard input,
``start``, ``kill`` (SIGKILL) or ``status``, is answered with a line. Uses only the standard library.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path


def main() -> None:
    """Follow the commands on standard input until it ends."""
    arguments = sys.argv[1:]
    folder = arguments[1] if arguments[0] == "--remove" else None
    log, *command = arguments if folder is None else arguments[2:]
    child: subprocess.Popen[bytes] | None = None
    try:
        for line in iter(sys.stdin.readline, ""):
            match line.strip():
                case "start":
                    with Path(log).open("ab") as out:
                        child = subprocess.Popen(
                            command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True
                        )
                    answer = str(child.pid)
                case "kill":
                    _kill(child)
                    answer = "killed"
                case _:
                    answer = "none" if child is None or child.poll() is not None else "runs"
            print(answer, flush=True)
    finally:
        _kill(child)
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def _kill(child: subprocess.Popen[bytes] | None) -> None:
    if child is None:
        return
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


if __name__ == "__main__":
    main()
