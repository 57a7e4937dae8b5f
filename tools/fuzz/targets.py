"""All readers of bytes or text from outside, with the errors that they document."""

from __future__ import annotations

from tools.fuzz import readers_of_documents, readers_of_files, readers_of_values
from tools.fuzz.target import Target

TARGETS: dict[str, Target] = {
    target.name: target
    for target in (*readers_of_documents.TARGETS, *readers_of_files.TARGETS, *readers_of_values.TARGETS)
}
"""All targets, by name."""
