from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from conformance.vectors.golden_places import PLACE
from conformance.vectors.golden_tables import materialize

ROOT = Path(__file__).parents[2]
TABLE = "arrow-deletes-dictionary"
INSTALLING = "conformance.engine_setup.environments"

LAZY = """\
import sys
from conformance.core.lazy_imports import lazy_imports

with lazy_imports():
    import chunk_of_texts
    from folder_of_texts import chapter as lazy_chapter

import folder_of_texts
print(sorted({"chunk_of_texts", "folder_of_texts.chapter", "folder_of_texts.other"} & sys.modules.keys()))
print(lazy_chapter.TEXT, chunk_of_texts.OTHER, "folder_of_texts.chapter" in sys.modules)
lazy_chapter.TEXT = "changed"
from folder_of_texts import chapter
print(chapter.TEXT)
"""

MODULES = {
    "chunk_of_texts.py": "from folder_of_texts import other as another\nOTHER = another.TEXT\n",
    "folder_of_texts/__init__.py": "from folder_of_texts.other import TEXT\n",
    "folder_of_texts/chapter.py": "TEXT = 'chapter'\n",
    "folder_of_texts/other.py": "TEXT = 'other'\n",
}


def run(place: Path, code: str) -> subprocess.CompletedProcess[str]:
    for name, text in MODULES.items():
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text(text)
    (place / "program.py").write_text(code)
    environment = {"PYTHONPATH": f"{ROOT}:{place}", "PATH": ""}
    return subprocess.run(
        [sys.executable, str(place / "program.py")], capture_output=True, text=True, timeout=100, env=environment
    )


def test_modules_are_loaded_when_an_attribute_is_used(tmp_path: Path) -> None:
    done = run(tmp_path, LAZY)
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["['folder_of_texts.other']", "chapter other True", "changed"]


def test_a_missing_module_is_reported_when_it_is_used(tmp_path: Path) -> None:
    code = LAZY.replace("chunk_of_texts\n", "missing_texts as chunk_of_texts\n")
    done = run(tmp_path, code)
    assert done.stdout.splitlines() == ["['folder_of_texts.other']"]
    assert done.stderr.splitlines()[-1] == "ModuleNotFoundError: No module named 'missing_texts'"


def test_a_dotted_name_is_refused(tmp_path: Path) -> None:
    done = run(tmp_path, LAZY.replace("import chunk_of_texts\n", "import folder_of_texts.chapter\n"))
    assert "write 'from package import module' instead of 'folder_of_texts.chapter'" in done.stderr


def lazily_imported() -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / "conformance").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for block in ast.parse(text).body if "lazy_imports()" in text else ():
            if isinstance(block, ast.With) and ast.unparse(block.items[0]) == "lazy_imports()":
                for one in block.body:
                    assert isinstance(one, ast.Import | ast.ImportFrom), f"{path}: only imports are lazy"
                    parent = f"{one.module}." if isinstance(one, ast.ImportFrom) else ""
                    yield from ((str(path.relative_to(ROOT)), f"{parent}{alias.name}") for alias in one.names)


@pytest.mark.parametrize("path_and_name", list(lazily_imported()), ids=" ".join)
def test_what_is_imported_lazily_is_a_module(path_and_name: tuple[str, str]) -> None:
    """A name inside a module would be imported like a module on first use, which fails."""
    assert find_spec(path_and_name[1]) is not None


@pytest.mark.parametrize(
    ("arguments", "unneeded"),
    [
        (
            ("explain", "TRN010"),
            ("conformance.operations.comparison", INSTALLING, "spec_ref.schemas", "numpy", "pyarrow"),
        ),
        (("run", "--suite", "hashing"), ("conformance.operations.reading.comparators", "numpy", "pyarrow")),
        (("validate", TABLE, "--level", "metadata"), ("multiprocessing", INSTALLING, "numpy", "pyarrow")),
    ],
)
def test_a_short_command_imports_nothing_that_it_does_not_need(
    arguments: tuple[str, ...], unneeded: tuple[str, ...]
) -> None:
    materialize([TABLE])
    code = "import sys; from conformance.cli import main; status = main(); print(status, *sys.modules)"
    arguments = tuple(str(PLACE / TABLE) if one == TABLE else one for one in arguments)
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    status, *loaded = done.stdout.splitlines()[-1].split()
    assert status == "0"
    assert set(unneeded).isdisjoint(loaded)


def test_a_run_of_one_engine_asks_for_the_state_of_no_other(tmp_path: Path) -> None:
    """To ask starts each Java of the machine, which takes longer than many a run."""
    (tmp_path / "java").write_text(f"#!/bin/sh\ntouch {tmp_path}/asked\n")
    (tmp_path / "java").chmod(0o755)
    code = "from conformance.cli import main; from conformance.runner.targets import make_limits, target; "
    code += "target('pyiceberg', make_limits(1, 1)); raise SystemExit(main())"
    command = [sys.executable, "-c", code, "run", "--suite", "hashing", "--adapter", "reference"]
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "JAVA_HOME": ""}
    subprocess.run(command, env=environment, check=True, capture_output=True)
    assert not (tmp_path / "asked").exists()


IN_THREADS = """\
import builtins, threading, time
original = builtins.__import__
later = threading.Thread(target=lambda: (time.sleep(0.1), original("second_of_threads")))
later.start()
import first_of_threads
later.join()
print(builtins.__import__ is original, first_of_threads.chunk_of_texts.OTHER)
"""

SLOW_BLOCK = """\
import time
from conformance.core.lazy_imports import lazy_imports

with lazy_imports():
    import chunk_of_texts
    time.sleep(0.2)
"""


def test_blocks_of_two_threads_follow_one_another(tmp_path: Path) -> None:
    for name in ("first_of_threads", "second_of_threads"):
        (tmp_path / f"{name}.py").write_text(SLOW_BLOCK)
    assert run(tmp_path, IN_THREADS).stdout.splitlines() == ["True other"]
