"""The exchange form of table metadata: which members are decimal strings.

Adapters import this inside the environments of engines, so it imports no package.
"""

from __future__ import annotations

LONGS = frozenset(
    {
        "last-sequence-number",
        "last-updated-ms",
        "current-snapshot-id",
        "next-row-id",
        "snapshot-id",
        "parent-snapshot-id",
        "sequence-number",
        "timestamp-ms",
        "first-row-id",
        "added-rows",
        "max-snapshot-age-ms",
        "max-ref-age-ms",
        "file-size-in-bytes",
        "file-footer-size-in-bytes",
    }
)
"""Members of table metadata that are longs: decimal strings in answers; small JSON integers are accepted, too."""
