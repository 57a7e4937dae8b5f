"""The page "Can I use": which engine reads and writes which features of Iceberg, counted from the published results."""

from __future__ import annotations

from collections.abc import Iterator

from tools.docs import html
from tools.docs.engines import OURS
from tools.docs.results import published_matrix, vector_results
from tools.docs.support import (
    READS,
    VERDICTS,
    WRITES,
    Feature,
    engines,
    features,
    golden_vectors,
    support,
    title,
)


def days() -> str:
    """Return the dates on which the published results were made, for a sentence."""
    found = {one.started[:10] for one in vector_results().engines}
    matrix = published_matrix()
    if matrix is not None:
        found.add(str(matrix.header["started"])[:10])
    dates = sorted(found)
    return " to ".join([dates[0], dates[-1]] if len(dates) > 1 else dates) or "no day"


def page() -> str:
    """Return the page "Can I use"."""
    lines = [
        "# Can I use",
        "",
        "Which features of Iceberg an engine reads and writes, by engine and version. Nothing on this page is written",
        "by hand: it counts what engines did with [golden tables](vectors-reading.md) and in the",
        f"[interoperability matrix](interop.md). The results were made on {days()}. `make site` builds this page.",
        "",
        "A tick means that all tested cases are right, not that everything is. There is no score: engines",
        "were tried with different numbers of tables. Choose a sign to see the counts and the findings behind it. ORC",
        "and Avro files have separate rows; every other row counts tables with Parquet files.",
        "",
        *html.block("legend.html.j2", verdicts=VERDICTS),
    ]
    for side, heading in ((READS, "Reading"), (WRITES, "Writing")):
        lines += [f"## {heading}", ""]
        lines += _overview(side)
    lines += ["## Features", ""]
    group = ""
    for feature in features():
        if feature.group != group:
            group = feature.group
            lines += [f"### {group}", ""]
        lines += _feature(feature)
    return "\n".join(lines)


def shown_engines(side: str) -> list[tuple[str, str, str]]:
    """Return the name, title and version of each engine that has results for one side."""
    tried = [one for one in engines() if any(_is_tested(one.name, feature, side) for feature in features())]
    return [(one.name, title(one), one.version) for one in tried if one.engine not in OURS]


def _is_tested(name: str, feature: Feature, side: str) -> bool:
    return support(name, feature, side).verdict not in ("untested", "no")


def _overview(side: str) -> list[str]:
    columns = shown_engines(side)
    if not columns:
        return ["There are no published results.", ""]
    rows = [
        (feature, [(name, support(name, feature, side)) for name, _, _ in columns])
        for feature in features()
        if any(support(name, feature, side).verdict != "untested" for name, _, _ in columns)
    ]
    return html.block("overview.html.j2", side=side, columns=columns, rows=rows, verdicts=VERDICTS)


def _feature(feature: Feature) -> Iterator[str]:
    sides = []
    for side in (READS, WRITES):
        found = [(name, shown, version, support(name, feature, side)) for name, shown, version in shown_engines(side)]
        tried = [one for one in found if one[3].verdict != "untested"]
        if tried:
            sides.append((side, tried))
    if not sides:
        return
    golden = sum(map(feature.is_about_golden, golden_vectors()))
    yield from html.block("feature.html.j2", feature=feature, sides=sides, verdicts=VERDICTS, golden=golden)


def engine_head(engine: str) -> list[str]:
    """Return the beginning of an engine's page: its versions, and the features that it reads and writes.

    Args:
        engine: the name of the engine, without a version.
    """
    asked = [one for one in vector_results().engines if one.engine == engine]
    lines: list[str] = []
    for one in asked:
        counts: dict[str, dict[str, int]] = {}
        for id_, letter in vector_results().letters_of_engine(one.name).items():
            suite = _suite(id_)
            if suite:
                found = counts.setdefault(suite, dict.fromkeys(("right", "not right", "unsupported"), 0))
                word = {"p": "right", "o": "right", "u": "unsupported"}.get(letter.lower(), "not right")
                found[word] += 1
        rows = [
            (feature, [(side, support(one.name, feature, side)) for side in (READS, WRITES)]) for feature in features()
        ]
        rows = [row for row in rows if any(found.verdict != "untested" for _, found in row[1])]
        if not any(found.verdict not in ("untested", "no") for _, both in rows for _, found in both):
            rows = []  # an engine with functions only, which reads no tables
        sides = [side for side in (READS, WRITES) if any(dict(both)[side].verdict != "untested" for _, both in rows)]
        lines += html.block(
            "engine.html.j2",
            title=title(one),
            asked=one,
            counts=sorted(counts.items()),
            rows=rows,
            sides=sides,
            verdicts=VERDICTS,
        )
    return lines


def _suite(id_: str) -> str:
    from tools.docs.findings import all_vectors

    vector = all_vectors().get(id_)
    return "" if vector is None else vector.suite
