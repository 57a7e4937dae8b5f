"""Parts of pages that Markdown has no form for: HTML from templates, as raw blocks of a Markdown page."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

TEMPLATES = Path(__file__).with_name("templates")


@cache
def _environment() -> Environment:
    return Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        loader=FileSystemLoader(TEMPLATES),
    )  # fmt: skip


def block(template: str, **values: Any) -> list[str]:
    """The lines of a raw block with a rendered template.

    Args:
        template: the file of the template.
        values: what it shows; texts are escaped.
    """
    text = _environment().get_template(template).render(**values)
    lines = [line for line in text.splitlines() if line.strip()]
    return ["~~~~~~{raw} html", *lines, "~~~~~~", ""]


def vector_link(suite: str, id_: str) -> str:
    """Inline Markdown that leads to a vector on the page of its suite."""
    return f'<a class="reference" href="vectors-{suite}.html#{id_}">`{id_}`</a>'
