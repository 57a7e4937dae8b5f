"""Fixtures and options for all tests."""

from __future__ import annotations

import gc
import os
import random
import signal

import pytest
import reword
from hypothesis import HealthCheck, settings
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

from conformance.adapter_sdk.spark_settings import JAVA

# Most objects belong to modules, classes and tests, which stay until the process ends: the garbage collector visits
# them less often (every 700 new objects by default), which saves a twentieth of the time.
gc.set_threshold(50_000)

# Interrupts are ignored by what a shell starts in the background, and by all that this starts: the tests of interrupts
# would wait without end.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Virtual machines of Spark live for seconds here, too: the programs that start one, drivers, and masters and workers.
for name in ("SPARK_LAUNCHER_OPTS", "SPARK_SUBMIT_OPTS", "SPARK_DAEMON_JAVA_OPTS"):
    os.environ.setdefault(name, JAVA)

# A machine that is busy must not fail a property: speed is measured by the benchmarks, not by deadlines, nor by how
# long examples take to draw.
SLOW = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("iceberg", print_blob=True, **SLOW)
# The same examples every time: what tests have seen is compared with what they should see (tools/trace.py).
settings.register_profile("repeatable", print_blob=True, derandomize=True, **SLOW)
settings.load_profile("iceberg")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--reword",
        nargs="?",
        const="random",
        metavar="SEED",
        help="reword every message of a violation, finding or refusal at random, and leave out tests of wording",
    )


def pytest_configure(config: pytest.Config) -> None:
    if seed := config.getoption("--reword"):
        seed = seed if seed != "random" else str(random.SystemRandom().randrange(10**6))
        config.option.reword = seed  # the workers of xdist use the same
        reword.install(seed)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    """Give all files with tests of shared engines to the same process, so that each engine starts once."""
    return SharedEngines(config, log) if config.getoption("dist") == "loadfile" else None


class SharedEngines(LoadFileScheduling):
    """Files are the units of work, but those with tests of shared engines are one."""

    def __init__(self, config: pytest.Config, log: Producer) -> None:
        super().__init__(config, log)
        paths = (config.rootpath / "tests").rglob("test_*.py")
        sharing = (path for path in paths if "from engine_processes import" in path.read_text(encoding="utf-8"))
        self._sharing = {path.relative_to(config.rootpath).as_posix() for path in sharing}

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return "shared engines" if file in self._sharing else file


def pytest_report_header(config: pytest.Config) -> str | None:
    seed = config.getoption("--reword")
    return f"messages are reworded: --reword {seed}" if seed else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--reword"):
        wording = [item for item in items if item.get_closest_marker("wording")]
        config.hook.pytest_deselected(items=wording)
        items[:] = [item for item in items if item not in wording]
    if hasattr(config, "workerinput"):
        # Several processes share the files: those with engines take longest, and come first so that no process waits
        # for the last of another. A single process runs the fast ones first, as they are collected.
        slow = {item.path for item in items if item.get_closest_marker("engine")}
        items.sort(key=lambda item: item.path not in slow)
