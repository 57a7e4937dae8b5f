"""Reading table metadata of 8 MB with all checks, and writing it, compared with PyIceberg.

In its turn, each side does the work three times and reports the median, so that the state in which the other left the
caches does not count.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tools.bench.measure import Claim, Peer, Scale
from tools.gen_metadata import metadata

OURS = """
from spec_ref.table_metadata import dumps as write, read_metadata as read
version = "spec_ref"
"""

PYICEBERG = """
import pyiceberg
from pyiceberg.table.metadata import TableMetadataUtil
read = TableMetadataUtil.parse_raw
write = lambda metadata: metadata.model_dump_json()
version = f"PyIceberg {pyiceberg.__version__}"
"""

SERVE = """
import json, statistics, sys, time
def timed(work, argument):
    times = []
    for _ in range(3):
        before = time.perf_counter()
        result = work(argument)
        times.append(time.perf_counter() - before)
    return statistics.median(times), result
data = open(sys.argv[1], "rb").read()
write(read(data))
print(json.dumps(version), flush=True)
for _ in sys.stdin:
    reading, metadata = timed(read, data)
    writing, text = timed(write, metadata)
    print(json.dumps([reading, writing]), flush=True)
    del metadata, text
"""


def claims(scale: Scale) -> Iterator[Claim]:
    """Measure reading and writing."""
    made = metadata(snapshots=scale.size(10_000, 1_000), schemas=scale.size(100, 20), columns=50)
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "v1.metadata.json"
        file.write_text(json.dumps(made))
        size = f"{file.stat().st_size / 1e6:.1f} MB"
        with Peer(None, OURS + SERVE, str(file)) as ours, Peer("pyiceberg", PYICEBERG + SERVE, str(file)) as theirs:
            rounds = [(ours(), theirs()) for _ in range(1 + scale.rounds)][1:]
    for place, (case, goal) in enumerate((("read and checked", 0.35), ("written", 0.9))):
        yield Claim(
            path="table metadata",
            case=f"{case}, {size}",
            peer=theirs.version,
            goal=goal,
            ours=tuple(mine[place] for mine, _ in rounds),
            theirs=tuple(other[place] for _, other in rounds),
        )
