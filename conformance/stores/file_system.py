"""File-system tables on a local file system (File System Tables)."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager

from conformance.stores.local_files import LocalFiles, local_path
from conformance.stores.turns import turn
from spec_ref.commits import FileSystemTable
from spec_ref.commits.effects import Swap
from spec_ref.commits.tables import next_version, version_of
from spec_ref.table_metadata.files import file_system_name

HINT = "version-hint.text"
VERSION = re.compile(r"v([0-9]{1,18})(?:\.gz)?\.metadata\.json(?:\.gz)?")


class FileSystemStore(LocalFiles):
    """A table that is found by its directory.

    Args:
        location: the directory of the table.
    """

    table = FileSystemTable()

    def __init__(self, location: str) -> None:
        self.location = location.rstrip("/")
        self.directory = f"{self.location}/metadata"

    def read_pointer(self) -> str | None:
        """The metadata file of the highest version, looked for from the one of the hint upward."""
        version = self._hinted()
        found = None if version is None else self._file_of(version)
        if found is None:
            version = max(self._versions(), default=None)
            found = None if version is None else self._file_of(version)
        while found is not None and version is not None:
            later = self._file_of(version + 1)
            if later is None:
                break
            version, found = version + 1, later
        return found

    def _hinted(self) -> int | None:
        text = (self.read(f"{self.directory}/{HINT}") or b"").strip()
        return int(text) if text.isdigit() and len(text) < 19 else None

    def _file_of(self, version: int) -> str | None:
        for compressed in (False, True):
            name = file_system_name(version, compressed=compressed)
            if (local_path(self.directory) / name).exists():
                return f"{self.directory}/{name}"
        return None

    def _versions(self) -> list[int]:
        try:
            names = [path.name for path in local_path(self.directory).iterdir()]
        except FileNotFoundError:
            return []
        return [int(match[1]) for match in map(VERSION.fullmatch, names) if match]

    def swap_pointer(self, expected: str | None, new: str) -> Swap:
        """Name the new file as the next version, if there is none; the hint follows."""
        target = next_version(expected, new)
        version = version_of(target)
        if self._file_of(version) is not None or not self.create(new, target):
            return Swap.REFUSED
        self.write(f"{self.directory}/{HINT}", str(version).encode())
        return Swap.DONE

    def close(self) -> None:
        """There is nothing to let go of."""

    def turn(self) -> AbstractContextManager[object]:
        """A turn among the processes of this machine."""
        return turn(self.location)
