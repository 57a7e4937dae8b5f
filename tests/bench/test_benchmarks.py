"""The benchmarks: comparisons, reports, and peers whose process ends."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tools.bench import report
from tools.bench.measure import BenchError, Claim, Measure, Peer, in_turns


def claim(**fields: Any) -> Claim:
    return Claim(**{"path": "rows read", "case": "all", "peer": "peer 1.0", **fields})


def test_ratio_is_the_median_of_the_rounds_and_not_that_of_the_medians() -> None:
    measured = claim(ours=(1.0, 4.0, 9.0), theirs=(2.0, 2.0, 3.0), goal=2.0)
    assert measured.values == (0.5, 2.0, 3.0)
    assert (measured.value, measured.reached) == (2.0, True)


@pytest.mark.parametrize(
    ("measure", "ours", "goal", "reached"),
    [
        (Measure.RATIO, 2.1, 2.0, False),
        (Measure.RATIO, 2.0, 2.0, True),
        (Measure.REQUESTS, 2.1, 2.0, False),
        (Measure.REQUESTS, 2.0, 2.0, True),
        (Measure.RATE, 9.0, 10.0, False),
        (Measure.RATE, 10.0, 10.0, True),
        (Measure.SECONDS, 0.3, 0.25, False),
        (Measure.SECONDS, 0.25, 0.25, True),
        (Measure.RATIO, 9.0, None, None),
    ],
)
def test_goal_is_a_most_for_times_and_a_least_for_rates(
    measure: Measure, ours: float, goal: float | None, reached: bool | None
) -> None:
    theirs = (1.0,) if measure in (Measure.RATIO, Measure.REQUESTS) else ()
    assert claim(ours=(ours,), theirs=theirs, measure=measure, goal=goal).reached is reached


def test_what_is_missed_is_reported_everywhere(tmp_path: Path) -> None:
    claims = [claim(ours=(3.0,), theirs=(1.0,), goal=2.0), claim(case="few", ours=(1.0,), theirs=(1.0,), goal=2.0)]
    assert report.line(claims[0]).endswith("MISSED")
    assert "MISSED" not in report.line(claims[1])
    assert report.summary(claims).splitlines()[0] == "1 of 2 goals reached"
    report.store(tmp_path, claims, quick=False, partly=False)
    page = (tmp_path / "benchmarks.md").read_text()
    assert re.search(r"\| rows read \| all \|.*\| 3 \| 3 to 3 \| at most 2 \| \*\*missed\*\* \|", page)
    assert "1 of 2 goals are reached" in page
    assert (tmp_path / "benchmarks.svg").read_text().count("<svg") == 1


def test_stored_figures_come_back_and_a_change_is_shown(tmp_path: Path) -> None:
    before = claim(ours=(3.0, 3.0), theirs=(1.0, 1.0))
    report.store(tmp_path, [before], quick=True, partly=False)
    assert not (tmp_path / "benchmarks.md").exists()
    stored = report.load(tmp_path / report.file_name(quick=True))
    now = claim(peer="peer 1.1", ours=(4.0,), theirs=(1.0,))
    assert stored == {now.key: before}  # for any version of the peer
    assert report.line(now, stored[now.key]).endswith("was 3")


def test_some_paths_leave_the_figures_of_the_others(tmp_path: Path) -> None:
    one, other = claim(path="commits", ours=(1.0,), theirs=(1.0,)), claim(ours=(2.0,), theirs=(1.0,))
    report.store(tmp_path, [one, other], quick=True, partly=False)
    again = claim(case="few", ours=(5.0,), theirs=(1.0,))
    report.store(tmp_path, [again], quick=True, partly=True)
    assert list(report.load(tmp_path / report.file_name(quick=True)).values()) == [one, again]


def test_turns_are_taken_and_the_first_round_does_not_count() -> None:
    turns: list[str] = []

    def way(name: str) -> float:
        turns.append(name)
        return float(len(turns))

    taken = in_turns({"a": lambda: way("a"), "b": lambda: way("b")}, 2)
    assert turns == ["a", "b"] * 3
    assert taken == {"a": (3.0, 5.0), "b": (4.0, 6.0)}


def test_peer_that_ends_is_reported() -> None:
    program = "import sys; print('1'); sys.stdin.readline(); sys.exit(7)"
    with Peer(None, program) as peer, pytest.raises(BenchError, match="status 7"):
        peer("question")


@pytest.mark.parametrize(("ours", "theirs"), [((), ()), ((0.0, 1.0), ()), ((1.0,), (0.0,)), ((1.0, 1.0), (1.0,))])
def test_what_is_no_measurement_is_refused(ours: tuple[float, ...], theirs: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="no measurement"):
        claim(ours=ours, theirs=theirs)
