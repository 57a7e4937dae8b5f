"""``iceberg-conformance check``."""

from __future__ import annotations

from pathlib import Path

from cyclopts import App

app = App(name="check", help="Check files: the linter of the vectors.", help_format="plaintext")


@app.command(name="vectors")
def check_vectors(*files: Path) -> int:
    """Lint vector files; a finding is one line with its place.

    Exit status: 1 with findings, 2 if a file is not JSON.

    Args:
        files: Vector files or folders of them; those that come with the tool when nothing is named.
    """
    from conformance.vector_lint import main
    from conformance.vectors import shipped

    return main(["--", *map(str, files or (shipped(),))])
