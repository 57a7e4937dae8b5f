"""The theorems, by topic."""

from __future__ import annotations

import importlib

TOPICS = (
    "projection",
    "statistics",
    "logic",
    "arithmetic",
    "sorting",
    "evolution",
    "bounds",
    "planning",
    "deletes",
    "lineage",
    "commits",
    "upgrades",
    "protocol",
)


def load() -> None:
    """Import every topic module, which declares its theorems."""
    for topic in TOPICS:
        importlib.import_module(f"tools.proofs.theorems.{topic}")
