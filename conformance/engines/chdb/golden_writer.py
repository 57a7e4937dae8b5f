"""Write golden tables with ClickHouse; run by ``tools/golden/make_writers.py``."""

from __future__ import annotations

import os
from importlib.metadata import version as version_of
from typing import Any


def write(kit: Any) -> None:
    """Write tables with ClickHouse's engine ``IcebergLocal``."""
    from chdb import session

    made = kit.Tables("chdb", version_of("chdb"))
    os.chdir("/")  # ClickHouse only writes below the working directory
    run = session.Session().query
    for setting in ("allow_insert_into_iceberg", "allow_experimental_insert_into_iceberg", "mutations_sync"):
        run(f"SET {setting} = 1")
    columns = "id Int64, name Nullable(String), amount Nullable(Decimal(9, 2)), at Nullable(DateTime64(6, 'UTC'))"
    for version in (1, 2, 3):
        create = (
            f"CREATE TABLE t ({columns}) ENGINE = IcebergLocal('{made.location(version)}') PARTITION BY name "
            f"SETTINGS iceberg_format_version = {version}"
        )
        run(create.replace("TABLE t", f"TABLE t{version}"))
        insert = "INSERT INTO t VALUES (1, 'a', 1.50, '2017-11-16 22:31:08'), (2, 'a', NULL, NULL)"
        delete = "ALTER TABLE t DELETE WHERE id = 2"
        steps = kit.attempts((insert, delete), f"t{version}", run)
        made.record(version, create, steps, None if steps[1][1] else "position-deletes")
    made.close()
