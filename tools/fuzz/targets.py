"""All readers of bytes or text from outside, with the errors that they document."""

from __future__ import annotations

from tools.fuzz import document_readers, file_readers, value_readers
from tools.fuzz.target import Target

TARGETS: dict[str, Target] = {
    target.name: target for target in (*document_readers.TARGETS, *file_readers.TARGETS, *value_readers.TARGETS)
}
"""All targets, by name."""
