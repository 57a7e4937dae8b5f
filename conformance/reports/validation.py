"""The reports of validated tables: for people, as JSON, JSON lines, JUnit, and SARIF (`conformance.reports.sarif`)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from conformance.core.colours import Paint
from conformance.core.lazy_imports import lazy_imports
from conformance.core.terminal_sanitizer import one_line, xml_text
from conformance.rules import find_check
from conformance.validator.advice import Advice, AdviceKind, advice
from conformance.validator.finding_filter import is_failure
from conformance.validator.readability import EngineReadability, engine_readability
from conformance.validator.run import TableReport
from conformance.validator.tolerated import find_tolerated
from spec_ref.checks.findings import Finding, Severity
from spec_ref.core.errors import Violation
from spec_ref.requirements import register

with lazy_imports():
    from xml.etree import ElementTree

    from conformance.reports import github, sarif


@attrs.frozen
class ValidationResult:
    """The result for one location: its report, or why there is none."""

    location: str
    report: TableReport | None = None
    unreadable: str | None = None
    accepted: tuple[Finding, ...] = ()
    """The findings that the baseline accepts."""

    unselected: int = 0
    """The number of findings that were not selected."""

    seconds: float = 0.0
    fail_on: Severity | None = Severity.ERROR
    """The lowest severity that fails; None if nothing fails."""

    interrupted: bool = False
    """Whether somebody interrupted the check, or its time limit was reached."""

    @property
    def fails(self) -> bool:
        """Whether the table has a finding that fails."""
        return self.report is not None and any(is_failure(one.severity, self.fail_on) for one in self.report.findings)

    @property
    def reason_incomplete(self) -> str | None:
        """Why the table was not checked completely; None if it was."""
        if self.report is None:
            return self.unreadable
        return None if self.report.complete else f"{self.report.reason or 'interrupted'}: {PARTIAL}"


PARTIAL = "the table was not checked completely"


def place_json(place: Violation) -> dict[str, Any]:
    """Return a violation as JSON: its place, and what was found and expected there."""
    members = {"file": place.file, "path": place.path or None, "found": place.found, "expected": place.expected}
    return {name: value for name, value in members.items() if value is not None}


def finding_requirements(finding: Finding) -> tuple[str, ...]:
    """Return the requirements of a finding; the first is the one that it names."""
    check = find_check(finding.violation)
    return (finding.requirement,) if check is None else check.requirements


def _own_message(finding: Finding, place: Violation) -> dict[str, str]:
    """Return the message for a place, if it differs from that for the first place."""
    return {} if place.message == finding.violation.message else {"message": place.message}


def _what_to_do(finding: Finding) -> Advice:
    if finding.advice:
        cause = find_tolerated(finding)
        return Advice(AdviceKind.NOTHING, finding.advice, otherwise=None if cause is None else cause.otherwise)
    return advice(finding.requirement, finding.violation.aspect)


def finding_json(finding: Finding) -> dict[str, Any]:
    """Return a finding as JSON."""
    rule = register()[finding.requirement]
    return {
        "check": finding.check,
        "code": finding.requirement,
        "requirements": list(finding_requirements(finding)),
        "severity": finding.severity.value,
        "message": finding.violation.message,
        **place_json(finding.violation),
        "count": finding.count,
        "examples": [{**place_json(place), **_own_message(finding, place)} for place in finding.places],
        "section": rule.section,
        "writer": finding.writer,
        "what_to_do": _what_to_do(finding).text,
        "advice": _what_to_do(finding).as_json(),
    }


def reader_json(reader: EngineReadability) -> dict[str, Any]:
    """Return an engine, and what it cannot read, as JSON."""
    obstacles = [
        {
            "feature": fact.feature,
            "outcome": fact.outcome,
            "reason": fact.reason,
            "evidence": fact.evidence,
            "vectors": list(fact.vectors),
        }
        for fact in reader.obstacles
    ]
    return {"engine": reader.engine, "version": reader.versions, "reads": reader.reads, "obstacles": obstacles}


def table_json(outcome: ValidationResult) -> dict[str, Any]:
    """Return a table as JSON."""
    report = outcome.report
    if report is None:
        return {"location": outcome.location, "unreadable": outcome.unreadable, "findings": []}
    return {
        "location": report.location,
        "metadata_location": report.metadata_location,
        "format_version": report.format_version,
        "level": report.level.value,
        "complete": report.complete,
        **({} if report.reason is None else {"reason": report.reason}),
        **({} if report.elsewhere is None else {"files_read_from": report.elsewhere}),
        "snapshots": [str(snapshot_id) for snapshot_id in report.snapshots],
        "manifests": report.manifests,
        "entries": report.entries,
        "seconds": round(outcome.seconds, 3),
        "counts": _counts(report),
        "findings": [finding_json(finding) for finding in report.findings],
        "accepted": [finding_json(finding) for finding in outcome.accepted],
        "consequences": [finding_json(finding) for finding in report.consequences],
        "writers": list(report.writers),
        "features": sorted(report.features),
        "readability": [reader_json(reader) for reader in engine_readability(report.features)],
    }


def _counts(report: TableReport) -> dict[str, int]:
    counted = Counter(finding.severity.value for finding in report.findings)
    return {severity.value: counted[severity.value] for severity in Severity}


def as_json(outcomes: Sequence[ValidationResult]) -> str:
    """Return the report as one JSON document."""
    document = {"summary": summary_json(outcomes), "tables": [table_json(outcome) for outcome in outcomes]}
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def summary_json(outcomes: Sequence[ValidationResult]) -> dict[str, int]:
    """Return how many tables there are, how many have findings that fail, and how many were not checked completely."""
    return {
        "tables": len(outcomes),
        "failing": sum(one.fails for one in outcomes),
        "not_checked": sum(one.reason_incomplete is not None for one in outcomes),
    }


def as_lines(outcomes: Sequence[ValidationResult]) -> str:
    """Return a JSON line for each finding, with its table."""
    rows: list[dict[str, Any]] = []
    for outcome in outcomes:
        if outcome.report is None:
            rows.append({"location": outcome.location, "unreadable": outcome.unreadable})
        findings = () if outcome.report is None else outcome.report.findings
        rows += [{"location": outcome.location, **finding_json(finding)} for finding in findings]
        if outcome.report is not None and not outcome.report.complete:
            rows.append({"location": outcome.location, "complete": False, "reason": outcome.reason_incomplete})
    return "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows)


def as_junit(outcomes: Sequence[ValidationResult]) -> str:
    """Return a JUnit report: a suite for each table, with a case for each finding."""
    root = ElementTree.Element("testsuites", name="iceberg-conformance validate")
    for outcome in outcomes:
        findings = () if outcome.report is None else outcome.report.findings
        failing = [one for one in findings if is_failure(one.severity, outcome.fail_on)]
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=xml_text(outcome.location),
            tests=str(len(findings) + int(outcome.reason_incomplete is not None or not findings)),
            failures=str(len(failing)),
            errors=str(int(outcome.reason_incomplete is not None)),
            time=f"{outcome.seconds:.3f}",
        )
        if outcome.reason_incomplete is not None or not findings:
            case = ElementTree.SubElement(suite, "testcase", classname=xml_text(outcome.location), name="validate")
            if outcome.reason_incomplete is not None:
                ElementTree.SubElement(case, "error", message=xml_text(outcome.reason_incomplete))
        for finding in findings:
            name = f"{finding.requirement} {finding.check}"
            said = f"{finding.requirement} {finding.violation.message}"
            case = ElementTree.SubElement(suite, "testcase", classname=xml_text(outcome.location), name=xml_text(name))
            text = "\n".join(str(place) for place in finding.places)
            if finding in failing:
                failure = ElementTree.SubElement(case, "failure", message=xml_text(said), type=finding.severity.value)
                failure.text = xml_text(text)
            else:
                ElementTree.SubElement(case, "system-out").text = xml_text(f"{finding.severity.value}: {said}\n{text}")
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def as_sarif(outcomes: Sequence[ValidationResult]) -> str:
    """Return a SARIF 2.1.0 log with one run."""
    found = [(outcome.location, one) for outcome in outcomes if outcome.report for one in outcome.report.findings]
    unreadable = [(one.location, one.reason_incomplete) for one in outcomes if one.reason_incomplete is not None]
    return sarif.render(found, unreadable)


def as_github(outcomes: Sequence[ValidationResult]) -> str:
    """Return annotations for GitHub: an error for each failing finding, and each table not checked completely."""
    lines = []
    for outcome in outcomes:
        for finding in () if outcome.report is None else outcome.report.findings:
            fails = is_failure(finding.severity, outcome.fail_on)
            if fails or finding.severity is Severity.WARNING:
                places = [str(place) for place in finding.places]
                title = f"{finding.requirement} {finding.check}: {outcome.location}"
                lines.append(
                    github.annotation("error" if fails else "warning", title, [finding.violation.message, *places])
                )
        if outcome.reason_incomplete is not None:
            lines.append(github.annotation("error", f"not checked: {outcome.location}", [outcome.reason_incomplete]))
    return "".join(f"{line}\n" for line in lines)


_SIGNS = {
    Severity.ERROR: ("error", "31"),
    Severity.TOLERATED: ("tolerated", "35"),
    Severity.WARNING: ("warning", "33"),
    Severity.INFO: ("info", "36"),
}


def as_text(
    outcomes: Sequence[ValidationResult], paint: Paint, *, verbose: bool = False, brief: bool = False
) -> Iterator[str]:
    """Return the report for people, in lines.

    Args:
        outcomes: the tables.
        paint: colours text.
        verbose: whether to show each tolerated finding, and each finding that follows from others.
        brief: whether to leave out the details of tables without errors and warnings, unless ``verbose``.
    """
    return map(one_line, _lines(outcomes, paint, verbose=verbose, brief=brief and not verbose))


def _lines(outcomes: Sequence[ValidationResult], paint: Paint, *, verbose: bool, brief: bool) -> Iterator[str]:
    for outcome in outcomes:
        if brief and not outcome.fails and outcome.reason_incomplete is None and not _is_shown(outcome):
            continue
        if outcome.report is None:
            yield paint(outcome.location, "1")
            yield f"  {paint('cannot be read', '31')}: {outcome.unreadable}"
        else:
            yield paint(outcome.location, "1") + _metadata_file(outcome.report)
            yield from _table(outcome, outcome.report, paint, verbose=verbose)
        yield ""
    if len(outcomes) > 1 or (brief and outcomes[0].report is not None):
        yield from _summary(outcomes, paint)


def _is_shown(outcome: ValidationResult) -> bool:
    """Return whether a table has a finding that text shows in full."""
    return outcome.report is not None and any(
        one.severity in (Severity.ERROR, Severity.WARNING) for one in outcome.report.findings
    )


def _summary(outcomes: Sequence[ValidationResult], paint: Paint) -> Iterator[str]:
    """Yield a line for each of several tables, and a summary."""
    width = max(len("table"), *(len(one.location) for one in outcomes))
    columns = (Severity.ERROR, Severity.WARNING, Severity.TOLERATED, Severity.INFO)
    heads = "".join(f"{severity.value:>11}" for severity in columns)
    yield paint(f"{'table':<{width}}{heads}{'seconds':>9}  result", "1")
    for one in outcomes:
        found = {} if one.report is None else _counts(one.report)
        counts = "".join(f"{'-' if one.report is None else found[severity.value]:>11}" for severity in columns)
        yield f"{one.location:<{width}}{counts}{one.seconds:>9.1f}  {_result(one, paint)}"
    counted = summary_json(outcomes)
    failing, lacking = counted["failing"], counted["not_checked"]
    parts = [f"{failing} with findings that fail" if failing else "none with findings that fail"]
    parts += [f"{lacking} not checked completely"] if lacking else []
    levels = [one.report.level.value for one in outcomes if one.report is not None and one.report.complete]
    if levels and (unread := _UNREAD[levels[0]]):
        parts[-1] += f"; not checked: {unread}"
    yield f"{_many(len(outcomes), 'table', 'tables')}: {', '.join(parts)}"


def _result(outcome: ValidationResult, paint: Paint) -> str:
    if outcome.fails:
        return paint("fails" if outcome.reason_incomplete is None else "fails, not checked completely", "31")
    if outcome.reason_incomplete is not None:
        return paint("not checked" if outcome.report is None else "not checked completely", "31")
    return paint("passes", "32")


def _metadata_file(report: TableReport) -> str:
    """Return the metadata file of the location, relative to the location if it is below."""
    if report.metadata_location == report.location:
        return ""
    return f" ({report.metadata_location.removeprefix(report.location.rstrip('/') + '/')})"


def _table(outcome: ValidationResult, report: TableReport, paint: Paint, *, verbose: bool) -> Iterator[str]:
    version = "unknown" if report.format_version is None else report.format_version
    facts = [f"format version {version}", f"level {report.level.value}"]
    if report.level.value != "metadata":
        all_ = max(report.all_snapshots, len(report.snapshots))
        of_all = "" if len(report.snapshots) == all_ else f"{len(report.snapshots)} of "
        facts.append(of_all + _many(all_, "snapshot", "snapshots"))
        facts += [_many(report.manifests, "manifest", "manifests"), _many(report.entries, "entry", "entries")]
    written = f"; written by {'; '.join(report.writers)}" if report.writers else ""
    yield f"  {', '.join(facts)}{written}"
    if report.elsewhere is not None:
        where = f"the location in the metadata is {report.elsewhere}, and files were read there"
        yield f"  {paint('note:', '33')} {where}; a copy of them beside this metadata file was not checked"
    fails = outcome.fail_on is Severity.TOLERATED
    quiet = [one for one in report.findings if one.severity is Severity.TOLERATED and not verbose and not fails]
    for finding in report.findings:
        if finding not in quiet:
            yield from _finding(finding, paint)
    readers = engine_readability(report.features) if report.features else ()
    obstacles = [reader for reader in readers if not reader.reads]
    for reader in obstacles if verbose else ():
        reasons = "; ".join(dict.fromkeys(f"{fact.outcome}: {fact.reason}" for fact in reader.obstacles))
        yield f"  {paint('not readable by', '36')} {reader.engine} {reader.versions}: {reasons}"
    if obstacles and not verbose:
        names = ", ".join(f"{reader.engine} {reader.versions}" for reader in obstacles)
        yield f"  {paint('not readable by', '36')} {names} (-v shows why)"
    following = len(report.consequences)
    if following:
        shown_by = ":" if verbose else f" (-v shows {'it' if following == 1 else 'them'})"
        follow = "follows" if following == 1 else "follow"
        yield f"  {_many(following, 'finding', 'findings')} that {follow} from the above{shown_by}"
    for finding in report.consequences if verbose else ():
        yield from _consequence(finding)
    if outcome.accepted:
        yield f"  {_many(len(outcome.accepted), 'finding', 'findings')} in the baseline"
    if outcome.unselected:
        yield f"  {_many(outcome.unselected, 'finding', 'findings')} not selected"
    shown = {name: count for name, count in _counts(report).items() if count and not (quiet and name == TOLERATED)}
    counts = ", ".join(_many(count, name, _PLURAL.get(name, name)) for name, count in shown.items())
    if not report.complete:
        yield f"  {paint(outcome.reason_incomplete or PARTIAL, '31')}"
        yield f"  {counts or 'nothing'} until then ({outcome.seconds:.1f} s)"
        return
    nothing = "nothing is wrong" if not outcome.accepted and not outcome.unselected else "nothing else is wrong"
    codes = list(dict.fromkeys(one.requirement for one in quiet))
    unread = _UNREAD[report.level.value]
    rest = f"; tolerated: {', '.join(codes)} (-v shows {'it' if len(codes) == 1 else 'them'})" if codes else ""
    rest += f"; not checked: {unread}" if unread else ""
    lost = sum(one.count for one in report.findings if one.violation.aspect in _NOT_READ)
    if lost:
        only = "it lists" if lost == 1 else "they list"
        rest += f"; not read: {_many(lost, 'file', 'files')}, and everything that only {only}"
    yield f"  {counts or paint(nothing, '32')} {_LOOKED[report.level.value]}{rest} ({outcome.seconds:.1f} s)"


_LOOKED = {
    "metadata": "in the metadata file",
    "manifests": "in metadata and manifests",
    "files": "in metadata, manifests and the footers of files",
    "rows": "in metadata, manifests, files and rows",
}
"""What each level checks."""

_UNREAD = {
    "metadata": "manifests, files and rows (--level manifests, files or rows)",
    "manifests": "files (--level files) and rows (--level rows)",
    "files": "rows (--level rows)",
    "rows": "",
}
"""What each level does not check, and the level that does."""

_NOT_READ = frozenset({"unreadable", "encrypted", "process-ended", "not-checked"})
"""The aspects of findings about a file that was not read, and so was not checked otherwise."""

TOLERATED = Severity.TOLERATED.value

_PLURAL = {"error": "errors", "warning": "warnings"}


def _many(count: int, one: str, several: str) -> str:
    return f"{count} {one if count == 1 else several}"


def _consequence(finding: Finding) -> Iterator[str]:
    times = f" ({finding.count} times)" if finding.count > 1 else ""
    yield f"    {finding.requirement}: {finding.violation.message}{times}"
    yield from _places(finding)


def _places(finding: Finding) -> Iterator[str]:
    for place in finding.places:
        where = ":".join(part for part in (place.file, place.path) if part)
        facts = "".join(
            f"; {word} {value}" for word, value in (("found", place.found), ("expected", place.expected)) if value
        )
        said = "".join(f"; {message}" for message in _own_message(finding, place).values())
        yield f"      {where}{facts}{said}"


def _finding(finding: Finding, paint: Paint) -> Iterator[str]:
    name, colour = _SIGNS[finding.severity]
    times = f" ({finding.count} times)" if finding.count > 1 else ""
    yield f"  {paint(name, colour)} {finding.requirement}: {finding.violation.message}{times}"
    yield from _places(finding)
    if finding.writer:
        yield f"      probable writer: {finding.writer}"
    what_to_do = _what_to_do(finding)
    yield f"      what to do: {what_to_do.text}"
    for label, text in what_to_do.details():
        yield f"        {label}: {text}"
