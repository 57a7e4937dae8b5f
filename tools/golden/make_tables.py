"""Make the golden tables: tables that engines write, whose rows follow from the statements.

    python -m tools.golden.make_tables [NAME...]

Each table is made in the environment of its engine (see ``conformance/engines``), at the path at which it has to be
read, and stored in ``vectors/golden/tables/NAME``. Its files have random ids and times, so that a table that is made
again differs. Names may end in ``*``; without names, the missing tables are made.
"""

from __future__ import annotations

import fnmatch
import os
import subprocess
import sys
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tools.entry_point import run_without_parser
from tools.golden import make_tables_arrow, make_tables_cases, make_tables_kit  # noqa: F401 - the cases register themselves

ROOT = Path(__file__).resolve().parents[2]
WAREHOUSES = {"iceberg-java": "/tmp/iceberg-conformance", "iceberg-java@1.10.2": "file:///tmp/iceberg-conformance"}
INSIDE = "ICEBERG_CONFORMANCE_MAKING"


def requested_tables(names: list[str]) -> list[str]:
    """Return the requested tables."""
    every = make_tables_kit.MAKERS
    if not names:
        return [name for name in every if not (make_tables_kit.KEPT / name / "index.json").is_file()]
    found = [name for name in every if any(fnmatch.fnmatch(name, pattern) for pattern in names)]
    if not found:
        raise SystemExit(f"no golden table is named {' or '.join(names)}")
    return found


def spawn(engine: str, names: Iterable[str]) -> None:
    """Make tables in the environment of their engine."""
    from conformance.engine_setup import launch

    started = launch(engine)
    path = os.pathsep.join([started.env.get("PYTHONPATH", ""), str(ROOT)]).strip(os.pathsep)
    env = {**started.env, "PYTHONPATH": path, INSIDE: engine}
    subprocess.run([started.command[0], "-m", "tools.golden.make_tables", *names], env=env, check=True, cwd=ROOT)


def make(engine: str, names: list[str]) -> None:
    """Make tables of the engine whose environment this is."""
    make_tables_kit.PLACE.parent.mkdir(mode=0o700, exist_ok=True)
    make_tables_kit.PLACE.mkdir(mode=0o700, exist_ok=True)
    session: Any = None
    if engine in WAREHOUSES:
        from tools.golden.make_tables_spark import Session

        session = Session(WAREHOUSES[engine])
    failed = []
    try:
        for name in names:
            try:
                make_tables_kit.MAKERS[name][1](session)
            except Exception:  # continue with the other tables
                traceback.print_exc()
                failed.append(name)
    finally:
        if session is not None:
            session.spark.stop()
    if failed:
        raise SystemExit(f"not made: {', '.join(failed)}")


def main() -> None:
    """Make the requested tables, engine by engine."""
    names = requested_tables(sys.argv[1:])
    engine = os.environ.get(INSIDE)
    if engine is not None:
        make(engine, names)
        return
    for engine in dict.fromkeys(make_tables_kit.MAKERS[name][0] for name in names):
        mine = [name for name in names if make_tables_kit.MAKERS[name][0] == engine]
        if engine == make_tables_arrow.ENGINE:
            make(engine, mine)
        else:
            spawn(engine, mine)


if __name__ == "__main__":
    run_without_parser(main)
