"""What holds for all tests."""

from __future__ import annotations

import signal

from hypothesis import HealthCheck, settings

# Interrupts are ignored by what a shell starts in the background, and by all that this starts: the tests of interrupts
# would wait without end.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A machine that is busy must not fail a property: speed is measured by the benchmarks, not by deadlines, nor by how
# long examples take to draw.
SLOW = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("iceberg", print_blob=True, **SLOW)
# The same examples every time: what tests have seen is compared with what they should see (tools/trace.py).
settings.register_profile("repeatable", print_blob=True, derandomize=True, **SLOW)
settings.load_profile("iceberg")
