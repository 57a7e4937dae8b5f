"""What the texts leave open is recorded once, with the requirements concerned and a decision."""

import re
from collections import Counter

from spec_ref.requirements import contradictions, register

ALL = tuple(contradictions().values())


def test_each_series_counts_up_without_gaps() -> None:
    counts = Counter(one.id[0] for one in ALL)
    assert counts >= Counter({"A": 32, "B": 37, "C": 27, "D": 9, "E": 26}), "none is ever removed"
    assert [one.id for one in ALL] == [f"{series}{n}" for series in "ABCDE" for n in range(1, counts[series] + 1)]


def test_they_name_requirements_of_the_register() -> None:
    assert [(one.id, code) for one in ALL for code in one.requirements if code not in register()] == []
    assert [one.id for one in ALL if not one.requirements] == []


def test_every_part_is_reported_in_sentences() -> None:
    assert [one.id for one in ALL for part in (one.texts, one.implementations, one.decision) if part[-1] != "."] == []


def test_links_are_threads_of_public_repositories() -> None:
    form = re.compile(r"https://github\.com/[\w.-]+/[\w.-]+/(issues|pull)/\d+")
    assert [(one.id, link) for one in ALL for link in one.links if not form.fullmatch(link)] == []
