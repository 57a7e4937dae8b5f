"""Files of the local file system, by path or ``file:`` URI."""

from __future__ import annotations

import os
import uuid
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote, urlsplit


def local_path(location: str) -> Path:
    """Return the path of a local file.

    Raises:
        ValueError: the location is not local.
    """
    if location.startswith("/"):
        return Path(location)
    parts = urlsplit(location)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        message = f"{location} is not a local file"
        raise ValueError(message)
    return Path(unquote(parts.path))


class LocalFiles:
    """Reads, writes and deletes local files."""

    def read(self, path: str) -> bytes | None:
        """Return the content of a file; None if it does not exist."""
        try:
            return local_path(path).read_bytes()
        except FileNotFoundError:
            return None

    def write(self, path: str, data: bytes) -> None:
        """Write a file under a temporary name, and rename it, so that readers always see the whole file.

        The file is on the disk when this returns, so that no pointer can name a file that a loss of power removes.
        """
        target = local_path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(f".{target.name}.{uuid.uuid4().hex}.part")
        try:
            with part.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            part.replace(target)
        except BaseException:
            with suppress(OSError):
                part.unlink()
            raise
        _settle(target.parent)

    def delete(self, path: str) -> None:
        """Delete a file, if it exists."""
        local_path(path).unlink(missing_ok=True)

    def create(self, source: str, target: str) -> bool:
        """Give a file a second name, atomically, and unlike a rename only if no file has that name.

        Returns:
            Whether the file got the name.
        """
        old = local_path(source)
        try:
            os.link(old, local_path(target))
        except FileExistsError:
            return False
        with suppress(OSError):
            old.unlink()
        _settle(local_path(target).parent)
        return True


def _settle(folder: Path) -> None:
    """Write the names in a folder to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
