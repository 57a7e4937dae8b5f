"""Locations of local files, as metadata and catalogs have them."""

from __future__ import annotations

import os

from conformance.core import drives


def file_location(path: str | os.PathLike[str]) -> str:
    """Return the location of a file or directory: its absolute path behind ``file://``.

    Nothing is escaped, unlike in `pathlib.Path.as_uri`: engines take the path in a location as it is, so that ``%20``
    in place of a space would name a different file.
    """
    text = os.fspath(path)
    if drives.WINDOWS:
        text = "/" + text.replace("\\", "/")
    return f"file://{text}"
