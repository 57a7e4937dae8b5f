"""Faults of table metadata: reading, writing, upgrades, evolution, retention and name mappings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.adapter_sdk.serve import Arguments
from spec_ref.core.errors import SpecError
from tests.faulty_adapters import Fault, Operation

Wrong = Callable[[Arguments, Operation], Any]


def answers(change: Callable[[Any], Any]) -> Wrong:
    """A fault that changes the answer."""
    return lambda args, right: change(right(args))


def without(*names: str) -> Wrong:
    """A fault that leaves members out."""
    return answers(lambda form: {name: value for name, value in form.items() if name not in names})


def tolerant(args: Arguments, right: Operation) -> Any:
    """Nothing is refused."""
    try:
        return right(args)
    except SpecError:
        return {}


def _snapshots(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Wrong:
    def wrong(args: Arguments, right: Operation) -> Any:
        form = right(args)
        return {**form, "snapshots": [change(one) for one in form["snapshots"]]} if form.get("snapshots") else form

    return wrong


def _doubles(snapshot: dict[str, Any]) -> dict[str, Any]:
    return {**snapshot, "snapshot-id": str(int(float(snapshot["snapshot-id"])))}


def _less(code: str) -> Wrong:
    return lambda args, right: [found for found in right(args) if not found.startswith(code)]


def _first_only(args: Arguments, right: Operation) -> Any:
    return right({**args, "changes": args["changes"][:1]})


def _reused_ids(form: Any) -> Any:
    return {**form, "last-column-id": 0}


def _main_only(args: Arguments, right: Operation) -> Any:
    answer = right(args)
    return {**answer, "refs": [name for name in answer["refs"] if name == "main"]}


def _nothing_expires(args: Arguments, right: Operation) -> Any:
    right(args)
    metadata = args["metadata"]
    return {
        "snapshots": [str(one["snapshot-id"]) for one in metadata.get("snapshots", [])],
        "refs": sorted(metadata.get("refs", {"main": None})),
    }


def _first_level(args: Arguments, right: Operation) -> Any:
    return [{**one, "field-id": one["field-id"] if len(one["path"]) == 1 else None} for one in right(args)]


def _any_schema(args: Arguments, right: Operation) -> Any:
    try:
        return right(args)
    except SpecError:
        return {"fields": args["schema"]["fields"], "last-column-id": args["last_column_id"]}


FAULTS = (
    Fault("metadata-damaged-as-empty", "metadata.read", tolerant),
    Fault("metadata-sort-orders-not-read", "metadata.read", without("sort-orders")),
    Fault("metadata-refs-not-read", "metadata.read", without("refs")),
    Fault("metadata-specs-not-read", "metadata.read", without("partition-specs")),
    Fault("metadata-snapshot-ids-as-doubles", "metadata.read", _snapshots(_doubles)),
    Fault("metadata-write-schemas-left-out", "metadata.write", without("schemas")),
    Fault("metadata-write-refs-left-out", "metadata.write", without("refs")),
    Fault("metadata-upgrade-keeps-version", "metadata.upgrade", answers(lambda form: {**form, "format-version": 1})),
    Fault("metadata-upgrade-without-row-ids", "metadata.upgrade", without("next-row-id")),
    Fault("metadata-check-nothing-of-snapshots", "metadata.check", _less("SNP")),
    Fault("metadata-check-nothing-of-specs", "metadata.check", _less("PAR")),
    Fault("metadata-check-finds-too-much", "metadata.check", answers(lambda codes: sorted({*codes, "TMD001"}))),
    Fault("evolution-first-change-only", "schema.evolve", _first_only),
    Fault("evolution-last-column-id-lost", "schema.evolve", answers(_reused_ids)),
    Fault("evolution-anything-goes", "schema.evolve", _any_schema),
    Fault("spec-evolution-first-change-only", "partition-spec.evolve", _first_only),
    Fault("retention-main-only", "retention.expire", _main_only),
    Fault("retention-nothing-expires", "retention.expire", _nothing_expires),
    Fault("name-mapping-first-level-only", "name-mapping.apply", _first_level),
    Fault(
        "name-mapping-nothing-found",
        "name-mapping.apply",
        answers(lambda found: [{**one, "field-id": None} for one in found]),
    ),
)
