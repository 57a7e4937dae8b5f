"""``iceberg-conformance new-adapter``."""

from __future__ import annotations

import re
import shlex
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from conformance.core.failures import ExitStatus, UsageError

FILES = {"adapter.py": "adapter.py.txt", "known.toml": "known.toml.txt", "conformance.yml": "conformance.yml.txt"}
"""What is written, and the template of each."""


def new_adapter(folder: Annotated[Path, Parameter(name="DIR")], /, *, name: str | None = None) -> int:
    """Begin an adapter: a folder with one that runs, a file for known failures, and a workflow for GitHub.

    Exit status: 2 if one of the files is there already.

    Args:
        folder: Where to put it; made where it is not there.
        name: What the implementation is called; the name of the folder where not given.
    """
    called = name if name is not None else folder.resolve().name
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._+-]*", called):
        raise UsageError(f"new-adapter: {called!r} is no name for an implementation: letters, digits and . _ + -")
    standing = [folder / file for file in FILES if (folder / file).exists()]
    if standing:
        raise UsageError(f"new-adapter: {standing[0]} is there already")
    templates = files("conformance") / "adapter_template"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, template in FILES.items():
            text = (templates / template).read_text(encoding="utf-8").replace("@NAME@", called)
            (folder / file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"new-adapter: {folder} cannot be written: {error.strerror}") from None
    adapter = shlex.quote(f"python3 {shlex.quote((folder / 'adapter.py').as_posix())}")
    print(f"{folder}: {', '.join(FILES)}")
    print("it answers one operation for a few types; run it, and put your engine in its place:")
    print(f"    iceberg-conformance run --adapter {adapter} --suite single-values-binary")
    return ExitStatus.CONFORMANT
