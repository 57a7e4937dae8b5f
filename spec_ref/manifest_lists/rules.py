"""The rules for an entry of a manifest list, except for types (Manifest Lists; First Row ID Assignment)."""

from __future__ import annotations

from collections.abc import Iterator

from spec_ref.core.errors import SpecError, spec_error
from spec_ref.core.versions import DELETE_FILES, FormatVersion
from spec_ref.manifest_lists.manifest_file import ManifestContent, ManifestFile

_COUNTS = (
    ("manifest_length", "MLS004"),
    ("sequence_number", "MLS007"),
    ("min_sequence_number", "MLS008"),
    ("added_files_count", "MLS010"),
    ("existing_files_count", "MLS011"),
    ("deleted_files_count", "MLS012"),
    ("added_rows_count", "MLS013"),
    ("existing_rows_count", "MLS014"),
    ("deleted_rows_count", "MLS015"),
    ("first_row_id", "MLS018"),
)
"""The numbers that must not be negative."""


def list_rules(manifest: ManifestFile, version: FormatVersion) -> Iterator[SpecError]:
    """Find the rules that an entry of a manifest list breaks by itself.

    Args:
        manifest: the entry.
        version: the format version that the list is written for.

    Yields:
        An error for each broken rule: a negative count, MLS006, LIN026 or MLS008.
    """
    for attribute, requirement in _COUNTS:
        value = getattr(manifest, attribute)
        if value is not None and value < 0:
            yield spec_error(
                requirement, f"{attribute} is negative", found=value, path=f"/{attribute}", aspect="negative"
            )
    if manifest.content is ManifestContent.DELETES:
        if not DELETE_FILES.is_supported(version):
            yield spec_error(
                "MLS006",
                "delete manifests are not allowed in v1",
                path="/content",
                format_version=version,
                aspect="deletes-in-v1",
            )
        if manifest.first_row_id is not None:
            found = manifest.first_row_id
            yield spec_error(
                "LIN026",
                "a delete manifest must not have a first row id",
                found=found,
                path="/first_row_id",
                aspect="of-deletes",
            )
    if manifest.min_sequence_number > manifest.sequence_number:
        yield spec_error(
            "MLS008",
            "min_sequence_number is greater than sequence_number",
            found=manifest.min_sequence_number,
            expected=f"at most {manifest.sequence_number}",
            path="/min_sequence_number",
            aspect="too-high",
        )
