"""The same questions by the other ways that the reference has to answer them: columns, lanes, and tables at random.

Vectors ask for one value, one row or a few entries, for which the reference takes its plain ways. Where many come
together it takes others, and here vectors are made to take those: as rows of a column, as entries of a manifest of
many, and with every threshold below which a fast way is not taken put to nothing. What is expected is what the vector
expects. Laws and scan equivalence are held for some seeds, as the tool holds engines to them.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

Check = Callable[[], bool]
Rows = Mapping[str, tuple[str, dict[str, Any], dict[str, Any]]]
"""Of each vector: its file, what all vectors of the file have, and itself."""

COPIES = 3
"""So often the values of the vectors stand in a column, so that each has every other as a neighbour."""

FILES = 40
"""So many entries a manifest gets from the metrics of one vector."""

THRESHOLDS = {
    "spec_ref.formats.avro_batches": {"FEW_OBJECTS": 0, "LOCKSTEP_LANES": 1},
    "spec_ref.formats.avro_lanes": {"LONG_LIST": 1, "FEW_LANES": 1},
    "spec_ref.hash_lanes": {"FEW_LANES": 0},
}
"""By module: what keeps the fast ways from few values."""

LANED = ("manifest.read", "manifest.check", "manifest-list.read", "scan.plan", "commit.replay")
"""Operations that read manifests."""

SEEDS = {"equivalence": 200, "law": 12, "written": 60}


@contextlib.contextmanager
def eager() -> Iterator[None]:
    """Fast ways are taken for whatever little there is."""
    kept = []
    for name, values in THRESHOLDS.items():
        module = importlib.import_module(name)
        for attribute, value in values.items():
            kept.append((module, attribute, getattr(module, attribute)))
            setattr(module, attribute, value)
    try:
        yield
    finally:
        for module, attribute, value in kept:
            setattr(module, attribute, value)


def lanes(rows: Rows, right: Callable[[str], bool], corruptions: Mapping[str, Check]) -> dict[str, Check]:
    """Vectors and corruptions whose manifests are decoded in lanes, however few entries they have."""

    def vector(name: str) -> bool:
        with eager():
            return right(name)

    def corruption(check: Check) -> bool:
        with eager():
            return check()

    checks: dict[str, Check] = {
        name: lambda name=name: vector(name)  # type: ignore[misc]
        for name, (_, content, _) in rows.items()
        if content["operation"] in LANED
    }
    return checks | {f"corruption {name}": lambda one=one: corruption(one) for name, one in corruptions.items()}  # type: ignore[misc]


# Columns


def _known(row: Mapping[str, Any]) -> bool:
    return "ok" in row["expect"]


def columnar(rows: Rows) -> dict[str, Check]:
    """Vectors of one type, transform, schema or predicate together as a column, by the name of the first."""
    makers = {
        "hash": _kernel,
        "transform": _kernel,
        "single-value.encode": _kernel,
        "expression.evaluate": _evaluated,
        "metrics.evaluate": _judged,
    }
    groups: dict[str, list[str]] = {}
    for name, (_, content, row) in rows.items():
        operation = content["operation"]
        if operation in makers and _known(row):
            args = row["args"]
            alike = {key: args[key] for key in ("type", "transform", "schema", "predicate", "kind") if key in args}
            groups.setdefault(json.dumps([operation, alike], sort_keys=True), []).append(name)
    checks: dict[str, Check] = {}
    for group, names in groups.items():
        maker = makers[json.loads(group)[0]]
        cases = [(rows[name][2]["args"], rows[name][2]["expect"]["ok"]) for name in names]
        operation = json.loads(group)[0]
        checks[names[0]] = (
            lambda maker=maker, operation=operation, cases=cases: maker(operation, cases)  # type: ignore[misc]
        )
    return checks


Cases = list[tuple[dict[str, Any], Any]]


def _kernel(operation: str, cases: Cases) -> bool:
    """Values as a column of the kernels, which are those that Spark's workers ask."""
    from conformance.adapters.spark_kernels import answer_questions
    from conformance.operations import OPERATIONS

    questions = [{"op": operation, "args": args} for args, _ in cases] * COPIES
    with eager():
        answers = answer_questions(questions)
    compare = OPERATIONS[operation].compare
    return all(
        "ok" in answer and not compare(args, expected, answer["ok"])
        for answer, (args, expected) in zip(answers, cases * COPIES, strict=True)
    )


def _schema(args: Mapping[str, Any]) -> Any:
    from spec_ref.json_records import reader
    from spec_ref.schemas.schema import SCHEMA
    from spec_ref.versions import V3

    return reader(SCHEMA, V3, "JSC006")(args["schema"])


def _predicate(args: Mapping[str, Any], schema: Any) -> Any:
    from spec_ref.expressions.binding import bind
    from spec_ref.expressions.expression_json import predicate_from_json

    return bind(predicate_from_json(args["predicate"]), schema)


def _evaluated(_operation: str, cases: Cases) -> bool:
    """Rows as an Arrow table, in one batch and in several."""
    import pyarrow as pa

    from conformance.exchange import from_exchange
    from spec_ref.expressions.columnar import evaluate_array
    from spec_ref.schemas.projection_columnar import arrow_values

    schema = _schema(cases[0][0])
    predicate = _predicate(cases[0][0], schema)
    values = [from_exchange(schema.as_struct(), args["row"]) for args, _ in cases] * COPIES
    columns = [arrow_values(field.type, [row.get(field.id) for row in values]) for field in schema.fields]
    table = pa.table(columns, names=[field.name for field in schema.fields])
    expected = [bool(answer) for _, answer in cases] * COPIES
    whole = evaluate_array(predicate, table).to_pylist()
    parted = evaluate_array(predicate, pa.concat_tables([table.slice(0, 1), table.slice(1)])).to_pylist()
    return whole == expected and parted == expected and evaluate_array(predicate, table.slice(0, 0)).to_pylist() == []


def _judged(_operation: str, cases: Cases) -> bool:
    """Metrics as those of entries of a manifest, which are judged all at once."""
    import numpy as np

    from spec_ref.expressions.metrics_columnar import matching_files
    from spec_ref.manifests import DataFile, EntryStatus, FileContent, FileFormat, ManifestEntry, read_manifest
    from spec_ref.manifests.columns import column_batches
    from spec_ref.manifests.writer import write_manifest
    from spec_ref.partitioning.spec import UNPARTITIONED
    from spec_ref.schemas.schema import Schema
    from spec_ref.snapshots.manifest_list import ManifestContent
    from spec_ref.versions import V3

    if cases[0][0]["kind"] != "inclusive":
        return True
    schema: Schema = _schema(cases[0][0])
    predicate = _predicate(cases[0][0], schema)

    def entry(args: Mapping[str, Any], number: int) -> Any:
        metrics = args["metrics"]
        maps: dict[str, Any] = {
            name: {int(key): int(count) for key, count in metrics[name].items()}
            for name in ("value_counts", "null_value_counts", "nan_value_counts")
            if name in metrics
        }
        maps |= {
            name: {int(key): bytes.fromhex(bound) for key, bound in metrics[name].items()}
            for name in ("lower_bounds", "upper_bounds")
            if name in metrics
        }
        data_file = DataFile(
            content=FileContent.DATA, file_path=f"file:/data/{number}.parquet", file_format=FileFormat.PARQUET,
            partition={}, record_count=int(metrics["record_count"]), file_size_in_bytes=1, **maps,
        )  # fmt: skip
        return ManifestEntry(status=EntryStatus.ADDED, snapshot_id=7, data_file=data_file)

    chosen = [cases[number % len(cases)] for number in range(max(FILES, len(cases)))]
    entries = [entry(args, number) for number, (args, _) in enumerate(chosen)]
    data = write_manifest(entries, UNPARTITIONED, schema, V3, ManifestContent.DATA)
    found: list[int] = []
    with eager():
        for columns in column_batches(read_manifest(data)):
            places = np.arange(len(columns), dtype=np.intp)
            found += (matching_files(predicate, columns, places) + columns.first).tolist()
    return found == [number for number, (_, expected) in enumerate(chosen) if expected]


# Forms


def forms(rows: Rows) -> dict[str, Check]:
    """Predicates of vectors, read, written and read again: what is written means what was read (Appendix B)."""
    found: dict[str, list[Any]] = {}
    for file, _, row in rows.values():
        args = row["args"]
        for name in ("predicate", "filter"):
            if name in args and "error" not in row["expect"]:
                found.setdefault(Path(file).stem, []).append(args[name])
    return {name: lambda some=some: _written_again(some) for name, some in found.items()}  # type: ignore[misc]


def _written_again(predicates: list[Any]) -> bool:
    from spec_ref.errors import SpecError
    from spec_ref.expressions.expression_json import predicate_from_json, predicate_to_json

    for json_ in predicates:
        try:
            read = predicate_from_json(json_)
        except SpecError:  # of a vector whose answer may be a refusal
            continue
        if predicate_from_json(json.loads(json.dumps(predicate_to_json(read)))) != read:
            return False
    return True


# Tables at random


def _reference() -> Any:
    from conformance.adapters import reference
    from conformance.adapters.asking import InProcess

    return InProcess("reference", reference.implementation(), reference.operations(), reference.REFUSALS)


def equivalence() -> dict[str, Check]:
    """Scan equivalence, as ``iceberg-conformance equivalence`` holds engines to it."""
    from conformance.equivalence import judge_case
    from conformance.generated_tables import make_case, write_table

    def holds(seed: int) -> bool:
        case = make_case(seed, frozenset())
        with tempfile.TemporaryDirectory() as folder, eager():
            metadata = write_table(case, Path(folder) / "table")
            return judge_case(case, metadata, _reference()) is None

    return {str(seed): lambda seed=seed: holds(seed) for seed in range(SEEDS["equivalence"])}  # type: ignore[misc]


def laws() -> dict[str, Check]:
    """Laws, as ``iceberg-conformance laws`` holds engines to them."""
    from conformance.laws.checking import make_lawful, tried
    from conformance.laws.lawbook import LAWS

    def holds(name: str, seed: int) -> bool:
        script = make_lawful(LAWS[name], seed)
        return script is None or not tried(LAWS[name], script, _reference(), _reference())

    return {
        f"{name} {seed}": lambda name=name, seed=seed: holds(name, seed)  # type: ignore[misc]
        for name in LAWS
        for seed in range(SEEDS["law"])
    }


def written() -> dict[str, Check]:
    """Tables of scripts at random: whatever the reference writes is valid, at every level and in every snapshot."""
    from conformance.generated_scripts import Size, make_script
    from conformance.protocol import Unsupported
    from conformance.scripted_tables import ScriptedTable, write_script
    from conformance.validate.context import Level
    from conformance.validate.local import Local
    from conformance.validate.run import Snapshots, validate
    from spec_ref.findings import Severity

    def valid(seed: int) -> bool:
        with tempfile.TemporaryDirectory() as folder:
            table = write_script(_reference(), make_script(seed, size=Size()), Path(folder) / "table")
            if isinstance(table, Unsupported):
                return True
            if not isinstance(table, ScriptedTable):
                return False
            report = validate(table.metadata, Level.ROWS, Local(), Snapshots("all"))
            return not any(one.severity is Severity.ERROR for one in report.findings)

    return {str(seed): lambda seed=seed: valid(seed) for seed in range(SEEDS["written"])}  # type: ignore[misc]
