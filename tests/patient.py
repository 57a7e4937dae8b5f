"""How long tests wait for real engines: a machine that is slow or busy is not a fault of theirs."""

from __future__ import annotations

from conformance.runner.process import AdapterLimits

PATIENT = AdapterLimits(start=600, request=300)
"""Against an engine that hangs, not against one that takes its time."""
