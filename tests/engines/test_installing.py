from __future__ import annotations

import hashlib
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import attrs
import pytest

from conformance import engine_setup
from conformance.engine_setup import EngineError, api, environments, find_engine, install, java, launch, list_engines
from conformance.engine_setup.catalog import Engine, Jar
from conformance.engine_setup.environments import Environment, environment, install_environment


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ICEBERG_CONFORMANCE_HOME", str(tmp_path / "home"))


def quiet(_: str) -> None:
    return


class Steps:
    """Stands for the processes that an installation runs."""

    def __init__(self, *, fail_at: int | None = None, seconds: float = 0.0) -> None:
        self.commands: list[list[str]] = []
        self._fail_at = fail_at
        self._seconds = seconds

    def __call__(self, engine: Engine, failure: str, command: list[str]) -> None:
        self.commands.append(command)
        time.sleep(self._seconds)
        if command[1:3] == ["-m", "venv"]:
            Path(command[3]).mkdir(parents=True)
        if len(self.commands) == self._fail_at:
            raise EngineError(str(engine), failure)


def use(monkeypatch: pytest.MonkeyPatch, steps: Steps) -> Steps:
    monkeypatch.setattr(environments, "run_step", steps)
    return steps


def test_nothing_is_installed_in_an_empty_home_and_each_engine_says_how_to_change_that() -> None:
    for status in list_engines():
        assert not status.installed
        assert status.reason is not None
        assert f"engines install {status.label}" in status.reason
        with pytest.raises(EngineError, match="engines install"):
            launch(status.label)


def test_an_installed_engine_is_not_installed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = use(monkeypatch, Steps())
    assert install("pyiceberg").installed
    ran = len(steps.commands)
    assert install("pyiceberg").installed
    assert len(steps.commands) == ran == 3


def test_engines_with_the_same_lock_share_an_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, Steps())
    assert install("pyiceberg").path == install("pyiceberg-core").path


@pytest.mark.parametrize("step", [1, 2, 3])
def test_an_interrupted_installation_does_not_count_and_is_done_over(
    monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    use(monkeypatch, Steps(fail_at=step))
    with pytest.raises(EngineError):
        install("pyiceberg")
    assert not environment("pyiceberg-0_12").is_installed()
    steps = use(monkeypatch, Steps())
    assert install("pyiceberg").installed
    assert len(steps.commands) == 3


def test_two_installations_at_once_make_one_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = use(monkeypatch, Steps(seconds=0.05))
    engine = find_engine("pyiceberg")
    threads = [threading.Thread(target=install_environment, args=(engine, engine.lock, quiet)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(steps.commands) == 3
    assert environment(engine.lock).is_installed()


def test_packages_are_installed_with_their_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = use(monkeypatch, Steps())
    install("pyiceberg")
    assert all("--require-hashes" in command for command in steps.commands[1:])


def test_a_failing_step_is_reported_in_one_line_with_what_it_printed() -> None:
    script = "import sys; print('ERROR: no such\\npackage', file=sys.stderr); sys.exit(1)"
    with pytest.raises(EngineError, match="ERROR: no such") as error:
        environments.run_step(find_engine("pyiceberg"), "it failed", [sys.executable, "-c", script])
    assert "\n" not in str(error.value)
    with pytest.raises(EngineError, match="it failed"):
        environments.run_step(find_engine("pyiceberg"), "it failed", ["/no/such/program"])


def fetch(monkeypatch: pytest.MonkeyPatch, content: bytes, sha256: str) -> Any:
    def resolve(_: Engine, jar: Jar, __: Environment, ___: Path, scratch: Path) -> Path:
        path = scratch / jar.file_name
        path.write_bytes(content)
        return path

    monkeypatch.setattr(java, "_resolve", resolve)
    jar = Jar("org.example", "library", "1", sha256)
    spark = environment("spark-4_1")
    return jar, lambda: java.install_jar(find_engine("iceberg-java"), jar, spark, Path("/"), quiet)


def test_a_jar_with_the_pinned_hash_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    jar, install_jar = fetch(monkeypatch, b"jar", hashlib.sha256(b"jar").hexdigest())
    path = install_jar()
    assert path == java.jar_path(jar)
    assert path.read_bytes() == b"jar"
    assert [entry.name for entry in path.parent.iterdir()] == [jar.file_name]


def test_a_jar_with_another_hash_is_refused_and_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    jar, install_jar = fetch(monkeypatch, b"something else", hashlib.sha256(b"jar").hexdigest())
    with pytest.raises(EngineError, match="is pinned"):
        install_jar()
    assert not java.jar_path(jar).exists()


@pytest.mark.parametrize(
    ("release", "used"),
    [("11.0.2", False), ("17.0.15", True), ("21", True), ("25.0.1", False), ("1.8.0_292", False)],
)
def test_only_a_java_that_the_engines_run_on_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, release: str, used: bool
) -> None:
    program = tmp_path / "bin" / "java"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{release}\"' >&2\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    assert java.system_java() == (tmp_path if used else None)


def test_an_adapter_sees_our_packages_and_nothing_else_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, Steps())
    monkeypatch.setenv("PYTHONPATH", "/of/ours")
    monkeypatch.setenv("SPARK_HOME", "/of/ours")
    install("pyiceberg")
    started = launch("pyiceberg")
    kit = Path(started.env["PYTHONPATH"])
    assert sorted(entry.name for entry in kit.iterdir()) == ["conformance", "spec_ref"]
    assert "SPARK_HOME" not in started.env
    assert started.command[1:] == [str(find_engine("pyiceberg").folder / "adapter.py")]


def test_an_engine_keeps_the_bytecode_of_its_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are installed without, and each process would compile them anew, which takes longer than most requests."""
    use(monkeypatch, Steps())
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    install("pyiceberg")
    assert "PYTHONDONTWRITEBYTECODE" not in launch("pyiceberg").env


def test_a_kit_of_copies_follows_the_packages(tmp_path: Path) -> None:
    package, place = tmp_path / "package", tmp_path / "kit" / "package"
    package.mkdir()
    place.mkdir(parents=True)
    (package / "module.py").write_text("new", encoding="utf-8")
    (place / "module.py").write_text("old", encoding="utf-8")
    api._mirror(package, place)
    assert (place / "module.py").read_text(encoding="utf-8") == "new"


def test_the_packaged_java_starts_without_the_module_that_it_does_not_have(tmp_path: Path) -> None:
    runtime, java_home = tmp_path / "run'time", tmp_path / "home"
    program = runtime / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\nprintf "%s|" "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    java._make_java_home(runtime, java_home)
    given = ["-Xmx1g", "--add-modules=jdk.incubator.vector", "-cp", "a b:*", ""]
    output = subprocess.run([java_home / "bin" / "java", *given], capture_output=True, text=True, check=True).stdout
    assert output == "-Xmx1g|-cp|a b:*||"


def jdk(place: Path, version: str, compiles: str = "exit 1") -> Path:
    """A Java home whose compiler prints its release, and runs a shell command with ``$classes`` for anything else."""
    program = place / "bin" / "javac"
    program.parent.mkdir(parents=True)
    find = 'while [ "$1" != -d ]; do shift; done; classes="$2"'
    script = f'#!/bin/sh\ncase "$1" in -version) echo "{version}" ;; *) {find}; {compiles} ;; esac\n'
    program.write_text(script, encoding="utf-8")
    program.chmod(0o755)
    return place


@pytest.fixture
def in_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """An engine whose adapter is one Java file, on a machine with no compiler on the path."""
    monkeypatch.setenv("PATH", "")
    source = tmp_path / "engine" / "src" / "Adapter.java"
    source.parent.mkdir(parents=True)
    source.write_text("class Adapter {}", encoding="utf-8")
    return attrs.evolve(find_engine("iceberg-java"), folder=tmp_path / "engine", classes=("src",), jars=())


@pytest.mark.parametrize(
    ("version", "said"),
    [
        (None, "a JDK of release 17 or newer is needed to compile its adapter, and there is no javac in "),
        ("javac 11.0.2", "has release 11"),
        ("gibberish", "has release unknown"),
    ],
)
def test_a_machine_with_a_runtime_only_is_reported_what_is_missing(
    version: str | None, said: str, in_java: Engine, tmp_path: Path
) -> None:
    java_home = tmp_path / "runtime" if version is None else jdk(tmp_path / "jdk", version)
    with pytest.raises(EngineError, match=said) as error:
        java.install_classes(in_java, java_home, quiet)
    assert "\n" not in str(error.value)
    assert not java.classes_path(in_java).exists()


def test_classes_are_compiled_once_for_one_source(in_java: Engine, tmp_path: Path) -> None:
    path = java.install_classes(in_java, jdk(tmp_path / "jdk", "javac 17.0.2", ': >"$classes/Adapter.class"'), quiet)
    assert sorted(file.name for file in path.iterdir()) == ["Adapter.class", "installed"]
    assert java.install_classes(in_java, jdk(tmp_path / "broken", "javac 17.0.2"), quiet) == path
    (in_java.folder / "src" / "Adapter.java").write_text("class Adapter { int other; }", encoding="utf-8")
    assert java.classes_path(in_java) != path
    other_jars = attrs.evolve(in_java, package_jars=("other.jar",))
    assert java.classes_path(other_jars) not in (path, java.classes_path(in_java))


def test_classes_that_do_not_compile_do_not_count(in_java: Engine, tmp_path: Path) -> None:
    broken = jdk(tmp_path / "jdk", "javac 17.0.2", 'echo "Adapter.java:1: error: no such class" >&2; exit 1')
    for _ in range(2):
        with pytest.raises(EngineError, match=r"could not compile its adapter: Adapter\.java:1: error: no such class"):
            java.install_classes(in_java, broken, quiet)


def test_an_engine_whose_classes_are_missing_is_not_ready(
    monkeypatch: pytest.MonkeyPatch, in_java: Engine, tmp_path: Path
) -> None:
    monkeypatch.setattr(java, "jars", lambda _: [])
    monkeypatch.setattr(java, "system_java", lambda: tmp_path)
    place = environment(in_java.lock).path
    place.mkdir(parents=True)
    (place / environments.MARKER).touch()
    reason = engine_setup.engine_status(in_java).reason
    assert reason == "its adapter is not compiled; run `iceberg-conformance engines install iceberg-java`"
    java.install_classes(in_java, jdk(tmp_path / "jdk", "javac 17.0.2", "true"), quiet)
    assert engine_setup.engine_status(in_java).installed
