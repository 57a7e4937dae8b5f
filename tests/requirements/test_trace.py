"""The trace has no holes, and each kind of hole would be found."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import attrs
import pytest

from spec_ref.core.records import evolve
from spec_ref.requirements import REASONS, Requirement, Status, _requirement, register
from tools import trace
from tools.proofs import Proof
from tools.trace import Evidence, counts, evidence, modules, never_seen, problems, proof_summary, unseen

ROW = {
    "code": "HSH001",
    "slug": "a-rule",
    "document": "spec",
    "section": "Appendix B: 32-bit Hash Requirements",
    "level": "must",
    "versions": [1, 2, 3],
    "binds": ["writer"],
    "observable": ["hash"],
    "text": "A rule.",
}
MUTANT = Proof("mutant", "hashing:wrong", "vector:hash-one")
ONE = {"HSH001": register()["HSH001"]}


def rule(**changes: Any) -> dict[str, Requirement]:
    return {"HSH001": evolve(ONE["HSH001"], **changes)}


def found(**changes: Any) -> Evidence:
    nothing: dict[str, Any] = {name: {} for name in ("sections", "checks", "emitted", "vectors", "tests")}
    return Evidence(**{**nothing, "stated": {"HSH001": ["`hashing.py` f"]}, **changes})


def test_every_requirement_has_a_place_and_a_proof_or_a_reason() -> None:
    assert list(problems(register(), evidence())) == []


def test_a_reason_is_one_of_those_that_are_known() -> None:
    for reason in REASONS:
        assert _requirement({**ROW, "unproven": f"{reason}: so it is."}).unproven == f"{reason}: so it is."
    for wrong in ("", "later", "not built", "not yet: later."):
        with pytest.raises(AssertionError, match="HSH001"):
            _requirement({**ROW, "unproven": wrong})


def test_reasons_are_sentences_of_adopted_requirements() -> None:
    reasons = {code: one.unproven for code, one in register().items() if one.unproven is not None}
    assert [code for code in reasons if register()[code].status is not Status.ADOPTED] == []
    assert [code for code, reason in reasons.items() if not reason.endswith(".") or len(reason) < 40] == []


@pytest.mark.parametrize(
    "proof", [{"vectors": {"HSH001": {"hashing": 1}}}, {"tests": {"HSH001": {"test_x.py": ["test_a"]}}}]
)
def test_a_requirement_has_a_proof_or_a_reason_and_never_both(proof: dict[str, Any]) -> None:
    because = rule(unproven="not built: later.")
    assert [problem[:26] for problem in problems(ONE, found())] == ["HSH001 has neither proof nor vector"[:26]]
    assert list(problems(ONE, found(**proof))) == []
    assert list(problems(because, found())) == []
    assert [problem[:28] for problem in problems(because, found(**proof))] == ["HSH001 has a proof, and also"]
    assert list(problems(ONE, found(proved={"HSH001": [MUTANT]}))) == []


def test_a_draft_needs_no_proof() -> None:
    assert list(problems(rule(status=Status.V4_DRAFT), found())) == []


def test_a_requirement_that_nothing_states_is_reported() -> None:
    tests = {"HSH001": {"test_x.py": ["test_a"]}}
    assert [problem[:19] for problem in problems(ONE, found(tests=tests, stated={}))] == ["HSH001 is stated by"]
    docstring = {"`hashing.py`": "32-bit Hash Requirements (Appendix B: 32-bit Hash Requirements)."}
    assert list(problems(ONE, found(tests=tests, stated={}, sections=docstring))) == []


def test_a_proof_that_names_no_requirement_is_reported() -> None:
    sound = {"HSH001": {"test_x.py": ["test_a"]}}
    for wrong in (
        {"tests": {**sound, "HSH777": {"test_x.py": ["test_a"]}}},
        {"tests": sound, "vectors": {"XXX001": {"hashing": 1}}},
        {"tests": sound, "proved": {"HSH777": [MUTANT]}},
    ):
        (problem,) = problems(ONE, found(**wrong))
        assert "is not a requirement" in problem
    assert list(problems(ONE, found(tests={**sound, "SHA256": {"test_x.py": ["test_a"]}}))) == []


def test_a_check_whose_code_nothing_emits_is_reported() -> None:
    tests = {"HSH001": {"test_x.py": ["test_a"]}}
    checks = {"MLS004": ["manifest-file-manifest-length-mismatch"]}
    (problem,) = problems(ONE, found(tests=tests, checks=checks))
    assert problem.startswith("MLS004 has the checks manifest-file-manifest-length-mismatch")
    assert list(problems(ONE, found(tests=tests, checks=checks, emitted={"MLS004": ["spec_ref/x.py"]}))) == []
    further = {"DEL001": ["data-file-content-deletes-in-v1"]}  # which has the code DFL001
    assert list(problems(ONE, found(tests=tests, checks=further))) == []


def test_nothing_is_identified_by_searching_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = evidence()
    monkeypatch.setattr(trace, "codes_in", lambda text: [])
    monkeypatch.setattr(trace, "proofs", lambda: whole.proved)  # which take a minute, and name what they break
    blind = evidence.__wrapped__()
    assert blind.stated == blind.tests == {}
    for name in ("checks", "emitted", "vectors", "sections"):
        assert getattr(blind, name) == getattr(whole, name), name
        assert getattr(whole, name)


def test_what_is_emitted_and_never_seen_broken_is_reported() -> None:
    emits = found(emitted={"HSH001": ["spec_ref/hashing.py"]})
    seen = {"HSH001": ["test_x.py"]}
    assert list(unseen(ONE, emits, seen, {})) == []
    assert len(list(unseen(ONE, emits, {}, {}))) == 1
    assert list(unseen(ONE, emits, {}, {"HSH001": "why"})) == []
    assert len(list(unseen(ONE, emits, seen, {"HSH001": "why"}))) == 1
    assert len(list(unseen(ONE, found(), {}, {"HSH001": "why"}))) == 1
    assert len(list(unseen(ONE, emits, {**seen, "HSH777": ["test_x.py"]}, {}))) == 1
    assert len(list(unseen(rule(unproven="not built: later."), emits, seen, {}))) == 1


def test_what_is_never_seen_has_a_reason() -> None:
    assert [code for code, reason in never_seen().items() if code not in register() or not reason.endswith(".")] == []


def test_places_are_the_innermost_that_name_a_code(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        '"""HSH001."""\n\nX = 1\n"""HSH002."""\n\n\nclass A:\n    # HSH003\n    x: int = 1\n    """HSH004."""\n\n'
        '    @property\n    def f(self):\n        """HSH005."""\n        def g():\n            return "HSH006"\n'
    )
    assert dict(trace._named_codes(module)) == {
        "HSH001": "",
        "HSH002": "X",
        "HSH003": "A",
        "HSH004": "A.x",
        "HSH005": "A.f",
        "HSH006": "A.f",
    }
    assert trace._emitted_codes(module) == {"HSH006"}


def test_a_test_is_a_function_that_names_a_code_or_uses_what_does(tmp_path: Path) -> None:
    module = tmp_path / "test_module.py"
    module.write_text(
        '"""HSH001 in passing."""\n\nimport pytest\n\nTABLE = [("HSH002", 1)]\nMORE = [*TABLE, ("HSH003", 2)]\n\n\n'
        'def helper():\n    return "HSH004"\n\n\n@pytest.fixture\ndef thing():\n    return helper()\n\n\n'
        '@pytest.mark.parametrize("case", MORE)\ndef test_a(case):\n    pass\n\n\n'
        'def test_b(thing):  # HSH005\n    pass\n\n\nclass TestC:\n    def test_d(self):\n        "HSH006"\n\n\n'
        'UNUSED = "HSH007"\n'
    )
    assert trace._testing(module) == {
        "HSH001": [],
        "HSH002": ["test_a"],
        "HSH003": ["test_a"],
        "HSH004": ["test_b"],
        "HSH005": ["test_b"],
        "HSH006": ["TestC"],
        "HSH007": [],
    }


def test_each_test_that_the_trace_names_is_there() -> None:
    for code, files in evidence().tests.items():
        for file, functions in files.items():
            text = (trace.ROOT / "tests" / file).read_text(encoding="utf-8")
            assert functions or not Path(file).name.startswith("test_"), (code, file)
            assert [name for name in functions if f"def {name}(" not in text and f"class {name}" not in text] == []


def test_what_proves_a_rule_is_reported_in_numbers() -> None:
    (one,) = ONE.values()
    tests = {"HSH001": {"a/test_x.py": ["test_a", "test_b"], "helper.py": []}}
    vectors = {"HSH001": {"hashing": 2, "reading": 1}}
    everything = found(tests=tests, vectors=vectors, checks={"HSH001": ["a-check"]})
    assert proof_summary(one, everything) == "covered: 3 vectors, 1 check, 2 tests"
    proved = evolve_evidence(everything, [MUTANT, Proof("fault", "f", "v"), Proof("fault", "g", "v")])
    assert proof_summary(one, proved) == "proved: 1 mutant, 2 faults; 3 vectors, 1 check, 2 tests"
    assert proof_summary(one, found(proved={"HSH001": [MUTANT]})) == "proved: 1 mutant"
    assert proof_summary(rule(unproven="not built: later.")["HSH001"], found()) == "none; not built: later."


def evolve_evidence(evidence_: Evidence, proofs: list[Proof]) -> Evidence:
    return attrs.evolve(evidence_, proved={"HSH001": proofs})


def test_only_what_fails_when_the_rule_is_broken_counts_as_proved() -> None:
    vectors = {"HSH001": {"hashing": 9}}
    covered, proved = found(vectors=vectors), found(vectors=vectors, proved={"HSH001": [MUTANT]})
    table = counts(list(ONE.values()), covered)
    assert (table["all"], table["proved"], table["covered, and not proved"], table["by mutants"]) == (1, 0, 1, 0)
    table = counts(list(ONE.values()), proved)
    assert (table["proved"], table["covered, and not proved"], table["by mutants"]) == (1, 0, 1)


def test_the_name_of_a_test_or_vector_does_not_change_the_file() -> None:
    text = "\n".join(trace.lines())
    functions = {name for files in evidence().tests.values() for names in files.values() for name in names}
    assert [name for name in functions if name in text] == []


def test_modules_are_named_once_and_of_many_the_first() -> None:
    assert modules(["`hashing.py` f", "`hashing.py` g", "`core/__init__.py`"]) == ["spec_ref.hashing", "spec_ref.core"]
    assert modules(["(`conformance/a.py`)"]) == ["(conformance.a)"]
    assert modules([f"`m{number}.py`" for number in range(6)])[-1] == "2 more"


def test_fewer_proofs_than_there_were_are_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(trace, "LEAST_PROVED", 10_000)
    assert trace.main(["--check"]) == 1
    assert "fewer than the 10000 before" in capsys.readouterr().err


def test_the_file_says_what_is_not_adopted_apart() -> None:
    lines = list(trace.lines())
    apart = lines.index("## Version 4: a draft, not adopted")
    drafts = [code for code, one in register().items() if one.status is Status.V4_DRAFT]
    place_of = {line.split(" | ")[0].removeprefix("| "): place for place, line in enumerate(lines)}
    assert all((place_of[code] > apart) == (code in drafts) for code in register())


def test_a_stale_file_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(trace, "TRACE", tmp_path / "SPEC_TRACE.md")
    assert trace.main(["--check"]) == 1
    assert "is stale" in capsys.readouterr().err
    assert trace.main([]) == 0
    assert trace.main(["--check"]) == 0


RECORDED = """
from spec_ref.core.errors import SpecError, spec_error
import pytest

def test_seen():
    with pytest.raises(SpecError):
        raise spec_error("HSH001", "broken")

def test_that_fails():
    raise spec_error("HSH002", "broken")

def test_that_sees_nothing():
    pass
"""


def test_the_recorder_writes_what_passing_tests_saw_broken(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(RECORDED)
    out = tmp_path / "deep" / "seen.json"
    command = ["-m", "pytest", "-q", "-p", "tools.trace_recorder", "--trace-out", str(out), "--rootdir", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, *command, "-p", "no:cacheprovider", str(tmp_path)],
        cwd=Path(trace.__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout
    ((code, tests),) = json.loads(out.read_text()).items()
    assert (code, [test.rpartition("/")[2] for test in tests]) == ("HSH001", ["test_it.py::test_seen"])
