"""Pages of the register, one for each area, with the output of ``iceberg-conformance explain`` for each requirement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache

from conformance.cli.explain import how_to_fix
from conformance.core.spec_links import areas, areas_by_code, section_link
from conformance.runner.expectations import Deviation
from conformance.vectors import Vector
from spec_ref.requirements import (
    EXAMPLES,
    NO_EXAMPLE,
    Contradiction,
    Requirement,
    contradictions,
    register,
)
from tools.docs.html import vector_link
from tools.docs.markdown import code, plain, table

SHOWN = 3
"""The maximum number of vectors of a requirement, and of deviations of an engine, that are listed."""

TITLES = {
    "aes_gcm_stream": "AES GCM stream",
    "avro": "Avro (Appendix A)",
    "orc": "ORC (Appendix A)",
    "parquet": "Parquet (Appendix A)",
    "json_schemas": "JSON serialization (Appendix C)",
    "udfs": "SQL functions",
    "hashing": "Hashing (Appendix B)",
    "single_values": "Single values (Appendix D)",
    "versions": "Format versions",
    "upgrades": "Upgrades (Appendix E)",
    "notes": "Implementation notes (Appendix F)",
}

Known = Mapping[str, list[tuple[Deviation, list[str]]]]


def title(area: str) -> str:
    """Return the heading of an area."""
    return TITLES.get(area, area.replace("_", " ").capitalize())


def requirement_link(code_: str) -> str:
    """Return a Markdown link to a requirement."""
    return f"[{code_}](requirements-{areas_by_code()[code_]}.md#{code_.lower()})"


def index(proofs: Mapping[str, list[Vector]]) -> str:
    """Return the page that links to the areas."""
    rows = []
    for area, codes in areas().items():
        shown = sum(bool(proofs.get(code_)) for code_ in codes)
        rows.append([f"[{title(area)}](requirements-{area}.md)", str(len(codes)), str(shown)])
    rules = register().values()
    levels = Counter(rule.level.value for rule in rules)
    counted = ", ".join(f"{number} *{level}*" for level, number in levels.items())
    lines = [
        "# Requirements",
        "",
        f"The register has {len(rules)} requirements ({counted}), each with a stable code: the rule in our own words,",
        "its reason, a right and a wrong example, the engines that are known to break it, and its proofs.",
        "`iceberg-conformance explain CODE` prints the same on the command line. Every finding, failure and vector",
        "names a code.",
        "",
        *table(["area", "requirements", "with vectors"], rows),
        "",
        "A requirement that no vector proves is proved by tests and checks of the validator, or states why it is not.",
        "",
        "```{toctree}",
        ":hidden:",
        "",
        *(f"requirements-{area}" for area in areas()),
        "```",
        "",
    ]
    return "\n".join(lines)


def area_page(area: str, proofs: Mapping[str, list[Vector]], known: Known) -> str:
    """Return the page with the requirements of one area."""
    lines = [f"# {title(area)}", ""]
    for code_ in areas()[area]:
        lines += _requirement(register()[code_], proofs.get(code_, []), known.get(code_, []))
    return "\n".join(lines)


@cache
def _readings() -> dict[str, list[Contradiction]]:
    found: dict[str, list[Contradiction]] = {}
    for one in contradictions().values():
        for code_ in one.requirements:
            found.setdefault(code_, []).append(one)
    return found


def _requirement(rule: Requirement, proofs: list[Vector], known: list[tuple[Deviation, list[str]]]) -> Iterator[str]:
    yield f"({rule.code.lower()})="
    yield f"## {rule.code}: {rule.slug}"
    yield ""
    yield plain(rule.text)
    yield ""
    judged = f" ({EXAMPLES[rule.judged]}; the reference judges both)" if rule.judged else ""
    parts = [
        ("Why", rule.why),
        ("Right", rule.right),
        ("Wrong", rule.wrong and rule.wrong + judged),
        ("No example", rule.no_example and NO_EXAMPLE[rule.no_example]),
        ("How to fix a table", (fix := how_to_fix(rule)) and " ".join(str(fix).splitlines())),
    ]
    for label, text in parts:
        if text:
            yield f"- **{label}**: {plain(text)}"
    heading = plain(rule.section)
    yield f"- **Text**: [{heading}]({section_link(rule)}) ({rule.document})"
    versions = " ".join(f"v{version}" for version in rule.versions) or rule.status.value
    yield f"- **Level**: {rule.level.value}, {versions}, binds {', '.join(rule.binds)}"
    if rule.rules:
        writers = ", ".join(f"v{version} {what.value}" for version, what in rule.rules.items())
        yield f"- **Writers**: {writers}"
    for one in _readings().get(rule.code, ()):
        target = f"contradictions.md#point-{one.id.lower()}"
        yield f"- **{one.status.value.capitalize()}**: [{one.id}]({target}), {plain(one.title)}"
    for sighting in rule.seen:
        yield f"- **Seen in** {plain(sighting)}"
    for deviation, ids in known[:SHOWN]:
        versions = " ".join(deviation.versions)
        yield (
            f"- **Known of** [{deviation.engine}](findings-{deviation.engine}.md) {versions}: "
            f"{plain(deviation.does or deviation.reason)} ({code(ids[0])})"
        )
    if len(known) > SHOWN:
        yield f"- and {len(known) - SHOWN} more known deviations"
    if proofs:
        plainest = sorted(proofs, key=lambda vector: (not vector.origin.startswith("spec"), len(vector.requirements)))
        shown = ", ".join(vector_link(vector.suite, vector.id) for vector in plainest[:SHOWN])
        yield f"- **Vectors**: {len(proofs)}, such as {shown}"
    yield f"- **Proofs**: [what is broken, and what detects it](proofs-{areas_by_code()[rule.code]}.md)"
    if rule.unproven:
        yield f"- **No proof**: {plain(rule.unproven)}"
    yield ""
