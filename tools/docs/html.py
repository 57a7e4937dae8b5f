"""HTML for which Markdown has no syntax: raw blocks in a Markdown page, from templates."""

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
        values: the values for the template; texts are escaped.
    """
    text = _environment().get_template(template).render(**values)
    lines = [line for line in text.splitlines() if line.strip()]
    return ["~~~~~~{raw} html", *lines, "~~~~~~", ""]


def vector_link(suite: str, id_: str) -> str:
    """Return inline Markdown that links to a vector on the page of its suite."""
    return f'<a class="reference" href="vectors-{suite}.html#{id_}">`{id_}`</a>'


def portable(value: Any) -> Any:
    """Replace the local paths of golden files in JSON with paths relative to the vectors' folder.

    Args:
        value: the JSON, such as the arguments of a vector.
    """
    match value:
        case str() if value.startswith("/") and "/tables/" in value:
            return "golden/tables/" + value.partition("/tables/")[2]
        case dict():
            return {key: portable(one) for key, one in value.items()}
        case list():
            return [portable(one) for one in value]
    return value
