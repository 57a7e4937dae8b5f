"""Let producers write the scripts of the catalogue, and prepare the requests for consumers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from conformance.core.failures import NotExamined
from conformance.interop.catalogue import ScriptVariant
from conformance.interop.cells import ProducedTable, TableOutcome
from conformance.interop.features import table_features
from conformance.operations.protocol import Answer, Crashed, Refused, StartAnswer, Unsupported
from conformance.operations.writing.comparators import BrokenRule, compare_written_tables
from conformance.properties.scenario_tables import OtherSchema, ScriptedTable, make_vector, readings, write_script
from conformance.runner.adapter_interface import Adapter
from conformance.scripts.expected import expected_table
from conformance.table_io.tables import load_table
from spec_ref.core.errors import SpecError

RULES = "/table/"
"""The path prefix of violations among the differences of a written table."""


def write_tables(
    producer: str,
    adapter: Adapter,
    started: StartAnswer,
    scripts: Sequence[ScriptVariant],
    folder: Path,
) -> Iterator[ProducedTable]:
    """Let one producer write every script.

    Args:
        producer: the name of the producer.
        adapter: the adapter, started.
        started: the adapter's answer to ``start``.
        scripts: the scripts to run.
        folder: the directory for the producer's tables.
    """
    for variant in scripts:
        yield _write_table(producer, adapter, started, variant, folder / variant.name)


def _write_table(
    producer: str, adapter: Adapter, started: StartAnswer, variant: ScriptVariant, place: Path
) -> ProducedTable:
    def made(outcome: TableOutcome, reason: str = "", **more: object) -> ProducedTable:
        return ProducedTable(
            producer=producer,
            name=variant.name,
            features=more.pop("features", variant.entry.features),  # type: ignore[arg-type]
            format_version=variant.format_version,
            file_format=variant.file_format,
            about=variant.entry.about,
            outcome=outcome,
            reason=reason,
            **more,  # type: ignore[arg-type]
        )

    if "table.write" not in started.operations:
        return made(TableOutcome.UNSUPPORTED, "the operation table.write (not declared)")
    version = variant.format_version
    if started.format_versions and version not in started.format_versions:
        return made(TableOutcome.UNSUPPORTED, f"format version {version} (not declared)")
    table = write_script(adapter, variant.script, place)
    if not isinstance(table, ScriptedTable):
        return made(*_not_written(table))
    try:
        findings, problem, shows = _find_faults(table, place)
        if problem:
            return made(TableOutcome.FAILED, problem, metadata=table.metadata, shows=shows)
        features = tuple(sorted(table_features(load_table(table.metadata)) | set(variant.entry.features)))
        cases = tuple(
            make_vector(f"{producer}/{variant.name}: {label}", args, expected, table.states[-1].format_version)
            for label, args, expected in readings(table, history=variant.entry.history)
        )
    except (SpecError, NotExamined, OtherSchema) as error:
        shows = (error.violation.requirement,) if isinstance(error, SpecError) else ()
        return made(TableOutcome.FAILED, str(error), metadata=table.metadata, shows=shows)
    outcome = TableOutcome.INVALID if findings else TableOutcome.PASSED
    reason = "; ".join(findings)
    return made(
        outcome, reason, metadata=table.metadata, findings=findings, shows=shows, features=features, cases=cases
    )


def _not_written(answer: Answer) -> tuple[TableOutcome, str]:
    match answer:
        case Unsupported(message):
            return TableOutcome.UNSUPPORTED, message
        case Refused(kind, message):
            return TableOutcome.REJECTED, f"{kind}: {message}"
        case Crashed(reason):
            return TableOutcome.CRASHED, reason
    raise AssertionError(answer)


def _find_faults(table: ScriptedTable, place: Path) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    """Return the rules that a table breaks, its other differences from the script, and their codes and places."""
    answer = {"metadata": table.metadata, "snapshots": list(table.snapshots)}
    found = compare_written_tables({"table": str(place)}, expected_table(table.states), answer)
    rules = tuple(f"{one.path.removeprefix(RULES)}: {one.got}" for one in found if one.path.startswith(RULES))
    shows = (one.violation.requirement if isinstance(one, BrokenRule) else one.path for one in found)
    return rules, "; ".join(str(one) for one in found if not one.path.startswith(RULES)), tuple(dict.fromkeys(shows))
