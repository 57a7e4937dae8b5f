"""A file that is deleted, behind one that the manifests of several snapshots list (SCN007)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from conformance.validator import cross_files


@pytest.mark.parametrize(("in_snapshot", "codes"), [((0,), []), ((0, 1), ["SCN007"])])
def test_a_file_is_repeated_where_one_snapshot_has_it_twice(in_snapshot: tuple[int, ...], codes: list[str]) -> None:
    """Two manifests list file 0; the last entry deletes file 1, which is live nowhere."""
    files: Any = SimpleNamespace(
        keys=SimpleNamespace(dictionary=pa.array(["a", "b"])),
        code=np.array([0, 0, 1]),
        entry=np.array([0, 0, 1]),
        live=np.array([True, True, False]),
        manifest=np.array([0, 1, 1]),
        name=lambda code: "ab"[code],
    )
    members: Any = SimpleNamespace(manifest_count=2, by_snapshot={7: in_snapshot}, checked=(7,))
    found = cross_files._find_repeated(members, {0: "m0", 1: "m1"}, files)
    assert [one.requirement for one in found] == codes
