"""Output files that options of the command line name."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import IO, TypeAlias

from conformance.core.failures import UsageError

NamedFile: TypeAlias = tuple[str, Path | None]
"""An option or argument of the command line, for messages, and the file that it names, if any."""


def check_distinct_files(outputs: Iterable[NamedFile], inputs: Iterable[NamedFile]) -> None:
    """Check that no output replaces another output or an input. Devices and pipes may be named more than once.

    Args:
        outputs: the files that the command writes.
        inputs: the files that it reads.

    Raises:
        UsageError: an output is the same file as another output or an input; the message names both.
    """
    seen = {os.path.realpath(path): option for option, path in inputs if path is not None}
    for option, path in outputs:
        if path is None or (path.exists() and not path.is_file()):
            continue
        place = os.path.realpath(path)
        if place in seen:
            raise UsageError(f"{seen[place]} and {option} name the same file: {path}")
        seen[place] = option


def prepare_output(option: str, path: Path) -> None:
    """Check that a file can be written, before a long run starts. The content of the file is kept.

    Missing folders are created, which is reported on standard error. A named pipe is not opened, as its reader would
    see the end of the output.

    Args:
        option: the option of the command line that names the file, for the message.
        path: the file.

    Raises:
        UsageError: the file cannot be written; the message says why.
    """
    if path.is_fifo():
        return
    there = path.exists()
    with open_output(option, path, "a"):
        pass
    if not there:
        path.unlink(missing_ok=True)


def write_output(option: str, path: Path, text: str) -> None:
    """Write a file that an option names; arguments and errors as for `prepare_output`."""
    try:
        with open_output(option, path, "w") as file:
            file.write(text)
    except OSError as error:
        raise _cannot(option, path, error) from None


def open_output(option: str, path: Path, mode: str) -> IO[str]:
    """Open a file that an option names, line-buffered, so that a run that is killed leaves the lines that it wrote.

    Raises:
        UsageError: the file cannot be written; the message says why.
    """
    try:
        if not path.parent.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            print(f"iceberg-conformance: {option}: created the folder {path.parent}", file=sys.stderr)
        return path.open(mode, encoding="utf-8", errors="backslashreplace", buffering=1)
    except OSError as error:
        raise _cannot(option, path, error) from None


def _cannot(option: str, path: Path, error: OSError) -> UsageError:
    return UsageError(f"{option} {path}: cannot be written: {error.strerror}")
