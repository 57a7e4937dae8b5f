"""Upgrading a table to a newer format version (Format Versioning; Appendix E; Row Lineage for Upgraded Tables)."""

from __future__ import annotations

from collections.abc import Callable

from spec_ref.core.errors import Description, spec_error
from spec_ref.core.records import evolve
from spec_ref.core.versions import V1, V2, V3, FormatVersion
from spec_ref.table_metadata.changes import check_no_new_errors
from spec_ref.table_metadata.metadata import TableMetadata


def _to_v2(metadata: TableMetadata) -> TableMetadata:
    """Upgrade to v2: a reader of v1 has filled in what v2 requires, with sequence numbers of 0 (UPG003)."""
    if metadata.table_uuid is None:
        raise spec_error("TMD002", "table-uuid is missing, which v2 requires", expected="a UUID")
    return evolve(metadata, format_version=V2, schema=None, partition_spec=None)


def _to_v3(metadata: TableMetadata) -> TableMetadata:
    """Upgrade to v3: row ids begin at 0, old snapshots get none (LIN013), and position delete files stay (UPG007)."""
    return evolve(metadata, format_version=V3, next_row_id=0)


STEPS: dict[FormatVersion, Callable[[TableMetadata], TableMetadata]] = {V1: _to_v2, V2: _to_v3}
"""The upgrade of each version to the next one."""


def upgrade(metadata: TableMetadata, version: FormatVersion | int, *, table_uuid: str | None = None) -> TableMetadata:
    """Upgrade a table to a newer format version; no data or manifest is rewritten (VER003).

    A table may stay at its version instead (VER002). The commit sets the time of the update and the metadata log.

    Args:
        metadata: the table.
        version: 1, 2 or 3, and not below the table's own.
        table_uuid: the UUID for a v1 table without one.

    Returns:
        The metadata of the upgraded table.

    Raises:
        SpecError: VER001 if the version is unknown; VER003 if it is lower than the table's; TMD002 if a UUID is
            missing; PAR003 if two specs of v1 count the same id for different fields, which newer versions do not allow
            and manifests already use; or the code of another rule that only the newer version has.
    """
    if version not in FormatVersion._value2member_map_:
        raise spec_error("VER001", "the format version is not supported", found=version, expected="1, 2 or 3")
    target = FormatVersion(version)
    if not target.includes(metadata.format_version):
        found = Description(f"version {metadata.format_version} to {version}")
        raise spec_error("VER003", "the table cannot be downgraded", found=found)
    if metadata.table_uuid is None and table_uuid is not None:
        metadata = evolve(metadata, table_uuid=table_uuid)
    upgraded = metadata
    while not upgraded.format_version.includes(target):
        upgraded = STEPS[upgraded.format_version](upgraded)
    return check_no_new_errors(metadata, upgraded)
