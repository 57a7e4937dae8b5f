"""Processes of installed engines, which the tests of a session share: most engines take seconds to start."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest
from patient import PATIENT

from conformance.engine_setup import launch, list_engines
from conformance.operations.protocol import StartAnswer
from conformance.runner.process import Process

Running = Callable[[str], tuple[Process, StartAnswer]]
"""Returns the process of an engine by its label, and what it reported when it started."""


@contextmanager
def shared_processes() -> Iterator[Running]:
    """Start each engine when it is first asked for, and stop all at the end."""
    with ExitStack() as open_:
        processes = []

        @functools.cache
        def running(label: str) -> tuple[Process, StartAnswer]:
            status = next(status for status in list_engines() if status.label == label)
            if not status.installed:
                pytest.fail(f"{label}: {status.reason}")
            started = launch(label)
            process = open_.enter_context(Process(label, started.command, env=started.env, limits=PATIENT))
            processes.append(process)
            return process, process.start()

        yield running
        assert {process.name: breach for process in processes if (breach := process.stop()) is not None} == {}
