"""The converters of cattrs give the same results and refusals as the plain reader."""

import copy
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import spec_ref.json.structuring as structuring
from spec_ref.core.errors import SpecError
from spec_ref.core.versions import FormatVersion
from spec_ref.json.reading import record_reader
from spec_ref.table_metadata import write_metadata
from spec_ref.table_metadata.metadata import METADATA, TableMetadata
from tools.metadata_strategies import table_metadata

SOME = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
REFUSED = "refused"


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every member and item of a document, with what it is in."""
    for key, inner in list(value.items() if isinstance(value, dict) else enumerate(value)):
        if key != "format-version":  # which is read, and refused, before all others
            yield value, key
        if isinstance(inner, (dict, list)):
            yield from places(inner)


def plainly(document: Any, version: FormatVersion) -> Any:
    try:
        return record_reader(METADATA, version)(document)
    except SpecError:
        return REFUSED


def quickly(document: Any, version: FormatVersion) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(structuring, "record_reader", lambda *_: lambda _: REFUSED)
        return structuring.read_record(METADATA, version, document)


@SOME
@given(table_metadata())
def test_sound_metadata_is_read_without_the_plain_reader(metadata: TableMetadata) -> None:
    document, version = write_metadata(metadata), metadata.format_version
    assert quickly(document, version) == plainly(document, version) != REFUSED


@SOME
@given(table_metadata(), st.randoms(use_true_random=False))
def test_both_refuse_the_same(metadata: TableMetadata, numbers: random.Random) -> None:
    sound, version = write_metadata(metadata), metadata.format_version
    for _ in range(20):
        document = copy.deepcopy(sound)
        inside, key = numbers.choice(list(places(document)))
        if isinstance(inside, dict) and numbers.random() < 0.3:
            del inside[key]
        else:
            inside[key] = numbers.choice(
                [None, True, 0, -1, 1.5, 1 << 31, 1 << 63, "", "main", [], [None], {}, {"": 1}]
            )
        other = FormatVersion(numbers.choice(list(FormatVersion))) if numbers.random() < 0.2 else version
        assert quickly(document, other) == plainly(document, other), (key, document)
