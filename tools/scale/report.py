"""Reports of scale: lines for a terminal, the stored figures, and the page with its plot."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import cattrs

from conformance.version import tool_version
from tools.bench.report import machine, pyplot
from tools.scale import tables
from tools.scale.estimate import Row, assumptions, estimate
from tools.scale.paths import MIB, PATHS, PLAIN, Growth, Limit, Measurement, growths, limits

HEADER = f"{'path':44} {'of':>12} {'processor s':>12} {'seconds':>9} {'MiB':>7} {'MiB one':>8}"
UNITS = {path.name: path.unit for path in PATHS}
HEAD = """\
# Scale

How time and memory grow with the size of a table: planning, validating and reading, each at several sizes.

`make scale` writes this page. It makes the tables, runs each path in separate processes, and fails if a path takes more
memory or grows faster than `tools/scale/limits.toml` allows. `python -m tools.scale --quick` measures small tables, in
about a minute of one core.

The figures are from {measured}, measured {how},
on {machine}.
Other programs ran on the machine. Times are therefore processor seconds, summed over all processes of a path and
sampled ten times per second; the column `seconds` is elapsed time. Memory is the peak of all processes of a path
together; a page that several processes share is counted once for each of them.

![processor seconds and memory by size](scale.svg)
"""
REQUESTS = """\
These files are smaller than 64 KiB. Of a larger data file, level `files` requests the last 64 KiB only, and the rest of
a larger footer. Reading, and level `rows`, then request each range of columns that are next to each other, of at most
32 MiB, and an ORC file stripe by stripe. Vectors that are near each other in one Puffin file are one request. Checks of
files request a manifest again where they run on Spark, or where all manifests have more than 2 GiB.

One request for each is for S3 with the extra `[s3]` and keys in the environment: its answers have the size of the file.
Elsewhere pyarrow asks for the size first: two requests for each file. PyIceberg 0.12.0 takes 2 requests for each
manifest, and reads a data file of 300 KB with 3, where this reference takes 2 (15 files; both counted by
`tools/counting_store.py`).""".splitlines()
_CONVERTER = cattrs.Converter(omit_if_default=True)


def line(one: Measurement) -> str:
    """Format a measurement for a terminal."""
    memory = f"{one.memory >> 20:>7,} {one.largest >> 20:>8,}"
    return f"{one.path:44} {one.count:>12,} {one.processor:>12.2f} {one.seconds:>9.2f} {memory}"


def append_measurement(file: Path, one: Measurement) -> None:
    """Add a measurement to a file."""
    with file.open("a") as out:
        print(json.dumps(_CONVERTER.unstructure(one)), file=out)


def load_measurements(file: Path | None) -> tuple[Measurement, ...]:
    """Return the measurements in a file; empty if there is no file."""
    if file is None or not file.exists():
        return ()
    return tuple(_CONVERTER.structure(json.loads(row), Measurement) for row in file.read_text().splitlines())


def growth_line(name: str, growth: Growth, limit: Limit) -> str:
    """Describe how a path grows, and how far it is from its limits."""
    most = max(one.memory for one in growth.steps) >> 20
    each = f"{growth.processor_each * 1e6:.3g} us and {max(growth.memory_each, 0):.3g} bytes for one more"
    return f"{name:44} power {growth.exponent:.2f} of {limit.exponent}, {most:,} of {limit.memory_mib:,} MiB, {each}"


def store(
    docs: Path, measured: tuple[Measurement, ...], requests: Mapping[str, Mapping[str, float]], how: str = "in one run"
) -> None:
    """Store the measurements and write the page."""
    made = {
        "machine": machine(),
        "measured": datetime.now(UTC).date().isoformat(),
        "tool": tool_version(),
        "how": how,
        "requests": requests,
        "figures": [_CONVERTER.unstructure(one) for one in measured],
    }
    (docs / "scale.json").write_text(json.dumps(made, indent=1) + "\n")
    write(docs)


def write(docs: Path) -> None:
    """Write the page and the plot from the stored measurements."""
    made = json.loads((docs / "scale.json").read_text())
    grown = growths(tuple(_CONVERTER.structure(row, Measurement) for row in made["figures"]))
    (docs / "scale.md").write_text(document(grown, made))
    plot(grown, docs / "scale.svg")


def document(growths: Mapping[str, Growth], stored: Mapping[str, Any]) -> str:
    """Return the page in Markdown."""
    return (
        "\n".join(
            [
                *_head(stored),
                *_growth_lines(growths),
                *_plain(growths),
                *_figures(growths),
                *_petabyte(growths, stored["requests"]),
            ]
        )
        + "\n"
    )


def _head(made: Mapping[str, Any]) -> Iterator[str]:
    yield HEAD.format(**made)


def _growth_lines(grown: Mapping[str, Growth]) -> Iterator[str]:
    allowed = limits()
    yield "| path | largest size | processor time | per unit added | growth exponent | limit | peak memory | limit |"
    yield "|---|---|---|---|---|---|---|---|"
    for name, growth in grown.items():
        last, most = growth.steps[-1], max(one.memory for one in growth.steps) >> 20
        cells = (
            name,
            f"{last.count:,} {UNITS[name]}",
            f"{last.processor:.1f} s",
            _short(growth.processor_each),
            f"{growth.exponent:.2f}",
            f"{allowed[name].exponent}",
            f"{most:,} MiB",
            f"{allowed[name].memory_mib:,} MiB",
        )
        yield f"| {' | '.join(cells)} |"
    yield ""
    yield "The *growth exponent* is the power of the size by which processor time, without start-up, grows, fitted by"
    yield "least squares: 1 is linear, and 0 means that every size takes little more than start-up. The filter on the"
    yield "partition reads only the manifests whose summaries may match."
    yield ""


def _plain(grown: Mapping[str, Growth]) -> Iterator[str]:
    """Yield a table of the paths that were measured with the kernels of `spec_ref.columnar` and without."""
    both = [(name, grown[PLAIN + name], growth) for name, growth in grown.items() if PLAIN + name in grown]
    if not both:
        return
    yield "## Speed of the fast path"
    yield ""
    yield "`spec_ref/columnar` computes over whole columns what the definitions of the spec compute for one value or"
    yield "file at a time. The definitions, measured as *plain* paths, are complete without it."
    yield ""
    yield "| path | plain, per unit added | fast, per unit added | times faster |"
    yield "|---|---|---|---|"
    for name, plain, fast in both:
        times = (
            f"{plain.processor_each / fast.processor_each:,.0f}"
            if min(plain.processor_each, fast.processor_each) > 0
            else ""
        )
        yield f"| {name} | {_short(plain.processor_each)} | {_short(fast.processor_each)} | {times} |"
    yield ""


def _figures(grown: Mapping[str, Growth]) -> Iterator[str]:
    yield "## The tables"
    yield ""
    yield "\n\n".join((tables.__doc__ or "").partition("\n\n")[2].strip().split("\n\n"))
    yield ""
    yield "## Every size"
    yield ""
    yield "| path | size | processor s | seconds | MiB, all processes | MiB, largest process |"
    yield "|---|---|---|---|---|---|"
    for name, growth in grown.items():
        for one in growth.steps:
            memory = f"{one.memory / MIB:,.0f} | {one.largest / MIB:,.0f}"
            yield f"| {name} | {one.count:,} {UNITS[name]} | {one.processor:.2f} | {one.seconds:.2f} | {memory} |"
    yield ""


def _petabyte(grown: Mapping[str, Growth], asked: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    yield "## Estimate: a petabyte on a hundred nodes"
    yield ""
    yield "These figures are not measured. `tools/scale/estimate.py` computes them from the figures above, and assumes:"
    yield ""
    yield from (f"- {text}" for text in assumptions())
    yield ""
    yield "| | time on the cluster | driver memory | shuffled | requests to the store | bottleneck |"
    yield "|---|---|---|---|---|---|"
    for row in estimate(grown, asked):
        yield _row(row)
    yield ""
    yield "The requests were counted by a store on the machine above (`tools/scale/requests.py`, 2026-11-23):"
    yield ""
    for way, kinds in asked.items():
        yield f"- {way}: {', '.join(f'{number:g} for each {kind}' for kind, number in kinds.items() if number)}"
    yield ""
    yield from REQUESTS


def _row(row: Row) -> str:
    shuffled = _bytes(row.shuffled) if row.shuffled else ""
    return (
        f"| {row.name} | {_time(row.seconds)} | {_bytes(row.driver)} | {shuffled} | {row.requests:,.0f} | {row.limit} |"
    )


def _short(seconds: float) -> str:
    """Format a time in the unit that suits it; empty if start-up took so long that it hides the rest."""
    if seconds <= 0:
        return ""
    size, unit = next((one for one in ((1e-3, "ms"), (1e-6, "us")) if seconds >= one[0]), (1e-9, "ns"))
    return f"{seconds / size:.3g} {unit}"


def _time(seconds: float) -> str:
    return (
        f"{seconds / 3600:.1f} h"
        if seconds >= 3600
        else f"{seconds / 60:.1f} min"
        if seconds >= 60
        else f"{seconds:.1f} s"
    )


def _bytes(count: float) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"


def plot(growths: Mapping[str, Growth], path: Path) -> None:
    """Plot processor seconds and memory by size on logarithmic scales, for entries and for rows."""
    plt = pyplot()
    figure, all_axes = plt.subplots(2, 2, figsize=(9, 7))
    for row, unit in zip(all_axes, ("entries", "rows"), strict=True):
        for name, growth in growths.items():
            if UNITS[name] == unit:
                sizes = [one.count for one in growth.steps]
                row[0].plot(sizes, [one.processor for one in growth.steps], marker="o", markersize=3, label=name)
                row[1].plot(sizes, [one.memory / MIB for one in growth.steps], marker="o", markersize=3, label=name)
        for axes, label in zip(row, ("processor seconds, with start-up", "MiB, all processes"), strict=True):
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_xlabel(unit)
            axes.set_ylabel(label)
        row[0].legend(fontsize=6)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
