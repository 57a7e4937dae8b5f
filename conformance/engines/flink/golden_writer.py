"""Write golden tables with Flink; run by ``tools/golden/make_writers.py``."""

from __future__ import annotations

from typing import Any

from conformance.engine_setup import find_engine, launch
from conformance.engines.flink.flink_sql import Flink

COLUMNS = "id BIGINT NOT NULL, name STRING, amount DECIMAL(9, 2), `at` TIMESTAMP_LTZ(6)"
ROWS = (
    "SELECT CAST(1 AS BIGINT), 'a', CAST(1.50 AS DECIMAL(9, 2)), CAST('2017-11-16 22:31:08' AS TIMESTAMP_LTZ(6))",
    "SELECT CAST(2 AS BIGINT), 'a', CAST(NULL AS DECIMAL(9, 2)), CAST(NULL AS TIMESTAMP_LTZ(6))",
)
INSERT = f"INSERT INTO t {' UNION ALL '.join(ROWS)}"
DELETE = "FlinkSink with equalityFieldColumns(id) and a row of the kind DELETE, (2, 'a', NULL, NULL)"


def write(kit: Any) -> None:
    """Write tables with Flink's SQL; the connector's sink deletes rows, as no statement for Iceberg tables does."""
    engine = find_engine("flink")
    made = kit.Tables("flink", engine.version)
    started = launch("flink")
    flink = Flink(started.env)
    for version in (1, 2, 3):
        name = f"v{version}"
        create = f"CREATE TABLE t ({COLUMNS}) PARTITIONED BY (name) WITH ('format-version'='{version}')"
        located = create.replace(" WITH (", f" WITH ('location'='{made.location(version)}', ")
        flink.run(name, located.replace("TABLE t ", f"TABLE `c`.`d`.`{name}` "))
        flink.run(name, INSERT.replace("INTO t ", f"INTO `c`.`d`.`{name}` "))
        steps: list[tuple[str, str | None]] = [(INSERT, None)]
        if version > 1:
            flink.run(name, sink={"query": ROWS[1], "columns": ["id"], "kind": "DELETE", "branch": "main"})
            steps.append((DELETE, None))
        made.record(version, create, steps, None if version == 1 else "equality-deletes")
    made.close()
    flink.close()
