"""Answers about manifests and manifest lists are compared by content."""

from __future__ import annotations

import copy
import io
import json

import fastavro
import pytest

from conformance.engines.reference.adapter import operations
from conformance.operations.comparison import Undecodable
from conformance.operations.protocol import message_violation
from conformance.operations.registry import OPERATIONS
from spec_ref.core.errors import SpecError
from tools.derive import avro
from tools.derive.cases import manifests
from tools.derive.manifests import entry, manifest

VECTORS = [(file.operation, one) for file in manifests.files() for one in file.vectors]
BY_ID = {one.id: (name, one) for name, one in VECTORS}


def differences(name: str, answer: object) -> list[str]:
    """Return the places where the answer to a vector differs from the expected one."""
    operation, one = BY_ID[name]
    return [difference.path for difference in OPERATIONS[operation].compare(one.args, one.expect["ok"], answer)]


def expected(name: str) -> object:
    return copy.deepcopy(BY_ID[name][1].expect["ok"])


@pytest.mark.parametrize("operation", sorted({name for name, _ in VECTORS}))
def test_arguments_and_answers_have_the_form_of_the_protocol(operation: str) -> None:
    asked = [one for name, one in VECTORS if name == operation]
    assert asked
    for one in asked:
        assert message_violation(f"{operation}.args", one.args) is None, one.id
        for outcome in one.expect.get("any_of", [one.expect]):
            if "ok" in outcome:
                assert OPERATIONS[operation].answer_violation(outcome["ok"]) is None, one.id


def test_a_file_has_a_fault_unless_its_id_says_that_it_is_valid() -> None:
    for operation in ("manifest.check", "manifest-list.check"):
        answers = {one.id: one.expect["ok"] for name, one in VECTORS if name == operation}
        assert [id_ for id_, codes in answers.items() if len(codes) != ("valid" not in id_.split("-"))] == []


def test_null_absent_and_empty_are_the_same() -> None:
    answer = expected("manifest-read-v2")
    for one in answer["entries"]:
        one["data_file"] |= {
            "referenced_data_file": None,
            "equality_ids": [],
            "key_metadata": one["data_file"].get("key_metadata"),
        }
        one["data_file"].setdefault("nan_value_counts", {})
        one["sequence_number"] = int(one["sequence_number"])
    assert differences("manifest-read-v2", answer) == []
    answer["header"] = {"format_version": 1, "content": 1, "partition_spec_id": 9}
    assert differences("manifest-read-v2", answer) == []


def test_an_empty_bound_is_a_value() -> None:
    answer = expected("manifest-read-v2")
    answer["entries"][0]["data_file"]["lower_bounds"]["2"] = ""
    assert differences("manifest-read-v2", answer) == ["/entries/0/data_file/lower_bounds/2"]


def test_hexadecimal_has_either_case() -> None:
    answer = expected("manifest-read-v2")
    file = answer["entries"][0]["data_file"]
    file["lower_bounds"] = {key: value.lower() for key, value in file["lower_bounds"].items()}
    assert differences("manifest-read-v2", answer) == []


def test_the_header_is_compared_where_it_is_asked_for() -> None:
    answer = expected("manifest-read-v2-header")
    answer["header"]["content"] = 1
    assert differences("manifest-read-v2-header", answer) == ["/header/content"]


def test_partition_values_are_compared_as_values() -> None:
    answer = expected("manifest-read-partition-decimal-9-2")
    answer["entries"][0]["data_file"]["partition"]["1000"] = "14.2"
    assert differences("manifest-read-partition-decimal-9-2", answer) == ["/entries/0/data_file/partition/1000"]
    answer = expected("manifest-read-partition-long")
    answer["entries"][0]["data_file"]["partition"]["1000"] = 0
    assert differences("manifest-read-partition-long", answer) == []
    answer = expected("manifest-read-partition-double")
    answer["entries"][0]["data_file"]["partition"]["1000"] = 0.0
    assert differences("manifest-read-partition-double", answer) == ["/entries/0/data_file/partition/1000"]


def written(rows: list, **more: object) -> str:
    return manifest(2, rows, columns=None, **more).hex()


def test_a_written_manifest_may_have_another_codec_and_inherit_or_name_its_snapshot() -> None:
    rows = [entry(1)]
    for codec in ("deflate", "snappy", "zstandard"):
        assert differences("manifest-write-v2", written(rows, codec=codec)) == []
    assert differences("manifest-write-v2", written([entry(1, file={"sort_order_id": 0})])) == []
    assert differences("manifest-write-v2", written([entry(1, file={"sort_order_id": 1})]))
    assert differences("manifest-write-v2", written([entry(2)]))
    assert differences("manifest-write-v2", written([])) == ["/entries/0"]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "MAN001"),
        (manifest(2, [entry(1)], columns=None, metadata={"content": None}), "MAN010"),
        (manifest(2, [entry(1, file={"content": 1})], columns=None), "MAN002"),
        (manifest(2, [entry(1, file={"record_count": -1})], columns=None), "DFL005"),
    ],
)
def test_a_written_manifest_keeps_the_rules_of_writers(data: bytes, code: str) -> None:
    with pytest.raises(Undecodable, match=code):
        differences("manifest-write-v2", data.hex())


def test_the_types_of_all_columns_count_where_they_are_asked_for() -> None:
    def longs(schema: dict) -> None:
        fields = schema["fields"][-1]["type"]["fields"]
        next(one for one in fields if one["field-id"] == 135)["type"][1]["items"] = "long"

    assert differences("manifest-write-zero", written([BY_ROW["zero"]], change=longs)) == []
    with pytest.raises(Undecodable, match="DFL020"):
        differences("manifest-write-v2", written([entry(1)], change=longs))


BY_ROW = {"zero": entry(1, 0, snapshot_id=9007199254740993, sequence_number=0, file_sequence_number=0)}


def test_manifests_without_what_every_version_requires_are_refused() -> None:
    args = dict(BY_ID["manifest-list-write-v2"][1].args)
    args["manifests"] = [{"manifest_path": "s3://b/m.avro"}]
    with pytest.raises(SpecError, match="MLS004"):
        operations()["manifest-list.write"](args)


@pytest.mark.parametrize("codec", avro.CODECS)
def test_another_reader_of_avro_reads_what_the_vectors_are_made_of(codec: str) -> None:
    rows = [entry(number, file={"value_counts": [{"key": 1, "value": 10}]}) for number in range(3)]
    data = manifest(2, rows, columns=None, codec=codec, split=2)
    reader = fastavro.reader(io.BytesIO(data))
    found = list(reader)
    assert [one["data_file"]["file_path"] for one in found] == [row["data_file"]["file_path"] for row in rows]
    assert found[0]["data_file"]["value_counts"] == [{"key": 1, "value": 10}]
    assert json.loads(reader.metadata["schema"])["fields"][0]["name"] == "id"


@pytest.mark.parametrize(("number", "encoded"), [(0, "00"), (-1, "01"), (1, "02"), (-64, "7f"), (64, "8001")])
def test_numbers_of_the_avro_specification(number: int, encoded: str) -> None:
    assert avro.long(number).hex() == encoded


@pytest.mark.parametrize("number", [0, -1, 1 << 31, (1 << 63) - 1, -(1 << 63)])
def test_another_reader_of_avro_reads_numbers(number: int) -> None:
    assert fastavro.schemaless_reader(io.BytesIO(avro.long(number)), "long", None) == number
