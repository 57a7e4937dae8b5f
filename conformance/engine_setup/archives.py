"""Unpack some folders of an archive, without writing anything outside of the given directories.

The archives of servers share files among their plugins by hard links, so that a file of one folder may have its
contents in another, which is not unpacked. A link is therefore replaced by the contents of the file that it leads to.
The SHA-256 of an archive is checked first; the checks here protect against a lock file that pins a malicious archive.
"""

from __future__ import annotations

import re
import shutil
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath


class ArchiveError(Exception):
    """An archive cannot be unpacked; the message names the member and what is wrong."""


_FOREIGN = re.compile(r"[\\:\x00-\x1f]")
"""Characters that separate or end paths on some systems; the name of a member must not contain them."""


def unpack_folders(archive: Path, folders: Mapping[Path, str]) -> None:
    """Write the files of some folders of a compressed tar archive; their subfolders are left out.

    Args:
        archive: the archive, compressed by gzip.
        folders: for each directory to write, which must not exist, the folder in the archive.

    Raises:
        ArchiveError: the archive is damaged; any member, wanted or not, is neither a file, a directory nor a hard link
            to a file before it, or has a name that is absolute, not unique or leads upwards; or a folder has no files.
            What was written then must not be used.
    """
    try:
        contents = _resolve_links(archive)
        wanted: dict[str, list[Path]] = {}
        for directory, folder in folders.items():
            names = [name for name in contents if str(PurePosixPath(name).parent) == folder]
            if not names:
                raise ArchiveError(f"there are no files in its folder {folder!r}")
            directory.mkdir(parents=True)
            for name in names:
                wanted.setdefault(contents[name], []).append(directory / PurePosixPath(name).name)
        _write_files(archive, wanted)
    except (tarfile.TarError, EOFError, ValueError, OverflowError) as error:
        raise ArchiveError(f"it is damaged: {error or type(error).__name__}") from error
    except OSError as error:  # damaged data, by gzip or zlib; or the disk is full, as the message says
        raise ArchiveError(f"it cannot be unpacked: {error}") from error


def _resolve_links(archive: Path) -> dict[str, str]:
    """Return the names of all files, each with the name of the member that has its contents."""
    contents: dict[str, str] = {}
    directories = set()
    for _, member in _members(archive):
        name = _checked_name(member.name)
        if name in contents or (name in directories and not member.isdir()):
            raise ArchiveError(f"its member {name!r} occurs twice")
        if member.isdir():
            directories.add(name)
        elif member.isreg():
            contents[name] = name
        elif member.islnk():
            target = _checked_name(member.linkname)
            if target not in contents:
                raise ArchiveError(f"its member {name!r} is a link to {target!r}, which is not a file before it")
            contents[name] = contents[target]
        else:
            raise ArchiveError(f"its member {name!r} is neither a file, a directory nor a hard link")
    return contents


def _write_files(archive: Path, wanted: Mapping[str, list[Path]]) -> None:
    for opened, member in _members(archive):
        paths = wanted.get(_checked_name(member.name), [])
        if not paths or not member.isreg():
            continue
        source = opened.extractfile(member)
        assert source is not None
        with source, paths[0].open("xb") as file:
            shutil.copyfileobj(source, file, 1 << 20)
        for path in paths[1:]:
            shutil.copyfile(paths[0], path)


def _members(archive: Path) -> Iterator[tuple[tarfile.TarFile, tarfile.TarInfo]]:
    """Read an archive once, from beginning to end; a member's contents must be read before the next member."""
    with tarfile.open(archive, "r|gz") as opened:
        for member in opened:
            yield opened, member


def _checked_name(name: str) -> str:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts or _FOREIGN.search(name):
        raise ArchiveError(f"its member {name!r} has a name that is not a path below a folder")
    return str(path)
