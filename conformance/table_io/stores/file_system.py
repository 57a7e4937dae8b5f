"""File-system tables on a local file system (File System Tables)."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager, suppress

from conformance.table_io.stores.file_lock import hold_file_lock
from conformance.table_io.stores.local_files import LocalFiles, local_path
from spec_ref.commits import FileSystemTable
from spec_ref.commits.effects import SwapResult
from spec_ref.commits.tables import metadata_version, next_version
from spec_ref.table_metadata.files import file_system_name

HINT = "version-hint.text"
VERSION = re.compile(r"v([0-9]{1,18})(?:\.gz)?\.metadata\.json(?:\.gz)?")


class FileSystemStore(LocalFiles):
    """A table that is identified by its directory.

    Args:
        location: the directory of the table.
    """

    table = FileSystemTable()

    def __init__(self, location: str) -> None:
        self.location = location.rstrip("/")
        self.directory = f"{self.location}/metadata"

    def read_pointer(self) -> str | None:
        """Return the metadata file of the highest version.

        The hint is written for other readers, and not used here: it may lag behind, and the versions between it and the
        newest one may have been deleted as old metadata.
        """
        version = self._highest()
        return None if version == 0 else self._find_file(version)

    def _find_file(self, version: int) -> str | None:
        for compressed in (False, True):
            name = file_system_name(version, compressed=compressed)
            if (local_path(self.directory) / name).exists():
                return f"{self.directory}/{name}"
        return None

    def _highest(self) -> int:
        """Return the number of the newest version; 0 if there is none."""
        try:
            names = [path.name for path in local_path(self.directory).iterdir()]
        except FileNotFoundError:
            return 0
        return max((int(match[1]) for match in map(VERSION.fullmatch, names) if match), default=0)

    def swap_pointer(self, expected: str | None, new: str) -> SwapResult:
        """Rename the new file to the next version, unless that exists; then update the hint.

        If a table deletes old metadata, the name of an old version may be free again. Therefore the newest version is
        checked first. A name could then be free by mistake only if all versions of the metadata log were replaced
        between this check and the renaming.
        """
        target = next_version(expected, new)
        version = metadata_version(target)
        if self._highest() != version - 1:
            return SwapResult.REFUSED
        if self._find_file(version) is not None or not self.create(new, target):
            return SwapResult.REFUSED
        with suppress(OSError):  # the swap is done, and readers search upward from a hint that is too low
            self.write(f"{self.directory}/{HINT}", str(version).encode())
        return SwapResult.DONE

    def close(self) -> None:
        """Do nothing, as there are no connections."""

    def commit_lock(self) -> AbstractContextManager[object]:
        """Return a lock between the processes of this machine."""
        return hold_file_lock(self.location)
