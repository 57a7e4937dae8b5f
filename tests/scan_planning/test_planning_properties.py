"""Properties of planning, over random schemas, specs, rows, deletes and filters."""

from __future__ import annotations

from typing import Any

from expression_cases import draw_metrics, partition_row, predicates, rows, schemas, specs
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st
from planned_tables import Table, added, data_file, is_same, plain_plan

from spec_ref.core.errors import SpecError
from spec_ref.core.records import evolve
from spec_ref.expressions.binding import bind
from spec_ref.expressions.bound import evaluate
from spec_ref.expressions.predicates import TRUE
from spec_ref.manifests import EntryStatus, FileContent, FileFormat
from spec_ref.partitioning.spec import PartitionSpec
from spec_ref.partitioning.transforms import UnknownTransform

COUNTS = ("value_counts", "null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds")


@st.composite
def tables(draw: Any) -> Any:
    """A table of some files in manifests of two specs, with the rows and the partition of each file."""
    schema = draw(schemas())
    found = [draw(specs(schema).filter(_told)), draw(specs(schema).filter(_told))]
    table = Table(schema=schema, specs=tuple(PartitionSpec(number, spec.fields) for number, spec in enumerate(found)))
    held: dict[str, list[Any]] = {}
    partitions: dict[str, Any] = {}
    files = []
    for spec in table.specs * draw(st.integers(1, 2)):
        entries = []
        for _ in range(draw(st.integers(1, 4))):
            first = draw(rows(schema))
            partition = partition_row(spec, schema, first)
            if partition is None:
                continue
            others = draw(st.lists(rows(schema), max_size=3))
            mine = [first, *(row for row in others if repr(partition_row(spec, schema, row)) == repr(partition))]
            metrics = draw(draw_metrics(schema, mine))
            fields = {name: getattr(metrics, name) for name in COUNTS}
            file = data_file(f"d{len(held)}", partition=partition, record_count=len(mine), **fields)
            held[file.file_path], partitions[file.file_path] = mine, partition
            entry = added(file, draw(st.sampled_from([None, 3, 5, 7])))
            if draw(st.integers(0, 5)) == 0:
                entry = evolve(
                    entry, status=EntryStatus.DELETED, snapshot_id=7, sequence_number=3, file_sequence_number=3
                )
                held.pop(file.file_path)
            entries.append(entry)
            files.append((file, spec))
        if entries:
            table.manifest(entries, spec)
    assume(files)
    vectors: set[str] = set()
    for spec in table.specs:
        entries = []
        for _ in range(draw(st.integers(0, 4))):
            file, owner = draw(st.sampled_from(files))
            partition = file.partition if owner == spec else dict.fromkeys((f.field_id for f in spec.fields), None)
            kind = draw(st.sampled_from(["position", "file", "vector", "equality"]))
            if kind == "vector" and file.file_path in vectors:
                continue
            vectors |= {file.file_path} if kind == "vector" else set()
            changes: dict[str, Any] = {
                "position": {},
                "file": {"referenced_data_file": file.file_path},
                "vector": {
                    "referenced_data_file": file.file_path,
                    "file_format": FileFormat.PUFFIN,
                    "content_offset": 4,
                    "content_size_in_bytes": 40,
                },
                "equality": {"content": FileContent.EQUALITY_DELETES, "equality_ids": (1,)},
            }[kind]
            fields = {"content": FileContent.POSITION_DELETES, "partition": partition, **changes}
            delete = data_file(f"x{spec.spec_id}-{len(entries)}", **fields)
            partitions[delete.file_path] = partition
            entries.append(added(delete, draw(st.sampled_from([None, 3, 5, 7]))))
        if entries:
            table.deletes(entries, spec)
    return table, held, partitions


def _told(spec: PartitionSpec) -> bool:
    """Whether our writer can write its partitions: it does not know the type of unknown transforms."""
    return not any(isinstance(field.transform, UnknownTransform) for field in spec.fields)


def _matches(predicate: Any, row: Any) -> bool | None:
    try:
        return evaluate(predicate, row)
    except SpecError:
        return None


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_planning_leaves_out_no_row_and_says_what_the_plain_rules_say(data: Any) -> None:
    table, held, partitions = data.draw(tables())
    predicate = data.draw(predicates(table.schema))
    bound = bind(predicate, table.schema)
    everything = {task.data_file.file_path: task for task in table.plan()}
    tasks = {task.data_file.file_path: task for task in table.plan(predicate)}
    assert everything.keys() == held.keys()
    assert tasks.keys() <= everything.keys()
    event(f"{len(tasks)} of {len(everything)} files")
    for path, mine in held.items():
        for row in mine:
            matches = _matches(bound, row)
            if matches is None:
                continue
            assert path in tasks or not matches
            assert path not in tasks or evaluate(tasks[path].residual, row) == matches
    plain = plain_plan(table, predicate, partitions)
    assert tasks.keys() == plain.keys()
    for path, task in tasks.items():
        names = {delete.data_file.file_path for delete in task.deletes}
        assert names <= plain[path]
    whole = {task.data_file.file_path: task for task in table.plan(predicate, all_deletes=True)}
    assert is_same(whole, {path: evolve(task, deletes=everything[path].deletes) for path, task in tasks.items()})
    for path, names in plain_plan(table, TRUE, partitions).items():
        assert {delete.data_file.file_path for delete in everything[path].deletes} == names
