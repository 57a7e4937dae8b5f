"""Run the calls of advice in PyIceberg, each remedy on a new table; started by `test_advice_commands`.

Standard input has the remedies as JSON: code, and the file to remove first. Standard output has the ids of the
rows after each and the settings that calls change, or the error.
"""

import json
import sys
from pathlib import Path

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.statistics import StatisticsFile
from pyiceberg.transforms import BucketTransform, IdentityTransform
from pyiceberg.types import IntegerType, LongType, NestedField, StringType

SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True),
    NestedField(2, "p", StringType(), required=False),
    NestedField(3, "x", IntegerType(), required=False),
)


def run(catalog: SqlCatalog, folder: str, number: int, remedy: dict) -> dict:
    """Make a table with two snapshots, break it, run the code, and say what the table is."""
    name = f"db.t{number}"
    spec = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "p"))
    version = {"format-version": "1" if remedy["version"] == 1 else "2"}
    table = catalog.create_table(name, SCHEMA, f"file://{folder}/t{number}", spec, properties=version)
    for rows in ([(1, "a", 1), (2, "b", 2)], [(3, "a", 3)]):
        columns = [dict(zip(("id", "p", "x"), row, strict=True)) for row in rows]
        table.append(pa.Table.from_pylist(columns, schema=table.schema().as_arrow()))
    first, second = (one.snapshot_id for one in table.snapshots())
    previous = table.metadata.metadata_log[-1].metadata_file
    table.manage_snapshots().create_branch(second, "name").commit()
    table.update_statistics().set_statistics(
        StatisticsFile(
            snapshot_id=first,
            statistics_path="file:///s.puffin",
            file_size_in_bytes=1,
            file_footer_size_in_bytes=1,
            blob_metadata=[],
        )
    ).commit()
    if remedy["removed"] == "manifest":
        manifests = table.current_snapshot().manifests(table.io)
        (path,) = (one.manifest_path for one in manifests if one.added_snapshot_id == second)
        Path(path.removeprefix("file://")).unlink()
    names = {
        "catalog": catalog,
        "table": table,
        "IdentityTransform": IdentityTransform,
        "transform": BucketTransform(4),
    }
    for code in remedy["statements"]:
        filled = code.replace("FILE", previous).replace("COPY", previous).replace("db.t", name)
        exec(filled.replace("(ID", f"({first}"), names)
    table = catalog.load_table(name)
    return {
        "rows": sorted(table.scan().to_arrow()["id"].to_pylist()),
        "version": table.metadata.format_version,
        "identifier": sorted(table.schema().identifier_field_ids),
        "required": table.schema().find_field(1).required,
        "statistics": len(table.metadata.statistics),
        "refs": sorted(table.refs()),
        "sort": len(table.sort_order().fields),
        "spec": [field.name for field in table.spec().fields],
    }


def main() -> None:
    """Answer."""
    folder = sys.argv[1]
    catalog = SqlCatalog("catalog", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}")
    catalog.create_namespace("db")
    answers = {}
    for number, (name, remedy) in enumerate(json.load(sys.stdin).items()):
        try:
            answers[name] = run(catalog, folder, number, remedy)
        except Exception as error:  # whatever fails is the finding of the test
            answers[name] = f"{type(error).__name__}: {error}"
    print(json.dumps(answers))


main()
