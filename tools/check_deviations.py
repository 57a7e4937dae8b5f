"""Check that every known deviation that ships is fair: ``python -m tools.check_deviations``.

The people who write an engine read the entries of its ``deviations.toml``. This check rejects an entry that claims more
than its vectors and the text support; `RULES` has the possible reasons.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping

from attrs import frozen

from conformance import vectors
from conformance.interop.known import KnownOutcome, load_known
from conformance.operations.registry import ROLES
from conformance.properties import relay_known
from conformance.properties.relay_known import KnownRelay
from conformance.races.stress import known as stress_known
from conformance.races.stress.known import KnownCatalog
from conformance.runner import expectations
from conformance.runner.expectations import Deviation, DeviationKind
from conformance.vectors import Vector
from spec_ref.requirements import Contradiction, Decision, Requirement, contradictions, register
from tools.entry_point import run_without_parser


@frozen
class Facts:
    """The vectors, requirements and contradictions that entries are checked against."""

    vectors: Mapping[str, Vector]
    requirements: Mapping[str, Requirement]
    points: Mapping[str, Contradiction]


Rule = Callable[[Deviation, Facts], Iterator[str]]


def _is_complete(one: Deviation, _facts: Facts) -> Iterator[str]:
    """Check that an entry states its id, which begins with the engine's name, requirements, evidence, and `does`."""
    if not one.id.startswith(f"{one.engine}-"):
        yield f"the id must begin with {one.engine}-"
    missing = [name for name in ("requirements", "evidence", "does") if not getattr(one, name)]
    if missing:
        yield f"{', '.join(missing)} must not be left out"


def _names_what_its_vectors_prove(one: Deviation, facts: Facts) -> Iterator[str]:
    """Check that a vector of the entry names each requirement: an entry claims no more than its vectors show."""
    proven = {code for id_ in one.vectors for code in facts.vectors[id_].requirements}
    for code in one.requirements:
        if code not in facts.requirements:
            yield f"{code} is not in the register"
        elif code not in proven:
            yield f"none of its vectors names {code}"


def _binds_the_role(one: Deviation, facts: Facts) -> Iterator[str]:
    """Check that the requirements bind the role that performs the vectors' operation, if the input is malformed.

    Valid input is different: readers have to read what the rules for writers produce.
    """
    if one.kind is not DeviationKind.DEVIATION:
        return
    for id_ in one.vectors:
        vector = facts.vectors[id_]
        if not all("error" in outcome for outcome in vector.expect.get("any_of", [vector.expect])):
            continue
        rules = [facts.requirements[code] for code in vector.requirements if code in one.requirements]
        bound = {role for rule in rules for party in rule.binds for role in ROLES[party]}
        if rules and not bound & vector.operation.roles:
            roles = " and ".join(sorted(vector.operation.roles))
            codes = ", ".join(rule.code for rule in rules)
            yield f"{vector.operation.name} ({id_}) is performed by a {roles}, which {codes} does not bind"


def _argues_where_the_text_is_contradictory(one: Deviation, facts: Facts) -> Iterator[str]:
    """Check that a choice names a point that the texts leave open, and that no deviation is about an open point."""
    of_vectors = [set(facts.vectors[id_].contradiction) for id_ in one.vectors]
    # A point that only some of the vectors name is a side issue.
    named = set.intersection(*of_vectors) | set(one.points)
    unknown = named - facts.points.keys()
    if unknown:
        yield f"{', '.join(sorted(unknown))} is not a point of the contradictions"
    if one.kind is DeviationKind.CHOICE and not named:
        yield "a choice must name the point that is open, in points or in its vectors"
    if one.kind is DeviationKind.DEVIATION:
        yield from (
            f"{point} is open: what an engine does there is a choice"
            for point in one.points
            if point in facts.points and facts.points[point].status is Decision.OPEN
        )


LINK = re.compile(r"https://github\.com/[\w.-]+/[\w.-]+/(issues|pull)/\d+")
"""The URL of a report to an engine's project."""


QUOTATION = re.compile(r'"[^"]{8,}"')


def _names_the_sections_of_its_requirements(one: Deviation, facts: Facts) -> Iterator[str]:
    """Check that the reason of a deviation names, outside of quotations, the section of each of its requirements.

    A reason that does not name the section quotes no sentence of the requirement. Usually, such a requirement is only
    one that the vectors also prove, or one that is broken as a consequence.
    """
    if one.kind is not DeviationKind.DEVIATION:
        return
    reason = QUOTATION.sub("", one.reason).replace("`", "")
    for code in one.requirements:
        if code in facts.requirements:
            title = _short_title(facts.requirements[code].section)
            if not re.search(rf"\b{re.escape(title)}\b", reason):
                yield f"the reason must name {title}, the section of {code}"


def _quotes_and_argues(one: Deviation, _facts: Facts) -> Iterator[str]:
    """Check that a deviation quotes the sentence that it breaks, and gives the best argument for the engine."""
    if one.kind is not DeviationKind.DEVIATION:
        return
    if not QUOTATION.search(one.reason):
        yield "the reason must quote the sentence of the text"
    if not one.counter:
        yield "counter must give the best argument for the engine"


CODE = re.compile(r"\b[A-Z]{3}\d{3}\b")


def _breaks_what_it_argues_with(one: Deviation, _facts: Facts) -> Iterator[str]:
    """Check that a deviation has a requirement that its reason names, as pages show it beside its requirements."""
    named = dict.fromkeys(CODE.findall(one.reason))
    if one.kind is DeviationKind.DEVIATION and named and not named.keys() & set(one.requirements):
        yield f"the reason names {', '.join(named)}, but requirements does not"


def _short_title(section: str) -> str:
    """Return the title without what is in parentheses or after a colon or a slash."""
    return re.split(r" \(|: | / ", section.replace("`", ""))[0]


def _links_are_upstream(one: Deviation, _facts: Facts) -> Iterator[str]:
    """Check that links to reports are in ``upstream``, where pages show them, and nowhere else."""
    yield from (
        f"a link is in {name}: reports belong to upstream"
        for name in ("does", "reason", "counter", "evidence")
        if "://" in getattr(one, name)
    )
    yield from (f"{link} is not an issue or a pull request" for link in one.upstream if not LINK.fullmatch(link))


def _argues_leniency_of_a_writer(one: Deviation, facts: Facts) -> Iterator[str]:
    """Check that an entry says why it is not a deviation if a writer does what a requirement forbids writers to do."""
    roles = {role for id_ in one.vectors for role in facts.vectors[id_].operation.roles}
    bound = {
        party for code in one.requirements if code in facts.requirements for party in facts.requirements[code].binds
    }
    if one.kind is DeviationKind.LENIENCY and roles == {"writer"} and "writer" in bound and not one.counter:
        yield "a requirement forbids this to writers: counter must say why it is not a deviation"


RULES: tuple[Rule, ...] = (
    _is_complete,
    _names_the_sections_of_its_requirements,
    _quotes_and_argues,
    _links_are_upstream,
    _argues_leniency_of_a_writer,
    _names_what_its_vectors_prove,
    _breaks_what_it_argues_with,
    _binds_the_role,
    _argues_where_the_text_is_contradictory,
)


RULES_OF_TEXT: tuple[Rule, ...] = (
    _is_complete,
    _names_the_sections_of_its_requirements,
    _quotes_and_argues,
    _links_are_upstream,
    _breaks_what_it_argues_with,
)
"""The rules for entries without vectors."""


def problems(entries: Iterable[Deviation], facts: Facts) -> Iterator[str]:
    """Yield the ways in which entries are unfair or incomplete.

    Args:
        entries: the entries.
        facts: the vectors, requirements and contradictions that they are judged by.

    Returns:
        A sentence for each problem, which begins with the id of the entry, or its first vector where it has none.
    """
    entries = list(entries)
    for one in entries:
        for rule in RULES:
            yield from (f"{one.id or one.vectors[0]}: {problem}" for problem in rule(one, facts))
    for id_, times in Counter(one.id for one in entries if one.id).items():
        if times > 1:
            yield f"{id_}: {times} entries have this id"


def table_deviation(known: KnownOutcome) -> Deviation:
    """Convert an entry about tables that engines write for each other into a deviation without vectors."""
    return Deviation(
        engine=known.adapter,
        vectors=(),
        reason=known.reason,
        does=known.outcome.value,
        evidence=known.evidence,
        id=known.id,
        kind=known.kind,
        requirements=known.requirements,
        points=known.points,
        counter=known.counter,
        upstream=known.upstream,
    )


def table_problems(entries: Iterable[KnownOutcome], facts: Facts) -> Iterator[str]:
    """Yield the ways in which entries about tables that engines write for each other are unfair or incomplete.

    Args:
        entries: the entries.
        facts: the requirements and contradictions that they are judged by.

    Returns:
        A sentence for each problem, which begins with the label of the entry.
    """
    for known in entries:
        one = table_deviation(known)
        found = [problem for rule in RULES_OF_TEXT for problem in rule(one, facts)]
        found += [f"{code} is not in the register" for code in one.requirements if code not in facts.requirements]
        found += [f"{point} is not a point of the contradictions" for point in one.points if point not in facts.points]
        if one.kind is DeviationKind.CHOICE and not one.points:
            found.append("a choice must name the point that is open, in points")
        bound = {
            role
            for code in one.requirements
            if code in facts.requirements
            for party in facts.requirements[code].binds
            for role in ROLES[party]
        }
        if known.role == "table" and one.kind is DeviationKind.DEVIATION and "writer" not in bound:
            found.append("the table was made by a writer, and none of its requirements binds writers")
        yield from (f"{known.label}: {problem}" for problem in found)


def change_deviation(known: KnownRelay | KnownCatalog) -> Deviation:
    """Convert an entry about changed tables, or about catalogs under stress, into a deviation without vectors."""
    return Deviation(
        engine=known.engine if isinstance(known, KnownRelay) else known.id.partition("-")[0],
        vectors=(),
        reason=known.reason,
        does=known.does,
        evidence=known.evidence,
        id=known.id,
        kind=DeviationKind(known.kind),
        requirements=known.requirements,
        counter=known.counter,
        upstream=known.upstream,
    )


def change_problems(entries: Iterable[KnownRelay | KnownCatalog], facts: Facts) -> Iterator[str]:
    """Yield the ways in which entries about changed tables, or about catalogs, are unfair or incomplete.

    Args:
        entries: the entries.
        facts: the requirements that they are judged by.

    Returns:
        A sentence for each problem, which begins with the id of the entry.
    """
    for one in map(change_deviation, entries):
        yield from (f"{one.id}: {problem}" for rule in RULES_OF_TEXT for problem in rule(one, facts))


def shipped_changes() -> tuple[KnownRelay | KnownCatalog, ...]:
    """Return the known deviations of relays, scripts and catalogs that ship."""
    return (*relay_known.load_known(), *relay_known.load_known(table="scenario"), *stress_known.load_known())


def shipped_facts() -> Facts:
    """Return the vectors, requirements and contradictions of this checkout."""
    loaded = {vector.id: vector for vector in vectors.load(vectors.shipped())}
    return Facts(loaded, register(), contradictions())


def main() -> int:
    """Print the problems of the entries that ship; return 1 if there are any."""
    facts = shipped_facts()
    deviations, tables = expectations.load_deviations(expectations.SHIPPED, facts.vectors).deviations, load_known()
    found = [
        *problems(deviations, facts),
        *table_problems(tables, facts),
        *change_problems(shipped_changes(), facts),
    ]
    times = Counter(one.id for one in tables) + Counter({one.id for one in deviations})
    found += [f"{id_}: {count} entries have this id" for id_, count in times.items() if count > 1]
    for problem in found:
        print(problem)
    return int(bool(found))


if __name__ == "__main__":
    run_without_parser(main)
