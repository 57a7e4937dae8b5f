"""Spark finds what this machine finds, finding by finding."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from corruptions.statistics import PARTITIONED, partition_statistics
from workbench import Workbench

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
    made = _with_partition_statistics(tmp_path)
    locations = [*(str(PLACE / name) for name in wanted), made, str(tmp_path / "nothing")]
    there = validate_all_there(locations, Level.ROWS, ALL, "local[1]")
    for location, found in zip(locations, there, strict=True):
        if isinstance(found, str):
            with pytest.raises(Unreadable, match="no such file"):
                validate(location, Level.ROWS, Local(), ALL)
            continue
        here = validate(location, Level.ROWS, Local(), ALL)
        assert found == here
        assert here.findings
        assert location != made or "STA020" in {finding.requirement for finding in here.findings}


def _with_partition_statistics(folder: Path) -> str:
    """A version of a table with partition statistics that count a file too many."""
    materialize([PARTITIONED])
    bench = Workbench(PARTITIONED, folder)
    told = partition_statistics(bench, lambda rows: rows[0].update(data_file_count=9))
    stored = folder / "statistics.parquet"
    stored.write_bytes(bench.replaced[told["statistics-path"]] or b"")
    told["statistics-path"] = f"file://{stored}"
    version = folder / "v9.metadata.json"
    version.write_text(json.dumps(bench.metadata))
    return str(version)
