"""Build the documentation.

    python -m tools.docs.site           build ``site/``; a warning or a broken link is an error

The pages are collected in ``build/docs``: those of ``docs/``, documentation in other folders, and those generated from
data. A link between two pages stays a link; a link to another file of the repository becomes the name of the file,
because the site does not have such files; a broken link ends the build.
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
    commands,
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
from tools.entry_point import run_without_parser

ROOT = Path(__file__).resolve().parents[2]
STAGE = ROOT / "build" / "docs"
SITE = ROOT / "site"

ELSEWHERE = {
    "vectors/README.md": "vectors.md",
    "vectors/CHANGELOG.md": "vectors-changelog.md",
    "CHANGELOG.md": "changelog.md",
    "spec_ref/README.md": "reference-index.md",
}
"""Documentation in other folders, and the names of its pages."""

CHAPTERS = {
    "First steps": ["quick-start", "glossary", "validate", "nightly", "checks", "corruptions", "ci", "commands"],
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
"""The order of the pages. Other pages of ``docs/`` are at the end."""

TEXTS: dict[str, Callable[[Path], str]] = {
    ".md": lambda path: path.read_text(encoding="utf-8"),
    ".ipynb": notebooks.page,
}
"""The function that returns the Markdown of a page, by the extension of its file."""

LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+)\)")
FENCE = re.compile(r"^(`{3,}|~{3,})")


class BrokenLink(Exception):
    """A page links to something that does not exist."""


def handwritten() -> dict[Path, str]:
    """Return the handwritten pages: each file, and the name of its page."""
    found = {path: path.with_suffix(".md").name for path in sorted((ROOT / "docs").glob("*.*")) if path.suffix in TEXTS}
    return found | {ROOT / place: name for place, name in ELSEWHERE.items()}


def pages() -> dict[str, str]:
    """Return all pages, by name.

    Raises:
        BrokenLink: a link of a page is broken; the message has both.
    """
    names = handwritten()
    found = {name: resolve_links(TEXTS[path.suffix](path), path, names) for path, name in names.items()}
    found |= generated_pages()
    found["vectors.md"] += "\n".join(vector_pages.index(vector_pages.by_suite()))
    found["proofs.md"] += proofs.index()
    found["index.md"] += "\n" + "\n".join(contents(found))
    return found


def generated_pages() -> dict[str, str]:
    """Return the pages that are generated from data."""
    vectors: dict[str, list[Vector]] = {}
    for vector in findings.all_vectors().values():
        for code in vector.requirements:
            vectors.setdefault(code, []).append(vector)
    known = findings.by_requirement()
    found = {
        "operations.md": protocol.reference(),
        "python-api.md": python_api.page(),
        "commands.md": commands.page(),
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
    """Yield the lines of the table of contents."""
    left = {name.removesuffix(".md") for name in found} - {"index"}
    below = ("requirements-", "proofs-", "findings-", *(f"vectors-{suite}" for suite in vector_pages.by_suite()))
    left = {name for name in left if not name.startswith(below)}
    others = sorted(left - {name for names in CHAPTERS.values() for name in names})
    for chapter, named in CHAPTERS.items():
        listed = [name for name in named if name in left] + (others if chapter == "The project" else [])
        yield from ("```{toctree}", ":hidden:", f":caption: {chapter}", "", *listed, "```", "")


def resolve_links(text: str, path: Path, names: dict[Path, str]) -> str:
    """Resolve the links of a page for the site."""
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
    "commands.md",
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
"""Generated pages to which handwritten pages may link as if they were in the same folder."""


def stage() -> dict[str, str]:
    """Write all pages to `STAGE`; do not touch unchanged files, so that Sphinx need not read them again.

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
    """Build the site; return the exit status."""
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
    """Add files that Sphinx does not build: the ids for the search, and the report of the matrix.

    Args:
        pages_: the pages, by name.
        site: the folder with the built site.
    """
    (site / "_static" / "ids.js").write_text(search_ids.script(pages_), encoding="utf-8")
    report = interop.matrix_report()
    if report is not None:
        (site / interop.MATRIX_REPORT).write_text(report, encoding="utf-8")


def build(pages_: Path, site: Path) -> int:
    """Build pages with Sphinx; return the exit status, which is an error if there is a warning."""
    settings = Path(__file__).parent
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-n", "-q", "-E", "-c", settings, pages_, site]
    shutil.rmtree(site, ignore_errors=True)
    return subprocess.run(list(map(str, command)), check=False).returncode


if __name__ == "__main__":
    run_without_parser(main)
