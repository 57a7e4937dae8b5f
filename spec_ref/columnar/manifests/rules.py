"""Find the manifest entries that may break a rule, over columns (Manifest Entry Fields; Data File Fields).

The definition of every rule is on one entry (`spec_ref.manifests.rules` and `spec_ref.manifests.entry_problems`). The
kernel clears entries: for all entries of a batch at once, it finds those that cannot break a rule. Only the others are
made into objects and checked by the definition. An entry that is cleared wrongly would go unnoticed, so a property test
checks that no entry that breaks a rule is cleared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from spec_ref.checks import to_finding
from spec_ref.checks.findings import MAX_EXAMPLES, Finding
from spec_ref.columnar.encodings.avro.columns import BytesColumn, DecodedColumn, NumberColumn
from spec_ref.columnar.manifests.entry_columns import ManifestColumns
from spec_ref.columnar.manifests.nullable_arrays import Mask
from spec_ref.core.errors import SpecError
from spec_ref.core.locations import has_scheme
from spec_ref.core.records import evolve
from spec_ref.core.versions import DELETE_FILES, DELETION_VECTORS, REQUIRED, SEQUENCE_NUMBERS
from spec_ref.data_types.types import FixedType, Type, is_primitive, kind
from spec_ref.manifests.data_file import FileContent, FileFormat
from spec_ref.manifests.entry import EntryStatus
from spec_ref.manifests.entry_problems import SNAPSHOT_RULE, entry_problems
from spec_ref.manifests.rules import CONTENTS_BY_MANIFEST, EntryContext, broken_rules

_FORMATS = {form for format_ in FileFormat for form in (format_.value, format_.name)}
_REQUIRED = ("file_path", "file_format", "partition", "record_count", "file_size_in_bytes")
_COUNTS = ("column_sizes", "value_counts", "null_value_counts", "nan_value_counts")

_WHOLE = {"int": 4, "date": 4, "long": 8, "timestamp": 8, "timestamptz": 8, "timestamp_ns": 8, "timestamptz_ns": 8}
_REAL = {"float": "<f4", "double": "<f8"}
_BYTES = ("string", "binary", "fixed", "uuid")
_WORD = 8
_ALL, _HIGH_BITS = np.uint64(0xFFFF_FFFF_FFFF_FFFF), np.uint64(0x8080_8080_8080_8080)
_LONG_TEXT = 64


def entry_findings(columns: ManifestColumns, context: EntryContext, types: Mapping[int, Type]) -> Iterator[Finding]:
    """Find what is wrong with the entries of a batch.

    Args:
        columns: the batch.
        context: the table and the manifest of the entries.
        types: the types of the table's columns by id.

    Yields:
        Each finding, with a path that begins with the number of the entry in the manifest.
    """
    chosen = suspect_entries(columns, context, types)
    yield from _without_scheme(columns, context, chosen)
    for number, row in zip((chosen + columns.first).tolist(), columns.rows(chosen), strict=True):
        try:
            entry = columns.manifest.read_entry(row, number)
        except SpecError as error:
            yield to_finding(error.violation)
            continue
        for problem in entry_problems(entry, context, types):
            yield to_finding(attrs.evolve(problem, path=f"/{number}{problem.path}"))


def _without_scheme(
    columns: ManifestColumns, context: EntryContext, suspects: npt.NDArray[np.intp]
) -> Iterator[Finding]:
    """Find paths without a scheme, which some tables have in all entries, among entries that are otherwise valid."""
    try:
        paths = columns.paths
    except SpecError:
        return  # `suspect_entries` returns every entry
    bare = np.fromiter((path is not None and not has_scheme(path) for path in paths), bool, len(columns))
    bare[suspects] = False
    rows = np.nonzero(bare)[0]
    places = []
    for row, values in zip(rows[:MAX_EXAMPLES].tolist(), columns.rows(rows[:MAX_EXAMPLES]), strict=True):
        number = columns.first + row
        entry = columns.manifest.read_entry(values, number)
        found = [broken for _, broken in broken_rules(entry, context)]
        places += [attrs.evolve(broken, path=f"/{number}{broken.path}") for broken in found]
    if places:
        examples = tuple(places) if len(rows) > 1 else ()
        yield evolve(to_finding(places[0]), count=len(rows), examples=examples)


def suspect_entries(columns: ManifestColumns, context: EntryContext, types: Mapping[int, Type]) -> npt.NDArray[np.intp]:
    """Find the entries that may break a rule; none that breaks one is left out.

    An entry is not included only because its path has no scheme.

    Args:
        columns: the batch.
        context: the table and the manifest of the entries.
        types: the types of the table's columns by id.

    Returns:
        The indexes of the entries in the batch.
    """
    try:
        return np.nonzero(_suspicious(columns, context, types))[0]
    except (AssertionError, SpecError):  # a column in a form that no writer uses: the definition checks every entry
        return np.arange(len(columns))


def _suspicious(columns: ManifestColumns, context: EntryContext, types: Mapping[int, Type]) -> Mask:
    allowed = np.isin(columns.content, [int(content) for content in CONTENTS_BY_MANIFEST[context.content]])
    wrong: Mask = ~allowed if DELETE_FILES.is_supported(context.version) else columns.content != FileContent.DATA
    added, deleted = columns.status == EntryStatus.ADDED, columns.status == EntryStatus.DELETED
    for attribute in _REQUIRED:
        wrong |= columns.nulls(attribute)
    wrong |= columns.nulls("file_path")
    wrong |= _numbers(columns, context, added, deleted)
    wrong |= _texts(columns)
    data = columns.content == FileContent.DATA
    row_id = columns.written_values("first_row_id").valid
    wrong |= row_id & (added | ~data)
    has_ids = ~columns.nulls("equality_ids")
    equality = columns.content == FileContent.EQUALITY_DELETES
    wrong |= has_ids | equality  # entries with equality ids are few, so the definition checks all of them
    wrong |= columns.written_values("sort_order_id").valid & (columns.content == FileContent.POSITION_DELETES)
    wrong |= _offsets(columns)
    for attribute in _COUNTS:
        for _, files, values in columns.maps(attribute):
            assert isinstance(values, NumberColumn)
            wrong[files[values.values < 0]] = True
    wrong |= _more_nulls_than_values(columns)
    wrong |= _suspicious_bounds(columns, types)
    return wrong


def _numbers(columns: ManifestColumns, context: EntryContext, added: Mask, deleted: Mask) -> Mask:
    snapshot = columns.written_values("snapshot_id").valid
    wrong: Mask = deleted & ~snapshot
    if SNAPSHOT_RULE.writer_presence(context.version) is REQUIRED:
        wrong |= ~snapshot
    if SEQUENCE_NUMBERS.is_supported(context.version):
        file_number = columns.written_values("file_sequence_number").valid
        wrong |= ~added & ~(columns.written_values("sequence_number").valid & file_number)
        wrong |= added & file_number
    wrong |= columns.record_count < 0
    wrong |= columns.file_size_in_bytes < 0
    row_ids = columns.written_values("first_row_id")
    wrong |= row_ids.valid & (row_ids.values < 0)
    if DELETION_VECTORS.is_supported(context.version):
        wrong |= columns.content_offset.valid & ~columns.content_size_in_bytes.valid
    return wrong


def _texts(columns: ManifestColumns) -> Mask:
    wrong = np.zeros(len(columns), np.bool_)
    _ = columns.paths  # raises an error if a path is not text
    formats = columns.formats
    if not _PLAIN.issuperset(formats):  # Puffin, or perhaps not a format
        wrong |= np.fromiter((format_ not in _PLAIN for format_ in formats), bool, len(columns))
    columns.texts("referenced_data_file")
    return wrong


_PLAIN = _FORMATS - {"puffin", "PUFFIN"}


def _offsets(columns: ManifestColumns) -> Mask:
    """Find lists of offsets that are empty or do not ascend."""
    wrong = ~columns.nulls("split_offsets")
    files, offsets = [np.zeros(0, np.intp)], [np.zeros(0, np.int64)]
    for rows, values in columns.items("split_offsets"):
        assert isinstance(values, NumberColumn)
        files.append(rows)
        offsets.append(values.values)
    of_file, numbers = np.concatenate(files), np.concatenate(offsets)
    wrong[of_file] = False
    if len(files) > 2 or not (np.diff(of_file) > 0).all():
        order = np.argsort(of_file, kind="stable")
        of_file, numbers = of_file[order], numbers[order]
        wrong[of_file[1:][(of_file[1:] == of_file[:-1]) & (numbers[1:] <= numbers[:-1])]] = True
    return wrong


def _more_nulls_than_values(columns: ManifestColumns) -> Mask:
    wrong = np.zeros(len(columns), np.bool_)
    values: dict[int, list[tuple[npt.NDArray[np.intp], npt.NDArray[np.int64]]]] = {}
    for column, files, counts in columns.maps("value_counts"):
        assert isinstance(counts, NumberColumn)
        values.setdefault(column, []).append((files, counts.values))
    for column, files, counts in columns.maps("null_value_counts"):
        assert isinstance(counts, NumberColumn)
        for others, most in values.get(column, []):
            both, at_most, at_nulls = _in_both(others, files)
            wrong[both[counts.values[at_nulls] > most[at_most]]] = True
    return wrong


_ALL_OF_THEM = slice(None)


def _in_both(left: npt.NDArray[np.intp], right: npt.NDArray[np.intp]) -> tuple[npt.NDArray[np.intp], Any, Any]:
    """Find the files that are in both arrays, and their indexes in each; in most cases the arrays are equal."""
    if len(left) == len(right) and (left == right).all():
        return left, _ALL_OF_THEM, _ALL_OF_THEM
    return np.intersect1d(left, right, assume_unique=True, return_indices=True)


# Bounds


def _suspicious_bounds(columns: ManifestColumns, types: Mapping[int, Type]) -> Mask:
    wrong = np.zeros(len(columns), np.bool_)
    lowers: dict[int, list[tuple[npt.NDArray[np.intp], BytesColumn]]] = {}
    for attribute in ("lower_bounds", "upper_bounds"):
        for column, files, values in columns.maps(attribute):
            type_ = types.get(column)
            if type_ is None:
                continue
            if not isinstance(values, BytesColumn) or not is_primitive(type_):
                wrong[files] = True
                continue
            wrong[files[_undecodable(type_, values)]] = True
            if attribute == "lower_bounds":
                lowers.setdefault(column, []).append((files, values))
                continue
            for others, lower in lowers.get(column, []):
                wrong[_crossed(type_, others, lower, files, values)] = True
    return wrong


def _undecodable(type_: Type, values: BytesColumn) -> Mask:
    """Find bounds that are perhaps not of the type, or are NaN."""
    name, lengths = kind(type_), values.lengths
    if name in _WHOLE:
        return np.asarray(lengths != _WHOLE[name])
    if name in _REAL:
        wrong = np.asarray(lengths != int(_REAL[name][2:]))
        numbers = _window(values, _REAL[name], ~wrong)
        return np.asarray(wrong | np.isnan(numbers))
    if name == "boolean":
        wrong = np.asarray(lengths != 1)
        return np.asarray(wrong | (_window(values, "u1", ~wrong) > 1))
    if name == "string":
        return _not_utf8(values)
    if name == "binary":
        return np.zeros(len(lengths), np.bool_)
    if name == "fixed":
        assert isinstance(type_, FixedType)
        return np.asarray(lengths != type_.length)
    if name == "uuid":
        return np.asarray(lengths != 16)
    return np.ones(len(lengths), np.bool_)


def _crossed(
    type_: Type,
    lower_files: npt.NDArray[np.intp],
    lower: BytesColumn,
    upper_files: npt.NDArray[np.intp],
    upper: DecodedColumn,
) -> npt.NDArray[np.intp]:
    """Find files whose lower bound may be above the upper one; bounds that cannot be decoded were found before."""
    assert isinstance(upper, BytesColumn)
    files, at_lower, at_upper = _in_both(lower_files, upper_files)
    if at_lower is not _ALL_OF_THEM:
        lower, upper = lower.take(at_lower), upper.take(at_upper)
    name = kind(type_)
    form = _REAL.get(name) or ("u1" if name == "boolean" else f"<i{_WHOLE[name]}" if name in _WHOLE else None)
    if form is not None:
        size = int(form[-1])
        sound = (lower.lengths == size) & (upper.lengths == size)
        return np.asarray(files[sound & (_window(lower, form, sound) > _window(upper, form, sound))])
    if name in _BYTES:
        return np.asarray(files[_above(lower, upper)])
    return files


def _window(values: BytesColumn, form: str, where: Mask) -> npt.NDArray[Any]:
    """Read the numbers at the values' offsets; 0 except for ``where``."""
    dtype = np.dtype(form)
    made = np.zeros(values.length, dtype)
    if len(values.data) >= dtype.itemsize and where.any():
        windows = np.ndarray((len(values.data) - dtype.itemsize + 1,), dtype, values.data, strides=(1,))
        if where.all():
            return np.asarray(windows[values.offsets])
        made[where] = windows[values.offsets[where]]
    return made


def _word(values: BytesColumn, shift: int = 0) -> npt.NDArray[np.uint64]:
    """Read eight bytes at an offset as a number with the order of the bytes; shorter values are padded with zeros."""
    starts = values.offsets + shift
    inside = starts + _WORD <= len(values.data)
    words = np.zeros(values.length, np.uint64)
    shifted = BytesColumn(values.data, starts, values.lengths, text=False)
    words[inside] = _window(shifted, ">u8", inside)[inside]
    for row in np.nonzero(~inside)[0].tolist():  # at the very end of the buffer
        words[row] = int.from_bytes(values.data[int(starts[row]) :][:_WORD].ljust(_WORD, b"\0"), "big")
    missing = np.clip(_WORD + shift - values.lengths, 0, _WORD).astype(np.uint64)
    kept = np.where(missing >= _WORD, np.uint64(0), _ALL << np.minimum(missing * 8, 63))
    return np.asarray(words & kept, np.uint64)


def _above(lower: BytesColumn, upper: BytesColumn) -> Mask:
    """Find where a lower value is above the upper one by their bytes; only long values are compared one by one."""
    above = np.zeros(lower.length, np.bool_)
    tied = np.ones(lower.length, np.bool_)
    longest = int(np.maximum(lower.lengths, upper.lengths).max(initial=0))
    for shift in range(0, min(longest, _LONG_TEXT), _WORD):
        low, high = _word(lower, shift), _word(upper, shift)
        above |= tied & (low > high)
        tied &= low == high
        if not tied.any():
            return above
    # Pairs that are still tied are equal up to the end of the shorter one, or up to `_LONG_TEXT` bytes.
    above |= tied & (lower.lengths > upper.lengths)
    rows = np.nonzero(tied & (lower.lengths > _LONG_TEXT) & (upper.lengths > _LONG_TEXT))[0]
    if len(rows):
        pairs = zip(lower.take(rows).to_bytes(), upper.take(rows).to_bytes(), strict=True)
        above[rows] = [low > high for low, high in pairs]
    return above


def _not_utf8(values: BytesColumn) -> Mask:
    """Find strings that are not UTF-8; ASCII is detected at once, others are decoded."""
    wrong = np.zeros(values.length, np.bool_)
    other = np.zeros(values.length, np.bool_)
    longest = int(values.lengths.max(initial=0))
    if longest > _LONG_TEXT:
        other |= values.lengths > _LONG_TEXT
    for shift in range(0, min(longest, _LONG_TEXT), _WORD):
        other |= (_word(values, shift) & _HIGH_BITS) != 0
    for row in np.nonzero(other)[0].tolist():
        start = int(values.offsets[row])
        try:
            values.data[start : start + int(values.lengths[row])].decode()
        except UnicodeDecodeError:
            wrong[row] = True
    return wrong
