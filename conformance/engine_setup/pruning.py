"""Remove unused files of engines: environments of older locks, and older builds."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import attrs

from conformance.engine_setup.built import engine_build
from conformance.engine_setup.catalog import catalog, lock_names
from conformance.engine_setup.environments import engines_directory, environment, file_lock
from conformance.engine_setup.java import classes_path

ENVIRONMENT_NAME = re.compile(r".+-[0-9a-f]{16}")
"""The names of environments and builds: a name, and the hash of their sources."""


@attrs.frozen
class Unused:
    """An environment or build that this version of the tool does not use."""

    path: Path
    size: int
    """The size on disk in bytes."""


def prune(*, dry_run: bool = False) -> list[Unused]:
    """Remove environments and builds whose lock file, sources or version of Python this installation does not use.

    Args:
        dry_run: only list them.
    """
    used = {environment(lock).path for lock in lock_names()}
    used |= {engine_build(engine).path for engine in catalog().engines if engine.sources}
    used |= {classes_path(engine) for engine in catalog().engines if engine.classes and engine.lock}
    used |= {engine_build(server).path for server in catalog().servers if server.toolchain}
    gone = []
    for root in (engines_directory() / "engines", engines_directory() / "built"):
        for path in sorted(root.iterdir()) if root.is_dir() else []:
            if path in used or not path.is_dir() or not ENVIRONMENT_NAME.fullmatch(path.name):
                continue
            gone.append(Unused(path, sum(file.lstat().st_size for file in path.rglob("*") if not file.is_dir())))
            if not dry_run:
                with file_lock(path.with_suffix(".lock")):
                    shutil.rmtree(path)
    return gone
