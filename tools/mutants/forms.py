"""Documents after a round trip, and random tables: metamorphic properties, filter pushdown, validity."""

from __future__ import annotations

import gzip
import json
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from tools.mutants.fast_paths import Check, Rows, force_fast_paths

SEEDS = {"equivalence": 200, "metamorphic": 12, "written": 60}

# Round trips


def forms(rows: Rows) -> dict[str, Check]:
    """Return the checks of documents in vectors that are read, written and read again (Appendix B)."""
    found: dict[str, list[Any]] = {}
    for file, _, row in rows.values():
        args = row["args"]
        for name in ("predicate", "filter"):
            if name in args:
                found.setdefault(Path(file).stem, []).append(args[name])
    checks: dict[str, Check] = {name: partial(_written_again, some) for name, some in found.items()}
    files: dict[str, list[tuple[dict[str, Any], dict[str, Any]]]] = {}
    for file, content, row in rows.values():
        if content["operation"] == "puffin.read":
            files.setdefault(Path(file).stem, []).append((row["args"], row["expect"]))
    documents = {
        Path(file).stem: row["args"]["metadata"]
        for file, content, row in rows.values()
        if content["operation"] == "metadata.read" and "ok" in row["expect"]
    }
    return (
        checks
        | {f"rendered {name}": partial(_rendered, some) for name, some in files.items()}
        | {f"gzip {name}": partial(_packed, one) for name, one in documents.items()}
        | {f"kept {name}": partial(_kept, one) for name, one in documents.items()}
    )


def _rendered(rows: list[tuple[dict[str, Any], dict[str, Any]]]) -> bool:
    """Check that Puffin files have findings if readers must refuse them, and otherwise at most PUF025."""
    from spec_ref.statistics.puffin_checks import check_puffin

    def found(data: str) -> set[str]:
        return {one.requirement for one in check_puffin(bytes.fromhex(data))} - {"PUF025"}

    known = ((args, expect) for args, expect in rows if "any_of" not in expect)
    return all(("error" in expect) is bool(found(args["bytes"])) for args, expect in known)


def _packed(document: Any) -> bool:
    """Check that gzip metadata reads like plain metadata, and is refused if its end is missing (TMD030)."""
    from spec_ref.core.errors import SpecError
    from spec_ref.table_metadata.reader import read_metadata
    from spec_ref.table_metadata.writer import to_bytes

    plain = json.dumps(document).encode()
    packed = gzip.compress(plain)
    made = read_metadata(plain)
    written = to_bytes(made)
    if json.loads(written) != json.loads(gzip.decompress(to_bytes(made, compressed=True))):
        return False
    try:
        read_metadata(packed[: len(packed) // 2])
    except SpecError:
        return read_metadata(packed) == read_metadata(plain)
    return False


MOST_UNKNOWN = 30
"""The limit on unknown members that are added to an object. With one of the numbers below it, an object has as many
members as its class has fields, although some are missing."""


def _kept(document: Any) -> bool:
    """Check that reading and writing keeps unknown members (TMD029) and the current snapshot."""
    from spec_ref.table_metadata.reader import read_metadata
    from spec_ref.table_metadata.writer import write_metadata

    current = read_metadata(json.dumps(document)).current_snapshot
    if (None if current is None else current.snapshot_id) != _id(document.get("current-snapshot-id")):
        return False
    for count in range(1, MOST_UNKNOWN):
        more = {f"x-{number}": number for number in range(count)}
        given = {**document, **more, "snapshots": [{**one, **more} for one in document.get("snapshots", ())]}
        written = write_metadata(read_metadata(json.dumps(given)))
        if not all(more.items() <= one.items() for one in (written, *written.get("snapshots", ()))):
            return False
    return True


def _id(current: int | None) -> int | None:
    return None if current == -1 else current


def _written_again(predicates: list[Any]) -> bool:
    from spec_ref.core.errors import SpecError
    from spec_ref.expressions.expression_json import predicate_from_json, predicate_to_json

    for json_ in [*predicates, *map(_without_catalogs, predicates)]:
        try:
            read = predicate_from_json(json_)
        except SpecError:  # the vector expects or permits a refusal
            continue
        if predicate_from_json(json.loads(json.dumps(predicate_to_json(read)))) != read:
            return False
    return True


def _without_catalogs(json_: Any) -> Any:
    """Return a predicate without the catalogs of its functions, which are then recognised by name only."""
    if isinstance(json_, list):
        return [_without_catalogs(one) for one in json_]
    if not isinstance(json_, dict):
        return json_
    if json_.keys() == {"catalog", "identifier"}:
        return json_["identifier"]
    return {name: _without_catalogs(one) for name, one in json_.items()}


# Random tables


def _reference() -> Any:
    from conformance.engines.reference import adapter as reference
    from conformance.runner.adapter_interface import InProcess

    return InProcess("reference", reference.implementation(), reference.operations(), reference.REFUSALS)


def equivalence() -> dict[str, Check]:
    """Return the checks of filter pushdown, as ``iceberg-conformance filter-pushdown`` runs them."""
    from conformance.properties.filter_pushdown import judge_case
    from conformance.properties.tables import write_table
    from tools.mutants.seeded_examples import make_case

    def holds(seed: int) -> bool:
        case = make_case(seed)
        with tempfile.TemporaryDirectory() as folder, force_fast_paths():
            metadata = write_table(case, Path(folder) / "table")
            return judge_case(case, metadata, _reference()) is None

    return {str(seed): partial(holds, seed) for seed in range(SEEDS["equivalence"])}


def metamorphic_properties() -> dict[str, Check]:
    """Return the checks of metamorphic properties, as ``iceberg-conformance metamorphic`` runs them."""
    from conformance.properties.metamorphic import try_property
    from conformance.properties.metamorphic_properties import PROPERTIES
    from tools.mutants.seeded_examples import make_property_script

    def holds(name: str, seed: int) -> bool:
        script = make_property_script(PROPERTIES[name], seed)
        return script is None or not try_property(PROPERTIES[name], script, _reference(), _reference())

    return {f"{name} {seed}": partial(holds, name, seed) for name in PROPERTIES for seed in range(SEEDS["metamorphic"])}


def written() -> dict[str, Check]:
    """Return the checks of random scripts: every table is valid, at every level and in every snapshot."""
    from conformance.operations.protocol import Unsupported
    from conformance.properties.scenario_tables import ScriptedTable, write_script
    from conformance.properties.script_maker import Size
    from conformance.properties.scripts import make_script
    from conformance.validator.context import Level
    from conformance.validator.local import LocalBackend
    from conformance.validator.run import SnapshotSelection, validate
    from spec_ref.checks.findings import Severity

    def valid(seed: int) -> bool:
        with tempfile.TemporaryDirectory() as folder:
            table = write_script(_reference(), make_script(seed, size=Size()), Path(folder) / "table")
            if isinstance(table, Unsupported):
                return True
            if not isinstance(table, ScriptedTable):
                return False
            report = validate(table.metadata, Level.ROWS, LocalBackend(), SnapshotSelection("all"))
            return not any(one.severity is Severity.ERROR for one in report.findings)

    return {str(seed): partial(valid, seed) for seed in range(SEEDS["written"])}
