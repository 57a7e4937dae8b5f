"""How often and how fast a commit is retried, by the table's properties (Optimistic Concurrency)."""

from __future__ import annotations

from collections.abc import Mapping

from spec_ref.core.errors import spec_error
from spec_ref.core.numbers import LONG_DIGITS
from spec_ref.core.records import evolve, record

RETRY_DIGITS = 12
"""The maximum number of digits of a number of retries, or of a time in milliseconds."""


@record
class RetryPolicy:
    """The limits of retrying. The spec has no defaults; these are Iceberg-Java's."""

    num_retries: int = 4
    min_wait_ms: int = 100
    max_wait_ms: int = 60_000
    total_timeout_ms: int = 1_800_000

    def wait_ms(self, retry: int) -> int:
        """Compute the time to wait before a retry: twice as long each time, up to the limit.

        Args:
            retry: the number of the retry, from 0.

        Returns:
            The time in milliseconds.
        """
        return min(self.min_wait_ms << min(retry, 40), self.max_wait_ms)


PROPERTIES = {
    "num_retries": "commit.retry.num-retries",
    "min_wait_ms": "commit.retry.min-wait-ms",
    "max_wait_ms": "commit.retry.max-wait-ms",
    "total_timeout_ms": "commit.retry.total-timeout-ms",
}


def read_retry_policy(properties: Mapping[str, str]) -> RetryPolicy:
    """Read the retry policy from the table's properties.

    Args:
        properties: the table properties.

    Returns:
        The policy, with defaults for absent properties.

    Raises:
        SpecError: TMD014 if a property is not a whole number.
    """
    policy = RetryPolicy()
    for attribute, name in PROPERTIES.items():
        policy = evolve(
            policy, **{attribute: read_whole_number(properties, name, getattr(policy, attribute), RETRY_DIGITS)}
        )
    return policy


def read_whole_number(properties: Mapping[str, str], name: str, default: int, digits: int = LONG_DIGITS) -> int:
    """Read a table property that is a number.

    Args:
        properties: the table properties.
        name: the name of the property.
        default: its value if it is absent.
        digits: the maximum number of its digits.

    Returns:
        The number, 0 or more.

    Raises:
        SpecError: TMD014 if it is not a whole number.
    """
    text = properties.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= digits):
        raise spec_error("TMD014", "the property is not a whole number", found=text, path=f"/properties/{name}")
    return int(text)
