"""Fixtures for the tests of writing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def _without_a_disk() -> Iterator[None]:
    """What is written need not last here: that it does is shown by the tests of commits."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.fsync", lambda _descriptor: None)
        yield
