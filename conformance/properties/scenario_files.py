"""Files of scripts for which a property does not hold, to be tried again, and of those for which it does."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from conformance.core.failures import UsageError
from conformance.core.json_text import parse_json
from conformance.core.json_types import Json
from conformance.properties.searching import Failure, digest
from conformance.scripts import ScriptError, parse_script
from conformance.scripts.model import check_script


def write_scenario(failure: Failure, keep: Path | None) -> Path:
    """Write the script of a failure to a file.

    Args:
        failure: what was found.
        keep: the folder; a new temporary one where None.

    Returns:
        The file.
    """
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="iceberg-scenario-", dir=keep))
    content = {"kind": failure.kind, "reason": failure.reason, "script": failure.example}
    (folder / "scenario.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return folder / "scenario.json"


def read_scenario(file: Path) -> Json:
    """The script of a file: what `write_scenario` wrote, or a script alone.

    Raises:
        UsageError: the file cannot be read, or has no script that makes sense.
    """
    try:
        content = parse_json(file.read_bytes())
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{file}: not a script: {error}") from None
    script = content["script"] if isinstance(content, dict) and "script" in content else content
    try:
        parse_script(script)
        check_script(script)
    except ScriptError as error:
        raise UsageError(f"{file}: not a script: {error}") from None
    return script


class PassedScripts:
    """The scripts that passed, in a file that several runs share, at the same time too.

    Each has a line: its digest, and how many of its operations were done, or refused as they have to be.
    """

    def __init__(self, file: int) -> None:
        """Take a file that is open for reading and appending; see `open_passed`."""
        self._file = file
        self._read = 0
        self._partial = b""
        self.operations: dict[str, int] = {}
        """By digest."""

    def refresh(self) -> None:
        """Read what other runs wrote since it was read the last time."""
        while data := os.pread(self._file, 1 << 20, self._read):
            self._read += len(data)
            *lines, self._partial = (self._partial + data).split(b"\n")
            for line in lines:
                name, _, count = line.decode("ascii").partition(" ")
                self.operations[name] = int(count)

    @property
    def is_whole(self) -> bool:
        """Whether what was read ends with a line."""
        return not self._partial

    def __contains__(self, script: Json) -> bool:
        self.refresh()
        return digest(script) in self.operations

    def add(self, script: Json, operations: int) -> None:
        """Add a script of which so many operations were done."""
        os.write(self._file, f"{digest(script)} {operations}\n".encode("ascii"))


@contextmanager
def open_passed(file: Path) -> Iterator[PassedScripts]:
    """Open a file of scripts that passed, and make it where there is none.

    Raises:
        UsageError: it cannot be opened, or is not such a file.
    """
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
    except OSError as error:
        raise UsageError(f"{file}: cannot be opened: {error.strerror}") from None
    try:
        passed = PassedScripts(descriptor)
        try:
            passed.refresh()
        except ValueError:
            raise UsageError(f"{file}: not a file of scripts that passed") from None
        if not passed.is_whole:
            raise UsageError(f"{file}: not a file of scripts that passed, or its last line is not whole")
        yield passed
    finally:
        os.close(descriptor)
