"""A store that takes connections and never answers, and a table with a file there."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.grid.workbench import Workbench

TABLE = "partition-identity-v2"
STALLED = "s3://stalled/f.parquet"


@pytest.fixture(name="store")
def stalled_store(monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """A store that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.getsockname()[1]}")
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"):
            monkeypatch.setenv(name, "stalled")
        yield server


def stalled_table(folder: Path) -> str:
    """A table whose second file is on a store, and whose third has another number of rows than its entry says;
    its summary is wrong too.
    """
    bench = Workbench(TABLE, folder)
    (manifest,) = bench.manifests
    manifest.files[1]["file_path"] = STALLED
    bench.snapshot["summary"]["total-records"] = "1"
    manifest.files[2]["record_count"] += 1
    return bench.relocate()
