"""Requests by the protocol of S3: signatures, addresses, and what is repeated."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest

from conformance.table_io import s3_requests
from conformance.table_io.file_access import FileAccessError, read_bytes, s3_object, write_bytes
from conformance.table_io.s3_requests import BROKEN_ATTEMPTS, BUSY_ATTEMPTS, sign_request
from tools.faulty_store import BUCKET, Asked, Fault, Store, running

LOCATION = f"s3://{BUCKET}/files/a b?%20#"
CONTENT = b"content"


@pytest.fixture(scope="module")
def running_store() -> Iterator[Store]:
    with running() as store:
        yield store


@pytest.fixture
def store(running_store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    for name in ("AWS_ENDPOINT_URL_S3", "AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    for name, value in running_store.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(s3_requests, "FIRST_PAUSE_S", 0.001)
    write_bytes(LOCATION, CONTENT)
    running_store.asked.clear()
    yield running_store
    running_store.faults = lambda _: None


def times(count: int, fault: Fault) -> Callable[[Asked], Fault | None]:
    """A fault of the first answers."""
    left = [fault] * count
    return lambda _: left.pop() if left else None


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_request_that_is_refused_for_the_moment_is_repeated(status: int, store: Store) -> None:
    store.faults = times(BUSY_ATTEMPTS - 1, Fault(status=status))
    assert read_bytes(LOCATION) == CONTENT
    assert len(store.asked) == BUSY_ATTEMPTS


def test_a_store_that_always_refuses_is_given_up(store: Store) -> None:
    store.faults = lambda _: Fault(status=503)
    with pytest.raises(FileAccessError, match="HTTP status 503"):
        read_bytes(LOCATION)
    assert len(store.asked) == BUSY_ATTEMPTS


def test_a_connection_that_breaks_is_replaced(store: Store) -> None:
    store.faults = times(BROKEN_ATTEMPTS - 1, Fault(cut=3))
    assert read_bytes(LOCATION) == CONTENT
    assert len(store.asked) == BROKEN_ATTEMPTS


@pytest.mark.parametrize("status", [400, 403, 404])
def test_an_error_that_stays_is_not_repeated(status: int, store: Store) -> None:
    store.faults = lambda _: Fault(status=status)
    with pytest.raises(FileAccessError):
        read_bytes(LOCATION)
    assert len(store.asked) == 1


def test_pauses_double_up_to_a_limit(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    paused: list[float] = []
    monkeypatch.setattr(s3_requests, "FIRST_PAUSE_S", 1.0)
    monkeypatch.setattr(s3_requests.time, "sleep", paused.append)
    monkeypatch.setattr(s3_requests.random, "uniform", lambda low, high: high)
    found = s3_object(LOCATION)
    assert found is not None
    monkeypatch.setattr(s3_requests.S3Object, "_once", lambda *_: (_ for _ in ()).throw(s3_requests._Busy("503")))
    with pytest.raises(OSError, match="503"):
        found.read_range(0, 1)
    assert paused == [2, 4, 8, 10, 10, 10, 10]
    del store


def test_the_signature_is_that_of_the_example_of_aws(monkeypatch: pytest.MonkeyPatch) -> None:
    """The example GET Object of "Authenticating Requests: Using the Authorization Header" of Amazon S3."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
    monkeypatch.delenv("AWS_SESSION_TOKEN", raising=False)
    then = SimpleNamespace(now=lambda _: datetime.datetime(2013, 5, 24, tzinfo=datetime.UTC))
    monkeypatch.setattr(s3_requests, "datetime", SimpleNamespace(datetime=then, UTC=datetime.UTC))
    headers = sign_request(
        "GET", "examplebucket.s3.amazonaws.com", "/test.txt", "", {"range": "bytes=0-9"}, b"", "us-east-1"
    )
    signature = "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
    assert headers["authorization"].endswith(
        f"SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, Signature={signature}"
    )


@pytest.mark.parametrize(
    ("location", "region", "address"),
    [
        ("s3://lake/a/b", "eu-central-1", ("https://lake.s3.eu-central-1.amazonaws.com", "/a/b")),
        ("s3a://my.lake/a", "us-east-1", ("https://s3.us-east-1.amazonaws.com", "/my.lake/a")),
        ("s3://lake/a", "cn-north-1", None),
        ("s3://arn:aws:s3:::x/a", "us-east-1", None),
        ("gs://lake/a", "us-east-1", None),
    ],
)
def test_addresses(
    location: str, region: str, address: tuple[str, str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_REGION", region)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "b")
    found = s3_object(location)
    assert (None if found is None else (found.endpoint, found.path)) == address
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    assert s3_object(location) is None
