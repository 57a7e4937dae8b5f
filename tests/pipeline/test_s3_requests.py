"""Requests by the protocol of S3: signatures, the stores that obstore reads, and what is repeated."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest

from conformance.table_io import s3_requests
from conformance.table_io.file_access import FileAccessError, read_bytes, s3_object, write_bytes
from conformance.table_io.s3_requests import MAX_RETRIES, ObjectPart
from conformance.table_io.stores import object_store
from conformance.table_io.stores.object_store import sign_request
from tools.faulty_store import Fault, Store, StoreRequest, running_faulty_store
from tools.store_environment import BUCKET

LOCATION = f"s3://{BUCKET}/requests/a b?%20#"
CONTENT = b"content"


@pytest.fixture(scope="module")
def running_store() -> Iterator[Store]:
    with running_faulty_store() as store:
        yield store


@pytest.fixture
def store(running_store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    for name in ("AWS_ENDPOINT_URL_S3", "AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    for name, value in running_store.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(s3_requests, "FIRST_PAUSE_S", 0.001)
    write_bytes(LOCATION, CONTENT)
    running_store.requests.clear()
    yield running_store
    running_store.faults = lambda _: None


def times(count: int, fault: Fault) -> Callable[[StoreRequest], Fault | None]:
    """A fault of the first answers."""
    left = [fault] * count
    return lambda _: left.pop() if left else None


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_request_that_is_refused_for_the_moment_is_repeated(status: int, store: Store) -> None:
    store.faults = times(MAX_RETRIES, Fault(status=status))
    assert read_bytes(LOCATION) == CONTENT
    assert len(store.requests) == MAX_RETRIES + 1


def test_a_store_that_always_refuses_is_given_up(store: Store) -> None:
    store.faults = lambda _: Fault(status=503)
    with pytest.raises(FileAccessError, match="503"):
        read_bytes(LOCATION)
    assert len(store.requests) == MAX_RETRIES + 1


def test_a_connection_that_breaks_is_replaced(store: Store) -> None:
    store.faults = times(2, Fault(cut=3))
    assert read_bytes(LOCATION) == CONTENT
    assert len(store.requests) == 3


@pytest.mark.parametrize("status", [400, 403, 404])
def test_an_error_that_stays_is_not_repeated(status: int, store: Store) -> None:
    store.faults = lambda _: Fault(status=status)
    with pytest.raises(FileAccessError):
        read_bytes(LOCATION)
    assert len(store.requests) == 1


def test_the_signature_is_that_of_the_example_of_aws(monkeypatch: pytest.MonkeyPatch) -> None:
    """The example GET Object of "Authenticating Requests: Using the Authorization Header" of Amazon S3."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
    monkeypatch.delenv("AWS_SESSION_TOKEN", raising=False)
    then = SimpleNamespace(now=lambda _: datetime.datetime(2013, 5, 24, tzinfo=datetime.UTC))
    monkeypatch.setattr(object_store, "datetime", SimpleNamespace(datetime=then, UTC=datetime.UTC))
    headers = sign_request(
        "GET", "examplebucket.s3.amazonaws.com", "/test.txt", "", {"range": "bytes=0-9"}, b"", "us-east-1"
    )
    signature = "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
    assert headers["authorization"].endswith(
        f"SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, Signature={signature}"
    )


@pytest.mark.parametrize(
    ("location", "region", "expected"),
    [
        ("s3://lake/a/b", "eu-central-1", True),
        ("s3a://my.lake/a", "us-east-1", True),
        ("s3://lake/a", "cn-north-1", False),
        ("s3://lake/a/../b", "us-east-1", False),
        ("s3://lake/a\x01", "us-east-1", False),
        ("s3://arn:aws:s3:::x/a", "us-east-1", False),
        ("gs://lake/a", "us-east-1", False),
    ],
)
def test_what_obstore_cannot_read_is_left_to_pyarrow(
    location: str, region: str, monkeypatch: pytest.MonkeyPatch, *, expected: bool
) -> None:
    for name in ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_REGION", region)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "b")
    assert (s3_object(location) is not None) is expected
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    assert s3_object(location) is None


def test_without_obstore_pyarrow_reads(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(s3_requests.importlib.util, "find_spec", lambda _: None)
    assert read_bytes(LOCATION) == CONTENT
    assert [one.method for one in store.requests] == ["HEAD", "GET"]


def test_a_range_after_the_end_is_empty(store: Store) -> None:
    found = s3_object(LOCATION)
    assert found is not None
    assert [found.read_range(*one) for one in ((5, 9), (7, 9), (100, 101))] == [
        ObjectPart(5, b"nt", 7),
        ObjectPart(7, b"", 7),
        ObjectPart(7, b"", 7),
    ]
    write_bytes(LOCATION, b"")
    assert found.read_range(0, 1) == found.read_end(1) == ObjectPart(0, b"", 0)
    assert found.read_all(0) == b""
    del store
