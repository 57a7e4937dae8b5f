"""An engine is a folder: every command finds one at any path, and a malformed one is refused with the place."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.cli.matrix import default_engines
from conformance.core.failures import UsageError
from conformance.engine_setup.built import TOOLCHAINS
from conformance.engine_setup.catalog import catalog, find_engine
from conformance.engine_setup.deviations import shipped_entries
from conformance.engine_setup.folders import BUILT_LANGUAGES, VARIABLE, engine_folders

Run = Callable[..., "subprocess.CompletedProcess[str]"]
SUITE = ("--suite", "single-values-binary")


def write(folder: Path, **files: str) -> Path:
    """A folder with files; ``engine`` is ``engine.toml``."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def engines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for engines, which the environment names."""
    root = tmp_path / "engines"
    root.mkdir()
    monkeypatch.setenv(VARIABLE, str(root))
    return root


@pytest.fixture
def run(tmp_path: Path, engines: Path) -> Run:
    """Runs ``iceberg-conformance`` with the engines of the folder."""

    def command(*words: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "conformance", *map(str, words)],
            cwd=tmp_path,
            env=dict(os.environ),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return command


@pytest.fixture
def toy(engines: Path, run: Run) -> Path:
    """What ``new-adapter`` makes, as an engine with no lock; it reads no tables, and encodes ints as big-endian."""
    folder = engines / "anywhere"
    made = run("new-adapter", folder, "--name", "toy")
    assert made.returncode == 0, made.stderr
    adapter = folder / "adapter.py"
    right = '"little", signed=True'
    assert right in adapter.read_text()
    adapter.write_text(adapter.read_text().replace(right, '"little" if type_ == "long" else "big", signed=True'))
    return write(
        folder,
        engine='name = "toy"\ntitle = "Toy"\nlanguage = "python"\nversion = "0.0"\nadapter = "adapter.py"\n'
        'matrix = ["consumer"]\n',
        readability='[engine.toy]\nversion = "0.0"\n\n[[fact]]\nengine = "toy"\nfeature = "format-v2"\n'
        'outcome = "refuses"\nreason = "v2 is not implemented"\nevidence = "seen"\n',
        fingerprints='[[footer]]\npattern = "^Toy"\nwriter = "Toy"\n',
    )


@pytest.fixture
def echo(engines: Path) -> Path:
    """The reference as a command, as an engine that writes and reads."""
    command = json.dumps([sys.executable, "-m", "conformance.engines.reference.adapter"])
    return write(
        engines / "echo",
        engine=f'name = "echo"\nlanguage = "python"\nversion = "1"\ncommand = {command}\n'
        'matrix = ["producer", "consumer"]\n',
    )


def test_every_list_has_it(toy: Path, echo: Path, run: Run) -> None:
    for words in (("engines", "list"), ("list", "engines")):
        (row,) = [one for one in json.loads(run(*words, "--format", "json").stdout) if one["label"] == "toy"]
        assert (row["version"], row["language"], row["installed"], row["path"]) == ("0.0", "python", True, str(toy))
    assert {"name": "toy", "version": "0.0", "ready": True} in json.loads(
        run("list", "adapters", "--format", "json").stdout
    )
    (row,) = [one for one in json.loads(run("doctor", "--format", "json").stdout) if one["what"] == "toy"]
    assert row["fine"]
    installed = run("engines", "install", "toy")
    assert (installed.returncode, installed.stdout) == (0, f"toy: ready, in {toy}\n")
    assert default_engines("producer")[:1] == ("reference",)
    assert [name for name in default_engines("consumer") if name in ("toy", "echo")] == ["echo", "toy"]


def test_it_runs_and_its_known_deviations_are_in_its_folder(toy: Path, run: Run, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    unknown = run("run", "--adapter", "toy", *SUITE, "--report", f"html:{report}")
    assert unknown.returncode == 1
    assert "toy" in report.read_text()
    written = run("run", "--adapter", "toy", *SUITE, "--expect", toy / "deviations.toml", "--update-expected")
    assert "new" in written.stderr + written.stdout
    done = run("run", "--adapter", "toy", *SUITE, "--expect", "known-deviations")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "known" in done.stdout


def test_the_matrix_and_scenarios_have_it(toy: Path, echo: Path, run: Run, tmp_path: Path) -> None:
    page, results = tmp_path / "matrix.html", tmp_path / "matrix.jsonl"
    made = run(
        "matrix",
        "--producer",
        "echo",
        "--consumer",
        "toy",
        "--consumer",
        "echo",
        "--script",
        "appends-v2-parquet",
        "--results",
        results,
        "--report",
        f"html:{page}",
    )
    assert made.returncode == 0, made.stdout + made.stderr
    assert "toy" in page.read_text()
    rows = [json.loads(line) for line in results.read_text().splitlines()]
    cells = {one["consumer"]: one["outcome"] for one in rows if one.get("kind") == "cell"}
    assert cells == {"toy": "unsupported", "echo": "passed"}
    followed = run("scenarios", "--adapter", "echo", "--examples", "1", "--seed", "0")
    assert followed.returncode == 0, followed.stdout + followed.stderr
    assert "toy does not have the operation table.write" in run("scenarios", "--adapter", "toy").stderr


def test_the_validator_knows_what_it_cannot_read_and_how_its_files_look(toy: Path, run: Run) -> None:
    table = Path(__file__).parents[2] / "vectors/golden/writers/pyiceberg-0.12.0/v2"
    done = run("validate", table, "--level", "metadata", "--format", "json")
    (reader,) = [one for one in json.loads(done.stdout)["tables"][0]["readability"] if one["engine"] == "toy"]
    assert "v2 is not implemented" in json.dumps(reader)
    asked = (
        "from conformance.validator import fingerprints as known; "
        "print(known.find_probable_writer(known.WriterMarks('Toy 7')))"
    )
    result = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert result.stdout == "Toy\n"


def test_an_engine_without_its_lock_file_is_not_ready_and_stops_nothing(engines: Path, run: Run) -> None:
    write(
        engines / "toy",
        engine='name = "toy"\nlanguage = "python"\nversion = "1"\nadapter = "adapter.py"\nlock = "toy-1"\n'
        '[lock_packages]\ntoy-1 = ["toy"]\n',
    )
    (engines / "toy" / "adapter.py").touch()
    (row,) = [one for one in json.loads(run("engines", "list", "--format", "json").stdout) if one["label"] == "toy"]
    assert not row["installed"]
    assert "lock toy-1`" in row["reason"]
    installed = run("engines", "install", "toy")
    assert (installed.returncode, installed.stdout) == (3, "")
    assert "lock toy-1`" in installed.stderr
    assert run("engines", "prune", "--dry-run").returncode == 0


ENGINE = 'name = "toy"\nlanguage = "c"\nversion = "1"\ncommand = ["./toy"]\n'

WRONG = {
    "[[": "engine.toml: not TOML",
    "": "engine.toml: /name: expected a non-empty string, found nothing",
    ENGINE.replace('"c"', "7"): "engine.toml: /language: expected a non-empty string, found 7",
    ENGINE.replace("toy", "To y", 1): "/name: expected lower-case letters and digits, .* found 'To y'",
    ENGINE + 'colour = "red"\n': "/colour: expected one of about, adapter, .*; there is no such key",
    ENGINE.replace('version = "1"\n', ""): "/version: expected a non-empty string, found nothing",
    ENGINE.replace('command = ["./toy"]\n', ""): "expected one of adapter, command, sources, module, found none",
    ENGINE + 'module = "json"\n': "expected one of .*, found command and module",
    ENGINE + 'lock = "readers"\n': "/lock: expected none beside command, found 'readers'",
    ENGINE + 'classes = ["java"]\n': "/classes: expected a folder beside engine.toml, found no java",
    ENGINE + 'classes = ["."]\n': "/classes: expected java and a lock beside it, or java and sources; found neither",
    ENGINE.replace(
        'command = ["./toy"]', 'sources = "."'
    ): "/language: expected go or rust or java where sources are bu",
    ENGINE + 'classes = "java"\n': "/classes: expected a list of texts, found 'java'",
    ENGINE + "command_line = 1\n": "/command_line: expected one of",
    ENGINE.replace('["./toy"]', "[]"): r"/command: expected a list of texts, found \[\]",
    ENGINE.replace('command = ["./toy"]', 'adapter = "a.py"'): "/adapter: expected a file beside engine.toml",
    ENGINE + 'matrix = ["reader"]\n': "/matrix: expected a list of producer and consumer, found ",
    ENGINE.replace('"c"', '"java"').replace(
        'command = ["./toy"]', 'sources = "."'
    ): "/sources: expected an adapter beside",
    ENGINE + "large = true\n": "/large: expected a table of disk_mb and minutes, both integers above 0, found True",
    ENGINE + "large = {disk_mb = 0, minutes = 1}\n": "/large: expected a table of disk_mb and minutes",
    ENGINE + "unpack = {}\n": "/unpack: expected a non-empty table of strings",
    ENGINE + "unpack = {a = 1}\n": "/unpack: expected a non-empty table of strings",
    ENGINE + 'unpack = {a = "b"}\n': "/unpack: expected jdk and sources beside it",
    ENGINE + "java = 1\n": "/java: expected a boolean, found 1",
    ENGINE + 'jars = [{name = "x"}]\n': "/jars/0: expected a table of organization, name, revision, sha256",
    ENGINE + "[[release]]\nversion = 1\n": "/release/0/version: expected a non-empty string, found 1",
    ENGINE + "lock_packages = {readers = []}\n": "/lock_packages/readers: expected a unique name, but .* has this lock",
    ENGINE.replace('"toy"', '"pyiceberg"', 1): "/name: found 'pyiceberg', .*; expected a unique name",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_file_is_refused_with_file_key_and_what_is_expected(text: str, engines: Path) -> None:
    write(engines / "toy", engine=text)
    with pytest.raises(UsageError, match=WRONG[text]) as error:
        catalog()
    assert str(engines / "toy" / "engine.toml") in str(error.value)
    assert "\n" not in str(error.value)


def test_what_is_built_from_sources_has_a_toolchain() -> None:
    assert set(BUILT_LANGUAGES) <= TOOLCHAINS.keys()


def test_an_adapter_with_an_unknown_lock_is_refused(engines: Path) -> None:
    text = ENGINE.replace('command = ["./toy"]', 'adapter = "engine.toml"\nlock = "nothing"')
    write(engines / "toy", engine=text)
    with pytest.raises(UsageError, match=r"/lock: expected one of .*readers.*, found 'nothing'"):
        catalog()


def test_two_engines_of_one_name_and_a_folder_without_a_file_are_refused(
    engines: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(engines / "a", engine=ENGINE)
    write(engines / "b", engine=ENGINE)
    done = run("engines", "list")
    assert (done.returncode, done.stdout) == (2, "")
    place = f"{engines / 'b' / 'engine.toml'}: /name: found 'toy', which is the name of {engines / 'a'}"
    assert place in done.stderr
    (engines / "b" / "engine.toml").unlink()
    done = run("run", "--adapter", "toy")
    assert done.returncode == 2
    assert f"{engines / 'b'}: expected the folder of an engine, with a file engine.toml; found none" in done.stderr
    monkeypatch.setenv(VARIABLE, f"{engines / 'a'}{os.pathsep}{engines / 'absent'}")
    with pytest.raises(UsageError, match=VARIABLE):
        engine_folders()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[[deviation]]\nengine = "other"\n', "/deviation/0/engine: expected 'toy', found 'other'"),
        ('[[cell]]\n[[cell]]\nconsumer = "other"\n', "/cell/1/consumer: expected 'toy', found 'other'"),
        ("[[deviations]]\n", "/deviations: expected one of deviation, cell, table, relay, scenario, catalog"),
        ("deviation = 1\n", r"/deviation: expected entries \[\[deviation\]\], found 1"),
        ("[[", "broken known deviations"),
    ],
)
def test_a_file_of_deviations_has_sections_and_is_of_its_engine(text: str, expected: str, engines: Path) -> None:
    folder = write(engines / "toy", engine=ENGINE, deviations=text)
    with pytest.raises(UsageError, match=expected) as error:
        shipped_entries("deviation")
    assert str(error.value).startswith(str(folder / "deviations.toml"))


def test_several_releases_share_what_they_do_not_say(engines: Path) -> None:
    releases = '[[release]]\nversion = "2.1"\n[[release]]\nversion = "1.9"\ncommand = ["other"]\n'
    write(engines / "toy", engine=ENGINE + releases)
    assert [find_engine(name).version for name in ("toy", "toy@2", "toy@1.9")] == ["2.1", "2.1", "1.9"]
    assert find_engine("toy").command == ("./toy",)
    assert find_engine("toy@1.9").command == ("other",)
    assert find_engine("toy@1.9").label == "toy@1.9"
