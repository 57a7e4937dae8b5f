"""A pytest plugin that replaces a module by a mutant, and its runner: tests kill mutants that no vector can.

A killer ``test:tests/x/test_y.py::test_z`` is a test that passes, and fails with the mutant. It runs in a separate
process, which installs the mutant before it imports anything of the reference.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict

from tools.mutants.mutant import ROOT, Mutant

VARIABLE = "ICEBERG_CONFORMANCE_MUTANT"
"""The environment variable with the mutant as JSON."""

KIND = "test:"
PYTEST = (sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider")
FAILED = 1
"""The exit status of pytest if a test failed; others except 0 mean that no test could be run."""


def fails(mutant: Mutant | None, killer: str, seconds: int = 600) -> bool:
    """Return whether a test fails with a mutant, or without one.

    Raises:
        ValueError: the test could not be run.
    """
    variables = {**os.environ, "PYTHONPATH": str(ROOT)}
    plugin: tuple[str, ...] = ()
    if mutant is not None:
        variables[VARIABLE] = json.dumps(asdict(mutant))
        plugin = ("-p", "tools.mutants.in_tests")
    command = [*PYTEST, *plugin, killer.removeprefix(KIND)]
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return True
    if done.returncode not in (0, FAILED):
        raise ValueError(f"{killer} could not be run: {done.stdout[-500:]}{done.stderr[-500:]}")
    return done.returncode == FAILED


def _begin() -> None:
    from tools.mutants.killing import replace_in_process

    fields = json.loads(os.environ[VARIABLE])
    replace_in_process(Mutant(**{**fields, "codes": tuple(fields["codes"])}), patches=False)


if VARIABLE in os.environ:
    _begin()
