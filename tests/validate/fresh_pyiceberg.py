"""Makes tables with PyIceberg. Runs in the engine's environment.

python fresh_pyiceberg.py FOLDER
"""

from __future__ import annotations

import datetime
import sys
from typing import Any

VERSIONS = (1, 2)
FEATURES = ("plain", "partitioned", "deleted", "evolved")


def _rows(first: int, last: int) -> Any:
    import pyarrow as pa

    numbers = range(first, last)
    return pa.table(
        {
            "id": pa.array(numbers, pa.int64()),
            "k": pa.array([number % 3 for number in numbers], pa.int32()),
            "s": pa.array([None if number % 5 == 0 else f"v{number}" for number in numbers], pa.string()),
            "d": pa.array([number / 3 for number in numbers]),
            "ts": pa.array(
                [datetime.datetime(2020, 1, 1) + datetime.timedelta(hours=7 * n) for n in numbers], pa.timestamp("us")
            ),
        }
    )


def main(folder: str) -> None:
    """Make the tables."""
    from pyiceberg.catalog.memory import InMemoryCatalog
    from pyiceberg.transforms import BucketTransform, DayTransform
    from pyiceberg.types import StringType

    catalog = InMemoryCatalog("fresh", warehouse=f"file://{folder}")
    catalog.create_namespace("py")
    for version in VERSIONS:
        for feature in FEATURES:
            table: Any = catalog.create_table(
                f"py.{feature}_v{version}", _rows(0, 1).schema, properties={"format-version": str(version)}
            )
            if feature == "partitioned":
                with table.update_spec() as update:
                    update.add_field("id", BucketTransform(4), "bucket")
                    update.add_field("ts", DayTransform(), "day")
            table.append(_rows(0, 10))
            if feature == "deleted":
                table.delete("id == 3 or k == 2")
                table.overwrite(_rows(100, 104), "k == 1")
            if feature == "evolved":
                with table.update_schema() as update:
                    update.add_column("extra", StringType())
                    update.rename_column("s", "text")
                table.append(_rows(10, 12).rename_columns(["id", "k", "text", "d", "ts"]))
            else:
                table.append(_rows(10, 20))
            print(table.metadata_location, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
