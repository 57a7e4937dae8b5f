"""Do work in a separate process, so that its memory, its modules and its crashes do not affect this one."""

from __future__ import annotations

import os
import pickle
import select
import signal
import traceback
from collections.abc import Callable
from typing import Any

from tools.posix import require_posix

DONE, BROKEN, HANGS = "done", "broken", "hangs"


def run_forked(work: Callable[[], Any], seconds: float) -> tuple[str, Any]:
    """Do some work in a forked process.

    Args:
        work: the work; its result must be picklable.
        seconds: the limit on processor time, which does not depend on how busy the machine is, as elapsed time does.

    Returns:
        `DONE` and the result, `BROKEN` and the error, or `HANGS` and None.
    """
    require_posix("work in a forked process")
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            outcome: tuple[str, Any] = (DONE, work())
        except BaseException:
            outcome = (BROKEN, traceback.format_exc())
        try:
            with os.fdopen(writing, "wb") as pipe:
                pickle.dump(outcome, pipe)
        finally:
            os._exit(0)
    os.close(writing)
    parts, hangs = [], False
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        while True:
            ready = select.select([pipe], [], [], 5)[0]
            part = pipe.read(1 << 20) if ready else None
            if part == b"":
                break
            if part:
                parts.append(part)
            elif _processor_time(child) > seconds:
                hangs = True
                os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if hangs:
        return HANGS, None
    if not parts:
        return BROKEN, f"the process ended with status {status}"
    found: tuple[str, Any] = pickle.loads(b"".join(parts))
    return found


def _processor_time(process: int) -> float:
    with open(f"/proc/{process}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
