"""Golden tables whose data and delete files Arrow writes, in forms that no engine of this project writes.

The manifests and the metadata are those of `tools.derive.planning`; here, the files exist.
"""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

from spec_ref.core.json_types import JsonObject
from tools.derive.planning import PlanTable, entry, position_deletes
from tools.golden.make_tables_kit import Row, Table, exchange, golden

ENGINE = "pyarrow"
"""The name in place of an engine: Arrow in this tool's environment."""

PATH, POS = (2147483546, "file_path"), (2147483545, "pos")


class ArrowTable(Table):
    """A golden table whose files Arrow writes."""

    def __init__(
        self, name: str, about: str, columns: dict[str, Any], *, version: int = 2, last: int = 0, **properties: str
    ) -> None:
        import pyarrow as pa

        super().__init__(name, f"pyarrow {pa.__version__}", version, about)
        self.columns = dict(columns)
        fields = [
            {"id": id_, "name": column, "required": False, "type": type_}
            for id_, (column, type_) in enumerate(columns.items(), 1)
        ]
        self.plan = PlanTable(name, about, version=version, columns=fields)
        self.plan.name = name
        self.plan.changes = {"properties": properties} | ({"last-column-id": last} if last else {})
        (self.location / "data").mkdir(parents=True)

    def write(self, name: str, columns: dict[tuple[int, str], Any], **options: Any) -> JsonObject:
        """Write a Parquet file of arrays by field id and name; return the fields of its entry."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        fields = [
            pa.field(column, array.type, metadata={"PARQUET:field_id": str(id_)})
            for (id_, column), array in columns.items()
        ]
        path = Path(self.plan.path(name))
        pq.write_table(pa.Table.from_arrays(list(columns.values()), schema=pa.schema(fields)), path, **options)
        rows = len(next(iter(columns.values())))
        self.record_statement(f"pyarrow: write {name} with the options {options or 'that are the default'}")
        return {"record_count": rows, "file_size_in_bytes": path.stat().st_size}

    def write_bytes(self, name: str, data: bytes, rows: int, statement: str) -> JsonObject:
        """Write a data file with the given bytes; return its entry."""
        Path(self.plan.path(name)).write_bytes(data)
        self.record_statement(statement)
        file_format = name.rpartition(".")[2].upper()
        return entry(name, record_count=rows, file_size_in_bytes=len(data), file_format=file_format)

    def data(self, name: str, rows: list[Row], types: dict[str, Any], **options: Any) -> JsonObject:
        """Write a data file; return its entry."""
        import pyarrow as pa

        arrays = {
            (id_, column): pa.array([row[column] for row in rows], types[column])
            for id_, column in enumerate(self.columns, 1)
        }
        return entry(name, **self.write(name, arrays, **options))

    def position_deletes(self, name: str, paths: Any, at: list[int | None]) -> JsonObject:
        """Write a position delete file whose paths are an array of any layout; return its entry."""
        import pyarrow as pa

        return position_deletes(name, **self.write(name, {PATH: paths, POS: pa.array(at, pa.int64())}))

    def add(self, *entries: JsonObject) -> None:
        """Add a manifest of files, either all data files or all delete files."""
        content = "deletes" if entries[0]["data_file"]["content"] else "data"
        rows = sum(one["data_file"]["record_count"] for one in entries)
        self.plan.manifest(*entries, content=content, added_rows_count=rows)

    def finish_table(self, rows: list[Row]) -> None:
        """Commit the added files to the plan, and store the table with its rows."""
        self.plan.commit()
        for name, data in self.plan.contents().items():
            if name != "index.json":
                (self.location / name).parent.mkdir(exist_ok=True)
                (self.location / name).write_bytes(data)
        made = [{name: exchange(type_, row[name]) for name, type_ in self.columns.items()} for row in rows]
        current = {"label": "current", "types": self.columns, "rows": made}
        self.keep(Path("metadata") / self.plan.metadata_file, [current])


def _int96(name: str, type_: str, zone: str | None) -> None:
    @golden(name, ENGINE)
    def make(_session: None) -> None:
        import pyarrow as pa

        table = ArrowTable(
            name, f"{type_} as INT96, as Hive, Impala and older Spark write it", {"id": "long", "t": type_}
        )
        texts = [
            "0001-01-01T00:00:00.000000",
            "9999-12-31T23:59:59.999999",
            "1969-12-31T23:59:59.999999",
            "2263-01-01T00:00:00.000001",
        ]
        known = [text + "+00:00" if zone else text for text in texts]
        rows: list[Row] = [{"id": number, "t": text} for number, text in enumerate([*known, None], 1)]
        native = [{**row, "t": row["t"] and datetime.datetime.fromisoformat(row["t"])} for row in rows]
        types = {"id": pa.int64(), "t": pa.timestamp("us", zone)}
        options = {"use_deprecated_int96_timestamps": True, "store_schema": False}
        table.add(table.data("1.parquet", native, types, **options))
        table.finish_table(rows)


_int96("arrow-int96", "timestamptz", "UTC")
_int96("arrow-int96-local", "timestamp", None)


@golden("arrow-pages", ENGINE)
def _pages(_session: None) -> None:
    import pyarrow as pa

    about = "a file of three row groups of five pages each, with page indexes, whose greatest values are in the second"
    split: dict[str, Any] = {"read.split.target-size": "64", "read.split.open-file-cost": "1"}
    table = ArrowTable("arrow-pages", about, {"id": "long", "data": "string"}, **split)
    order = [*range(20), *range(40, 60), *range(20, 40)]
    rows = [{"id": number, "data": None if number % 10 == 3 else f"v{number:02d}"} for number in order]
    types = {"id": pa.int64(), "data": pa.string()}
    options = {
        "row_group_size": 20,
        "data_page_size": 1,
        "write_batch_size": 4,
        "write_page_index": True,
        "use_dictionary": False,
        "compression": "none",
    }
    table.add(table.data("1.parquet", rows, types, **options))
    table.finish_table(rows)


@golden("arrow-nan-payloads", ENGINE)
def _nan_payloads(_session: None) -> None:
    import pyarrow as pa

    about = "NaN with a payload, and with a sign: the other bits of a NaN have no meaning"
    table = ArrowTable("arrow-nan-payloads", about, {"id": "long", "f": "float", "d": "double"})
    floats, doubles = "0100C07F 0000C0FF 0000C03F", "010000000000F87F 000000000000F8FF 000000000000F83F"
    arrays = {
        (1, "id"): pa.array([1, 2, 3], pa.int64()),
        (2, "f"): pa.Array.from_buffers(pa.float32(), 3, [None, pa.py_buffer(bytes.fromhex(floats))]),
        (3, "d"): pa.Array.from_buffers(pa.float64(), 3, [None, pa.py_buffer(bytes.fromhex(doubles))]),
    }
    table.add(entry("1.parquet", **table.write("1.parquet", arrays)))
    table.finish_table([{"id": number, "f": value, "d": value} for number, value in ((1, "NaN"), (2, "NaN"), (3, 1.5))])


NAMES = {"id": "long", "pos": "long", "file_path": "string"}


@golden("arrow-names-of-deletes", ENGINE)
def _names(_session: None) -> None:
    import pyarrow as pa

    about = "columns with the names of columns of position delete files, and position deletes"
    table = ArrowTable("arrow-names-of-deletes", about, NAMES)
    rows = [{"id": number, "pos": 2 - number, "file_path": f"path {number}"} for number in range(3)]
    types = {"id": pa.int64(), "pos": pa.int64(), "file_path": pa.string()}
    table.add(table.data("1.parquet", rows, types))
    table.add(table.position_deletes("d.parquet", pa.array([table.plan.path("1.parquet")]), [1]))
    table.finish_table([rows[0], rows[2]])


def _deletes(name: str, about: str, layout: str) -> None:
    @golden(f"arrow-deletes-{name}", ENGINE)
    def make(_session: None) -> None:
        import pyarrow as pa

        table = ArrowTable(f"arrow-deletes-{name}", about, {"id": "long", "data": "string"})
        types = {"id": pa.int64(), "data": pa.string()}
        rows = [{"id": number, "data": f"row {number}"} for number in range(1, 9)]
        files = ["1.parquet", "2.parquet"]
        entries = [table.data(file, rows[at : at + 4], types) for file, at in zip(files, (0, 4), strict=True)]
        table.add(*entries)
        one, two = (table.plan.path(file) for file in files)
        deleted = [(one, 0), (one, 3), (two, 1)]
        if layout == "unsorted":
            deleted = [(two, 1), (one, 3), (one, 0)]
        array: Any = pa.array([path for path, _ in deleted], pa.large_string() if layout == "large" else pa.string())
        if layout == "dictionary":
            array = array.dictionary_encode()
        table.add(table.position_deletes("d.parquet", array, [at for _, at in deleted]))
        table.finish_table([row for row in rows if row["id"] not in (1, 4, 6)])


_deletes("large", "position deletes whose file declares the paths as large strings of Arrow", "large")
_deletes("dictionary", "position deletes whose file declares the paths as a dictionary of Arrow", "dictionary")
_deletes("unsorted", "position deletes in another order than by file and position", "unsorted")
