"""What to do about a finding: by its code, else by the part of the table that it is about."""

from __future__ import annotations

_BY_CODE = {
    "SCN007": "Rows of the file are read twice. Remove the second entry by rewriting the manifest that holds it.",
    "DEL003": "Readers apply one of the vectors or both. Merge them, or compact the data file.",
    "DEL002": "Rewrite the position delete files of the table as deletion vectors.",
    "DEL004": "The deletes do nothing. A rewrite of the table's position deletes removes them.",
    "DFL002": "Give the path in full, or restore the file from a backup; scans of the snapshot fail without it.",
    "DFL005": "Counts answer count(*) without reading the file. Rewrite the data file so that its entry is made anew.",
    "DFL006": "The file was cut off or replaced after it was committed. Restore it, or remove it from the table.",
    "DFL016": "Scans skip files by this bound and lose rows. Rewrite the data file with another writer.",
    "DFL017": "Scans skip files by this bound and lose rows. Rewrite the data file with another writer.",
    "DFL021": "Engines that rely on the order merge wrongly. Rewrite the file, or its entry without a sort order id.",
    "LIN002": "Changes cannot be traced. Do not merge by row id; rewrite the files with fresh ids.",
    "MAN006": "Nothing: readers do not depend on this key.",
    "LOC001": "Nothing on a file system; on an object store, recreate the table with a location that has a scheme.",
    "MLS003": "The snapshot cannot be scanned. Restore the manifest, or roll back to a snapshot without it.",
    "NOT005": "Engines answer count(*) from the summary: do not rely on it.",
    "PAR001": "Scans that filter on the partition miss or add rows. Rewrite the file into the right partitions.",
    "SNP005": "The snapshot cannot be scanned. Restore the manifest list, or roll back to another snapshot.",
    "ORC003": "Nothing is wrong; check the file with another tool.",
}

_BY_AREA = {
    "MLS": "Rewrite the table's manifests, which makes a new manifest list.",
    "MAN": "Rewrite the table's manifests; tell the writer's maintainers.",
    "DFL": "Rewrite the data file, or the manifest that lists it; tell the writer's maintainers.",
    "PQT": "Rewrite the file with a writer that follows Appendix A.",
    "ORC": "Rewrite the file with a writer that follows Appendix A.",
    "AVR": "Rewrite the file with a writer that follows Appendix A.",
    "PUF": "Recompute the statistics, or delete the rows again; readers may refuse the file.",
    "STA": "Recompute the statistics; readers may ignore them.",
    "DEL": "Rewrite the delete file, for instance by compacting the data files that it applies to.",
    "SEQ": "Deletes may apply to the wrong files. Rewrite the manifests, and check rows that were deleted lately.",
    "LIN": "Row lineage of the table is not to be trusted; rewrite the files with a writer of v3.",
    "SNP": "Roll back to a snapshot that is in order, or commit a new one.",
    "REF": "Set the branch or tag anew.",
    "TMD": "Commit a change with another engine, which writes the metadata anew; if that fails, roll back.",
}


def own_advice(code: str) -> str | None:
    """What to do about a broken requirement, where there is something that is of this requirement or its area."""
    return _BY_CODE.get(code) or _BY_AREA.get(code[:3])


def advice(code: str) -> str:
    """What to do about a broken requirement."""
    return own_advice(code) or "Tell the writer's maintainers; `explain` tells the rule."
