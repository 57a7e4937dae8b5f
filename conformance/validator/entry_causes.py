"""The ids of the checks that find wrong entries of a manifest, from which other findings follow."""

from __future__ import annotations

ADDED_AS_EXISTING = "manifest-entry-status-added-as-existing"
NO_NUMBERS = "manifest-entry-explicit-numbers"
NEVER_ADDED = "manifest-entry-deleted-unknown-file"
VANISHED = "manifest-entry-deleted-file-vanished"
OLDER_NUMBER = "manifest-entry-file-sequence-number-mismatch"
OTHER_SNAPSHOT = "manifest-entry-added"
OTHER_CONTENT = "manifest-one-content"
NO_EQUALITY_IDS = "data-file-equality-ids-missing"
NO_POSITIONS = "position-delete-columns-missing-column"
OTHER_ADDER = "manifest-file-added-snapshot-id-of-another-sequence-number"
PUFFIN_OF_ROWS = "data-file-file-format-puffin-without-vector"
