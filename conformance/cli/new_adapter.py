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
"""The files that are written, and the template of each."""


def new_adapter(folder: Annotated[Path, Parameter(name="DIR")], /, *, name: str | None = None) -> int:
    """Create a new adapter: one that runs, a file for known failures, and a workflow for GitHub.

    Exit status: 2 if one of the files exists.

    Args:
        folder: The folder to write to; created if it does not exist.
        name: The name of the implementation; by default the name of the folder.
    """
    called = name if name is not None else folder.resolve().name
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._+-]*", called):
        raise UsageError(
            f"new-adapter: {called!r} is not a name for an implementation: expected letters, digits and . _ + -"
        )
    existing = [folder / file for file in FILES if (folder / file).exists()]
    if existing:
        raise UsageError(f"new-adapter: {existing[0]} exists")
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
    print("The adapter answers one operation for a few types. Run it, then call your engine in it:")
    print(f"    iceberg-conformance run --adapter {adapter} --suite single-values-binary")
    return ExitStatus.CONFORMANT
