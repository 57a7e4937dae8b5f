"""Planted adapters are those of the matrix."""

from __future__ import annotations

import sys
from pathlib import Path

PLANTED = Path(__file__).parents[1] / "matrix"
if str(PLANTED) not in sys.path:
    sys.path.insert(0, str(PLANTED))
