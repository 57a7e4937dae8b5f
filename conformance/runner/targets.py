"""Adapters by their names on the command line: the reference, engines, or any command."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import partial
from importlib import import_module

from conformance.core.failures import NotExamined, UsageError, suggest_names
from conformance.core.lazy_imports import lazy_imports
from conformance.runner.adapter_interface import Adapter, InProcess, Trace
from conformance.runner.execution import Target
from conformance.runner.process import AdapterLimits, Process

with lazy_imports():
    from conformance import engine_setup
    from conformance.engine_setup import catalog as engine_catalog


REFERENCE = "reference"
COMMAND = "cmd:"


def make_limits(start: float, request: float, max_in_flight: int = 1) -> AdapterLimits:
    """Return the limits that options set.

    Raises:
        UsageError: a number is out of range.
    """
    for option, number in (("--start-timeout", start), ("--timeout", request), ("--max-in-flight", max_in_flight)):
        if not 0 < number < 1_000_000:
            raise UsageError(f"{option} {number}: must be more than 0 and less than a million")
    return AdapterLimits(start=start, request=request, max_in_flight=max_in_flight)


def target(name: str, limits: AdapterLimits, trace: Trace | None = None) -> Target:
    """Return the target for a name or command of the command line.

    Raises:
        UsageError: the name is unknown.
    """
    if module := in_process_modules().get(name):
        return Target(name, partial(_in_process, name, module, trace))
    if name.startswith(COMMAND) or " " in name or "/" in name:
        command = _split(name.removeprefix(COMMAND))
        return Target(name, partial(Process, name, command, limits=limits, trace=trace), shlex.quote(name))
    if name not in engine_labels():
        known = [*in_process_modules(), *engine_labels()]
        hint = suggest_names(name, known) or "."
        raise UsageError(
            f"unknown adapter {name!r}{hint} The adapters are {', '.join(known)}; a command of one word is written "
            f"cmd:{name}"
        )
    return Target(name, partial(_engine, name, limits, trace))


def in_process_modules() -> dict[str, str]:
    """Return the modules of the engines that run in this process, by name."""
    return {engine.name: engine.module for engine in engine_catalog.catalog().all_versions if engine.module}


def all_engines(limits: AdapterLimits, *, latest: bool = False) -> list[Target]:
    """Return the engines that ``engines install --all`` installs, and the others that were installed by name.

    An engine whose sources changed since it was built is included, so that the run says that it was not examined.

    Args:
        limits: the time limits of each.
        latest: whether to leave out older versions, which have an ``@`` in their names.
    """
    wanted = [
        engine.label
        for engine in engine_setup.list_engines()
        if engine.installed or engine.outdated or not engine.by_name
    ]
    return [target(name, limits) for name in wanted if not (latest and "@" in name)]


def not_ready() -> dict[str, str]:
    """Return the reasons why engines cannot run, by the engine's name."""
    return {engine.label: engine.reason for engine in engine_setup.list_engines() if engine.reason is not None}


def engine_labels() -> list[str]:
    """Return the names of the engines on the command line."""
    return [engine.label for engine in engine_catalog.catalog().engines]


def find_targets(names: Sequence[str], limits: AdapterLimits) -> list[Target]:
    """Return the targets of several names.

    Raises:
        UsageError: a name is unknown, or given twice.
    """
    twice = next((name for index, name in enumerate(names) if name in names[:index]), None)
    if twice is not None:
        raise UsageError(f"the adapter {twice!r} is given twice")
    return [target(name, limits) for name in names]


def _split(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"--adapter {command!r}: not a command: {error}") from None
    if not words:
        raise UsageError("--adapter: the command is empty")
    return words


def _in_process(name: str, module: str, trace: Trace | None) -> Adapter:
    adapter = import_module(module)
    return InProcess(name, adapter.implementation(), adapter.operations(), adapter.REFUSALS, trace)


def _engine(name: str, limits: AdapterLimits, trace: Trace | None) -> Adapter:
    try:
        launched = engine_setup.launch(name)
    except engine_setup.EngineError as error:
        raise NotExamined(str(error)) from None
    return Process(name, launched.command, env=launched.env, limits=limits, trace=trace)
