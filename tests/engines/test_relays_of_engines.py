"""The reference and PyIceberg change tables in turn; `make relay` runs more engines and scripts."""

from __future__ import annotations

from pathlib import Path

import pytest
from patient import PATIENT

from conformance.properties.relay import RelayEngine, Relays, run_relays
from conformance.properties.relay_known import load_known
from conformance.properties.relay_results import count_handovers
from conformance.properties.script_maker import Size
from conformance.runner.targets import find_targets

pytestmark = pytest.mark.engine

WITHOUT = frozenset({"v3", "orc", "avro", "merge-on-read", "delete-equal", "upsert", "compact"})
"""What PyIceberg does not have, so that it has its share of the steps."""


def test_the_reference_and_pyiceberg_pass_tables_on(tmp_path: Path) -> None:
    reference, pyiceberg = find_targets(["reference", "pyiceberg"], PATIENT)
    with reference.open() as one, pyiceberg.open() as other:
        engines = {
            "reference": RelayEngine("reference", one, one.start()),
            "pyiceberg": RelayEngine("pyiceberg", other, other.start()),
        }
        relays = Relays(engines, load_known())
        found = run_relays(relays, 5, 4, WITHOUT, size=Size(columns=3, operations=6), keep=tmp_path)
    assert [(one.failure, one.steps) for one in found.counterexamples] == []
    counts = count_handovers(found.handovers, list(engines))
    assert counts["reference", "pyiceberg"]["done"]
    assert counts["pyiceberg", "reference"]["done"]
