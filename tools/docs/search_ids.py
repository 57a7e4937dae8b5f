"""The ids that the site's search knows: requirements, points, checks, findings and vectors, each with its address.

Sphinx searches for words, and splits ``hash-int-34`` into three. With these ids, a search for an id finds its place.
"""

from __future__ import annotations

import json
import re

from tools.docs.vector_pages import by_suite

ANCHOR = re.compile(r"(?m)^\(((?:point-|finding-)?[a-z0-9-]+)\)=$|<span id=\"(check-[^\"]+)\"></span>")
PREFIX = re.compile(r"^(?:point|finding|check)-")


def script(pages: dict[str, str]) -> str:
    """Return the script that makes the ids available to the search page.

    Args:
        pages: the Markdown of the pages, by name.
    """
    found: dict[str, list[str]] = {}
    for name, text in pages.items():
        for match in ANCHOR.finditer(text):
            anchor = match[1] or match[2]
            prefix = PREFIX.match(anchor)
            before = prefix[0] if prefix else ""
            key = f"{name.removesuffix('.md')}.html#{before}"
            found.setdefault(key, []).append(anchor.removeprefix(before))
    for suite, vectors in by_suite().items():
        found[f"vectors-{suite}.html#"] = [vector.id for vector in vectors]
    return f"window.SITE_IDS = {json.dumps(found, separators=(',', ':'))};\n"
