"""Helpers for tests of faults: a table with files of every kind, and commands in separate processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from spec_ref.core.versions import V2, V3
from spec_ref.data_types.types import LONG, STRING, NestedField
from spec_ref.manifests.data_file import FileFormat
from tools.table_kit import TableKit

FIELDS = (NestedField(1, "id", required=False, type=LONG), NestedField(2, "s", required=False, type=STRING))
ROWS = [{1: number, 2: f"s{number}"} for number in range(500)]
FORMATS = (FileFormat.PARQUET, FileFormat.ORC, FileFormat.AVRO)
LEFT = 498 + 450 + 500
"""Rows of the table that are not deleted."""


def made(location: str) -> str:
    """A table with data files of every format, and two vectors; the location of its metadata."""
    kit = TableKit(location, FIELDS, version=V3)
    files = [kit.file(ROWS, file_format=format_) for format_ in FORMATS]
    kit.commit(*files)
    kit.commit(kit.deletion_vector(files[0], [1, 2]), kit.deletion_vector(files[1], range(50)))
    return kit.table().metadata_location


def with_position_deletes(location: str, files: int = 1) -> str:
    """A table of v2 with Parquet files, of each of which a position delete file deletes two rows."""
    kit = TableKit(location, FIELDS, version=V2)
    data = [kit.file(ROWS) for _ in range(files)]
    kit.commit(*data)
    kit.commit(*(kit.position_deletes([(file.file_path, 1), (file.file_path, 2)]) for file in data))
    return kit.table().metadata_location


def command(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the tool to its end."""
    return subprocess.run(
        [sys.executable, "-m", "conformance", *words],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def started(*words: str, **variables: str) -> subprocess.Popen[str]:
    """Begin a command of the tool."""
    return subprocess.Popen(
        [sys.executable, "-m", "conformance", *words],
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def only_table(output: str) -> Mapping[str, Any]:
    """The only table of a report in JSON."""
    (table,) = json.loads(output)["tables"]
    found: Mapping[str, Any] = table
    return found


def below(root: int) -> Iterator[tuple[int, str]]:
    """The processes that a process has started, and those that they have, with their command lines."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if parent == root:
                yield int(entry.name), words
                yield from below(int(entry.name))
