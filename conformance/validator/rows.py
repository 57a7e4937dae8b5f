"""Checking the rows of a file: all that its entry records about them, recomputed (Data File Fields; Partitioning).

The rows are read one batch at a time, and only small aggregates of each column are kept.
"""

from __future__ import annotations

import functools
import operator
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from conformance.core.counts import plural
from conformance.validator.check_results import Facts
from conformance.validator.context import Context
from conformance.validator.data_file_reader import OpenedFile
from conformance.validator.file_places import EntryPlace
from conformance.validator.finding import finding
from conformance.validator.nested_bounds import BoundViolations
from conformance.validator.orc_nanoseconds import find_nanoseconds, has_micros
from conformance.validator.required_nulls import RequiredNulls
from conformance.validator.row_ids import LAST_UPDATED, ROW_ID, RowIds, deleted_facts
from conformance.validator.row_partitions import RowPartitionCheck, is_orc_second_off
from conformance.validator.sorted_rows import SortKey, SortOrderCheck, ascending
from conformance.validator.stall_timeout import report_alive
from spec_ref.checks.findings import Finding
from spec_ref.columnar.arrow_types import check_texts
from spec_ref.columnar.manifests.computed_metrics import compute_array_metrics, leaf_names, storage_array
from spec_ref.core.errors import Description, SpecError, abbreviated_repr
from spec_ref.data_types.types import LONG, STRING, UUID, FixedType, StructType, VariantType, kind
from spec_ref.manifests.computed_metrics import FieldMetrics, bound_order, columns_with_metrics, is_geospatial
from spec_ref.manifests.data_file import FileContent, FileFormat
from spec_ref.manifests.entry_problems import signed_order
from spec_ref.partitioning.transforms import UnknownTransform
from spec_ref.single_value.bounds import decode_bound

FILE_PATH, POS = 2147483546, 2147483545


def row_findings(context: Context, place: EntryPlace, opened: OpenedFile, facts: list[Facts]) -> list[Finding]:
    """Return the findings about the rows of a file; the facts for rules over several files are added to `facts`.

    Raises:
        SpecError: the rows cannot be read.
    """
    checks = _Checks(context, place, opened, facts)
    try:
        for batch in opened.batches(checks.names(), BATCH_ROWS):
            report_alive()
            checks.add(Batch(batch, opened.struct))
    except UnicodeDecodeError as error:
        location = place.data_file.file_path
        return [finding("TYP021", f"a string is not UTF-8: {error.reason}", file=location, found=error.object)]
    if checks.row_ids is not None:
        facts += checks.row_ids.facts()
    return list(checks.findings())


BATCH_ROWS = 1 << 16

UUID_BYTES = 16


class Batch:
    """A batch of rows, with access to nested columns by their path."""

    def __init__(self, rows: pa.RecordBatch, struct: StructType) -> None:
        self._rows = rows
        self._struct = struct
        self.length = rows.num_rows

    def column(self, path: tuple[int, ...]) -> Any:
        """Return a column as an Arrow array; a field of a null struct is null."""
        fields, array = self._struct.fields, None
        for place in path:
            name = fields[place].name
            if array is None:
                array = self._rows.column(self._rows.schema.get_field_index(name))
            elif pa.types.is_null(array.type):  # in Avro: every struct is null
                return array
            else:
                array = pc.struct_field(array, [array.type.get_field_index(name)])
            inner = fields[place].type
            fields = inner.fields if isinstance(inner, StructType) else ()
        return storage_array(array)


class _Checks:
    """Runs the checks of one file over its batches. The metrics of a delete file are those of the deletes (DEL024)."""

    def __init__(self, context: Context, place: EntryPlace, opened: OpenedFile, facts: list[Facts]) -> None:
        self.context = context
        self.place = place
        self.opened = opened
        self.facts = facts
        self.location = place.data_file.file_path
        self.rows = 0
        self.leaves = {field_id: (path, type_) for path, field_id, type_ in columns_with_metrics(opened.struct)}
        self.metrics = {
            field_id: FieldMetrics(type_)
            for field_id, (_, type_) in self.leaves.items()
            if self._is_constrained(field_id)
        }
        self.beyond = {field_id: self._beyond(field_id) for field_id in self.metrics if self._is_encoded(field_id)}
        self.unsaid = tuple(
            place
            for place, field in enumerate(opened.struct.fields)
            if field.id in context.columns and field.id not in self.metrics
        )
        """Columns without metrics, and lists and maps, which are only checked for being readable."""

        self.nulls = RequiredNulls(opened.struct, self._is_required)
        self.lengths: dict[int, int] = {}
        """Lengths of values that differ from the length of their type."""

        is_orc = place.data_file.file_format is FileFormat.ORC
        self.micros = [at for at, field in enumerate(opened.struct.fields) if is_orc and has_micros(field.type)]
        """Top-level columns in which ORC may have left nanoseconds."""

        self.finer: dict[str, int] = {}
        """The first value that has such nanoseconds, by the path of its column."""

        self.partition = RowPartitionCheck(place, self.leaves) if place.data_file.content is not _POSITIONS else None
        self.order_lacks: int | None = None
        """The source column of the file's sort order that an equality delete file does not have."""

        self.order = self._order()
        self.deletes = _PositionDeletes(place) if place.data_file.content is _POSITIONS else None
        is_data = place.data_file.content is FileContent.DATA
        self.row_ids = RowIds(context, place) if is_data and context.metadata.next_row_id is not None else None

    def _is_constrained(self, field_id: int) -> bool:
        """Return whether the entry, the schema or the type constrains the values of the column."""
        data_file = self.place.data_file
        if self._is_encoded(field_id) or self._length(field_id) is not None:
            return True
        maps = (
            data_file.value_counts,
            data_file.null_value_counts,
            data_file.nan_value_counts,
            data_file.lower_bounds,
            data_file.upper_bounds,
        )
        is_top_level = len(self.leaves[field_id][0]) == 1
        return any(field_id in (counts or {}) for counts in maps) or (is_top_level and self._is_required(field_id))

    def _is_encoded(self, field_id: int) -> bool:
        """Return whether the values of the column are encoded as bytes, and its bounds are not single values."""
        type_ = self.leaves[field_id][1]
        return is_geospatial(type_) or isinstance(type_, VariantType)

    def _length(self, field_id: int) -> int | None:
        """Return the length in bytes of each value, if the format stores values of any length."""
        type_ = self.leaves[field_id][1]
        if self.place.data_file.file_format is not FileFormat.ORC:
            return None
        return type_.length if isinstance(type_, FixedType) else UUID_BYTES if type_ == UUID else None

    def _beyond(self, field_id: int) -> BoundViolations:
        data_file = self.place.data_file
        lower, upper = ((bounds or {}).get(field_id) for bounds in (data_file.lower_bounds, data_file.upper_bounds))
        return BoundViolations(self.leaves[field_id][1], lower, upper)

    def names(self) -> list[str]:
        """Return the top-level columns that are read."""
        paths = [self.leaves[field_id][0] for field_id in self.metrics]
        if self.partition is not None:
            paths += [path for _, _, _, path, _ in self.partition.fields]
        if self.order is not None:
            paths += [self.leaves[key.source][0] for key in self.order.keys]
        special = (FILE_PATH, POS, ROW_ID, LAST_UPDATED)
        paths += [self.leaves[field_id][0] for field_id in special if field_id in self.leaves]
        paths += [(place,) for place in (*self.unsaid, *self.micros, *self.nulls.places)]
        fields = self.opened.struct.fields
        return [fields[place].name for place in dict.fromkeys(path[0] for path in paths)]

    def _is_required(self, field_id: int) -> bool:
        """Return whether the current schema requires a field, element, key or value."""
        return self.place.data_file.content is FileContent.DATA and field_id in self.context.required_ids

    def _order(self) -> SortOrderCheck | None:
        """Return the check of the sort order in the entry, up to the first field that the file does not determine."""
        order_id = self.place.data_file.effective_sort_order_id
        orders = {order.order_id: order for order in self.context.metadata.sort_orders}
        order = orders.get(order_id) if order_id is not None else None
        if order is None or not order.fields:
            return None
        keys: list[SortKey] = []
        for field in order.fields:
            source = field.sources[0]
            if len(field.sources) > 1 or isinstance(field.transform, UnknownTransform):
                break
            if source not in self.leaves:
                if self.place.data_file.content is FileContent.EQUALITY_DELETES:
                    self.order_lacks = source
                break
            keys.append(SortKey(field, self.leaves[source][1]))
        return SortOrderCheck(tuple(keys)) if keys else None

    def add(self, batch: Batch) -> None:
        self.rows += batch.length
        for field_id, so_far in self.metrics.items():
            path, type_ = self.leaves[field_id]
            column = batch.column(path)
            if field_id in self.beyond:
                self.beyond[field_id].add(column)
            wanted = self._length(field_id)
            if wanted is not None and (other := _different_length(column, wanted)) is not None:
                self.lengths.setdefault(field_id, other)
                continue
            if is_geospatial(type_):  # metrics of geospatial values would hold all of them in memory
                found = FieldMetrics(type_, len(column), column.null_count)
            else:
                found = compute_array_metrics(type_, column)
            self.metrics[field_id] = so_far.merge(found)
        for place in self.unsaid:
            check_texts(batch.column((place,)))
        for place in self.nulls.places:
            self.nulls.add(place, batch.column((place,)))
        for place in self.micros:
            field = self.opened.struct.fields[place]
            for name, value in find_nanoseconds(field.type, batch.column((place,)), f"/{field.name}"):
                self.finer.setdefault(name, value)
        if self.partition is not None:
            self.partition.add(batch)
        if self.order is not None and batch.length:
            columns = [batch.column(self.leaves[key.source][0]) for key in self.order.keys]
            self.order.add(columns)
        if self.deletes is not None and {FILE_PATH, POS} <= self.leaves.keys():
            paths, positions = (batch.column(self.leaves[field_id][0]) for field_id in (FILE_PATH, POS))
            self.deletes.add(paths, positions)
            if self.context.needs_deleted_positions and not paths.null_count and not positions.null_count:
                self.facts += deleted_facts(self.context, self.place.origin, paths, positions.to_numpy())
        if self.row_ids is not None:
            parts = {
                field_id: batch.column(self.leaves[field_id][0])
                for field_id in (ROW_ID, LAST_UPDATED)
                if field_id in self.leaves
            }
            self.row_ids.add(batch.length, parts)

    def findings(self) -> Iterator[Finding]:
        data_file, entry_field_path = self.place.data_file, self.place.entry_field_path
        if self.rows != data_file.record_count:
            yield finding(
                "DFL005",
                "record_count differs from the number of rows in the file",
                file=self.place.manifest,
                path=entry_field_path("record_count"),
                found=data_file.record_count,
                expected=self.rows,
                aspect="mismatch",
            )
        for field_id, metrics in self.metrics.items():
            if field_id not in self.lengths:
                yield from self._column(field_id, metrics)
        yield from self.nulls.findings(self.location)
        for field_id, length in self.lengths.items():
            path, type_ = self.leaves[field_id]
            yield finding(
                "TYP023" if isinstance(type_, FixedType) else "ORC002",
                f"the length of a {kind(type_)} value is wrong",
                file=self.location,
                path=f"/{'/'.join(leaf_names(self.opened.struct, path))}",
                found=Description(plural(length, "byte")),
                expected=plural(self._length(field_id) or 0, "byte"),
                aspect="length",
            )
        for column, value in self.finer.items():
            yield finding(
                "ORC004",
                "a microsecond timestamp has nanoseconds",
                file=self.location,
                path=column,
                found=Description(f"{value} nanoseconds since 1970"),
                expected="whole microseconds",
            )
        for field_id, beyond in self.beyond.items():
            name = f"/{'/'.join(leaf_names(self.opened.struct, self.leaves[field_id][0]))}"
            yield from beyond.findings(
                field_id, name, self.location, self.place.manifest, self.place.entry_field_path("")[:-1]
            )
        if self.partition is not None:
            yield from self.partition.findings()
        if self.order is not None and self.order.broken is not None:
            yield finding(
                "DFL021",
                "the rows are not in the sort order of the file",
                file=self.location,
                found=Description(
                    f"row {self.order.broken}: {' after '.join(map(abbreviated_repr, self.order.values))}"
                ),
                expected=f"sort order {data_file.sort_order_id}",
                aspect="unsorted",
            )
        if self.order_lacks is not None:
            yield finding(
                "DFL021",
                "a column of the sort order of the file is missing from the deletes",
                file=self.location,
                found=Description(f"no column {self.order_lacks}"),
                expected=f"the columns of sort order {data_file.sort_order_id}",
                aspect="without-columns",
            )
        if self.deletes is not None:
            yield from self.deletes.findings()
        if self.row_ids is not None:
            yield from self.row_ids.findings()

    def _column(self, field_id: int, metrics: FieldMetrics) -> Iterator[Finding]:
        data_file = self.place.data_file
        if metrics.nulls and len(self.leaves[field_id][0]) == 1 and self._is_required(field_id):
            name = self.context.columns[field_id].name
            yield finding(
                "TYP002",
                "a required column has nulls",
                file=self.location,
                path=f"/{name}",
                found=Description(plural(metrics.nulls, "null")),
                expected="none",
                aspect="null",
            )
        counts = (
            ("value_counts", "DFL012", metrics.values),
            ("null_value_counts", "DFL013", metrics.nulls),
            ("nan_value_counts", "DFL014", metrics.nans),
        )
        for attribute, code, counted in counts:
            stored = (getattr(data_file, attribute) or {}).get(field_id)
            if stored is not None and stored != counted:
                nested = len(self.leaves[field_id][0]) > 1 and data_file.file_format is FileFormat.ORC
                yield finding(
                    code,
                    f"{attribute} differs from the rows",
                    file=self.place.manifest,
                    path=self.place.entry_field_path(f"{attribute}/{field_id}"),
                    found=stored,
                    expected=str(counted),
                    aspect="row-mismatch-in-nested-orc" if nested else "row-mismatch",
                )
        yield from self._bounds(field_id, metrics)

    def _bounds(self, field_id: int, metrics: FieldMetrics) -> Iterator[Finding]:
        data_file, type_ = self.place.data_file, metrics.type
        if metrics.lower is None:  # also for variants and geometries, whose values are compared one by one
            return
        if kind(self.context.types.get(field_id, type_)) in ("geometry", "geography"):
            return  # in Avro, these are bytes like any others (AVR012), and their bounds are corners
        for attribute, code, extreme in (
            ("lower_bounds", "DFL016", metrics.lower),
            ("upper_bounds", "DFL017", metrics.upper),
        ):
            data = (getattr(data_file, attribute) or {}).get(field_id)
            if data is None:
                continue
            try:
                bound = decode_bound(type_, data)
            except SpecError:  # not a value of the type, which the rules over entries report
                continue
            is_lower = attribute == "lower_bounds"
            key = bound_order(type_)
            first, second = (key(bound), key(extreme)) if is_lower else (key(extreme), key(bound))
            if first > second:
                end = "lower" if is_lower else "upper"
                is_orc = data_file.file_format is FileFormat.ORC
                aspect = "exceeded"
                if signed_order(type_, bound, extreme, is_lower=is_lower):
                    aspect = "exceeded-by-signed-uuid"
                elif (
                    is_orc and not is_lower and is_orc_second_off(type_, extreme, functools.partial(operator.ge, bound))
                ):
                    aspect = "exceeded-in-orc-before-1970"
                yield finding(
                    code,
                    f"a value is {'below' if is_lower else 'above'} the {end} bound",
                    file=self.place.manifest,
                    path=self.place.entry_field_path(f"{attribute}/{field_id}"),
                    found=bound,
                    expected=f"at {'most' if is_lower else 'least'} {abbreviated_repr(extreme)}",
                    aspect=aspect,
                )


def _different_length(column: Any, length: int) -> int | None:
    """Return the first length that differs from a given length; None if all are equal to it."""
    kernels: Any = pc
    found = kernels.unique(kernels.binary_length(column)).to_pylist()
    return next((one for one in found if one not in (None, length)), None)


_POSITIONS = FileContent.POSITION_DELETES


class _PositionDeletes:
    """Checks that a position delete file is sorted, and deletes only rows of the file that its entry names, if any."""

    def __init__(self, place: EntryPlace) -> None:
        self.place = place
        keys = (ascending(FILE_PATH, STRING), ascending(POS, LONG))
        self.order = SortOrderCheck(keys)
        self.other: str | None = None
        self.negative: int | None = None
        self.nulls = Counter[str]()

    def add(self, paths: Any, positions: Any) -> None:
        if not len(paths):
            return
        self.order.add([paths, positions])
        self.nulls.update(file_path=paths.null_count, pos=positions.null_count)
        referenced = self.place.data_file.referenced_data_file
        if referenced is not None and self.other is None:
            self.other = next((path for path in pc.unique(paths).to_pylist() if path not in (None, referenced)), None)
        least = pc.min(positions).as_py()
        if least is not None and least < 0:
            self.negative = least

    def findings(self) -> Iterator[Finding]:
        location = self.place.data_file.file_path
        if self.order.broken is not None:
            yield finding(
                "DEL015",
                "the position deletes are not sorted",
                file=location,
                found=Description(
                    f"row {self.order.broken}: {' after '.join(map(abbreviated_repr, self.order.values))}"
                ),
                expected="rows by file_path, then pos",
            )
        if self.other is not None:
            yield finding(
                "DFL023",
                "a delete names a file other than the one that its delete file refers to",
                file=location,
                found=self.other,
                expected=self.place.data_file.referenced_data_file,
                aspect="other-file",
            )
        for name, nulls in self.nulls.items():
            if nulls:
                yield finding(
                    "DEL013",
                    "a column of position deletes has nulls",
                    file=location,
                    path=f"/{name}",
                    found=Description(plural(nulls, "null")),
                    expected="none",
                    aspect="null",
                )
        if self.negative is not None:
            yield finding(
                "DEL013",
                "a position is negative",
                file=location,
                found=self.negative,
                expected="0 or more",
                aspect="negative",
            )
