"""The fork server, from which the processes that open files are forked (`conformance.validator.process_isolation`).

The server imports their modules while the command imports its own; therefore this module imports none of them.
"""

from __future__ import annotations

import contextlib
import signal
from multiprocessing import forkserver, resource_tracker

from conformance.core.drives import WINDOWS

PRELOADED = [
    "conformance.validator.files",
    "conformance.validator.partition_statistics",
    "conformance.validator.data_file_reader",
]
"""Modules that every process needs, imported once."""


def start_early() -> None:
    """Start the fork server, which imports its modules while this process does other work.

    If the server cannot be started, the first check that needs it reports why.
    """
    if not WINDOWS:
        with contextlib.suppress(OSError):
            ensure_running()


def ensure_running() -> None:
    """Start the fork server, unless it runs, so that no interrupt of the terminal reaches it or its processes.

    Raises:
        OSError: the server cannot be started.
    """
    forkserver.set_forkserver_preload(PRELOADED)
    resource_tracker.ensure_running()  # starts only once, and would unblock interrupts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
