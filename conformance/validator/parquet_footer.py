"""Parsing the footers of Parquet files (Apache Parquet, FileMetaData).

pyarrow crashes the process on some damaged footers, so they are parsed and checked here before pyarrow reads them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from spec_ref.core.errors import SpecError, abbreviated_repr, spec_error
from spec_ref.data_files.parquet_thrift import MAGIC, PHYSICAL_TYPES, CompactReader, ParquetNode

CODE = "PQT007"
MAX_VALUES = 1 << 25

_EXACT = frozenset({"int32", "int64"})
_COUNTS = frozenset({"INTEGER", "DATE", "TIME", "TIMESTAMP"})
"""Annotations of integers that compare as signed integers."""


@attrs.frozen
class Chunk:
    """The metadata of one column, combined over all row groups."""

    values: int
    nulls: int | None
    """None if the count is missing in a row group."""

    least: int | None = None
    """The least value of a column of integers, whose statistics are never truncated; None if a row group has none."""

    greatest: int | None = None
    size: int = 0


@attrs.frozen
class Footer:
    """The data of a footer that manifest entries have, too."""

    rows: int
    created_by: str | None
    chunks: dict[int, Chunk]
    """The columns that are not in a list or map, by field id."""

    offsets: tuple[int, ...]
    """The offsets of row groups, which are those of the first page of the first column."""


def check_start(file: Any) -> None:
    """Check that a file begins with the magic bytes of Parquet.

    Raises:
        SpecError: PQT001, if it does not.
    """
    file.seek(0)
    if (magic := file.read(len(MAGIC))) != MAGIC:
        raise spec_error(
            "PQT001",
            "the first bytes are not those of a Parquet file",
            found=magic,
            expected=abbreviated_repr(MAGIC),
            aspect="magic",
        )


def parse_footer(footer: CompactReader, root: ParquetNode) -> Footer:
    """Read the rest of a footer whose schema has been read.

    Args:
        footer: the reader, after the schema.
        root: the schema.

    Raises:
        SpecError: PQT007, if the row groups do not match the schema.
    """
    footer.remaining = MAX_VALUES
    try:
        return _footer(footer.rest(), list(_leaves(root)))
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, SpecError):
            raise
        raise _damage_error(f"{type(error).__name__}: {error}") from error


def _damage_error(found: object) -> SpecError:
    return spec_error(CODE, "the footer is damaged", found=found)


def _number(value: Any) -> int:
    if type(value) is not int:
        raise _damage_error(value)
    return value


def _footer(fields: dict[int, Any], leaves: list[tuple[ParquetNode, bool]]) -> Footer:
    groups = [[column[3] for column in group[1]] for group in fields.get(4, [])]
    rows = [_number(group[3]) for group in fields.get(4, [])]
    if sum(rows) != _number(fields[3]):
        raise spec_error(
            CODE,
            "the rows of the row groups do not add up to those of the file",
            found=sum(rows),
            expected=str(fields[3]),
        )
    chunks = {}
    for columns in groups:
        physical = [PHYSICAL_TYPES[_number(column[1])] for column in columns]
        wanted = [node.physical for node, _ in leaves]
        if physical != wanted:
            raise spec_error(
                CODE, "the columns of a row group differ from the schema", found=physical, expected=f"{wanted}"
            )
        for column in columns:
            for field_id in (4, 5, 6, 7, 9):
                if _number(column[field_id]) < 0:
                    raise _damage_error(column[field_id])
    for place, (node, repeated) in enumerate(leaves):
        if node.field_id is not None and not repeated:
            chunks[node.field_id] = _chunk(node, [columns[place] for columns in groups])
    created_by = fields.get(6)
    return Footer(
        fields[3],
        created_by.decode("utf-8", "replace") if isinstance(created_by, bytes) else None,
        chunks,
        tuple(sorted(_start(columns[0]) for columns in groups if columns)),
    )


def _start(column: dict[int, Any]) -> int:
    pages = (_number(column[9]), _number(column.get(11, 0)))
    return min(page for page in pages if page)


def _chunk(node: ParquetNode, columns: Sequence[dict[int, Any]]) -> Chunk:
    values = sum(column[5] for column in columns)
    statistics = [column.get(12, {}) for column in columns]
    counts = [one.get(3) for one in statistics]
    nulls = sum(counts) if None not in counts else None
    ends = [_ends(node, one) for one in statistics]
    known = [one for one in ends if one is not None]
    complete = bool(known) and len(known) == len(ends)
    return Chunk(
        values,
        nulls,
        min(one for one, _ in known) if complete else None,
        max(two for _, two in known) if complete else None,
        sum(column[7] for column in columns),
    )


def _ends(node: ParquetNode, statistics: dict[int, Any]) -> tuple[int, int] | None:
    """Return the least and the greatest value of a row group, if they compare as signed integers."""
    if node.physical not in _EXACT or (node.logical is not None and node.logical not in _COUNTS):
        return None
    if node.logical == "INTEGER" and not node.parameters[-1]:
        return None
    ends = [statistics.get(6), statistics.get(5)]
    if not all(isinstance(end, bytes) and len(end) in (4, 8) for end in ends):
        return None
    least, greatest = (int.from_bytes(end or b"", "little", signed=True) for end in ends)
    return least, greatest


def _leaves(node: ParquetNode, inside: bool = False) -> Iterator[tuple[ParquetNode, bool]]:
    """Yield the physical columns in order, and whether each is inside a list, a map or a variant."""
    for child in node.children:
        within = inside or child.repetition == "repeated" or child.logical == "VARIANT"
        if child.children:
            yield from _leaves(child, within)
        else:
            yield child, within
