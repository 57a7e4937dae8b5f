"""Adapters in compiled languages: built on this machine from their sources, by the compiler of the language.

A program lies in a folder of `conformance/adapters` with the lock file of its language (``go.sum``, ``Cargo.lock``),
and the compiler's own client fetches what that names, from where it is set up to. A build is found again by the hash of
its sources and of the machine, and counts when its marker is there, which is written last.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import sysconfig
from importlib.resources import files
from pathlib import Path

import attrs

from conformance.engines.catalog import Engine, EngineError
from conformance.engines.environments import MARKER, Progress, exclusive, home, run_step

_PROGRAM = "adapter.exe" if sys.platform == "win32" else "adapter"


@attrs.frozen
class Toolchain:
    """What builds the programs of one language."""

    name: str
    program: str
    """The command; it has to be on the path."""

    oldest: tuple[int, ...]
    """The oldest release that the sources and the libraries that they pin are built by."""

    version: tuple[str, ...]
    """The arguments that make the command tell its release."""

    build: tuple[str, ...]
    """The arguments that build the sources in ``{sources}``; what they make goes to ``{made}``."""

    result: str
    """The program that was made, below ``{made}``, without the ``.exe`` of Windows."""


TOOLCHAINS = {
    "go": Toolchain(
        "Go",
        "go",
        (1, 25, 9),
        ("version",),
        (
            "build",
            "-C",
            "{sources}",
            "-mod=readonly",
            "-trimpath",
            "-buildvcs=false",
            "-ldflags=-s -w",
            "-o",
            "{made}/adapter",
            ".",
        ),
        "adapter",
    ),
    "rust": Toolchain(
        "Rust",
        "cargo",
        (1, 94),
        ("--version",),
        ("build", "--release", "--locked", "--manifest-path", "{sources}/Cargo.toml", "--target-dir", "{made}"),
        "release/adapter",
    ),
}


@attrs.frozen
class Build:
    """Where the program of one engine is, or is to be."""

    path: Path

    @property
    def program(self) -> Path:
        return self.path / _PROGRAM

    def is_installed(self) -> bool:
        return (self.path / MARKER).is_file()


def sources(engine: Engine) -> Path:
    """The folder of an engine's program."""
    return Path(str(files("conformance"))) / "adapters" / engine.sources


def build_of(engine: Engine) -> Build:
    """The build of an engine, made or not; other sources or another machine mean another place."""
    folder = sources(engine)
    recipe = hashlib.sha256(sysconfig.get_platform().encode())
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        data = file.read_bytes()
        recipe.update(f"\0{file.relative_to(folder).as_posix()}\0{len(data)}\0".encode() + data)
    return Build(home() / "built" / f"{engine.name}-{recipe.hexdigest()[:16]}")


def install_build(engine: Engine, progress: Progress) -> Build:
    """Build the program of an engine unless it stands.

    Raises:
        EngineError: the compiler is missing or too old, or did not build it; then nothing counts as installed.
    """
    made = build_of(engine)
    if made.is_installed():
        return made
    toolchain = TOOLCHAINS[engine.language]
    _check(engine, toolchain)
    with exclusive(made.path.with_suffix(".lock")):
        if made.is_installed():  # another process has just made it
            return made
        progress(f"{engine}: building it with {toolchain.program}, which takes minutes where nothing of it is cached")
        shutil.rmtree(made.path, ignore_errors=True)
        copied, scratch = made.path / "sources", made.path / "made"
        shutil.copytree(sources(engine), copied)
        places = {"sources": str(copied), "made": str(scratch)}
        command = [toolchain.program, *(argument.format(**places) for argument in toolchain.build)]
        run_step(engine, f"{toolchain.program} could not build it", command)
        (scratch / toolchain.result).with_suffix(made.program.suffix).replace(made.program)
        shutil.rmtree(scratch)
        shutil.rmtree(copied)
        (made.path / MARKER).write_text(f"{engine}\n", encoding="utf-8")
    return made


def _check(engine: Engine, toolchain: Toolchain) -> None:
    """Make sure that the compiler is there and not too old."""
    wanted = ".".join(map(str, toolchain.oldest))
    needed = f"{toolchain.name} {wanted} or newer is needed to build it"
    if shutil.which(toolchain.program) is None:
        raise EngineError(str(engine), f"{needed}, and there is no {toolchain.program} on the path")
    try:
        told = subprocess.run(
            [toolchain.program, *toolchain.version], capture_output=True, text=True, timeout=60, check=False
        ).stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EngineError(str(engine), f"{needed}, and {toolchain.program} does not run: {error}") from error
    found = re.search(r"(\d+(?:\.\d+)+)", told)
    if found is None:
        raise EngineError(str(engine), f"{needed}, and {toolchain.program} does not tell its release: {told}")
    if tuple(map(int, found[1].split("."))) < toolchain.oldest:
        raise EngineError(str(engine), f"{needed}, and {toolchain.program} is {found[1]}")
