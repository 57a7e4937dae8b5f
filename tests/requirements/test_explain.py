"""The output of ``explain`` for a requirement."""

from __future__ import annotations

import functools
import json
from typing import Any

import pytest

from conformance import vectors
from conformance.cli.explain import explain, find_deviations, how_to_fix
from conformance.core.spec_links import section_link
from conformance.rules import find_checks, registry
from conformance.runner import expectations
from conformance.runner.expectations import Deviation
from spec_ref.requirements import Status, register, sources


def explained(code: str, capsys: pytest.CaptureFixture[str], *, json_: bool = False) -> Any:
    assert explain(code, format="json" if json_ else "text") == 0
    out = capsys.readouterr().out
    return json.loads(out) if json_ else out


@pytest.fixture(name="loaded", scope="module", autouse=True)
def all_vectors() -> Any:
    """All vectors, which each command of this module takes as they are instead of reading them again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vectors, "load", functools.cache(vectors.load))
        yield vectors.load(vectors.shipped())


def test_everything_that_is_known_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    rule, text, document = register()["HSH007"], explained("HSH007", capsys), explained("HSH007", capsys, json_=True)
    plain = " ".join(text.split())
    for part in (rule.text, rule.why, rule.right, rule.wrong, rule.seen[0], "v1 v2 v3", "binds reader, writer"):
        assert part is not None
        assert part in plain
    assert "D2, Bytes of a uuid" in plain
    assert (document["why"], document["right"], document["wrong"]) == (rule.why, rule.right, rule.wrong)
    assert document["seen"] == list(rule.seen)
    assert "hash-uuid-spec" in document["vectors"]
    assert {"A1", "D2", "D3"} <= set(document["contradictions"])


def test_engines_that_break_a_rule_are_reported_with_evidence(capsys: pytest.CaptureFixture[str]) -> None:
    document = explained("DEL022", capsys, json_=True)
    assert {"duckdb", "iceberg-java"} <= {one["engine"] for one in document["deviations"]}
    assert all(
        one["evidence"] and one["vectors"] and set(one["vectors"]) <= set(document["vectors"])
        for one in document["deviations"]
    )
    text = explained("DEL022", capsys)
    assert all(one["engine"] in text for one in document["deviations"])


PROOFS = {
    "plan": frozenset({"SCN010", "DEL019"}),
    "plan-null": frozenset({"SCN010", "DEL020"}),
    "name": frozenset({"JSC003", "TYP027"}),
}


@pytest.mark.parametrize(
    ("named", "ids", "codes"),
    [
        (("DEL020",), ("plan", "plan-null"), {"DEL020"}),
        ((), ("plan", "plan-null"), {"SCN010"}),
        ((), ("name",), {"JSC003", "TYP027"}),
        ((), ("plan", "name"), {"SCN010", "DEL019", "JSC003", "TYP027"}),
    ],
)
def test_a_deviation_is_from_the_requirements_that_it_names_or_that_its_vectors_share(
    named: tuple[str, ...], ids: tuple[str, ...], codes: set[str]
) -> None:
    one = Deviation(engine="mine", vectors=ids, reason="It is not the same (DEL019).", requirements=named)
    assert one.broken_requirements(PROOFS) == codes


def test_every_deviation_is_reported_of(loaded: Any) -> None:
    proofs = {vector.id: frozenset(vector.requirements) for vector in loaded}
    every = expectations.load_deviations(expectations.SHIPPED, set(proofs)).deviations
    assert all(one.requirements for one in every)
    code = every[0].requirements[0]
    shown = dict(find_deviations(register()[code], [vector for vector in loaded if code in vector.requirements]))
    assert shown[every[0]] == [id_ for id_ in every[0].vectors if code in proofs[id_]]


def test_a_rule_that_tables_break_has_its_checks_and_a_way_to_mend_them(capsys: pytest.CaptureFixture[str]) -> None:
    document = explained("DFL016", capsys, json_=True)
    assert {"data-file-lower-bounds-exceeded", "data-file-lower-bounds-crossed"} <= set(document["checks"])
    assert document["how_to_fix"].startswith("Rewrite the data files")
    assert document["advice"]["kind"] == "rewrite"
    assert document["how_to_fix"] in " ".join(explained("DFL016", capsys).split())
    assert [one.id for one in find_checks(register()["NOT005"])] == [
        "summary-metrics-not-a-number",
        "summary-metrics-mismatch",
    ]


def test_a_check_is_explained_with_its_requirement(capsys: pytest.CaptureFixture[str]) -> None:
    text = explained("data-file-lower-bounds-exceeded", capsys)
    assert text.startswith("data-file-lower-bounds-exceeded\n")
    assert "DFL016" in text
    document = explained("data-file-lower-bounds-exceeded-by-signed-uuid", capsys, json_=True)
    assert document["code"] == "DFL016"
    assert document["check"]["severity"] == "tolerated"
    assert document["check"]["requirements"] == ["DFL016"]
    assert "Iceberg-Java" in document["check"]["reason"]


def test_what_no_table_can_break_has_nothing_to_mend(capsys: pytest.CaptureFixture[str]) -> None:
    fixable = {code for code, rule in register().items() if how_to_fix(rule) is not None}
    adopted = {code for code, rule in register().items() if rule.status is Status.ADOPTED}
    assert fixable == {code for check in registry().values() for code in check.requirements} & adopted
    assert {"TMD006", "LIN023"} <= fixable
    assert not {"HSH007", "EXP012", "OCC001", "CST001"} & fixable
    assert "how to fix" not in explained("HSH007", capsys)


def test_a_reason_stands_where_there_is_no_proof(capsys: pytest.CaptureFixture[str]) -> None:
    assert explained("VIW001", capsys, json_=True)["no_proof"].startswith("out of scope: ")
    assert "no proof" in explained("VIW001", capsys)
    assert explained("HSH007", capsys, json_=True)["no_proof"] is None


def test_links_lead_to_the_text_that_was_read() -> None:
    assert section_link(register()["HSH007"]) == (
        f"https://github.com/apache/iceberg/blob/{sources().commit}/format/spec.md#appendix-b-32-bit-hash-requirements"
    )
    assert section_link(register()["GCM001"]).endswith("/format/gcm-stream-spec.md#file-structure")


@pytest.mark.parametrize("code", ["HSH001", "GCM001", "OCC010", "TMD024", "CST001"])
@pytest.mark.parametrize("json_", [False, True])
def test_every_kind_of_rule_can_be_reported(code: str, json_: bool, capsys: pytest.CaptureFixture[str]) -> None:
    shown = explained(code, capsys, json_=json_)
    assert register()[code].text in (shown["text"] if json_ else shown)
