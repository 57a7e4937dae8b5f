"""Fuzzing guided by coverage, with Atheris: an input that reaches new code of a reader is broken further.

Each target runs in a separate process, with Atheris on its path. Atheris is not a dependency of the project, because it
does not support every Python that the project supports; ``make fuzz`` installs it beside the environment. Inputs are
broken by Atheris, and by the target's mutation, which corrects lengths and checksums. Limits and findings are those of
`tools.fuzz.running`.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FunctionType

from tools.entry_point import run_without_parser
from tools.fuzz.mutations import MAX_BYTES
from tools.fuzz.running import MEMORY, MOST_FINDINGS, SECONDS, Attempts, Finding, Outcome
from tools.fuzz.target import ROOT, Target
from tools.fuzz.targets import TARGETS

ATHERIS = Path(sys.prefix) / "atheris"
"""The folder into which ``make fuzz`` installs Atheris."""

INSTRUMENTED = ("spec_ref", "conformance")
GENERATED = "<string>"
"""The file name of functions that are generated from the field tables on import."""

PLANTED = "planted"
"""The name of a reader that fails only for four specific bytes, which random inputs practically never contain."""


class GuidanceError(Exception):
    """Coverage does not guide the fuzzer: Atheris is missing, or does not find the planted fault."""


def fuzz_with_coverage(
    name: str, seconds: float, seed: int, new: Path | None = None, atheris: Path = ATHERIS
) -> Outcome:
    """Fuzz a target for some seconds of processor time, in a separate process.

    Args:
        name: the name of the target.
        seconds: the processor time.
        seed: the seed; two runs with it differ only if their timing does.
        new: an empty folder, which receives the inputs that reach new code.
        atheris: the folder with the package.

    Raises:
        GuidanceError: the package is missing.
    """
    if not (atheris / "atheris").exists():
        raise GuidanceError(f"Atheris is not in {atheris}; `make fuzz` installs it")
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        place = Path(folder)
        new = new or place / "new"
        new.mkdir(exist_ok=True)
        env = os.environ | {"PYTHONPATH": os.pathsep.join((str(ROOT), str(atheris)))}
        command = [sys.executable, "-m", "tools.fuzz.guided", name, str(seconds), str(seed), str(place), str(new)]
        with (place / "output").open("wb") as output:
            try:
                status = subprocess.run(
                    command, env=env, cwd=ROOT, stdout=output, stderr=output, check=False, timeout=20 * seconds + 600
                ).returncode
            except subprocess.TimeoutExpired:
                status = -1
        if (place / "outcome").exists():
            content = json.loads((place / "outcome").read_text(encoding="utf-8"))
            findings = [Finding(name, bytes.fromhex(data), error) for data, error in content["findings"]]
            return Outcome(name, content["inputs"], content["seconds"], findings)
        left = next((path.read_bytes() for path in sorted(place.glob("left-*"))), b"")
        end = (place / "output").read_bytes()[-4000:].decode("utf-8", "replace")
        return Outcome(name, findings=[Finding(name, left, f"the run ended with status {status}", end)])


def check(seed: int, atheris: Path = ATHERIS, seconds: float = 60) -> None:
    """Check that coverage guides the fuzzer: it finds a fault that random inputs do not find.

    Raises:
        GuidanceError: the fault is not found.
    """
    outcome = fuzz_with_coverage(PLANTED, seconds, seed, atheris=atheris)
    if [one.data[:4] for one in outcome.findings] != [b"\xde\xad\xbe\xef"]:
        findings = "; ".join(f"{one.error} {one.output}" for one in outcome.findings)
        raise GuidanceError(f"in {outcome.inputs:,} inputs it did not find the planted fault: {findings}")


# The functions below run in the process of one target.


def _planted_reader() -> Callable[[bytes], object]:
    def read(data: bytes) -> object:
        if data[:1] == b"\xde" and data[1:2] == b"\xad" and data[2:3] == b"\xbe" and data[3:4] == b"\xef":
            raise KeyError("planted")
        return None

    return read


def _run(name: str, seconds: float, seed: int, place: Path, new: Path) -> None:
    """Fuzz one target; does not return, as the engine ends the process."""
    import atheris

    target = Target(PLANTED, _planted_reader, lambda: [b"sound"]) if name == PLANTED else TARGETS[name]
    with atheris.instrument_imports(include=list(INSTRUMENTED)):
        read = target.load()
        for seed_input in target.initial_inputs()[:3]:  # modules that the first inputs import
            with contextlib.suppress(Exception):
                read(seed_input)
    for function in [one for one in gc.get_objects() if isinstance(one, FunctionType)]:
        if function.__code__.co_filename == GENERATED or (name == PLANTED and function is read):
            atheris.instrument_func(function)
    kept = target.initial_inputs()
    seeds = place / "seeds"
    seeds.mkdir()
    for number, data in enumerate(kept):
        (seeds / f"{number:05}").write_bytes(data)
    attempts = Attempts(target.name, read, most=1 if name == PLANTED else MOST_FINDINGS)

    def one(data: bytes) -> None:
        failed = attempts.failed
        attempts.try_input(data)
        if (attempts.failed > failed or attempts.outcome.inputs & 63 == 0) and attempts.is_over(seconds):
            outcome = attempts.end()
            findings = [(found.data.hex(), found.error) for found in outcome.findings]
            document = {"inputs": outcome.inputs, "seconds": outcome.seconds, "findings": findings}
            (place / "outcome").write_text(json.dumps(document), encoding="utf-8")
            os._exit(0)

    def broken(data: bytes, size: int, number: int) -> bytes:
        if number & 1:
            return bytes(atheris.Mutate(data, size))
        return target.mutate(random.Random(number), bytes(data), kept)[:size]

    options = [
        f"-max_len={MAX_BYTES}",
        f"-seed={seed % (1 << 31) or 1}",
        f"-artifact_prefix={place}/left-",
        f"-timeout={20 * SECONDS}",
        f"-rss_limit_mb={MEMORY >> 20}",
        "-verbosity=0",
    ]
    atheris.Setup(["fuzz", *options, str(new), str(seeds)], one, custom_mutator=broken)
    atheris.Fuzz()


def main(name: str, seconds: str, number: str, place: str, new: str) -> None:
    """Run one target in this process, for `fuzz_with_coverage`."""
    _run(name, float(seconds), int(number), Path(place), Path(new))


if __name__ == "__main__":
    run_without_parser(main, *sys.argv[1:])
