"""A process that forks writers and kills them: ``python -m conformance.races.stress.writer_processes PLAN``.

The plan is JSON. The client is already imported, so a writer starts at once. Commands are lines on standard input, and
each is answered with a line of JSON. When the input ends, as it does if the tool is killed, all writers are killed.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

from conformance.core.failures import ToolError
from conformance.core.lazy_imports import lazy_imports
from conformance.races.stress.writers import CatalogClient, Work, work

with lazy_imports():
    from conformance.races.stress import pyiceberg_client, reference_client


PR_SET_PDEATHSIG = 1


class WriterProcesses:
    """The running writers, by number."""

    def __init__(self, plan: Work, make: Callable[[Work], CatalogClient]) -> None:
        self.plan = plan
        self._make = make
        self._pids: dict[int, int] = {}

    def start(self, writer: int, until: float) -> dict[str, Any]:
        """Fork a writer, which ends at a given time of the monotonic clock."""
        self._pids[writer] = self._fork(lambda: work(self._make(self.plan), writer, self.plan, until))
        return {"pid": self._pids[writer]}

    def kill(self, writer: int) -> dict[str, Any]:
        """Kill a writer, as if its machine failed; False if it had already ended."""
        pid = self._pids.pop(writer)
        ended, _ = os.waitpid(pid, os.WNOHANG)
        if ended == 0:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        return {"killed": ended == 0}

    def signal(self, writer: int, number: int) -> dict[str, Any]:
        """Send a signal to a writer, such as to pause or continue it."""
        os.kill(self._pids[writer], number)  # the id of an ended process stays valid until it is waited for
        return {}

    def running(self) -> dict[str, Any]:
        """Count the writers that have not ended."""
        ended = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return {"running": sum(os.waitid(os.P_PID, pid, ended) is None for pid in self._pids.values())}

    def join(self, seconds: float) -> dict[str, Any]:
        """Wait for all writers to end by themselves; report those that failed."""
        until = time.monotonic() + seconds
        wrong = {}
        for writer, pid in list(self._pids.items()):
            ended, status = os.waitpid(pid, os.WNOHANG)
            while ended == 0 and time.monotonic() < until:
                time.sleep(0.02)
                ended, status = os.waitpid(pid, os.WNOHANG)
            if ended == 0:
                self.kill(writer)
                wrong[writer] = "did not end in time, and was killed"
            elif status:
                wrong[writer] = f"ended with {os.waitstatus_to_exitcode(status)}"
            self._pids.pop(writer, None)
        return {"wrong": wrong}

    def call(self, name: str) -> dict[str, Any]:
        """Call a method of a client in a separate process, so that writers do not inherit its open files."""
        read, write = os.pipe()
        pid = self._fork(lambda: _answer(write, lambda: getattr(self._make(self.plan), name)()))
        os.close(write)
        with os.fdopen(read) as answers:
            text = answers.read()
        os.waitpid(pid, 0)
        answer: dict[str, Any] = json.loads(text) if text else {"error": "the process died"}
        return answer

    def end(self) -> None:
        """Kill all writers."""
        for writer in list(self._pids):
            self.kill(writer)

    def _fork(self, do: Callable[[], object]) -> int:
        parent = os.getpid()
        pid = os.fork()
        if pid:
            return pid
        status = 1
        try:
            _die_with(parent)
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, 0)
            os.dup2(null, 1)
            do()
            status = 0
        except BaseException as error:
            sys.stderr.write(f"{type(error).__name__}: {error}\n")
        finally:
            os._exit(status)


def _die_with(parent: int) -> None:
    """Have the kernel kill this process when its parent ends, where it can."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _answer(pipe: int, ask: Callable[[], Any]) -> None:
    try:
        answer: Any = {"answer": ask()}
    except ToolError as error:
        answer = {"error": str(error)}
    except Exception as error:
        error_class = type(error).__name__
        answer = {"error": f"{error_class}: {' '.join(str(error).split())[:500]}", "error_class": error_class}
    os.write(pipe, json.dumps(answer).encode())


def _client(name: str) -> Callable[[Work], CatalogClient]:
    if name == "pyiceberg":
        return pyiceberg_client.PyIcebergClient
    return reference_client.ReferenceClient


def main() -> None:
    """Run the commands on standard input until it ends."""
    plan = Work(**json.loads(sys.argv[1]))
    writers = WriterProcesses(plan, _client(plan.client))
    print(json.dumps({"ready": True}), flush=True)
    try:
        for line in iter(sys.stdin.readline, ""):
            command = json.loads(line)
            answer = getattr(writers, command["do"])(*command["with"])
            print(json.dumps(answer), flush=True)
    finally:
        writers.end()


if __name__ == "__main__":
    main()
