"""What holds for all tests."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# A machine that is busy must not fail a property: speed is measured by the benchmarks, not by deadlines, nor by how
# long examples take to draw.
SLOW = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("iceberg", print_blob=True, **SLOW)
# The same examples every time: what tests have seen is compared with what they should see (tools/trace.py).
settings.register_profile("repeatable", print_blob=True, derandomize=True, **SLOW)
settings.load_profile("iceberg")
