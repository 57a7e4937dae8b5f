"""``iceberg-conformance validate`` as a person runs it."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import attrs
import pytest

from conformance.cli import main
from conformance.table_io.tables import metadata_location
from conformance.validator import run
from conformance.validator.finding_filter import is_failure
from conformance.vectors.golden_places import PLACE
from conformance.vectors.golden_tables import materialize
from spec_ref.checks.findings import Severity

VALID, BROKEN = "types-v2-parquet", "broken-manifest-missing"


@attrs.frozen
class Done:
    """What a command wrote, and its exit status."""

    returncode: int
    stdout: str
    stderr: str


Cli = Callable[..., Done]


@pytest.fixture(scope="module", autouse=True)
def _golden_tables() -> None:
    materialize([VALID, BROKEN, "row-lineage-parquet"])


@pytest.fixture
def validate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Cli:
    """Run the command in this process, whose start takes longest."""

    def run(*arguments: str | Path) -> Done:
        monkeypatch.chdir(tmp_path)
        status = main(["validate", *map(str, arguments)])
        return Done(status, *capfd.readouterr())

    return run


def test_the_command_is_a_process_that_reports_its_status_and_is_quiet_when_piped() -> None:
    command = [sys.executable, "-m", "conformance", "validate", str(PLACE / BROKEN), "--level", "rows"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 1
    assert "error MLS003" in done.stdout
    assert "\x1b" not in done.stdout
    assert done.stderr == ""


def test_a_valid_table_passes_and_a_broken_one_fails_and_both_are_reported(validate: Cli) -> None:
    done = validate(PLACE / VALID, PLACE / BROKEN, "--level", "rows")
    assert done.returncode == 1
    assert "error MLS003" in done.stdout
    assert "what to do" in done.stdout
    assert str(PLACE / VALID) in done.stdout
    assert done.stderr == ""


def test_what_is_tolerated_is_one_line_unless_it_is_asked_for_or_fails(validate: Cli) -> None:
    quiet = validate(PLACE / VALID).stdout
    assert re.findall(r"; tolerated: (.*) \(-v shows them\)", quiet) == ["DFL002, LOC001, MAN006"]
    assert "what to do" not in quiet
    for options in (("-v",), ("--verbose",), ("--fail-on", "tolerated")):
        text = validate(PLACE / VALID, *options).stdout
        assert len(re.findall(r"^  tolerated (?:DFL002|LOC001|MAN006): ", text, re.MULTILINE)) == 3
        assert "-v shows" not in text
    counts = json.loads(validate(PLACE / VALID, "--format", "json").stdout)["tables"][0]["counts"]
    assert counts == {"error": 0, "tolerated": 3, "warning": 0, "info": 0}


def test_what_is_tolerated_fails_only_where_it_is_asked_for_by_its_name(validate: Cli) -> None:
    assert [is_failure(Severity.TOLERATED, one) for one in (None, *Severity)] == [False, False, True, False, False]
    assert [is_failure(one, Severity.WARNING) for one in Severity] == [True, False, True, False]
    for severity in ("warning", "info"):
        done = validate(PLACE / VALID, "--fail-on", severity)
        assert done.returncode == 0
        assert "tolerated: DFL002, LOC001, MAN006 (-v shows them)" in done.stdout


def test_json_has_the_published_form(validate: Cli) -> None:
    done = validate(PLACE / BROKEN, "--format", "json")
    (table,) = json.loads(done.stdout)["tables"]
    error = next(one for one in table["findings"] if one["severity"] == "error")
    assert (error["check"], error["code"]) == ("manifest-file-manifest-path-unreadable", "MLS003")
    assert error["requirements"] == ["MLS003"]
    assert error["count"] == len(error["examples"]) == 1
    assert error["file"].endswith(".avro")
    assert error["what_to_do"]
    assert table["counts"]["error"] == 1
    assert {reader["engine"] for reader in table["readability"]} >= {"iceberg-java", "pyiceberg", "duckdb"}


def test_json_lines_have_a_line_for_each_finding(validate: Cli) -> None:
    rows = [json.loads(line) for line in validate(PLACE / BROKEN, "--format", "jsonl").stdout.splitlines()]
    assert {row["location"] for row in rows} == {str(PLACE / BROKEN)}
    assert "MLS003" in {row["code"] for row in rows}


def test_sarif_names_rules_results_and_places(validate: Cli) -> None:
    log = json.loads(validate(PLACE / BROKEN, "--format", "sarif").stdout)
    (run,) = log["runs"]
    assert log["version"] == "2.1.0"
    result = next(one for one in run["results"] if one["level"] == "error")
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "MLS003"
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].endswith(".avro")


def test_junit_counts_failures(validate: Cli) -> None:
    root = ElementTree.fromstring(validate(PLACE / BROKEN, PLACE / VALID, "--format", "junit").stdout)
    assert [suite.get("failures") for suite in root] == ["1", "0"]


@pytest.mark.parametrize(("fail_on", "failures"), [("never", 0), ("error", 0), ("tolerated", 1), ("warning", 0)])
def test_junit_fails_where_the_command_does(fail_on: str, failures: int, validate: Cli) -> None:
    done = validate(PLACE / VALID, "--format", "junit", "--fail-on", fail_on)
    (suite,) = ElementTree.fromstring(done.stdout)
    assert min(int(suite.get("failures", "")), 1) == len(suite.findall("testcase/failure")[:1]) == failures
    assert done.returncode == failures


def test_selecting_and_ignoring_decide_what_fails(validate: Cli) -> None:
    assert validate(PLACE / BROKEN, "--ignore", "MLS").returncode == 0
    assert validate(PLACE / BROKEN, "--select", "DFL", "--ignore", "MLS").returncode == 0
    assert validate(PLACE / BROKEN, "--select", "mls003").returncode == 1
    assert validate(PLACE / BROKEN, "--select", "DFL,MLS003").returncode == 1
    assert validate(PLACE / BROKEN, "--ignore", "DFL,MLS").returncode == 0
    assert validate(PLACE / VALID, "--fail-on", "tolerated").returncode == 1
    assert validate(PLACE / BROKEN, "--fail-on", "never").returncode == 0


def test_a_baseline_accepts_what_it_knows(validate: Cli, tmp_path: Path) -> None:
    known = tmp_path / "known.json"
    assert validate(PLACE / BROKEN, "--format", "json", "-o", known).returncode == 1
    done = validate(PLACE / BROKEN, "--baseline", known)
    assert done.returncode == 0
    assert "in the baseline" in done.stdout


@pytest.mark.parametrize("output", [".", "/proc/1/nothing", "file/report.json"])
def test_an_output_that_cannot_be_written_is_wrong_usage_before_any_table_is_read(
    output: str, validate: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(run, "validate", lambda *_: pytest.fail("a table is read"))
    done = validate(PLACE / BROKEN, "--output", output)
    assert done.returncode == 2
    assert f"--output {output}: cannot be written: " in done.stderr


def test_a_report_that_cannot_be_written_to_its_file_is_printed(validate: Cli) -> None:
    done = validate(PLACE / BROKEN, "--format", "json", "--output", "/dev/full")
    assert done.returncode == 2
    assert "--output /dev/full: cannot be written: No space left on device; the report was printed" in done.stderr
    assert "MLS003" in {one["code"] for one in json.loads(done.stdout)["tables"][0]["findings"]}


def test_a_report_is_written_to_a_named_pipe(validate: Cli, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["cat", tmp_path / "pipe"], stdout=subprocess.PIPE) as reader:
        assert validate(PLACE / BROKEN, "--format", "json", "--output", "pipe").returncode == 1
        assert json.loads(reader.communicate(timeout=60)[0])["tables"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "Expecting value: line 1 column 1"),
        ("[" * 100_000, "recursion"),
        ("{}", '"tables" is a required property'),
        ("[]", '[] is not of type "object"'),
        ('{"tables": [{"location": 5, "findings": []}]}', '/tables/0/location: 5 is not of type "string"'),
        ('{"tables": [{"location": "x", "findings": [{}]}]}', '/tables/0/findings/0: "count" is a required property'),
        (
            '{"tables": [{"location": "x", "findings": [], "accepted": [{"count": 1}]}]}',
            '/tables/0/accepted/0: "check" is a required property',
        ),
        (
            '{"tables": [{"location": "x", "findings": [{"check": "a", "count": "1"}]}]}',
            '/tables/0/findings/0/count: "1" is not of type "integer"',
        ),
    ],
)
def test_a_baseline_that_is_no_report_is_refused_with_the_place(
    content: str, expected: str, validate: Cli, tmp_path: Path
) -> None:
    (tmp_path / "known.json").write_text(content)
    done = validate(PLACE / VALID, "--baseline", "known.json")
    assert (done.returncode, done.stdout) == (2, "")
    start = "iceberg-conformance: --baseline known.json: not a report of validate --format json: "
    assert done.stderr.startswith(start)
    assert expected in done.stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), "name a table"),
        (("x", "--level", "deep"), "deep"),
        (("x", "--select", "NOPE1"), "not a check, the code of a requirement"),
        (("x", "--snapshots", ""), "--snapshots is empty: expected current"),
        (("x", "--diff"), "OLD and NEW"),
        (("x", "--workers", "0"), "--workers 0"),
        (("x", "--file-timeout", "nan"), "--file-timeout nan"),
        (("x", "--baseline", "missing.json"), "cannot be read"),
        (("catalog:",), "catalog:NAME.NAMESPACE.TABLE"),
        (("catalog:prod.",), "catalog:NAME.NAMESPACE.TABLE"),
        (("catalog:prod.db",), "all tables of a namespace are catalog:prod.db.*"),
        (("catalog:prod.db.*", "x", "--diff"), "catalog:prod.db.* may be many tables"),
        (("x", "--time-budget", "0"), "--time-budget 0"),
    ],
)
def test_wrong_usage_is_reported_in_one_line(validate: Cli, arguments: tuple[str, ...], expected: str) -> None:
    done = validate(*arguments)
    assert done.returncode == 2
    assert expected in done.stderr
    assert done.stdout == ""


def test_a_snapshot_that_is_not_there_is_wrong_usage(validate: Cli) -> None:
    done = validate(PLACE / VALID, "--snapshots", "17")
    assert done.returncode == 2
    assert "no snapshot 17" in done.stderr
    for digits in ("9" * 30, "9" * 5000):
        done = validate(PLACE / VALID, "--snapshots", digits)
        assert done.returncode == 2
        assert f"no branch or tag '{digits}'" in done.stderr


def test_a_branch_or_tag_is_chosen_by_its_name_and_an_unknown_one_is_wrong_usage(validate: Cli, tmp_path: Path) -> None:
    metadata = json.loads(Path(metadata_location(str(PLACE / "row-lineage-parquet"))).read_text(encoding="utf-8"))
    first, current = metadata["snapshots"][0]["snapshot-id"], metadata["current-snapshot-id"]
    metadata["refs"] |= {name: {"snapshot-id": first, "type": "tag"} for name in ("audit", "2024", str(current))}
    path = tmp_path / "v1.metadata.json"
    path.write_text(json.dumps(metadata), encoding="utf-8")
    for name, snapshot in (("main", current), ("audit", first), ("2024", first), (str(current), current)):
        (table,) = json.loads(validate(path, "--snapshots", name, "--format", "json").stdout)["tables"]
        assert table["snapshots"] == [str(snapshot)]
    done = validate(path, "--snapshots", "Audit")
    assert done.returncode == 2
    assert "no branch or tag 'Audit'; its branches and tags: '2024'" in done.stderr
    assert "'audit', 'main'" in done.stderr
    del metadata["refs"]
    path.write_text(json.dumps(metadata), encoding="utf-8")
    assert validate(path, "--snapshots", "main", "--fail-on", "never").returncode == 0


def test_metadata_that_is_cut_is_a_finding_in_gzip_too(validate: Cli, tmp_path: Path) -> None:
    whole = Path(metadata_location(str(PLACE / VALID))).read_bytes()
    packed = gzip.compress(whole)
    damaged = bytearray(packed)
    damaged[-6] ^= 1
    cases = {
        "v1.metadata.json": (whole[:-10], "TMD029"),
        "v2.metadata.json": (whole[:20], "TMD029"),
        "v1.gz.metadata.json": (packed[:-10], "TMD030"),
        "v2.gz.metadata.json": (packed[:300], "TMD030"),
        "v3.gz.metadata.json": (bytes(damaged), "TMD030"),
        "v4.gz.metadata.json": (gzip.compress(whole[:-10]), "TMD029"),
    }
    for name, (content, code) in cases.items():
        path = tmp_path / name
        path.write_bytes(content)
        done = validate(path, "--format", "json")
        assert done.returncode == 1, name
        (table,) = json.loads(done.stdout)["tables"]
        assert [one["code"] for one in table["findings"]] == [code]
        assert (table["complete"], table["reason"]) == (False, "readers must refuse the metadata")


@pytest.mark.parametrize(
    ("hint", "files", "expected"),
    [
        ("9", ["v1.metadata.json"], "found '9'; expected the current one, v1.metadata.json"),
        ("1", ["v2.metadata.json"], "found '1'; expected the current one, v2.metadata.json"),
        ("no version", ["v1.metadata.json"], "found 'no version'"),
        ("", ["v1.metadata.json"], "found ''"),
        (b"\xff", ["v1.metadata.json"], "found"),
        ("00002-aa", ["00001-aa.metadata.json"], "found '00002-aa'"),
        ("1\n", ["v1.metadata.json"], None),
        ("1", ["v1.metadata.json", "v2.metadata.json"], None),
        ("1", ["v1.gz.metadata.json"], None),
        ("00001-aa", ["00001-aa.metadata.json"], None),
        ("00001-aa.metadata.json", ["00001-aa.metadata.json", "00001-bb.metadata.json"], None),
        (None, ["v1.metadata.json"], None),
    ],
)
def test_a_version_hint_that_leads_to_no_file_is_reported(
    hint: str | bytes | None, files: list[str], expected: str | None, validate: Cli, tmp_path: Path
) -> None:
    whole = Path(metadata_location(str(PLACE / VALID))).read_bytes()
    folder = tmp_path / "table" / "metadata"
    folder.mkdir(parents=True)
    for name in files:
        (folder / name).write_bytes(gzip.compress(whole) if ".gz." in name else whole)
    if hint is not None:
        (folder / "version-hint.text").write_bytes(hint if isinstance(hint, bytes) else hint.encode())
    for location in (folder.parent, folder):
        done = validate(location, "--level", "metadata", "--select", "OCC", "--fail-on", "warning")
        assert done.returncode == (expected is not None)
        assert ("warning OCC010: " in done.stdout) == (expected is not None)
        assert (expected or "") in done.stdout
    assert "OCC010" not in validate(folder / files[0]).stdout


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda hint: hint.symlink_to(hint), "a symbolic link that leads to itself"),
        (lambda hint: hint.symlink_to("/dev/zero"), "a pipe or a device"),
        (os.mkfifo, "a pipe or a device"),
        (Path.mkdir, "this is a directory"),
        (lambda hint: hint.write_text("9" * 200_000), "the file has 200000 bytes"),
    ],
)
def test_a_version_hint_that_is_not_a_readable_file_is_reported(
    make: Callable[[Path], object], reason: str, validate: Cli, tmp_path: Path
) -> None:
    (tmp_path / "v1.metadata.json").write_bytes(Path(metadata_location(str(PLACE / VALID))).read_bytes())
    make(tmp_path / "version-hint.text")
    done = validate(tmp_path, "--level", "metadata", "--select", "OCC010", "--fail-on", "warning")
    assert done.returncode == 1
    assert "warning OCC010: " in done.stdout
    assert reason in done.stdout


def test_a_root_that_cannot_be_read_is_not_examined(validate: Cli, tmp_path: Path) -> None:
    text = tmp_path / "v1.metadata.json"
    text.write_text("no JSON")
    for location in (tmp_path / "nothing", text, "nope://host/table"):
        done = validate(location, PLACE / VALID)
        assert done.returncode == 3
        assert "cannot be read" in done.stdout
        assert str(PLACE / VALID) in done.stdout


def test_an_unexpected_error_in_one_table_leaves_the_reports_of_the_others(
    validate: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = run.validate

    def fails_for_one(location: str, *arguments: Any) -> run.TableReport:
        return check(location, *arguments) if location != str(PLACE / VALID) else 1 // 0

    monkeypatch.setattr(run, "validate", fails_for_one)
    done = validate(PLACE / BROKEN, PLACE / VALID, PLACE / "row-lineage-parquet", "--format", "json")
    assert done.returncode == 4
    assert "a bug in this tool: ZeroDivisionError: " in done.stderr
    first, second, third = json.loads(done.stdout)["tables"]
    assert "MLS003" in {one["code"] for one in first["findings"]}
    assert second["unreadable"].startswith("a bug in this tool: ZeroDivisionError: ")
    assert third["complete"]


def test_every_snapshot_or_one_can_be_chosen(validate: Cli) -> None:
    report = json.loads(validate(PLACE / "row-lineage-parquet", "--snapshots", "all", "--format", "json").stdout)
    (table,) = report["tables"]
    written = json.loads(Path(metadata_location(str(PLACE / "row-lineage-parquet"))).read_text(encoding="utf-8"))
    assert table["snapshots"] == [str(one["snapshot-id"]) for one in reversed(written["snapshots"])]
    one = table["snapshots"][-1]
    report = json.loads(validate(PLACE / "row-lineage-parquet", "--snapshots", one, "--format", "json").stdout)
    assert report["tables"][0]["snapshots"] == [one]


def test_the_old_version_of_a_table_is_compared_with_the_new(validate: Cli, tmp_path: Path) -> None:
    new = Path(metadata_location(str(PLACE / "row-lineage-parquet")))
    document = json.loads(new.read_text())
    document["last-sequence-number"] += 5
    old = tmp_path / "v1.metadata.json"
    old.write_text(json.dumps(document))
    assert validate("--diff", new, new).returncode == 0
    done = validate("--diff", old, new)
    assert done.returncode == 1
    assert "/last-sequence-number" in done.stdout


def test_the_metadata_file_that_was_looked_at_is_reported(validate: Cli) -> None:
    looked = metadata_location(str(PLACE / VALID))
    below = looked.removeprefix(f"{PLACE / VALID}/")
    assert validate(PLACE / VALID).stdout.splitlines()[0] == f"{PLACE / VALID} ({below})"
    assert validate(looked).stdout.splitlines()[0] == looked


def test_a_healthy_table_is_three_lines_that_say_what_was_looked_at(validate: Cli) -> None:
    location, facts, verdict = validate(PLACE / VALID).stdout.strip().splitlines()
    assert facts.startswith("  format version ")
    assert "level manifests, " in facts
    assert verdict.replace("tolerated: DFL002, LOC001, MAN006 (-v shows them); ", "").startswith(
        "  nothing is wrong in metadata and manifests; not checked: files (--level files) and rows (--level rows) ("
    )
    assert "not checked: rows (--level rows)" in validate(location.split()[0], "--level", "files").stdout
    assert "not checked" not in validate(location.split()[0], "--level", "rows").stdout


def test_annotations_for_github_are_what_fails(validate: Cli, tmp_path: Path) -> None:
    done = validate(PLACE / BROKEN, "--format", "github")
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines
    assert all(line.startswith(("::error title=", "::warning title=")) and "%0A" in line for line in lines)
    errors = [line.removeprefix("::error title=").split()[0] for line in lines if line.startswith("::error")]
    report = json.loads(validate(PLACE / BROKEN, "--format", "json").stdout)["tables"][0]
    assert errors == [one["code"] for one in report["findings"] if one["severity"] == "error"]
    assert validate(PLACE / VALID, "--format", "github").stdout == ""
    assert validate(tmp_path, "--format", "github").stdout.startswith(f"::error title=not checked%3A {tmp_path}::")


HUDI = (
    ".hoodie/hoodie.properties",
    ".hoodie/timeline/20261015074529000_20261015074530123.commit",
    ".hoodie/.aux/.gitkeep",
    ".hoodie/metadata/.hoodie/hoodie.properties",
    "2018/08/31/.hoodie_partition_metadata",
    "2018/08/31/9f1e-0_0-21-21_20261015074529000.parquet",
)
"""What is below a Hudi table: its properties, the timeline, the metadata table, and a partition with a file."""

DELTA = ("_delta_log/00000000000000000000.json", "part-00000-5f2c.snappy.parquet")


@pytest.mark.parametrize(("files", "name"), [(DELTA, "Delta Lake"), (HUDI, "Hudi")])
@pytest.mark.parametrize("more", [(), ("metadata/part-0.parquet",)])  # a partition may be called so
def test_a_table_of_another_format_is_recognised(
    validate: Cli, tmp_path: Path, files: tuple[str, ...], more: tuple[str, ...], name: str
) -> None:
    for file in (*files, *more):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("hoodie.table.name=t\nhoodie.table.type=COPY_ON_WRITE\nhoodie.table.version=8\n")
    done = validate(tmp_path)
    assert done.returncode == 3
    assert f"{tmp_path}: this is a {name} table, without Iceberg metadata" in done.stdout


def test_a_table_of_another_format_with_iceberg_metadata_is_a_table(validate: Cli, tmp_path: Path) -> None:
    (tmp_path / ".hoodie").mkdir()
    (tmp_path / "metadata").mkdir()
    whole = Path(metadata_location(str(PLACE / VALID))).read_bytes()
    (tmp_path / "metadata" / "v1.metadata.json").write_bytes(whole)
    assert validate(tmp_path, "--level", "metadata").returncode == 0


def test_the_version_that_readers_refuse_is_shown_as_the_file_says_it(validate: Cli, tmp_path: Path) -> None:
    file = tmp_path / "v1.metadata.json"
    file.write_text('{"format-version": 1}')
    assert "  format version 1, level metadata\n" in validate(file).stdout


def test_a_table_without_a_name_is_wrong_usage(validate: Cli) -> None:
    assert validate("").returncode == 2


def test_what_is_left_out_is_reported(validate: Cli) -> None:
    done = validate(PLACE / BROKEN, "--ignore", "MLS,LOC,MAN,DFL,SNP,NOT")
    assert done.returncode == 0
    assert "findings not selected" in done.stdout
    assert "nothing else is wrong" in done.stdout


def test_what_could_not_be_looked_at_is_reported_whatever_is_selected(validate: Cli) -> None:
    done = validate(PLACE / BROKEN, "--select", "PAR")
    assert done.returncode == 1
    assert "error MLS003" in done.stdout
    assert validate(PLACE / BROKEN, "--select", "PAR", "--ignore", "MLS003").returncode == 0


def test_a_baseline_is_of_the_table_however_it_is_named_and_can_be_made_anew(validate: Cli, tmp_path: Path) -> None:
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    assert validate(PLACE / BROKEN, "--format", "json", "--output", first).returncode == 1
    again = ("--format", "json", "--baseline", first, "--output", second)
    assert validate(f"file://{PLACE / BROKEN}/", *again).returncode == 0
    assert validate(PLACE / BROKEN, "--baseline", second).returncode == 0


def test_metadata_that_readers_refuse_leaves_the_rest_unchecked_and_that_is_reported(
    validate: Cli, tmp_path: Path
) -> None:
    metadata = json.loads(Path(metadata_location(str(PLACE / VALID))).read_text(encoding="utf-8"))
    metadata["current-schema-id"] = 99
    path = tmp_path / "v9.metadata.json"
    path.write_text(json.dumps(metadata), encoding="utf-8")
    message = "readers must refuse the metadata"
    assert f"{message}: the table was not checked completely" in validate(path).stdout
    assert message not in validate(path, "--level", "metadata").stdout
    (table,) = json.loads(validate(path, "--format", "json").stdout)["tables"]
    assert (table["complete"], table["reason"]) == (False, message)
    assert validate(path, "--fail-on", "never").returncode == 3


def test_who_stops_reading_the_report_still_gets_the_status() -> None:
    command = [sys.executable, "-m", "conformance", "validate", str(PLACE / BROKEN)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait(300) == 1
        assert process.stderr is not None
        assert process.stderr.read() == b""
