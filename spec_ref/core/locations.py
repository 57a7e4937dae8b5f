"""Paths in metadata that are absolute: those that begin with a URI scheme (Paths in Metadata)."""

from __future__ import annotations

import re

_SCHEME = re.compile(r"(?![A-Za-z]:[/\\])[A-Za-z][A-Za-z0-9+.-]*:")
"""The scheme of a URI (RFC 3986, section 3.1), but for the drive of a Windows path, as in ``C:/tables``."""


def has_scheme(path: str) -> bool:
    """Decide whether a path begins with a URI scheme (LOC001, DFL002).

    Args:
        path: a path from metadata.

    Returns:
        Whether it does; whether anything is known by the scheme does not matter.
    """
    return _SCHEME.match(path) is not None
