"""Archives of servers: hard links between folders, and archives that must not be unpacked."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Iterable
from pathlib import Path

import pytest

from conformance.engine_setup.archives import ArchiveError, unpack_folders

Member = tuple[str, bytes, str]
"""The name of a member, its type, and its contents or the target of the link."""

GOOD: list[Member] = [
    ("server-1/", tarfile.DIRTYPE, ""),
    ("server-1/lib/a.jar", tarfile.REGTYPE, "a"),
    ("server-1/plugin/other/b.jar", tarfile.REGTYPE, "b"),
    ("server-1/plugin/other/c.jar", tarfile.LNKTYPE, "server-1/plugin/other/b.jar"),
    ("server-1/plugin/mine/a.jar", tarfile.LNKTYPE, "server-1/lib/a.jar"),
    ("server-1/plugin/mine/b.jar", tarfile.LNKTYPE, "server-1/plugin/other/c.jar"),
    ("server-1/plugin/mine/nested/d.jar", tarfile.REGTYPE, "d"),
    ("server-1/plugin/mine/e.jar", tarfile.REGTYPE, "e"),
]


def archive(folder: Path, members: Iterable[Member]) -> Path:
    path = folder / "server-1.tar.gz"
    with tarfile.open(path, "w:gz", format=tarfile.PAX_FORMAT) as opened:
        for name, kind, text in members:
            member = tarfile.TarInfo(name)
            member.type = kind
            if kind in (tarfile.LNKTYPE, tarfile.SYMTYPE):
                member.linkname = text
                opened.addfile(member)
            else:
                member.size = len(text)
                opened.addfile(member, io.BytesIO(text.encode()))
    return path


def unpack(folder: Path, path: Path, wanted: str = "server-1/plugin/mine") -> dict[str, str]:
    """Unpack two folders; return the contents of all that was written."""
    made = folder / "made" / "jars"
    unpack_folders(path, {made / "server": "server-1/lib", made / "mine": wanted})
    return {
        file.relative_to(made).as_posix(): file.read_text(encoding="utf-8")
        for file in made.rglob("*")
        if file.is_file()
    }


def test_links_are_replaced_by_the_contents_that_another_folder_has(tmp_path: Path) -> None:
    found = unpack(tmp_path, archive(tmp_path, GOOD))
    assert found == {"server/a.jar": "a", "mine/a.jar": "a", "mine/b.jar": "b", "mine/e.jar": "e"}
    assert not any(file.is_symlink() for file in tmp_path.rglob("*"))


EVIL: dict[str, tuple[Member, str]] = {
    "upwards": (("server-1/lib/../../../../out.jar", tarfile.REGTYPE, "x"), "not a path below a folder"),
    "absolute": (("/out.jar", tarfile.REGTYPE, "x"), "not a path below a folder"),
    "other-separator": (("server-1/lib/..\\..\\out.jar", tarfile.REGTYPE, "x"), "not a path below a folder"),
    "drive": (("server-1/lib/C:out.jar", tarfile.REGTYPE, "x"), "not a path below a folder"),
    "symbolic-link": (("server-1/lib/x.jar", tarfile.SYMTYPE, "../../../out.jar"), "neither a file"),
    "symbolic-folder": (("server-1/lib", tarfile.SYMTYPE, "/"), "neither a file"),
    "device": (("server-1/lib/x.jar", tarfile.CHRTYPE, ""), "neither a file"),
    "block-device": (("server-1/lib/x.jar", tarfile.BLKTYPE, ""), "neither a file"),
    "pipe": (("server-1/lib/x.jar", tarfile.FIFOTYPE, ""), "neither a file"),
    "link-out": (("server-1/lib/x.jar", tarfile.LNKTYPE, "/etc/passwd"), "not a path below a folder"),
    "link-upwards": (("server-1/lib/x.jar", tarfile.LNKTYPE, "../out.jar"), "not a path below a folder"),
    "link-to-nothing": (("server-1/lib/x.jar", tarfile.LNKTYPE, "server-1/lib/y.jar"), "not a file before it"),
    "link-to-itself": (("server-1/lib/x.jar", tarfile.LNKTYPE, "server-1/lib/x.jar"), "not a file before it"),
    "link-to-a-folder": (("server-1/lib/x.jar", tarfile.LNKTYPE, "server-1"), "not a file before it"),
    "twice": (("server-1/lib/a.jar", tarfile.REGTYPE, "other"), "occurs twice"),
    "twice-by-another-name": (("server-1/./lib//a.jar", tarfile.REGTYPE, "other"), "occurs twice"),
    "folder-and-file": (("server-1", tarfile.REGTYPE, "x"), "occurs twice"),
}


@pytest.mark.parametrize("case", EVIL)
def test_an_evil_member_is_refused_and_nothing_is_written(case: str, tmp_path: Path) -> None:
    member, said = EVIL[case]
    (tmp_path / "in").mkdir()
    with pytest.raises(ArchiveError, match=said):
        unpack(tmp_path / "in", archive(tmp_path / "in", [*GOOD, member]))
    assert [path.name for path in tmp_path.rglob("*")] == ["in", "server-1.tar.gz"]


def test_a_member_of_a_folder_that_is_not_wanted_is_refused_too(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="not a path below a folder"):
        unpack(tmp_path, archive(tmp_path, [*GOOD, ("doc/../../x", tarfile.REGTYPE, "x")]))


def test_a_folder_that_the_archive_lacks_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="no files in its folder 'server-2/lib'"):
        unpack(tmp_path, archive(tmp_path, GOOD), "server-2/lib")


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6])
def test_a_damaged_archive_is_an_error(share: float, tmp_path: Path) -> None:
    path = archive(tmp_path, GOOD)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(ArchiveError, match=r"damaged|no files in its folder"):
        unpack(tmp_path, path)


def test_what_is_not_an_archive_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "server-1.tar.gz"
    for data in (b"text", gzip.compress(b"no members"), gzip.compress(b"x" * 4096)):
        path.write_bytes(data)
        with pytest.raises(ArchiveError, match="damaged"):
            unpack(tmp_path, path)
