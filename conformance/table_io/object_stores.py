"""The file systems of object stores, configured by the environment variables of each store's usual tools."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from conformance.core.failures import UsageError
from conformance.core.lazy_imports import lazy_imports
from conformance.table_io.s3_requests import CONNECT_SECONDS

with lazy_imports():
    from pyarrow import fs


if TYPE_CHECKING:
    from pyarrow import fs

STORE_SECONDS = "ICEBERG_CONFORMANCE_STORE_SECONDS"
"""The environment variable with the seconds without data after which a request to a store is aborted and repeated."""

REQUEST_SECONDS = 60.0
"""The default of the variable."""


def store_timeout() -> float:
    """Return the number of seconds without data after which a request to a store is aborted.

    Raises:
        UsageError: the variable is not a number greater than 0.
    """
    text = os.environ.get(STORE_SECONDS)
    if not text:
        return REQUEST_SECONDS
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise UsageError(f"{STORE_SECONDS}={text}: expected a number of seconds greater than 0")
    return seconds


_VARIABLES = (
    "AWS_ENDPOINT_URL_S3",
    "AWS_ENDPOINT_URL",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_PROFILE",
    "STORAGE_EMULATOR_HOST",
    "AZURE_STORAGE_ACCOUNT",
    "AZURE_STORAGE_KEY",
    "AZURE_STORAGE_SAS_TOKEN",
    STORE_SECONDS,
)

Settings = tuple[tuple[str, str], ...]


def store_settings() -> Settings:
    """Return the environment variables with settings of stores; as a part of cache keys, they make changes apply."""
    return tuple((name, value) for name in _VARIABLES if (value := os.environ.get(name)))


@lru_cache(maxsize=32)
def open_file_system(scheme: str, authority: str, settings: Settings) -> fs.FileSystem:
    """Return the file system of a store.

    Args:
        scheme: one of `STORES`.
        authority: the part of a URI between the scheme and the path: a bucket, an account, or a host.
        settings: the environment variables that configure it (`store_settings`).

    Raises:
        OSError: a setting is missing, or the store cannot be reached.
    """
    return STORES[scheme](authority, dict(settings))


def open_s3(bucket: str, settings: dict[str, str]) -> fs.FileSystem:
    """Return the file system of a bucket on S3, or on a store that speaks the protocol of S3."""
    endpoint, region = urlsplit(s3_endpoint(settings)), s3_region(bucket, settings)
    options: dict[str, Any] = {}
    if endpoint.netloc:
        options = {"scheme": endpoint.scheme, "endpoint_override": endpoint.netloc}
    return fs.S3FileSystem(region=region, connect_timeout=CONNECT_SECONDS, request_timeout=store_timeout(), **options)


def s3_endpoint(settings: dict[str, str]) -> str:
    """Return the endpoint that the settings name; an empty string for that of AWS."""
    return settings.get("AWS_ENDPOINT_URL_S3") or settings.get("AWS_ENDPOINT_URL") or ""


def s3_region(bucket: str, settings: dict[str, str]) -> str | None:
    """Return the region of a bucket; None if the endpoint or the profile determines it."""
    region = settings.get("AWS_REGION") or settings.get("AWS_DEFAULT_REGION")
    if region is None and not s3_endpoint(settings) and "AWS_PROFILE" not in settings:
        return str(fs.resolve_s3_region(bucket))
    return region


def _gcs(bucket: str, settings: dict[str, str]) -> fs.FileSystem:
    del bucket
    emulator = urlsplit(settings.get("STORAGE_EMULATOR_HOST", ""))
    if emulator.netloc:
        return fs.GcsFileSystem(anonymous=True, scheme=emulator.scheme, endpoint_override=emulator.netloc)
    return fs.GcsFileSystem()


def _azure(authority: str, settings: dict[str, str]) -> fs.FileSystem:
    host = authority.partition("@")[2]
    account = host.partition(".")[0] or settings.get("AZURE_STORAGE_ACCOUNT")
    if not account:
        raise OSError("the URI names no storage account, and AZURE_STORAGE_ACCOUNT is not set")
    return fs.AzureFileSystem(
        account,
        account_key=settings.get("AZURE_STORAGE_KEY"),
        sas_token=settings.get("AZURE_STORAGE_SAS_TOKEN"),
    )


def _hdfs(authority: str, settings: dict[str, str]) -> fs.FileSystem:
    del settings
    host, _, port = authority.partition(":")
    return fs.HadoopFileSystem(host or "default", int(port or 0))


STORES: dict[str, Callable[[str, dict[str, str]], fs.FileSystem]] = {
    "s3": open_s3,
    "s3a": open_s3,
    "s3n": open_s3,
    "gs": _gcs,
    "gcs": _gcs,
    "abfs": _azure,
    "abfss": _azure,
    "wasb": _azure,
    "wasbs": _azure,
    "hdfs": _hdfs,
}
"""The schemes of URIs, and what opens the store of each."""
