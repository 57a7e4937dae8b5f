"""``run`` and ``replay`` as a person runs them."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from shipped_vectors import shipped_vectors

from conformance.reports import KINDS, renderer
from conformance.reports.terminal import WIDTH
from conformance.runner.results import read as read_results

Cli = Callable[..., "subprocess.CompletedProcess[str]"]
Adapter = Callable[[str], str]
Outcome = tuple[str, str, object]
WholeRun = tuple["subprocess.CompletedProcess[str]", list[Outcome]]


def one_line(text: str) -> str:
    """Check that the text is one line that names the tool, without a traceback, and return it."""
    assert text.startswith("iceberg-conformance: ")
    assert text.count("\n") == 1
    assert "Traceback" not in text
    return text.removeprefix("iceberg-conformance: ").rstrip("\n")


def outcomes(results: Path) -> list[Outcome]:
    """Return the results in a file: the id of each vector, its status, and the permitted outcome that was chosen."""
    rows = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    return [(row["id"], row["status"], row.get("chosen")) for row in rows if row["kind"] == "result"]


@pytest.fixture(scope="module")
def whole_run(run_in: Callable[[Path], Cli], tmp_path_factory: pytest.TempPathFactory) -> WholeRun:
    """A run of all vectors of the wheel against the reference, and its results."""
    folder = tmp_path_factory.mktemp("whole-run")
    done = run_in(folder)("run", "--results", "results.jsonl")
    return done, outcomes(folder / "results.jsonl")


def test_the_reference_conforms_to_all_vectors_of_the_wheel(whole_run: WholeRun) -> None:
    done, _ = whole_run
    assert done.returncode == 0, done.stdout[-3000:]
    assert done.stderr == ""
    assert done.stdout.endswith(" passed; conformant\n")


def test_the_reference_behind_the_protocol_answers_as_in_process(cli: Cli, tmp_path: Path, whole_run: WholeRun) -> None:
    """All but the long scripts, whose operations others ask for: the protocol does not depend on their length."""
    adapter = f"{sys.executable} -m conformance.engines.reference.adapter"
    assert cli("run", "--adapter", adapter, "-k", "not thorough", "--results", "results.jsonl").stderr == ""
    asked = {vector.id: vector.operation for vector in shipped_vectors() if "thorough" not in vector.tags}
    assert set(asked.values()) == {vector.operation for vector in shipped_vectors()}
    _, in_process = whole_run
    assert outcomes(tmp_path / "results.jsonl") == [one for one in in_process if one[0] in asked] != []


def test_a_right_adapter_passes(cli: Cli, folder: Path, adapter: Adapter) -> None:
    done = cli("run", "--adapter", adapter("good"), "--vectors", folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "10 passed; conformant" in done.stdout


def test_a_failure_is_reported_with_all_that_one_needs_and_its_command_reproduces_it(
    cli: Cli, folder: Path, adapter: Adapter, tmp_path: Path
) -> None:
    done = cli("run", "--adapter", adapter("wrong"), "--vectors", folder)
    assert done.returncode == 1
    assert "9 passed, 1 failed; not conformant" in done.stdout
    assert 'difference   (the answer): expected "fixed[7]", got "fixed[8]"' in done.stdout
    (line,) = [line for line in done.stdout.splitlines() if "reproduce " in line]
    command = shlex.split(line.split("reproduce", 1)[1])
    assert command[0] == "iceberg-conformance"
    again = cli(*command[1:])
    assert again.returncode == 1
    assert again.stdout.startswith("mini-7 · miniature 1.2.3 · failed\n")
    assert '    -> {"seq":1,"op":"type.parse","args":{"type":"fixed[7]"}}\n' in again.stdout
    assert '    <- {"seq": 1, "ok": "fixed[8]"}\n' in again.stdout
    assert "requirement  TYP023 " in again.stdout


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("dies", "exited with status 3"),
        ("killed", "was killed by SIGSEGV"),
        ("hangs", "no answer within 2 s"),
        ("garbage", "wrote a line that is not JSON"),
    ],
)
def test_a_crash_costs_one_case_and_the_run_goes_on(
    cli: Cli, folder: Path, adapter: Adapter, name: str, reason: str
) -> None:
    done = cli("run", "--adapter", adapter(name), "--vectors", folder, "--timeout", "2" if name == "hangs" else "60")
    assert done.returncode == 1
    assert "9 passed, 1 crashed; not conformant" in done.stdout
    assert f"reason       {reason}" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("refuses-start", "it refused to start: no licence"),
        ("wrong-protocol", "it speaks protocol 2, this tool speaks 1"),
        ("silent-start", "no answer to start within 1 s"),
        ("dies-at-start", "exited with status 1; it wrote: no module named engine"),
    ],
)
def test_an_adapter_that_cannot_be_asked_is_exit_status_3_with_the_reason(
    cli: Cli, folder: Path, adapter: Adapter, name: str, reason: str
) -> None:
    timeout = "1" if name == "silent-start" else "120"
    done = cli("run", "--adapter", adapter(name), "--vectors", folder, "--start-timeout", timeout)
    assert done.returncode == 3
    assert f"not run: {reason}\n" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_a_command_that_is_no_program_is_exit_status_3(cli: Cli, folder: Path) -> None:
    done = cli("run", "--adapter", "cmd:no-such-program", "--vectors", folder)
    assert done.returncode == 3
    assert "no-such-program: cannot be run: No such file or directory" in done.stdout


def test_unsupported_cases_are_counted_apart_and_do_not_fail(cli: Cli, folder: Path, adapter: Adapter) -> None:
    done = cli("run", "--adapter", adapter("unsupported"), "--vectors", folder)
    assert done.returncode == 0
    assert "9 passed, 1 unsupported; no deviations in 9 answered of 10 cases" in done.stdout
    assert "supports none" not in done.stdout


def test_a_run_without_answers_gives_the_reason(cli: Cli, folder: Path, adapter: Adapter) -> None:
    done = cli("run", "--adapter", adapter("unsupported"), "--vectors", folder, "-k", "mini-7")
    assert done.returncode == 0
    reason = cli("replay", "mini-7", "-a", adapter("unsupported"), "--vectors", folder).stdout
    (said,) = re.findall(r"(?m)^ +reason +(.+)$", reason)
    assert f"{adapter('unsupported')} supports none of these cases: {said}\n" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "status", "reason"),
    [
        (["--adapter", "nobody"], 2, "unknown adapter 'nobody'. The adapters are reference,"),
        (["--adapter", "reference", "--adapter", "reference"], 2, "the adapter 'reference' is given twice"),
        (["--suite", "none"], 2, "unknown suite 'none'. The suites are mini"),
        (["--requirement", "XXX999"], 2, "unknown requirement 'XXX999'"),
        (["--section", "Appendix Z"], 2, "unknown section 'Appendix Z'"),
        (["--requirement", ""], 2, "a section or requirement is empty"),
        (["--requirement", "TYP023", "--section", ""], 2, "a section or requirement is empty"),
        (["--latest"], 2, "--latest selects among all engines, and needs --all-engines"),
        (["-x", "--max-failures", "5"], 2, "-x and --max-failures exclude each other"),
        (["-k", "a and"], 2, "-k 'a and': a word is missing at the end"),
        (["-k", "zebra"], 5, "none of the 10 vectors in"),
        (["--format-version", "three"], 2, 'unable to convert "three" into int'),
        (["--format-version", "2.7"], 2, "--format-version: expected a whole number; found 2.7"),
        (["--timeout", "0"], 2, "--timeout 0.0: must be more than 0"),
        (["--timeout", "nan"], 2, "--timeout nan: must be more than 0"),
        (["--report", "pdf"], 2, "unknown report 'pdf'; the kinds are terminal, json, junit"),
        (["--report", "json", "--report", "junit"], 2, "only one report can go to standard output"),
        (["--expect", "none.toml"], 2, "none.toml: cannot be read: No such file or directory"),
        (["--results", "/proc/none/x"], 2, "--results /proc/none/x: cannot be written"),
        (["--report", "json:/proc/none/x"], 2, "--report /proc/none/x: cannot be written"),
        (["--no-such-option"], 2, "--no-such-option"),
        (["--adapter"], 2, "--adapter"),
        (["--adapter", "a 'b"], 2, "not a command: No closing quotation"),
    ],
)
def test_wrong_usage_is_one_line_and_its_exit_status(
    cli: Cli, folder: Path, arguments: list[str], status: int, reason: str
) -> None:
    done = cli("run", "--vectors", folder, *arguments)
    assert reason in one_line(done.stderr)
    assert (done.returncode, done.stdout) == (status, "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--expect exp.toml --results exp.toml", "--expect and --results name the same file: exp.toml"),
        (
            "--expect lists --report html:lists/exp.toml",
            "--expect and --report html name the same file: lists/exp.toml",
        ),
        ("--results b.out --report html:./b.out", "--report html and --results name the same file: b.out"),
        ("--report html:a --report markdown:a", "--report html and --report markdown name the same file: a"),
        ("--report json:link.toml --expect exp.toml", "--expect and --report json name the same file: link.toml"),
        ("--results vectors/mini/types.json", "--vectors and --results name the same file: vectors/mini/types.json"),
    ],
)
def test_an_output_does_not_replace_another_file_of_the_command_line(
    arguments: str, message: str, cli: Cli, folder: Path, tmp_path: Path
) -> None:
    folder.rename(tmp_path / "vectors")
    (tmp_path / "lists").mkdir()
    deviations = "# Nothing is known.\n"
    for path in (tmp_path / "exp.toml", tmp_path / "lists" / "exp.toml"):
        path.write_text(deviations)
    (tmp_path / "link.toml").symlink_to("exp.toml")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    done = cli("run", "--vectors", "vectors", *arguments.split())
    assert (done.returncode, one_line(done.stderr)) == (2, message)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_two_outputs_may_go_to_one_device(cli: Cli, folder: Path) -> None:
    done = cli("run", "--vectors", folder, "--results", os.devnull, "--report", f"html:{os.devnull}")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_broken_vector_file_is_exit_status_2_with_file_and_place(cli: Cli, folder: Path) -> None:
    path = folder / "mini" / "types.json"
    content = json.loads(path.read_text())
    content["vectors"][4]["expect"] = {"ok": 5}
    path.write_text(json.dumps(content))
    done = cli("run", "--vectors", folder)
    assert done.returncode == 2
    assert one_line(done.stderr).startswith(f"{path}: broken vector file: /vectors/4/expect")


def test_json_goes_to_standard_output_alone(cli: Cli, folder: Path, adapter: Adapter) -> None:
    done = cli(
        "run", "--adapter", adapter("wrong"), "--vectors", folder, "--report", "json", "--report", "junit:a/b.xml"
    )
    assert done.returncode == 1
    assert json.loads(done.stdout)["adapters"][0]["outcome_counts"]["failed"] == 1
    assert "9 passed, 1 failed; not conformant" in done.stderr
    tree = ElementTree.parse(folder.parent / "a" / "b.xml")
    assert tree.getroot().find("testsuite/testcase/failure") is not None


def test_colour_is_for_terminals_unless_forced(cli: Cli, folder: Path) -> None:
    assert "\033" not in cli("run", "--vectors", folder).stdout
    assert "\033" in cli("run", "--vectors", folder, FORCE_COLOR="1").stdout
    assert "\033" not in cli("run", "--vectors", folder, FORCE_COLOR="1", NO_COLOR="1").stdout


def test_output_survives_a_terminal_that_knows_only_ascii(cli: Cli, folder: Path) -> None:
    done = cli("run", "--vectors", folder, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode == 0
    assert "10 passed; conformant" in done.stdout


def test_several_adapters_are_columns_of_one_table(cli: Cli, folder: Path, adapter: Adapter) -> None:
    good, wrong = adapter("good"), adapter("wrong")
    done = cli("run", "-a", good, "-a", wrong, "-a", "reference", "--vectors", folder)
    assert done.returncode == 1
    assert done.stdout.index(good) < done.stdout.index(wrong) < done.stdout.index("reference")
    cells = [cell for line in done.stdout.splitlines() if line.startswith("mini ") for cell in line.split()[1:]]
    assert cells == ["10", "✔", "9", "✔", "1", "✖", "10", "✔"]


def test_a_wide_table_goes_on_below(cli: Cli, folder: Path, adapter: Adapter) -> None:
    long = f"{adapter('good')} {'x' * WIDTH}"
    lines = cli("run", "-a", long, "-a", "reference", "--vectors", folder).stdout.splitlines()
    assert [line.split() for line in lines if line.startswith("mini ")] == [["mini", "10", "✔"]] * 2


def test_the_first_failure_stops_the_run_when_asked(cli: Cli, folder: Path, adapter: Adapter) -> None:
    done = cli("run", "-a", adapter("liar"), "-x", "--vectors", folder)
    assert done.returncode == 1
    assert "1 failed; the run is not complete" in done.stdout


def test_a_run_stops_after_so_many_failures_as_are_asked_for(cli: Cli, folder: Path, adapter: Adapter) -> None:
    done = cli("run", "-a", adapter("liar"), "--max-failures", "3", "--vectors", folder)
    assert done.returncode == 1
    assert "3 failed; the run is not complete" in done.stdout


@pytest.fixture
def many(folder: Path) -> Path:
    """Write thirty vectors that a lying adapter fails: 25 of TYP023, and five of TYP021, too."""
    path = folder / "mini" / "types.json"
    content = json.loads(path.read_text())
    row = content["vectors"][0]
    content["vectors"] = [
        {
            **row,
            "id": f"many-{n}",
            "args": {"type": f"fixed[{n}]"},
            "expect": {"ok": f"fixed[{n}]"},
            "requirements": ["TYP023"] if n <= 25 else ["TYP023", "TYP021"],
        }
        for n in range(1, 31)
    ]
    path.write_text(json.dumps(content))
    return folder


def test_many_failures_are_shown_by_requirement_with_examples(cli: Cli, many: Path, adapter: Adapter) -> None:
    liar = ("-a", adapter("liar"), "--vectors", many)
    text = cli("run", *liar).stdout
    lines = text.splitlines()
    heads = [line for line in lines if line.startswith("✖ T")]
    assert [(line.split(" · ")[0], line.split(" · ")[-1]) for line in heads] == [
        ("✖ TYP023", "25 failed"),
        ("✖ TYP021", "5 failed"),
    ]
    examples = lines[lines.index(heads[0]) + 2 : lines.index(heads[1]) - 1]
    assert [line.split(":")[0].strip() for line in examples[:3]] == ["many-1", "many-2", "many-3"]
    assert examples[0].endswith('(the answer): expected "fixed[1]", got "string"')
    assert examples[3] == "      and 22 more"
    assert examples[4] == "    explain      iceberg-conformance explain TYP023"
    assert examples[5].startswith("    reproduce    iceberg-conformance replay many-1 --adapter ")
    assert "examples of 30 failures; --verbose shows the evidence of all" in lines
    verbose = cli("run", "--verbose", *liar).stdout
    assert verbose.count("    reproduce    ") == 30
    counted = cli("run", "--statistics", *liar).stdout.splitlines()
    assert [line.split()[:3] for line in counted if "type.parse" in line] == [
        ["25", "TYP023", "type.parse"],
        ["5", "TYP021", "type.parse"],
    ]
    assert "replay" not in "".join(counted)
    assert cli("run", "--statistics", "-v", *liar).returncode == 2


def test_annotations_for_github_are_one_for_each_requirement(cli: Cli, many: Path, adapter: Adapter) -> None:
    done = cli("run", "--format", "github", "-a", adapter("liar"), "--vectors", many)
    assert done.returncode == 1
    first, second = done.stdout.splitlines()
    assert first.startswith("::error title=TYP023 type.parse%3A 25 failed::TYP023 ")
    assert "%0Amany-1: " in first
    assert second.startswith("::error title=TYP021 type.parse%3A 5 failed::")
    assert "30 failed; not conformant" in done.stderr


def test_a_folder_for_a_report_is_made_and_said(cli: Cli, folder: Path, tmp_path: Path) -> None:
    done = cli("run", "--vectors", folder, "--report", f"json:{tmp_path / 'new' / 'run.json'}")
    assert one_line(done.stderr) == f"--report: created the folder {tmp_path / 'new'}"
    assert json.loads((tmp_path / "new" / "run.json").read_text())["complete"]


def test_a_report_of_before_stays_where_a_run_cannot_begin(cli: Cli, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("before")
    for name in ("run.json", "other.json"):
        done = cli("run", "--vectors", folder, "-k", "zebra", "--report", f"json:{tmp_path / name}")
        assert done.returncode == 5
    assert (tmp_path / "run.json").read_text() == "before"
    assert not (tmp_path / "other.json").exists()


def test_what_is_known_is_counted_by_kind(cli: Cli, folder: Path, adapter: Adapter, tmp_path: Path) -> None:
    expected, results = tmp_path / "known.toml", tmp_path / "run.jsonl"
    expected.write_text(
        '[[deviation]]\nid = "dies-of-seven"\nkind = "robustness"\nrequirements = ["HSH004"]\n'
        'engine = "miniature"\nvectors = ["mini-7"]\nreason = "dies of seven"\n'
    )
    done = cli(
        "run",
        "-a",
        adapter("dies"),
        "--vectors",
        folder,
        "--expect",
        expected,
        "--results",
        results,
        "--report",
        f"json:{tmp_path / 'run.json'}",
        "--report",
        f"badge:{tmp_path / 'badge.json'}",
    )
    assert "9 passed, 1 known (1 robustness failure); conformant except for known deviations" in done.stdout
    assert "known, robustness:\n" in done.stdout
    (result,) = [one for one in read_results(results).results if one.status == "known"]
    assert (result.deviation_id, result.deviation_kind) == ("dies-of-seven", "robustness")
    report = json.loads((tmp_path / "run.json").read_text())
    assert report["adapters"][0]["known"] == {"robustness": 1}
    assert json.loads((tmp_path / "badge.json").read_text())["message"] == "9 passed, 1 otherwise known"


def test_known_deviations_make_a_run_conformant(cli: Cli, folder: Path, adapter: Adapter, tmp_path: Path) -> None:
    expected = tmp_path / "known.toml"
    expected.write_text('[[deviation]]\nengine = "miniature"\nvectors = ["mini-7"]\nreason = "dies of seven"\n')
    arguments = ("--vectors", folder, "--expect", expected)
    known = cli("run", "-a", adapter("dies"), *arguments)
    assert known.returncode == 0
    assert "9 passed, 1 known (1 deviation); conformant except for known deviations" in known.stdout
    assert f"known, deviation:\n    {adapter('dies')}: 1 case: dies of seven\n" in known.stdout
    over = cli("run", "-a", adapter("good"), *arguments)
    assert over.returncode == 1
    assert "mini-7: known deviation now passes; remove it" in over.stdout
    expected.write_text('[[deviation]]\nengine = "miniature"\nvectors = ["mini-77"]\nreason = "dies"\n')
    unknown = cli("run", "-a", adapter("good"), *arguments)
    assert unknown.returncode == 2
    assert "/deviation/0/vectors: unknown vector 'mini-77'" in one_line(unknown.stderr)


def find_children(process: subprocess.Popen[str]) -> list[int]:
    """Return the running processes that the threads of a process started."""
    found: list[int] = []
    for task in Path(f"/proc/{process.pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # the thread has ended
            found += map(int, task.read_text().split())
    return found


def answered(results: Path) -> int:
    """Count the results in a file so far."""
    return results.read_text().count('"kind":"result"') if results.exists() else 0


@pytest.mark.parametrize("others", [[], ["-a", "reference", "-a", "silent-start", "--jobs", "2"]])
def test_an_interrupted_run_ends_its_adapters_and_its_results_say_so(
    folder: Path, adapter: Adapter, tmp_path: Path, others: list[str]
) -> None:
    results = tmp_path / "results.jsonl"
    beside = [adapter(word) if word == "silent-start" else word for word in others]
    report = tmp_path / "run.json"
    command = ["run", "-a", adapter("hangs"), *beside, "--vectors", folder, "--results", results]
    command += ["--report", f"json:{report}"]
    expected = 16 if others else 6
    with subprocess.Popen(
        [sys.executable, "-m", "conformance", *map(str, command)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        while len(children := find_children(process)) < 1 + len(others) // 6 or answered(results) < expected:
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=300)
    assert process.returncode == 130
    assert stdout.endswith(f"{expected} passed; the run is not complete\n")
    assert json.loads(report.read_text())["complete"] is False
    assert one_line(stderr) == "interrupted"
    rows = [json.loads(line) for line in results.read_text().splitlines()]
    assert (rows[-1]["kind"], rows[-1]["complete"], rows[-1]["exit_status"]) == ("footer", False, 130)
    ids = [row["id"] for row in rows if row["kind"] == "result" and row["adapter"] == adapter("hangs")]
    assert ids == [f"mini-{number}" for number in range(1, 7)]
    run = read_results(results)
    assert (run.complete, len(run.results)) == (False, expected)
    signs = {
        "terminal": "the run is not complete",
        "html": "The run is not complete",
        "markdown": "the run is not complete",
        "github": "the run is not complete",
        "badge": "incomplete",
        "json": '"complete": false',
        "junit": "testsuites",
        "sarif": "the run is not complete",
    }
    assert {kind: signs[kind] in renderer(kind)(run, None) for kind in KINDS} == dict.fromkeys(KINDS, True)
    for child in children:
        with pytest.raises(ProcessLookupError):
            os.kill(child, 0)


def test_a_run_that_is_interrupted_before_the_first_answer_leaves_no_files(
    folder: Path, adapter: Adapter, tmp_path: Path
) -> None:
    written = [tmp_path / name for name in ("run.jsonl", "run.html", "run.xml")]
    command = ["run", "-a", adapter("silent-start"), "--vectors", folder, "--results", written[0]]
    command += ["--report", f"html:{written[1]}", "--report", f"junit:{written[2]}"]
    with subprocess.Popen(
        [sys.executable, "-m", "conformance", *map(str, command)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        while not find_children(process):
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=300)
    assert process.returncode == 130
    assert stdout.endswith("no results; the run is not complete\n")
    assert one_line(stderr) == "interrupted"
    assert [path.name for path in written if path.exists()] == []


def test_a_reader_that_has_seen_enough_is_no_bug(folder: Path, adapter: Adapter) -> None:
    command = shlex.join([sys.executable, "-m", "conformance", "list", "requirements"])
    done = subprocess.run(f"{command} | head -1", shell=True, capture_output=True, text=True, timeout=300)
    assert done.stderr == ""
    assert done.stdout.count("\n") == 1


def test_replay_reports_what_a_crashed_process_wrote(cli: Cli, folder: Path, adapter: Adapter) -> None:
    done = cli("replay", "mini-7", "-a", adapter("dies"), "--vectors", folder)
    assert done.returncode == 1
    assert "mini-7 · miniature 1.2.3 · crashed" in done.stdout
    assert "stderr       last words" in done.stdout


def test_replay_of_an_unknown_vector_is_wrong_usage(cli: Cli, folder: Path) -> None:
    done = cli("replay", "mini-77", "--vectors", folder)
    assert done.returncode == 2
    assert "did you mean mini-7" in one_line(done.stderr)


def test_replay_with_an_adapter_that_does_not_start_is_exit_status_3(cli: Cli, folder: Path, adapter: Adapter) -> None:
    done = cli("replay", "mini-7", "-a", adapter("refuses-start"), "--vectors", folder)
    assert done.returncode == 3
    assert one_line(done.stderr).endswith("refuses-start: not run: it refused to start: no licence")


def test_the_adapter_of_the_tutorial_passes_what_it_has(cli: Cli) -> None:
    tutorial = Path(__file__).parents[2] / "docs"
    done = cli("run", "-a", f"{sys.executable} {tutorial / 'minimal_adapter.py'}", "--suite", "hashing")
    assert done.returncode == 0
    row = next(line for line in done.stdout.splitlines() if line.startswith("hashing"))
    assert row in (tutorial / "adapters.md").read_text(encoding="utf-8").splitlines()
