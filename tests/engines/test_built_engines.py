"""Engines that are built locally: pinned versions, messages without a compiler, and the detection of builds."""

from __future__ import annotations

import hashlib
import io
import re
import sys
import tarfile
import tomllib
from pathlib import Path
from typing import Any

import attrs
import pytest

import conformance.cli.run as command
from conformance.cli.engines import install_
from conformance.engine_setup import EngineError, built, find_engine, install, java, launch, list_engines
from conformance.engine_setup.built import install_build
from conformance.engine_setup.catalog import Engine, catalog, find_server
from conformance.runner.process import AdapterLimits
from conformance.runner.results import AdapterRun, Run
from conformance.runner.targets import all_engines

BUILT = [engine for engine in catalog().engines if engine.sources and engine.language != "java"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ICEBERG_CONFORMANCE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def quiet(_: str) -> None:
    return


def compiler(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, version: str, builds: str = "exit 1") -> None:
    """Put a compiler of our own on the path, and nothing else but the shell's tools."""
    program = folder / "bin" / name
    program.parent.mkdir(exist_ok=True)
    program.write_text(f'#!/bin/sh\ncase "$1" in build) {builds} ;; *) echo "{version}" ;; esac\n', encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")


GO = 'while [ "$1" != -o ]; do shift; done; mkdir -p "$(dirname "$2")" && echo program >"$2"'
"""A build that makes its result where ``go build -o`` would."""


def test_the_locks_pin_the_versions_of_the_catalog() -> None:
    go, rust = find_engine("iceberg-go"), find_engine("iceberg-rust")
    assert f"github.com/apache/iceberg-go v{go.version}\n" in (built.source_folder(go) / "go.mod").read_text("utf-8")
    assert f"github.com/apache/iceberg-go v{go.version} h1:" in (built.source_folder(go) / "go.sum").read_text("utf-8")
    wanted = tomllib.loads((built.source_folder(rust) / "Cargo.toml").read_text("utf-8"))["dependencies"]["iceberg"]
    assert wanted == f"={rust.version}"
    locked = tomllib.loads((built.source_folder(rust) / "Cargo.lock").read_text("utf-8"))["package"]
    assert [one["version"] for one in locked if one["name"] == "iceberg"] == [rust.version]


def test_the_locks_have_a_hash_for_everything_and_name_no_registry_but_the_public_one() -> None:
    rust = tomllib.loads((built.source_folder(find_engine("iceberg-rust")) / "Cargo.lock").read_text("utf-8"))[
        "package"
    ]
    fetched = [one for one in rust if "source" in one]
    assert len(fetched) == len(rust) - 1  # the program itself
    assert {one["source"] for one in fetched} == {"registry+https://github.com/rust-lang/crates.io-index"}
    assert all(re.fullmatch(r"[0-9a-f]{64}", one["checksum"]) for one in fetched)
    sums = (built.source_folder(find_engine("iceberg-go")) / "go.sum").read_text("utf-8").splitlines()
    assert all(re.fullmatch(r"\S+ v\S+ h1:[A-Za-z0-9+/=]{44}", line) for line in sums)


@pytest.mark.parametrize("engine", BUILT, ids=str)
def test_the_oldest_compiler_that_is_taken_is_the_one_that_the_libraries_ask_for(engine: Engine) -> None:
    oldest = ".".join(map(str, built.TOOLCHAINS[engine.language].oldest))
    if engine.language == "go":
        assert f"\ngo {oldest}\n" in (built.source_folder(engine) / "go.mod").read_text("utf-8")
    else:  # crates state it in their manifests; iceberg 0.10.1 requires this version
        assert (engine.version, oldest) == ("0.10.1", "1.94")


@pytest.mark.parametrize(
    ("name", "needed", "where"),
    [
        ("iceberg-go", "Go 1.25.9 or newer", "go.dev/dl"),
        ("iceberg-rust", "Rust 1.94 or newer", "rustup.rs"),
        ("flink", "a JDK of release 17 or newer", "openjdk-17-jdk"),
    ],
)
def test_a_missing_compiler_is_reported_in_one_line_with_where_to_get_it(
    name: str, needed: str, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conformance.engine_setup.java.install_java", lambda *_: tmp_path)
    monkeypatch.setattr("conformance.engine_setup.java.full_jdk", lambda _: None)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(EngineError, match=f"{needed} is needed for the build, and there is no") as error:
        install(name)
    assert where in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("go version go1.25.8 linux/amd64", "and go is 1.25.8"),
        ("go version go1.9 linux/amd64", "and go is 1.9"),
        ("gibberish", "does not print its release"),
    ],
)
def test_a_compiler_that_is_too_old_is_not_asked_to_build(
    version: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler(tmp_path, monkeypatch, "go", version, GO)
    with pytest.raises(EngineError, match=re.escape(said)):
        install("iceberg-go")
    assert not built.engine_build(find_engine("iceberg-go")).is_installed()


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("javac 11.0.2", "and javac is 11.0.2"),
        ("javac 1.8.0_292", "and javac is 1.8.0"),
        ("javac 21", "mvn is needed for the build, and there is no mvn on the path"),
    ],
)
def test_a_jdk_is_not_too_old_and_has_maven_beside_it(
    version: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler(tmp_path, monkeypatch, "javac", version)
    if "mvn" not in said:
        compiler(tmp_path, monkeypatch, "mvn", "")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(EngineError, match=re.escape(said)):
        install_build(find_server("iceberg-rest"), quiet)


def test_the_version_of_maven_is_read_although_it_is_printed_in_bold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler(tmp_path, monkeypatch, "mvn", "\x1b[1mApache Maven 3.8.7\x1b[m")
    assert built.missing_tools(built.TOOLCHAINS["jars"]) is None


def test_a_jdk_that_is_not_on_the_path_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler(tmp_path, monkeypatch, "javac", "javac 17.0.1")
    monkeypatch.setattr("conformance.engine_setup.java.full_jdk", lambda release: tmp_path if release == 17 else None)
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    tools = built.TOOLCHAINS["java"]
    env = built.tool_environment(tools)
    assert (env["JAVA_HOME"], env["PATH"].split(":")[0]) == (str(tmp_path), str(tmp_path / "bin"))
    said = str(built.missing_tools(tools))
    assert said.startswith("mvn is needed for the build, and there is no mvn on the path; ")
    assert "maven.apache.org" in said


MAVEN = """#!/bin/sh
[ "$1" = --version ] && echo "Apache Maven 3.9.1" && exit
for argument do case "$argument" in -DoutputDirectory=*) jars="${argument#*=}" ;; esac; done
mkdir -p "$jars"
"""


def java_tools(folder: Path, monkeypatch: pytest.MonkeyPatch, fetches: str) -> None:
    """A Maven that fetches what a shell command makes in ``$jars``, and a compiler that makes nothing."""
    (folder / "bin").mkdir()
    for name, text in (("mvn", f"{MAVEN}{fetches}\n"), ("javac", "#!/bin/sh\necho javac 21.0.1\n")):
        (folder / "bin" / name).write_text(text, encoding="utf-8")
        (folder / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder / 'bin'}:/usr/bin:/bin")


@pytest.fixture
def pinned_jar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sources whose lock pins one jar, ``a-1.jar``, which holds ``jar``."""
    (tmp_path / "java").mkdir()
    digest = hashlib.sha256(b"jar").hexdigest()
    (tmp_path / "java" / built.JAR_LOCK).write_text(f"{digest}  a-1.jar\n", encoding="utf-8")
    monkeypatch.setattr(built, "source_folder", lambda _: tmp_path / "java")


@pytest.mark.usefixtures("pinned_jar")
def test_pinned_jars_are_kept_beside_what_is_made_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java_tools(tmp_path, monkeypatch, 'printf jar >"$jars/a-1.jar"')
    made = install_build(find_server("iceberg-rest"), quiet)
    assert (made.program / "jars" / "a-1.jar").read_bytes() == b"jar"


@pytest.mark.usefixtures("pinned_jar")
@pytest.mark.parametrize(
    ("fetches", "said"),
    [
        ('printf other >"$jars/a-1.jar"', "a-1.jar: SHA-256 d9298a10d1b07358"),
        ('printf jar >"$jars/a-1.jar"; printf jar >"$jars/b-1.jar"', "b-1.jar: SHA-256"),
        ("true", "a-1.jar: nothing was fetched, and SHA-256"),
    ],
)
def test_jars_that_are_not_those_of_the_lock_are_refused(
    fetches: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java_tools(tmp_path, monkeypatch, fetches)
    with pytest.raises(EngineError, match=re.escape(said)):
        install_build(find_server("iceberg-rest"), quiet)
    assert not built.engine_build(find_server("iceberg-rest")).is_installed()


def test_a_build_that_fails_reports_why_and_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler(tmp_path, monkeypatch, "go", "go1.26", 'echo "main.go:1: error: no such module" >&2; exit 1')
    with pytest.raises(EngineError, match=r"go could not build it: main\.go:1: error: no such module"):
        install("iceberg-go")
    with pytest.raises(EngineError, match="engines install iceberg-go"):
        launch("iceberg-go")


def test_what_was_built_is_started_by_itself_and_not_built_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler(tmp_path, monkeypatch, "go", "go version go1.26.0 linux/amd64", GO)
    status = install("iceberg-go")
    assert status.installed
    assert launch("iceberg-go").command == [str(status.path / "adapter")]
    assert sorted(path.name for path in status.path.iterdir()) == ["adapter", "installed"]
    compiler(tmp_path, monkeypatch, "go", "go version go1.26.0 linux/amd64")  # would fail now
    assert install("iceberg-go") == status


def test_other_sources_are_another_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = find_engine("iceberg-go")
    before = built.engine_build(engine)
    folder = tmp_path / "sources"
    folder.mkdir()
    for file in built.source_folder(engine).iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    monkeypatch.setattr(built, "source_folder", lambda _: folder)
    assert built.engine_build(engine) == before
    (folder / "README.md").write_text("what is said of them is no source", encoding="utf-8")
    assert built.engine_build(engine) == before
    (folder / "go.sum").write_text("", encoding="utf-8")
    assert built.engine_build(engine) != before


def test_all_engines_are_those_that_need_no_build(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def installs(label: str, _: object) -> Any:
        asked.append(label)
        raise EngineError(label, "none here")

    monkeypatch.setattr("conformance.engine_setup.install", installs)
    install_(all=True)
    assert asked == [status.label for status in list_engines() if not status.by_name]
    assert {"iceberg-go", "iceberg-rust"}.isdisjoint(asked)
    asked.clear()
    install_("iceberg-go", all=True)
    assert "iceberg-go" in asked


def test_large_engines_are_installed_on_request_and_say_first_what_they_take(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def installs(label: str, _: object) -> Any:
        asked.append(label)
        raise EngineError(label, "none here")

    monkeypatch.setattr("conformance.engine_setup.install", installs)
    install_(large=True)
    assert asked == [status.label for status in list_engines() if status.large]
    assert {"iceberg-go", "iceberg-rust", "flink"} <= set(asked)
    errors = capsys.readouterr().err.splitlines()
    assert "iceberg-go: installing it takes about 1000 MB of disk and 4 minutes" in errors
    assert errors.index("iceberg-go: installing it takes about 1000 MB of disk and 4 minutes") < errors.index(
        "iceberg-conformance: iceberg-go: none here"
    )
    install_("pyiceberg")
    assert capsys.readouterr().err == "iceberg-conformance: pyiceberg: none here\n"


@pytest.mark.usefixtures("pinned_jar")
def test_a_program_in_java_is_started_by_the_adapter_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java_tools(tmp_path, monkeypatch, 'printf jar >"$jars/a-1.jar"')
    monkeypatch.setattr("conformance.engine_setup.java.install_java", lambda *_: tmp_path)
    monkeypatch.setattr("conformance.engine_setup.java.system_java", lambda: tmp_path)
    status = install("flink")
    started = launch("flink")
    assert started.command == [sys.executable, str(find_engine("flink").folder / "adapter.py")]
    assert started.env["ICEBERG_CONFORMANCE_PROGRAM"] == str(status.path / "adapter")
    assert (status.path / "adapter" / "jars" / "a-1.jar").is_file()
    assert started.env["JAVA_HOME"] == str(tmp_path)


@pytest.mark.usefixtures("pinned_jar")
def test_classes_that_adapters_share_are_compiled_with_the_program_and_identify_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java_tools(tmp_path, monkeypatch, 'printf jar >"$jars/a-1.jar"')
    (tmp_path / "bin" / "javac").write_text(
        f'#!/bin/sh\necho javac 21.0.1\nprintf "%s\\n" "$@" >>{tmp_path}/compiled\n', encoding="utf-8"
    )
    (tmp_path / "java" / "src").mkdir()
    (tmp_path / "java" / "src" / "Program.java").write_text("class Program {}", encoding="utf-8")
    shared = tmp_path / "engine" / "shared" / "conformance" / "Shared.java"
    shared.parent.mkdir(parents=True)
    shared.write_text("class Shared {}", encoding="utf-8")
    engine = attrs.evolve(find_engine("flink"), folder=tmp_path / "engine", classes=("shared",), large=None)
    made = install_build(engine, quiet)
    names = {Path(line).name for line in (tmp_path / "compiled").read_text("utf-8").splitlines()}
    assert {"Program.java", "Shared.java"} <= names
    shared.write_text("class Shared { int other; }", encoding="utf-8")
    assert built.engine_build(engine).path != made.path


@pytest.mark.usefixtures("pinned_jar")
def test_what_an_interrupted_installation_left_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java_tools(tmp_path, monkeypatch, 'printf half >"$jars/a-1.jar"; exit 1')
    monkeypatch.setattr("conformance.engine_setup.java.install_java", lambda *_: tmp_path)
    with pytest.raises(EngineError, match="mvn could not build it"):
        install("flink")
    with pytest.raises(EngineError, match="not installed"):
        launch("flink")
    (tmp_path / "bin" / "mvn").write_text(f'{MAVEN}printf jar >"$jars/a-1.jar"\n', encoding="utf-8")
    assert (install("flink").path / "adapter" / "jars" / "a-1.jar").read_bytes() == b"jar"


@pytest.mark.usefixtures("pinned_jar")
def test_jars_that_run_on_a_jdk_are_started_by_the_adapter_beside_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java_tools(tmp_path, monkeypatch, 'mkdir "$jars/server"; printf jar >"$jars/server/a-1.jar"')
    digest = hashlib.sha256(b"jar").hexdigest()
    (tmp_path / "java" / built.JAR_LOCK).write_text(f"{digest}  server/a-1.jar\n", encoding="utf-8")
    monkeypatch.setattr("conformance.engine_setup.java.full_jdk", lambda _: tmp_path)
    status = install("trino")
    started = launch("trino")
    assert started.command == [sys.executable, str(find_engine("trino").folder / "adapter.py")]
    assert started.env["ICEBERG_CONFORMANCE_PROGRAM"] == str(status.path / "adapter")
    assert started.env["ICEBERG_CONFORMANCE_ENGINE_VERSION"] == find_engine("trino").version
    assert (status.path / "adapter" / "jars" / "server" / "a-1.jar").is_file()
    assert started.env["JAVA_HOME"] == str(tmp_path)


@pytest.mark.usefixtures("pinned_jar")
def test_maven_runs_on_the_jdk_that_was_found_where_none_is_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java_tools(tmp_path, monkeypatch, 'printf jar >"$jars/a-1.jar"')
    needs_java = '[ "$JAVA_HOME" ] || { echo "JAVA_HOME is not set" >&2; exit 1; }\n'
    (tmp_path / "bin" / "mvn").write_text(
        MAVEN.replace("#!/bin/sh\n", f"#!/bin/sh\n{needs_java}") + 'printf jar >"$jars/a-1.jar"\n', encoding="utf-8"
    )
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr("conformance.engine_setup.java.full_jdk", lambda _: tmp_path)
    assert (install("trino").path / "adapter" / "jars" / "a-1.jar").is_file()


FETCHED = {"server-1/lib/a-1.jar": b"jar", "server-1/plugin/iceberg/b-1.jar": b"other", "server-1/README": b"text"}


@pytest.fixture
def tarball_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """Trino from an archive, of which two folders are unpacked; a Maven that fetches it, and its lock."""
    java_tools(tmp_path, monkeypatch, f'cp "{tmp_path}/server-1.tar.gz" "$jars/"')
    monkeypatch.setattr("conformance.engine_setup.java.full_jdk", lambda _: tmp_path)
    (tmp_path / "java").mkdir()
    monkeypatch.setattr(built, "source_folder", lambda _: tmp_path / "java")
    unpack = {"server": "server-1/lib", "x": "server-1/plugin/iceberg"}
    return attrs.evolve(find_engine("trino@476"), unpack=unpack, large=None)


def write_archive(folder: Path, members: dict[str, bytes]) -> None:
    """Write the archive that Maven fetches, and the lock that pins it."""
    with tarfile.open(folder / "server-1.tar.gz", "w:gz") as opened:
        for name, data in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            opened.addfile(member, io.BytesIO(data))
    digest = hashlib.sha256((folder / "server-1.tar.gz").read_bytes()).hexdigest()
    (folder / "java" / built.JAR_LOCK).write_text(f"{digest}  server-1.tar.gz\n", encoding="utf-8")


def test_a_pinned_archive_is_unpacked_into_folders_of_jars(tarball_engine: Engine, tmp_path: Path) -> None:
    write_archive(tmp_path, FETCHED)
    jars = install_build(tarball_engine, quiet).program / "jars"
    found = {path.relative_to(jars).as_posix(): path.read_bytes() for path in jars.rglob("*") if path.is_file()}
    assert found == {"server/a-1.jar": b"jar", "x/b-1.jar": b"other"}


def test_an_archive_that_is_not_the_one_of_the_lock_is_not_unpacked(tarball_engine: Engine, tmp_path: Path) -> None:
    write_archive(tmp_path, FETCHED)
    lock = (tmp_path / "java" / built.JAR_LOCK).read_bytes()
    write_archive(tmp_path, {**FETCHED, "server-1/lib/c-1.jar": b"evil"})
    (tmp_path / "java" / built.JAR_LOCK).write_bytes(lock)
    with pytest.raises(EngineError, match=r"server-1\.tar\.gz: SHA-256 .* was fetched, and SHA-256 .* is pinned"):
        install_build(tarball_engine, quiet)
    assert not list(tmp_path.rglob("c-1.jar"))


def test_a_tree_that_was_unpacked_by_half_is_not_used_and_made_anew(
    tarball_engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_archive(tmp_path, FETCHED)

    def interrupted(archive: Path, folders: dict[Path, str]) -> None:
        next(iter(folders)).mkdir()
        next(iter(folders)).joinpath("half.jar").write_bytes(archive.read_bytes()[:9])
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(built, "unpack_folders", interrupted)
        with pytest.raises(KeyboardInterrupt):
            install_build(tarball_engine, quiet)
    made = built.engine_build(tarball_engine)
    assert list(made.path.rglob("half.jar"))
    assert not made.is_installed()
    install_build(tarball_engine, quiet)
    assert not list(made.path.rglob("half.jar"))
    assert (made.program / "jars" / "x" / "b-1.jar").is_file()


def test_an_evil_archive_is_an_error_of_the_engine(tarball_engine: Engine, tmp_path: Path) -> None:
    write_archive(tmp_path, {**FETCHED, "../../../evil.jar": b"x"})
    with pytest.raises(EngineError, match=r"trino 476: server-1\.tar\.gz: its member '\.\./\.\./\.\./evil\.jar'"):
        install_build(tarball_engine, quiet)
    assert not built.engine_build(tarball_engine).is_installed()
    assert not list(tmp_path.rglob("evil.jar"))


def test_a_build_differs_with_the_folders_that_are_unpacked() -> None:
    engine = find_engine("trino@476")
    other = attrs.evolve(engine, unpack={**engine.unpack, "more": "server-1/more"}, large=None)
    assert built.engine_build(other).path != built.engine_build(engine).path


def test_without_a_full_jdk_nothing_is_fetched_and_the_release_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.engine_setup.java.full_jdk", lambda _: None)
    with pytest.raises(EngineError, match="a full JDK of release 25 or newer is needed to run it") as said:
        install("trino")
    assert "openjdk-25-jdk" in str(said.value)
    assert not built.engine_build(find_engine("trino")).path.exists()


def test_a_full_jdk_is_the_oldest_that_is_new_enough_and_has_a_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, release, programs in (
        ("a", 26, "java javac"),
        ("b", 25, "java javac"),
        ("c", 25, "java"),
        ("d", 17, "java javac"),
    ):
        (tmp_path / name / "bin").mkdir(parents=True)
        for program in programs.split():
            path = tmp_path / name / "bin" / program
            path.write_text(f"#!/bin/sh\necho 'openjdk version \"{release}.0.1\"' >&2\n", encoding="utf-8")
            path.chmod(0o755)
    monkeypatch.setattr(java, "_JDK_FOLDERS", (f"{tmp_path}/*",))
    monkeypatch.setattr(java.shutil, "which", lambda _: str(tmp_path / "d" / "bin" / "java"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    java._full_jdk.cache_clear()
    assert java.full_jdk(25) == tmp_path / "b"
    assert java.full_jdk(26) == tmp_path / "a"
    assert java.full_jdk(27) is None
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "c"))  # a runtime only
    assert java.full_jdk(25) == tmp_path / "b"
    java._full_jdk.cache_clear()


def test_a_run_of_all_engines_takes_those_that_were_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "iceberg-go" not in [one.name for one in all_engines(AdapterLimits())]
    compiler(tmp_path, monkeypatch, "go", "go version go1.26.0 linux/amd64", GO)
    install("iceberg-go")
    taken = [one.name for one in all_engines(AdapterLimits())]
    assert "iceberg-go" in taken
    assert "iceberg-rust" not in taken


def test_an_engine_whose_sources_changed_since_it_was_built_is_not_left_out_of_a_run_of_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler(tmp_path, monkeypatch, "go", "go version go1.26.0 linux/amd64", GO)
    install("iceberg-go")
    changed = tmp_path / "changed"
    changed.mkdir()
    (changed / "main.go").write_text("package main", encoding="utf-8")
    original = built.source_folder
    monkeypatch.setattr(built, "source_folder", lambda one: changed if one.name == "iceberg-go" else original(one))
    (status,) = [one for one in list_engines() if one.label == "iceberg-go"]
    assert (status.installed, status.outdated) == (False, True)
    assert status.reason is not None
    assert "its sources changed" in status.reason
    names = [one.name for one in all_engines(AdapterLimits())]
    assert "iceberg-go" in names
    assert "iceberg-rust" not in names  # which never was built, and is named at the end of the run


def test_a_run_of_all_engines_ends_with_those_that_were_not_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "not_ready", lambda: {"one": "not installed", "one@1": "not installed either"})
    found = Run({}, adapters=[AdapterRun("two", "two", not_examined="it does not start\nat all")])
    command._print_engines_not_run(found, latest=True)
    errors = capsys.readouterr().err.splitlines()
    assert errors[0].endswith("WARNING: 2 engines were not run:")
    assert errors[1] == "  one: not installed"
    assert errors[2].startswith("  two: it does not start")
    assert len(errors) == 3
    monkeypatch.setattr(command, "not_ready", dict)
    command._print_engines_not_run(Run({}), latest=True)
    assert capsys.readouterr().err == ""
