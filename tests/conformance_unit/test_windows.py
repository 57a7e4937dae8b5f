"""Another way, or a clear error, for what Windows does not have; nothing runs on Windows: tests set the flag for it."""

from __future__ import annotations

import time
from pathlib import Path, PureWindowsPath

import pytest

from conformance.adapter_sdk.file_locations import file_location
from conformance.core import drives
from conformance.core.failures import NotExamined
from conformance.core.time_budget import TimeBudget
from conformance.engine_setup import EngineError
from conformance.races.stress.run import Settings, StressStopped, stress
from conformance.table_io.catalogs.servers import KINDS, ManagedServer
from conformance.table_io.file_access import split_location
from conformance.validator.context import Level
from conformance.validator.remote import RemoteSpark
from conformance.validator.run import SnapshotSelection
from tools.posix import require_posix


@pytest.fixture(autouse=True)
def _on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drives, "WINDOWS", True)
    monkeypatch.delattr("signal.setitimer")


def wait(seconds: float) -> None:
    """Sleep in many steps, between which a thread can interrupt."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(0.01)


def test_a_time_budget_interrupts_from_a_thread() -> None:
    budget = TimeBudget(0.05)
    with pytest.raises(KeyboardInterrupt), budget.interrupting():
        wait(60)
    assert budget.is_over


def test_a_time_budget_does_not_interrupt_what_follows() -> None:
    budget = TimeBudget(0.5)
    with budget.interrupting():
        pass
    wait(1)
    assert not budget.is_over


def test_a_location_of_a_file_has_a_slash_before_the_drive_and_no_escapes() -> None:
    path = PureWindowsPath("C:/my tables/100%")
    assert file_location(path) == "file:///C:/my tables/100%"
    assert split_location(file_location(path)).path == path.as_posix()


def test_what_needs_posix_says_so(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="not on Windows"):
        ManagedServer(KINDS["postgresql"], tmp_path / "server")
    with pytest.raises(StressStopped, match="not on Windows"):
        stress(Settings(), tmp_path)
    with RemoteSpark(Level.METADATA) as spark, pytest.raises(NotExamined, match="not on Windows"):
        spark.check("/nowhere", SnapshotSelection("current"))
    assert list(tmp_path.iterdir()) == []


def test_tools_that_need_posix_say_so() -> None:
    with pytest.raises(SystemExit, match=r"tools\.fuzz: needs a POSIX system"):
        require_posix("tools.fuzz")
