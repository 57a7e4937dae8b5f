"""``iceberg-conformance check``."""

from __future__ import annotations

from typing import Annotated

from cyclopts import App, Parameter

app = App(name="check", help="Check files: the linter of the vectors.", help_format="plaintext")


@app.command(name="vectors")
def check_vectors(*arguments: Annotated[str, Parameter(allow_leading_hyphen=True)]) -> int:
    """Lint vector files.

    Args:
        arguments: What the linter takes.
    """
    from conformance.vector_lint import main

    return main(list(arguments))
