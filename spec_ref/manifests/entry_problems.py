"""Find everything that is wrong with one entry of a manifest, as written (Manifest Entry Fields; Data File Fields).

The rules over the fields are in `spec_ref.manifests.rules`; this module adds the rules for bounds, which need the types
of the table's columns.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from spec_ref.core.errors import SpecError, Violation, abbreviated_repr
from spec_ref.core.records import field_rules
from spec_ref.core.versions import REQUIRED
from spec_ref.data_types.types import Type, VariantType, is_primitive, kind
from spec_ref.manifests.entry import ManifestEntry
from spec_ref.manifests.metrics import column_bound
from spec_ref.manifests.rules import EntryContext, broken_rules
from spec_ref.single_value.binary import minimal_twos_complement
from spec_ref.single_value.variant_bounds import check_same_types

SNAPSHOT_RULE = field_rules(ManifestEntry)["snapshot_id"]


def entry_problems(entry: ManifestEntry, context: EntryContext, types: Mapping[int, Type]) -> Iterator[Violation]:
    """Find what is wrong with an entry.

    Args:
        entry: the entry, without inherited values.
        context: the table and the manifest of the entry.
        types: the types of the table's columns by id.

    Yields:
        Each violation, with a path inside the entry.
    """
    for _, broken in broken_rules(entry, context):
        yield broken
    yield from _snapshot(entry, context)
    yield from _nulls(entry)
    yield from _bounds(entry, types)


def _snapshot(entry: ManifestEntry, context: EntryContext) -> Iterator[Violation]:
    """Find a null snapshot id although the version requires one; readers treat it as inherited."""
    if entry.snapshot_id is None and SNAPSHOT_RULE.writer_presence(context.version) is REQUIRED:
        yield Violation(
            requirement=SNAPSHOT_RULE.requirement,
            message="the snapshot id is null",
            path="/snapshot_id",
            format_version=context.version,
            aspect="null",
        )


def _nulls(entry: ManifestEntry) -> Iterator[Violation]:
    """Find statistics that contradict each other: more nulls than values."""
    nulls, values = entry.data_file.null_value_counts or {}, entry.data_file.value_counts or {}
    for column, count in values.items():
        if 0 <= count < nulls.get(column, 0):  # a negative count is reported by another rule
            yield Violation(
                requirement="DFL013",
                message="the null count of a column is greater than its value count",
                path=f"/data_file/null_value_counts/{column}",
                found=str(nulls[column]),
                expected=f"at most {count}",
                aspect="more-nulls-than-values",
            )


def _bounds(entry: ManifestEntry, types: Mapping[int, Type]) -> Iterator[Violation]:
    bounds: dict[str, dict[int, Any]] = {"lower_bounds": {}, "upper_bounds": {}}
    for name, requirement in (("lower_bounds", "DFL016"), ("upper_bounds", "DFL017")):
        for column in getattr(entry.data_file, name) or {}:
            type_ = types.get(column)
            if type_ is None:  # a column that was dropped, or a metadata column
                continue
            try:
                value = column_bound(entry.data_file, name, column, type_)
            except SpecError as error:
                problem = error.violation
                yield attrs.evolve(
                    problem, requirement=requirement, aspect="undecodable", path=f"/data_file{problem.path}"
                )
                continue
            if isinstance(value, float) and value != value:
                path = f"/data_file/{name}/{column}"
                yield Violation(requirement="DFL027", message="a bound is NaN", path=path, found="NaN")
            data = getattr(entry.data_file, name)[column]
            if not is_minimal(type_, data):
                path = f"/data_file/{name}/{column}"
                yield not_minimal_violation(data, path)
            bounds[name][column] = value
    for column in bounds["lower_bounds"].keys() & bounds["upper_bounds"].keys():
        low, high = bounds["lower_bounds"][column], bounds["upper_bounds"][column]
        yield from _crossed(types[column], low, high, f"/data_file/lower_bounds/{column}")


def is_minimal(type_: Type, data: bytes) -> bool:
    """Decide whether a decimal has the fewest bytes that hold it (SVB008).

    Args:
        type_: the type of the column.
        data: the bytes of a bound.

    Returns:
        Whether it has; always true for another type.
    """
    return kind(type_) != "decimal" or data == minimal_twos_complement(int.from_bytes(data, "big", signed=True))


def not_minimal_violation(data: bytes, path: str) -> Violation:
    """Make the violation of a decimal bound with more bytes than needed.

    Args:
        data: the bytes of the bound.
        path: its place.

    Returns:
        The violation of SVB008.
    """
    return Violation(
        requirement="SVB008",
        message="a decimal is not stored in the fewest bytes",
        path=path,
        found=abbreviated_repr(data),
        expected="the fewest bytes that hold the number",
    )


def _crossed(type_: Type, low: Any, high: Any, path: str) -> Iterator[Violation]:
    """Find a lower bound above the upper bound; for a variant, a field whose two bounds have different types."""
    if isinstance(type_, VariantType):
        try:
            check_same_types(low, high)
        except SpecError as error:
            yield attrs.evolve(error.violation, path=f"{path}#{error.violation.path}")
    elif is_primitive(type_) and not kind(type_).startswith("geo") and low > high:
        tolerated = signed_order(type_, low, high, is_lower=True)
        problem = Violation(
            requirement="DFL016",
            message="the lower bound is above the upper",
            aspect="crossed-as-signed-uuids" if tolerated else "crossed",
            path=path,
            found=abbreviated_repr(low),
            expected=f"at most {abbreviated_repr(high)}",
        )
        yield problem


def signed_order(type_: Type, bound: Any, value: Any, *, is_lower: bool) -> bool:
    """Decide whether a bound of a UUID holds for a value if UUIDs are compared as two signed 64-bit integers.

    Iceberg-Java compares them in this way; the spec stores a UUID as 16 bytes, which compare unsigned.

    Args:
        type_: the type of the column.
        bound: the bound.
        value: the value.
        is_lower: whether it is the lower bound.

    Returns:
        Whether it holds; false for another type.
    """
    if kind(type_) != "uuid":
        return False
    one, two = (struct.unpack(">qq", uuid.bytes) for uuid in (bound, value))
    return one <= two if is_lower else one >= two
