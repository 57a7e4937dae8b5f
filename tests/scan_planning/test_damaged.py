"""Damaged manifests: planning refuses them with their name, or plans; it never fails otherwise."""

from __future__ import annotations

import random
import struct
from typing import Any

import numpy as np
import pytest
from planned_tables import LIST, Table, added, data_file

from spec_ref.columnar.manifests.batched_manifests import batched_columns
from spec_ref.columnar.scan_planning.planner import plan
from spec_ref.core.errors import SpecError
from spec_ref.encodings.avro.container import open_container, write_container
from spec_ref.expressions.predicates import TRUE, Comparison, Literal, NamedReference, Operation
from spec_ref.manifests import FileContent
from spec_ref.manifests.reader import read_manifest
from spec_ref.partitioning.spec import PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import Identity

SPEC = PartitionSpec(0, (PartitionField(source_id=1, field_id=1000, name="id", transform=Identity()),))
FILTERS = (
    TRUE,
    Comparison(Operation.EQ, NamedReference("id"), Literal(7)),
    Comparison(Operation.GT, NamedReference("name"), Literal("name-0020")),
)


def statistics(number: int, columns: int = 2) -> dict[str, Any]:
    ids = range(1, columns + 1)
    return {
        "value_counts": dict.fromkeys(ids, 10 + number),
        "null_value_counts": {column: number % column for column in ids},
        "lower_bounds": {column: struct.pack("<q", number * column) for column in ids if (number + column) % 5},
        "upper_bounds": {column: b"x" * (number % 100) + b"%d" % column for column in reversed(ids)},
    }


def table() -> Table:
    made = Table(specs=(SPEC,))
    for manifest in range(3):
        entries = []
        for place in range(30):
            bounds = {"lower_bounds": {1: struct.pack("<q", place), 2: b"name-%04d" % place}, "value_counts": {1: 1}}
            file = data_file(f"f{manifest}-{place}", partition={1000: place}, **bounds)
            entries.append(added(file, None if place % 2 else 3))
        made.manifest(entries, SPEC, first_row_id=100 * manifest)
    delete = {"content": FileContent.POSITION_DELETES}
    made.deletes([added(data_file(f"p{place}", partition={1000: place}, **delete), 5) for place in range(30)], SPEC)
    return made


def test_any_damage_is_a_refusal_with_a_name_or_another_plan() -> None:
    made, chance = table(), random.Random(20)
    snapshot, metadata, sound = made.snapshot, made.metadata, dict(made.files)
    outcomes = set()
    for _ in range(300):
        made.files = dict(sound)
        name = chance.choice([name for name in sound if name != LIST])
        container = open_container(sound[name], "MAN001")
        header = {key: value for key, value in container.metadata.items() if key != "avro.codec"}
        blocks = [(count, bytearray(payload)) for count, payload in container.payloads()]
        for _ in range(2):
            payload = chance.choice(blocks)[1]
            payload[chance.randrange(len(payload))] = chance.choice([0, 1, 2, 3, 0x7F, 0x80, 0xFF])
        plain = [(count, bytes(payload)) for count, payload in blocks]
        made.files[name] = write_container(header, plain, codec="null", sync=bytes(16))
        outcome, file = _outcome(made, metadata, snapshot, chance.choice(FILTERS))
        assert file == (None if outcome == "planned" else name)
        outcomes.add(outcome)
    assert {"planned", "MAN001"} < outcomes


def _outcome(made: Table, metadata: Any, snapshot: Any, predicate: Any) -> tuple[str, str | None]:
    try:
        list(plan(metadata, snapshot, predicate, made.read_file))
    except SpecError as error:
        return error.violation.requirement, error.violation.file
    return "planned", None


@pytest.mark.parametrize("columns", [1, 3, 70, 90])
@pytest.mark.parametrize("count", [3, 40, 90])
def test_a_column_that_is_looked_for_is_what_all_columns_decoded_have(columns: int, count: int) -> None:
    made = Table()
    for number in range(2):
        files = [data_file(f"{number}-{place}", **statistics(place, columns)) for place in range(count)]
        files += [data_file(f"{number}-none"), data_file(f"{number}-empty", lower_bounds={}, value_counts={})]
        made.manifest([added(file) for file in files])

    def batch() -> Any:
        manifests = [read_manifest(made.files[one.manifest_path], manifest_file=one) for one in made.listed]
        (joined,) = batched_columns(manifests)
        return joined

    looked, whole = batch(), batch().load()
    entries = batch().entries(range(len(whole)))
    some = np.arange(0, len(whole), 3)
    for column in {1, 2, columns, columns + 1}:
        for attribute in ("value_counts", "null_value_counts", "nan_value_counts"):
            expected = [(getattr(entry.data_file, attribute) or {}).get(column) for entry in entries]
            assert looked.counts(attribute, column).to_list() == whole.counts(attribute, column).to_list() == expected
            assert looked.counts(attribute, column, some).to_list() == expected[::3]
        for side in ("lower_bounds", "upper_bounds"):
            expected = [(getattr(entry.data_file, side) or {}).get(column) for entry in entries]
            assert getattr(looked, side)(column).to_bytes() == getattr(whole, side)(column).to_bytes() == expected
            assert getattr(looked, side)(column, some).to_bytes() == expected[::3]
