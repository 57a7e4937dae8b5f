"""Faults of scan planning that engines had: the reference with one rule replaced."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from conformance.adapter_sdk.serve import Arguments
from conformance.operations.reading import reference as tables
from spec_ref.columnar.expressions import metrics_evaluation
from spec_ref.columnar.manifests import entry_columns
from spec_ref.columnar.manifests.entry_columns import ManifestColumns
from spec_ref.columnar.manifests.nullable_arrays import Nullable
from spec_ref.columnar.scan_planning import planner as columnar_planner
from spec_ref.columnar.scan_planning.delete_file_index import DeleteFileIndex
from spec_ref.core.records import evolve
from spec_ref.expressions.predicates import TRUE
from spec_ref.manifest_lists.manifest_file import ManifestFile
from spec_ref.partitioning.spec import PartitionSpec
from spec_ref.partitioning.transforms import UnknownTransform
from spec_ref.scan_planning import delete_scope, manifest_selection, planner
from spec_ref.scan_planning.manifest_selection import ManifestSelection
from tests.faulty_adapters import Fault, Operation

Rule = Any
"""A function, method or property."""


def replaced(owner: Any, name: str, make: Callable[[Rule], Rule]) -> Callable[[Arguments, Operation], Any]:
    """A fault that has another rule in place of one: ``make`` gets the right one."""

    def wrong(arguments: Arguments, right: Operation) -> Any:
        kept = owner.__dict__[name]
        setattr(owner, name, make(kept))
        try:
            return right(arguments)
        finally:
            setattr(owner, name, kept)

    return wrong


def _unpartitioned(rule: Callable[[PartitionSpec], bool]) -> Callable[[Arguments, Operation], Any]:
    return replaced(PartitionSpec, "is_unpartitioned", lambda _: property(rule))


def _number_plus(step: int) -> Callable[[Rule], Rule]:
    """The rules of a kind of deletes, for a data file whose number is another."""
    return lambda right: lambda index, file, number, *more: right(index, file, number + step, *more)


def _spec_ignored(right: Rule) -> Rule:
    return lambda file, spec: (0, right(file, spec)[1])


def _partition_ignored(_: Rule) -> Rule:
    return lambda _file, spec: (spec.spec_id, ())


def _unknown_ignored(right: Rule) -> Rule:
    def wrong(file: Any, spec: PartitionSpec) -> Any:
        known = tuple(field for field in spec.fields if not isinstance(field.transform, UnknownTransform))
        return right(file, evolve(spec, fields=known))

    return wrong


def _nan_never_equal(right: Rule) -> Rule:
    return lambda value: object() if isinstance(value, float) and value != value else right(value)


def _zeros_equal(right: Rule) -> Rule:
    return lambda value: right(0.0) if value == 0.0 and isinstance(value, float) else right(value)


def _nan_by_bits(_: Rule) -> Rule:
    return lambda value: struct.pack(">d", value) if isinstance(value, float) else value


def _offsets_ignored(arguments: Arguments, right: Operation) -> Any:
    answer = right(arguments)
    for file in answer["files"]:
        for delete in file["delete_files"]:
            if "content_offset" in delete:
                delete["content_offset"] = "4"
    return answer


def _by_exact_path(_: Rule) -> Rule:
    def may_name(delete: Any, path: str) -> bool:
        lower = (delete.lower_bounds or {}).get(delete_scope.FILE_PATH)
        return lower is None or lower == path.encode()

    return may_name


def _without_nulls(right: Rule) -> Rule:
    return lambda left, other: right(evolve(left, null=False), evolve(other, null=False))


def _shifted(right: Rule) -> Rule:
    return lambda projected, summaries, ids: right(projected, summaries, ids[1:] or ids)


def _nan_not_told(right: Rule) -> Rule:
    def outcome(projected: Any, summaries: Any, ids: Any) -> Any:
        return right(projected, [evolve(one, contains_nan=bool(one.contains_nan)) for one in summaries], ids)

    return outcome


def _missing_summaries(right: Rule) -> Rule:
    return lambda selection, manifest: manifest.partitions is not None and right(selection, manifest)


def _current_spec(right: Rule) -> Rule:
    """Filters that are projected with the newest spec of the table."""

    def might_match(selection: Any, manifest: ManifestFile) -> bool:
        newest = selection._specs[max(selection._specs)]
        kept, selection._specs = selection._specs, dict.fromkeys(selection._specs, newest)
        try:
            return bool(right(selection, manifest))
        finally:
            selection._specs = kept

    return might_match


def _only_lists(right: Rule) -> Rule:
    return lambda snapshot, *more, **given: () if snapshot.manifest_list is None else right(snapshot, *more, **given)


def _current_schema(right: Rule) -> Rule:
    return lambda metadata, **given: evolve(right(metadata, **given), schema=metadata.current_schema)


def _by_snapshots(right: Rule) -> Rule:
    """A time that is looked for among the snapshots instead of in the log."""

    def state(metadata: Any, *, timestamp_ms: int | None = None, **given: Any) -> Any:
        if timestamp_ms is None:
            return right(metadata, **given)
        known = [one for one in metadata.snapshots if one.timestamp_ms <= timestamp_ms]
        if not known:
            return right(metadata, timestamp_ms=timestamp_ms)
        return right(metadata, snapshot_id=max(known, key=lambda one: one.timestamp_ms).snapshot_id)

    return state


def _missing_as_zero(_: Rule) -> Rule:
    return lambda counts: Nullable(np.where(counts.valid, counts.values, 0), np.ones(len(counts.values), np.bool_))


def _null_never_matches(right: Rule) -> Rule:
    return lambda leaf, value: value is not None and right(leaf, value)


FAULTS = tuple(
    Fault(f"planned-{name}", "scan.plan", wrong)
    for name, wrong in {
        "equality-of-same-commit": replaced(DeleteFileIndex, "_equal", _number_plus(-1)),
        "equality-of-older-alone": replaced(DeleteFileIndex, "_equal", _number_plus(1)),
        "equality-whatever-number": replaced(DeleteFileIndex, "_equal", _number_plus(-100)),
        "positions-not-of-same-commit": replaced(DeleteFileIndex, "_positions", _number_plus(1)),
        "positions-whatever-number": replaced(DeleteFileIndex, "_positions", _number_plus(-100)),
        "partition-ignored": replaced(delete_scope, "partition_key", _partition_ignored),
        "spec-ignored": replaced(delete_scope, "partition_key", _spec_ignored),
        "unknown-transform-ignored": replaced(delete_scope, "partition_key", _unknown_ignored),
        "nan-partitions-never-equal": replaced(delete_scope, "comparable_value", _nan_never_equal),
        "nan-partitions-by-bits": replaced(delete_scope, "comparable_value", _nan_by_bits),
        "zero-partitions-equal": replaced(delete_scope, "comparable_value", _zeros_equal),
        "no-deletes-everywhere": _unpartitioned(lambda _: False),
        "all-deletes-everywhere": _unpartitioned(lambda _: True),
        "spec-zero-everywhere": _unpartitioned(lambda spec: spec.spec_id == 0),
        "void-is-partitioned": _unpartitioned(lambda spec: not spec.fields),
        "offsets-ignored": _offsets_ignored,
        "cut-paths-taken-exactly": replaced(delete_scope, "may_name", _by_exact_path),
        "deletes-of-null-lost": replaced(delete_scope, "_may_share", _without_nulls),
        "deletes-lost-by-filters": replaced(
            planner, "might_match", lambda _: lambda predicate, _metrics: predicate == TRUE
        ),
        "deleted-entries-used": replaced(ManifestColumns, "live", lambda _: property(lambda self: self.status >= 0)),
        "file-sequence-number-used": replaced(
            ManifestColumns,
            "sequence_number",
            lambda _: property(lambda self: self._sequence("file_sequence_number")),
        ),
        "number-of-snapshot-inherited": replaced(entry_columns, "_inherited_number", lambda _: lambda _run: 5),
        "counts-missing-as-zero": replaced(
            ManifestFile, "may_have", lambda _: lambda _manifest, count: (count or 0) > 0
        ),
        "summaries-shifted": replaced(manifest_selection, "evaluate_summaries", _shifted),
        "summary-without-nan": replaced(manifest_selection, "evaluate_summaries", _nan_not_told),
        "summaries-missing-skip": replaced(ManifestSelection, "_might_match", _missing_summaries),
        "newest-spec-for-filters": replaced(ManifestSelection, "_might_match", _current_spec),
        "manifests-of-v1-ignored": replaced(columnar_planner, "list_manifests", _only_lists),
        "schema-of-today": replaced(tables, "table_state", _current_schema),
        "time-by-snapshots": replaced(tables, "table_state", _by_snapshots),
        "counts-of-column-missing-as-zero": replaced(metrics_evaluation, "_drop_negative_counts", _missing_as_zero),
        "null-never-matches": replaced(metrics_evaluation, "evaluate_leaf", _null_never_matches),
        "upper-bound-open": replaced(
            metrics_evaluation, "_at_least", lambda _: lambda bound, value: ~bound.valid | (bound.values > value)
        ),
        "lower-bound-open": replaced(
            metrics_evaluation, "_at_most", lambda _: lambda bound, value: ~bound.valid | (bound.values < value)
        ),
    }.items()
)
