"""Reports of benchmarks: lines for a terminal, the stored figures, and the page with its plot."""

from __future__ import annotations

import importlib
import json
import os
import platform
import statistics
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import cattrs
import pyarrow as pa

from conformance.version import tool_version
from tools.bench.measure import Claim, Measure

HEADER = f"{'path':22} {'case':46} {'peer':34} {'ours':>10} {'peer':>10} {'value':>9} {'goal':>8}"
PATHS = (
    "kernels",
    "metadata",
    "manifests",
    "planning",
    "rows",
    "writing",
    "validation",
    "object_store",
    "commits",
    "vectors",
    "spark",
    "command",
)
"""The modules with benchmarks, in the order of the page."""

_CONVERTER = cattrs.Converter(omit_if_default=True)


def file_name(*, quick: bool) -> str:
    """Return the name of the file with the figures of full or quick runs, in the folder of pages."""
    return "benchmarks-quick.json" if quick else "benchmarks.json"


def load(path: Path) -> dict[str, Claim]:
    """Return the stored claims by their keys; empty if there is no file."""
    if not path.exists():
        return {}
    claims = [_CONVERTER.structure(row, Claim) for row in json.loads(path.read_text())["claims"]]
    return {claim.key: claim for claim in claims}


def line(claim: Claim, stored: Claim | None = None) -> str:
    """Format a claim for a terminal, with the change from the stored one."""
    ours, theirs = _amounts(claim)
    goal = "" if claim.goal is None else f"{_number(claim.goal)}"
    note = {True: "", False: "  MISSED", None: ""}[claim.reached]
    if stored is not None and stored.value:
        note += f"  was {_number(stored.value)}"
    head = f"{claim.path:22} {claim.case[:46]:46} {claim.peer[:34]:34}"
    return f"{head} {ours:>10} {theirs:>10} {_number(claim.value):>9} {goal:>8}{note}"


def summary(claims: Sequence[Claim]) -> str:
    """Return the number of goals that are reached, and those that are not."""
    with_goal = [claim for claim in claims if claim.reached is not None]
    missed = [claim for claim in with_goal if not claim.reached]
    lines = [f"{len(with_goal) - len(missed)} of {len(with_goal)} goals reached"]
    lines += [
        f"missed: {claim.path}, {claim.case}, {claim.peer or claim.measure.value}: {_number(claim.value)}"
        f" (spread {_spread(claim)}), goal {_number(claim.goal or 0)}"
        for claim in missed
    ]
    return "\n".join(lines)


def store(docs: Path, claims: Sequence[Claim], *, quick: bool, partly: bool) -> None:
    """Store the figures and, unless they come from a quick run, write the page.

    New figures replace the stored ones of the same paths; those of other paths stay.
    """
    path = docs / file_name(quick=quick)
    measured = {claim.path for claim in claims}
    others = [claim for claim in load(path).values() if partly and claim.path not in measured]
    kept = {claim.key: claim for claim in (*others, *claims)}
    made = {
        "machine": machine(),
        "measured": datetime.now(UTC).date().isoformat(),
        "tool": tool_version(),
        "claims": [_CONVERTER.unstructure(claim) for claim in kept.values()],
    }
    path.write_text(json.dumps(made, indent=1) + "\n")
    if not quick:
        (docs / "benchmarks.md").write_text(document(list(kept.values()), made))
        plot(list(kept.values()), docs / "benchmarks.svg")


def machine() -> str:
    """Describe the machine in one line."""
    model = platform.processor() or platform.machine()
    for row in Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else ():
        if row.startswith("model name"):
            model = row.partition(":")[2].strip()
            break
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    python = platform.python_version()
    return f"{os.cpu_count()} x {model}, {memory:.0f} GiB, Python {python}, pyarrow {pa.__version__}"


def document(claims: Sequence[Claim], stored: dict[str, Any]) -> str:
    """Return the page in Markdown."""
    rows = [
        "| path | case | against | ours | peer | value | spread | goal | |",
        "|---|---|---|---|---|---|---|---|---|",
        *map(_row, claims),
    ]
    reached = sum(claim.reached is True for claim in claims)
    goals = sum(claim.reached is not None for claim in claims)
    notes = [
        f"- {claim.path}, {claim.case}, {claim.peer or 'no peer'}: {claim.note}." for claim in claims if claim.note
    ]
    return "\n".join(
        [
            "# Benchmarks",
            "",
            "`make bench` writes this page. It measures every path on it and its peers in one run on one machine.",
            f"The figures are from {stored['measured']}, on {stored['machine']}.",
            "A value is our time, or the number of our requests, divided by the peer's: the median of the rounds, and",
            "their spread.",
            "The two sides take turns, and peers run in separate environments.",
            f"{reached} of {goals} goals are reached.",
            "",
            "![ratios by path, with their goals](benchmarks.svg)",
            "",
            *rows,
            "",
            *(["Notes", "", *notes, ""] if notes else []),
            "## How each path is measured",
            "",
            *_how(),
        ]
    )


def _how() -> Iterable[str]:
    for name in PATHS:
        doc = (importlib.import_module(f"tools.bench.{name}").__doc__ or "").strip()
        head, _, rest = doc.partition("\n\n")
        yield f"**{name}** (`python -m tools.bench --only {name}`). {' '.join(head.split())}"
        yield ""
        if rest:
            yield " ".join(rest.replace("``", "`").split())
            yield ""


def _row(claim: Claim) -> str:
    ours, theirs = _amounts(claim)
    unit = {Measure.RATE: " / s", Measure.SECONDS: " s"}.get(claim.measure, "")
    goal = ""
    if claim.goal is not None:
        goal = f"{'at least' if claim.measure is Measure.RATE else 'at most'} {_number(claim.goal)}{unit}"
    goal_reached = {True: "reached", False: "**missed**", None: ""}[claim.reached]
    value = f"{_number(claim.value)}{unit}"
    cells = (claim.path, claim.case, claim.peer, ours, theirs, value, _spread(claim), goal, goal_reached)
    return f"| {' | '.join(cells)} |"


def _spread(claim: Claim) -> str:
    return f"{_number(min(claim.values))} to {_number(max(claim.values))}"


def _amounts(claim: Claim) -> tuple[str, str]:
    """Format the measurements of each side: seconds or requests; empty for a rate, as the value itself is the rate."""
    if claim.measure is Measure.REQUESTS:
        return _number(statistics.median(claim.ours)), _number(statistics.median(claim.theirs))
    ours = _seconds(claim.ours) if claim.measure is not Measure.RATE else ""
    return ours, _seconds(claim.theirs) if claim.theirs else ""


def _seconds(rounds: Sequence[float]) -> str:
    median = statistics.median(rounds)
    return f"{median:.2f} s" if median >= 1 else f"{median * 1e3:.3g} ms"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def pyplot() -> Any:
    """Return pyplot, set up for all plots here: SVG whose bytes depend only on what is drawn."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams.update({"svg.hashsalt": "iceberg", "svg.fonttype": "none", "font.size": 8})
    import matplotlib.pyplot as plt

    return plt


def plot(claims: Sequence[Claim], path: Path) -> None:
    """Plot ratios as bars on a logarithmic scale, with a mark for each goal."""
    plt = pyplot()
    shown = [claim for claim in claims if claim.measure is Measure.RATIO and claim.goal is not None]
    figure, axes = plt.subplots(figsize=(9, 0.28 * len(shown) + 1.2))
    places = range(len(shown))
    colours = ["#2e7d32" if claim.reached else "#c62828" for claim in shown]
    axes.barh(places, [claim.value for claim in shown], color=colours, height=0.6)
    for place, claim in zip(places, shown, strict=True):
        axes.plot([claim.goal] * 2, [place - 0.4, place + 0.4], color="black", linewidth=1.5)
    axes.set_yticks(places, [f"{claim.path}: {claim.case} / {claim.peer.partition(',')[0]}" for claim in shown])
    axes.set_xscale("log")
    axes.invert_yaxis()
    axes.axvline(1, color="grey", linewidth=0.8, linestyle=":")
    axes.set_xlabel("our time by the peer's (less is better); the black mark is the goal")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
