"""Our writers and those of real engines on one table at the same time: no commit is lost."""

from __future__ import annotations

import os
import queue
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from test_stores import live

from conformance.engine_setup import launch
from conformance.operations.commits.fixtures import data_file, empty_table
from conformance.table_io.stores import Store, commit, load
from conformance.table_io.stores.runner import Runner
from spec_ref.commits.changes import CreateTable, SetProperties, fast_append
from spec_ref.table_metadata import check_metadata, read_metadata, write_metadata
from spec_ref.table_metadata.rules import Severity

HERE = Path(__file__).parent
PATIENT = {"commit.retry.num-retries": "50", "commit.retry.min-wait-ms": "5", "commit.retry.max-wait-ms": "100"}


def started(engine: str, program: str, *arguments: str) -> subprocess.Popen[str]:
    """Start a program in the environment of an engine."""
    how = launch(engine)
    command = [how.command[0], str(HERE / program), *arguments]
    return subprocess.Popen(
        command, env={**os.environ, **how.env}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def read_lines(processes: Sequence[subprocess.Popen[str]]) -> Iterator[str]:
    """Yield the lines that processes write, as they arrive."""
    lines: queue.Queue[str | None] = queue.Queue()

    def read(process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        with process.stdout as written:
            for line in written:
                lines.put(line)
        lines.put(None)

    for process in processes:
        assert process.stdin is not None
        process.stdin.close()
        threading.Thread(target=read, args=(process,), daemon=True).start()
    for _ in processes:
        yield from iter(lambda: lines.get(timeout=300), None)


def check(store: Store) -> None:
    """Check that the table is valid, and its history is linear with a sequence number for each snapshot."""
    base = load(store)
    assert base is not None
    assert [one for one in check_metadata(write_metadata(base.metadata)) if one.severity is Severity.ERROR] == []
    numbers = [snapshot.sequence_number for snapshot in base.metadata.snapshots]
    assert numbers == list(range(1, len(numbers) + 1))
    parents = [snapshot.parent_snapshot_id for snapshot in base.metadata.snapshots]
    assert parents == [None, *(snapshot.snapshot_id for snapshot in base.metadata.snapshots[:-1])]


def test_ours_and_pyiceberg_share_a_sql_catalog(tmp_path: Path, opened: Callable[[str], Store]) -> None:
    location = (tmp_path / "table").as_uri()
    store = opened(f"sqlite://{tmp_path}/catalog.db?table=table")
    commit(CreateTable(empty_table(2, location, dict(PATIENT))), store)
    uri = f"sqlite:///{tmp_path}/catalog.db"
    others = [started("pyiceberg", "pyiceberg_writer.py", uri, location, f"py{one}", "6") for one in range(2)]
    runner, ours, reported = Runner(store), list[str](), list[list[str]]()
    for line in read_lines(others):
        reported.append(line.split())
        if len(reported) <= 6:  # during their next commits; they would starve if we always committed
            runner.commit(fast_append([data_file(f"ours-{len(ours)}", location=location)]))
            ours.append(f"ours-{len(ours)}")
    done = [name for outcome, name, *_ in reported if outcome == "done"]
    assert [process.wait(300) for process in others] == [0, 0]
    assert len(reported) == 12
    assert len(ours) == 6
    # Two commits may lose to our last one; of those after it, one loses only to another one.
    assert "done" in {outcome for outcome, *_ in reported[8:]}
    assert sorted(live(store)) == sorted([*ours, *done])
    check(store)


@pytest.fixture
def java(tmp_path: Path, opened: Callable[[str], Store]) -> Iterator[tuple[Store, str, subprocess.Popen[str]]]:
    """Create a file-system table, and start an Iceberg-Java that has loaded it."""
    location = (tmp_path / "table").as_uri()
    store = opened(location)
    commit(CreateTable(empty_table(2, location, dict(PATIENT))), store)
    process = started("iceberg-java", "java_writer.py", location)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    yield store, location, process
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(timeout=300) == 0
    process.stdout.close()


def ask(process: subprocess.Popen[str], line: str) -> str:
    """Send one line, and return the answer."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(line + "\n")
    process.stdin.flush()
    return process.stdout.readline()


def test_ours_and_iceberg_java_share_a_file_system_table(java: tuple[Store, str, subprocess.Popen[str]]) -> None:
    store, location, process = java
    names = []
    for number in range(6):
        planned = load(store)
        assert ask(process, f"{'load' if number % 2 else 'stay'} java-{number}") == f"done java-{number}\n"
        done = commit(fast_append([data_file(f"ours-{number}", location=location)]), store, base=planned)
        assert done.metadata.last_sequence_number == 2 * number + 2
        commit(SetProperties({"turn": str(number)}), store)
        names += [f"java-{number}", f"ours-{number}"]
    assert sorted(live(store)) == sorted(names)
    check(store)


def test_iceberg_java_tries_again_where_we_were_faster(java: tuple[Store, str, subprocess.Popen[str]]) -> None:
    store, location, process = java
    assert ask(process, "stay java-0") == "done java-0\n"
    assert process.stdin is not None
    assert process.stdout is not None
    for number in range(1, 9):
        process.stdin.write(f"stay java-{number}\n")
    process.stdin.flush()
    ours = {}
    for number in range(8):
        made = commit(fast_append([data_file(f"ours-{number}", location=location)]), store)
        assert made.snapshot is not None
        version = len(made.metadata.metadata_log) + 1
        ours[f"{location}/metadata/v{version}.metadata.json"] = made.snapshot.snapshot_id
    lines = [process.stdout.readline() for _ in range(1, 9)]
    assert lines == [f"done java-{number}\n" for number in range(1, 9)]
    # Iceberg-Java looks whether the next version is there and then renames, which may replace a file that we have made
    # in between (contradiction A26): of two commits that made one version one is lost, ours unless we have gone on from
    # it already, and no other commit is. No file of Iceberg-Java is replaced by ours.
    acknowledged = {f"java-{number}" for number in range(9)} | {f"ours-{number}" for number in range(8)}
    found = set(live(store))
    replaced = [path for path, snapshot in ours.items() if current_snapshot_id(store, path) != snapshot]
    assert found <= acknowledged
    assert len(acknowledged - found) == len(replaced)
    if not replaced:
        check(store)


def current_snapshot_id(store: Store, path: str) -> int | None:
    """Return the current snapshot in a metadata file."""
    return read_metadata(store.read(path) or b"").current_snapshot_id
