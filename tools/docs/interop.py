"""Pages of results that involve several engines: the matrix, relays, and catalogs under stress."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from conformance.interop.cells import GOLDEN, Matrix
from conformance.interop.summary import (
    STATUSES,
    OutcomeCounts,
    by_feature,
    by_layout,
    by_producer,
    status,
)
from conformance.properties.relay_known import load_known
from conformance.reports.matrix_page import MEANINGS
from conformance.reports.matrix_terminal import SIGNS
from tools.docs import html
from tools.docs.markdown import code, plain, table
from tools.docs.results import RELAYS, STRESS, published_matrix, read_list
from tools.docs.support import Cause

MATRIX_REPORT = "matrix-report.html"
"""The file name of the matrix's interactive report, beside the pages of the site."""

NOTHING = ["There are no published results.", ""]


def matrix_page() -> str:
    """Return the page of the matrix."""
    matrix = published_matrix()
    lines = [
        "# Interoperability: writer x reader",
        "",
        "Producers wrote the same small tables, and consumers read them. The number in a cell counts tables;",
        "[the matrix](matrix.md) describes what is compared. Producers whose names begin with `golden/` are",
        "engines that wrote the golden tables of the vectors.",
        "",
    ]
    if matrix is None:
        return "\n".join([*lines, *NOTHING])
    lines += [
        f"{len(matrix.tables)} tables of {len(matrix.producers)} producers and {len(matrix.consumers)} consumers,",
        f'{str(matrix.header["started"])[:10]}. <a href="{MATRIX_REPORT}">The report of this matrix</a> shows',
        "each table.",
        *_given_fewer(matrix),
        "",
        *html.block("matrix_legend.html.j2", meanings=MEANINGS, signs=SIGNS),
    ]
    for heading, counted in (
        ("Producers and consumers", by_producer(matrix)),
        ("Features", by_feature(matrix)),
        ("Versions and file formats", by_layout(matrix)),
    ):
        lines += [f"## {heading}", "", *_counts(matrix, counted)]
    return "\n".join([*lines, "## Causes", "", *_causes(matrix)])


def _given_fewer(matrix: Matrix) -> list[str]:
    """Return a sentence about the consumers that were not given all tables; empty if all were."""
    given = Counter(cell.consumer for cell in matrix.cells)
    most = max(given.values(), default=0)
    fewer = [f"{one.name} {given[one.name]}" for one in matrix.consumers if given[one.name] < most]
    if not fewer:
        return []
    return [f"Of the {most} tables that were read, some consumers were given only a part: {', '.join(fewer)}."]


def _counts(matrix: Matrix, counted: OutcomeCounts) -> list[str]:
    return html.block(
        "matrix_counts.html.j2",
        counted=counted,
        statuses=STATUSES,
        meanings=MEANINGS,
        signs=SIGNS,
        versions={one.name: one.version for one in matrix.participants},
    )


def _causes(matrix: Matrix) -> list[str]:
    found: Counter[tuple[str, str, str, str]] = Counter()
    for one in matrix.tables:
        if one.known:
            found[one.producer, "writes", one.known_id, one.known] += 1
    for cell in matrix.cells:
        if status(cell) == "known" and not cell.producer.startswith(GOLDEN):
            found[cell.consumer, "reads", cell.known_id, cell.known] += 1
    rows = []
    for (who, does, id_, reason), count in sorted(found.items()):
        shown = plain(reason)
        if id_:
            address = Cause(id_, who.partition("@")[0], "").address
            shown = f'<a class="reference" href="{address}">{code(id_)}</a>: {shown}'
        rows.append([f"{who} {does}", str(count), shown])
    lines = ["The known causes of cells that are not right, and the number of tables with each cause.", ""]
    return [*lines, *table(["who", "tables", "cause"], rows), ""]


def matrix_report() -> str | None:
    """Return the report of the matrix as one page that needs no network; None if no matrix is published."""
    from conformance.reports.matrix_page import render

    matrix = published_matrix()
    return None if matrix is None else render(matrix)


WORDS = ("done", "unsupported", "known", "refused", "failed")


def relays_page() -> str:
    """Return the page of the relays."""
    lines = [
        "# Relays: engines that change one table in turn",
        "",
        "Scripts were generated, and each step was given to an engine chosen at random. After each step the table was",
        "validated with all its snapshots, read, and compared with the model of the script.",
        "[The matrix](matrix.md#relays) describes the command. Rows are the engines that made the table, columns those",
        "that were given the next step.",
        "",
    ]
    relays = read_list(RELAYS)
    if not relays:
        return "\n".join([*lines, *NOTHING])
    known = {one.id: one for one in (*load_known(), *load_known(table="scenario"))}
    for relay in relays:
        names = list(relay["engines"])
        shown = [f"{name} {relay['engines'][name]['version']}".strip() for name in names]
        lines += [f"## Relay of {relay['day']}, seed {relay['seed']}", "", f"Engines: {', '.join(shown)}.", ""]
        steps = sum(one["steps"] for one in relay["engines"].values())
        lines += [f"{relay['scripts']} scripts, {steps} steps done.", ""]
        pairs = {(one["before"], one["engine"]): one for one in relay["handovers"]}
        lines += html.block("relay.html.j2", names=names, pairs=pairs, words=WORDS)
        gone = [(name, one["gone"]) for name, one in relay["engines"].items() if one.get("gone")]
        lines += [f"- {name} stopped taking part: {plain(why)}" for name, why in gone] + [""]
        lines += ["### Known failures that occurred", ""]
        rows = []
        for id_, count in sorted(relay["known"].items()):
            one = known.get(id_)
            address = "" if one is None else Cause(id_, one.engine, "").address
            link = code(id_) if one is None else f'<a class="reference" href="{address}">{code(id_)}</a>'
            rows.append([link, str(count), "" if one is None else plain(one.does)])
        lines += [*(table(["finding", "times", "what happens"], rows) if rows else ["None."]), ""]
        lines += ["### New failures", ""]
        lines += [
            *(
                f"- **{one['engine']}**, {code(one['operation'])}: {plain(one['kind'])}: {plain(_first(one['reason']))}"
                for one in relay["failures"]
            ),
            *([] if relay["failures"] else ["None."]),
            "",
        ]
    return "\n".join(lines)


def _first(text: str) -> str:
    line = text.strip().partition("\n")[0]
    return line if len(line) <= 300 else line[:297] + "..."


def catalogs_page() -> str:
    """Return the page of the catalogs under stress."""
    lines = [
        "# Catalogs under stress",
        "",
        "Many processes committed to one new table of a real catalog, while some of them, and in some runs the server,",
        "were killed. A fault is an acknowledged commit that was lost, repeated, reordered or done in part, a stale",
        "read, or a table that breaks the spec. [Races of commits](races.md#catalogs-under-stress) describes the",
        "command and the findings.",
        "",
    ]
    runs = read_list(STRESS)
    if not runs:
        return "\n".join([*lines, *NOTHING])
    head = ["catalog", "client", "faults", "acknowledged", "refused", "unknown", "writers killed", "server killed"]
    days = sorted({run["day"] for run in runs})
    lines += [f"The results were made on {' to '.join(dict.fromkeys((days[0], days[-1])))}.", ""]
    lines += [*table(head, map(_stress_row, runs)), ""]
    lines += [
        "*Refused* commits lost a race. *Unknown* commits had no answer, mostly because the writer was killed; each of",
        "them was done completely or not at all, unless it is counted as a fault.",
        "",
    ]
    for run in runs:
        if run["problem_count"]:
            lines += [f"## Faults of {plain(_server(run))} with {plain(_bare(run['client']))}", ""]
            lines += [*(f"- {plain(one)}" for one in run["problems"]), ""]
            if run["problem_count"] > len(run["problems"]):
                lines += [f"and {run['problem_count'] - len(run['problems'])} more.", ""]
    return "\n".join(lines)


def _bare(text: str) -> str:
    """Return a name without the part in parentheses."""
    return re.sub(r" \([^()]*\)", "", text)


def _server(run: dict[str, Any]) -> str:
    return _bare(str(run.get("server") or "").removesuffix(", started here")) or "a catalog"


def _stress_row(run: dict[str, Any]) -> list[str]:
    numbers = [run[key] for key in ("problem_count", "acknowledged", "refused", "unknown", "kills", "server_kills")]
    return [plain(_server(run)), plain(_bare(run["client"])), *map(str, numbers)]
