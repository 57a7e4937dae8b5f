"""The files of a write. Each is new, is on the disk when it is closed, and is deleted if the write fails."""

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
MAX_ATTEMPTS = 10
"""The maximum number of times that a directory is created again after another writer removed it as empty."""


class OrphansLeft(NotExamined):
    """A write failed, and some of its files could not be deleted; the cause of this error is the error of the write."""

    def __init__(self, locations: tuple[str, ...]) -> None:
        super().__init__(
            f"the write failed, and {len(locations)} of its files could not be deleted: {', '.join(locations[:5])}"
        )
        self.locations = locations
        """The files, none of which is part of the table."""

    def __reduce__(self) -> tuple[type, tuple[tuple[str, ...]]]:
        return type(self), (self.locations,)


class NewFiles:
    """The files that a write has created so far; threads may share it."""

    def __init__(self) -> None:
        self.locations: list[str] = []
        self._directories: list[str] = []

    def open(self, location: str) -> pa.NativeFile:
        """Create a file and open it for writing.

        Raises:
            FileAccessError: a file with that name exists, or it cannot be created.
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
        """Create an empty file, unless it exists, and the directories above it."""
        directory = os.path.dirname(path)
        for tries in range(MAX_ATTEMPTS):
            self._make_directory(directory)
            try:
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
                return
            except FileNotFoundError:
                if tries == MAX_ATTEMPTS - 1:
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

    def remove(self, keep: Iterable[str] = ()) -> tuple[str, ...]:
        """Delete the files, and empty directories that were created for them.

        Args:
            keep: files that stay.

        Returns:
            The files that could not be deleted.
        """
        kept = set(keep)
        left = delete_existing_files(location for location in self.locations if location not in kept)
        for directory in reversed(self._directories):
            with suppress(OSError):  # the directory has other files
                os.rmdir(directory)
        return left


def sync_file(location: str) -> None:
    """Sync a closed local file to the disk, so that no table names a file that a loss of power removes."""
    if split_location(location).scheme == "file":
        descriptor = os.open(split_location(location).path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def delete_existing_files(locations: Iterable[str]) -> tuple[str, ...]:
    """Delete files that exist; return those that could not be deleted."""
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
    """Delete local directories, and their parents up to a root, if they are empty."""
    for location in sorted(locations, key=len, reverse=True):
        if split_location(location).scheme == "file":
            place, end = split_location(location).path, split_location(root).path
            with suppress(OSError):  # the directory has other files
                while place.startswith(end):
                    os.rmdir(place)
                    place = os.path.dirname(place)


@contextmanager
def remove_on_failure(files: NewFiles) -> Iterator[None]:
    """Delete the files of a write if the ``with`` statement fails, whatever the reason.

    Raises:
        OrphansLeft: some files could not be deleted; the cause of this error is the error of the write.
    """
    try:
        yield
    except BaseException as error:
        left = files.remove()
        if left and isinstance(error, Exception):
            raise OrphansLeft(left) from error
        raise


def files_below(location: str) -> Iterator[Any]:
    """Yield the files in a directory and its subdirectories; none if it does not exist.

    Yields:
        The location and name of each file.
    """
    system, path = file_system(location)
    selector = fs.FileSelector(path, recursive=True, allow_not_found=True)
    for info in system.get_file_info(selector):
        if info.type is fs.FileType.File:
            yield location.rstrip("/") + info.path[len(path.rstrip("/")) :], info.base_name
