"""The page of the command line: every command with its options, as their help has them, and examples."""

from __future__ import annotations

import re

from conformance.cli import COMMANDS, EXAMPLES, EXIT_STATUSES, make_app

NAME = "iceberg-conformance"
_HEADING = re.compile(rf"(?m)^(#+) {NAME} (.+)$")

_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


def page() -> str:
    """Make the page.

    Returns:
        Markdown with a heading for each command.
    """
    made = make_app(COMMANDS).generate_docs(output_format="markdown", recursive=True)
    _, *sections = re.split(rf"(?m)^(?=## {NAME} )", made)
    lines = [
        "# Commands",
        "",
        f"`{NAME} COMMAND --help` prints the same. Options can have defaults in a",
        "[configuration file](ci.md#options-in-a-file). [From Python](from-python.md) works without the command line.",
        "",
        EXIT_STATUSES,
        "",
    ]
    for name, section in zip(COMMANDS, sections, strict=True):
        examples = [f"$ {NAME} {example}" for example in EXAMPLES[name]]
        described = (_with_code(line) for line in _HEADING.sub(r"\1 `\2`", section).rstrip().splitlines())
        lines += [*described, "", "```console", *examples, "```", ""]
    return "\n".join(lines)


def _with_code(line: str) -> str:
    """Mark the options that the text of a line names as code; every other part of the line is code already."""
    parts = line.split("`")
    parts[::2] = [_OPTION.sub(r"`\g<0>`", part) for part in parts[::2]]
    return "`".join(parts)
