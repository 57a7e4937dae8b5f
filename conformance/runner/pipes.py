"""A process and its three pipes, read and written without blocking.

Needs ``poll`` and process groups, so POSIX.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress

from conformance.operations.protocol import MAX_LINE, Breach
from conformance.runner.adapter_interface import Trace

CHUNK = 256 * 1024
MAX_STDERR_BYTES = 8 * 1024
"""How many bytes from the end of standard error are kept as evidence."""

GRACE = 5.0
"""How many seconds a process may take to end after it closed its output."""


class Ended(Breach):
    """The process closed its output; the message says how it ended."""

    def __init__(self, status: int | None, partial: int) -> None:
        self.status = status
        self.partial = partial
        unfinished = f" in the middle of a line, after {partial} bytes of it" if partial else ""
        super().__init__(f"{describe_exit(status)}{unfinished}")


def describe_exit(status: int | None) -> str:
    """Describe how a process ended, by its exit status as in `subprocess`; None while it runs."""
    if status is None:
        return "closed its output and did not end"
    if status >= 0:
        return f"exited with status {status}"
    try:
        return f"was killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"was killed by signal {-status}"


class Pipes:
    """A process and its three pipes, read and written without blocking."""

    def __init__(self, command: list[str], env: Mapping[str, str] | None, trace: Trace | None) -> None:
        self._process = subprocess.Popen(
            command,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            # A separate process group: all of it can be killed, and Ctrl-C at the terminal only reaches this tool.
            start_new_session=True,
        )
        self._pipes = [pipe for pipe in (self._process.stdin, self._process.stdout, self._process.stderr) if pipe]
        self._in, self._out, self._err = (pipe.fileno() for pipe in self._pipes)
        self._poll = select.poll()
        for pipe in (self._in, self._out, self._err):
            os.set_blocking(pipe, False)
        self._poll.register(self._out, select.POLLIN)
        self._poll.register(self._err, select.POLLIN)
        self._trace = trace
        self._unsent = memoryview(b"")
        self._lines: deque[bytes] = deque()
        self._tail: list[bytes] = []
        self._tail_length = 0
        self._stderr = bytearray()
        self._stderr_open = True

    @property
    def has_line(self) -> bool:
        """Whether a line was read that has not been received yet."""
        return bool(self._lines)

    def send(self, lines: list[bytes]) -> None:
        """Send lines; what the pipe does not take now is written while answers are awaited."""
        if self._trace is not None:
            for line in lines:
                self._trace("->", line)
        if lines:
            self._unsent = memoryview(bytes(self._unsent) + b"".join(lines))
            self._write()

    def _write(self) -> None:
        try:
            while self._unsent:
                self._unsent = self._unsent[os.write(self._in, self._unsent) :]
        except BlockingIOError:
            self._poll.register(self._in, select.POLLOUT)
            return
        except BrokenPipeError:
            self._unsent = memoryview(b"")  # the end of the output reports why the process ended
        self._stop_watching(self._in)

    def receive(self, limit: float) -> bytes | None:
        """Return the next line without its line end, or None when the time limit (of the monotonic clock) passes.

        Raises:
            Breach: the process ended its output, or the line is too long.
        """
        while not self._lines:
            remaining = limit - time.monotonic()
            ready = self._poll.poll(max(0.0, remaining) * 1000)
            if not ready and remaining <= 0:
                return None
            for pipe, _ in ready:
                if pipe == self._in:
                    self._write()
                elif pipe == self._err:
                    self._read_stderr()
                else:
                    self._read_output()
        line = self._lines.popleft()
        if self._trace is not None:
            self._trace("<-", line + b"\n")
        return line

    def _read_output(self) -> None:
        try:
            chunk = os.read(self._out, CHUNK)
        except BlockingIOError:
            return
        if not chunk:
            raise Ended(self._wait(), self._tail_length)
        *complete, tail = chunk.split(b"\n")
        if complete:
            complete[0] = b"".join((*self._tail, complete[0]))
            self._lines.extend(complete)
            self._tail, self._tail_length = [], 0
        self._tail.append(tail)
        self._tail_length += len(tail)
        if self._tail_length >= MAX_LINE or (complete and len(complete[0]) >= MAX_LINE):
            raise Breach(f"the adapter wrote a line of more than {MAX_LINE} bytes")

    def _read_stderr(self) -> int:
        """Read what is available of standard error; return the number of bytes."""
        try:
            chunk = os.read(self._err, CHUNK)
        except BlockingIOError:
            return 0
        if not chunk:
            self._stderr_open = False
            self._stop_watching(self._err)
        self._stderr += chunk
        del self._stderr[:-MAX_STDERR_BYTES]
        return len(chunk)

    def _stop_watching(self, pipe: int) -> None:
        with suppress(KeyError):
            self._poll.unregister(pipe)

    def _wait(self) -> int | None:
        """Return the exit status of a process that closed its output; None if it does not end."""
        self._close_input()
        limit = time.monotonic() + GRACE
        # Standard error is still read: a process that writes there while it ends must not be blocked.
        while self._process.poll() is None and time.monotonic() < limit:
            if self._stderr_open:
                watch = select.poll()
                watch.register(self._err, select.POLLIN)
                if watch.poll(20):
                    self._read_stderr()
            else:
                time.sleep(0.005)
        return self._process.poll()

    def _close_input(self) -> None:
        self._stop_watching(self._in)
        self._pipes[0].close()

    def kill(self) -> None:
        """Kill the process and its children."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def close(self) -> None:
        """Kill the process and its children, and read the last of its standard error."""
        self.kill()
        self._process.wait()
        while self._stderr_open and self._read_stderr():
            pass
        for pipe in self._pipes:
            pipe.close()

    def stderr_tail(self) -> str:
        """Return the end of what the process wrote on standard error."""
        return self._stderr.decode(errors="replace")
