"""The linter of the golden vectors: ``python -m conformance.vectors.lint [FILE or FOLDER]...``.

A finding is one line ``file:line:column: message``. The exit status is 0 without findings, 1 with findings, and 2 if a
file cannot be read as JSON at all.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
from attrs import field, frozen

from conformance.core.json_places import JsonPath, find_offset
from conformance.core.json_text import parse_json, shorten
from conformance.operations.registry import OPERATIONS, ROLES
from conformance.vectors import SCHEMA, shipped
from conformance.vectors.awkward_values import TABLE, awkward_values, uncovered_cells
from spec_ref.json.places import split_position
from spec_ref.requirements import RequirementLevel, contradictions, register

HEAD = ("suite", "operation", "section")
MEMBERS = ("id", "requirements", "versions", "args", "expect", "origin", "note", "contradiction", "section", "tags")
"""The members of a vector in the order of the files."""

NOTHING_TO_ANSWER = {
    "BND005": "a bound that is not a variant object of paths and primitives has no value",
    "BND009": "a bound whose parts do not fit each other has no value",
    "EVO006": "a default that the new type does not have cannot be kept",
    "NOT004": "a time before the log begins has no snapshot",
    "PAR010": "a field that the spec does not have can be neither removed nor renamed",
    "PUF001": "bytes that are not a Puffin file have no blobs",
    "PUF002": "bytes without a footer have no blobs",
    "PUF003": "a footer that does not fit the file has no payload",
    "PUF016": "bytes that are not a compact theta sketch have no hashes",
    "TMD007": "a table without any schema has no columns",
    "VER003": "a lower version has no place for what the table has",
}
"""Requirements whose violation an implementation in this role need not refuse, as no "must" of the spec demands it, and
why no answer is right, either. Accepting such input is leniency, not a deviation (`tools.check_deviations`)."""

_OUR_OWN = re.compile(r"spec_ref|conformance|reference implementation|own code", re.IGNORECASE)
_TOPIC = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@frozen(order=True)
class LintFinding:
    """A problem in a vector file."""

    file: str
    line: int
    column: int
    message: str
    fatal: bool = field(default=False, order=False)
    """Whether the file cannot be read at all."""

    is_usage_error: bool = field(default=False, order=False)
    """Whether it concerns the command line and not a file."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.message}"


@frozen
class VectorFile:
    """A parsed vector file."""

    path: Path
    text: str
    document: dict[str, Any]

    def finding(self, path: JsonPath, message: str) -> LintFinding:
        """Return a finding at a place in the document."""
        at = find_offset(self.text, path)
        line_start = self.text.rfind("\n", 0, at) + 1
        return LintFinding(str(self.path), self.text.count("\n", 0, at) + 1, at - line_start + 1, message)


def canonical(document: dict[str, Any]) -> str:
    """Return the canonical form of a vector file: one line for each vector, members in order, ASCII only."""
    lines = ["{", *(f"  {json.dumps(name)}: {json.dumps(document[name])}," for name in HEAD), '  "vectors": [']
    rows = [
        "    " + json.dumps({name: vector[name] for name in MEMBERS if name in vector})
        for vector in document["vectors"]
    ]
    return "\n".join([*lines, ",\n".join(rows), "  ]", "}", ""])


def lint(paths: Iterable[Path], schema: Path) -> list[LintFinding]:
    """Return all findings of some files, in the order of files and lines.

    Args:
        paths: the files; rules across files apply among them.
        schema: the JSON Schema of vector files.
    """
    check = jsonschema_rs.validator_for(parse_json(schema.read_bytes()))
    findings: list[LintFinding] = []
    files: list[VectorFile] = []
    for path in paths:
        read = _read(path)
        if isinstance(read, LintFinding):
            findings.append(read)
            continue
        of_form = [
            read.finding(tuple(error.instance_path), shorten(error.message))
            for error in check.iter_errors(read.document)
        ]
        findings += of_form
        if not of_form:
            findings += _file_findings(read)
            files.append(read)
    findings += _find_duplicates(files)
    return sorted(findings)


def _read(path: Path) -> VectorFile | LintFinding:
    try:
        data = path.read_bytes()
        document = parse_json(data)
    except OSError as error:
        return LintFinding(str(path), 1, 1, f"cannot be read: {error.strerror}", fatal=True)
    except ValueError as error:
        message, line, column = split_position(str(error)) or (str(error), 1, 1)
        return LintFinding(str(path), line, column, f"broken JSON: {message}", fatal=True)
    return VectorFile(path, data.decode(), document)


def _file_findings(file: VectorFile) -> Iterator[LintFinding]:
    """Yield the findings of one file that conforms to the schema."""
    document = file.document
    if document["suite"] != file.path.parent.name:
        yield file.finding(("suite",), f"the suite must be the folder's name, {file.path.parent.name!r}")
    if not _TOPIC.fullmatch(file.path.stem):
        yield file.finding((), "a topic is named in lower-case words joined by hyphens")
    headings = {requirement.section for requirement in register().values()}
    if document["section"] not in headings:
        yield file.finding(("section",), f"the register has no section {document['section']!r}")
    for index, vector in enumerate(document["vectors"]):
        section = vector.get("section", document["section"])
        if section not in headings:
            yield file.finding(("vectors", index, "section"), f"the register has no section {section!r}")
        for path, message in _vector_findings(section, document["operation"], vector):
            yield file.finding(("vectors", index, *path), f"{vector['id']}: {message}")
    expected = canonical(document)
    if file.text != expected:
        yield _find_misformatted(file, expected)


def _vector_findings(section: str, operation: str, vector: dict[str, Any]) -> Iterator[tuple[JsonPath, str]]:
    for name in ("requirements", "versions", "contradiction"):
        if name in vector and vector[name] != sorted(vector[name]):
            yield (name,), f"{name} are not sorted"
    known = []
    for index, code in enumerate(vector["requirements"]):
        requirement = register().get(code)
        if requirement is None:
            yield ("requirements", index), f"the register has no requirement {code}"
            continue
        known.append(requirement)
        for version in vector["versions"]:
            if version not in requirement.versions:
                yield ("versions",), f"{code} does not exist in version {version}"
    if len(known) == len(vector["requirements"]) and all(requirement.section != section for requirement in known):
        yield ("requirements",), f"none of the requirements is in the section {section!r}"
    for index, known_id in enumerate(vector.get("contradiction", ())):
        if known_id not in contradictions():
            yield ("contradiction", index), f"the register has no contradiction {known_id}"
    if "any_of" in vector["expect"] and "contradiction" not in vector:
        yield ("expect",), "several outcomes are permitted, and no contradiction of the documents is named"
    outcomes = vector["expect"].get("any_of", [vector["expect"]])
    if known and all("error" in outcome for outcome in outcomes):
        roles = OPERATIONS[operation].roles
        musts = [requirement for requirement in known if requirement.level is RequirementLevel.MUST]
        bound = {role for requirement in musts for party in requirement.binds for role in ROLES[party]}
        if not bound & roles and not any(requirement.code in NOTHING_TO_ANSWER for requirement in known):
            who = " or ".join(sorted(roles))
            yield ("requirements",), f"only a refusal is permitted, and none of its requirements is a must for a {who}"
    if _OUR_OWN.search(vector["origin"]):
        yield ("origin",), "the origin is our own code: a value is not its own proof"


def _find_misformatted(file: VectorFile, expected: str) -> LintFinding:
    """Return a finding where the text first differs from the canonical form."""
    lines, wanted = list(io.StringIO(file.text, newline="\n")), list(io.StringIO(expected, newline="\n"))
    same = 0
    while same < min(len(lines), len(wanted)) and lines[same] == wanted[same]:
        same += 1
    left, right = (rows[same] if same < len(rows) else "" for rows in (lines, wanted))
    shorter = min(len(left), len(right))
    column = next((at for at in range(shorter) if left[at] != right[at]), shorter)
    return LintFinding(
        str(file.path), same + 1, column + 1, "not in the format of vector files (see vectors/README.md)"
    )


def _find_duplicates(files: list[VectorFile]) -> Iterator[LintFinding]:
    """Yield repeated ids and requests; requests of another project's cases may be repeated."""
    ids: dict[str, Path] = {}
    questions: dict[str, str] = {}
    for file in files:
        for index, vector in enumerate(file.document["vectors"]):
            path = ("vectors", index)
            if vector["id"] in ids:
                yield file.finding(
                    (*path, "id"), f"{vector['id']}: a vector in {ids[vector['id']]} already has this id"
                )
            ids.setdefault(vector["id"], file.path)
            if vector["id"].startswith("iv/"):
                continue
            question = json.dumps([file.document["operation"], vector["args"]])
            if question in questions:
                yield file.finding((*path, "args"), f"{vector['id']}: the same request as {questions[question]}")
            questions.setdefault(question, vector["id"])


def uncovered_values(paths: Iterable[Path]) -> list[LintFinding]:
    """Return findings for awkward values that an operation gets in no vector, and for unneeded reasons.

    Args:
        paths: all vector files, which conform to the schema.
    """
    documents = [parse_json(path.read_bytes()) for path in paths]
    vectors = [(document["operation"], vector) for document in documents for vector in document["vectors"]]
    return [LintFinding(str(TABLE), 1, 1, complaint) for complaint in uncovered_cells(vectors, awkward_values())]


def _vector_files(targets: list[Path]) -> Iterator[Path]:
    for target in targets:
        yield from sorted(target.glob("*/*.json")) if target.is_dir() else [target]


def _find_schema(files: list[Path]) -> Path:
    """Return the schema beside the suites of the files, else the one of the tool's vectors."""
    for path in files:
        beside = path.resolve().parent.parent / SCHEMA
        if beside.is_file():
            return beside
    return shipped() / SCHEMA


NO_FILES = "no vector files in it"


def lint_files(targets: list[Path]) -> list[LintFinding]:
    """Return the findings of vector files and folders of them."""
    files = list(_vector_files(targets))
    if not files:
        return [LintFinding(str(targets[0]), 1, 1, NO_FILES, fatal=True, is_usage_error=True)]
    findings = lint(files, _find_schema(files))
    if not findings and shipped().resolve() in [target.resolve() for target in targets]:
        findings += uncovered_values(files)
    return findings


def main(argv: list[str] | None = None) -> int:
    """Print the findings of vector files; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m conformance.vectors.lint", description="Check golden vectors.")
    parser.add_argument(
        "targets", nargs="*", type=Path, metavar="FILE or FOLDER", help="default: the vectors of this version"
    )
    targets: list[Path] = parser.parse_args(argv).targets or [shipped()]
    findings = lint_files(targets)
    for finding in findings:
        print(finding, file=sys.stderr if finding.is_usage_error else sys.stdout)
    if any(finding.fatal for finding in findings):
        return 2
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
