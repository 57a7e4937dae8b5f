"""``iceberg-conformance new-adapter``."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Annotated, Literal

from attrs import frozen
from cyclopts import Parameter

from conformance.core.failures import ExitStatus, UsageError

SHARED = {"README.md": "README.md.txt", "known.toml": "known.toml.txt", "conformance.yml": "conformance.yml.txt"}
"""The files that are written for every language, and the template of each."""


@frozen
class Template:
    """The template of an adapter in one language."""

    file: str
    """The name of the program."""

    source: str
    """Its template, in the folder of the language."""

    run: str
    """The command that starts it, in its folder."""

    build: str = ""
    """The command that builds it there."""

    operation: str = "hash"
    vector: str = "hash-int-34"
    """A vector that it passes."""

    suite: str = "hashing"
    place: str = "hash"
    """The function in which the engine is called."""


TEMPLATES = {
    "python": Template(
        "adapter.py",
        "adapter.py.txt",
        "python3 adapter.py",
        operation="single-value.encode",
        vector="binary-encode-int-34",
        suite="single-values-binary",
        place="encode",
    ),
    "go": Template("adapter.go", "adapter.go", "./adapter", "go build -o adapter adapter.go"),
    "rust": Template("adapter.rs", "adapter.rs", "./adapter", "rustc --edition 2021 -O -o adapter adapter.rs"),
    "java": Template("Adapter.java", "Adapter.java", "java -cp classes Adapter", "javac -d classes Adapter.java"),
    "javascript": Template("adapter.js", "adapter.js", "node adapter.js"),
}
"""The templates by language."""


def new_adapter(
    folder: Annotated[Path, Parameter(name="DIR")],
    /,
    *,
    language: Literal["python", "go", "rust", "java", "javascript"] = "python",
    name: str | None = None,
) -> int:
    """Create a new adapter: one that runs, a README, a file for known failures, and a workflow for GitHub.

    Exit status: 2 if one of the files exists.

    Args:
        folder: The folder to write to; created if it does not exist.
        language: The language of the adapter.
        name: The name of the implementation; by default the name of the folder.
    """
    implementation = name if name is not None else folder.resolve().name
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._+-]*", implementation):
        raise UsageError(
            f"new-adapter: {implementation!r} is not a name for an implementation: expected letters, digits and . _ + -"
        )
    template = TEMPLATES[language]
    written = [template.file, *SHARED]
    existing = [folder / file for file in written if (folder / file).exists()]
    if existing:
        raise UsageError(f"new-adapter: {existing[0]} exists; remove it, or name another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in _texts(language, template, implementation).items():
            (folder / file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"new-adapter: {folder} cannot be written: {error.strerror}") from None
    print(f"{folder}: {', '.join(written)}")
    print("The adapter answers one operation for a few types. Run it, then call your engine in it:")
    print(f"    cd {shlex.quote(folder.as_posix())}")
    if template.build:
        print(f"    {template.build}")
    print(f"    iceberg-conformance run --adapter {shlex.quote(template.run)} --suite {template.suite}")
    return ExitStatus.CONFORMANT


def _texts(language: str, template: Template, name: str) -> dict[str, str]:
    """Return the text of each file."""
    values = {
        "NAME": name,
        "RUN": template.run,
        "BUILD": f"{template.build}\n" if template.build else "",
        "SETUP": f"      - run: {template.build}\n" if template.build else "",
        "OPERATION": template.operation,
        "SUITE": template.suite,
        "PLACE": template.place,
        "REPLAY": ""
        if template.build
        else f'iceberg-conformance replay {template.vector} --adapter "{template.run}"\n',
    }
    folder = Path(__file__).parents[1] / "adapter_template"
    sources = {template.file: folder / language / template.source}
    sources |= {file: folder / shared for file, shared in SHARED.items()}
    return {
        file: re.sub(r"@([A-Z]+)@", lambda match: values[match[1]], source.read_text(encoding="utf-8"))
        for file, source in sources.items()
    }
