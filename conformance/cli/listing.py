"""``iceberg-conformance list``."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from conformance.cli import command_group
from conformance.core.failures import ExitStatus
from conformance.core.lazy_imports import lazy_imports

with lazy_imports():
    from conformance import engine_setup, vectors, version
    from conformance import rules as check_rules
    from conformance.cli import explain
    from conformance.core import failures
    from conformance.operations import families as operation_families
    from conformance.runner import results as run_results
    from conformance.runner import targets
    from spec_ref import requirements


app = command_group("list")

Format = Literal["text", "json"]


@app.command(name="vectors")
def list_vectors(
    *,
    suite: tuple[str, ...] = (),
    section: tuple[str, ...] = (),
    requirement: tuple[str, ...] = (),
    format_version: int | None = None,
    names: Annotated[str | None, Parameter(name="-k")] = None,
    vectors_: Annotated[Path | None, Parameter(name="--vectors")] = None,
    format: Format = "text",
) -> int:
    """List vectors, selected as run selects them.

    Args:
        suite: Only vectors of this suite. May be repeated.
        section: Only vectors of sections whose heading contains this text. May be repeated.
        requirement: Only vectors of this requirement, or of those whose codes start with this text. May be repeated.
        format_version: Only vectors for this format version.
        names: Only vectors whose id, suite, operation or requirements contain a word; words are combined with and,
            or, not and parentheses.
        vectors_: A folder of vectors to use instead of those that come with the tool.
        format: Text for people, or JSON.
    """
    every = vectors.load(vectors_ or vectors.shipped())
    for deprecation in vectors.suite_deprecations(suite):
        print(f"iceberg-conformance: {deprecation}", file=sys.stderr)
    chosen = vectors.Selection(suite, section, requirement, format_version, names).choose(every)
    if not chosen:
        raise failures.NothingSelected(f"none of the {len(every)} vectors is selected")
    rows = [(one.id, one.suite, one.operation.name, " ".join(one.requirements)) for one in chosen]
    return _show(rows, [run_results.sparse_json(run_results.Case.from_vector(one)) for one in chosen], format)


@app.command(name="suites")
def list_suites(
    *, vectors_: Annotated[Path | None, Parameter(name="--vectors")] = None, format: Format = "text"
) -> int:
    """List the suites of vectors, and how many vectors each has.

    Args:
        vectors_: A folder of vectors to use instead of those that come with the tool.
        format: Text for people, or JSON.
    """
    found = Counter(one.suite for one in vectors.load(vectors_ or vectors.shipped()))
    content = [{"name": name, "vectors": count} for name, count in sorted(found.items())]
    return _show([(str(one["name"]), str(one["vectors"])) for one in content], content, format)


@app.command(name="adapters")
def list_adapters(*, format: Format = "text") -> int:
    """List the names that --adapter knows; it also takes any command that speaks the protocol.

    Args:
        format: Text for people, or JSON.
    """
    found: list[dict[str, Any]] = [
        {"name": name, "version": version.tool_version(), "ready": True} for name in targets.in_process_modules()
    ]
    found += [
        {"name": engine.label, "version": engine.version, "ready": engine.installed, **_reason(engine.reason)}
        for engine in engine_setup.list_engines()
    ]
    rows = [(one["name"], one["version"], "ready" if one["ready"] else one["reason"]) for one in found]
    return _show(rows, found, format)


@app.command(name="engines")
def list_engines_(*, format: Format = "text") -> int:
    """List the engines that come with an adapter, and whether each is ready.

    Args:
        format: Text for people, or JSON.
    """
    return show_engines(format)


@app.command(name="operations")
def list_operations(*, format: Format = "text") -> int:
    """List the operations of the protocol, and the family of each.

    Args:
        format: Text for people, or JSON.
    """
    found = [
        {"name": name, "family": family.name, "roles": one["roles"], "description": one["description"]}
        for family in operation_families.families()
        for name, one in family.operations.items()
    ]
    rows = [(one["name"], one["family"], " ".join(one["roles"]), one["description"]) for one in found]
    return _show(rows, found, format)


@app.command(name="requirements")
def list_requirements(*, section: tuple[str, ...] = (), format: Format = "text") -> int:
    """List the requirements of the spec; explain shows more about one.

    Args:
        section: Only requirements of sections whose heading contains this text. May be repeated.
        format: Text for people, or JSON.
    """
    rules = [
        rule
        for rule in requirements.register().values()
        if not section or any(part.lower() in rule.section.lower() for part in section)
    ]
    if not rules:
        raise failures.NothingSelected("no requirement is in a section with such a heading")
    rows = [(rule.code, rule.level.value, rule.section, rule.text) for rule in rules]
    return _show(rows, [explain.requirement_json(rule) for rule in rules], format)


@app.command(name="checks")
def list_checks(*, level: tuple[str, ...] = (), requirement: tuple[str, ...] = (), format: Format = "text") -> int:
    """List the checks of validate, with their scope and severity; explain shows more about one.

    Args:
        level: Only checks of this level: metadata, manifests, files, rows or diff. May be repeated.
        requirement: Only checks of this requirement, or of those whose codes start with this text. May be repeated.
        format: Text for people, or JSON.
    """
    codes = tuple(code.upper() for code in requirement)
    found = [
        check
        for check in check_rules.registry().values()
        if (not level or check.level in level)
        and (not codes or any(code.startswith(codes) for code in check_rules.with_former_codes(check.requirements)))
    ]
    if not found:
        raise failures.NothingSelected("no check has that level and requirement")
    rows = [(one.id, " ".join(one.requirements), one.level, one.scope, one.severity.value) for one in found]
    return _show(rows, [explain.check_json(one) for one in found], format)


def show_engines(format: Format) -> int:
    """Print the engines."""
    found = engine_setup.list_engines()
    content = [
        {
            "label": engine.label,
            "name": engine.name,
            "version": engine.version,
            "language": engine.language,
            "installed": engine.installed,
            "path": str(engine.path),
            **_reason(engine.reason),
        }
        for engine in found
    ]
    rows = [(one.label, one.version, one.language, "ready" if one.installed else one.reason or "") for one in found]
    return _show(rows, content, format)


def _reason(reason: str | None) -> dict[str, str]:
    return {} if reason is None else {"reason": reason}


def _show(rows: Sequence[tuple[str, ...]], content: Sequence[dict[str, Any]], format: Format) -> int:
    if format == "json":
        sys.stdout.write(json.dumps(content, indent=2) + "\n")
        return ExitStatus.CONFORMANT
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    return ExitStatus.CONFORMANT
