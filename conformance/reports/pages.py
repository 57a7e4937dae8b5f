"""Rendering of all HTML reports: templates in one shell, style, script, and the data that the script unpacks.

A report is one file that needs no network. Its details are compressed JSON; the script writes only text, so that
nothing in a table, vector or answer becomes markup.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from conformance.core.terminal_sanitizer import escape_for_page


def render_page(
    template: str,
    *,
    verdict: tuple[str, str],
    views: Sequence[tuple[str, str]] = (),
    styles: Sequence[str] = ("page.css",),
    scripts: Sequence[str] = (),
    data: dict[str, Any] | None = None,
    **values: Any,
) -> str:
    """Render a page.

    Args:
        template: the file of the template, which extends the shell.
        verdict: the style class of the verdict, ``good`` or ``bad``, and its words.
        views: the sections that the page can be opened at: the id of each, and its title.
        styles: files of the style.
        scripts: files of the script, after the common ones; none for a page without a script.
        data: the data of the script.
        values: the values of the template.
    """
    # Marked as safe: files of this package, and base64, which has no special characters of HTML.
    script = "".join(map(_resource, ("common.js", *scripts))) if scripts else ""
    page: str = (
        _environment()
        .get_template(template)
        .render(
            verdict=verdict,
            views=views,
            style=Markup("".join(map(_resource, styles))),  # noqa: S704
            script=Markup(script),  # noqa: S704
            data=Markup(_compress(data or {})),  # noqa: S704
            **values,
        )
    )
    return page


def _compress(content: dict[str, Any]) -> str:
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def _resource(name: str) -> str:
    return (Path(__file__).parent / "page" / name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=escape_for_page,
        loader=FunctionLoader(_resource),
    )
    environment.filters["percentage"] = percentage
    environment.filters["quote_fragment"] = quote_fragment
    return environment


def quote_fragment(text: str) -> str:
    """Quote text for the fragment of an address; characters that UTF-8 cannot encode are replaced."""
    return quote(text, safe="", errors="replace")


def percentage(counts: Counter[str], status: str) -> str:
    """Return the percentage of results with a status, for the style sheet."""
    return f"{100 * counts[status] / max(1, counts.total()):.2f}%"
