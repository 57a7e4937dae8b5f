"""The commands that print information: list, explain, report, engines, doctor, check, and the help."""

from __future__ import annotations

import json
import re
import resource
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable
from itertools import chain, pairwise
from pathlib import Path

import pytest
from shipped_vectors import shipped_vectors

from conformance import cli as command_line
from conformance.cli.doctor import LIBRARIES
from conformance.core.failures import ExitStatus
from spec_ref.requirements import contradictions, register

Cli = Callable[..., "subprocess.CompletedProcess[str]"]
Adapter = Callable[[str], str]


def test_help_names_every_command_and_the_exit_statuses(cli: Cli) -> None:
    done = cli("--help")
    assert done.returncode == 0
    for command in command_line.COMMANDS:
        assert f"{command} " in done.stdout
    assert "Exit status: 0 no failure" in " ".join(done.stdout.split())


@pytest.mark.parametrize("command", sorted(command_line.COMMANDS))
def test_every_command_has_help(cli: Cli, command: str) -> None:
    done = cli(command, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith(f"Usage: iceberg-conformance {command}")


@pytest.mark.parametrize("command", command_line.COMMANDS)
def test_the_help_of_a_command_has_two_examples_that_are_commands(command: str, cli: Cli) -> None:
    shown = cli(command, "--help").stdout
    examples = command_line.EXAMPLES[command]
    assert len(examples) == 2
    for example in examples:
        assert example in shown
        arguments = shlex.split(example)
        if "--help" not in arguments:  # raises if one does not fit
            command_line.make_app().parse_args(arguments, exit_on_error=False, print_error=False)


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_help_is_wrapped_to_the_terminal_alone(cli: Cli, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = [line.strip("│ ") for line in cli("scenarios", "--help").stdout.splitlines()]
    assert max(map(len, lines)) <= columns
    text = " ".join(lines)
    assert "Each branch, tag and earlier snapshot must have the rows of the model" in text
    # If the source had broken a line, the first word of the next one would still fit on it.
    start = next(number for number, line in enumerate(lines) if line.startswith("--exclude"))
    end = next(number for number, line in enumerate(lines) if line.startswith("--expect"))
    room = columns - len("│ --start-timeout FLOAT  ") - len(" │")
    described = [lines[start].split("  ")[-1].strip(), *lines[start + 1 : end]]
    for line, following in pairwise(described):
        assert len(line) + 1 + len(following.split()[0]) > room, (line, following)


def test_a_flag_that_is_set_by_default_can_be_unset() -> None:
    _, bound, _ = command_line.make_app().parse_args(["scenarios", "--no-reads"], exit_on_error=False)
    assert bound.arguments["reads"] is False


@pytest.mark.parametrize("command", ["run --max-failures 1.5", "race explore --format-version 2 --format-version 2.7"])
def test_a_fraction_is_not_rounded_to_a_whole_number(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(command.split()) == ExitStatus.USAGE
    option, value = command.split()[-2:]
    expected = f"iceberg-conformance: {option}: expected a whole number; found {value}\n"
    assert capsys.readouterr() == ("", expected)


def test_help_loads_no_heavy_library() -> None:
    code = (
        "import sys; from conformance.cli import main; main(['--help']); "
        "print(sorted({'pyarrow', 'numpy', 'mmh3', 'jsonschema_rs', 'fastavro', 'spec_ref'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.stdout.splitlines()[-1] == "[]"


def test_help_is_quick() -> None:
    def seconds(*arguments: str) -> float:
        """Return the processor time of a command, which other load on the machine hardly affects."""
        began = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], capture_output=True, check=True, timeout=300)
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        return ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime

    # The command line library takes most of it; importing PyArrow, for example, would double it.
    library, help_ = (
        min(taken)
        for taken in zip(
            *((seconds("-c", "import cyclopts"), seconds("-m", "conformance", "--help")) for _ in range(5)),
            strict=True,
        )
    )
    assert help_ < 2.2 * library


def test_running_vectors_loads_no_columnar_library() -> None:
    code = (
        "import sys; from conformance.cli import main; status = main(['run', '-k', 'hash-int-34']); "
        "print(status, sorted({'pyarrow', 'numpy', 'pyspark', 'rich'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.stdout.splitlines()[-1] == "0 []"


@pytest.mark.parametrize("what", ["vectors", "adapters", "engines", "requirements", "checks"])
def test_every_list_has_a_json_form(cli: Cli, what: str) -> None:
    text = cli("list", what)
    as_json = cli("list", what, "--format", "json")
    assert (text.returncode, as_json.returncode) == (0, 0)
    assert len(json.loads(as_json.stdout)) == len(text.stdout.splitlines()) > 0


def test_vectors_are_listed_as_run_selects_them(cli: Cli, folder: Path) -> None:
    done = cli("list", "vectors", "-k", "mini-1", "--vectors", folder)
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["mini-1", "mini-10"]
    assert cli("list", "vectors", "-k", "zebra", "--vectors", folder).returncode == 5


def test_explain_reports_a_requirement_by_code_or_slug(cli: Cli) -> None:
    by_code, as_json = cli("explain", "hsh002"), cli("explain", "HSH002", "--format", "json")
    rule = json.loads(as_json.stdout)
    assert by_code.stdout == cli("explain", rule["slug"]).stdout
    assert "hash-int-34" in by_code.stdout
    assert "hash-int-34" in rule["vectors"]
    assert rule["text"] in by_code.stdout


def test_explain_of_an_unknown_code_hints_at_a_near_one(cli: Cli) -> None:
    done = cli("explain", "HSH02")
    assert (done.returncode, done.stdout) == (2, "")
    assert "did you mean HSH002" in done.stderr


def test_explain_lists_the_requirements_of_an_area(cli: Cli) -> None:
    listed = json.loads(cli("explain", "hsh", "--format", "json").stdout)
    assert {rule["code"][:3] for rule in listed} == {"HSH"}
    shown = cli("explain", "HSH").stdout
    assert all(f"{rule['code']} {rule['slug']}" in shown for rule in listed)
    assert shown.startswith(f"HSH: {len(listed)} requirements, of Appendix B: 32-bit Hash Requirements\n")
    assert cli("explain", "HSH00").returncode == 0


@pytest.mark.parametrize(
    ("point", "rule", "status"), [("C6", "TRN006", "open"), ("e35", "GCM001", "open"), ("A1", "HSH007", "decided")]
)
def test_explain_of_an_open_point_or_contradiction_tells_what_was_decided(
    cli: Cli, point: str, rule: str, status: str
) -> None:
    known = contradictions()[point.upper()]
    done = cli("explain", point)
    assert done.returncode == 0
    assert done.stdout.startswith(f"{known.id} {known.title}\n")
    words = " ".join(done.stdout.split())
    for text in (known.texts, known.implementations, f"{status} {known.decision}"):
        assert " ".join(text.split()) in words
    assert f"about {rule} " in words
    document = json.loads(cli("explain", point, "--format", "json").stdout)
    assert (document["id"], document["status"]) == (known.id, status)
    assert document["vectors"] == [one.id for one in shipped_vectors() if known.id in one.contradiction]


def test_every_point_is_explained_and_is_no_requirement() -> None:
    assert not contradictions().keys() & register().keys()
    assert {one for one in contradictions() if any(code.startswith(one) for code in register())} == set()


def test_explain_of_a_vector_leads_to_replay(cli: Cli) -> None:
    shown = cli("explain", "hash-int-34").stdout
    assert "iceberg-conformance replay hash-int-34" in shown
    assert "HSH002" in shown
    assert json.loads(cli("explain", "hash-int-34", "--format", "json").stdout)["operation"] == "hash"


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("explain", "hash-int-43"), "hash-int-34"),
        (("explain", "HHS"), "did you mean HSH"),
        (("explain", "manifest-length"), "manifest-file-manifest-length"),
        (("explain", "qqqqqqqq"), "; iceberg-conformance list requirements"),
        (("engines", "install", "duckb"), "did you mean duckdb?"),
        (("replay", "hash-int-43"), "hash-int-34"),
        (("run", "-a", "pyicberg"), "did you mean pyiceberg"),
        (("run", "--suite", "hashin"), "did you mean hashing?"),
    ],
)
def test_names_that_are_unknown_lead_to_those_that_are_like_them(
    arguments: tuple[str, ...], hint: str, cli: Cli
) -> None:
    done = cli(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert hint in done.stderr


def test_report_renders_results_as_run_did(cli: Cli, folder: Path, adapter: Adapter) -> None:
    arguments = ("run", "-a", adapter("wrong"), "--vectors", folder)
    ran = cli(*arguments, "--results", "a.jsonl", "--report", "json:run.json")
    assert ran.returncode == 1
    assert cli("report", "a.jsonl").stdout.replace("\n", "") in ran.stdout.replace(
        f" --vectors '{folder}'", ""
    ).replace("\n", "")
    report = cli("report", "a.jsonl", "--format", "json")
    assert json.loads(report.stdout) == json.loads((folder.parent / "run.json").read_text())
    assert cli("report", "a.jsonl", "--format", "junit").stdout.startswith("<?xml")


def test_reports_of_several_files_are_one_table(cli: Cli, folder: Path, adapter: Adapter) -> None:
    wrong = cli("run", "-a", adapter("wrong"), "--vectors", folder, "--results", "a.jsonl")
    assert wrong.returncode == 1, wrong.stderr
    right = cli("run", "-a", "reference", "--vectors", folder, "--results", "b.jsonl")
    assert right.returncode == 0, right.stderr
    done = cli("report", "a.jsonl", "b.jsonl")
    assert done.returncode == 0
    # The name of the adapter has paths: if they are long, the table has a part for each implementation.
    counts = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("mini ")]
    assert [*chain.from_iterable(counts)] == ["9", "✔", "1", "✖", "10", "✔"]
    assert "19 passed, 1 failed" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("report", "a.jsonl", "--report", "html:a.jsonl"), "a results file and --report html name the same file"),
        (("report", "b.jsonl", "--matrix", "a.jsonl", "--report", "html:a.jsonl"), "--matrix and --report html name"),
        (("matrix", "--from", "a.jsonl", "--report", "html:a.jsonl"), "--from and --report html name the same file"),
        (("matrix", "--results", "a.jsonl", "--report", "html:a.jsonl"), "--report html and --results name the same"),
        (("matrix", "--expect", "a.jsonl", "--results", "a.jsonl"), "--expect and --results name the same file"),
        (("relay", "-a", "reference", "--expect", "a.jsonl", "--report", "html:a.jsonl"), "--expect and --report name"),
        (("validate", "t", "--keys", "a.jsonl", "-o", "a.jsonl"), "--keys and --output name the same file"),
        (("validate", "a.jsonl", "-o", "./a.jsonl"), "the table a.jsonl and --output name the same file"),
        (("matrix", "--from", "a.jsonl", "--results", "b.jsonl"), "--from runs nothing"),
        (("validate", "t", "--select", ","), "--select: names nothing"),
        (("validate", "t", "--ignore", ""), "--ignore: names nothing"),
    ],
)
def test_options_that_do_not_go_together_change_no_file(
    arguments: tuple[str, ...], message: str, cli: Cli, tmp_path: Path
) -> None:
    (tmp_path / "a.jsonl").write_text("results of a long run\n")
    done = cli(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert (tmp_path / "a.jsonl").read_text() == "results of a long run\n"


@pytest.mark.parametrize("content", ["", "nonsense\n", '{"kind": "footer"}\n'])
def test_a_file_that_holds_no_results_is_wrong_usage(cli: Cli, tmp_path: Path, content: str) -> None:
    (tmp_path / "x.jsonl").write_text(content)
    done = cli("report", "x.jsonl")
    assert done.returncode == 2
    assert done.stderr.startswith("iceberg-conformance: x.jsonl")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("3", "expected an object; found 3"),
        (
            '{"kind": ["result"]}',
            '/kind: expected header, case, result, second-reading, adapter, footer; found ["result"]',
        ),
        (
            '{"kind": "result", "adapter": "a", "id": 3, "outcome": "passed", "status": "passed"}',
            "/id: 3 is not of type",
        ),
        ('{"kind": "footer", "complete": true, "exit_status": 0}', '"counts" is a required property'),
    ],
)
def test_a_wrong_line_of_results_is_reported_by_the_form_of_its_kind(
    line: str, expected: str, cli: Cli, folder: Path, tmp_path: Path
) -> None:
    assert cli("run", "--vectors", folder, "-k", "mini-7", "--results", "x.jsonl").returncode == 0
    header, case, *others = (tmp_path / "x.jsonl").read_text().splitlines()
    (tmp_path / "x.jsonl").write_text("\n".join([header, case, line, *others]))
    done = cli("report", "x.jsonl")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"iceberg-conformance: x.jsonl:3: not a line of a results file: {expected}")


def test_an_engine_that_is_not_installed_is_reported_with_the_command_that_installs_it(cli: Cli, folder: Path) -> None:
    home = {"XDG_CACHE_HOME": str(folder), "HOME": str(folder), "ICEBERG_CONFORMANCE_HOME": str(folder / "home")}
    named = cli("run", "-a", "pyiceberg", "--vectors", folder, **home)
    assert named.returncode == 3
    assert "iceberg-conformance engines install pyiceberg" in named.stdout
    every = cli("run", "--all-engines", "--vectors", folder, **home)
    assert every.returncode == 3
    assert "10 passed; not all could be examined" in every.stdout
    assert "pyiceberg: not run: " in every.stdout
    assert "iceberg-java@1.10.2: not run: " in every.stdout
    latest = cli("run", "--all-engines", "--latest", "--vectors", folder, **home)
    assert "iceberg-java: not run: " in latest.stdout
    assert "@" not in latest.stdout


def test_an_unknown_engine_cannot_be_installed(cli: Cli) -> None:
    done = cli("engines", "install", "nobody")
    assert done.returncode == 2
    assert "unknown engine 'nobody'. The engines and servers are " in done.stderr
    assert cli("engines", "install").returncode == 2


def test_doctor_finds_this_installation_sound(cli: Cli) -> None:
    done = cli("doctor", "--format", "json")
    assert done.returncode == 0
    findings = json.loads(done.stdout)
    assert all(finding["fine"] for finding in findings if finding["needed"])
    assert {"python", "java runtime", "vectors", "reference"} <= {finding["what"] for finding in findings}


def test_doctor_looks_for_every_library_that_is_installed_with_the_tool() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    always = {re.match(r"[\w.-]+", one)[0] for one in project["dependencies"] if ";" not in one}  # type: ignore[index]
    assert set(LIBRARIES) == always


def test_a_mistyped_command_is_one_line_with_a_hint(cli: Cli) -> None:
    done = cli("rnu")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert 'Did you mean "run"?' in done.stderr


def test_a_bug_of_ours_is_exit_status_4_and_leaves_its_trace(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("conformance.vectors.load", broken)
    assert command_line.main(["run"]) == ExitStatus.OUR_BUG
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("iceberg-conformance: a bug in this tool: ZeroDivisionError: oops; the traceback is in ")
    trace = Path(err.rsplit(" ", 1)[1].strip())
    assert "in broken" in trace.read_text()
    trace.unlink()


def test_the_linter_of_vectors_is_a_command(cli: Cli, folder: Path) -> None:
    assert cli("check", "vectors").returncode == 0
    path = folder / "mini" / "types.json"
    path.write_text("{")
    broken = cli("check", "vectors", folder)
    assert broken.returncode == 2
    assert str(path) in broken.stdout + broken.stderr


@pytest.mark.parametrize(("suite", "said"), [("writing-more", 1), ("writing", 0)])
def test_the_former_name_of_a_suite_is_reported_as_deprecated(cli: Cli, suite: str, said: int) -> None:
    done = cli("list", "vectors", "--suite", suite)
    assert done.returncode == 0
    expected = ["iceberg-conformance: the suite writing-more is deprecated; use --suite writing -k thorough"]
    assert done.stderr.splitlines() == expected * said


def test_replay_names_the_adapter_that_does_not_start(cli: Cli) -> None:
    command = f"{sys.executable} nothing.py"
    done = cli("replay", "hash-int-34", "--adapter", command)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith(f"iceberg-conformance: {command}: not run: exited with status 2")
