"""What trying a property may come to, beside that it holds."""

from __future__ import annotations

from collections.abc import Iterable

from spec_ref.core.errors import Violation


class Broken(Exception):
    """A property does not hold; the message says where, and how."""

    def __init__(self, kind: str, message: str, violations: Iterable[Violation] = ()) -> None:
        """Make the error.

        Args:
            kind: what is wrong, without what differs between examples: a smaller one has to fail in the same way.
            message: what is wrong, for people; nothing compares or parses it.
            violations: the requirements of the spec that are broken, the first ones of many.
        """
        super().__init__(message)
        self.kind = kind
        self.violations = tuple(violations)


class NotSupported(Exception):
    """An implementation does not have what an example takes."""
