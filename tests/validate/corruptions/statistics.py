"""Corruptions of statistics files and of what table metadata says of them (Table Statistics; Partition Statistics)."""

from __future__ import annotations

from typing import Any

from corruptions import corruption
from spec_ref.formats.puffin import Blob, write_puffin

V2 = "position-deletes-parquet"


def _statistics(bench: Any) -> dict[str, Any]:
    """Add a statistics file with one blob, and give what the metadata says of it."""
    snapshot = bench.snapshot
    blob = Blob(
        type="test-blob-v1", fields=(1,), snapshot_id=snapshot["snapshot-id"],
        sequence_number=snapshot["sequence-number"], payload=b"contents", properties={"a": "b"},
    )  # fmt: skip
    content = write_puffin([blob], properties={"created-by": "test"})
    path = f"{bench.root}/metadata/made.stats"
    bench.replaced[path] = content
    told = {
        "snapshot-id": snapshot["snapshot-id"], "statistics-path": path, "file-size-in-bytes": len(content),
        "file-footer-size-in-bytes": _footer(content),
        "blob-metadata": [
            {
                "type": "test-blob-v1", "snapshot-id": snapshot["snapshot-id"],
                "sequence-number": snapshot["sequence-number"], "fields": [1], "properties": {"a": "b"},
            }
        ],
    }  # fmt: skip
    bench.metadata["statistics"] = [told]
    return told


def _footer(content: bytes) -> int:
    return int.from_bytes(content[-12:-8], "little") + 16


@corruption("STA002", "file-missing", V2, "files")
def _missing(bench: Any) -> None:
    told = _statistics(bench)
    bench.replaced[told["statistics-path"]] = None


@corruption("STA003", "size-another", V2, "files")
def _size(bench: Any) -> None:
    _statistics(bench)["file-size-in-bytes"] += 1


@corruption("STA004", "footer-size-another", V2, "files")
def _footer_size(bench: Any) -> None:
    _statistics(bench)["file-footer-size-in-bytes"] -= 16


@corruption("STA034", "no-puffin", V2, "files", also=("PUF001", "PUF002"))
def _no_puffin(bench: Any) -> None:
    told = _statistics(bench)
    bench.replaced[told["statistics-path"]] = b"x" * told["file-size-in-bytes"]


@corruption("STA006", "blob-unknown", V2, "files")
def _unknown_blob(bench: Any) -> None:
    _statistics(bench)["blob-metadata"][0]["type"] = "other-blob-v1"


@corruption("STA006", "blob-of-other-fields", V2, "files")
def _other_fields(bench: Any) -> None:
    _statistics(bench)["blob-metadata"][0]["fields"] = [2]


@corruption("STA001", "snapshot-unknown", V2, "metadata", severity="warning")
def _unknown_snapshot(bench: Any) -> None:
    _statistics(bench)["snapshot-id"] = 5


@corruption("STA005", "key-no-base64", V2, "metadata")
def _key(bench: Any) -> None:
    _statistics(bench)["key-metadata"] = "?"


def _partition_statistics(bench: Any) -> dict[str, Any]:
    path = f"{bench.root}/metadata/made.parquet"
    bench.replaced[path] = b"1234"
    told = {"snapshot-id": bench.snapshot["snapshot-id"], "statistics-path": path, "file-size-in-bytes": 4}
    bench.metadata["partition-statistics"] = [told]
    return told


@corruption("STA014", "partition-file-missing", V2, "files")
def _missing_partition(bench: Any) -> None:
    told = _partition_statistics(bench)
    bench.replaced[told["statistics-path"]] = None


@corruption("STA015", "partition-size-another", V2, "files")
def _partition_size(bench: Any) -> None:
    _partition_statistics(bench)["file-size-in-bytes"] = 5
