"""Consistency of the rows of a file with the partition in its entry (Partitioning; Scan Planning)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from conformance.validator.file_places import EntryPlace
from conformance.validator.finding import finding
from spec_ref.checks.findings import Finding
from spec_ref.columnar.arrow_values import to_python_values
from spec_ref.columnar.partitioning.transforms import transform_array
from spec_ref.core.calendar import UNITS, UNITS_PER_SECOND
from spec_ref.core.errors import SpecError, abbreviated_repr
from spec_ref.data_types.types import Type, kind
from spec_ref.manifests.data_file import FileContent, FileFormat
from spec_ref.partitioning.transforms import Identity, Transform, UnknownTransform, Void
from spec_ref.scan_planning.delete_scope import comparable_value

if TYPE_CHECKING:
    from conformance.validator.rows import Batch


class _WrongPartition(NamedTuple):
    """The finding for a row that does not belong to the partition of its file."""

    message: str
    aspect: str


_OTHER_PARTITION = {
    FileContent.DATA: _WrongPartition("the partition of a row differs from that of its file", "row"),
    FileContent.EQUALITY_DELETES: _WrongPartition(
        "the partition of an equality delete differs from that of its file, so that it applies to no row",
        "equality-delete",
    ),
}
"""An equality delete applies only to data files in the partition of its delete file (SCN010). If its values belong to a
different partition, it equals none of their rows, and has no effect."""


class RowPartitionCheck:
    """Checks that all rows have the partition values of the entry (PAR001), if the file has the source columns."""

    def __init__(self, place: EntryPlace, columns: Mapping[int, tuple[tuple[int, ...], Type]]) -> None:
        self.place = place
        is_data = place.data_file.content is FileContent.DATA
        compared = None if is_data else place.data_file.equality_ids  # readers ignore other columns (DEL021)
        self.wrong: dict[int, Any] = {}
        self.early: set[int] = set()
        """Fields whose only wrong values are those that `is_orc_second_off` accepts."""

        self.fields: list[tuple[int, str, Transform, tuple[int, ...], Type]] = []
        self.void: dict[int, tuple[str, Transform]] = {}
        """The fields that are null for every row, whatever columns the file has."""

        for field in () if place.spec is None else place.spec.fields:
            source = field.sources[0]
            if isinstance(field.transform, Void) and field.field_id is not None:
                self.void[field.field_id] = field.name, field.transform
            known = len(field.sources) == 1 and not isinstance(field.transform, (UnknownTransform, Void))
            if known and source in columns and field.field_id is not None and source in (compared or (source,)):
                self.fields.append((field.field_id, field.name, field.transform, *columns[source]))

    def add(self, batch: Batch) -> None:
        if batch.length:
            partition = self.place.data_file.partition
            self.wrong |= {field_id: None for field_id in self.void if partition.get(field_id) is not None}
        for field_id, _, transform, path, type_ in self.fields:
            if field_id in self.wrong or not batch.length:
                continue
            wanted = comparable_value(self.place.data_file.partition.get(field_id))
            for value in _results(transform, type_, batch.column(path)):
                if comparable_value(value) != wanted:
                    self.wrong[field_id] = value
                    break
            if field_id in self.wrong and kind(type_) in _SECOND and self.place.data_file.file_format is FileFormat.ORC:
                values = to_python_values(type_, _unique(batch.column(path)))
                if all(self._fits(transform, type_, value, wanted) for value in values):
                    self.early.add(field_id)

    @staticmethod
    def _fits(transform: Transform, type_: Type, value: Any, wanted: Any) -> bool:
        def fits(one: Any) -> bool:
            return bool(comparable_value(transform.apply(type_, one)) == wanted)

        return fits(value) or (value is not None and is_orc_second_off(type_, value, fits))

    def findings(self) -> Iterator[Finding]:
        named = {field_id: (name, transform) for field_id, name, transform, _, _ in self.fields} | self.void
        for field_id, (name, transform) in named.items():
            if field_id in self.wrong:
                means = _OTHER_PARTITION[self.place.data_file.content]
                tolerated = field_id in self.early and means.aspect == "row"
                yield finding(
                    "PAR001",
                    means.message,
                    file=self.place.data_file.file_path,
                    path=f"/{name}",
                    found=self.wrong[field_id],
                    expected=f"{transform} {abbreviated_repr(self.place.data_file.partition.get(field_id))}",
                    aspect="row-in-orc-before-1970" if tolerated else means.aspect,
                )


def _results(transform: Transform, type_: Type, column: Any) -> list[Any]:
    """Return the distinct partition values of a column."""
    distinct = column if kind(type_) in ("float", "double") else _unique(column)
    if isinstance(transform, Identity) or len(distinct) <= _FEW:
        values = _distinct(to_python_values(type_, distinct))
        return [transform.apply(type_, value) for value in values]
    try:
        made: Any = transform_array(transform, type_, distinct)
    except SpecError:  # an Arrow type that files may have and kernels do not support
        return [transform.apply(type_, value) for value in _distinct(to_python_values(type_, distinct))]
    return to_python_values(transform.result_type(type_), _unique(made))


_FEW = 256


def _unique(column: Any) -> Any:
    return pc.unique(column) if not pa.types.is_nested(column.type) else column


def _distinct(values: Sequence[Any]) -> list[Any]:
    return list({comparable_value(value): value for value in values}.values())


def is_orc_second_off(type_: Type, value: Any, fits: Callable[[Any], bool]) -> bool:
    """Return whether a timestamp of an ORC file would be right one second earlier, within the second before 1970.

    The ORC library for Java writes such instants one second late, so that they cannot be distinguished.
    """
    second = _SECOND.get(kind(type_))
    return second is not None and 0 <= value < second and fits(value - second)


_SECOND = {name: UNITS_PER_SECOND[unit] for name, unit in UNITS.items() if name != "time"}
