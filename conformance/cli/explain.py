"""``iceberg-conformance explain``: show all that is known about one requirement."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import attrs
from cyclopts import Parameter

from conformance import vectors
from conformance.core.failures import ExitStatus, UsageError, suggest_names
from conformance.core.lazy_imports import lazy_imports
from conformance.core.spec_links import section_link
from conformance.rules import find_checks, registry, retired_check_ids
from conformance.runner import expectations
from conformance.runner.expectations import Deviation, DeviationKind
from conformance.validator.advice import Advice, advice, requirement_advice
from conformance.vectors import Vector
from spec_ref.checks import Check
from spec_ref.requirements import (
    EXAMPLES,
    NO_EXAMPLE,
    Contradiction,
    Requirement,
    Status,
    contradictions,
    register,
)

with lazy_imports():
    from conformance.runner import results

AREA = 3
"""The length of the start of a code that names its area, such as HSH."""

WIDTH = 100
LABEL = 13
SHOWN = 20
"""The maximum number of vectors, and deviations, that text lists; JSON has them all."""


def explain(
    code: Annotated[str, Parameter(name="CODE-OR-CHECK")],
    /,
    *,
    format: Literal["text", "json"] = "text",
    vectors_: Annotated[Path | None, Parameter(name="--vectors")] = None,
) -> int:
    """Explain a requirement: what it says, why, which engines break it, which vectors prove it, how to fix a table.

    Args:
        code: The code of a requirement, such as HSH002, its slug, or the id of a check. The start of a code, such as
            HSH, lists the requirements of that area. The id of a vector explains the vector. The id of an open point or
            contradiction of the texts, such as C6, explains what they say, what engines do, and what is decided.
        format: Text for people, or JSON.
        vectors_: A folder of vectors to use instead of those that come with the tool.
    """
    if (point := contradictions().get(code.upper())) is not None:
        return _show_point(point, vectors_, format)
    area = [rule for rule in register().values() if rule.code.startswith(code.upper())]
    if len(area) > 1:
        return _show_area(code.upper(), area, format)
    check = registry().get(code.lower())
    if check is None and (vector := _vector(code, vectors_)) is not None:
        return _show_vector(vector, format)
    rule = find_requirement(code) if check is None else register()[check.requirement]
    rule_vectors = vectors.load(vectors_ or vectors.shipped(), rule.code)
    broken = find_deviations(rule, rule_vectors) if vectors_ is None else []
    readings = [one for one in contradictions().values() if rule.code in one.requirements]
    fix = how_to_fix(rule) if check is None else advice(check.requirement, check.aspect)
    if format == "json":
        content = {
            **requirement_json(rule),
            "link": section_link(rule),
            "why": rule.why,
            "right": rule.right,
            "wrong": rule.wrong,
            "judged": rule.judged,
            "no_example": rule.no_example and NO_EXAMPLE[rule.no_example],
            "seen": list(rule.seen),
            "deviations": [deviation_json(deviation, ids) for deviation, ids in broken],
            "contradictions": [one.id for one in readings],
            "checks": [one.id for one in find_checks(rule)],
            **({} if check is None else {"check": check_json(check)}),
            "vectors": [vector.id for vector in rule_vectors],
            "no_proof": rule.unproven,
            "how_to_fix": fix and fix.text,
            "advice": fix and fix.as_json(),
        }
        sys.stdout.write(json.dumps(content, indent=2) + "\n")
        return ExitStatus.CONFORMANT
    if check is not None:
        for line in _check_lines(check):
            print(line)
    for line in _lines(rule, rule_vectors, broken, readings, fix):
        print(line)
    return ExitStatus.CONFORMANT


def _show_area(start: str, rules: list[Requirement], format: str) -> int:
    """Print the requirements of an area: those whose codes start alike."""
    if format == "json":
        sys.stdout.write(json.dumps([requirement_json(rule) for rule in rules], indent=2) + "\n")
        return ExitStatus.CONFORMANT
    sections = "; ".join(dict.fromkeys(rule.section for rule in rules))
    print(textwrap.fill(f"{start}: {len(rules)} requirements, of {sections}", WIDTH) + "\n")
    for rule in rules:
        print(f"{rule.code} {rule.slug}")
        print(textwrap.indent(textwrap.fill(rule.text, WIDTH - 4), "    "))
    print(f"\niceberg-conformance explain {rules[0].code} describes one of them")
    return ExitStatus.CONFORMANT


def _vector(id_: str, folder: Path | None) -> Vector | None:
    """Return the vector with an id; None if there is none, or the name is that of a requirement."""
    if any(id_.lower() in (rule.code.lower(), rule.slug) for rule in register().values()):
        return None
    return next((one for one in vectors.load(folder or vectors.shipped(), id_) if one.id == id_), None)


def _show_vector(vector: Vector, format: str) -> int:
    """Print what a vector shows, and how to run it."""
    if format == "json":
        sys.stdout.write(json.dumps(results.sparse_json(results.Case.from_vector(vector)), indent=2) + "\n")
        return ExitStatus.CONFORMANT
    print(f"{vector.id} is a vector of the suite {vector.suite}")
    lines = [*_part("note", vector.note), *_part("operation", vector.operation.name)]
    for code in vector.requirements:
        lines += _part("shows", f"{code} {register()[code].text}" if code in register() else code)
    lines += [*_part("origin", vector.origin), *_part("run it", f"iceberg-conformance replay {vector.id}")]
    print("\n".join(lines))
    return ExitStatus.CONFORMANT


def _show_point(point: Contradiction, folder: Path | None, format: str) -> int:
    """Print a point where the texts contradict each other or are silent."""
    asked = [one.id for one in vectors.load(folder or vectors.shipped(), point.id)]
    if format == "json":
        fields: Any = attrs.asdict(cast(Any, point))
        content = {**fields, "status": point.status.value, "vectors": asked}
        sys.stdout.write(json.dumps(content, indent=2) + "\n")
        return ExitStatus.CONFORMANT
    print(f"{point.id} {point.title}")
    lines = [
        *_part("texts", point.texts),
        *_part("engines", point.implementations),
        *_part(point.status.value, point.decision),
    ]
    for code in point.requirements:
        lines += _part("about", f"{code} {register()[code].text}" if code in register() else code)
    for link in point.links:
        lines += _part("seen in", link)
    lines += _part("vectors", _some(asked))
    print("\n".join(lines))
    return ExitStatus.CONFORMANT


def _check_lines(check: Check) -> Iterator[str]:
    yield f"{check.id}"
    yield from _part("finds", f"tables that break {', '.join(check.requirements)}")
    yield from _part("level", f"{check.level}, checks a {check.scope}".replace("a several", "several"))
    yield from _part("severity", check.severity.value)
    yield from _part("because", check.reason)
    yield ""


def check_json(check: Check) -> dict[str, Any]:
    """Return a check as JSON."""
    return {
        "id": check.id,
        "requirements": list(check.requirements),
        "level": check.level,
        "scope": check.scope,
        "severity": check.severity.value,
        **({} if check.reason is None else {"reason": check.reason}),
    }


def _lines(
    rule: Requirement,
    rule_vectors: Sequence[Vector],
    broken: list[tuple[Deviation, list[str]]],
    readings: list[Contradiction],
    fix: Advice | None,
) -> Iterator[str]:
    yield f"{rule.code} {rule.slug}"
    yield f"    {rule.text}"
    yield ""
    yield from _part("why", rule.why)
    yield from _part("right", rule.right)
    yield from _part("wrong", rule.wrong)
    yield from _part("", rule.judged and f"({EXAMPLES[rule.judged]}; the reference judges both)")
    yield from _part("no example", rule.no_example and NO_EXAMPLE[rule.no_example])
    yield from _part("section", f"{rule.section} ({rule.document})")
    yield from _part("text", section_link(rule))
    yield from _part("level", f"{rule.level.value}, {_versions(rule)}, binds {', '.join(rule.binds)}")
    if rule.rules is not None:
        yield from _part("writers", ", ".join(f"v{version}: {what.value}" for version, what in rule.rules.items()))
    yield from _part("shown by", ", ".join(rule.observable))
    for one in readings:
        yield from _part(one.status.value, f"{one.id}, {one.title}: {one.decision}")
    if fix is not None:
        yield from _part("how to fix", fix.text)
        for label, text in fix.details():
            yield from _part("", f"{label}: {text}")
    for sighting in rule.seen:
        yield from _part("seen in", sighting)
    for deviation, ids in broken[:SHOWN]:
        what = "" if deviation.kind is DeviationKind.DEVIATION else f" ({deviation.kind.value})"
        yield from _part("known of", f"{_engine(deviation)}{what}: {deviation.does or deviation.reason}")
        for label, text in (("evidence", deviation.evidence), ("vectors", _some(ids))):
            yield from _part("", f"{label}: {text}" if text else None)
    if len(broken) > SHOWN:
        yield from _part("", f"and {len(broken) - SHOWN} more; --format json has them all")
    yield from _part(
        "checked by", ", ".join(f"{one.id} ({one.level}, {one.severity.value})" for one in find_checks(rule))
    )
    yield from _part("vectors", str(len(rule_vectors)))
    for vector in rule_vectors[:SHOWN]:
        yield f"        {vector.id}{f' - {vector.note}' if vector.note else ''}"
    if len(rule_vectors) > SHOWN:
        yield f"        and {len(rule_vectors) - SHOWN} more; --format json has them all"
    yield from _part("no proof", rule.unproven)


def _part(label: str, text: str | None) -> Iterator[str]:
    """Yield the lines of a labelled text; none if the text is empty."""
    if text:
        indent = " " * (4 + LABEL)
        yield from textwrap.wrap(
            text,
            WIDTH,
            initial_indent=f"    {label:<{LABEL}}",
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )


def _some(ids: list[str]) -> str:
    return ", ".join(ids[:3]) + (f" and {len(ids) - 3} more" if len(ids) > 3 else "")


def _engine(deviation: Deviation) -> str:
    return " ".join([deviation.engine, *deviation.versions])


def find_deviations(rule: Requirement, rule_vectors: Sequence[Vector]) -> list[tuple[Deviation, list[str]]]:
    """Return the known deviations of engines from a requirement, each with the vectors that show it.

    Args:
        rule: the requirement.
        rule_vectors: the vectors of the requirement.
    """
    ids = {vector.id for vector in rule_vectors}
    return [
        (one, [id_ for id_ in one.vectors if id_ in ids])
        for one in expectations.load_deviations(expectations.SHIPPED).deviations
        if rule.code in one.requirements
    ]


def deviation_json(deviation: Deviation, ids: list[str]) -> dict[str, Any]:
    """Return a known deviation as JSON, with the vectors of one requirement that show it."""
    return {
        "id": deviation.id,
        "kind": deviation.kind.value,
        "engine": deviation.engine,
        "versions": list(deviation.versions),
        "does": deviation.does,
        "reason": deviation.reason,
        "evidence": deviation.evidence,
        "vectors": ids,
    }


def how_to_fix(rule: Requirement) -> Advice | None:
    """Return the advice for a table that breaks the requirement; None if no check finds such tables."""
    return requirement_advice(rule) if rule.status is Status.ADOPTED else None


def find_requirement(code: str) -> Requirement:
    """Find the requirement of a code or slug, in any case.

    Raises:
        UsageError: there is none.
    """
    rules = register()
    by_name = {name.lower(): rule for rule in rules.values() for name in (rule.slug, rule.code)}
    found = by_name.get(code.lower())
    if found is None and code.lower() in retired_check_ids():
        raise UsageError(f"the check {code} is retired: {retired_check_ids()[code.lower()]}")
    if found is None:
        names = [name for rule in rules.values() for name in (rule.code[:AREA], rule.code, rule.slug)]
        ids = [vector.id for vector in vectors.load(vectors.shipped())]
        hint = suggest_names(code, [*names, *registry(), *ids, *contradictions()])
        raise UsageError(
            f"no requirement, check, vector or open point {code!r}"
            f"{hint or '; iceberg-conformance list requirements, list checks and list vectors show the known ones'}"
        )
    return found


def requirement_json(rule: Requirement) -> dict[str, Any]:
    """Return a requirement as JSON."""
    return {
        "code": rule.code,
        "slug": rule.slug,
        "document": rule.document,
        "section": rule.section,
        "level": rule.level.value,
        "versions": [int(version) for version in rule.versions],
        "binds": list(rule.binds),
        "observable": list(rule.observable),
        "text": rule.text,
        "status": rule.status.value,
        **({"rules": {f"v{version}": what.value for version, what in rule.rules.items()}} if rule.rules else {}),
    }


def _versions(rule: Requirement) -> str:
    return " ".join(f"v{version}" for version in rule.versions) or rule.status.value
