"""The rows that deletes remove, by the reader of one row at a time (Delete Formats)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from spec_ref.columnar.scan_planning.delete_file_index import DeleteFileIndex
from spec_ref.data_types.types import INT, LONG, NestedField, StructType
from spec_ref.deletes.deletion_vector import encode_deletion_vector
from spec_ref.expressions.predicates import TRUE
from spec_ref.manifests.data_file import DataFile, FileContent, FileFormat
from spec_ref.partitioning.spec import PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import Identity
from spec_ref.scan_planning.rows import RecordFile, TableRowReader, Values
from spec_ref.scan_planning.tasks import FileScanTask, ScanDelete
from spec_ref.schemas.column_projection import FileColumns
from spec_ref.schemas.schema import Schema
from tools.proofs.theorem import EXHAUSTIVE, World, theorem
from tools.proofs.theorems.predicates import FIELD, nullable

X, Y, Z = 1, 2, 3
"""The columns: both files have x and y; neither has z, which is the partition column."""

SPEC = PartitionSpec(0, (PartitionField(source_id=Z, field_id=FIELD, name="z", transform=Identity()),))


def _field(id_: int, name: str, type_: Any) -> NestedField:
    return NestedField(id=id_, name=name, required=False, type=type_)


SCHEMA = Schema(fields=(_field(X, "x", LONG), _field(Y, "y", LONG), _field(Z, "z", LONG)))
DATA_COLUMNS = StructType((_field(X, "x", LONG), _field(Y, "y", LONG)))
DELETE_COLUMNS = StructType((_field(Y, "former_y", LONG), _field(X, "former_x", INT)))
"""The columns of the delete file, from before x was promoted, renamed and moved."""


class Files:
    """Files of one row each, in memory, and blobs by their offsets."""

    def __init__(self, rows: dict[str, tuple[StructType, Values]], blobs: dict[int, bytes]) -> None:
        self._rows, self._blobs = rows, blobs

    def records(self, file: DataFile) -> AbstractContextManager[RecordFile]:
        """Open a file of rows."""
        struct, row = self._rows[file.file_path]

        def rows(columns: Sequence[NestedField]) -> Iterator[Values]:
            yield {column.id: row[column.id] for column in columns}

        return nullcontext(RecordFile(FileColumns(struct), rows))

    def blob(self, file: DataFile) -> bytes:
        """Read the bytes of a deletion vector."""
        assert file.content_offset is not None
        return self._blobs[file.content_offset]


def _file(path: str, partition: Any, **changes: Any) -> DataFile:
    made = {"file_format": FileFormat.PARQUET, "record_count": 1, "file_size_in_bytes": 1}
    return DataFile(file_path=path, partition={FIELD: partition}, **{**made, **changes})


def _reader(files: Files) -> TableRowReader:
    return TableRowReader(
        schema=SCHEMA, fields=SCHEMA.fields, schemas=(SCHEMA,), specs={0: SPEC}, files=files, include_deleted=True
    )


def _same(left: Any, right: Any) -> bool:
    if left is None or right is None:
        return left is None and right is None
    return bool(left == right)


@theorem(
    "equality-deletes-compare-their-columns",
    "DEL005",
    "DEL019",
    "DEL020",
    "DEL021",
    cases=({"ids": ids} for count in (1, 2, 3) for ids in itertools.combinations((X, Y, Z), count)),
    quick=3,
)
def equality(world: World, ids: Any) -> None:
    """A row is deleted exactly where it has the values of a row of the delete file in the columns that equality_ids
    names, null equal to null; other columns of the delete file take no part. Columns of the delete file are found as
    those of a data file are: by id and not by name or place, promoted to the type of the table, and from the partition
    where the file does not have them.
    """
    row = {X: nullable(world, "x", LONG), Y: nullable(world, "y", LONG)}
    delete = {X: nullable(world, "x of the delete", INT), Y: nullable(world, "y of the delete", LONG)}
    here, there = world.int("partition", 0), world.int("partition of the delete", 0)
    files = Files({"data": (DATA_COLUMNS, row), "delete": (DELETE_COLUMNS, delete)}, {})
    deletes = _file("delete", there, content=FileContent.EQUALITY_DELETES, equality_ids=ids)
    task = FileScanTask(_file("data", here), 0, 1, 1, (ScanDelete(deletes, 0, 2),), TRUE)
    (found,) = _reader(files).rows(task)
    whole, other = {**row, Z: here}, {**delete, Z: there}
    expected = all(_same(whole[one], other[one]) for one in ids)
    world.claim(found.is_deleted == expected, "another row is deleted than the equality ids say")


VECTORS = ((0,), (1, 5), ())
"""The positions of one Puffin file's vectors, each for a different data file; the last one's file is not read here."""


@theorem("vectors-share-a-file", "DEL010", method=EXHAUSTIVE)
def vectors(world: World) -> None:
    """If one Puffin file has the deletion vectors of several data files, in any order, each is read with its own."""
    blobs = {10 * place: encode_deletion_vector(positions) for place, positions in enumerate(VECTORS)}
    rows: dict[str, tuple[StructType, Values]] = {
        f"data-{place}": (DATA_COLUMNS, {X: 0, Y: 0}) for place in range(len(VECTORS))
    }
    files = Files(rows, blobs)
    deletes = [
        ScanDelete(
            _file(
                "vectors.puffin",
                7,
                file_format=FileFormat.PUFFIN,
                content=FileContent.POSITION_DELETES,
                referenced_data_file=f"data-{place}",
                content_offset=10 * place,
                content_size_in_bytes=len(blobs[10 * place]),
                record_count=len(positions),
            ),
            0,
            2,
        )
        for place, positions in enumerate(VECTORS)
    ]
    for order in itertools.permutations(deletes):
        index = DeleteFileIndex({0: SPEC}, {})
        for one in order:
            index.add(one)
        for place, positions in enumerate(VECTORS):
            data = _file(f"data-{place}", 7)
            task = FileScanTask(data, 0, 1, 1, index.deletes_for(data, 1, SPEC), TRUE)
            found = _reader(files).deleted_positions(task)
            world.claim(found == frozenset(positions), f"the vector of data-{place} is that of another file")
