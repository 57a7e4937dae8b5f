"""Access to files by the URIs in tables (Paths in Metadata; File System Operations).

Locations are used literally: nothing is percent-decoded, and ``?`` and ``#`` are characters of names, because engines
write partition values into paths that way. Object stores are those of ``pyarrow.fs``; credentials and endpoints come
from the environment variables that each store's usual tools read. pyarrow is loaded only for random access and for
files on stores: whole local files are read, listed and written without it.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import attrs

from conformance.core.drives import has_drive, local_uri_path
from conformance.core.failures import NotExamined
from conformance.core.lazy_imports import lazy_imports
from conformance.table_io.object_stores import (
    STORES,
    open_file_system,
    open_s3,
    s3_endpoint,
    s3_region,
    store_settings,
    store_timeout,
)
from conformance.table_io.s3_requests import S3Object, TooLarge, can_read, open_bucket

with lazy_imports():
    import pyarrow as pa
    from pyarrow import fs


if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import fs

MAX_FILE_BYTES = 1 << 31
"""The largest file that `read_bytes` reads by default; data files are opened, not read whole."""

LOCAL_FILES, REFUSE = "ICEBERG_CONFORMANCE_LOCAL_FILES", "refuse"
"""The environment variable, and its value, that forbid reading local files (`conformance.table_io.trust`)."""

_SCHEME = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):(?=/)")


class FileAccessError(NotExamined):
    """A file or directory that could not be read, and why; ``location`` is its URI."""

    def __init__(self, location: str, message: str) -> None:
        super().__init__(f"{location}: {message}")
        self.location = location
        self.reason = message

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        return type(self), (self.location, self.reason)


class FileMissing(FileAccessError):
    """The file does not exist."""


class FileForbidden(FileAccessError):
    """The store denies access to the file with these credentials."""


class UnusableFile(FileAccessError):
    """A directory, a pipe, a device, a symbolic link to itself, or a file that is too large to be read."""


class UnknownScheme(FileAccessError):
    """No supported file system has the scheme of the URI."""


@attrs.frozen
class StoreLocation:
    """A location, split into its file system and the path there."""

    scheme: str
    """The scheme in lower case; ``file`` if the location has none."""

    authority: str
    """The host, bucket or container and account; empty for local files."""

    path: str
    """The path for the file system: local paths start with a slash, those of object stores with the bucket."""


@attrs.frozen
class ListedFile:
    """One file of a directory."""

    location: str
    name: str
    size: int


def split_location(location: str) -> StoreLocation:
    """Split a location: a plain path, ``file:/p``, ``file:///p``, ``s3://bucket/key`` and so on.

    Raises:
        UnknownScheme: no file system has the scheme.
    """
    match = _SCHEME.match(location)
    if match is None or has_drive(location):
        return StoreLocation("file", "", os.path.abspath(location))
    scheme = match["scheme"].lower()
    rest = location[match.end() :]
    if scheme == "file":
        path = rest[2:] if rest.startswith("//") else rest
        host, slash, below = path.partition("/")
        if host not in ("", "localhost") or not slash:
            raise UnknownScheme(location, f"the file is on the host {host!r}; only local files have the scheme file")
        return StoreLocation("file", "", local_uri_path("/" + below.lstrip("/")))
    if scheme not in STORES:
        known = ", ".join(sorted(["file", *STORES]))
        raise UnknownScheme(location, f"no file system serves the scheme {scheme!r}; supported are {known}")
    authority, _, key = rest[2:].partition("/") if rest.startswith("//") else ("", "/", rest)
    if scheme == "hdfs":
        return StoreLocation("hdfs", authority, "/" + key.lstrip("/"))
    if not authority:
        raise FileMissing(location, "the URI names no bucket")
    return StoreLocation(scheme, authority, f"{authority.partition('@')[0]}/{key}")


def file_system(location: str) -> tuple[fs.FileSystem, str]:
    """Return the file system of a location, and the path there.

    Raises:
        FileAccessError: no file system has the scheme, or the store cannot be reached.
    """
    path = _local_path(location)
    if path is not None:
        return _local(), path
    place = split_location(location)
    with convert_store_errors(location):
        return open_file_system(place.scheme, place.authority, store_settings()), place.path


def has_opened_store() -> bool:
    """Return whether this process has tried to open a store, to which it may have connections."""
    return any(opened.cache_info().misses for opened in (open_file_system, open_bucket))


def _local_path(location: str) -> str | None:
    """Return the path of a local file; None for a file on a store.

    Raises:
        UnknownScheme: no file system has the scheme.
        FileForbidden: the file is local, and reading local files is forbidden.
    """
    place = split_location(location)
    if place.scheme != "file":
        return None
    if os.environ.get(LOCAL_FILES) == REFUSE:
        raise FileForbidden(location, "a table on a store names a file of this machine (see --allow-local-files)")
    return place.path


def open_input(location: str) -> pa.NativeFile:
    """Open a file for random access.

    Raises:
        FileAccessError: it does not exist, cannot be read, or is not a file.
    """
    system, path = file_system(location)
    with convert_store_errors(location):
        if system is _local():
            _refuse_endless(location, path)
        return system.open_input_file(path)


def _refuse_endless(location: str, path: str) -> None:
    """Refuse a local path of a pipe or a device, as reading from it may never end."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):  # opening the file reports the error
        return
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise UnusableFile(location, "this is not a file but a pipe or a device")


def read_bytes(location: str, *, limit: int = MAX_FILE_BYTES) -> bytes:
    """Read a whole file.

    Raises:
        FileAccessError: it cannot be read, or has more than ``limit`` bytes.
    """
    path = _local_path(location)
    if path is None:
        direct = s3_object(location)
        if direct is not None:
            with convert_store_errors(location):
                try:
                    return direct.read_all(limit)
                except TooLarge as error:
                    raise _too_large(location, error.size, limit) from None
        with open_input(location) as file, convert_store_errors(location):
            return _whole(location, file, file.size(), limit)
    with _local_errors(location):
        _refuse_endless(location, path)
        size = os.path.getsize(path)
        with open(path, "rb") as local:
            return _whole(location, local, size, limit)


def _whole(location: str, file: Any, size: int, limit: int) -> bytes:
    if size > limit:
        raise _too_large(location, size, limit)
    data: bytes = file.read(size)
    if len(data) != size:
        raise short_read_error(location, len(data), size)
    return data


def _too_large(location: str, size: int, limit: int) -> FileAccessError:
    return UnusableFile(location, f"the file has {size} bytes; at most {limit} are read at once")


def short_read_error(location: str, received: int, requested: int) -> FileAccessError:
    """Make the error for a read that returned too few bytes, which does not mean that the file is damaged."""
    return FileAccessError(location, f"it cannot be read: expected {requested} bytes, and got {received}")


def find_store_failure(error: BaseException) -> str | None:
    """Return the message of a store's failure that caused an error, if any: then the file need not be damaged."""
    cause: BaseException | None = error
    while cause is not None:
        words = " ".join(str(cause).split())
        if isinstance(cause, OSError) and any(sign in words for sign in _STORE_WORDS):
            return words
        cause = cause.__cause__
    return None


def file_size(location: str) -> int:
    """Return the size of a file in bytes.

    Raises:
        FileAccessError: the file does not exist, or access is denied.
    """
    system, path = file_system(location)
    with convert_store_errors(location):
        info = system.get_file_info(path)
    if info.type is fs.FileType.NotFound:
        raise FileMissing(location, "there is no such file")
    if info.type is not fs.FileType.File:
        raise FileAccessError(location, "this is not a file")
    return int(info.size)


def is_directory(location: str) -> bool:
    """Return whether a directory exists, or in an object store any key below the location.

    Raises:
        FileAccessError: the store cannot be reached.
    """
    path = _local_path(location)
    if path is not None:
        with _local_errors(location):
            return os.path.isdir(path)
    system, key = file_system(location)
    with convert_store_errors(location):
        return bool(system.get_file_info(key).type is fs.FileType.Directory)


def list_files(location: str) -> tuple[ListedFile, ...]:
    """List the files in a directory by name, without those in subdirectories.

    Raises:
        FileAccessError: the directory does not exist, or cannot be listed.
    """
    base = location.rstrip("/")
    path = _local_path(location)
    if path is not None:
        with _local_errors(location), os.scandir(path) as entries:
            inside = [(entry.name, entry.stat().st_size) for entry in entries if _is_file(entry)]
        return tuple(ListedFile(f"{base}/{name}", name, size) for name, size in sorted(inside))
    system, key = file_system(location)
    with convert_store_errors(location):
        found = system.get_file_info(fs.FileSelector(key))
    files = (ListedFile(f"{base}/{i.base_name}", i.base_name, i.size) for i in found if i.type is fs.FileType.File)
    return tuple(sorted(files, key=lambda file: file.name))


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:  # a link that leads to itself, or to where this process may not look
        return False


def write_bytes(location: str, data: bytes) -> None:
    """Write a whole file, and create the directories above it; an existing file is replaced.

    Raises:
        FileAccessError: the file cannot be written.
    """
    path = _local_path(location)
    if path is not None:
        with _local_errors(location):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(data)
        return
    system, key = file_system(location)
    with convert_store_errors(location), system.open_output_stream(key) as out:
        out.write(data)


@contextmanager
def _local_errors(location: str) -> Iterator[None]:
    """Convert Python's errors about a local file to `FileAccessError`."""
    try:
        yield
    except (OSError, ValueError) as error:  # ValueError: the name has a character that names cannot have
        known = _plain_failure(location, error)
        words = " ".join(str(error).split())
        raise known or FileAccessError(location, f"it cannot be read: {words}") from error


def _plain_failure(location: str, error: BaseException) -> FileAccessError | None:
    """Convert an error whose type determines the result; None for other errors."""
    match error:
        case FileNotFoundError():
            return FileMissing(location, "there is no such file or directory")
        case PermissionError():
            return FileForbidden(location, "reading it is not permitted")
        case IsADirectoryError():
            return UnusableFile(location, "this is a directory")
        case OSError(errno=errno.ELOOP):
            return UnusableFile(location, "this is a symbolic link that leads to itself")
        case UnicodeEncodeError():
            return FileMissing(location.encode(errors="replace").decode(), "the name is not text")
        case _:
            return None


@contextmanager
def convert_store_errors(location: str) -> Iterator[None]:
    """Convert errors of pyarrow's file systems to `FileAccessError`; only their messages name missing permissions."""
    try:
        yield
    except FileAccessError:
        raise
    except (OSError, UnicodeEncodeError, pa.ArrowException) as error:
        known = _plain_failure(location, error)
        if known is not None:
            raise known from error
        words = " ".join(str(error).split())
        if any(sign in words for sign in _MISSING_WORDS):
            raise FileMissing(location, f"there is no such file or bucket: {words}") from error
        if any(sign in words for sign in _FORBIDDEN_WORDS):
            raise FileForbidden(location, f"access is denied: {words}") from error
        raise FileAccessError(location, f"it cannot be read: {words}") from error


_STORE_WORDS = ("AWS Error", "curlCode", "google::cloud", "Azure")
_MISSING_WORDS = ("NO_SUCH_BUCKET", "NO_SUCH_KEY", "RESOURCE_NOT_FOUND", "HTTP status 404", "404 Not Found")
_FORBIDDEN_WORDS = (
    "ACCESS_DENIED",
    "INVALID_ACCESS_KEY_ID",
    "SIGNATURE_DOES_NOT_MATCH",
    "UNRECOGNIZED_CLIENT",
    "EXPIRED_TOKEN",
    "HTTP status 401",
    "HTTP status 403",
    "401 Unauthorized",
    "403 Forbidden",
    "AuthenticationFailed",
    "AuthorizationFailure",
    "PERMISSION_DENIED",
)


@lru_cache(maxsize=1)
def _local() -> fs.LocalFileSystem:
    return fs.LocalFileSystem()


def s3_object(location: str) -> S3Object | None:
    """Return direct access to an object on S3, which gets a range and the size of the object by one request.

    Return None if the environment has no keys: pyarrow finds other credentials, and reads with them.

    Raises:
        FileAccessError: no file system has the scheme, or the region of the bucket cannot be found.
    """
    place = split_location(location)
    if STORES.get(place.scheme) is not open_s3:
        return None
    given = store_settings()
    bucket, key, settings = place.authority, place.path.partition("/")[2], dict(given)
    has_keys = settings.get("AWS_ACCESS_KEY_ID") and settings.get("AWS_SECRET_ACCESS_KEY")
    if not has_keys or not _PLAIN_BUCKET.fullmatch(bucket) or not can_read(key):
        return None
    with convert_store_errors(location):
        endpoint, region = s3_endpoint(settings), s3_region(bucket, settings)
        if not endpoint and (region is None or region.startswith(_OTHER_DOMAINS)):
            return None
        opened = open_bucket(bucket, endpoint, region or "us-east-1", store_timeout(), given)
        return S3Object(opened, key)


_OTHER_DOMAINS = ("cn-", "us-iso", "eu-iso")
"""The prefixes of regions whose stores are not below amazonaws.com."""

_PLAIN_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
