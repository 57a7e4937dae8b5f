"""Files that a write makes: each is new, is on the disk when it is closed, and is taken back when the write fails."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pyarrow as pa
from pyarrow import fs

from conformance.core.failures import NotExamined
from conformance.table_io.file_access import FileAccessError, file_system, split_location

BUFFER_BYTES = 1 << 20
TRIES = 10
"""How often a directory is made again that another writer has taken away because it was empty."""


class OrphansLeft(NotExamined):
    """A write failed, as the cause of this error tells, and files of it could not be deleted again."""

    def __init__(self, locations: tuple[str, ...]) -> None:
        super().__init__(
            f"the write failed, and {len(locations)} of its files could not be deleted: {', '.join(locations[:5])}"
        )
        self.locations = locations
        """The files, of which the table has none."""

    def __reduce__(self) -> tuple[type, tuple[tuple[str, ...]]]:
        return type(self), (self.locations,)


class NewFiles:
    """The files that a write has made so far; threads may share it."""

    def __init__(self) -> None:
        self.locations: list[str] = []
        self._directories: list[str] = []

    def open(self, location: str) -> pa.NativeFile:
        """A new file, opened for writing.

        Raises:
            FileAccessError: there is a file of that name already, or none may be made.
        """
        try:
            system, path = file_system(location)
            local = isinstance(system, fs.LocalFileSystem)
            if local:
                self._make(path)
            self.locations.append(location)
            return system.open_output_stream(path, buffer_size=BUFFER_BYTES)
        except FileExistsError as error:
            raise FileAccessError(location, "there is a file of that name, which is not replaced") from error
        except OSError as error:
            raise FileAccessError(location, f"it cannot be written: {error}") from error

    def _make(self, path: str) -> None:
        """Make an empty file where there is none, and the directories above it."""
        directory = os.path.dirname(path)
        for tries in range(TRIES):
            self._make_directory(directory)
            try:
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
                return
            except FileNotFoundError:
                if tries == TRIES - 1:
                    raise

    def _make_directory(self, directory: str) -> None:
        missing = []
        above = directory
        while not os.path.isdir(above):
            missing.append(above)
            above = os.path.dirname(above)
        for one in reversed(missing):
            with suppress(FileExistsError):
                os.mkdir(one)
                self._directories.append(one)

    def remove(self, kept: Iterable[str] = ()) -> tuple[str, ...]:
        """Delete the files again, and the directories that were made for them and are empty.

        Args:
            kept: files that stay.

        Returns:
            Those that could not be deleted.
        """
        keep = set(kept)
        left = remove_files(location for location in self.locations if location not in keep)
        for directory in reversed(self._directories):
            with suppress(OSError):  # others have files in it
                os.rmdir(directory)
        return left


def settle(location: str) -> None:
    """Have a local file that was closed on the disk, so that no table that survives a loss of power has lost it."""
    if split_location(location).scheme == "file":
        descriptor = os.open(split_location(location).path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def remove_files(locations: Iterable[str]) -> tuple[str, ...]:
    """Delete files, if they are there; those that could not be deleted."""
    left = []
    for location in locations:
        try:
            system, path = file_system(location)
            system.delete_file(path)
        except FileNotFoundError:
            continue
        except (OSError, FileAccessError, pa.ArrowException):
            left.append(location)
    return tuple(left)


def remove_directories(locations: Iterable[str], root: str) -> None:
    """Delete local directories, and those around them up to a root, as far as they are empty."""
    for location in sorted(locations, key=len, reverse=True):
        if split_location(location).scheme == "file":
            place, end = split_location(location).path, split_location(root).path
            with suppress(OSError):  # others have files in it
                while place.startswith(end):
                    os.rmdir(place)
                    place = os.path.dirname(place)


@contextmanager
def taken_back(files: NewFiles) -> Iterator[None]:
    """Delete the files of a write that fails inside, whatever ends it.

    Raises:
        OrphansLeft: some could not be deleted; what ended the write is its cause.
    """
    try:
        yield
    except BaseException as error:
        left = files.remove()
        if left and isinstance(error, Exception):
            raise OrphansLeft(left) from error
        raise


def files_below(location: str) -> Iterator[Any]:
    """The files in a directory and those below it; none where there is no such directory.

    Yields:
        Location and name of each.
    """
    system, path = file_system(location)
    selector = fs.FileSelector(path, recursive=True, allow_not_found=True)
    for info in system.get_file_info(selector):
        if info.type is fs.FileType.File:
            yield location.rstrip("/") + info.path[len(path.rstrip("/")) :], info.base_name
