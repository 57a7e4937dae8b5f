"""What trying a property may come to, beside that it holds."""

from __future__ import annotations


class Broken(Exception):
    """A property does not hold; the message says where, and how."""

    def __init__(self, kind: str, message: str) -> None:
        """Make the error.

        Args:
            kind: what is wrong, without what differs between examples: a smaller one has to fail in the same way.
            message: what is wrong, for people.
        """
        super().__init__(message)
        self.kind = kind


class NotSupported(Exception):
    """An implementation does not have what an example takes."""
