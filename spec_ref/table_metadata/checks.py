"""The complete check of a metadata file.

`read_metadata` raises at the first problem that a reader must refuse; `check_metadata` reports everything: problems of
single fields, of the rules over several fields, and what a writer of the version should have omitted or written. Both
use the same rules.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from spec_ref.checks import to_finding
from spec_ref.checks.findings import Finding, Severity
from spec_ref.core.errors import SpecError, Violation
from spec_ref.core.records import field_rules
from spec_ref.core.versions import DEFAULT_VALUES, NULL_CURRENT_SNAPSHOT, FormatVersion
from spec_ref.json.checking import UNREADABLE, collect_record_violations, writer_deviations
from spec_ref.json.documents import escape_token
from spec_ref.json.reading import apply_post_read
from spec_ref.table_metadata import rules_history, rules_snapshots, rules_structure
from spec_ref.table_metadata.metadata import COMPUTED_FIELDS, DEPRECATED, METADATA, NO_SNAPSHOT, TableMetadata
from spec_ref.table_metadata.rules import MetadataRule
from spec_ref.table_metadata.source import Source, parse_document, read_format_version

RULES: tuple[MetadataRule, ...] = (*rules_structure.RULES, *rules_snapshots.RULES, *rules_history.RULES)
"""Every rule over several fields."""

REFUSALS: tuple[MetadataRule, ...] = tuple(rule for rule in RULES if rule.refused)
"""The rules whose violations a reader must refuse."""

_NO_SNAPSHOT = Violation(
    requirement="NOT008",
    message="current-snapshot-id is -1 instead of null",
    path="/current-snapshot-id",
    found=str(NO_SNAPSHOT),
    expected="null",
    format_version=NULL_CURRENT_SNAPSHOT.since,
)

DEFAULTS = ("initial-default", "write-default")

MAX_PER_RULE = 1000
"""How many places of one broken rule are reported; further places would hardly help to find the cause."""


@functools.cache
def _error_rules() -> tuple[MetadataRule, ...]:
    return tuple(rule for rule in RULES if rule.severity is Severity.ERROR)


def error_violations(metadata: TableMetadata) -> Iterator[Violation]:
    """Find the places where metadata breaks a rule over several fields, if that is an error.

    Args:
        metadata: the table metadata.

    Yields:
        A violation for each place.
    """
    for rule in _error_rules():
        yield from rule.violations(metadata)


def check_metadata(data: Source, *, file: str | None = None) -> list[Finding]:
    """Find everything that is wrong with table metadata.

    Args:
        data: as for `read_metadata`.
        file: the file name for findings.

    Returns:
        The findings; empty if the metadata follows the spec.
    """
    found: list[Finding] = []
    try:
        document = parse_document(data)
        version = read_format_version(document)
    except SpecError as error:
        return [to_finding(attrs.evolve(error.violation, file=file))]
    problems: list[Violation] = []
    values = collect_record_violations(METADATA, document, version, "", problems)
    found += map(to_finding, problems)
    if NULL_CURRENT_SNAPSHOT.is_supported(version) and document.get("current-snapshot-id") == NO_SNAPSHOT:
        found.append(to_finding(_NO_SNAPSHOT))
    broken = {name for name, value in values.items() if value is UNREADABLE or _has_problem(name, problems)}
    if broken & {attribute for attribute, _ in DEPRECATED}:
        broken |= {attribute for attribute, _ in COMPUTED_FIELDS if values[attribute] is None}
    sound = {name: None if value is UNREADABLE else value for name, value in values.items()}
    metadata = apply_post_read(METADATA, TableMetadata(**sound), version)  # type: ignore[arg-type]
    for rule in RULES:
        if broken.isdisjoint(rule.reads):
            reported = itertools.islice(rule.violations(metadata), MAX_PER_RULE)
            found += map(to_finding, reported)
    broken_by_rules = {(one.requirement, one.path) for one in found}
    unread = writer_deviations(METADATA, document, version), _nested_defaults(document, version)
    for problem in _limit_per_rule(itertools.chain.from_iterable(unread)):
        if (problem.requirement, problem.path) not in broken_by_rules:
            found.append(to_finding(problem))
    return [Finding(attrs.evolve(one.violation, file=file), one.severity) for one in found]


def _nested_defaults(document: Mapping[str, Any], version: FormatVersion) -> Iterator[Violation]:
    """Find default values inside nested types if the version has none; `writer_deviations` reports the others."""
    schemas = document.get("schemas")
    if DEFAULT_VALUES.is_supported(version) or not isinstance(schemas, list):
        return
    for place, schema in enumerate(schemas):
        fields = schema.get("fields") if isinstance(schema, dict) else None
        for number, field in enumerate(fields if isinstance(fields, list) else ()):
            stack = [(f"/schemas/{place}/fields/{number}/type", field.get("type") if isinstance(field, dict) else None)]
            while stack:
                path, value = stack.pop()
                if isinstance(value, list):
                    stack += [(f"{path}/{index}", one) for index, one in enumerate(value)]
                elif isinstance(value, dict):
                    stack += [
                        (f"{path}/{escape_token(name)}", one) for name, one in value.items() if name not in DEFAULTS
                    ]
                    for name in DEFAULTS:
                        if value.get(name) is not None:
                            yield Violation(
                                requirement="VER005",
                                message=f"{name} is not allowed in this format version",
                                path=f"{path}/{name}",
                                format_version=version,
                            )


def _limit_per_rule(violations: Iterable[Violation]) -> Iterator[Violation]:
    reported: Counter[str] = Counter()
    for one in violations:
        reported[one.requirement] += 1
        if reported[one.requirement] <= MAX_PER_RULE:
            yield one


def _has_problem(attribute: str, problems: list[Violation]) -> bool:
    """Decide whether something under an attribute was unreadable, so that rules would report false problems."""
    name = PROPERTY_NAMES.get(attribute)
    return any(problem.path == f"/{name}" or problem.path.startswith(f"/{name}/") for problem in problems)


PROPERTY_NAMES: dict[str, str] = {attribute: rule.name for attribute, rule in field_rules(TableMetadata).items()}
