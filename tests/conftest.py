"""What holds for all tests."""

from __future__ import annotations

from hypothesis import settings

# A machine that is busy must not fail a property: speed is measured by the benchmarks, not by deadlines.
settings.register_profile("iceberg", deadline=None, print_blob=True)
settings.load_profile("iceberg")
