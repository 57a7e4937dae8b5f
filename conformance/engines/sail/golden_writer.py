"""Write golden tables with Sail; run by ``tools/golden/make_writers.py``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version as version_of
from typing import Any


@contextmanager
def sail_session() -> Iterator[Any]:
    """Start a Sail server and a session for the block."""
    from pysail.spark import SparkConnectServer
    from pyspark.sql import SparkSession

    server = SparkConnectServer(ip="127.0.0.1", port=0)
    server.start(background=True)
    session = SparkSession.builder.remote(f"sc://127.0.0.1:{server.listening_address[1]}").getOrCreate()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    yield session
    session.stop()
    server.stop()


def write(kit: Any) -> None:
    """Write tables with Sail's SQL and merge-on-read deletes: in v2 equality deletes, only in unpartitioned tables."""
    made = kit.Tables("sail", version_of("pysail"))
    with sail_session() as session:
        for version, delete in ((1, "equality-deletes"), (2, "equality-deletes"), (3, "deletion-vector")):
            create = (
                f"CREATE TABLE t ({kit.COLUMNS}) USING iceberg {'' if version == 2 else 'PARTITIONED BY (name) '}"
                f"LOCATION 'file://{made.location(version)}' "
                f"TBLPROPERTIES ('format-version'='{version}', 'write.delete.mode'='merge-on-read')"
            )
            session.sql(create.replace("TABLE t", f"TABLE t{version}")).toArrow()
            steps = kit.attempts((kit.INSERT, kit.DELETE), f"t{version}", lambda text: session.sql(text).toArrow())
            made.record(version, create, steps, None if steps[1][1] else delete)
    made.close()
