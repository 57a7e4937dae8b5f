"""Replace the folder at the beginning of locations."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any

from attrs import frozen


@frozen(slots=False)
class Paths:
    """The old and the new folder at the beginning of locations; both are absolute and written with slashes."""

    old: str
    new: str

    @cached_property
    def _pattern(self) -> re.Pattern[bytes]:
        uri = rb"(file:(?://)?)?" if self.old.startswith("/") else rb"(?:(file:(?://)?)/)?"
        return re.compile(uri + re.escape(self.old.encode()) + rb"(?![\w.-])")

    def __contains__(self, data: bytes) -> bool:
        """Return whether bytes contain a location."""
        return self._pattern.search(data) is not None

    def replace(self, data: bytes) -> bytes:
        """Rewrite every location in some bytes.

        In a URI, a folder that begins with a drive has a slash before it: ``file:///C:/tables``.
        """
        new = self.new.encode()
        in_uri = new if new.startswith(b"/") else b"/" + new
        return self._pattern.sub(lambda found: found[1] + in_uri if found[1] else new, data)

    def replace_truncated(self, bound: bytes) -> bytes:
        """Rewrite a bound that was truncated within the folder; the last byte of an upper bound is one higher."""
        old, new = self.old.encode(), self.new.encode()
        if 1 < len(bound) <= len(old) and bound[:-1] == old[: len(bound) - 1]:
            more = bound[-1] - old[len(bound) - 1]
            if more in (0, 1):
                cut = new[: len(bound)]
                return cut[:-1] + bytes([cut[-1] + more])
        return bound

    def replace_text(self, text: str) -> str:
        """Rewrite every location in a string."""
        if self.old not in text:
            return text
        return self.replace(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    def replace_all(self, value: Any) -> Any:
        """Rewrite the locations in all strings and bytes of nested lists and dicts."""
        match value:
            case str():
                return self.replace_text(value)
            case bytes():
                return self.replace(value)
            case dict():
                return {self.replace_all(name): self.replace_all(item) for name, item in value.items()}
            case list():
                return [self.replace_all(item) for item in value]
            case tuple():
                return tuple(self.replace_all(item) for item in value)
        return value

    def relative(self, location: bytes) -> str | None:
        """Return the path of a location below the folder; None if it is elsewhere."""
        found = self._pattern.match(location)
        return None if found is None else location[found.end() :].decode().lstrip("/")

    def reversed(self) -> Paths:
        """Return the reverse replacement."""
        return Paths(self.new, self.old)
