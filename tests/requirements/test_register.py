"""The register is well formed, agrees with the field tables of the texts, and is written for readers."""

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable

from spec_ref.core.versions import FormatVersion, Presence
from spec_ref.requirements import Requirement, RequirementLevel, Status, register, sources

REQUIREMENTS = tuple(register().values())
BINDS = {"reader", "writer", "table", "committer"}
OBSERVABLE = {
    "commit-race",
    "data-file",
    "hash",
    "manifest",
    "manifest-list",
    "metadata-json",
    "none",
    "property",
    "puffin",
    "single-value",
    "table-read",
    "table-write",
}
VALUES = ("HSH", "TRN", "TYP", "SVB", "SVJ", "JSC", "BND")
"""The areas in which every requirement is explained."""

FIELD_OF_PROSE = "SNP008"
"""The operation of a snapshot summary is required by a sentence, not by a row of its own."""

JARGON = re.compile(r"\b(sv|json|hash32|tm|pstats|pspec)-|\bJAVA\b|\bSEED\b|\bUP\b|->|\biff\b|see [ABCD]\d")
"""Shorthand of working notes, which a newcomer cannot know."""


LAST_CODES = """
GCM007 AVR014 BND011 PRJ006 OCC012 CST011 DFL031 DEF012 DEL027 ENC004 EXP025 FIO004 HSH009 IDF004 JSC009 LOC010 MLS026
MAN023 MUM006 NAM010 NOT012 ORC008 PQT007 PAR027 PUF027 RES006 LIN031 SCN014 EVO019 SEQ009 SVB013 SVJ010 REF008 RET005
SNP018 SRT015 STA040 TMD035 TRN018 TYP037 UDF002 UPG013 VER009 VIW005
"""
"""The last code of each area. A code is never removed, not even the last one."""


def codes(where: Callable[[Requirement], object]) -> list[str]:
    return [requirement.code for requirement in REQUIREMENTS if where(requirement)]


def test_the_register_lost_no_requirement() -> None:
    numbers: dict[str, list[int]] = {}
    for requirement in REQUIREMENTS:
        numbers.setdefault(requirement.code[:3], []).append(int(requirement.code[3:]))
    assert {area: sorted(found) for area, found in numbers.items()} == {
        area: [*range(1, len(found) + 1)] for area, found in numbers.items()
    }
    assert [last for last in LAST_CODES.split() if last not in register()] == []


def test_a_code_is_three_letters_and_three_digits() -> None:
    assert codes(lambda r: not re.fullmatch(r"[A-Z]{3}\d{3}", r.code)) == []


def test_codes_of_an_area_count_up_without_gaps() -> None:
    numbers: dict[str, list[int]] = {}
    for requirement in REQUIREMENTS:
        numbers.setdefault(requirement.code[:3], []).append(int(requirement.code[3:]))
    assert all(found == list(range(1, len(found) + 1)) for found in numbers.values())


def test_a_slug_names_one_requirement() -> None:
    slugs = Counter(requirement.slug for requirement in REQUIREMENTS)
    assert [slug for slug, times in slugs.items() if times > 1] == []


def test_a_slug_is_made_of_words_not_of_a_number() -> None:
    assert codes(lambda r: not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", r.slug) or re.search(r"-\d$", r.slug)) == []


def test_a_section_is_a_heading_of_its_document() -> None:
    assert codes(lambda r: r.section not in sources().documents[r.document].sections) == []


def test_only_the_draft_of_version_4_has_no_versions() -> None:
    assert codes(lambda r: (r.status is Status.V4_DRAFT) != (not r.versions)) == []
    assert codes(lambda r: list(r.versions) != sorted(set(r.versions))) == []


def test_who_is_bound_is_known() -> None:
    assert codes(lambda r: not r.binds or not set(r.binds) <= BINDS) == []


def test_what_shows_it_is_known() -> None:
    assert codes(lambda r: not r.observable or not set(r.observable) <= OBSERVABLE) == []
    assert codes(lambda r: "none" in r.observable and len(r.observable) > 1) == []


def test_field_rows_have_rules_for_every_version_and_a_name() -> None:
    assert codes(lambda r: (r.rules is None) != (r.field is None)) == []
    assert codes(lambda r: r.rules is not None and set(r.rules) != set(FormatVersion)) == []


def test_versions_of_a_field_are_those_that_write_it() -> None:
    def written(requirement: Requirement) -> tuple[FormatVersion, ...]:
        assert requirement.rules is not None
        return tuple(version for version, rule in requirement.rules.items() if rule is not Presence.OMITTED)

    assert codes(lambda r: r.rules is not None and r.versions != written(r)) == []


def test_the_field_rows_are_those_of_the_field_tables() -> None:
    letters = {Presence.REQUIRED: "r", Presence.OPTIONAL: "o", Presence.OMITTED: "-"}
    ours = Counter(
        (r.document, r.section, r.field, "".join(letters[rule] for rule in r.rules.values()))
        for r in REQUIREMENTS
        if r.rules is not None and r.code != FIELD_OF_PROSE
    )
    theirs = Counter(
        (source.document, heading, name, rules)
        for source in sources().documents.values()
        for heading, rows in source.fields.items()
        for name, rules in rows
    )
    assert theirs.total() == 150
    assert ours == theirs


def test_a_text_is_sentences_that_a_newcomer_understands() -> None:
    assert codes(lambda r: not r.text.endswith(".") or not r.text[0].isupper()) == []
    assert codes(lambda r: JARGON.search(r.text)) == []
    assert codes(lambda r: len(r.text) < 25) == []


def test_a_permission_says_that_it_is_one() -> None:
    assert codes(lambda r: r.level is RequirementLevel.MAY and not re.search(r"\b(may|any)\b", r.text)) == []


def test_examples_come_in_pairs_and_sightings_with_a_reason() -> None:
    assert codes(lambda r: (r.right is None) != (r.wrong is None)) == []
    assert codes(lambda r: (r.right or r.seen) and r.why is None) == []


def test_requirements_of_values_are_explained() -> None:
    assert codes(lambda r: r.code.startswith(VALUES) and (r.why is None or r.right is None)) == []


def test_a_sighting_names_an_engine_and_a_link() -> None:
    form = re.compile(r"[A-Za-z][\w\- ]*: https://github\.com/[\w.-]+/[\w.-]+/(issues|pull)/\d+")
    assert codes(lambda r: not all(form.fullmatch(sighting) for sighting in r.seen)) == []


def test_the_register_is_read_fast_enough_for_a_command_line() -> None:
    command = (
        "import time; from spec_ref.requirements import register; start = time.process_time(); register(); "
        "print(time.process_time() - start)"
    )
    seconds = [float(subprocess.check_output([sys.executable, "-c", command])) for _ in range(3)]
    assert min(seconds) < 1, "0.07 s when this was written; the rest is room for a slow machine"
    assert register() is register()
