"""Requirements state their reason and show what is right and wrong; what code can judge, the reference judges."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from example_judges import JUDGES, codes, parts
from sound_documents import overlaid, sound_metadata

from spec_ref.core.versions import FormatVersion
from spec_ref.requirements import EXAMPLES, NO_EXAMPLE, Requirement, Status, register
from spec_ref.table_metadata import check_metadata

RULES = tuple(register().values())
JUDGED = tuple(rule for rule in RULES if rule.judged is not None)
SEVERAL = frozenset({"answers", "avro-types", "comparisons", "paths", "promotions", "types"})
"""Kinds whose examples are several, and each is judged alone."""

NAMED = ("choice", "definition")
"""The reasons that a row may name; the others follow from its status and its proof."""


def by_code(rule: Requirement) -> str:
    return rule.code


def alone(rule: Requirement, text: str) -> list[str]:
    return parts(text) if rule.judged in SEVERAL else [text]


def unexplained(rule: Requirement) -> bool:
    return rule.why is None or (rule.right is None and rule.no_example is None)


def test_what_a_version_asks_for_is_explained_and_shown() -> None:
    adopted = [rule for rule in RULES if rule.status is Status.ADOPTED and rule.observable != ("none",)]
    assert [rule.code for rule in adopted if unexplained(rule)] == []


def test_what_nothing_shows_or_is_a_draft_has_a_reason_too() -> None:
    assert [rule.code for rule in RULES if unexplained(rule)] == []


def test_a_reason_for_no_example_is_one_of_the_shared_ones() -> None:
    assert [rule.code for rule in RULES if rule.no_example not in (None, *NO_EXAMPLE)] == []
    for file in Path("spec_ref/requirements").glob("*.toml"):
        for line in file.read_text(encoding="utf-8").splitlines():
            assert not line.startswith("no_example") or line in {f'no_example = "{reason}"' for reason in NAMED}
    assert sum(rule.no_example in NAMED for rule in RULES) <= 12, "an example says more than a reason"


def test_reasons_and_examples_are_short() -> None:
    assert [rule.code for rule in RULES if len(rule.why or "") > 280] == []
    assert [
        rule.code for rule in RULES if rule.judged is None and len((rule.right or "") + (rule.wrong or "")) > 360
    ] == []
    assert [rule.code for rule in RULES if rule.right is not None and rule.right == rule.wrong] == []
    assert [rule.code for rule in RULES if rule.why == rule.text] == []


def test_a_kind_of_example_has_a_judge_and_is_used() -> None:
    assert {rule.judged for rule in JUDGED} == set(JUDGES) == set(EXAMPLES)


@pytest.mark.parametrize("rule", JUDGED, ids=by_code)
def test_a_right_example_is_accepted(rule: Requirement) -> None:
    assert rule.judged is not None
    assert rule.right is not None
    assert codes(rule.judged, rule.right, rule) == []


@pytest.mark.parametrize("rule", JUDGED, ids=by_code)
def test_a_wrong_example_is_refused_with_the_code(rule: Requirement) -> None:
    assert rule.judged is not None
    assert rule.wrong is not None
    for text in alone(rule, rule.wrong):
        found = codes(rule.judged, text, rule)
        assert found if rule.judged == "answers" else rule.code in found, text


@pytest.mark.parametrize("version", FormatVersion)
def test_what_fragments_are_laid_over_is_sound(version: FormatVersion) -> None:
    assert check_metadata(json.dumps(sound_metadata(version)).encode()) == []


def test_fragments_are_laid_over_member_by_member_and_item_by_item() -> None:
    document = {"a": {"b": 1, "c": 2}, "d": [{"e": 1, "f": 2}, {"e": 3}], "g": [1, 2]}
    assert overlaid(document, {"a": {"b": 9}}) == {**document, "a": {"b": 9, "c": 2}}
    assert overlaid(document, {"d": [{"e": 9}]})["d"] == [{"e": 9, "f": 2}, {"e": 3}]
    assert overlaid(document, {"d": [{}, {}, {"e": 5}]})["d"] == [*document["d"], {"e": 5}]  # type: ignore[misc]
    assert overlaid(document, {"d": []})["d"] == []
    assert overlaid(document, {"g": [7]})["g"] == [7]
    assert overlaid(document, {"a": None})["a"] is None
