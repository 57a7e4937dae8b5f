"""Build a release: the wheel, the sdist, an archive of the vectors, and checksums: ``python -m tools.release FOLDER``.

The same commit gives the same bytes: times are those of the commit (or ``SOURCE_DATE_EPOCH``), names are sorted, and
owners are left out.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

from conformance.version import tool_version
from tools.entry_point import run_without_parser

ROOT = Path(__file__).resolve().parents[1]
ARCHIVE = "iceberg-vectors"
BESIDE = ("LICENSE", "docs/protocol.md")
"""Files that the archive also has: the protocol describes the arguments and the answer of each operation."""


def epoch() -> int:
    """Return the modification time of all files: ``SOURCE_DATE_EPOCH``, or the time of the commit."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    asked = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    return int(subprocess.run(asked, check=True, capture_output=True, text=True).stdout)


def members(vectors: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files of the archive with their names in the archive, in order."""
    found = {f"vectors/{path.relative_to(vectors).as_posix()}": path for path in vectors.rglob("*") if path.is_file()}
    found |= {name: ROOT / name for name in BESIDE}
    yield from sorted(found.items())


def archive(vectors: Path, name: str, time: int) -> bytes:
    """Return the archive of a folder of vectors.

    Args:
        vectors: the folder.
        name: the name of the folder in the archive.
        time: the modification time of its files, in seconds since 1970.
    """
    out = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=out, mode="wb", compresslevel=9, mtime=time) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for member, path in members(vectors):
            data = path.read_bytes()
            info = tarfile.TarInfo(f"{name}/{member}")
            info.size, info.mtime, info.mode = len(data), time, 0o644
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def release(folder: Path) -> list[Path]:
    """Build everything into a folder, and return the files; the checksums are last."""
    time, version = epoch(), tool_version()
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise SystemExit(f"{folder}: must be an empty folder, or not exist")
    built = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-t", "wheel", "-d", str(folder)]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(time)}
    subprocess.run(built, cwd=ROOT, check=True, env=environment, stdout=subprocess.DEVNULL)
    name = f"{ARCHIVE}-{version}"
    (folder / f"{name}.tar.gz").write_bytes(archive(ROOT / "vectors", name, time))
    made = sorted(folder.iterdir())
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in made]
    sums = folder / "SHA256SUMS"
    sums.write_text("".join(lines), encoding="ascii")
    return [*made, sums]


def main(arguments: list[str]) -> None:
    """Build a release into the given folder, or into `dist`."""
    for built_file in release(Path(arguments[0] if arguments else "dist")):
        print(built_file)


if __name__ == "__main__":
    run_without_parser(main, sys.argv[1:])
