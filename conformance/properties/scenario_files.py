"""Files of scripts that failed, for a replay, and of scripts that passed."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from conformance.core.failures import UsageError
from conformance.core.json_text import parse_json
from conformance.properties.searching import FailingExample, digest
from conformance.scripts import ScriptError, parse_script
from conformance.scripts.model import check_script
from spec_ref.core.json_types import Json


def write_scenario(failure: FailingExample, keep: Path | None) -> Path:
    """Write the script of a failure to a file.

    Args:
        failure: the failure.
        keep: the folder; None for a new temporary one.

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
    """Read the script of a file that `write_scenario` wrote, or that contains just a script.

    Raises:
        UsageError: the file cannot be read, or its script is not valid.
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
    """The scripts that passed, in a file that several runs can share, even at the same time.

    Each has a line: its digest, and how many of its operations were done, or refused as they must be.
    """

    def __init__(self, file: int) -> None:
        """Wrap a file that is open for reading and appending; see `open_passed`."""
        self._file = file
        self._read = 0
        self._partial = b""
        self.operations: dict[str, int] = {}
        """The number of operations of each script, by digest."""

    def refresh(self) -> None:
        """Read the lines that other runs added since the last call."""
        while data := os.pread(self._file, 1 << 20, self._read):
            self._read += len(data)
            *lines, self._partial = (self._partial + data).split(b"\n")
            for line in lines:
                name, _, count = line.decode("ascii").partition(" ")
                self.operations[name] = int(count)

    @property
    def is_whole(self) -> bool:
        """Return whether the last line that was read is complete."""
        return not self._partial

    def __contains__(self, script: Json) -> bool:
        self.refresh()
        return digest(script) in self.operations

    def add(self, script: Json, operations: int) -> None:
        """Add a script, and the number of its operations that were done."""
        os.write(self._file, f"{digest(script)} {operations}\n".encode("ascii"))


@contextmanager
def open_passed(file: Path) -> Iterator[PassedScripts]:
    """Open a file of scripts that passed; create it if it does not exist.

    Raises:
        UsageError: it cannot be opened, or is not such a file.
    """
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from None
    try:
        passed = PassedScripts(descriptor)
        try:
            passed.refresh()
        except ValueError:
            raise UsageError(f"{file}: not a file of scripts that passed") from None
        if not passed.is_whole:
            raise UsageError(f"{file}: not a file of scripts that passed, or its last line is incomplete")
        yield passed
    finally:
        os.close(descriptor)
