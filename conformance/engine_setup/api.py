"""The public functions of `conformance.engine_setup`, which exports them."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

import spec_ref
from conformance.core.lazy_imports import lazy_imports
from conformance.engine_setup.catalog import Engine, EngineError, find_engine
from conformance.engine_setup.catalog import catalog as engine_catalog
from conformance.engine_setup.folders import SHIPPED_ENGINES

if TYPE_CHECKING:
    from conformance.engine_setup.environments import Progress

with lazy_imports():
    import hashlib

    from conformance.engine_setup import built, environments, java

_KIT_PACKAGES = (Path(__file__).parent.parent, Path(spec_ref.__file__).parent)


@attrs.frozen
class Launch:
    """The command and environment that start an engine's adapter."""

    command: list[str]
    env: dict[str, str]
    """The complete environment of the process, not additions to the current one."""


@attrs.frozen(kw_only=True)
class EngineStatus:
    """Whether an engine is ready on this machine."""

    name: str
    version: str
    language: str
    label: str
    """The name on the command line."""

    installed: bool
    path: Path
    """Its Python environment or its build, which need not exist yet."""

    large: str | None = None
    """The disk space and time for an engine that is installed only by name, not with all engines."""

    outdated: bool = False
    """Whether its sources changed since it was built."""

    reason: str | None
    """Why it is not ready; None if it is."""

    @property
    def by_name(self) -> bool:
        """Whether it is installed only if it is named or if all large engines are installed."""
        return self.large is not None


def _quiet(_: str) -> None:
    return


def install(name: str, progress: Progress = _quiet) -> EngineStatus:
    """Install an engine; returns at once if it is installed.

    Raises:
        EngineError: it cannot be installed.
    """
    engine = find_engine(name)
    try:
        if engine.sources:
            jdk = java.full_jdk(engine.jdk) if engine.jdk else None
            if engine.jdk and jdk is None:
                raise EngineError(str(engine), java.missing_jdk_message(engine.jdk))
            if engine.java:
                java.install_java(engine, progress)
            built.install_build(engine, progress, jdk)
            return engine_status(engine)
        if not engine.lock:
            return engine_status(engine)
        made = environments.install_environment(engine, engine.lock, progress)
        if engine.java:
            java_home = java.install_java(engine, progress)
            for jar in engine.jars:
                java.install_jar(engine, jar, made, java_home, progress)
            if engine.classes:
                java.install_classes(engine, java_home, progress)
    except OSError as error:
        raise EngineError(str(engine), f"{environments.engines_directory()} cannot be written: {error}") from error
    status = engine_status(engine)
    if status.reason is not None:
        raise EngineError(str(engine), status.reason)
    return status


def engine_status(engine: Engine) -> EngineStatus:
    """Check whether all parts of an engine are installed; runs nothing but ``java -version``."""
    made: built.Build | environments.Environment | None = None
    reason: str | None = None
    try:
        if engine.sources:
            made = built.engine_build(engine)
        elif engine.lock:
            made = environments.environment(engine.lock)
    except EngineError as error:  # its lock file does not exist
        reason = error.reason
    outdated = isinstance(made, built.Build) and made.is_outdated()
    if made is None:
        program = engine.command and shutil.which(_in_folder(engine, engine.command[0]))
        if reason is None and program is None:
            reason = f"the program {engine.command[0]} does not exist"
    elif outdated:
        reason = f"its sources changed since it was built; run `iceberg-conformance engines install {engine.label}`"
    elif not made.is_installed():
        reason = f"not installed; run `iceberg-conformance engines install {engine.label}`"
    elif engine.jdk and java.full_jdk(engine.jdk) is None:
        reason = java.missing_jdk_message(engine.jdk)
    elif engine.java and not (java.system_java() or java.packaged_java()):
        reason = "no Java runtime; install the engine again"
    else:
        missing = [jar for jar in java.jars(engine) if not jar.is_file()]
        if missing:
            reason = f"{missing[0].name} is missing; install the engine again"
        elif engine.classes and engine.lock and not (java.classes_path(engine) / environments.MARKER).is_file():
            reason = f"its adapter is not compiled; run `iceberg-conformance engines install {engine.label}`"
    return EngineStatus(
        name=engine.name,
        version=engine.version,
        language=engine.language,
        label=engine.label,
        installed=reason is None,
        path=engine.folder if made is None else made.path,
        large=None if engine.large is None else str(engine.large),
        outdated=outdated,
        reason=reason,
    )


def list_engines() -> list[EngineStatus]:
    """Return all engines except the one inside the tool, by name, the default version of each first."""
    return [engine_status(engine) for engine in engine_catalog().engines]


def launch(name: str) -> Launch:
    """Return the command and environment that start an installed engine's adapter.

    Raises:
        EngineError: the engine is not installed.
    """
    engine = find_engine(name)
    status = engine_status(engine)
    if status.reason is not None:
        raise EngineError(str(engine), status.reason)
    if engine.sources and engine.adapter:
        env = {**os.environ, "ICEBERG_CONFORMANCE_PROGRAM": str(built.engine_build(engine).program)}
        env["ICEBERG_CONFORMANCE_ENGINE_VERSION"] = engine.version
        if engine.folder.parent == SHIPPED_ENGINES:  # its folders have the names of engines' libraries
            env["PYTHONSAFEPATH"] = "1"
        if engine.java or engine.jdk:
            runtime = java.full_jdk(engine.jdk) if engine.jdk else java.system_java() or java.packaged_java()
            env["JAVA_HOME"] = str(runtime)
        return Launch(command=[sys.executable, str(engine.folder / engine.adapter)], env=env)
    if engine.sources:
        return Launch(command=built.engine_build(engine).command, env=dict(os.environ))
    if not engine.lock:
        command = [_in_folder(engine, word) for word in engine.command]
        return Launch(command=command or [sys.executable, str(engine.folder / engine.adapter)], env=dict(os.environ))
    made = environments.environment(engine.lock)
    # These variables would make the engine load other packages or settings. The last would make each of its processes
    # compile every module that it imports, because the installation leaves compiling to the first import.
    strangers = {
        "PYTHONPATH",
        "PYTHONHOME",
        "VIRTUAL_ENV",
        "SPARK_HOME",
        "SPARK_CONF_DIR",
        "PYSPARK_SUBMIT_ARGS",
        "CLASSPATH",
        "JAVA_TOOL_OPTIONS",
        "HADOOP_CONF_DIR",
        "PYSPARK_DRIVER_PYTHON",
        "PYTHONDONTWRITEBYTECODE",
    }
    env = {key: value for key, value in os.environ.items() if key not in strangers}
    if engine.folder.parent == SHIPPED_ENGINES:  # where modules are named as the libraries of engines are
        env["PYTHONSAFEPATH"] = "1"
    env |= {"PYTHONPATH": str(_kit()), "PYTHONUTF8": "1", "ICEBERG_CONFORMANCE_ENGINE_VERSION": engine.version}
    if engine.java:
        java_home = java.system_java() or java.packaged_java()
        env |= {
            "JAVA_HOME": str(java_home),
            "ICEBERG_CONFORMANCE_JARS": os.pathsep.join(map(str, java.jars(engine))),
            "PYSPARK_PYTHON": str(made.python),
            "SPARK_LOCAL_IP": "127.0.0.1",
        }
    if engine.classes:
        env["ICEBERG_CONFORMANCE_CLASS_PATH"] = os.pathsep.join(
            (str(java.classes_path(engine)), java.class_path(engine))
        )
    return Launch(command=[str(made.python), str(engine.folder / engine.adapter)], env=env)


def _in_folder(engine: Engine, word: str) -> str:
    """Return a word of a command; one that begins with ``./`` becomes a path in the engine's folder."""
    return str(engine.folder / word.removeprefix("./")) if word.startswith("./") else word


def _kit() -> Path:
    """Return a directory with only our two packages, for the path of a different interpreter.

    Our site-packages must not be on that path, as they would hide the engine's versions of the same libraries.
    """
    key = hashlib.sha256("\0".join(str(package) for package in _KIT_PACKAGES).encode()).hexdigest()[:16]
    kit = environments.engines_directory() / "kits" / key
    with environments.file_lock(kit.with_suffix(".lock")):
        kit.mkdir(exist_ok=True)
        for package in _KIT_PACKAGES:
            _mirror(package, kit / package.name)
    return kit


def _mirror(package: Path, place: Path) -> None:
    if place.is_symlink() and place.readlink() == package:
        return
    try:
        place.symlink_to(package, target_is_directory=True)
    except FileExistsError:
        shutil.copytree(package, place, dirs_exist_ok=True)
    except OSError:  # without support for symbolic links, copy
        shutil.copytree(package, place, dirs_exist_ok=True)
