"""Scan Planning: which files a scan reads, and which deletes apply to each."""

from spec_ref.scan_planning.planner import plan
from spec_ref.scan_planning.tasks import FileScanTask, ScanDelete
from spec_ref.scan_planning.time_travel import TableState, table_state

__all__ = ["FileScanTask", "ScanDelete", "TableState", "plan", "table_state"]
