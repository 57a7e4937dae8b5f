"""Make tables that show how each engine writes: every engine that can runs the same two statements.

    PYTHON tools/golden/make_writers.py ENGINE [JAR]

ENGINE is an engine with a ``golden_writer.py`` in its folder of ``conformance/engines``, and PYTHON is that of its
environment; for ``iceberg-java``, PYTHON has PySpark, and JAR is the matching Iceberg runtime. The tables are written
to `PLACE` and copied to ``vectors/golden/writers/ENGINE-VERSION/vN/``, without the engine's additional files.
``index.json`` there has the statements, refusals, and the expected entries after each statement. The entries follow
from the statements and the engine's way of deleting; neither the engine nor our reader returns them.
"""

from __future__ import annotations

import argparse
import datetime
import json
import shutil
import sys
from collections.abc import Callable
from decimal import Decimal
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

PLACE = Path("/tmp/iceberg-conformance/writers")
ENGINES = Path(__file__).resolve().parents[2] / "conformance" / "engines"
KEPT = Path(__file__).resolve().parents[2] / "vectors" / "golden" / "writers"

INSERT = "INSERT INTO t VALUES (1, 'a', 1.50, TIMESTAMP '2017-11-16 22:31:08 UTC'), (2, 'a', NULL, NULL)"
DELETE = "DELETE FROM t WHERE id = 2"

# The entries after the second statement, which changes the one data file with two rows: (content, status, rows).
DELETES = {
    "copy-on-write": [(0, 2, 2), (0, 1, 1)],  # the file is removed, and a file with the other row is added
    "position-deletes": [(0, 0, 2), (1, 1, 1)],
    "deletion-vector": [(0, 0, 2), (1, 1, 1)],
    "equality-deletes": [(0, 0, 2), (2, 1, 1)],
}
"""Status 0: the entry may have the status added (its manifest is kept) or existing (its manifest is rewritten)."""


class Tables:
    """The tables of one engine."""

    def __init__(self, engine: str, version: str) -> None:
        self.name = f"{engine}-{version}"
        self.index: dict[str, Any] = {"engine": engine, "version": version, "tables": {}}
        self.place = PLACE / self.name
        shutil.rmtree(self.place, ignore_errors=True)
        self.place.mkdir(parents=True)

    def location(self, format_version: int) -> str:
        """Return the location of the table of a format version."""
        return str(self.place / f"v{format_version}")

    def record(self, format_version: int, create: str, steps: list[tuple[str, str | None]], delete: str | None) -> None:
        """Store a table that was written.

        Args:
            format_version: the format version of the table.
            create: how it was created.
            steps: the statements as the engine received them, each with its error message or None.
            delete: the key in `DELETES` for the second statement; None if it was refused or not run.
        """
        table = self.place / f"v{format_version}"
        kept = KEPT / self.name / table.name
        shutil.rmtree(kept, ignore_errors=True)
        files = sorted(path for path in table.rglob("*") if path.is_file() and not path.name.endswith(".crc"))
        newest = max((path for path in files if path.name.endswith(".metadata.json")), key=_age)
        for path in files:
            if path == newest or path.suffix in (".avro", ".parquet", ".puffin", ".stats"):
                kept.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, kept / path.name)
        entries = [[{"content": 0, "status": 1, "record_count": 2}]]
        if delete is not None:
            names = ("content", "status", "record_count")
            entries.append([dict(zip(names, entry, strict=True)) for entry in DELETES[delete]])
        self.index["tables"][f"v{format_version}"] = {
            "metadata": newest.name,
            "create": create,
            "statements": [{"statement": text, **({"refused": said} if said else {})} for text, said in steps],
            "delete": delete,
            "entries": entries,
        }

    def close(self) -> None:
        """Write the index."""
        text = json.dumps(self.index, indent=1, ensure_ascii=True)
        (KEPT / self.name / "index.json").write_text(text + "\n", encoding="utf-8")


def _age(path: Path) -> tuple[int, str]:
    """Return a sort key for metadata files by number: ``v3.metadata.json``, ``00002-UUID.metadata.json``."""
    digits = path.name.lstrip("v").split(".")[0].split("-")[0]
    return int(digits), path.name


def attempt(statement: str, action: Callable[..., object], *args: object) -> tuple[str, str | None]:
    """Run a statement; return it with the engine's error message, or None."""
    try:
        action(*args)
    except Exception as error:
        return statement, str(error).split("\n")[0][:300]
    return statement, None


def attempts(statements: tuple[str, ...], table: str, run: Callable[[str], object]) -> list[tuple[str, str | None]]:
    """Run SQL statements on a table, which they call t; return each with its error message, or None."""
    return [attempt(text, run, text.replace(" t ", f" {table} ")) for text in statements]


COLUMNS = "id bigint NOT NULL, name string, amount decimal(9, 2), at timestamp"


def arrow_rows() -> Any:
    """Return the two rows."""
    import pyarrow as pa

    fields: list[pa.Field[Any]] = [
        pa.field("id", pa.int64(), nullable=False),
        pa.field("name", pa.string()),
        pa.field("amount", pa.decimal128(9, 2)),
        pa.field("at", pa.timestamp("us", "UTC")),
    ]
    schema = pa.schema(fields)
    at = datetime.datetime(2017, 11, 16, 22, 31, 8, tzinfo=datetime.UTC)
    columns: list[list[Any]] = [[1, 2], ["a", "a"], [Decimal("1.50"), None], [at, None]]
    return pa.table(
        [pa.array(values, type_) for values, type_ in zip(columns, schema.types, strict=True)], schema=schema
    )


def pyiceberg_table(tables: Tables, version: int) -> tuple[Any, str]:
    """Create a table with PyIceberg; return it, and a description of the call."""
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.transforms import IdentityTransform
    from pyiceberg.types import DecimalType, LongType, NestedField, StringType, TimestamptzType

    # In a file: Polars commits in another thread, in which an in-memory SQLite database would be a different one.
    catalog = SqlCatalog("c", uri=f"sqlite:///{tables.place}/v{version}.db", warehouse=f"file://{tables.place}")
    catalog.create_namespace("n")
    schema = Schema(
        NestedField(1, "id", LongType(), required=True),
        NestedField(2, "name", StringType(), required=False),
        NestedField(3, "amount", DecimalType(9, 2), required=False),
        NestedField(4, "at", TimestamptzType(), required=False),
    )
    table = catalog.create_table(
        "n.t",
        schema,
        location=f"file://{tables.location(version)}",
        partition_spec=PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "name")),
        properties={"format-version": str(version)},
    )
    return table, f"SqlCatalog.create_table(format-version={version}, partition identity(name))"


def find_writer(engine: str) -> Callable[..., None]:
    """Return the function of an engine that writes its tables."""
    path = ENGINES / engine.replace("-", "_") / "golden_writer.py"
    if not path.is_file():
        known = ", ".join(one.parent.name.replace("_", "-") for one in sorted(ENGINES.glob("*/golden_writer.py")))
        sys.exit(f"{engine}: expected an engine with a file golden_writer.py: {known}")
    spec = spec_from_file_location("golden_writer", path)
    module = module_from_spec(spec)  # type: ignore[arg-type]
    spec.loader.exec_module(module)  # type: ignore[union-attr]
    write: Callable[..., None] = module.write
    return write


def main() -> None:
    """Write the tables of one engine."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine")
    parser.add_argument("jar", nargs="?")
    given = parser.parse_args()
    find_writer(given.engine)(sys.modules["__main__"], *filter(None, [given.jar]))


if __name__ == "__main__":
    main()
