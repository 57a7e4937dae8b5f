"""An estimate for a table of a petabyte, computed from the measurements, with every assumption in one place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attrs import frozen

from tools.scale import tables
from tools.scale.paths import Growth

PETABYTE = 10**15
FILE_BYTES = 256 << 20
NODES = 100
CORES = 16
"""The processors of a node."""

NODE_REQUESTS = 500
"""The requests per second that the processes of one node finish: 16 at a time, of 30 ms each."""

STORE_READS = 5500
"""The reads per second that a store guarantees for one prefix."""

ROW_BYTES = 12
"""The bytes of a decoded row of the measured tables: a bigint and an int."""

RANGE_BYTES = 32 << 20
"""The maximum number of bytes of columns that one request reads."""

UNPACKED = 3
"""The number of decoded bytes per byte of a file."""

DRIVER_BYTES = 16e9
"""The memory of a driver; it limits a task that needs more."""


@frozen(kw_only=True)
class Row:
    """One task on the table."""

    name: str
    seconds: float
    """The seconds on the cluster."""

    driver: float
    """The memory of the driver, in bytes."""

    shuffled: float
    requests: float
    limit: str
    """The resource that limits the task."""


FILES = -(-PETABYTE // FILE_BYTES)
MANIFESTS = -(-FILES // tables.ENTRIES_A_MANIFEST)


def assumptions() -> tuple[str, ...]:
    """Return the assumptions as text."""
    return (
        f"{PETABYTE:,} bytes in {FILES:,} Parquet files of {FILE_BYTES >> 20} MiB, with statistics of 20 columns",
        f"{MANIFESTS:,} manifests of {tables.ENTRIES_A_MANIFEST:,} entries; a separate deletion vector per file",
        f"{NODES} nodes of {CORES} cores as fast as the measured one, without other work or retries",
        f"a driver of {DRIVER_BYTES / 1e9:.0f} GB, on which Python has one core",
        f"{UNPACKED} decoded bytes for each byte of a file",
        f"rows that are decoded and checked as fast, per byte, as the measured rows of {ROW_BYTES} bytes",
        f"{NODE_REQUESTS} requests per second by each node, of at most {RANGE_BYTES >> 20} MiB of columns",
        f"a store that, with hashed paths, scales beyond the {STORE_READS:,} requests a second of one prefix",
    )


def estimate(growths: Mapping[str, Growth], request_counts: Mapping[str, Mapping[str, float]]) -> Iterator[Row]:
    """Yield a row for each task on the table, with the resource that limits it."""

    def each(path: str) -> float:
        return growths[path].processor_each

    cores, both = NODES * CORES, 2 * FILES
    manifests = 2 * MANIFESTS
    sent = growths["planning, all tasks serialized for executors"]
    tasks = (sent.steps[-1].bytes or 0) / sent.steps[-1].count
    summed = max(growths["validating manifests, Spark"].memory_each, 0.0)

    def row(name: str, ways: Mapping[str, float], driver: float, shuffled: float, requests: float) -> Row:
        """Return the row of a task; the slowest of the possible limits determines the seconds."""
        waiting = {**ways, "requests to the store": requests / NODE_REQUESTS / NODES}
        longest = max(waiting, key=lambda way: waiting[way])
        limit = "memory of the driver" if driver > DRIVER_BYTES else longest
        return Row(
            name=name, seconds=waiting[longest], driver=driver, shuffled=shuffled, requests=requests, limit=limit
        )

    def of(way: str, kind: str) -> float:
        return request_counts[way][kind]

    yield row(
        "planning with a filter (1% matches), on the driver",
        {"one core decodes manifests": both * each("planning, filter on bounds (1% matches)")},
        growths["planning, filter on bounds (1% matches)"].memory_each * both,
        0,
        manifests * of("planning", "manifest"),
    )
    yield row(
        "planning all files for executors, on the driver",
        {"one core decodes manifests": both * each("planning, all tasks serialized for executors")},
        FILES * tasks,
        0,
        manifests * of("planning", "manifest"),
    )
    checked = both * each("validating manifests")
    one = tables.ENTRIES_A_MANIFEST * each("validating manifests")
    facts = _facts(growths)
    yield row(
        "level manifests",
        {"cores": checked / cores, "the largest task, a manifest": one},
        summed * both,
        facts * both,
        manifests * of("validating manifests", "manifest"),
    )
    opened = each("validating files") * tables.ROWS_A_FILE
    of_files = FILES * (of("validating files", "data file") + of("validating files", "vector"))
    yield row("level files", {"cores": (checked + FILES * opened) / cores}, summed * both, facts * both, of_files)
    ranges = FILE_BYTES // RANGE_BYTES  # the counted requests are those for footers
    decoded = PETABYTE * UNPACKED / ROW_BYTES
    yield row(
        "level rows",
        {"cores": (checked + decoded * each("validating rows, deletion vectors")) / cores},
        summed * both,
        facts * both,
        FILES * (ranges + of("validating rows", "data file") + of("validating files", "vector")),
    )
    yield row(
        "reading all rows with deletion vectors",
        {"cores": decoded * each("reading, deletion vectors") / cores},
        FILES * tasks,
        0,
        FILES * (ranges + of("reading", "data file") + of("reading", "vector")),
    )


def _facts(grown: Mapping[str, Growth]) -> float:
    """Return the bytes per entry that rules over several files use."""
    step = grown["result of one manifest task"].steps[-1]
    return (step.bytes or 0) / min(step.count, tables.ENTRIES_A_MANIFEST)
