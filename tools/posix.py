"""The check for POSIX, for tools that fork, or limit time and memory by signals and resource limits."""

from __future__ import annotations

from conformance.core import drives


def require_posix(tool: str) -> None:
    """End the program with a message on Windows; call it before importing modules that Windows lacks."""
    if drives.WINDOWS:
        raise SystemExit(f"{tool}: needs a POSIX system, such as Linux or WSL, not Windows")
