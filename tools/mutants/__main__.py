"""Running mutants: ``python -m tools.mutants run [WORD...]``, ``survivors``, ``draw``; see `tools.mutants`."""

from __future__ import annotations

import argparse
import functools
import hashlib
import pickle
import sys
import time
from pathlib import Path

from tools.mutants import arena, drawing
from tools.mutants.mutant import (
    DRAWN,
    ROOT,
    SCORE,
    TABLE,
    Mutant,
    chosen,
    dump,
    equivalents,
    killers,
    load,
    remember,
    text,
)

CACHE = ROOT / ".cache" / "mutants"

DRAWN_HEADING = """\
# Drawn by `python -m tools.mutants draw` from the code of each module; drawn anew where that changed.
"""
SCORE_HEADING = """\
# Written by `make mutants`: what kills each mutant, and the sums. Tests hold that they get no worse.
"""


def main(arguments: list[str]) -> int:
    """Do what is asked; 0 unless a mutant survives."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__)
    parser.add_argument("what", choices=["run", "draw"], help="run mutants, or draw new ones for changed code")
    parser.add_argument("words", nargs="*", help="parts of the names of mutants; all where none is given")
    parser.add_argument(
        "--again", action="store_true", help="hold all anew against everything, those with a reason too"
    )
    given = parser.parse_args(arguments)
    if given.what == "draw":
        DRAWN.write_text(dump(drawing.draw_all(load(DRAWN)), DRAWN_HEADING), encoding="utf-8")
        print(f"{len(load(TABLE))} mutants in the table, {len(load(DRAWN))} drawn")
        return 0
    return _run(given.words, again=given.again)


def _run(words: list[str], *, again: bool) -> int:
    mutants, known, reasons = chosen(words), killers(), equivalents()
    preloaded = arena.Preloaded()
    status, problem = arena.materialize()
    if status != "done":
        raise SystemExit(problem)
    results: dict[str, tuple[str, str]] = {}
    for number, mutant in enumerate(mutants, 1):
        began = time.monotonic()
        killer = None if again else known.get(mutant.id)
        if mutant.id in reasons and not again:
            found = ("equivalent", reasons[mutant.id])
        else:
            found = arena.fight(preloaded, mutant, killer, lambda: coverage(preloaded))
        if found[0] == "survived" and mutant.id in reasons:
            found = ("equivalent", reasons[mutant.id])
        results[mutant.id] = found
        if found[0] == "killed":
            remember(mutant.id, found[1])
        seconds = time.monotonic() - began
        print(f"{number}/{len(mutants)} {found[0]} {mutant.id} {found[1]} ({seconds:.1f} s)", flush=True)
    _tell(results)
    if not words:
        SCORE.write_text(score_text(mutants, results), encoding="utf-8")
    return int(any(status in ("survived", "stillborn") for status, _ in results.values()))


def _tell(results: dict[str, tuple[str, str]]) -> None:
    counts = {kind: sum(status == kind for status, _ in results.values()) for kind in KINDS}
    print(f"{len(results)} mutants: " + ", ".join(f"{count} {kind}" for kind, count in counts.items()))
    for id_, (status, how) in results.items():
        if status in ("survived", "stillborn") or (status == "killed" and id_ in equivalents()):
            print(f"  {status}: {id_} {how}")


KINDS = ("killed", "equivalent", "survived", "stillborn")


def score_text(mutants: list[Mutant], results: dict[str, tuple[str, str]]) -> str:
    """The score in its file's form; mutants without a result are told as untried."""
    known = {one.id: results.get(one.id, ("untried", "")) for one in mutants}
    lines = [SCORE_HEADING, f"mutants = {len(mutants)}"]
    lines += [f"{kind} = {sum(status == kind for status, _ in known.values())}" for kind in (*KINDS, "untried")]
    for name, kind in (("survivors", "survived"), ("not_tried", "untried")):
        ids = [f"  {text(id_)}," for id_, (status, _) in known.items() if status == kind]
        lines += [f"{name} = [", *ids, "]"]
    lines += ["", "[killed_by]"]
    lines += [f"{text(id_)} = {text(how)}" for id_, (status, how) in known.items() if status == "killed"]
    return "\n".join(lines) + "\n"


_COVERAGE: list[arena.Coverage] = []


def coverage(preloaded: arena.Preloaded) -> arena.Coverage:
    """What runs what; measured once for each state of the reference, the vectors and the checks."""
    if not _COVERAGE:
        _COVERAGE.append(arena.joined(_covered(preloaded, kind) for kind in ("vector", *arena.CHECKS)))
        for case in _COVERAGE[0].wrong:
            if case.startswith("first:"):
                continue  # the reference decided otherwise
            print(f"without any mutation, {case} does not come out as it should: it is left out", file=sys.stderr)
    return _COVERAGE[0]


def _covered(preloaded: arena.Preloaded, kind: str) -> arena.Coverage:
    kept = CACHE / f"coverage-{kind}-{_digest()}.pickle"
    if kept.exists():
        coverage: arena.Coverage = pickle.loads(kept.read_bytes())
        return coverage
    print(f"running every {kind} once, to know what runs what", file=sys.stderr, flush=True)
    coverage = arena.measure(preloaded, kind)
    CACHE.mkdir(parents=True, exist_ok=True)
    for old in CACHE.glob(f"coverage-{kind}-*.pickle"):
        old.unlink()
    kept.write_bytes(pickle.dumps(coverage))
    return coverage


@functools.cache
def _digest() -> str:
    sources: list[Path] = [*(ROOT / "spec_ref").rglob("*.py"), *(ROOT / "tests" / "validate").rglob("*.py")]
    sources.append(ROOT / "tools" / "mutants" / "ways.py")
    sources += (ROOT / "vectors").glob("*/*.json")
    digest = hashlib.sha256()
    for path in sorted(sources):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
