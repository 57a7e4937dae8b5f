"""Reading objects on S3 with one request for each range, by obstore.

pyarrow requests the size of an object before it reads from it, which is a second request for each file. The answer to
a request for a range has the size, too, so that one request is enough here. obstore repeats requests that a store
refuses temporarily (503, 429 and the like), and resumes answers whose connection breaks.

`conformance.table_io.file_access` uses this where obstore is installed (the extra ``[s3]``) and the environment has
keys, and pyarrow for all other credentials.
"""

from __future__ import annotations

import importlib.util
import re
from datetime import timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from attrs import frozen

from conformance.core.lazy_imports import lazy_imports

with lazy_imports():
    import obstore
    from obstore import store as obstore_stores

if TYPE_CHECKING:
    from obstore import GetOptions
    from obstore.store import S3Store

CONNECT_SECONDS = 10.0

MAX_RETRIES = 7
"""The maximum number of times that a request is repeated."""

FIRST_PAUSE_S = 0.1
MAX_PAUSE_S = 10.0


_NOT_FOR_OBSTORE = re.compile(r"(^|/)\.{0,2}(/|$)|[\x00-\x1f\x7f]")


def can_read(key: str) -> bool:
    """Return whether obstore is installed and can name a key: it cannot if a part of the key is ``.`` or ``..``."""
    return importlib.util.find_spec("obstore") is not None and not _NOT_FOR_OBSTORE.search(key)


@frozen
class ObjectPart:
    """Some bytes of an object."""

    start: int
    data: bytes
    size: int
    """The size of the object."""


class TooLarge(Exception):
    """An object has more bytes than the caller accepts."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size


@lru_cache(maxsize=32)
def open_bucket(bucket: str, endpoint: str, region: str, seconds: float, settings: object) -> S3Store:
    """Open a bucket, with the keys in the environment.

    Args:
        bucket: its name.
        endpoint: the address of the store; empty for that of the region.
        region: the region.
        seconds: the time without data after which a request is aborted.
        settings: the settings in the environment, a part of the cache's key.
    """
    del settings
    options: dict[str, Any] = {"endpoint": endpoint} if endpoint else {}
    return obstore_stores.S3Store(
        bucket,
        region=region,
        virtual_hosted_style_request=not endpoint and "." not in bucket,  # certificates are for names without dots
        client_options={
            "allow_http": endpoint.startswith("http:"),
            "connect_timeout": timedelta(seconds=CONNECT_SECONDS),
            "read_timeout": timedelta(seconds=seconds),
            "timeout": timedelta(days=1),
        },
        retry_config={
            "max_retries": MAX_RETRIES,
            "backoff": {
                "base": 2,
                "init_backoff": timedelta(seconds=FIRST_PAUSE_S),
                "max_backoff": timedelta(seconds=MAX_PAUSE_S),
            },
        },
        **options,
    )


@frozen
class S3Object:
    """An object of a store."""

    bucket: S3Store
    key: str

    def read_range(self, start: int, stop: int) -> ObjectPart:
        """Read some bytes; fewer if the object ends before.

        Args:
            start: the offset of the first byte.
            stop: the offset after the last byte, greater than `start`.

        Raises:
            OSError: the object cannot be read.
        """
        return self._part({"range": (start, stop)})

    def read_end(self, count: int) -> ObjectPart:
        """Read the last bytes; all of a shorter object.

        Raises:
            OSError: the object cannot be read.
        """
        return self._part({"range": {"suffix": count}})

    def read_all(self, limit: int) -> bytes:
        """Read the whole object.

        Raises:
            TooLarge: it has more than ``limit`` bytes.
            OSError: it cannot be read.
        """
        return self._part({}, limit).data

    def _part(self, options: GetOptions, limit: int | None = None) -> ObjectPart:
        try:
            found = obstore.get(self.bucket, self.key, options=options)
            size = int(found.meta["size"])
            if limit is not None and size > limit:
                raise TooLarge(size)
            return ObjectPart(found.range[0], bytes(found.bytes()), size)
        except obstore.exceptions.BaseError as error:
            after = (
                self._after_the_end(options.get("range")) if type(error) is obstore.exceptions.GenericError else None
            )
            if after is None:
                raise _os_error(error) from error
            return after

    def _after_the_end(self, asked: Any) -> ObjectPart | None:
        """Return the part without bytes for a range after the end, which a store refuses; None for another range."""
        if asked is None:
            return None
        try:
            size = int(obstore.head(self.bucket, self.key)["size"])
        except obstore.exceptions.BaseError as error:
            raise _os_error(error) from error
        start = asked[0] if isinstance(asked, tuple) else 0
        return ObjectPart(size, b"", size) if start >= size else None


def _os_error(error: Exception) -> OSError:
    return OSError(str(error).splitlines()[0])  # what follows is for debugging
