"""The page of the format versions, from the field tables, the table of features, and the register.

python -m tools.docs.versions          write ``docs/format-versions.md``
python -m tools.docs.versions --check  verify it
"""

from __future__ import annotations

import enum
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from spec_ref.core.records import field_rules
from spec_ref.core.versions import FEATURES, OMITTED, REQUIRED, FieldRule, FormatVersion
from spec_ref.data_types.types import NestedField
from spec_ref.manifest_lists.manifest_file import ManifestFile
from spec_ref.manifests.data_file import DataFile
from spec_ref.manifests.entry import ManifestEntry
from spec_ref.manifests.manifest import HEADER
from spec_ref.partitioning.spec import PartitionField
from spec_ref.requirements import register
from spec_ref.schemas.schema import Schema
from spec_ref.snapshots.snapshot import Snapshot
from spec_ref.sorting.order import SortField
from spec_ref.statistics.partition import PartitionStatistics
from spec_ref.table_metadata.encryption import EncryptionKey
from spec_ref.table_metadata.metadata import TableMetadata
from spec_ref.table_metadata.upgrade import STEPS
from tools.docs.markdown import code, plain, table
from tools.entry_point import run_without_parser

PAGE = Path(__file__).resolve().parents[2] / "docs" / "format-versions.md"

TABLES: Mapping[str, Iterable[FieldRule]] = {
    "table metadata": field_rules(TableMetadata).values(),
    "schema": field_rules(Schema).values(),
    "field of a struct": field_rules(NestedField).values(),
    "partition field": field_rules(PartitionField).values(),
    "sort field": field_rules(SortField).values(),
    "snapshot": field_rules(Snapshot).values(),
    "encryption key": field_rules(EncryptionKey).values(),
    "manifest list": field_rules(ManifestFile).values(),
    "header of a manifest": HEADER.values(),
    "manifest entry": field_rules(ManifestEntry).values(),
    "data file": field_rules(DataFile).values(),
    "partition statistics": field_rules(PartitionStatistics).values(),
}
"""The field tables with rules that differ between versions."""

INTRODUCTION = """\
# Format versions

This page lists what each version of the table format adds, and what an upgrade changes. `python -m tools.docs.versions`
generates it from the data by which the reference reads and writes: the field rules of the records of `spec_ref`, and
its table `FEATURES` for everything that is not a field.

*Required*, *optional* and *omitted* are what a writer of a version does with a field. A reader of the version does the
same, unless the column says otherwise: it requires what writers have to write and ignores what the version does not
have. An upgrade rewrites the table metadata and nothing else: manifests, manifest lists and snapshots of older
versions remain. Where these lack a field, readers of the newer version use the value in the last column.
"""


def page() -> str:
    """Return the text of the page."""
    lines = [INTRODUCTION, "## What each version adds", ""]
    features = (
        [
            f"v{feature.since}",
            plain(feature.name),
            f"until v{feature.until}" if feature.until < max(FormatVersion) else "",
            _codes(feature.requirements),
        ]
        for feature in FEATURES
    )
    lines += [*table(["since", "what is new", "written", "requirements"], features), ""]
    for old in FormatVersion:
        if old.next is not None:
            lines += _upgrade(old, old.next)
    return "\n".join(lines)


def _upgrade(old: FormatVersion, new: FormatVersion) -> Iterator[str]:
    yield from (f"## From version {old} to version {new}", "")
    does = (STEPS[old].__doc__ or "").strip()
    yield from (plain(does), "")
    rules = (one for one in register().values() if one.document == "spec" and one.section == f"Version {new}")
    yield from table(["requirement", "what it requires"], ([_codes([one.code]), plain(one.text)] for one in rules))
    yield ""
    head = [
        "structure",
        "field",
        f"writers of v{old}",
        f"writers of v{new}",
        f"readers of v{new}",
        "requirement",
        "value if missing",
    ]
    yield from table(head, _changed_fields(old, new))
    yield ""


def _changed_fields(old: FormatVersion, new: FormatVersion) -> Iterator[list[str]]:
    for structure, rules in TABLES.items():
        for rule in rules:
            before, after = rule.writer_presence(old), rule.writer_presence(new)
            reader = rule.reader_presence(new)
            if before is after and rule.reader_presence(old) is reader:
                continue
            read = "" if reader is after else reader.value
            written = before.value, after.value
            yield [structure, code(rule.name), *written, read, _codes([rule.requirement]), _missing(rule, new)]


def _missing(rule: FieldRule, version: FormatVersion) -> str:
    """Return the value that a reader assumes for a missing field; empty if it is required or ignored."""
    if (
        rule.missing is attrs.NOTHING
        or rule.writer_presence(version) is OMITTED
        or rule.reader_presence(version) is REQUIRED
    ):
        return ""
    value: Any = rule.missing
    if isinstance(value, attrs.Factory):  # type: ignore[arg-type]
        value = value.factory()
    if isinstance(value, enum.Enum):
        return f"{code(str(value.value))} ({value.name.lower().replace('_', ' ')})"
    if isinstance(value, Mapping):
        value = dict(value)
    return code("null" if value is None else "[]" if value == () else str(value))


def _codes(codes: Iterable[str]) -> str:
    return ", ".join(code(one) for one in codes)


def main(arguments: list[str]) -> int:
    """Write or check the page; return the exit status."""
    text = page()
    if "--check" not in arguments:
        PAGE.write_text(text, encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
        print("docs/format-versions.md is stale: run python -m tools.docs.versions", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    run_without_parser(main, sys.argv[1:])
