"""Pages of the known deviations of engines (``deviations.toml``), and of the points that the texts leave open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache

from conformance import vectors
from conformance.engine_setup.folders import engine_folders
from conformance.interop.known import KnownOutcome, load_known
from conformance.properties.relay_known import KnownRelay
from conformance.properties.relay_known import load_known as load_known_changes
from conformance.runner import expectations
from conformance.runner.expectations import Deviation, DeviationKind
from conformance.vectors import Vector
from spec_ref.requirements import Contradiction, Decision, contradictions, register
from tools.docs.html import vector_link
from tools.docs.markdown import code, plain, table
from tools.docs.requirements import requirement_link

SHOWN = 5
"""The maximum number of vectors that are listed for a finding."""


HEADINGS = {
    DeviationKind.DEVIATION: "Deviations from the spec",
    DeviationKind.LENIENCY: "Malformed input that is accepted",
    DeviationKind.ROBUSTNESS: "Wrong kinds of errors and crashes",
    DeviationKind.LIMITATION: "Not implemented",
    DeviationKind.CHOICE: "Choices at open points",
}


@cache
def all_vectors() -> dict[str, Vector]:
    """Return the vectors of this package, by id."""
    return {vector.id: vector for vector in vectors.load(vectors.shipped())}


@cache
def deviations() -> tuple[Deviation, ...]:
    """Return the known deviations."""
    return expectations.load_deviations(expectations.SHIPPED, all_vectors()).deviations


@cache
def tables() -> tuple[KnownOutcome, ...]:
    """Return the known deviations in tables that engines write for each other."""
    return load_known()


CHANGES = {"relay": "Tables that several engines change in turn", "scenario": "Scripts of many changes"}
"""The tables of ``deviations.toml`` about changes of tables, and their headings."""


@cache
def changes(section: str) -> tuple[KnownRelay, ...]:
    """Return the known deviations of engines that change tables.

    Args:
        section: one of `CHANGES`.
    """
    return load_known_changes(table=section)


@cache
def _titles() -> dict[str, str]:
    return {folder.name: folder.title for folder in engine_folders()}


def engines() -> list[str]:
    """Return the engines with known deviations, those with the most first."""
    named = [*(one.engine for one in deviations()), *(one.adapter.partition("@")[0] for one in tables())]
    return [name for name, _ in Counter(named).most_common()]


def index() -> str:
    """Return the page that links to the findings of each engine."""
    rows = []
    for engine in engines():
        found = [one for one in deviations() if one.engine == engine]
        versions = sorted({version for one in found for version in one.versions})
        cases = len({id_ for one in found for id_ in one.vectors})
        matrix = sum(one.adapter.partition("@")[0] == engine for one in tables())
        name = f"[{engine}](findings-{engine}.md)"
        kinds = Counter(one.kind for one in found)
        rows.append([name, ", ".join(versions), *(str(kinds[kind]) for kind in DeviationKind), str(cases), str(matrix)])
    lines = [
        "# Findings",
        "",
        "The answers of engines that differ from those that the vectors expect, grouped by cause. Each cause states",
        "what the engine does, why that matters, and the evidence. Only a *deviation* breaks a requirement that binds",
        "the engine in its role. A *leniency* is malformed input that the engine accepts, *robustness* is the wrong",
        "kind of error or a crash, a *limitation* is a missing feature, and a *choice* concerns a point that the text",
        "leaves open. A run with `--expect known-deviations` fails when a cause no longer occurs, so this list is",
        "true of the named versions.",
        "",
        *table(
            [
                "engine",
                "versions",
                *(kind.value for kind in DeviationKind),
                "vectors",
                "causes in other engines' tables",
            ],
            rows,
        ),
        "",
        "An engine that does not support an area has no findings there, so the number of causes does not rank engines.",
        "`iceberg-conformance replay ID --adapter ENGINE` repeats a case and prints all evidence.",
        "",
        "```{toctree}",
        ":hidden:",
        "",
        *(f"findings-{engine}" for engine in engines()),
        "```",
        "",
    ]
    return "\n".join(lines)


def engine_page(engine: str, head: Sequence[str] = ()) -> str:
    """Return the findings of one engine, by kind and suite.

    Args:
        engine: its name.
        head: the lines before the findings.
    """
    lines = [f"# {_titles().get(engine, engine)}", "", *head]
    seen = {""}

    def address(id_: str) -> list[str]:
        """Return the anchor of a finding; one that is in several sections has the anchor of the first."""
        new = id_.lower() not in seen
        seen.add(id_.lower())
        return [f"(finding-{id_.lower()})="] if new else []

    for kind in DeviationKind:
        suites: dict[str, list[Deviation]] = {}
        for one in deviations():
            if one.engine == engine and one.kind is kind:
                suites.setdefault(all_vectors()[one.vectors[0]].suite, []).append(one)
        if suites:
            lines += [f"## {HEADINGS[kind]}", ""]
        for suite, members in sorted(suites.items()):
            lines += [f"### {suite}", ""]
            for one in members:
                lines += [*address(one.id), *_finding(one)]
    matrix = [one for one in tables() if one.adapter.partition("@")[0] == engine]
    if matrix:
        lines += ["## Tables that one engine writes and another reads", ""]
    for known in matrix:
        lines += [*address(known.id), *_table_lines(known)]
    for section, heading in CHANGES.items():
        found = [one for one in changes(section) if one.engine == engine]
        if found:
            lines += [f"## {heading}", ""]
        for change in found:
            lines += [*address(change.id), *_change_lines(change)]
    return "\n".join(lines)


def _change_lines(one: KnownRelay) -> Iterator[str]:
    title = plain(one.does)
    yield f"**{title[:1].upper()}{title[1:]}**"
    yield ""
    yield plain(one.reason)
    yield ""
    about = [
        ("kind", one.kind),
        ("in its favour", plain(one.counter)),
        ("versions", ", ".join(one.versions) or "all tested versions"),
        ("operations", ", ".join(map(code, one.operations))),
        ("evidence", plain(one.evidence)),
        ("rules", ", ".join(map(requirement_link, one.requirements))),
        ("reports", ", ".join(f"<{link}>" for link in one.upstream)),
        ("id", code(one.id)),
    ]
    yield from (f"- {label}: {text}" for label, text in about if text)
    yield ""


def _table_lines(one: KnownOutcome) -> Iterator[str]:
    what = (
        f"outcome of reading: {one.outcome.value}" if one.role == "cell" else f"outcome of writing: {one.outcome.value}"
    )
    yield f"**{plain(what[:1].upper() + what[1:])}** {plain(one.says)}"
    yield ""
    yield plain(one.reason)
    yield ""
    about = [
        ("kind", one.kind.value),
        ("in its favour", plain(one.counter)),
        ("versions", ", ".join(one.versions) or "all tested versions"),
        ("producers", ", ".join(map(code, one.producers)) if one.role == "cell" else ""),
        ("tables", ", ".join(map(code, one.tables))),
        ("evidence", plain(one.evidence)),
        ("rules", ", ".join(map(requirement_link, one.requirements))),
        ("reports", ", ".join(f"<{link}>" for link in one.upstream)),
    ]
    yield from (f"- {label}: {text}" for label, text in about if text)
    yield ""


def _finding(one: Deviation) -> Iterator[str]:
    title = plain(one.does or one.reason)
    yield f"**{title[:1].upper()}{title[1:]}**"
    yield ""
    if one.does:
        yield plain(one.reason)
        yield ""
    about = [
        ("in its favour", plain(one.counter)),
        ("versions", ", ".join(one.versions) or "all tested versions"),
        ("evidence", plain(one.evidence)),
        ("rules", ", ".join(map(requirement_link, one.requirements))),
        ("reports", ", ".join(f"<{link}>" for link in one.upstream)),
        ("vectors", _ids(one.vectors)),
        ("id", code(one.id) if one.id else ""),
    ]
    yield from (f"- {label}: {text}" for label, text in about if text)
    yield ""


def _ids(ids: tuple[str, ...]) -> str:
    more = f" and {len(ids) - SHOWN} more" if len(ids) > SHOWN else ""
    return ", ".join(vector_link(all_vectors()[id_].suite, id_) for id_ in ids[:SHOWN]) + more


def contradictions_page() -> str:
    """Return the page of the contradictions and gaps of the texts."""
    kinds = {
        "A": "Older texts against the current one",
        "B": "Inside the current texts",
        "C": "The current text against Iceberg-Java",
        "D": "Found in other engines",
        "E": "Where the texts are silent",
    }
    found = list(contradictions().values())
    still_open = sum(one.status is Decision.OPEN for one in found)
    lines = [
        "# Contradictions and gaps of the texts",
        "",
        f"{len(found)} points where the texts disagree with each other or with themselves, are silent, or where",
        "implementations depart from them. If this project chooses one reading, the point is *decided*;",
        f"{still_open} are *open*: the vectors permit each outcome there, and the report of a run shows what each",
        "engine chose.",
        "",
    ]
    for letter in sorted({one.id[0] for one in found}):
        lines += [f"## {kinds.get(letter, letter)}", ""]
        for one in found:
            if one.id[0] == letter:
                lines += _point(one)
    return "\n".join(lines)


def _point(one: Contradiction) -> Iterator[str]:
    yield f"(point-{one.id.lower()})="
    yield f"### {one.id}: {plain(one.title)}"
    yield ""
    for label, text in (("The texts", one.texts), ("Implementations", one.implementations), ("Decision", one.decision)):
        if text:
            yield f"- **{label}**: {plain(text)}"
    rules = ", ".join(requirement_link(code_) for code_ in one.requirements if code_ in register())
    yield f"- **Status**: {one.status.value}{f', about {rules}' if rules else ''}"
    asked = [vector.id for vector in all_vectors().values() if one.id in vector.contradiction]
    if asked:
        yield f"- **Vectors**: {_ids(tuple(asked))}"
    if one.links:
        yield f"- **Links**: {', '.join(f'<{link}>' for link in one.links)}"
    yield ""


def by_requirement() -> dict[str, list[tuple[Deviation, list[str]]]]:
    """Return the deviations from each requirement, with the vectors that show them, by code."""
    proofs = {id_: frozenset(vector.requirements) for id_, vector in all_vectors().items()}
    found: dict[str, list[tuple[Deviation, list[str]]]] = {}
    for one in deviations():
        for code_ in one.broken_requirements(proofs):
            found.setdefault(code_, []).append((one, [id_ for id_ in one.vectors if code_ in proofs[id_]]))
    return found
