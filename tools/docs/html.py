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
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=FileSystemLoader(TEMPLATES),
    )


def block(template: str, **values: Any) -> list[str]:
    """Return the lines of a raw block with a rendered template.

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


def portable(value: Any) -> Any:
    """JSON with golden files by their place among the vectors, not where this machine has put them.

    Args:
        value: such as the arguments of a vector.
    """
    match value:
        case str() if value.startswith("/") and "/tables/" in value:
            return "golden/tables/" + value.partition("/tables/")[2]
        case dict():
            return {key: portable(one) for key, one in value.items()}
        case list():
            return [portable(one) for one in value]
    return value
