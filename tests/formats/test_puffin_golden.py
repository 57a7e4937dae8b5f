"""Puffin files that Iceberg-Java wrote: deletion vectors, and sketches of a table's columns."""

import datetime
import json
import struct
from decimal import Decimal
from pathlib import Path

import pytest
from attrs import evolve

from spec_ref.core.versions import V3
from spec_ref.deletes.deletion_vector import decode_deletion_vector
from spec_ref.encodings.puffin.file import read_puffin
from spec_ref.json.reading import record_reader
from spec_ref.schemas.type_json import type_from_json
from spec_ref.single_value.binary import to_binary
from spec_ref.statistics.puffin_checks import check_puffin, check_reference
from spec_ref.statistics.table import check_statistics_file
from spec_ref.statistics.theta import build_sketch, decode_theta, encode_theta
from spec_ref.table_metadata.statistics import STATISTICS_FILE

GOLDEN = Path(__file__).parents[2] / "vectors" / "golden" / "puffin"
INDEX = json.loads((GOLDEN / "index.json").read_text())

# The rows that each statement deletes; a row's id is its position.
DELETED = {
    "dv-few.puffin": [1, 3, 5, 7, 9],
    "dv-run.puffin": list(range(1000, 7000)),
    "dv-every-second.puffin": list(range(0, 20_000, 2)),
    "dv-two-containers.puffin": [0, 65535, 65536, 69999],
    "dv-two-data-files.puffin": [7, 57],
}


@pytest.mark.parametrize("case", INDEX["deletion-vectors"], ids=lambda case: case["file"])
def test_deletion_vectors_hold_the_deleted_rows(case):
    data = (GOLDEN / case["file"]).read_bytes()
    assert list(check_puffin(data)) == []
    puffin = read_puffin(data)
    assert "Iceberg" in puffin.properties["created-by"]
    entries = {entry["referenced_data_file"]: entry for entry in case["entries"]}
    assert len(puffin.blobs) == len(entries) == len(case["rows"])
    for blob in puffin.blobs:
        entry = entries[blob.properties["referenced-data-file"]]
        assert (blob.offset, blob.length) == (entry["content_offset"], entry["content_size_in_bytes"])
        assert len(data) == entry["file_size_in_bytes"]
        vector = decode_deletion_vector(puffin.blob_bytes(blob))
        assert vector.positions() == DELETED[case["file"]]
        assert vector.cardinality == entry["record_count"] == int(blob.properties["cardinality"])


# The values of each column, from the SELECT of the statement.
ROWS = range(100)
EPOCH_DAY = datetime.date(1969, 12, 1).toordinal() - datetime.date(1970, 1, 1).toordinal()
COLUMNS = {
    "b": [True, False],
    "i": [number - 50 for number in ROWS],
    "l": [number * 1000000007 for number in ROWS],
    "f": [number / 4 for number in ROWS],
    "d": [number / 8 for number in ROWS],
    "dt": [EPOCH_DAY + number for number in ROWS],
    "ts": [number * 1234567 - 50000000 for number in ROWS],
    "tn": [number * 1234567 - 50000000 for number in ROWS],
    "s": [f"value {number}" for number in ROWS],
    "bin": [f"bin {number}".encode() for number in ROWS],
    "d9": [Decimal(number - 50).quantize(Decimal("0.01")) for number in ROWS],
    "d18": [Decimal(number * 10000000000) for number in ROWS],
    "few": [0, 1, 2],
}
STATISTICS = (GOLDEN / "statistics.stats").read_bytes()


def sketches():
    puffin = read_puffin(STATISTICS)
    names = {field["id"]: field for field in INDEX["statistics"]["schema"]["fields"]}
    for blob in puffin.blobs:
        (field_id,) = blob.fields
        yield names[field_id]["name"], names[field_id]["type"], blob, decode_theta(puffin.blob_bytes(blob))


def test_a_statistics_file_has_no_findings_and_the_sizes_that_table_metadata_reports():
    assert list(check_puffin(STATISTICS)) == []
    statistics = INDEX["statistics"]["statistics"]
    puffin = read_puffin(STATISTICS)
    assert (len(STATISTICS), puffin.footer_size) == (
        statistics["file-size-in-bytes"],
        statistics["file-footer-size-in-bytes"],
    )
    assert [(blob.type, list(blob.fields), blob.snapshot_id, dict(blob.properties)) for blob in puffin.blobs] == [
        (blob["type"], blob["fields"], blob["snapshot-id"], blob["properties"]) for blob in statistics["blob-metadata"]
    ]
    assert {blob.compression_codec for blob in puffin.blobs} == {"zstd"}


@pytest.mark.parametrize(
    ("name", "type_", "blob", "sketch"), list(sketches()), ids=lambda item: item if isinstance(item, str) else ""
)
def test_sketches_are_of_the_binary_single_values_of_the_rows(name, type_, blob, sketch):
    if name not in COLUMNS:
        assert len(sketch.hashes) == int(blob.properties["ndv"]) == 100
        return
    listed = [to_binary(type_from_json(type_), value) for value in COLUMNS[name]]
    assert sketch == build_sketch(listed)
    assert blob.properties["ndv"] == str(len(set(listed)))


def test_sketches_are_written_as_the_library_writes_them_but_for_a_sampling_rate():
    for *_, blob, sketch in sketches():
        theirs = read_puffin(STATISTICS).blob_bytes(blob)
        ours = encode_theta(sketch)
        assert struct.unpack_from("<6BHI", ours) == struct.unpack_from("<6BHI", theirs)
        assert ours[16:] == theirs[16:]


def reference(entry, **changes):
    names = {"offset": "content_offset", "length": "content_size_in_bytes"}
    given = {
        name: entry[names.get(name, name)] for name in ("offset", "length", "referenced_data_file", "record_count")
    }
    return {**given, **changes}


def test_entries_are_held_to_the_blob_that_they_name():
    case = next(case for case in INDEX["deletion-vectors"] if case["file"] == "dv-two-data-files.puffin")
    puffin = read_puffin((GOLDEN / case["file"]).read_bytes())
    first, second = case["entries"]
    for entry in (first, second):
        assert list(check_reference(puffin, **reference(entry))) == []
    swapped = reference(first, referenced_data_file=second["referenced_data_file"])
    assert [one.requirement for one in check_reference(puffin, **swapped)] == ["PUF021"]
    blobs = [evolve(one, properties={"cardinality": one.properties["cardinality"]}) for one in puffin.blobs]
    (missing,) = check_reference(evolve(puffin, metadata=evolve(puffin.metadata, blobs=blobs)), **reference(first))
    assert (missing.requirement, missing.expected) == ("PUF021", "none, as the blob has no referenced-data-file")
    for changes, code in (({"offset": 5}, "DFL024"), ({"length": 43}, "DFL025"), ({"record_count": 3}, "DFL005")):
        assert [one.requirement for one in check_reference(puffin, **reference(first, **changes))] == [code]


def statistics_entry(**changes):
    document = {**INDEX["statistics"]["statistics"], **changes}
    return record_reader(STATISTICS_FILE, V3)(document)


def test_a_statistics_file_is_held_to_its_entry_in_table_metadata():
    assert list(check_statistics_file(statistics_entry(), STATISTICS)) == []
    blob = INDEX["statistics"]["statistics"]["blob-metadata"][0]
    wrong = [
        ({"file-size-in-bytes": 1}, "STA003", "/file-size-in-bytes"),
        ({"file-footer-size-in-bytes": 2747}, "STA004", "/file-footer-size-in-bytes"),
        ({"blob-metadata": [blob, {**blob, "fields": [99]}]}, "STA006", "/blob-metadata/1"),
        ({"blob-metadata": [{**blob, "properties": {"ndv": "3"}}]}, "STA006", "/blob-metadata/0"),
    ]
    for changes, code, path in wrong:
        found = [(one.requirement, one.path) for one in check_statistics_file(statistics_entry(**changes), STATISTICS)]
        assert found == [(code, path)]
    assert (
        list(check_statistics_file(statistics_entry(**{"blob-metadata": [{**blob, "properties": {}}]}), STATISTICS))
        == []
    )
    cut = [one.requirement for one in check_statistics_file(statistics_entry(), STATISTICS[:-1])]
    assert cut == ["STA034", "STA003"]
