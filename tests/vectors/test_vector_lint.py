"""The linter finds each kind of problem in a vector file, and its place."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conformance.operations.registry import ROLES
from conformance.vectors import load
from conformance.vectors.lint import NOTHING_TO_ANSWER, canonical, lint, main
from spec_ref.requirements import RequirementLevel, register

VECTORS = Path(__file__).parents[2] / "vectors"
SECTION = "Appendix B: 32-bit Hash Requirements"


def vector(**changes: Any) -> dict[str, Any]:
    """A vector without faults, with some members changed; None leaves one out."""
    members = {
        "id": "hash-int-34",
        "requirements": ["HSH001", "HSH002"],
        "versions": [1, 2, 3],
        "args": {"type": "int", "value": 34},
        "expect": {"ok": 2017239379},
        "origin": "spec: Appendix B",
        **changes,
    }
    return {name: member for name, member in members.items() if member is not None}


def document(*vectors: dict[str, Any], **changes: Any) -> dict[str, Any]:
    head = {"suite": "hashing", "operation": "hash", "section": SECTION}
    return {**head, **changes, "vectors": list(vectors) or [vector()]}


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes a file of a small folder of vectors, canonical where it is given as a document."""
    shutil.copy(VECTORS / "vectors.schema.json", tmp_path)

    def write(content: Any, name: str = "hashing/integers.json") -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content if isinstance(content, str) else canonical(content), encoding="utf-8")
        return path

    return write


def findings(*paths: Path) -> list[str]:
    return [
        f"{finding.line}:{finding.column}: {finding.message}"
        for finding in lint(paths, VECTORS / "vectors.schema.json")
    ]


def test_the_vectors_of_this_repository_have_no_findings() -> None:
    assert main([str(VECTORS)]) == 0


def test_a_file_without_faults_has_no_findings(write: Callable[..., Path]) -> None:
    assert findings(write(document())) == []


# What is changed in the only vector, and the only finding that follows.
FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "unknown requirement": ({"requirements": ["HSH001", "HSH999"]}, "the register has no requirement HSH999"),
    "requirement of another section": ({"requirements": ["SVB002"]}, "none of the requirements is in the section"),
    "version the requirement does not have": ({"requirements": ["HSH006"]}, "HSH006 does not exist in version 1"),
    "unsorted requirements": ({"requirements": ["HSH002", "HSH001"]}, "requirements are not sorted"),
    "unsorted versions": ({"versions": [3, 1]}, "versions are not sorted"),
    "unsorted contradictions": ({"contradiction": ["B1", "A2"]}, "contradiction are not sorted"),
    "unknown contradiction": ({"contradiction": ["Z9"]}, "the register has no contradiction Z9"),
    "several outcomes without a contradiction": (
        {"expect": {"any_of": [{"ok": 1}, {"error": "invalid"}]}},
        "no contradiction of the documents is named",
    ),
    "origin is our own module": ({"origin": "derivation: spec_ref.hashing"}, "the origin is our own code"),
    "origin is our own tool": ({"origin": "derivation: what conformance run said"}, "the origin is our own code"),
    "origin is our reference": ({"origin": "derivation: the reference implementation"}, "the origin is our own code"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_one_finding(write: Callable[..., Path], fault: str) -> None:
    changes, message = FAULTS[fault]
    found = findings(write(document(vector(**changes))))
    if fault.startswith("version"):  # versions 1 and 2 lack it
        assert [message.replace("1", str(version)) in line for version, line in zip((1, 2), found, strict=True)] == [
            True
        ] * 2
    else:
        assert len(found) == 1
        assert message in found[0]


def test_a_sole_refusal_names_a_requirement_that_asks_for_it(write: Callable[..., Path]) -> None:
    refused = vector(id="bound-refused", requirements=["BND003"], versions=[3], expect={"error": "invalid"})
    refused["args"] = {"type": "geometry(OGC:CRS84)", "bytes": ""}
    content = {**document(refused), "operation": "bound.decode", "section": "Bounds for Geometry and Geography"}
    assert set(register()["BND003"].binds) == {"writer"}
    (found,) = findings(write(content))
    assert found.endswith("only a refusal is permitted, and none of its requirements is a must for a reader")
    refused["requirements"] = ["BND002", "BND003"]  # which binds readers
    assert findings(write(content)) == []


def test_a_sole_refusal_does_not_rest_on_a_recommendation(write: Callable[..., Path]) -> None:
    refused = vector(id="type-refused", requirements=["JSC005"], expect={"error": "invalid"})
    refused["args"] = {"type": "fixed[ 16 ]"}
    content = {**document(refused), "operation": "type.parse", "section": "Schemas"}
    assert register()["JSC005"].level is RequirementLevel.SHOULD
    assert register()["JSC005"].binds == ("reader",)
    (found,) = findings(write(content))
    assert found.endswith("only a refusal is permitted, and none of its requirements is a must for a reader or writer")
    refused["requirements"] = ["JSC003", "JSC005"]
    assert findings(write(content)) == []


def test_the_list_of_what_has_no_answer_is_no_longer_than_it_has_to_be() -> None:
    needed = {
        code
        for one in load(VECTORS)
        if one.expect.get("error")
        and not {
            role
            for name in one.requirements
            if register()[name].level is RequirementLevel.MUST
            for party in register()[name].binds
            for role in ROLES[party]
        }
        & one.operation.roles
        for code in one.requirements
    }
    assert needed == set(NOTHING_TO_ANSWER)


# What is changed in the only vector so that the schema alone refuses it.
MISSHAPEN: dict[str, dict[str, Any]] = {
    "no id": {"id": None},
    "no requirements": {"requirements": []},
    "no versions": {"versions": []},
    "no origin": {"origin": None},
    "no expectation": {"expect": None},
    "id in capitals": {"id": "Hash-Int"},
    "id with an underscore": {"id": "hash_int"},
    "code of another form": {"requirements": ["HSH1"]},
    "code twice": {"requirements": ["HSH001", "HSH001"]},
    "version that is a draft": {"versions": [4]},
    "origin of no kind": {"origin": "somebody said so"},
    "engine without a version": {"origin": "engine: iceberg-java"},
    "engine without a derivation": {"origin": "engine: iceberg-java 1.10.2"},
    "expectation of a bug": {"expect": {"error": "internal"}},
    "two expectations": {"expect": {"ok": 1, "error": "invalid"}},
    "one outcome of several": {"expect": {"any_of": [{"ok": 1}]}},
    "the same outcome twice": {"expect": {"any_of": [{"ok": 1}, {"ok": 1}]}},
    "argument missing": {"args": {"type": "int"}},
    "argument unknown": {"args": {"type": "int", "value": 34, "width": 4}},
    "argument of another form": {"args": {"type": 34, "value": 34}},
    "answer of another form": {"expect": {"ok": "2017239379"}},
    "answer out of range": {"expect": {"ok": 2147483648}},
    "answer of another form among several": {"expect": {"any_of": [{"ok": "1"}, {"ok": 2}]}, "contradiction": ["A1"]},
    "empty note": {"note": ""},
    "contradiction of another form": {"contradiction": ["A"]},
}


@pytest.mark.parametrize("fault", MISSHAPEN)
def test_the_schema_refuses_another_form(write: Callable[..., Path], fault: str) -> None:
    assert len(findings(write(document(vector(**MISSHAPEN[fault]))))) == 1


@pytest.mark.parametrize("head", [{"operation": "hashes"}, {"suite": "Hashing"}, {"section": ""}])
def test_the_schema_refuses_another_head(write: Callable[..., Path], head: dict[str, str]) -> None:
    assert len(findings(write(document(**head)))) == 1


def test_an_unknown_member_of_a_vector_is_refused(write: Callable[..., Path]) -> None:
    found = findings(write(json.dumps(document(vector(comment="?")))))
    assert ["1:" in line and "comment" in line for line in found] == [True]


def test_an_unknown_member_of_the_file_is_refused(write: Callable[..., Path]) -> None:
    text = canonical(document()).replace('"suite"', '"title": "x",\n  "suite"', 1)
    assert ["1:1:" in line for line in findings(write(text))] == [True]


def test_the_suite_is_the_name_of_the_folder(write: Callable[..., Path]) -> None:
    assert findings(write(document(), "other/integers.json")) == ["2:12: the suite must be the folder's name, 'other'"]


def test_a_topic_has_a_name_in_lower_case(write: Callable[..., Path]) -> None:
    assert findings(write(document(), "hashing/In_Tegers.json")) == [
        "1:1: a topic is named in lower-case words joined by hyphens"
    ]


def test_a_section_is_one_of_the_register(write: Callable[..., Path]) -> None:
    found = findings(write(document(section="Appendix Z")))
    assert found[0] == "4:14: the register has no section 'Appendix Z'"


def test_the_section_of_a_vector_is_one_of_the_register(write: Callable[..., Path]) -> None:
    found = findings(write(document(vector(), vector(id="hash-other", args={"type": "int", "value": 1}, section="Z"))))
    assert any(one.startswith("7:") and one.endswith("the register has no section 'Z'") for one in found)


def test_a_vector_is_about_its_own_section(write: Callable[..., Path]) -> None:
    found = findings(write(document(vector(section="Scan Planning"))))
    assert found == ["6:43: hash-int-34: none of the requirements is in the section 'Scan Planning'"]


def test_an_id_is_unique_among_all_files(write: Callable[..., Path]) -> None:
    other = vector(args={"type": "int", "value": 35}, expect={"ok": 1})
    found = findings(write(document()), write(document(other), "hashing/others.json"))
    assert len(found) == 1
    assert "already has this id" in found[0]


def test_a_question_is_asked_once(write: Callable[..., Path]) -> None:
    found = findings(write(document(vector(), vector(id="hash-int-34-again"))))
    assert ["hash-int-34-again: the same request as hash-int-34" in line for line in found] == [True]


def test_the_order_of_members_in_the_arguments_is_part_of_the_question(write: Callable[..., Path]) -> None:
    types = [{"type": "list", "element-id": 3}, {"element-id": 3, "type": "list"}]
    rows = [
        vector(id=f"type-{index}", requirements=["JSC007"], args={"type": type_}, expect={"error": "invalid"})
        for index, type_ in enumerate(types)
    ]
    assert (
        findings(write(document(*rows, suite="types", operation="type.parse", section="Schemas"), "types/x.json")) == []
    )


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ('"id"', ' "id"', "6:6"),
        ("  ]\n", "  ] \n", "7:4"),
        ('{"type": "int", "value": 34}', '{"type":"int", "value": 34}', "6:104"),
        ("}\n", "}", "8:2"),
        ("}\n", "}\n\n", "9:1"),
        ("Appendix B: 32", "Appendix\\u0020B: 32", "4:23"),
    ],
)
def test_files_are_written_in_one_way(write: Callable[..., Path], old: str, new: str, place: str) -> None:
    text = canonical(document())
    cut = text.rindex(old) if old == "}\n" else text.index(old)
    found = findings(write(text[:cut] + new + text[cut + len(old) :]))
    assert [line.split(": ")[0] for line in found] == [place]


def test_members_stand_in_the_order_of_the_readme(write: Callable[..., Path]) -> None:
    members = dict(reversed(vector().items()))
    text = canonical(document()).replace(json.dumps(vector()), json.dumps(members))
    assert ["6:7: not in the format" in line for line in findings(write(text))] == [True]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{"suite": "hashing",\n "suite": "x"}', "2:10: broken JSON: Detected duplicate key"),
        ('{"suite": "hashing",\n', "broken JSON: EOF while parsing"),
        ('{"suite": NaN}', "1:11: broken JSON: expected value"),
        ('{"suite": "\\ud800"}', "broken JSON: "),
        ("", "broken JSON: "),
    ],
)
def test_a_broken_file_is_reported_with_its_place(
    write: Callable[..., Path], capsys: pytest.CaptureFixture[str], text: str, line: str
) -> None:
    path = write(text)
    assert main([str(path)]) == 2
    output = capsys.readouterr().out
    assert output.startswith(f"{path}:")
    assert line in output
    assert output.count("\n") == 1


def test_json_of_another_form_is_a_finding(write: Callable[..., Path]) -> None:
    assert main([str(write("[]"))]) == 1


def test_a_file_that_is_not_there_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "none.json")]) == 2
    assert "cannot be read: No such file" in capsys.readouterr().out


def test_a_folder_without_vectors_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 2
    assert "no vector files in it" in capsys.readouterr().err


def test_findings_are_one_line_each_with_their_place(
    write: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(document(vector(), vector(id="hash-int-35", args={"type": "int", "value": 35}, versions=[3, 1])))
    assert main([str(path.parent.parent)]) == 1
    column = canonical(document()).splitlines()[5].index("[1, 2, 3]") + 1
    assert capsys.readouterr().out == f"{path}:7:{column}: hash-int-35: versions are not sorted\n"
