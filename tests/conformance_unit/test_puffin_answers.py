"""Answers about Puffin files and deletion vectors are compared by content."""

import pytest

from conformance.engines.reference.adapter import operations
from conformance.operations.comparison import Undecodable
from conformance.operations.protocol import message_violation
from conformance.operations.puffin.comparators import (
    compare_puffin_contents,
    compare_written_deletion_vectors,
    compare_written_puffin_files,
)
from conformance.operations.registry import OPERATIONS
from spec_ref.core.errors import SpecError
from spec_ref.deletes.deletion_vector import encode_deletion_vector
from spec_ref.encodings.puffin.file import Blob, write_puffin
from tools.derive.cases import deletion_vectors, puffin
from tools.derive.puffin import array, bitmap, bitset, runs, vector
from tools.derive.puffin import deletion_vector as framed

VECTORS = [
    (file.operation, one) for cases in (puffin, deletion_vectors) for file in cases.files() for one in file.vectors
]


@pytest.mark.parametrize(("name", "one"), VECTORS, ids=lambda item: getattr(item, "id", ""))
def test_arguments_and_answers_have_the_form_of_the_protocol(name, one):
    operation = OPERATIONS[name]
    assert message_violation(f"{operation.name}.args", one.args) is None
    for outcome in one.expect.get("any_of", [one.expect]):
        if "ok" in outcome:
            assert operation.answer_violation(outcome["ok"]) is None


def hexadecimal(data):
    return data.hex()


def test_vectors_of_other_containers_are_the_same():
    values = list(range(5000))
    one, other = (framed(vector([(0, bitmap([(0, kind)]))])) for kind in (bitset(values), runs([(0, 4999)])))
    assert compare_written_deletion_vectors({}, hexadecimal(one), hexadecimal(other).upper()) == ()
    (difference,) = compare_written_deletion_vectors(
        {}, hexadecimal(one), hexadecimal(encode_deletion_vector([*values, 5000]))
    )[:1]
    assert difference.path.startswith("/")


def test_a_vector_that_is_broken_is_no_answer():
    broken = framed(vector([(0, bitmap([(0, array([2, 1]))]))]))
    with pytest.raises(Undecodable, match="PUF019"):
        compare_written_deletion_vectors({}, hexadecimal(encode_deletion_vector([1, 2])), hexadecimal(broken))


BLOBS = [Blob("a", (1,), b"text" * 9, 1, 1, "zstd")]


def test_files_of_the_same_blobs_are_the_same_whatever_is_free():
    expected = hexadecimal(write_puffin(BLOBS))
    other = write_puffin(BLOBS, {"created-by": "tests"}, compress_footer=True)
    assert compare_written_puffin_files({}, expected, hexadecimal(other)) == ()
    assert compare_written_puffin_files({}, expected, hexadecimal(write_puffin(BLOBS, {"a": "b"})))
    assert compare_written_puffin_files({}, expected, hexadecimal(write_puffin([])))


def test_a_file_that_breaks_a_rule_of_writers_is_no_answer():
    expected = write_puffin(BLOBS)
    with pytest.raises(Undecodable, match="PUF00"):
        compare_written_puffin_files({}, hexadecimal(expected), hexadecimal(expected[:-1]))


def test_payloads_are_compared_without_regard_to_case():
    form = operations()["puffin.read"]({"bytes": hexadecimal(write_puffin(BLOBS))})
    lower = {**form, "blobs": [{**blob, "payload": blob["payload"].lower()} for blob in form["blobs"]]}
    assert compare_puffin_contents({}, form, lower) == ()


@pytest.mark.parametrize("ranges", [[["5", "4"]], [["0", str(1 << 63)]]])
def test_ranges_that_are_none_are_refused(ranges):
    with pytest.raises(SpecError, match="PUF020"):
        operations()["dv.encode"]({"ranges": ranges})
