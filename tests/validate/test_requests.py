"""The number of requests to a store: each file is opened once, and its bytes are requested once."""

from __future__ import annotations

import io
import random
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.table_io.file_access import FileAccessError
from conformance.validator import footer_cache
from conformance.validator.context import Level
from conformance.validator.footer_cache import END, CachedEnds
from conformance.validator.local import Local
from conformance.validator.run import validate
from spec_ref.core.versions import V3
from spec_ref.data_types.types import LONG, STRING, NestedField
from spec_ref.manifests.data_file import FileFormat
from tools.faulty_store import BUCKET, Store, running
from tools.table_kit import TableKit

FIELDS = (NestedField(1, "id", required=False, type=LONG), NestedField(2, "s", required=False, type=STRING))
FORMATS = (FileFormat.PARQUET, FileFormat.ORC, FileFormat.AVRO)


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with running() as server, pytest.MonkeyPatch.context() as patch:
        patch.delenv("AWS_ENDPOINT_URL_S3", raising=False)
        patch.delenv("AWS_PROFILE", raising=False)
        for name, value in server.environment.items():
            patch.setenv(name, value)
        yield server


@pytest.mark.parametrize("level", [Level.FILES, Level.ROWS])
@pytest.mark.parametrize(("rows", "reads"), [(50, 1), (8_000, 2)])
def test_a_file_is_opened_once_and_its_footer_is_read_once(rows: int, reads: int, level: Level, store: Store) -> None:
    numbers = random.Random(7)
    made = [{1: numbers.getrandbits(60), 2: numbers.randbytes(12).hex()} for _ in range(rows)]
    location = f"s3://{BUCKET}/db/{level.value}-{rows}"
    kit = TableKit(location, FIELDS, version=V3)
    files = [kit.file(made, file_format=one) for one in FORMATS]
    kit.commit(*files)
    kit.commit(kit.equality_deletes([{2: "no row has this"}], [2], fields=FIELDS[1:]))
    kit.table()
    assert all((one.file_size_in_bytes > END) == (reads > 1) for one in files)
    store.asked.clear()
    report = validate(location, level, Local())
    assert [str(one) for one in report.findings if one.requirement != "DEL012"] == []
    asked = Counter((one.key, one.method) for one in store.asked)
    for file in files:
        key = file.file_path.removeprefix("s3://")
        assert asked[key, "HEAD"] == 1
        ranges = [one.range for one in store.asked if one.key == key]
        assert len(ranges) == len(set(ranges))
        if level is Level.FILES or reads == 1:  # else the rows are asked for too, in ORC by the streams of a stripe
            assert asked[key, "GET"] <= (1 if file.file_format is FileFormat.AVRO else reads)


class Counting(io.BytesIO):
    def __init__(self, content: bytes, gives: int | None = None) -> None:
        super().__init__(content)
        self.reads = 0
        self.gives = gives

    def read(self, count: int | None = -1) -> bytes:
        self.reads += 1
        return super().read(count)[: self.gives]


CONTENT = random.Random(3).randbytes(3000)


@given(places=st.lists(st.tuples(st.integers(0, 3100), st.integers(-1, 3100)), max_size=8), end=st.integers(1, 4000))
def test_what_is_read_is_what_the_file_has(places: list[tuple[int, int]], end: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(footer_cache, "END", end)
        patch.setattr(footer_cache, "MOST_KEPT", 2000)
        file = CachedEnds(Counting(CONTENT), "s3://b/f")  # type: ignore[arg-type]
        for place, count in places:
            assert file.seek(place) == place
            assert file.read(count) == (CONTENT[place:] if count < 0 else CONTENT[place : place + count])
            assert file[place : place + max(count, 0)] == CONTENT[place : place + max(count, 0)]


def test_a_part_before_the_kept_end_is_joined_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(footer_cache, "END", 100)
    below = Counting(CONTENT)
    file = CachedEnds(below, "s3://b/f")  # type: ignore[arg-type]
    for start in (2992, 2500, 2500, 2600):
        file.seek(start)
        assert file.read() == CONTENT[start:]
    assert below.reads == 2


def test_fewer_bytes_than_the_file_has_are_an_error_of_the_store() -> None:
    file = CachedEnds(Counting(CONTENT, gives=10), "s3://b/f")  # type: ignore[arg-type]
    with pytest.raises(FileAccessError, match=r"s3://b/f: it cannot be read: 10 bytes were given where 3000"):
        file.read()
