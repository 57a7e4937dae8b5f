"""The imports of the reference are those of its layers, and an import that is not allowed is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import layers


def test_the_reference_has_its_layers() -> None:
    assert list(layers.problems(layers.read_imports())) == []


@pytest.mark.parametrize(
    ("module", "text", "found"),
    [
        ("spec_ref/a.py", "import numpy as np\n", [("spec_ref.a", "numpy")]),
        ("spec_ref/a.py", "def f():\n    from pyarrow import compute\n", [("spec_ref.a", "pyarrow")]),
        ("spec_ref/a/b.py", "from spec_ref.columnar import kernel\n", [("spec_ref.a.b", layers.KERNELS)]),
        ("spec_ref/a/b.py", "from spec_ref.data_files.file import f\n", [("spec_ref.a.b", layers.DATA_FILES)]),
        ("spec_ref/columnar/a.py", "import numpy\nfrom spec_ref.errors import E\n", []),
        ("spec_ref/columnar/a.py", "import spec_ref.data_files.file\n", [("spec_ref.columnar.a", layers.DATA_FILES)]),
        ("spec_ref/data_files/a.py", "import pyarrow\nfrom spec_ref.columnar.kernel import f\n", []),
    ],
)
def test_an_import_over_a_layer_is_found(tmp_path: Path, module: str, text: str, found: list[tuple[str, str]]) -> None:
    for name in ("errors.py", "columnar/__init__.py", "columnar/kernel.py", "data_files/file.py"):
        (tmp_path / "spec_ref" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "spec_ref" / name).write_text("")
    (tmp_path / module).parent.mkdir(exist_ok=True)
    (tmp_path / module).write_text(text)
    assert list(layers.forbidden_imports(layers.read_imports(tmp_path))) == found


def test_modules_that_import_each_other_are_found() -> None:
    imports = {"a": {"b"}, "b": {"c", "numpy"}, "c": {"a", "d"}, "d": {"e"}, "e": set(), "f": {"a"}}
    assert list(layers.circles({name: frozenset(to) for name, to in imports.items()})) == [("a", "b", "c")]


def test_what_is_allowed_and_not_needed_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layers, "EXCEPTIONS", frozenset({("spec_ref.a", "numpy")}))
    monkeypatch.setattr(layers, "CIRCLES", frozenset())
    assert list(layers.problems({"spec_ref.a": frozenset()})) == [
        "spec_ref.a no longer imports numpy: remove the exception"
    ]
