"""Tables on S3: a server on loopback that speaks its protocol, reached as any store is, by environment variables."""

from __future__ import annotations

import urllib.request
import warnings
from collections.abc import Iterator

import pytest

from conformance.table_io.file_access import (
    FileAccessError,
    FileForbidden,
    FileMissing,
    file_size,
    is_directory,
    list_files,
    open_input,
    read_bytes,
    split_location,
    write_bytes,
)
from conformance.table_io.local import read_table
from conformance.table_io.tables import NoTable, load_table
from conformance.validator.context import Level
from conformance.validator.local import LocalBackend
from conformance.validator.run import SnapshotSelection, validate
from spec_ref.checks.findings import Severity
from spec_ref.core.versions import V3
from spec_ref.data_types.types import LONG, STRING, NestedField
from spec_ref.manifests.data_file import FileFormat
from tools.store_environment import BUCKET, store_environment
from tools.table_kit import TableKit

FIELDS = (NestedField(1, "id", required=False, type=LONG), NestedField(2, "s", required=False, type=STRING))
ROWS = [{1: n, 2: f"s{n}"} for n in range(100)]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture(autouse=True)
def store(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ENDPOINT_URL_S3", "AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    for name, value in store_environment(endpoint).items():
        monkeypatch.setenv(name, value)
    import boto3

    boto3.client("s3").create_bucket(Bucket=BUCKET)


def made(location: str) -> TableKit:
    """A table in all formats, with deletes of all kinds."""
    kit = TableKit(location, FIELDS, version=V3)
    files = [kit.file(ROWS, file_format=format_) for format_ in (FileFormat.PARQUET, FileFormat.ORC, FileFormat.AVRO)]
    kit.commit(*files)
    kit.commit(kit.deletion_vector(files[0], [1, 2]), kit.deletion_vector(files[1], range(50)))
    kit.commit(kit.equality_deletes([{2: "s99"}], [2], fields=FIELDS[1:]))
    kit.table()
    return kit


@pytest.mark.parametrize("scheme", ["s3", "s3a", "s3n"])
def test_table_on_s3_has_the_rows_of_the_same_table_here(scheme: str, tmp_path: object) -> None:
    rows = {}
    for location in (f"{scheme}://{BUCKET}/db/{scheme} t/p=a%2Fb", f"{tmp_path}/t"):
        table = load_table(made(location).location)
        assert table.metadata_location == f"{location}/metadata/v4.metadata.json"
        read = read_table(table).read_all()
        rows[location] = sorted(zip(*read.to_pydict().values(), strict=True))
        files = {str(path) for path in read_table(table, select=["_file"]).read_all().column("_file").to_pylist()}
        assert all(path.startswith(f"{location}/data/") for path in files)
    here, there = rows.values()
    assert here == there
    assert len(here) == 97 + 49 + 99


def test_table_on_s3_is_validated_as_the_same_table_here(tmp_path: object) -> None:
    found = {}
    for location in (f"s3://{BUCKET}/db/checked", f"file://{tmp_path}/checked"):
        kit = made(location)
        report = validate(kit.location, Level.ROWS, LocalBackend(), SnapshotSelection("all"))
        assert report.entries == 6
        found[location] = [(one.requirement, one.severity, one.path, one.count) for one in report.findings]
    here, there = found.values()
    assert here == there
    assert [finding for finding in here if finding[1] is Severity.ERROR] == []


def test_file_that_is_gone_from_s3_is_a_finding() -> None:
    import boto3

    kit = made(f"s3://{BUCKET}/db/lossy")
    client = boto3.client("s3")
    listed = client.list_objects_v2(Bucket=BUCKET, Prefix="db/lossy/data/")["Contents"]
    gone = next(one["Key"] for one in listed if one["Key"].endswith(".parquet"))
    client.delete_object(Bucket=BUCKET, Key=gone)
    report = validate(kit.location, Level.FILES, LocalBackend(), SnapshotSelection("current"))
    errors = [finding for finding in report.findings if finding.severity is Severity.ERROR]
    assert len(errors) == 1
    assert f"s3://{BUCKET}/{gone}" in str(errors[0])


def test_files_are_read_listed_and_measured() -> None:
    for name in ("b", "a%20 b", "d/c"):
        write_bytes(f"s3://{BUCKET}/files/{name}", name.encode())
    assert read_bytes(f"s3://{BUCKET}/files/a%20 b") == b"a%20 b"
    assert file_size(f"s3://{BUCKET}/files/d/c") == 3
    assert [file.location for file in list_files(f"s3://{BUCKET}/files/")] == [
        f"s3://{BUCKET}/files/a%20 b",
        f"s3://{BUCKET}/files/b",
    ]
    assert is_directory(f"s3://{BUCKET}/files/d")
    assert not is_directory(f"s3://{BUCKET}/files/none")
    with open_input(f"s3a://{BUCKET}/files/d/c") as file:
        file.seek(2)
        assert file.read() == b"c"


def test_endpoint_for_s3_alone_stands_before_the_general_one(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    write_bytes(f"s3://{BUCKET}/one", b"1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", endpoint)
    assert read_bytes(f"s3://{BUCKET}/one") == b"1"


def test_what_is_missing_is_reported() -> None:
    with pytest.raises(FileMissing, match=f"^s3://{BUCKET}/none: there is no such file"):
        read_bytes(f"s3://{BUCKET}/none")
    with pytest.raises(FileMissing, match=r"^s3://nowhere/none: there is no such file"):
        read_bytes("s3://nowhere/none")
    with pytest.raises(FileMissing, match="there is no such file"):
        load_table(f"s3://{BUCKET}/no/table")
    with pytest.raises(FileMissing, match="names no bucket"):
        split_location("s3:///key")


def test_directory_without_a_table_is_reported() -> None:
    write_bytes(f"s3://{BUCKET}/empty/metadata/other.json", b"{}")
    with pytest.raises(NoTable, match=f"s3://{BUCKET}/empty/metadata: no file has a name of table metadata"):
        load_table(f"s3://{BUCKET}/empty")


def test_store_that_refuses_is_reported_as_such(endpoint: str) -> None:
    write_bytes(f"s3://{BUCKET}/secret", b"1")
    check_rights(endpoint, b"0")
    try:
        for ask in (read_bytes, file_size, is_directory, list_files):
            with pytest.raises(FileForbidden, match=f"^s3://{BUCKET}/secret: access is denied"):
                ask(f"s3://{BUCKET}/secret")
    finally:
        check_rights(endpoint, b"inf")
    assert read_bytes(f"s3://{BUCKET}/secret") == b"1"


def check_rights(endpoint: str, after: bytes) -> None:
    """Make the server refuse keys that it does not know, after so many requests."""
    headers = {"Content-Type": "text/plain"}
    request = urllib.request.Request(f"{endpoint}/moto-api/reset-auth", data=after, headers=headers, method="POST")
    with urllib.request.urlopen(request) as answer:
        assert answer.status == 200


def test_store_that_is_not_there_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(FileAccessError, match=f"s3://{BUCKET}/x: it cannot be read") as caught:
        read_bytes(f"s3://{BUCKET}/x")
    assert not isinstance(caught.value, FileMissing)
