"""Compare answers about Puffin files and deletion vectors.

Written files and vectors may differ in every byte that the spec leaves open: the order of members, how a codec
compresses, the kinds of containers. So they are read, and their contents are compared. Reading them needs numpy,
which is imported only when it is used, so that other runs start faster.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

from conformance.core.lazy_imports import lazy_imports
from conformance.operations.comparison import (
    MAX_DIFFERENCES,
    Comparator,
    Differences,
    Undecodable,
    compare_exact,
    json_differences,
)
from spec_ref.core.errors import SpecError
from spec_ref.requirements import RequirementLevel, register

with lazy_imports():
    from conformance.operations.puffin import wire
    from spec_ref.columnar.deletes import deletion_vector as columnar_vectors
    from spec_ref.encodings.puffin import file
    from spec_ref.statistics import puffin_checks, theta


Form = dict[str, Any]
"""The content of a file or a vector, as JSON."""


def _differences(expected: Any, got: Any) -> Differences:
    return tuple(islice(json_differences(expected, got), MAX_DIFFERENCES))


def compare_puffin_contents(_args: dict[str, Any], expected: Form, got: Form) -> Differences:
    """Compare the content of a file; hexadecimal digits of payloads may have either case."""
    return _differences(_upper(expected), _upper(got))


def _upper(form: Form) -> Form:
    blobs = [{**blob, "payload": blob["payload"].upper()} for blob in form["blobs"]]
    return {**form, "blobs": blobs}


def compare_written_puffin_files(_args: dict[str, Any], expected: str, got: str) -> Differences:
    """Check that a written file follows every rule that binds writers, and compare its blobs.

    The offsets of blobs and ``created-by`` are not compared.
    """
    return _differences(*_both(_written_file, expected, got))


def _written_file(data: bytes) -> Form:
    broken = [
        one for one in puffin_checks.check_puffin(data) if register()[one.requirement].level is RequirementLevel.MUST
    ]
    if broken:
        raise SpecError(broken[0])
    form = wire.file_form(file.read_puffin(data))
    for blob in form["blobs"]:
        del blob["offset"], blob["length"]
    form["properties"].pop("created-by", None)
    return form


def compare_written_deletion_vectors(_args: dict[str, Any], expected: str, got: str) -> Differences:
    """Check that a written deletion vector is well-formed, and compare its positions."""
    return _differences(*_both(_written_vector, expected, got))


def _written_vector(data: bytes) -> Form:
    vector = columnar_vectors.decode_deletion_vector(data)
    return wire.vector_form(vector, columnar_vectors.position_ranges(vector))


def compare_written_sketches(_args: dict[str, Any], expected: str, got: str) -> Differences:
    """Check that a written sketch is well-formed, and compare its hashes."""
    return _differences(*_both(_written_sketch, expected, got))


def _written_sketch(data: bytes) -> Form:
    return wire.sketch_form(theta.decode_theta(data))


def _both(read: Callable[[bytes], Form], expected: str, got: str) -> tuple[Form, Form]:
    wanted = read(bytes.fromhex(expected))
    try:
        return wanted, read(bytes.fromhex(got))
    except SpecError as error:
        raise Undecodable(f"the written file breaks a rule: {error}") from None


COMPARATORS: dict[str, Comparator] = {
    "puffin.read": compare_puffin_contents,
    "puffin.write": compare_written_puffin_files,
    "dv.decode": compare_exact,
    "dv.encode": compare_written_deletion_vectors,
    "theta.decode": compare_exact,
    "theta.encode": compare_written_sketches,
}
"""The comparator of each operation."""
