"""Golden tables with one defect: an engine wrote them, then a file was removed or damaged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tools.golden.make_tables_kit import golden
from tools.golden.make_tables_spark import Session, SparkTable

COLUMNS = {"id": "long", "data": "string"}


def _only(folder: Path, pattern: str) -> Path:
    found = sorted(folder.rglob(pattern), key=lambda path: path.stat().st_mtime_ns)
    assert found, pattern
    return found[-1]


def _broken(
    name: str, about: str, damage: Callable[[SparkTable], None], version: int = 2, format_: str = "parquet"
) -> None:
    @golden(name, "iceberg-java")
    def make(session: Session) -> None:
        table = SparkTable(session, name, version, about)
        table.create(COLUMNS, write_format_default=format_)
        table.insert((1, "a"), (2, "b"), (3, "c"))
        table.mark("sound")
        table.insert((4, "d"), (5, "e"))
        table.delete("id IN (2, 4)", lambda row: row["id"] in (2, 4))
        damage(table)
        table.finish(broken=about)


def _without(pattern: str) -> Callable[[SparkTable], None]:
    def damage(table: SparkTable) -> None:
        found = _only(table.location, pattern)
        found.unlink()
        table.record_statement(f"then {found.name} was taken away")

    return damage


def _cut(pattern: str, rest: int) -> Callable[[SparkTable], None]:
    def damage(table: SparkTable) -> None:
        found = _only(table.location, pattern)
        found.write_bytes(found.read_bytes()[:-rest])
        table.record_statement(f"then the last {rest} bytes of {found.name} were removed")

    return damage


def _flip(pattern: str, offset: int) -> Callable[[SparkTable], None]:
    def damage(table: SparkTable) -> None:
        found = _only(table.location, pattern)
        data = bytearray(found.read_bytes())
        data[offset] ^= 1
        found.write_bytes(bytes(data))
        table.record_statement(f"then the lowest bit of byte {offset} of {found.name} was turned")

    return damage


_broken("broken-data-missing", "a data file is missing", _without("*-0-00001.parquet"))
_broken("broken-data-cut-parquet", "a Parquet data file is truncated", _cut("*-0-00001.parquet", 9))
_broken("broken-data-cut-avro", "an Avro data file is truncated", _cut("*-0-00001.avro", 24), format_="avro")
_broken("broken-data-cut-orc", "an ORC data file is truncated", _cut("*-0-00001.orc", 9), format_="orc")
_broken("broken-deletes-missing", "a position-delete file is missing", _without("*-deletes.parquet"))
_broken("broken-dv-missing", "a file of deletion vectors is missing", _without("*-deletes.puffin"), 3)
# A blob begins at byte 4: its length, the magic, a count of bitmaps, then keys and bitmaps.
_broken(
    "broken-dv-checksum",
    "the checksum of a deletion vector is wrong",
    _flip("*.puffin", 40),
    3,
)
_broken("broken-dv-magic", "the magic of a deletion vector is wrong", _flip("*.puffin", 9), 3)
_broken("broken-manifest-missing", "a manifest is missing", _without("*-m0.avro"))
_broken("broken-manifest-cut", "a manifest is truncated", _cut("*-m0.avro", 24))
_broken("broken-list-missing", "the manifest list is missing", _without("snap-*.avro"))
