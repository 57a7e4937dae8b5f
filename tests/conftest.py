"""What holds for all tests."""

from __future__ import annotations

from hypothesis import settings

# A machine that is busy must not fail a property: speed is measured by the benchmarks, not by deadlines.
settings.register_profile("iceberg", deadline=None, print_blob=True)
# The same examples every time: what tests have seen is compared with what they should see (tools/trace.py).
settings.register_profile("repeatable", deadline=None, print_blob=True, derandomize=True)
settings.load_profile("iceberg")
