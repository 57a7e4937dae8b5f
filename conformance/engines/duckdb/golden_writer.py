"""Write golden tables with DuckDB; run by ``tools/golden/make_writers.py``."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any


def write(kit: Any) -> None:
    """Write tables with DuckDB through a REST catalog: `catalog_server` writes the metadata, DuckDB all other files.

    Besides the packages of the engine's lock, this needs the package duckdb-extension-httpfs.
    """
    import duckdb as engine
    from catalog_server import NAMESPACE, Table, empty_metadata, serving  # type: ignore[import-not-found]  # of tools/golden

    made = kit.Tables("duckdb", version_of("duckdb"))
    types = {"id": "long", "name": "string", "amount": "decimal(9, 2)", "at": "timestamptz"}
    fields = [
        {"id": id_, "name": name, "required": name == "id", "type": type_}
        for id_, (name, type_) in enumerate(types.items(), 1)
    ]
    partition = [{"source-id": 2, "field-id": 1000, "name": "name", "transform": "identity"}]
    tables = {
        f"v{version}": Table(made.place / f"v{version}", empty_metadata(version, fields, partition))
        for version in (1, 2, 3)
    }
    connection = engine.connect(config={"allow_unsigned_extensions": "true", "autoinstall_known_extensions": "false"})
    for extension in ("icu", "httpfs", "avro", "iceberg"):
        package = Path(str(import_module(f"duckdb_extension_{extension}").__file__)).parent
        connection.execute(f"LOAD '{next(package.glob('extensions/*/*.duckdb_extension'))}'")
    with serving(tables) as address:
        connection.execute(f"ATTACH 'w' AS c (TYPE iceberg, ENDPOINT '{address}', AUTHORIZATION_TYPE 'none')")
        for version, delete in ((1, None), (2, "position-deletes"), (3, "deletion-vector")):
            insert = (
                "INSERT INTO t VALUES (1, 'a', 1.50, TIMESTAMPTZ '2017-11-16 22:31:08+00:00'), (2, 'a', NULL, NULL)"
            )
            steps = kit.attempts((insert, kit.DELETE), f"c.{NAMESPACE}.v{version}", connection.execute)
            made.record(
                version,
                f"a table of a REST catalog (format-version={version}, partition identity(name))",
                steps,
                delete,
            )
    made.close()
