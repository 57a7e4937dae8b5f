"""The JUnit report: a test suite for each adapter and suite, a test case for each vector."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from conformance.core.json_text import dump_json
from conformance.core.terminal_sanitizer import xml_text
from conformance.reports.evidence import evidence
from conformance.runner.results import AdapterRun, Case, Result, Run


def render(run: Run, vectors: Path | None = None) -> str:
    """Render the document. Unsupported and known results are skipped; crashes are errors; others are failures."""
    root = ElementTree.Element("testsuites", name="iceberg-conformance")
    for adapter in run.adapters:
        root.append(_suite(run, adapter, vectors))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suite(run: Run, adapter: AdapterRun, vectors: Path | None) -> ElementTree.Element:
    results = run.adapter_results(adapter.name)
    counts = run.counts(adapter.name)
    wrongs = _adapter_faults(adapter)
    suite = ElementTree.Element(
        "testsuite",
        name=xml_text(adapter.name),
        timestamp=xml_text(str(run.header["started"])),
        time=f"{adapter.seconds:.3f}",
        tests=str(len(results) + len(wrongs)),
        failures=str(counts["failed"] + counts["unexpected-pass"]),
        errors=str(counts["crashed"] + len(wrongs)),
        skipped=str(counts["unsupported"] + counts["known"]),
    )
    properties = {"implementation": adapter.implementation, "version": adapter.version, "language": adapter.language}
    _properties(suite, [(name, value) for name, value in properties.items() if value])
    for name, text in wrongs:
        case = ElementTree.SubElement(suite, "testcase", classname=xml_text(adapter.name), name=name)
        ElementTree.SubElement(case, "error", message=xml_text(text))
    for result in results:
        suite.append(_testcase(run.cases[result.id], result, adapter, vectors))
    return suite


def _adapter_faults(adapter: AdapterRun) -> list[tuple[str, str]]:
    """Return the names and texts of test cases for faults that concern the adapter and not a single answer."""
    named = [("(start)", adapter.not_examined), ("(stop)", adapter.breach), *(("(expected)", u) for u in adapter.unmet)]
    return [(name, text) for name, text in named if text]


def _testcase(case: Case, result: Result, adapter: AdapterRun, vectors: Path | None) -> ElementTree.Element:
    classname = f"{adapter.name}.{case.suite}"
    element = ElementTree.Element("testcase", classname=xml_text(classname), name=xml_text(case.id))
    properties = [("requirement", code) for code in case.requirements]
    if result.chosen is not None:
        properties.append(("chosen", dump_json(result.chosen)))
    _properties(element, properties)
    match result.status:
        case "failed" | "unexpected-pass" | "crashed":
            tag = "error" if result.status == "crashed" else "failure"
            reason = result.reason or "known deviation now passes"
            wrong = ElementTree.SubElement(element, tag, message=xml_text(reason), type=result.status)
            wrong.text = xml_text("\n".join(evidence(case, result, adapter, vectors)))
        case "unsupported":
            ElementTree.SubElement(element, "skipped", message=xml_text(f"unsupported: {result.reason}"))
        case "known":
            kind = result.deviation_kind or "deviation"
            ElementTree.SubElement(element, "skipped", message=xml_text(f"known {kind}: {result.deviation}"))
    return element


def _properties(element: ElementTree.Element, properties: list[tuple[str, str]]) -> None:
    if properties:
        group = ElementTree.SubElement(element, "properties")
        for name, value in properties:
            ElementTree.SubElement(group, "property", name=name, value=xml_text(value))
