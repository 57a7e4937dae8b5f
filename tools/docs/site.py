"""Building the documentation.

    python -m tools.docs.site           build ``site/``; a warning, or a link to nothing, is an error

The pages are put together under ``build/docs``: those of ``docs/``, those of other folders that are documentation, and
those made of data. A link between two pages stays one; a link to another file of the repository becomes the name of
the file, as a site has no such files; a link to what does not exist ends the build.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from conformance.core.spec_links import areas
from conformance.vectors import Vector
from tools.docs import (
    can_i_use,
    checks,
    findings,
    interop,
    notebooks,
    proofs,
    protocol,
    python_api,
    requirements,
    search_ids,
    vector_pages,
)

ROOT = Path(__file__).resolve().parents[2]
STAGE = ROOT / "build" / "docs"
SITE = ROOT / "site"

ELSEWHERE = {
    "vectors/README.md": "vectors.md",
    "vectors/CHANGELOG.md": "vectors-changelog.md",
    "CHANGELOG.md": "changelog.md",
    "spec_ref/README.md": "reference-index.md",
}
"""Documentation in other folders, and what its page is called."""

CHAPTERS = {
    "First steps": ["quick-start", "glossary", "validate", "nightly", "checks", "corruptions", "ci"],
    "Plug in an engine": ["adapters", "go-and-rust", "protocol", "operations", "known-deviations"],
    "From Python": ["from-python", "python-api", "writing"],
    "Engines": ["can-i-use", "findings", "interop", "relays", "catalogs"],
    "What is known": [
        "matrix",
        "races",
        "hardening",
        "writers",
        "contradictions",
        "requirements",
        "proofs",
    ],
    "Vectors": ["vectors", "interchange", "vectors-changelog"],
    "The project": [
        "reading-the-spec-as-code",
        "reference-index",
        "format-versions",
        "benchmarks",
        "contributing",
        "changelog",
    ],
}
"""The order of the pages. A page of ``docs/`` that is not named is at the end."""

TEXTS: dict[str, Callable[[Path], str]] = {
    ".md": lambda path: path.read_text(encoding="utf-8"),
    ".ipynb": notebooks.page,
}
"""How the Markdown of a page comes from its file."""

LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+)\)")
FENCE = re.compile(r"^(`{3,}|~{3,})")


class BrokenLink(Exception):
    """A page links to what does not exist."""


def handwritten() -> dict[Path, str]:
    """Return the pages that people wrote: each file, and the name of its page."""
    found = {path: path.with_suffix(".md").name for path in sorted((ROOT / "docs").glob("*.*")) if path.suffix in TEXTS}
    return found | {ROOT / place: name for place, name in ELSEWHERE.items()}


def pages() -> dict[str, str]:
    """Return all pages by name.

    Raises:
        BrokenLink: says the page and the link.
    """
    names = handwritten()
    found = {name: resolved(TEXTS[path.suffix](path), path, names) for path, name in names.items()}
    found |= made()
    found["vectors.md"] += "\n".join(vector_pages.index(vector_pages.by_suite()))
    found["proofs.md"] += proofs.index()
    found["index.md"] += "\n" + "\n".join(contents(found))
    return found


def made() -> dict[str, str]:
    """Return the pages that are made of data."""
    vectors: dict[str, list[Vector]] = {}
    for vector in findings.all_vectors().values():
        for code in vector.requirements:
            vectors.setdefault(code, []).append(vector)
    known = findings.by_requirement()
    found = {
        "operations.md": protocol.reference(),
        "python-api.md": python_api.page(),
        "checks.md": checks.page(),
        "findings.md": findings.index(),
        "contradictions.md": findings.contradictions_page(),
        "requirements.md": requirements.index(vectors),
    }
    found |= {f"proofs-{area}.md": proofs.area_page(area) for area in areas()}
    found |= {
        f"findings-{engine}.md": findings.engine_page(engine, can_i_use.engine_head(engine))
        for engine in findings.engines()
    }
    found |= {
        "can-i-use.md": can_i_use.page(),
        "interop.md": interop.matrix_page(),
        "relays.md": interop.relays_page(),
        "catalogs.md": interop.catalogs_page(),
    }
    found |= {f"vectors-{suite}.md": vector_pages.page(suite) for suite in vector_pages.by_suite()}
    return found | {f"requirements-{area}.md": requirements.area_page(area, vectors, known) for area in areas()}


def contents(found: dict[str, str]) -> Iterator[str]:
    """Yield the table of contents."""
    left = {name.removesuffix(".md") for name in found} - {"index"}
    below = ("requirements-", "proofs-", "findings-", *(f"vectors-{suite}" for suite in vector_pages.by_suite()))
    left = {name for name in left if not name.startswith(below)}
    others = sorted(left - {name for names in CHAPTERS.values() for name in names})
    for chapter, named in CHAPTERS.items():
        listed = [name for name in named if name in left] + (others if chapter == "The project" else [])
        yield from ("```{toctree}", ":hidden:", f":caption: {chapter}", "", *listed, "```", "")


def resolved(text: str, path: Path, names: dict[Path, str]) -> str:
    """Return a page with its links as the site needs them."""
    lines, fence = [], ""
    for line in text.splitlines():
        opening = FENCE.match(line.lstrip())
        if fence:
            fence = "" if opening and line.strip().startswith(fence) else fence
        elif opening:
            fence = opening[1]
        else:
            line = LINK.sub(lambda match: _link(match, path, names), line)
        lines.append(line)
    return "\n".join(lines) + "\n"


def _link(match: re.Match[str], path: Path, names: dict[Path, str]) -> str:
    text, target = match[1], match[2]
    if re.match(r"[a-z]+:|#", target):
        return match[0]
    place, _, anchor = target.partition("#")
    file = (path.parent / place).resolve()
    if file in names:
        return f"[{text}]({names[file]}{f'#{anchor}' if anchor else ''})"
    if file.parent == ROOT / "docs" and file.name in GENERATED:
        return match[0]
    if not file.exists():
        raise BrokenLink(f"{path.relative_to(ROOT)}: there is no {target}")
    if file == ROOT / "README.md":
        return f"[{text}](index.md)"
    bare = text.strip("`")
    name = file.relative_to(ROOT).as_posix()
    return text if bare == name else f"{text} (`{name}`)"


GENERATED = (
    "checks.md",
    "operations.md",
    "python-api.md",
    "findings.md",
    "contradictions.md",
    "requirements.md",
    "can-i-use.md",
    "interop.md",
    "relays.md",
    "catalogs.md",
)
"""Pages that a page written by hand may link to, as if they lay beside it."""


def stage() -> dict[str, str]:
    """Write all pages to `STAGE`; a file that has not changed is left as it is, so that Sphinx need not read it.

    Returns:
        The pages by name.
    """
    STAGE.mkdir(parents=True, exist_ok=True)
    found = pages()
    for old in STAGE.glob("*.md"):
        if old.name not in found:
            old.unlink()
    for name, text in found.items():
        file = STAGE / name
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
    for picture in (ROOT / "docs").glob("*.svg"):
        shutil.copy2(picture, STAGE)
    return found


def main() -> int:
    """Build the site; the exit status."""
    try:
        staged = stage()
    except BrokenLink as error:
        print(error, file=sys.stderr)
        return 1
    status = build(STAGE, SITE)
    if not status:
        add_scripts_and_reports(staged, SITE)
        print(f"{len(list(SITE.glob('*.html')))} pages; open {SITE / 'index.html'}")
    return status


def add_scripts_and_reports(pages_: dict[str, str], site: Path) -> None:
    """Add what Sphinx does not build as a page: the ids that the search knows, and the report of the matrix.

    Args:
        pages_: the pages by name.
        site: the folder that was built.
    """
    (site / "_static" / "ids.js").write_text(search_ids.script(pages_), encoding="utf-8")
    report = interop.matrix_report()
    if report is not None:
        (site / interop.MATRIX_REPORT).write_text(report, encoding="utf-8")


def build(pages_: Path, site: Path) -> int:
    """Build pages with Sphinx; the exit status, which a warning makes an error."""
    settings = Path(__file__).parent
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-n", "-q", "-E", "-c", settings, pages_, site]
    shutil.rmtree(site, ignore_errors=True)
    return subprocess.run(list(map(str, command)), check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
