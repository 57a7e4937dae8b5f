"""The index of the reference: each heading of the texts, the modules that are its code, and its requirements.

`headings.toml` lists the modules of `spec_ref` that implement a heading, the definition first, or says why there is
none. `python -m tools.index` writes spec_ref/README.md from it, the opening docstrings of the modules and the register;
`--check` fails if that file is stale. Both fail if `headings.toml` lacks a heading of the texts, or has one that the
texts lack, and if a module does not exist. `python -m tools.where WORDS` searches the same index.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import attrs

from spec_ref.requirements import Requirement, Status, register, sources
from tools.code_places import codes_in

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "spec_ref"
INDEX = REFERENCE / "README.md"
HEADINGS = Path(__file__).with_name("headings.toml")
EVERY_HEADING = "*"
"""The key of a reason that applies to all headings of a document."""


class IndexProblem(Exception):
    """The index does not match the texts or the modules; the message has a line for each difference."""


@attrs.frozen
class Heading:
    """A heading of a text, and the modules that implement it."""

    document: str
    title: str
    """The heading as the text spells it, after ``Parent / `` if two headings of a text are the same."""

    modules: tuple[str, ...]
    """Paths below ``spec_ref``, the definition first; empty if no module implements the heading."""

    reason: str
    """Why there is no module; empty if there is one."""

    requirements: tuple[Requirement, ...]

    elsewhere: Mapping[str, tuple[str, ...]]
    """Requirements that only modules of other headings name: these modules, by code."""

    def place(self, code: str) -> str | None:
        """Return the module that states a requirement of the heading; None if no module of the reference names it."""
        own = [name for name in self.modules if code in _codes_by_module()[name]]
        return next(iter([*own, *self.elsewhere.get(code, ())]), None)


@cache
def modules() -> dict[str, str]:
    """Return the first paragraph of each module's docstring, without the headings in parentheses at its end.

    The keys are the paths below ``spec_ref``.
    """
    found = {}
    for path in sorted(REFERENCE.rglob("*.py")):
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        found[path.relative_to(REFERENCE).as_posix()] = re.sub(
            r" \([^()]*\)(?=\.?$)", "", " ".join(text.partition("\n\n")[0].split())
        )
    return found


@cache
def _codes_by_module() -> dict[str, frozenset[str]]:
    """Return the requirements that each module of ``spec_ref`` names."""
    return {name: frozenset(codes_in((REFERENCE / name).read_text(encoding="utf-8"))) for name in modules()}


def _modules_by_code() -> dict[str, list[str]]:
    """Return the modules of ``spec_ref`` that name each requirement, by code."""
    found: dict[str, list[str]] = defaultdict(list)
    for name, codes in _codes_by_module().items():
        for code in codes:
            found[code].append(name)
    return found


@cache
def headings() -> tuple[Heading, ...]:
    """Return every heading of the texts, in order.

    Raises:
        IndexProblem: a heading is only in the texts or only in ``headings.toml``, or a module does not exist.
    """
    given = tomllib.loads(HEADINGS.read_text(encoding="utf-8"))
    by_section: dict[tuple[str, str], list[Requirement]] = defaultdict(list)
    by_code = _modules_by_code()
    for requirement in register().values():
        by_section[requirement.document, requirement.section].append(requirement)
    found: list[Heading] = []
    problems: list[str] = []
    for document, source in sources().documents.items():
        rows = given.pop(document, {})
        common = rows.get(EVERY_HEADING)
        problems += [
            f"{document}: {title!r} is not a heading of the text" for title in rows if title not in source.sections
        ]
        if common is not None:
            problems.remove(f"{document}: {EVERY_HEADING!r} is not a heading of the text")
        for title in source.sections:
            value = rows.get(title, common)
            if value is None:
                problems.append(f"{document}: headings.toml lacks {title!r}")
                continue
            places = () if isinstance(value, str) else tuple(value)
            problems += [
                f"{document}: {title!r} names {name}, which is missing" for name in places if name not in modules()
            ]
            requirements = tuple(by_section[document, title])
            others = {one.code: tuple(sorted(by_code[one.code], key=_kind)) for one in requirements}
            elsewhere = {code: names for code, names in others.items() if places and names and not {*names} & {*places}}
            reason = value if isinstance(value, str) else ""
            found.append(Heading(document, title, places, reason, requirements, elsewhere))
    problems += [f"headings.toml has {document}, which is not a text of the register" for document in given]
    if problems:
        raise IndexProblem("\n".join(problems))
    return tuple(found)


def _kind(name: str) -> int:
    """Order modules: those that define a rule, the table of what versions add, and kernels."""
    return 2 if name.startswith(("columnar/", "data_files/")) else int(name == "core/versions.py")


# The page


HEAD = """# The index of the reference

Every heading of the texts, in their order: the modules that are its code, the definition first, and its requirements.
The first module states each of them, except those in parentheses after another module, which states them.
`python -m tools.where WORDS` searches this page and the texts of the requirements; `iceberg-conformance explain CODE`
describes one of them. This page is made by `python -m tools.index` from the register, the opening docstrings of
the modules, and `tools/index/headings.toml`.
"""

TITLES = {
    "spec": "Iceberg table spec",
    "puffin-spec": "Puffin spec",
    "expressions-spec": "Expressions spec",
    "gcm-stream-spec": "AES GCM stream spec",
    "mumbling-spec": "Mumbling bitmap spec",
    "view-spec": "View spec",
    "udf-spec": "UDF spec",
}


def page() -> Iterator[str]:
    """Yield the lines of spec_ref/README.md."""
    yield from HEAD.splitlines()
    document = ""
    for heading in headings():
        if heading.document != document:
            document = heading.document
            yield from ("", f"## {TITLES[document]}", "")
            if (reason := _common_reason(document)) is not None:
                yield reason
            else:
                yield from ("| heading | modules | requirements |", "|---|---|---|")
        if _common_reason(document) is None:
            yield _row(heading)
    from tools.index import layers  # not at the top: `tools.where` runs without import-linter

    yield ""
    yield from layers.section()
    yield from ("", "## Every other module", "")
    yield "Modules without a heading: records, errors, JSON, checks, and the fast forms of the modules above."
    yield ""
    used = {name for heading in headings() for name in heading.modules}
    yield from ("| module | what it is |", "|---|---|")
    yield from (f"| {_link(name)} | {_cell(text)} |" for name, text in modules().items() if name not in used)


def _common_reason(document: str) -> str | None:
    """Return the reason that all headings of a document share, or None."""
    reasons = {one.reason for one in headings() if one.document == document}
    return reasons.pop() if len(reasons) == 1 and reasons != {""} else None


def _row(heading: Heading) -> str:
    adopted = [one.code for one in heading.requirements if one.status is Status.ADOPTED]
    by_module: dict[str | None, list[str]] = defaultdict(list)
    for code in adopted:
        by_module[heading.place(code)].append(code)
    elsewhere = [name for name in by_module if name is not None and name not in heading.modules]
    lines = [f"{_link(name)}: {modules()[name]}" for name in heading.modules[:1]]
    lines += [
        _link(name) + (f" ({_codes(by_module[name])})" if by_module[name] else "")
        for name in (*heading.modules[1:], *elsewhere)
    ]
    places = "<br>".join(_cell(line) for line in lines) or _cell(heading.reason)
    return f"| {_cell(heading.title)} | {places} | {_codes(adopted)} |"


def _codes(codes: list[str]) -> str:
    return ", ".join(_ranges(codes))


def _ranges(codes: list[str]) -> Iterator[str]:
    """Abbreviate consecutive codes of one area as ``AAA001 to AAA003``."""
    runs: list[list[str]] = []
    for code in sorted(codes):
        if runs and runs[-1][-1][:3] == code[:3] and int(runs[-1][-1][3:]) + 1 == int(code[3:]):
            runs[-1].append(code)
        else:
            runs.append([code])
    return (f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(run) for run in runs)


def _link(name: str) -> str:
    return f"[{name}]({name})"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


# The search


@attrs.frozen
class Match:
    """A heading that matches a search, with its score."""

    heading: Heading
    requirements: tuple[Requirement, ...]
    """The requirements of the heading that contain the words."""

    score: float


def search(words: str) -> list[Match]:
    """Return the headings that have the words in their title, requirements or modules, best first.

    Args:
        words: Any text; words are compared without case, plurals and punctuation.

    Returns:
        The matches with the highest share of the words; none if no heading has any of them.
    """
    wanted = set(_words(words))
    found = []
    for heading in headings():
        title = set(_words(heading.title))
        rules = [(one, set(_words(f"{one.code} {one.slug} {one.text}"))) for one in heading.requirements]
        about = title.union(*(_words(f"{name} {modules()[name]}") for name in heading.modules))
        best = max((len(wanted & has) for _, has in rules), default=0)
        score = len(wanted & title) + len(wanted & about) + 2 * best
        fitting = tuple(one for one, has in rules if best and len(wanted & has) == best)
        if score:
            closeness = score / len(wanted) - len(title - wanted) / 100
            found.append(Match(heading, fitting, closeness if heading.modules else closeness / 2))
    return sorted(found, key=lambda match: -match.score)


def _words(text: str) -> list[str]:
    return [word.removesuffix("s") for word in re.findall(r"[a-z0-9]+", text.lower())]
