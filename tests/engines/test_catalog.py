from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import packages_distributions
from importlib.resources import files
from pathlib import Path

import pytest

from conformance.engine_setup import EngineError, find_engine
from conformance.engine_setup.built import source_folder
from conformance.engine_setup.catalog import catalog, lock_text

LOCKS = [*catalog().locks]


def test_the_bare_name_means_the_first_version_and_a_version_may_be_shortened() -> None:
    assert find_engine("iceberg-java").version == "1.12.0"
    assert find_engine("iceberg-java").label == "iceberg-java"
    assert find_engine("iceberg-java@1.10").version == "1.10.2"
    assert find_engine("iceberg-java@1.10.2").label == "iceberg-java@1.10.2"
    assert find_engine("spark-reference@3.5").version == "3.5.9"


@pytest.mark.parametrize("name", ["no-such-engine", "iceberg-java@1.1", "iceberg-java@9", "", "@", "pyiceberg@"])
def test_an_unknown_engine_is_reported_in_one_line_with_what_there_is(name: str) -> None:
    if name == "pyiceberg@":
        assert find_engine(name) == find_engine("pyiceberg")
        return
    with pytest.raises(EngineError, match=r"the (engines|versions) are") as error:
        find_engine(name)
    assert "\n" not in str(error.value)


def test_every_engine_has_an_adapter_and_a_lock_and_a_label_of_its_own() -> None:
    engines = catalog().engines
    assert len({engine.label for engine in engines}) == len(engines)
    for engine in engines:
        if engine.sources:
            assert (engine.folder / engine.adapter).is_file() if engine.language == "java" else not engine.adapter
            assert not engine.lock
            assert engine.large
            assert source_folder(engine).is_dir()
            continue
        assert (engine.folder / engine.adapter).is_file()
        assert engine.lock in LOCKS


def test_every_server_has_a_lock_of_packages_or_of_jars_and_every_program_in_java_one_of_jars() -> None:
    servers = catalog().servers
    assert len({server.name for server in servers} | {engine.name for engine in catalog().engines}) == len(
        {engine.name for engine in catalog().engines}
    ) + len(servers)
    for server in [*servers, *(one for one in catalog().engines if one.sources and one.language == "java")]:
        if server.lock:
            assert server.lock in LOCKS
            continue
        rows = [line.split() for line in (source_folder(server) / "jars.lock").read_text().splitlines()]
        assert rows
        kind = ".tar.gz" if server.unpack else ".jar"
        assert all(re.fullmatch(r"[0-9a-f]{64}", digest) and name.endswith(kind) for digest, name in rows)
        assert "://" not in (source_folder(server) / "pom.xml").read_text().replace(
            "http://maven.apache.org/POM/4.0.0", ""
        )


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_holds_pinned_packages_with_hashes_and_no_addresses(name: str) -> None:
    text = lock_text(name)
    assert "://" not in text
    assert "--index" not in text
    for entry in re.split(r"\n(?=\S)", text.strip()):
        assert re.match(r"[a-z0-9._-]+==\S+", entry), entry
        assert "--hash=sha256:" in entry, entry


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_pins_what_the_catalog_asks_for(name: str) -> None:
    locked = {
        line.split("==")[0].replace(".", "-") for line in lock_text(name).splitlines() if "==" in line.split(" ")[0]
    }
    asked = {re.split(r"[\[<=>;]", package)[0].replace(".", "-").lower() for package in catalog().locks[name]}
    assert asked <= locked


def test_no_lock_file_is_left_over() -> None:
    package = Path(str(files("conformance")))
    places = [
        *package.glob("engines/*/*.txt"),
        *package.glob("engine_setup/locks/*"),
        *package.glob("table_io/catalogs/servers/*/*.txt"),
    ]
    assert sorted(places) == sorted(catalog().lock_files.values())


@pytest.mark.parametrize("lock", ["spark-4_1", "spark-3_5"])
def test_what_runs_inside_spark_finds_every_library_that_it_imports(lock: str) -> None:
    script = (
        "import sys, conformance.engines.spark_reference.kernels; print(*{name.split('.')[0] for name in sys.modules})"
    )
    imported = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    distributions = packages_distributions()
    needed = {
        distribution.lower().replace("_", "-").replace(".", "-")
        for name in imported
        if name not in sys.stdlib_module_names
        for distribution in distributions.get(name, [])
    }
    lines = (lock_text("build") + lock_text(lock)).splitlines()
    locked = {line.split("==")[0] for line in lines if re.match(r"[a-z0-9-]+==", line)}
    assert needed - {"iceberg-conformance"} <= locked


def test_the_makefile_takes_the_large_engines_from_their_folders() -> None:
    root = Path(__file__).parents[2]
    large = [engine for engine in catalog().engines if engine.by_name]
    assert {"trino", "trino@476"} <= {engine.label for engine in large}
    assert not {engine.name for engine in large} & set(re.findall(r"[\w-]+", (root / "Makefile").read_text("utf-8")))
    command = ["make", "--dry-run", f"BIN={Path(sys.executable).parent}", "engines-large"]
    printed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    assert set(re.findall(r"--adapter (\S+)", printed)) == {engine.label for engine in large}
    assert f'-k "{" or ".join(sorted({engine.name for engine in large}))}"' in printed
