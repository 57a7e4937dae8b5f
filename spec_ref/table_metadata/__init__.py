"""Table metadata: the root of a table (Table Metadata)."""

from spec_ref.checks.findings import Finding, Severity
from spec_ref.table_metadata.checks import check_metadata
from spec_ref.table_metadata.metadata import TableMetadata
from spec_ref.table_metadata.reader import read_metadata
from spec_ref.table_metadata.upgrade import upgrade
from spec_ref.table_metadata.writer import dumps, write_metadata

__all__ = [
    "Finding",
    "Severity",
    "TableMetadata",
    "check_metadata",
    "dumps",
    "read_metadata",
    "upgrade",
    "write_metadata",
]
