"""The number of requests to a store: each file is opened once, and its bytes are requested once."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.table_io import store_file
from conformance.table_io.file_access import FileAccessError, FileMissing, read_bytes, write_bytes
from conformance.table_io.local import plan_read, read_table
from conformance.table_io.s3_requests import ObjectPart
from conformance.table_io.store_file import END_BYTES, StoreFile, open_rows_file
from conformance.table_io.tables import load_table
from conformance.validator.below_metadata import group_tasks
from conformance.validator.context import Level
from conformance.validator.local import LocalBackend
from conformance.validator.run import validate
from spec_ref.checks.findings import Severity
from spec_ref.core.records import evolve
from spec_ref.core.versions import V3
from spec_ref.data_types.types import LONG, STRING, NestedField
from spec_ref.deletes.deletion_vector import encode_deletion_vector
from spec_ref.encodings.puffin.file import Blob, write_puffin
from spec_ref.manifests.data_file import DataFile, FileContent, FileFormat
from tools.faulty_store import Fault, Store, StoreRequest, running_faulty_store
from tools.store_environment import BUCKET
from tools.table_kit import TableKit

FIELDS = (NestedField(1, "id", required=False, type=LONG), NestedField(2, "s", required=False, type=STRING))
ENDINGS = (".avro", ".orc", ".parquet", ".puffin")
FORMATS = (FileFormat.PARQUET, FileFormat.ORC, FileFormat.AVRO)


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with running_faulty_store() as server, pytest.MonkeyPatch.context() as patch:
        patch.delenv("AWS_ENDPOINT_URL_S3", raising=False)
        patch.delenv("AWS_PROFILE", raising=False)
        for name, value in server.environment.items():
            patch.setenv(name, value)
        yield server


@pytest.mark.parametrize("level", [Level.FILES, Level.ROWS])
@pytest.mark.parametrize("rows", [50, 8_000])
def test_the_footer_of_a_file_takes_one_request(rows: int, level: Level, store: Store) -> None:
    numbers = random.Random(7)
    made = [{1: numbers.getrandbits(60), 2: numbers.randbytes(12).hex()} for _ in range(rows)]
    location = f"s3://{BUCKET}/db/{level.value}-{rows}"
    kit = TableKit(location, FIELDS, version=V3)
    files = [kit.file(made, file_format=one) for one in FORMATS]
    kit.commit(*files)
    kit.commit(kit.equality_deletes([{2: "no row has this"}], [2], fields=FIELDS[1:]))
    kit.table()
    store.requests.clear()
    report = validate(location, level, LocalBackend())
    assert [str(one) for one in report.findings if one.requirement != "DEL012"] == []
    assert [one.key for one in store.requests if one.method == "HEAD" and one.key.endswith(ENDINGS)] == []
    for file in files:
        size, kind = file.file_size_in_bytes, file.file_format
        ranges = [one.range for one in store.requests if one.key == file.file_path.removeprefix("s3://")]
        whole = kind is FileFormat.AVRO or size <= END_BYTES
        assert ranges[0] == f"bytes={0 if whole else size - END_BYTES}-{size - 1}"
        if whole or level is Level.FILES:
            assert len(ranges) == 1
        elif kind is FileFormat.PARQUET:  # both columns are next to each other, and the magic before them
            assert ranges[1:] == [f"bytes=0-{size - END_BYTES - 1}"]
        assert len(ranges) == len(set(ranges))  # the streams of an ORC stripe are read one by one


def test_metadata_takes_one_request_if_its_file_is_named(store: Store) -> None:
    kit = TableKit(f"s3://{BUCKET}/db/named", FIELDS, version=V3)
    found = kit.table().metadata_location
    store.requests.clear()
    assert load_table(found).metadata_location == found
    assert [(one.method, one.key) for one in store.requests] == [("GET", found.removeprefix("s3://"))]
    assert validate(found, Level.ROWS, LocalBackend()).findings == ()
    with pytest.raises(FileMissing, match="there is no such file"):
        load_table(f"s3://{BUCKET}/db/none/metadata/v1.metadata.json")


@pytest.mark.parametrize("file_format", FORMATS)
@pytest.mark.parametrize("beyond", [-70_000, -1, 1, 70_000, 1 << 61])
def test_a_wrong_size_in_the_manifest_is_found_as_such(file_format: FileFormat, beyond: int, store: Store) -> None:
    numbers = random.Random(7)
    made = [{1: numbers.getrandbits(60), 2: numbers.randbytes(12).hex()} for _ in range(8_000)]
    location = f"s3://{BUCKET}/db/wrong-{file_format.value}-{beyond}"
    kit = TableKit(location, FIELDS, version=V3)
    file = kit.file(made, file_format=file_format)
    kit.commit(evolve(file, file_size_in_bytes=file.file_size_in_bytes + beyond))
    kit.table()
    report = validate(location, Level.FILES, LocalBackend())
    errors = [one.violation for one in report.findings if one.severity is Severity.ERROR]
    assert [(one.requirement, one.expected) for one in errors] == [("DFL006", str(file.file_size_in_bytes))]
    assert read_table(load_table(location)).read_all().num_rows == 8_000
    del store


@pytest.mark.parametrize("size", [0, 1, 5, END_BYTES - 1, END_BYTES, END_BYTES + 1, 3 * END_BYTES])
def test_a_file_on_a_store_has_its_bytes_whatever_size_was_announced(size: int, store: Store) -> None:
    content = random.Random(size).randbytes(size)
    location = f"s3://{BUCKET}/sizes/{size}"
    write_bytes(location, content)
    for length in (None, -1, 0, 1, size, size - 1, size + 1, size + 2 * END_BYTES):
        for file_format in (FileFormat.PARQUET, FileFormat.AVRO):
            store.requests.clear()
            file = open_rows_file(location, file_format, length)
            assert len(file) == size
            if length == size and size:
                assert len(store.requests) == 1
            assert file.read() == content
            assert file[-8:] == content[-8:]
    store.requests.clear()
    assert read_bytes(location) == content
    assert len(store.requests) == 1
    with pytest.raises(FileAccessError, match=f"the file has {size} bytes"):
        read_bytes(location, limit=size - 1)


def test_the_vectors_of_one_puffin_file_take_one_request(store: Store) -> None:
    location = f"s3://{BUCKET}/db/vectors"
    kit = TableKit(location, FIELDS, version=V3)
    files = [kit.file([{1: number, 2: "s"} for number in range(20)]) for _ in range(5)]
    kit.commit(*files)
    kit.commit(*vectors_in_one_file(kit, files))
    kit.table()
    for work in (
        lambda: [
            one for one in validate(location, Level.FILES, LocalBackend()).findings if one.severity is Severity.ERROR
        ],
        lambda: read_table(load_table(location)).read_all().num_rows - (20 * 5 - (1 + 2 + 3 + 4)),
    ):
        store.requests.clear()
        assert not work()
        assert len([one for one in store.requests if one.key.endswith(".puffin")]) == 1


def vectors_in_one_file(kit: TableKit, files: Sequence[DataFile]) -> list[DataFile]:
    """Deletion vectors, of which the number-th deletes so many rows; the first data file has none."""
    blobs = {file.file_path: encode_deletion_vector(range(number)) for number, file in enumerate(files) if number}
    content = write_puffin(
        [
            Blob(
                "deletion-vector-v1",
                (),
                blob,
                properties={"referenced-data-file": path, "cardinality": str(number)},
            )
            for number, (path, blob) in enumerate(blobs.items(), start=1)
        ]
    )
    place = kit.put(content, ".puffin")
    return [
        DataFile(
            content=FileContent.POSITION_DELETES,
            file_format=FileFormat.PUFFIN,
            file_path=place,
            record_count=number,
            file_size_in_bytes=len(content),
            referenced_data_file=path,
            content_offset=content.index(blob),
            content_size_in_bytes=len(blob),
        )
        for number, (path, blob) in enumerate(blobs.items(), start=1)
    ]


def test_requests_for_files_overlap(store: Store) -> None:
    location = f"s3://{BUCKET}/db/many"
    kit = TableKit(location, FIELDS)
    kit.commit(*(kit.file([{1: number, 2: "s"}]) for number in range(12)))
    kit.table()
    began: list[float] = []

    def late(asked: StoreRequest) -> Fault | None:
        if not asked.key.endswith(".parquet"):
            return None
        began.append(time.monotonic())
        return Fault(wait_s=2)

    store.faults = late
    try:
        assert validate(location, Level.FILES, LocalBackend()).findings == ()
    finally:
        store.faults = lambda _: None
    assert len(began) == 12
    assert max(began) - min(began) < 2 * 11 / 2  # one after the other, it would be 2 * 11 seconds


@pytest.mark.parametrize(("work", "ending"), [("plan", ".avro"), ("validate", ".avro"), ("validate", ".parquet")])
def test_requests_of_small_manifests_overlap(work: str, ending: str, store: Store) -> None:
    location = f"s3://{BUCKET}/db/manifests-{work}-{ending[1:]}"
    kit = TableKit(location, FIELDS)
    for number in range(12):
        kit.commit(kit.file([{1: number, 2: "s"}]))
    kit.table()
    table = load_table(location)
    began: dict[str, float] = {}

    def late(asked: StoreRequest) -> Fault | None:
        if not asked.key.endswith(ending) or "/snap-" in asked.key:
            return None
        began[asked.key] = time.monotonic()
        return Fault(wait_s=1)

    store.requests.clear()
    store.faults = late
    try:
        if work == "validate":
            assert validate(location, Level.FILES, LocalBackend()).findings == ()
        else:
            assert len(list(plan_read(table)[1])) == 12
    finally:
        store.faults = lambda _: None
    asked = [one.key for one in store.requests if one.key.endswith((".avro", ".parquet"))]
    assert len(asked) == len(set(asked)) == (26 if work == "validate" else 13)  # the parent has a list, too
    assert len(began) == 12
    assert max(began.values()) - min(began.values()) < 11 / 2  # one after the other, it would be 11 seconds


@pytest.mark.parametrize(("costs", "sizes"), [([], []), ([0.5, 0.5, 0.5], [2, 1]), ([3, 0.1, 2], [1, 1, 1])])
def test_tasks_are_grouped_up_to_a_limit(costs: Sequence[float], sizes: Sequence[int]) -> None:
    groups = group_tasks(range(len(costs)), costs.__getitem__)
    assert [len(group.tasks) for group in groups] == sizes
    assert [task for group in groups for task in group.tasks] == list(range(len(costs)))


def test_first_bytes_that_are_wrong_are_found_with_the_rows(store: Store) -> None:
    numbers = random.Random(7)
    made = [{1: numbers.getrandbits(60), 2: numbers.randbytes(12).hex()} for _ in range(8_000)]
    codes = {FileFormat.PARQUET: "PQT001", FileFormat.ORC: "ORC008"}
    for file_format, code in codes.items():
        location = f"s3://{BUCKET}/db/magic-{file_format.value}"
        kit = TableKit(location, FIELDS, version=V3)
        file = kit.file(made, file_format=file_format)
        write_bytes(file.file_path, b"XX" + read_bytes(file.file_path)[2:])
        kit.commit(file)
        kit.table()
        for level, expected in ((Level.FILES, []), (Level.ROWS, [code])):
            assert [one.requirement for one in validate(location, level, LocalBackend()).findings] == expected
    del store


class Counting:
    """Ranges in memory."""

    def __init__(self, content: bytes, gives: int | None = None) -> None:
        self.content = content
        self.reads = 0
        self.gives = gives

    def read_range(self, start: int, stop: int) -> ObjectPart:
        self.reads += 1
        return ObjectPart(start, self.content[start:stop][: self.gives], len(self.content))

    def read_end(self, count: int) -> ObjectPart:
        return self.read_range(max(len(self.content) - count, 0), len(self.content))


CONTENT = random.Random(3).randbytes(3000)


@given(
    places=st.lists(st.tuples(st.integers(0, 3100), st.integers(-1, 3100)), max_size=8),
    end=st.integers(1, 4000),
    length=st.none() | st.integers(-10, 8000),
    from_start=st.booleans(),
)
def test_what_is_read_is_what_the_file_has(
    places: list[tuple[int, int]], end: int, length: int | None, from_start: bool
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store_file, "END_BYTES", end)
        patch.setattr(store_file, "PART_SIZE", end)
        patch.setattr(store_file, "MAX_CACHED_BYTES", 2000)
        file = StoreFile(Counting(CONTENT), "s3://b/f", length=length, from_start=from_start)
        assert file.size() == len(CONTENT)
        for place, count in places:
            assert file.seek(place) == place
            assert file.read(count) == (CONTENT[place:] if count < 0 else CONTENT[place : place + count])
            assert file[place : place + max(count, 0)] == CONTENT[place : place + max(count, 0)]


def test_a_part_before_the_kept_end_is_joined_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_file, "END_BYTES", 100)
    below = Counting(CONTENT)
    file = StoreFile(below, "s3://b/f")
    for start in (2992, 2500, 2500, 2600):
        file.seek(start)
        assert file.read() == CONTENT[start:]
    assert below.reads == 2


def test_fewer_bytes_than_the_file_has_are_an_error_of_the_store() -> None:
    file = StoreFile(Counting(CONTENT, gives=10), "s3://b/f")
    with pytest.raises(FileAccessError, match=r"s3://b/f: it cannot be read: expected 3000 bytes, and got 10"):
        file.read()
