"""Opening the store that a URL names."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlsplit, urlunsplit

from conformance.core.failures import UsageError, import_optional
from conformance.core.lazy_imports import lazy_imports
from conformance.table_io.stores.file_system import FileSystemStore
from conformance.table_io.stores.object_store import ObjectStore, S3Bucket
from conformance.table_io.stores.rest import RestStore
from conformance.table_io.stores.rest_catalog import RestCatalog
from conformance.table_io.stores.sql import TableName
from conformance.table_io.stores.sqlite import SqliteStore
from conformance.table_io.stores.store import Store

with lazy_imports():
    from conformance.table_io.stores import postgresql


FORMS = (
    "file:///directory, s3://bucket/path?endpoint=https://host, sqlite:///file.db?table=name, "
    "postgresql://user@host:port/database?table=name, rest+http://host:port?namespace=name&table=name&warehouse=name"
)


SCHEMES = ("", "file", "s3", "sqlite", "postgresql", "rest+http", "rest+https")


def check_url(url: str) -> None:
    """Check that a URL names a known kind of store, without opening it.

    Raises:
        UsageError: the kind of store is unknown.
    """
    scheme = urlsplit(url).scheme
    if scheme not in SCHEMES:
        raise UsageError(f"unknown kind of store {scheme}; a store is {FORMS}")


def open_store(url: str) -> Store:
    """Open the store that a URL names.

    The parameters ``table`` and ``namespace`` of a URL name a table in a database or REST catalog; for a database, the
    parameter ``catalog`` names the catalog.

    Raises:
        UsageError: the kind of store is unknown, or a package that it needs is not installed.
    """
    check_url(url)
    parts = urlsplit(url)
    given = {key: values[-1] for key, values in parse_qs(parts.query).items()}
    fields = ("table", "namespace", "catalog")
    name = TableName(
        *(given.get(key, default) for key, default in zip(fields, ("table", "default", "conformance"), strict=True))
    )
    match parts.scheme:
        case "file" | "":
            return FileSystemStore(url)
        case "s3":
            return ObjectStore(f"s3://{parts.netloc}{parts.path}", _bucket(parts.netloc, given))
        case "sqlite":
            return SqliteStore(Path(parts.path), name)
        case "postgresql":
            import_optional("psycopg", "postgresql")
            return postgresql.PostgresStore(urlunsplit(parts._replace(query="")), name)
        case "rest+http" | "rest+https":
            address = urlunsplit(parts._replace(scheme=parts.scheme.removeprefix("rest+"), query=""))
            return RestStore(RestCatalog(address, given.get("warehouse")), name)
    raise AssertionError(parts.scheme)


def _bucket(name: str, given: dict[str, str]) -> S3Bucket:
    region = given.get("region", "us-east-1")
    return S3Bucket(name, given.get("endpoint", f"https://s3.{region}.amazonaws.com"), region)
