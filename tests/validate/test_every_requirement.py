"""Every requirement on tables is broken in the kit, or there is a reason why it is reported differently."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import test_diff

from conformance.rules import registry
from spec_ref.requirements import RequirementLevel, Status, register
from tests.validate import corruptions

IN_A_TABLE = {"metadata-json", "manifest-list", "manifest", "data-file", "puffin"}
DOCUMENTS = {"spec", "puffin-spec"}
"""Other documents are about views, functions and encrypted streams, which are not part of a table that is validated."""

OTHERWISE = tomllib.loads(Path(__file__).with_name("exemptions.toml").read_text(encoding="utf-8"))["code"]


def shown() -> set[str]:
    """The adopted requirements of writers and tables that files can show; the register says why others cannot be."""
    return {
        code
        for code, one in register().items()
        if one.status is Status.ADOPTED
        and one.unproven is None
        and one.level is not RequirementLevel.MAY
        and one.document in DOCUMENTS
        and IN_A_TABLE & set(one.observable)
        and {"writer", "table"} & set(one.binds)
        and not code.startswith("EXP")
    }


def broken() -> set[str]:
    """The requirements that a table, or a pair of versions, breaks in the tests."""
    pairs = [found.split()[0] for found, _ in (*test_diff.CASES.values(), *test_diff.FILES.values())]
    further = {code for check in registry().values() for code in check.requirements[1:]}  # every check is shown
    return {one.code for one in corruptions.load()} | set(pairs) | {"EVO009", "EVO019", "PAR009", "PAR013"} | further


def test_every_requirement_that_a_table_shows_is_broken_or_has_a_reason() -> None:
    reasons = {code for row in OTHERWISE for code in row["codes"]}
    assert shown() - broken() == reasons


def test_a_reason_is_given_once_and_names_other_requirements() -> None:
    codes = [code for row in OTHERWISE for code in row["codes"]]
    assert len(codes) == len(set(codes))
    for row in OTHERWISE:
        assert row["reason"].endswith(".")
        assert set(re.findall(r"\b[A-Z]{3}\d{3}\b", row["reason"])) <= set(register())
