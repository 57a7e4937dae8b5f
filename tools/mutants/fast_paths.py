"""Vectors answered by the fast paths of the reference: kernels, vectorized decoding, and random tables.

A vector has one value, one row or a few entries, for which the reference uses its plain code; its fast paths process
many at once. Here the values of vectors become rows of a column or entries of a large manifest, and the thresholds of
the fast paths are 0. The expected answer is that of the vector. Metamorphic properties and filter pushdown are checked
with a few seeds, as the tool does for engines.
"""

from __future__ import annotations

import contextlib
import importlib
import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

Check = Callable[[], bool]
Rows = Mapping[str, tuple[str, dict[str, Any], dict[str, Any]]]
"""For each vector its file, the common members of the file, and the vector."""

COPIES = 3
"""The number of repetitions of the vectors' values in a column, so that each has every other value as a neighbour."""

OTHER = 9_000
"""The id of a column whose metrics no predicate uses."""

FILES = 40
"""The number of manifest entries for the metrics of one vector."""

THRESHOLDS = {
    "spec_ref.columnar.encodings.avro.batches": {"FEW_OBJECTS": 0, "LOCKSTEP_WIDTH": 1},
    "spec_ref.columnar.encodings.avro.vectorized": {"LONG_LIST": 1, "MIN_VECTORIZED": 1},
    "spec_ref.columnar.murmur3_vectorized": {"MIN_VECTORIZED": 0},
}
"""By module, the thresholds below which it does not use its fast path."""

UNEVEN = {"spec_ref.columnar.murmur3_vectorized": {"MIN_VECTORIZED": 0, "IDLE_BLOCKS": -1}}
"""The settings that hash all values as values of very different lengths."""

MANIFEST_OPERATIONS = ("manifest.read", "manifest.check", "manifest-list.read", "scan.plan", "commit.replay")
"""Operations that read manifests."""


@contextlib.contextmanager
def force_fast_paths(thresholds: Mapping[str, Mapping[str, int]] = THRESHOLDS) -> Iterator[None]:
    """Lower the thresholds during the block, so that the fast paths are used for any number of values."""
    kept = []
    for name, values in thresholds.items():
        module = importlib.import_module(name)
        for attribute, value in values.items():
            kept.append((module, attribute, getattr(module, attribute)))
            setattr(module, attribute, value)
    try:
        yield
    finally:
        for module, attribute, value in kept:
            setattr(module, attribute, value)


def vectorized(rows: Rows, right: Callable[[str], bool], corruptions: Mapping[str, Check]) -> dict[str, Check]:
    """Return the checks of vectors and corruptions with vectorized decoding of every manifest."""

    def vector(name: str) -> bool:
        with force_fast_paths():
            return right(name)

    def corruption(check: Check) -> bool:
        with force_fast_paths():
            return check()

    checks: dict[str, Check] = {
        name: partial(vector, name)
        for name, (_, content, _) in rows.items()
        if content["operation"] in MANIFEST_OPERATIONS
    }
    return checks | {f"corruption {name}": partial(corruption, one) for name, one in corruptions.items()}


# Columns


def _is_answered(row: Mapping[str, Any]) -> bool:
    return "ok" in row["expect"]


def columnar(rows: Rows) -> dict[str, Check]:
    """Combine vectors with the same type, transform, schema or predicate into columns, named after the first vector."""
    makers: dict[str, tuple[Callable[[str, Cases], bool], ...]] = {
        "hash": (_kernel,),
        "transform": (_kernel, _constant),
        "single-value.encode": (_kernel,),
        "expression.evaluate": (_evaluated, _partitioned, _in_sql),
        "metrics.evaluate": (_judged,),
    }
    groups: dict[str, list[str]] = {}
    for name, (_, content, row) in rows.items():
        operation = content["operation"]
        if operation in makers and _is_answered(row):
            args = row["args"]
            alike = {key: args[key] for key in ("type", "transform", "schema", "predicate", "kind") if key in args}
            groups.setdefault(json.dumps([operation, alike], sort_keys=True), []).append(name)
    checks: dict[str, Check] = {}
    for group, names in groups.items():
        cases = [(rows[name][2]["args"], rows[name][2]["expect"]["ok"]) for name in names]
        operation = json.loads(group)[0]
        for number, maker in enumerate(makers[operation]):
            checks[f"{names[0]} {maker.__name__.strip('_')}" if number else names[0]] = partial(maker, operation, cases)
    return checks | {
        f"bounds {type_}": lambda type_=type_, some=some: _suspected(type_, some)
        for type_, some in _bounds(rows).items()
    }


Cases = list[tuple[dict[str, Any], Any]]


def _kernel(operation: str, cases: Cases) -> bool:
    """Check values as a column of the kernels that Spark's workers run."""
    from conformance.engines.spark_reference.kernels import answer_questions
    from conformance.operations.registry import OPERATIONS

    questions = [{"op": operation, "args": args} for args, _ in cases] * COPIES
    answers = []
    for thresholds in (THRESHOLDS, UNEVEN):
        with force_fast_paths(thresholds):
            answers += answer_questions(questions)
    compare = OPERATIONS[operation].compare
    return all(
        "ok" in answer and not compare(args, expected, answer["ok"])
        for answer, (args, expected) in zip(answers, cases * COPIES * 2, strict=True)
    )


def _schema(args: Mapping[str, Any]) -> Any:
    from spec_ref.core.versions import V3
    from spec_ref.json.reading import reader
    from spec_ref.schemas.schema import SCHEMA

    return reader(SCHEMA, V3, "JSC006")(args["schema"])


def _predicate(args: Mapping[str, Any], schema: Any) -> Any:
    from spec_ref.expressions.binding import bind
    from spec_ref.expressions.expression_json import predicate_from_json

    return bind(predicate_from_json(args["predicate"]), schema)


def _evaluated(_operation: str, cases: Cases) -> bool:
    """Check rows as an Arrow table, in one batch and in several."""
    import pyarrow as pa

    from conformance.operations.wire import from_exchange
    from spec_ref.columnar.expressions.evaluation import evaluate_array
    from spec_ref.columnar.schemas.column_projection import arrow_values

    schema = _schema(cases[0][0])
    predicate = _predicate(cases[0][0], schema)
    values = [from_exchange(schema.as_struct(), args["row"]) for args, _ in cases] * COPIES
    columns = [arrow_values(field.type, [row.get(field.id) for row in values]) for field in schema.fields]
    table = pa.table(columns, names=[field.name for field in schema.fields])
    expected = [bool(answer) for _, answer in cases] * COPIES
    whole = evaluate_array(predicate, table).to_pylist()
    parted = evaluate_array(predicate, pa.concat_tables([table.slice(0, 1), table.slice(1)])).to_pylist()
    nothing: list[Any] = evaluate_array(predicate, table.slice(0, 0)).to_pylist()
    return whole == expected and parted == expected and nothing == []


def _constant(_operation: str, cases: Cases) -> bool:
    """Check results in a partition tuple: only those of identity are values of the column (PRJ002)."""
    from conformance.operations.wire import from_exchange
    from spec_ref.partitioning.spec import PartitionField, PartitionSpec, identity_values
    from spec_ref.partitioning.transforms import Identity, parse_transform
    from spec_ref.schemas.type_json import type_from_json

    transform = parse_transform(cases[0][0]["transform"])
    result = transform.result_type(type_from_json(cases[0][0]["type"]))
    spec = PartitionSpec(3, (PartitionField(source_id=1, field_id=1000, name="p", transform=transform),))
    for _, answer in cases:
        value = from_exchange(result, answer)
        if identity_values(spec, {1000: value}) != ({1: value} if isinstance(transform, Identity) else {}):
            return False
    return True


def _partitioned(_operation: str, cases: Cases) -> bool:
    """Check pairs of rows as tuples of two identity fields: their residual filter has the same result."""
    import numpy as np

    from conformance.operations.wire import from_exchange
    from spec_ref.columnar.manifests.entry_columns import column_batches
    from spec_ref.columnar.scan_planning.partition_filter import PartitionFilter
    from spec_ref.core.versions import V3
    from spec_ref.data_types.types import is_primitive
    from spec_ref.expressions.bound import evaluate
    from spec_ref.expressions.predicates import And
    from spec_ref.manifest_lists.manifest_file import ManifestContent
    from spec_ref.manifests import read_manifest
    from spec_ref.manifests.writer import write_manifest
    from spec_ref.partitioning.spec import PartitionField, PartitionSpec
    from spec_ref.partitioning.transforms import Identity

    args = cases[0][0]
    fields = args["schema"]["fields"]
    if len(fields) != 1 or not is_primitive(_schema(args).fields[0].type) or _has_transformed_terms(args["predicate"]):
        return True
    other = {**fields[0], "id": 2, "name": "other"}
    schema = _schema({"schema": {**args["schema"], "fields": [fields[0], other]}})
    predicates = [
        _predicate({"predicate": one}, schema) for one in (args["predicate"], _rename_column(args["predicate"]))
    ]
    name = fields[0]["name"]
    spec = PartitionSpec(
        0,
        tuple(
            PartitionField(source_id=id_, field_id=1000 + id_, name=name, transform=Identity())
            for id_, name in ((fields[0]["id"], name), (2, "other"))
        ),
    )
    rows = [(from_exchange(_schema(args).as_struct(), one["row"])[fields[0]["id"]], answer) for one, answer in cases]
    pairs = [(one, two) for one in rows for two in rows]
    entries = [
        _entry(number, {1000 + fields[0]["id"]: one, 1002: two}) for number, ((one, _), (two, _)) in enumerate(pairs)
    ]
    data = write_manifest(entries, spec, schema, V3, ManifestContent.DATA)
    found = [False] * len(pairs)
    with force_fast_paths():
        for columns in column_batches(read_manifest(data, specs={0: spec})):
            places = np.arange(len(columns), dtype=np.intp)
            for left in PartitionFilter(And(*predicates), spec).selections(columns, places):
                for place in (left.rows + columns.first).tolist():
                    (one, _), (two, _) = pairs[place]
                    found[place] = evaluate(left.residual, {fields[0]["id"]: one, 2: two})
    return found == [one and two for (_, one), (_, two) in pairs]


def _has_transformed_terms(predicate: Any) -> bool:
    """Return whether a predicate has terms other than columns and constants."""
    return any(
        word in json.dumps(predicate) for word in ('"apply"', '"transform"', '"reference"', '"function"', '"id"')
    )


def _rename_column(predicate: Any) -> Any:
    """Replace the column in a predicate by ``other``."""
    if not isinstance(predicate, dict):
        return predicate
    return {
        key: "other" if key == "term" else _rename_column(value) if key in ("child", "left", "right") else value
        for key, value in predicate.items()
    }


def _in_sql(_operation: str, cases: Cases) -> bool:
    """Check comparisons with SQL's logic (EXP025): with null they are not true, and neither are their negations."""
    from conformance.operations.wire import from_exchange
    from spec_ref.expressions.binding import bind
    from spec_ref.expressions.bound import evaluate
    from spec_ref.expressions.expression_json import predicate_from_json
    from spec_ref.expressions.predicates import Not
    from spec_ref.expressions.rewrite_not import from_sql

    args, schema = cases[0][0], _schema(cases[0][0])
    json_ = args["predicate"]
    names = {field.name: field.id for field in schema.fields}
    if not isinstance(json_, dict) or json_.get("term") not in [*names] or not json_.keys() & {"value", "values"}:
        return True
    predicate = predicate_from_json(json_)
    column = names[json_["term"]]
    for one, answer in cases:
        row = from_exchange(schema.as_struct(), one["row"])
        for value, expected in ((row.get(column), bool(answer)), (None, False)):
            known = value is not None
            here = {**row, column: value}
            if evaluate(bind(from_sql(predicate), schema), here) is not (known and expected):
                return False
            if evaluate(bind(from_sql(Not(predicate)), schema), here) is not (known and not expected):
                return False
    return True


def _bounds(rows: Rows) -> dict[str, list[tuple[bytes, bool]]]:
    """Return, by primitive type, bytes that vectors decode as a bound, and whether they may be refused."""
    found: dict[str, list[tuple[bytes, bool]]] = {}
    for _, content, row in rows.values():
        type_ = row["args"].get("type")
        if content["operation"] in ("bound.decode", "single-value.decode") and isinstance(type_, str):
            expect = row["expect"]
            if "ok" in expect or "error" in expect:
                found.setdefault(type_, []).append((bytes.fromhex(row["args"]["bytes"]), "error" in expect))
    return found


def _suspected(type_: str, bounds: list[tuple[bytes, bool]]) -> bool:
    """Check that vectorized checks of many entries notice malformed bounds of a second column."""
    from spec_ref.columnar.manifests.entry_columns import column_batches
    from spec_ref.columnar.manifests.rules import suspect_entries
    from spec_ref.core.versions import V3
    from spec_ref.manifest_lists.manifest_file import ManifestContent
    from spec_ref.manifests import read_manifest
    from spec_ref.manifests.rules import EntryContext
    from spec_ref.manifests.writer import write_manifest
    from spec_ref.partitioning.spec import UNPARTITIONED
    from spec_ref.schemas.type_json import type_from_json

    fields = [{"id": 1, "name": "a", "type": "int", "required": False}]
    schema = _schema({"schema": {"type": "struct", "schema-id": 0, "fields": fields}})
    types = {1: schema.fields[0].type, 2: type_from_json(type_)}
    for attribute in ("lower_bounds", "upper_bounds"):
        entries = [_entry(number, {}, **{attribute: {1: bytes(4), 2: one}}) for number, (one, _) in enumerate(bounds)]
        data = write_manifest(entries, UNPARTITIONED, schema, V3, ManifestContent.DATA)
        found: set[int] = set()
        with force_fast_paths():
            for columns in column_batches(read_manifest(data)):
                places = suspect_entries(columns, EntryContext(V3, ManifestContent.DATA), types)
                found |= set((places + columns.first).tolist())
        if not found >= {number for number, (_, is_refused) in enumerate(bounds) if is_refused}:
            return False
    return True


def _entry(number: int, partition: Mapping[int, Any], **metrics: Any) -> Any:
    from spec_ref.manifests import DataFile, EntryStatus, FileContent, FileFormat, ManifestEntry

    data_file = DataFile(
        content=FileContent.DATA,
        file_path=f"file:/data/{number}.parquet",
        file_format=FileFormat.PARQUET,
        partition=partition,
        record_count=metrics.pop("record_count", 1),
        file_size_in_bytes=1,
        **metrics,
    )
    return ManifestEntry(status=EntryStatus.ADDED, snapshot_id=7, data_file=data_file)


def _judged(_operation: str, cases: Cases) -> bool:
    """Check metrics as entries of a manifest, which are evaluated together."""
    import numpy as np

    from spec_ref.columnar.expressions.metrics_evaluation import matching_files
    from spec_ref.columnar.manifests.entry_columns import column_batches
    from spec_ref.core.versions import V3
    from spec_ref.encodings.avro.container import CODECS
    from spec_ref.manifest_lists.manifest_file import ManifestContent
    from spec_ref.manifests import read_manifest
    from spec_ref.manifests.writer import write_manifest
    from spec_ref.partitioning.spec import UNPARTITIONED
    from spec_ref.schemas.schema import Schema

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
        others: dict[str, Any] = {name: {OTHER: b"x" if "bounds" in name else 1} for name in maps}
        # The entries of a map are unordered.
        maps = {name: {**maps[name], **others[name]} if number % 2 else {**others[name], **maps[name]} for name in maps}
        return _entry(number, {}, record_count=int(metrics["record_count"]), **maps)

    chosen = [cases[number % len(cases)] for number in range(max(FILES, len(cases)))]
    entries = [entry(args, number) for number, (args, _) in enumerate(chosen)]
    matching = [number for number, (_, expected) in enumerate(chosen) if expected]
    for codec in CODECS:
        data = write_manifest(entries, UNPARTITIONED, schema, V3, ManifestContent.DATA, codec=codec)
        found: list[int] = []
        with force_fast_paths():
            for columns in column_batches(read_manifest(data)):
                places = np.arange(len(columns), dtype=np.intp)
                found += (matching_files(predicate, columns, places) + columns.first).tolist()
        if found != matching:
            return False
    return True
