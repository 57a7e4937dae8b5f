"""Engines that are installed by name only: `make engines-large` runs their tests, and `make test` leaves them out."""

from __future__ import annotations

import pytest

from conformance.engine_setup import list_engines


def skip_unless_installed(engine: str) -> None:
    """Skip a test if the engine is installed by name only, and is not installed; others fail where they start."""
    status = next(status for status in list_engines() if status.name == engine)
    if status.by_name and not status.installed:
        pytest.skip(f"{status.label}: {status.reason}")
