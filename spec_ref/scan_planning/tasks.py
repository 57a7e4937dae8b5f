"""The tasks of a scan: a data file, the deletes that apply to it, and the residual filter (Scan Planning)."""

from __future__ import annotations

from spec_ref.core.records import record
from spec_ref.expressions.bound import BoundPredicate
from spec_ref.manifests.data_file import DataFile


@record
class ScanDelete:
    """A delete file or deletion vector that has to be applied to a data file."""

    data_file: DataFile
    """The delete file, as its manifest lists it."""

    partition_spec_id: int
    """The id of the spec of its partition."""

    data_sequence_number: int


@record
class FileScanTask:
    """A data file to be read. A task can be pickled, so that other processes can run it."""

    data_file: DataFile
    """The data file, with ``first_row_id`` as inherited (LIN019)."""

    partition_spec_id: int
    """The id of the spec of its partition."""

    data_sequence_number: int

    file_sequence_number: int

    deletes: tuple[ScanDelete, ...]
    """The deletes that apply (SCN008 to SCN012), in the order of the manifests. If one of them is a deletion vector,
    there is no other vector and no position delete file."""

    residual: BoundPredicate
    """The part of the filter to test rows with; the partition decides the rest."""
