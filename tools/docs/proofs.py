"""Pages of proofs: for each requirement, the code that states it, what breaks it, what detects that, and what names it.

`SPEC_TRACE.md` has only the numbers, so that it does not change when something is renamed.
"""

from __future__ import annotations

from collections.abc import Iterator

from conformance.core.spec_links import areas
from spec_ref.requirements import register
from tools.docs.markdown import code, plain
from tools.docs.requirements import requirement_link, title
from tools.proofs import KINDS, proofs, vector_rows
from tools.trace import Evidence, counts, evidence, places


def index() -> str:
    """Return the end of the page of proofs, which links to the areas."""
    adopted = [rule for rule in register().values() if rule.status.value == "adopted"]
    table = counts(adopted, evidence())
    lines = [
        "",
        "## What proves each requirement",
        "",
        f"Of {table['all']} requirements {table['proved']} are proved: something that breaks the rule is detected.",
        f"{table['covered, and not proved']} more are covered: vectors, checks or tests name them, but nothing",
        "was broken to see these fail. The pages list, for each rule, what is broken and what detects that.",
        "",
        "| | requirements |",
        "|---|---|",
        *(f"| proved {what} | {count} |" for what, count in table.items() if what.startswith("by ")),
        "",
        *(f"- [{title(area)}](proofs-{area}.md)" for area in areas()),
        "",
        "```{toctree}",
        ":hidden:",
        "",
        *(f"proofs-{area}" for area in areas()),
        "```",
        "",
    ]
    return "\n".join(lines)


def area_page(area: str) -> str:
    """Return the proofs of the requirements of one area."""
    lines = [f"# Proofs: {title(area)}", ""]
    for name in areas()[area]:
        lines += _requirement(name, evidence(), _vectors().get(name, []))
    return "\n".join(lines)


_BY_CODE: dict[str, list[str]] = {}


def _vectors() -> dict[str, list[str]]:
    if not _BY_CODE:
        for id_, (_, row) in vector_rows().items():
            for name in row["requirements"]:
                _BY_CODE.setdefault(name, []).append(id_)
    return _BY_CODE


def _requirement(name: str, found: Evidence, vectors: list[str]) -> Iterator[str]:
    rule = register()[name]
    yield f"## Proofs of {name}"
    yield ""
    yield f"{plain(rule.text)} ({requirement_link(name)})"
    yield ""
    yield f"- **Stated by** {', '.join(places(rule, found))}"
    for kind in KINDS:
        some = [f"{code(one.broken)} ({plain(one.noticed)})" for one in proofs().get(name, ()) if one.kind == kind]
        if some:
            yield f"- **{kind.capitalize()}s** (and what detects them): {', '.join(some)}"
    if rule.unproven is not None:
        yield f"- **No proof**: {plain(rule.unproven)}"
    for label, ids in (("Checks", found.checks.get(name, [])), ("Vectors", vectors)):
        if ids:
            yield f"- **{label}**: {', '.join(map(code, ids))}"
    tests = [f"{code(file)} {', '.join(names)}".strip() for file, names in found.tests.get(name, {}).items()]
    if tests:
        yield f"- **Tests**: {'; '.join(tests)}"
    yield ""
