"""Errors of a property test: the property does not hold, or it cannot be tested."""

from __future__ import annotations

from collections.abc import Iterable

from conformance.operations.comparison import Difference
from spec_ref.core.errors import Violation
from spec_ref.core.json_types import Json


class Broken(Exception):
    """A property does not hold; the message says where and how."""

    def __init__(
        self,
        kind: str,
        message: str,
        violations: Iterable[Violation] = (),
        *,
        differences: Iterable[Difference] = (),
        filtered: tuple[str, Json] | None = None,
    ) -> None:
        """Make the error.

        Args:
            kind: the kind of failure, without details of the example: a smaller example must fail in the same way.
            message: the failure, for people; nothing compares or parses it.
            violations: the violations of the spec, only the first if there are many.
            differences: how rows or a table differ from the expected ones, only the first if there are many.
            filtered: the branch or tag and the filter, if a read with a filter gives the wrong rows.
        """
        super().__init__(message)
        self.kind = kind
        self.violations = tuple(violations)
        self.differences = tuple(differences)
        self.filtered = filtered

    @property
    def predicate(self) -> Json:
        """The filter of a read that gives the wrong rows; None if it has none."""
        return None if self.filtered is None else self.filtered[1]


class NotSupported(Exception):
    """An implementation does not support what an example needs."""
