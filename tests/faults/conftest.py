"""Faults around the pipeline: real processes that are killed, real disks that are full, and stores that misbehave."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
if str(ROOT) not in sys.path:  # tools are run from the root and not installed
    sys.path.insert(0, str(ROOT))
