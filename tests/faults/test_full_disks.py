"""Disks that are full while something is written: a file system of two megabytes.

Where none may be mounted, the kernel's limit of the size of files takes its place, which fails writes in the same way.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from faulty import FIELDS, made

from conformance.table_io.local import read_table
from conformance.table_io.tables import load_table
from conformance.table_io.writing import create_table
from conformance.validator.context import Level
from conformance.validator.local import LocalBackend
from conformance.validator.run import validate
from spec_ref.checks.findings import Severity

FREE_KB = 2048
MOUNTING = ["unshare", "--mount", "--map-root-user", "--user", "sh", "-c"]
MOUNT = f"mount -t tmpfs -o size={FREE_KB}k none "


def mountable() -> bool:
    try:
        return subprocess.run([*MOUNTING, MOUNT + "/mnt"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


KINDS = ("disk", "limit")
"""A file system that is full, and files that may not grow."""


def with_little_space(kind: str, place: Path, command: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command that finds little space below a place, and copy what it left there beside it."""
    place.mkdir(exist_ok=True)
    env = {**os.environ, **variables}
    if kind == "disk" and mountable():
        script = (
            f'cp -a "$0" "$0.before"; {MOUNT} "$0"; cp -a "$0.before/." "$0"; "$@"; status=$?; '
            'cp -a "$0" "$0.after"; exit $status'
        )
        return subprocess.run(
            [*MOUNTING, script, str(place), *command], env=env, capture_output=True, text=True, check=False, timeout=300
        )
    limit = FREE_KB * 1024 // 4

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    done = subprocess.run(
        command, env=env, capture_output=True, text=True, check=False, preexec_fn=limited, timeout=300
    )
    place.rename(f"{place}.after")
    return done


WRITE = """
import sys
import pyarrow as pa
from conformance.table_io.writing import append, open_table
import random
table = open_table(sys.argv[1])
chance = random.Random(1)
rows = pa.table({"id": [chance.getrandbits(60) for _ in range(1_000_000)], "s": ["s"] * 1_000_000})
try:
    append(table, rows)
except Exception as error:
    print(type(error).__name__, error)
    sys.exit(9)
"""


@pytest.mark.parametrize("kind", KINDS)
def test_a_write_that_finds_no_space_leaves_the_table_and_nothing_beside(kind: str, tmp_path: Path) -> None:
    place = tmp_path / "small"
    create_table(str(place / "t"), FIELDS)
    before = sorted(path.relative_to(place) for path in place.rglob("*"))
    done = with_little_space(kind, place, [sys.executable, "-c", WRITE, str(place / "t")])
    assert done.returncode == 9, done.stderr
    assert "No space left" in done.stdout or "File too large" in done.stdout
    after = Path(f"{place}.after")
    assert sorted(path.relative_to(after) for path in after.rglob("*")) == before
    after.rename(place) if not place.exists() else None
    assert read_table(load_table(str(place / "t"))).read_all().num_rows == 0
    report = validate(str(place / "t"), Level.ROWS, LocalBackend())
    assert [one for one in report.findings if one.severity is Severity.ERROR] == []


SPILL = """
import sys
from conformance.validator import local
from conformance.cli import main
held = local.LocalBackend.__init__
local.LocalBackend.__init__ = lambda self, *given, **named: held(self, *given, **{**named, "held_bytes": 1})
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("kind", KINDS)
def test_facts_that_find_no_space_end_the_check_and_pass_nothing(kind: str, tmp_path: Path) -> None:
    from tools.bench.entries_table import make_table

    folder = tmp_path / "t"
    folder.mkdir()
    location = make_table(folder, 40_000, 4, 1)
    place = tmp_path / "small"
    words = ["validate", str(location), "--format", "json"]
    done = with_little_space(kind, place, [sys.executable, "-c", SPILL, *words], TMPDIR=str(place))
    assert done.returncode == 3, done.stderr
    assert done.stderr.count("\n") <= 2
    (table,) = json.loads(done.stdout)["tables"]
    assert table["complete"] is False
    assert "No space left" in table["reason"] or "File too large" in table["reason"]
    assert [path.name for path in Path(f"{place}.after").rglob("*") if "facts" in path.name] == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_report_that_finds_no_space_is_reported(kind: str, tmp_path: Path) -> None:
    location = made(str(tmp_path / "t"))
    place = tmp_path / "small"
    place.mkdir()
    (place / "full").write_bytes(bytes(FREE_KB * 1024))
    report = place / "report.json"
    words = ["validate", location, "--level", "metadata", "--format", "json", "--output", str(report)]
    limit = ["prlimit", "--fsize=100"] if kind == "limit" or not mountable() else []
    done = with_little_space(kind, place, [*limit, sys.executable, "-m", "conformance", *words])
    assert done.returncode == 2, done.stderr
    assert "cannot be written" in done.stderr
    assert json.loads(done.stdout)["tables"]
