"""Locations of files on Windows, where an absolute path begins with a drive: ``C:/tables``, ``file:///C:/tables``."""

from __future__ import annotations

import os
import re

WINDOWS = os.name == "nt"

_DRIVE = re.compile(r"[A-Za-z]:[/\\]")


def has_drive(location: str) -> bool:
    """Return whether a location is a path that begins with a drive, and not a URI."""
    return WINDOWS and _DRIVE.match(location) is not None


def local_uri_path(path: str) -> str:
    """Return the local path for the path of a ``file`` URI, which has a slash before a drive."""
    return path[1:] if path.startswith("/") and has_drive(path[1:]) else path
