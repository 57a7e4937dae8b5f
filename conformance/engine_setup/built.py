"""Adapters in compiled languages: built on this machine from their sources, by the compiler of the language.

A program is in the folder of its engine, with the lock file of its language (``go.sum``, ``Cargo.lock``, and
``jars.lock``, which is checked here, as Maven has none). The language's own client fetches the locked packages from its
configured source. The hash of the sources and the machine identifies a build, which is valid once its marker file has
been written.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

import attrs

from conformance.engine_setup import java
from conformance.engine_setup.archives import ArchiveError, unpack_folders
from conformance.engine_setup.catalog import EngineError, Installed
from conformance.engine_setup.environments import (
    MARKER,
    Progress,
    add_files,
    engines_directory,
    file_lock,
    run_step,
)

_FETCH_JARS = (
    "mvn",
    "--batch-mode",
    "--quiet",
    "--file",
    "{sources}/pom.xml",
    "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies",
    "-DincludeScope=runtime",
    "-DoutputDirectory={made}/java/jars",
)

_HOW_TO_GET_MAVEN = (
    "distributions package it (maven), and maven.apache.org has archives: unpack one and put its bin on the path"
)
_ESCAPE_SEQUENCES = re.compile(r"\x1b\[[0-9;]*m")
"""Maven prints its version in bold, even to a file."""
JAVA_FILES = "{sources}/src/**/*.java"
"""The argument of a step that is replaced by the matching files."""

HASH = 16
"""The number of hash digits at the end of a build's name."""

_PROGRAM = "adapter.exe" if sys.platform == "win32" else "adapter"


@attrs.frozen
class Toolchain:
    """The tools that build the programs of one language."""

    name: str
    program: str
    """The compiler's command, which must be on the path."""

    oldest: tuple[int, ...]
    """The oldest release that can build the sources and their pinned libraries."""

    version: tuple[str, ...]
    """The arguments that make the command print its release."""

    steps: tuple[tuple[str, ...], ...]
    """The commands that build the sources in ``{sources}``; their output goes to ``{made}``."""

    result: str
    """The resulting program or folder below ``{made}``, without the ``.exe`` of Windows."""

    helpers: tuple[str, ...] = ()
    """Other commands that must be on the path."""

    how_to_get: str = ""
    """Where to get the compiler."""


TOOLCHAINS = {
    "go": Toolchain(
        "Go",
        "go",
        (1, 25, 9),
        ("version",),
        steps=(
            (
                "go",
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
        ),
        result="adapter",
        how_to_get="go.dev/dl has archives",
    ),
    "rust": Toolchain(
        "Rust",
        "cargo",
        (1, 94),
        ("--version",),
        steps=(
            (
                "cargo",
                "build",
                "--release",
                "--locked",
                "--manifest-path",
                "{sources}/Cargo.toml",
                "--target-dir",
                "{made}",
            ),
        ),
        result="release/adapter",
        how_to_get="rustup.rs installs it",
    ),
    # Programs of engines, which their adapters start, and catalog servers, which
    # `conformance.table_io.catalogs.servers` starts.
    "java": Toolchain(
        "a JDK of release",
        "javac",
        (17,),
        ("-version",),
        steps=(
            _FETCH_JARS,
            (
                "javac",
                "--release",
                "17",
                "-nowarn",
                "-d",
                "{made}/java/classes",
                "-cp",
                "{made}/java/jars/*",
                JAVA_FILES,
            ),
        ),
        result="java",
        helpers=("mvn",),
        how_to_get="distributions package a JDK (openjdk-17-jdk), and adoptium.net has archives: unpack one and set "
        "JAVA_HOME",
    ),
    "jars": Toolchain(
        "Maven",
        "mvn",
        (3,),
        ("--version",),
        steps=(_FETCH_JARS,),
        result="java",
        how_to_get=_HOW_TO_GET_MAVEN,
    ),
}

JAR_LOCK = "jars.lock"
"""The file beside the sources that pins jars, if any: SHA-256 and name, in the format of ``sha256sum``."""


@attrs.frozen
class Build:
    """The location of one engine's program, built or not."""

    path: Path
    toolchain: Toolchain

    @property
    def program(self) -> Path:
        """The path of the program, or of the folder that a runtime loads."""
        return self.path / _PROGRAM

    @property
    def command(self) -> list[str]:
        """The command that starts the program."""
        return [str(self.program)]

    def is_installed(self) -> bool:
        return (self.path / MARKER).is_file()

    def is_outdated(self) -> bool:
        """Return whether only a build of the same program from different sources exists."""
        root, name = self.path.parent, re.compile(re.escape(self.path.name[:-HASH]) + f"[0-9a-f]{{{HASH}}}")
        others = root.iterdir() if root.is_dir() else ()
        return not self.is_installed() and any(name.fullmatch(one.name) and (one / MARKER).is_file() for one in others)


def source_folder(engine: Installed) -> Path:
    """Return the folder of an engine's program."""
    return engine.source_folder


def engine_build(engine: Installed) -> Build:
    """Return the build of an engine, which may not exist; its path depends on the sources and the machine."""
    recipe = hashlib.sha256(sysconfig.get_platform().encode())
    for folder in (source_folder(engine), *engine.class_folders):
        add_files(recipe, folder)
    for target, folder_in_archive in sorted(engine.unpack.items()):
        recipe.update(f"\0{target}\0{folder_in_archive}".encode())
    return Build(
        engines_directory() / "built" / f"{engine.build_name}-{recipe.hexdigest()[:HASH]}", TOOLCHAINS[engine.toolchain]
    )


def install_build(engine: Installed, progress: Progress, java_home: Path | None = None) -> Build:
    """Build the program of an engine unless the build exists.

    Args:
        engine: the engine.
        progress: called with a short description of each step.
        java_home: the Java on which the tools run; None for the one that `tool_environment` finds.

    Raises:
        EngineError: the compiler is missing, too old, or failed; then nothing counts as installed.
    """
    made = engine_build(engine)
    if made.is_installed():
        return made
    toolchain = made.toolchain
    env = tool_environment(toolchain, java_home)
    if lack := missing_tools(toolchain, env):
        raise EngineError(str(engine), lack)
    with file_lock(made.path.with_suffix(".lock")):
        if made.is_installed():  # another process has just built it
            return made
        progress(f"{engine}: building it with {toolchain.program}, which takes minutes with empty caches")
        shutil.rmtree(made.path, ignore_errors=True)
        copied, scratch = made.path / "sources", made.path / "made"
        shutil.copytree(source_folder(engine), copied)
        for folder in engine.class_folders:
            shutil.copytree(folder, copied / "src", dirs_exist_ok=True)
        places = {"sources": str(copied), "made": str(scratch)}
        for number, step in enumerate(toolchain.steps, start=1):
            command = [word for argument in step for word in _words(argument, copied, places)]
            run_step(engine, f"{command[0]} could not build it", command, env)
            if number == 1:
                _check_jars(engine, copied / JAR_LOCK, scratch / toolchain.result / "jars")
                _unpack(engine, scratch / toolchain.result / "jars", progress)
        result = scratch / toolchain.result
        (result if result.is_dir() else result.with_suffix(made.program.suffix)).replace(made.program)
        shutil.rmtree(scratch, ignore_errors=True)
        shutil.rmtree(copied)
        (made.path / MARKER).write_text(f"{engine}\n", encoding="utf-8")
    return made


def _words(argument: str, sources: Path, places: dict[str, str]) -> list[str]:
    if argument == JAVA_FILES:
        return sorted(map(str, (sources / "src").rglob("*.java")))
    return [argument.format(**places)]


def tool_environment(toolchain: Toolchain, java_home: Path | None = None) -> dict[str, str]:
    """Return the environment in which the tools of a language run.

    Args:
        toolchain: the tools of the language.
        java_home: the Java on which they run; None for the one on the path, or, if a JDK is needed and its compiler is
            not on the path, for one that is where JDKs usually are.
    """
    if java_home is None and toolchain.program == "javac" and shutil.which("javac") is None:
        java_home = java.full_jdk(toolchain.oldest[0])
    if java_home is None:
        return dict(os.environ)
    path = os.pathsep.join((str(java_home / "bin"), os.environ.get("PATH", os.defpath)))
    return {**os.environ, "JAVA_HOME": str(java_home), "PATH": path}


def missing_tools(toolchain: Toolchain, env: Mapping[str, str] | None = None) -> str | None:
    """Describe what the machine lacks to build the programs of a language, and how to get it; None if nothing.

    Args:
        toolchain: the tools of the language.
        env: the environment in which they run; None for `tool_environment`.
    """
    env = tool_environment(toolchain) if env is None else env
    wanted = ".".join(map(str, toolchain.oldest))
    needed = f"{toolchain.name} {wanted} or newer is needed for the build"
    for program in (toolchain.program, *toolchain.helpers):
        if shutil.which(program, path=env.get("PATH", os.defpath)) is None:
            if program == toolchain.program:
                return f"{needed}, and there is no {program} on the path; {toolchain.how_to_get}"
            return f"{program} is needed for the build, and there is no {program} on the path; {_HOW_TO_GET_MAVEN}"
    try:
        output = subprocess.run(
            [toolchain.program, *toolchain.version], capture_output=True, text=True, timeout=60, check=False, env=env
        ).stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{needed}, and {toolchain.program} does not run: {error}"
    found = re.search(r"(\d+(?:\.\d+)*)", _ESCAPE_SEQUENCES.sub("", output))
    if found is None:
        return f"{needed}, and {toolchain.program} does not print its release: {output}"
    release = tuple(map(int, found[1].split(".")))
    if release < toolchain.oldest:
        return f"{needed}, and {toolchain.program} is {found[1]}; {toolchain.how_to_get}"
    return None


def _check_jars(engine: Installed, lock: Path, jars: Path) -> None:
    """Check that exactly the pinned jars were fetched, before any of them is used."""
    if not lock.is_file():
        return
    rows = (line.split() for line in lock.read_text(encoding="utf-8").splitlines())
    pinned = {name: digest for digest, name in rows}
    files = (path for path in jars.rglob("*") if path.is_file())
    found = {jar.relative_to(jars).as_posix(): _sha256(jar) for jar in files}
    for name in sorted(pinned.keys() | found.keys()):
        if pinned.get(name) != found.get(name):
            has, wants = (f"SHA-256 {side[name]}" if name in side else "nothing" for side in (found, pinned))
            raise EngineError(str(engine), f"{name}: {has} was fetched, and {wants} is pinned")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _unpack(engine: Installed, jars: Path, progress: Progress) -> None:
    """Replace the archive that was fetched and checked by its folders that the engine needs."""
    if not engine.unpack:
        return
    for archive in sorted(jars.glob("*.tar.gz")):
        progress(f"{engine}: unpacking {archive.name}")
        try:
            unpack_folders(archive, {jars / target: folder for target, folder in engine.unpack.items()})
        except ArchiveError as error:
            raise EngineError(str(engine), f"{archive.name}: {error}") from error
        archive.unlink()
