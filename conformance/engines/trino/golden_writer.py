"""Write golden tables with Trino; run by ``tools/golden/make_writers.py``, with the Python of the tool."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from conformance.engine_setup import find_engine, launch
from conformance.engines.trino.server import Server

COLUMNS = "id BIGINT NOT NULL, name VARCHAR, amount DECIMAL(9, 2), at TIMESTAMP(6) WITH TIME ZONE"


def write(kit: Any) -> None:
    """Write tables with Trino's SQL, which cannot delete single rows of a file in v1."""
    engine = find_engine("trino")
    made = kit.Tables("trino", engine.version)
    env = launch("trino").env
    server = Server(Path(env["ICEBERG_CONFORMANCE_PROGRAM"]), Path(env["JAVA_HOME"]), engine.version)
    for version, delete in ((1, None), (2, "position-deletes"), (3, "deletion-vector")):
        name = f"v{version}"
        create = f"CREATE TABLE t ({COLUMNS}) WITH (format_version = {version}, partitioning = ARRAY['name'])"
        located = create.replace("WITH (", f"WITH (location = '{made.location(version)}', ")
        server.run(located.replace("TABLE t ", f"TABLE {name} "))
        insert = kit.INSERT.replace("VALUES (1, 'a', 1.50", "VALUES (1, 'a', DECIMAL '1.50'")
        steps = kit.attempts((insert, kit.DELETE), name, server.run)
        made.record(version, create, steps, None if steps[1][1] else delete)
    made.close()
    server.stop()
