"""Spark finds what this machine finds, finding by finding."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from conformance.golden_tables import PLACE, index, materialize, names
from conformance.validate.context import Level
from conformance.validate.local import Local
from conformance.validate.remote import validate_all_there
from conformance.validate.run import Snapshots, Unreadable, validate

pytestmark = pytest.mark.engine

FEW = ("row-lineage-parquet", "broken-dv-checksum", "broken-manifest-missing", "equality-deletes-scopes")
ALL = Snapshots("all")


def test_spark_and_this_machine_find_the_same(tmp_path: Path) -> None:
    wanted = [name for name in names() if "engine" in index(name)] if os.environ.get("VALIDATE_SPARK") == "all" else FEW
    materialize(wanted)
    locations = [str(PLACE / name) for name in wanted] + [str(tmp_path / "nothing")]
    there = validate_all_there(locations, Level.ROWS, ALL, "local[1]")
    for location, found in zip(locations, there, strict=True):
        if isinstance(found, str):
            with pytest.raises(Unreadable, match="no such file"):
                validate(location, Level.ROWS, Local(), ALL)
            continue
        here = validate(location, Level.ROWS, Local(), ALL)
        assert found == here
        assert here.findings
