"""Contents of files that commits read, decoded without the version of the table."""

from __future__ import annotations

from spec_ref.core.records import field_rules
from spec_ref.core.versions import FormatVersion
from spec_ref.manifest_lists.manifest_file import FieldSummary, ManifestFile


def test_lists_have_the_same_rules_for_readers_in_every_version() -> None:
    for record in (ManifestFile, FieldSummary):
        for name, rule in field_rules(record).items():
            assert len({rule.reader_presence(version) for version in FormatVersion}) == 1, name
