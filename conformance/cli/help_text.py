"""How help is printed: by Cyclopts, but with the text wrapped only to the width of the terminal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from conformance.core.lazy_imports import lazy_imports

with lazy_imports():
    from cyclopts.help import formatters

if TYPE_CHECKING:
    from cyclopts.help import HelpPanel
    from rich.console import Console, ConsoleOptions


_BREAK_IN_PARAGRAPH = re.compile(r"(?<=\S)\n(?=\S)(?!- )")


def without_source_breaks(text: str) -> str:
    """Join the lines of each paragraph, and keep paragraphs, items of lists and indented lines apart.

    Args:
        text: a docstring, or the part of one that describes a parameter.
    """
    return _BREAK_IN_PARAGRAPH.sub(" ", text)


class WrappedHelp:
    """Prints help without the line breaks that docstrings have in the source, which Cyclopts keeps in plain text."""

    def render_usage(self, console: Console, options: ConsoleOptions, usage: Any) -> None:
        """Print the usage."""
        formatters.DefaultFormatter().render_usage(console, options, usage)

    def render_description(self, console: Console, options: ConsoleOptions, description: Any) -> None:
        """Print the description of a command."""
        _join_lines(description)
        formatters.DefaultFormatter().render_description(console, options, description)

    def __call__(self, console: Console, options: ConsoleOptions, panel: HelpPanel) -> None:
        """Print the descriptions of commands or parameters."""
        for entry in panel.entries:
            _join_lines(entry.description)
        formatters.DefaultFormatter()(console, options, panel)


def _join_lines(description: Any) -> None:
    text = getattr(description, "primary_renderable", None)
    if text is not None:
        text.plain = without_source_breaks(text.plain)
