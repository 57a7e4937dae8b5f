"""The engines, for all tests of real ones."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from engine_processes import Running, shared_processes


@pytest.fixture(scope="session")
def running() -> Iterator[Running]:
    """Returns the process of an engine by its label."""
    with shared_processes() as started:
        yield started
